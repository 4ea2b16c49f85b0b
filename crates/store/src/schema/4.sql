-- A campaign that another one led to, such as the trials of its dissection; null for those that were asked for.
ALTER TABLE campaign ADD COLUMN parent INTEGER REFERENCES campaign (key);
-- Where a case of it comes from, as JSON of the writer's own; null where it was drawn or given.
ALTER TABLE campaign_case ADD COLUMN origin TEXT;
CREATE INDEX campaign_parent ON campaign (parent) WHERE parent IS NOT NULL;
