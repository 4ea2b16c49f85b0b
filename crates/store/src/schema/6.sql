-- What finished runs taught, for campaigns that begin later. A row never changes and no key is used twice: all lessons
-- up to a key are the same ones at any time, but for those that were deleted.
CREATE TABLE lesson (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,         -- its place among those of the run, from 0
    kept_as TEXT NOT NULL,           -- a word of the writer's own: who may recall it
    tool TEXT,                       -- null: about a whole run
    about TEXT NOT NULL,             -- the words by which it is found
    text TEXT NOT NULL,
    UNIQUE (run, number)
) STRICT;
CREATE INDEX lesson_kept ON lesson (kept_as, key);
