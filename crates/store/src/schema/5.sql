-- Campaigns that were asked for together: the combinations of agents, models and settings that are compared.
CREATE TABLE matrix (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,     -- since 1970
    command_line TEXT NOT NULL,
    budgets TEXT NOT NULL            -- JSON of the writer's own: what all of its campaigns may spend
) STRICT;

-- The matrix that a campaign is a combination of, which are in the order of their keys; null for all others.
ALTER TABLE campaign ADD COLUMN matrix INTEGER REFERENCES matrix (key);
CREATE INDEX campaign_matrix ON campaign (matrix) WHERE matrix IS NOT NULL;
