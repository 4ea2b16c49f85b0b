//! Trace files: JSON lines, with types of their own, so that a change of a type in memory never changes a file.
//!
//! A file holds one trace or several. A trace is a header line, then one line for each event. The header's `schema`
//! names the version; [`v1`] is the only one so far. A published version never changes: a new one gets a module of its
//! own, and old files stay readable.

pub mod v1;

use thiserror::Error;

/// The attribute of a span that says of a call that a guard denied it, so that it was not made.
pub const DENIED_ATTRIBUTE: &str = "planproof.denied";

/// The attribute of a span that says of a call that its result never came.
pub const PENDING_ATTRIBUTE: &str = "planproof.pending";

/// A text that is not a trace file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WireError {
    /// A line is not what the schema says.
    #[error("line {line}, column {column}: {what}")]
    Malformed {
        /// Which line, from 1.
        line: usize,
        /// Which byte of the line, from 1; 0 for the whole line.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// The last line is incomplete: the writing process was killed, or the disk was full.
    #[error(
        "line {line} stops in the middle, and the file with it: delete the line to read what is before it"
    )]
    Truncated {
        /// Which line, from 1.
        line: usize,
    },
    /// The file has another version, or is of another kind.
    #[error("line {line}: the schema is {found:?}; this planproof reads {}", v1::SCHEMA)]
    UnknownSchema {
        /// Which line, from 1.
        line: usize,
        /// What the file says it is.
        found: String,
    },
    /// An event stands before any header.
    #[error("line {line}: an event without a trace: the first line must be a header with \"schema\"")]
    MissingHeader {
        /// Which line, from 1.
        line: usize,
    },
    /// There is nothing but blank lines.
    #[error("there is no trace in the file")]
    Empty,
    /// One trace was expected and there are more.
    #[error("line {line}: a second trace begins, where one was expected")]
    SecondTrace {
        /// Which line, from 1.
        line: usize,
    },
}
