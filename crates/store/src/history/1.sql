CREATE TABLE session (
    key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE line (
    session INTEGER NOT NULL REFERENCES session (key),
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot (
    session INTEGER PRIMARY KEY REFERENCES session (key),
    number INTEGER NOT NULL,
    made_with TEXT NOT NULL,
    state TEXT NOT NULL
) STRICT;
