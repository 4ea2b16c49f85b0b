//! Recordings of models: requests and their replies, in an append-only file.
//!
//! A recording works at the level of the [`Model`](crate::Model) trait, so it covers every protocol and simulated
//! models, whole replies and streams. One file format serves three uses:
//!
//! - **record**: a [`RecordingModel`] with a new file asks its inner model and writes down each exchange;
//! - **cache**: the same with an existing file. Requests that the file holds are answered from it, so that a
//!   crashed or repeated campaign does not pay twice; others are sent and written down;
//! - **replay**: a [`ReplayModel`] answers from the file alone. A request that the file does not hold is
//!   [`ModelError::NotRecorded`](crate::ModelError::NotRecorded), with the difference from the nearest one it holds.
//!
//! A request is identified by its content: the model's name, the settings, the tools, the conversation or the text.
//! The server does not count, nor does anything that a replay is configured to ignore ([`MayDiffer`]). Repetitions of
//! a request get their replies in the order in which they were recorded.
//!
//! The file is JSON lines of schema [`RECORDING_SCHEMA`]; docs/files.md describes them. An exchange holds only what
//! is new in its conversation; tools and settings are written once. Every exchange is written immediately and with
//! one call, so that a crash loses at most the exchanges in progress, and leaves at most one torn line. Keys that we
//! hold are not written.

mod content;
mod difference;
mod file;
mod index;
mod key;
mod may_differ;
mod outcome;
mod recorder;
mod redact;
mod replay;
mod request;
mod wire;

use std::path::{Path, PathBuf};

use thiserror::Error;

pub use content::Recording;
pub use file::{Origin, RecordingFile};
pub use may_differ::{MayDiffer, PATTERNS_MAX, PatternError};
pub use recorder::RecordingModel;
pub use replay::{MISSES_KEPT_MAX, ReplayModel};

/// Schema name of a recording.
pub const RECORDING_SCHEMA: &str = "planproof/recording/v1";

/// Largest file that is read, or written to, in bytes: a recording is read into memory.
pub const RECORDING_BYTES_MAX: u64 = 4 << 30;

/// Longest line, in bytes. An exchange that needs more is not written.
pub const LINE_BYTES_MAX: u64 = 16 << 20;

/// Allowed values for the `type` of a [`RecordingNote`].
pub const NOTE_TYPES: [&str; 5] = ["campaign", "lesson", "case", "verdict", "end"];

/// A line that says what the requests were made for. Recordings store such lines without interpreting them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingNote {
    /// Its `type`, one of [`NOTE_TYPES`].
    pub kind: String,
    /// The line, a JSON object.
    pub json: String,
}

/// Why a recording cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("cannot read the recording {}: {reason}", path.display())]
    CannotRead { path: PathBuf, reason: String },
    /// The file cannot be written. Everything written before is kept.
    #[error("cannot write the recording {}: {reason}", path.display())]
    CannotWrite { path: PathBuf, reason: String },
    /// A new recording was to be created, but the file exists.
    #[error("there is a file {} already", path.display())]
    Exists { path: PathBuf },
    /// Another program writes to the file.
    #[error("another program is writing the recording {}: wait for it, or choose another file", path.display())]
    InUse { path: PathBuf },
    /// The file is something else.
    #[error("{} is no recording: {what}", path.display())]
    NotARecording {
        path: PathBuf,
        /// What it is, or is not.
        what: String,
    },
    /// The file is of another version.
    #[error(
        "the recording {} was written by another version of planproof: its schema is {found}, this one reads {RECORDING_SCHEMA}",
        path.display()
    )]
    OtherVersion { path: PathBuf, found: String },
    /// An invalid line. A torn last line is not damage.
    #[error("the recording {} is damaged in line {line}: {what}{}", path.display(), what_to_do(*line))]
    Damaged {
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The file is larger than [`RECORDING_BYTES_MAX`].
    #[error("the recording {} is larger than {RECORDING_BYTES_MAX} bytes", path.display())]
    TooLarge { path: PathBuf },
    /// It does not hold exactly one model to replay.
    #[error("the recording {} {what}", path.display())]
    NoModel { path: PathBuf, what: String },
}

/// What to do about a recording that is damaged in that line. Later lines refer to earlier ones by number, so they
/// are useless without it.
fn what_to_do(line: u64) -> String {
    match line.saturating_sub(1) {
        // The first line alone is worthless.
        0 | 1 => "; choose another file".to_owned(),
        good => {
            format!("; the lines before it are good: `head -n {good}` gives them, or choose another file")
        }
    }
}

impl RecordingError {
    fn cannot_read(path: &Path, error: &std::io::Error) -> Self {
        Self::CannotRead { path: path.to_owned(), reason: error.to_string() }
    }

    fn cannot_write(path: &Path, reason: &impl ToString) -> Self {
        Self::CannotWrite { path: path.to_owned(), reason: reason.to_string() }
    }
}
