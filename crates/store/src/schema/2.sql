-- What a campaign has taken and what ended it, over all its beginnings. `spent_` is what was paid for, `served_` what
-- models told a program that was given one, answers from a cache or a recording included.
ALTER TABLE campaign ADD COLUMN spent_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN spent_output_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN spent_picodollars INTEGER;          -- null: not known
ALTER TABLE campaign ADD COLUMN spent_is_estimate INTEGER NOT NULL DEFAULT 0 CHECK (spent_is_estimate IN (0, 1));
ALTER TABLE campaign ADD COLUMN served_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN served_output_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN ended_by TEXT;                      -- the budget that was used up
ALTER TABLE campaign ADD COLUMN budgets TEXT NOT NULL DEFAULT '{}'; -- JSON
