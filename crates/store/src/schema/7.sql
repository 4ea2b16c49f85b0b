-- What a finished run is held to when it is read: SHA-256 of its case, its trace and its verdict, 32 bytes each, and
-- one over these, the place of the run and how it came out. Null in runs that ended before this step.
ALTER TABLE run ADD COLUMN parts BLOB;
ALTER TABLE run ADD COLUMN digest BLOB;
DROP INDEX run_summary;
CREATE INDEX run_summary ON run (campaign, ordinal, repeat, passed, class, wall_ms, summary, parts, digest)
    WHERE state = 'finished';

-- From this id on each finished run of the campaign has a digest.
ALTER TABLE campaign ADD COLUMN digests_from INTEGER NOT NULL DEFAULT 0;
UPDATE campaign SET digests_from = (SELECT coalesce(max(id), 0) + 1 FROM run);

-- The keys that sealed a campaign, one for each time that it began or was resumed. The private half is never written.
CREATE TABLE seal (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    campaign INTEGER NOT NULL REFERENCES campaign (key),
    links INTEGER NOT NULL,          -- how many links the chain had before
    public_key BLOB NOT NULL,        -- Ed25519
    signature BLOB NOT NULL,         -- of the head of the chain with this beginning
    ended INTEGER,                   -- how many links the chain had at the end; null: cut off, or going on
    end_signature BLOB               -- of that number and the head
) STRICT;
CREATE INDEX seal_campaign ON seal (campaign, key);

-- The chain of a campaign, which only grows: runs that ended, and runs that were deleted to be run again.
CREATE TABLE link (
    campaign INTEGER NOT NULL REFERENCES campaign (key),
    number INTEGER NOT NULL,         -- from 0, without gaps
    seal INTEGER NOT NULL REFERENCES seal (key),
    run INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    digest BLOB,                     -- of the run that ended; null: the run was deleted
    signature BLOB,                  -- of the head with this link; null: that of a later link covers it
    PRIMARY KEY (campaign, number)
) STRICT, WITHOUT ROWID;
