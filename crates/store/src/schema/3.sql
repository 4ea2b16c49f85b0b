-- What a listing needs of a case and of a run beside the columns, as JSON of the writer's own; null in older rows.
ALTER TABLE campaign_case ADD COLUMN summary TEXT;
ALTER TABLE run ADD COLUMN summary TEXT;

-- They hold all that the figures of a campaign are made from, so that these take neither cases nor verdicts nor events.
CREATE INDEX case_summary ON campaign_case (campaign, ordinal, case_id, summary);
CREATE INDEX run_summary ON run (campaign, ordinal, repeat, passed, class, wall_ms, summary) WHERE state = 'finished';
