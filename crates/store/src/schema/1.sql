PRAGMA application_id = 1349275762; -- "PlPr"

-- A list of cases, each to be run `repeats` times.
CREATE TABLE campaign (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,     -- since 1970
    command_line TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    options TEXT NOT NULL,           -- JSON
    cases INTEGER NOT NULL,
    repeats INTEGER NOT NULL
) STRICT;

CREATE TABLE campaign_case (
    campaign INTEGER NOT NULL REFERENCES campaign (key),
    ordinal INTEGER NOT NULL,        -- from 0, without gaps
    case_id TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (campaign, ordinal)
) STRICT;

-- The latest attempt at one repeat of one case. An id is never used twice, so that a writer whose run was replaced by
-- another program cannot write into the new one.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    campaign INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'finished')),
    passed INTEGER CHECK (passed IN (0, 1)), -- null: unscored, or not finished
    class TEXT,
    wall_ms INTEGER,
    header TEXT NOT NULL,            -- first line of the trace
    verdict TEXT,                    -- JSON
    FOREIGN KEY (campaign, ordinal) REFERENCES campaign_case (campaign, ordinal)
) STRICT;

-- Together they hold all that a listing asks for, so that listing reads no row of `run`.
CREATE UNIQUE INDEX run_unit ON run (campaign, ordinal, repeat);
CREATE INDEX run_outcome ON run (campaign, state, passed) WHERE state = 'finished';

-- Events of a run that were written together share a row: fewer rows take less time to write.
CREATE TABLE event (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,            -- of the first event, from 0
    lines TEXT NOT NULL,             -- lines of the trace with line breaks between them
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
