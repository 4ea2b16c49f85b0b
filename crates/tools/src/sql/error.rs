//! Why a database is unusable, and why a statement has no rows.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::confine::{FUNCTIONS_MAX, LIKE_PATTERN_BYTES_MAX};
use super::database::SCRIPT_BYTES_MAX;

/// Why there is no such database.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DatabaseError {
    /// The texts for building it are too long.
    #[error("the statements that build the database have {bytes} bytes; {SCRIPT_BYTES_MAX} is the most")]
    ScriptTooLong {
        /// How long they are together.
        bytes: usize,
    },
    /// One of them is invalid, or takes too long.
    #[error("the database cannot be built: {what}; write CREATE TABLE and INSERT statements only")]
    Script {
        /// SQLite's message, or the limit that was reached.
        what: String,
    },
    /// There is no such file, or it is not a SQLite database.
    #[error("{} cannot be opened as a SQLite database: {what}", path.display())]
    File { path: PathBuf, what: String },
    /// Another program has written changes that are not in the file yet.
    #[error("{} has changes that are only in {}-wal: close the program that writes it, or execute \
             `PRAGMA wal_checkpoint(TRUNCATE)` with it", path.display(), path.display())]
    Unsettled { path: PathBuf },
    /// A limit does not make sense.
    #[error("the limit of {what} is {value}; it must be from {least} to {most}")]
    Limit {
        what: &'static str,
        value: u64,
        /// The smallest value that it can have.
        least: u64,
        /// The largest value that it can have.
        most: u64,
    },
}

/// Why a statement has no rows. All but the last are mistakes of its author, who reads these words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SqlError {
    /// It contains only blanks and comments.
    #[error("there is no statement: write one that reads, such as SELECT * FROM a_table LIMIT 5")]
    Empty,
    /// It is too long.
    #[error("the statement has {bytes} bytes; {most} is the most: write a shorter one")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// [`SqlLimits::statement_bytes`](super::SqlLimits::statement_bytes).
        most: usize,
    },
    /// There are several statements.
    #[error("there are several statements: send one at a time")]
    Several,
    /// It is not SQL, or names something that does not exist.
    #[error("SQLite says: {what}. {hint}")]
    Invalid {
        what: String,
        /// The tables that there are.
        hint: String,
    },
    /// It would do something other than reading the tables.
    #[error("{what} is not allowed: this database can only be read; write a SELECT")]
    Refused {
        /// The forbidden action, such as `DROP TABLE`.
        what: String,
    },
    /// It waits for values from elsewhere.
    #[error("the statement has parameters such as `?` or `:name`: write the values into it")]
    Parameters,
    /// It calls too many functions.
    #[error("the statement calls more than {FUNCTIONS_MAX} functions: write a simpler one")]
    Functions,
    /// It took all of its steps.
    #[error(
        "the statement did not end within {steps} steps of SQLite: join fewer rows, or end its recursion"
    )]
    Steps {
        /// [`SqlLimits::steps`](super::SqlLimits::steps).
        steps: u64,
    },
    /// It took all of its time.
    #[error("the statement did not end within {time:?}: join fewer rows, or end its recursion")]
    Time {
        /// [`SqlLimits::time`](super::SqlLimits::time).
        time: Duration,
    },
    /// An intermediate text or row is too long, or a pattern.
    #[error(
        "a value has more than {bytes} bytes, or the pattern of LIKE or GLOB more than {LIKE_PATTERN_BYTES_MAX}: select \
         a part with substr()"
    )]
    ValueTooLong {
        /// [`SqlLimits::value_bytes`](super::SqlLimits::value_bytes).
        bytes: usize,
    },
    /// SQLite failed for a reason unrelated to the statement.
    #[error("the database cannot be read: {what}")]
    Unavailable { what: String },
}
