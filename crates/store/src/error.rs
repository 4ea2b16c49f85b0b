//! What can go wrong, and how to fix it.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::patience::{Patience, WORK_MAX};
use crate::{RunId, StoreLimits};

/// Why an operation of the store failed. It can be cloned because a failed [`Writer`](crate::Writer) repeats its
/// error to every later caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened or created.
    #[error("cannot open the run store {}: {reason}", path.display())]
    CannotOpen { path: PathBuf, reason: String },
    /// The file is not a run store.
    #[error("{} is not a planproof run store: choose another file", path.display())]
    NotAStore { path: PathBuf },
    /// The file is empty or has no tables yet: whoever made it was stopped before anything was in it.
    #[error(
        "the run store {} holds nothing: its making was cut short, as on a full disk; run the test again, which completes \
         it, or remove it",
        path.display()
    )]
    Unmade { path: PathBuf },
    /// The file has the mark of a run store, but not its tables: something was added, removed or exchanged. Nothing of
    /// it was read.
    #[error(
        "the run store {} was altered: {what}; planproof reads only stores with its own tables, because others can make \
         a query do anything. Undo the change, or use a copy from a source that you trust",
        path.display()
    )]
    Altered { path: PathBuf, what: String },
    /// A newer planproof wrote the file.
    #[error(
        "the run store {} has schema version {found}, this planproof knows up to {supported}: use a newer planproof",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: i64,
        /// The newest version this program knows.
        supported: i64,
    },
    /// The file was a run store, but its content is corrupt.
    #[error(
        "the run store {} is damaged ({what}): restore a copy, or save what is whole with `planproof runs export` and what \
         `sqlite3 FILE .recover` finds",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },
    /// The latest commits are in a log beside the file, and SQLite cannot read that log in a folder that is not
    /// writable.
    #[error(
        "the run store {} cannot be read where it is: its last part is in {}-wal, and the folder cannot be written; copy both \
         files into a folder that can, and read the copy",
        path.display(),
        path.display()
    )]
    LogNotReadable { path: PathBuf },
    /// The file or its folder cannot be written, or the store was opened for reading only.
    #[error(
        "the run store {} cannot be written: let the file and its folder be written, or name another file with --store",
        path.display()
    )]
    ReadOnly { path: PathBuf },
    /// Another program held the write lock on the file for too long.
    #[error("the run store {} was locked by another program for {waited_ms} ms: try again when it is done", path.display())]
    Busy {
        path: PathBuf,
        /// [`StoreLimits::busy_ms`].
        waited_ms: u32,
    },
    /// The disk, or the space allowed by [`StoreLimits::pages_max`], is used up. Everything committed is kept.
    #[error(
        "the run store {} is full ({}): what was committed is kept; make room first",
        path.display(),
        limit.map_or_else(|| "no space left on the disk".to_owned(), |pages| format!("limit of {pages} pages"))
    )]
    Full {
        path: PathBuf,
        /// The limit in pages; `None` if only the disk limits the file.
        limit: Option<u32>,
    },
    /// Another process is running or deleting a campaign.
    #[error(
        "campaign {campaign} is running in another process{}: wait until that has ended, or end it",
        process.map_or_else(String::new, |process| format!(" (process {process})"))
    )]
    Running {
        campaign: String,
        /// The process id, if known.
        process: Option<u32>,
    },
    /// Another program wrote to the chain of a campaign while this writer ran the campaign.
    #[error(
        "another program wrote into the campaign in the run store {} while it ran: `planproof runs verify` says what \
         it left; run one program at a time, then resume",
        path.display()
    )]
    Interfered { path: PathBuf },
    /// Anything else SQLite or the disk reports.
    #[error("the run store {} failed: {what}", path.display())]
    Failed { path: PathBuf, what: String },
    /// There is already a campaign with this id.
    #[error("there is a campaign {id:?} already")]
    CampaignExists { id: String },
    /// No campaign has this id, or an id that starts with it.
    #[error(
        "there is no campaign {name:?}: name its id, the beginning of its id, or `last`; `planproof runs list` shows all"
    )]
    UnknownCampaign {
        /// The name that was looked up.
        name: String,
    },
    /// The ids of several campaigns start with this prefix.
    #[error("{prefix:?} may be any of {}: write more of it", matches.join(", "))]
    AmbiguousCampaign {
        /// The prefix that was looked up.
        prefix: String,
        /// Some of the matching ids.
        matches: Vec<String>,
    },
    /// The campaign has no such unit.
    #[error("campaign {campaign:?} has no repeat {repeat} of case {ordinal}")]
    UnknownUnit {
        campaign: String,
        /// The case's place in the campaign, from 0.
        ordinal: u32,
        /// The repeat, from 0.
        repeat: u32,
    },
    /// The unit is finished and has a score; such a unit is never run twice.
    #[error("repeat {repeat} of case {ordinal} of campaign {campaign:?} is finished already")]
    AlreadyFinished {
        campaign: String,
        /// The case's place in the campaign, from 0.
        ordinal: u32,
        /// The repeat, from 0.
        repeat: u32,
    },
    /// This writer is already running the unit.
    #[error("repeat {repeat} of case {ordinal} of campaign {campaign:?} is running already")]
    AlreadyRunning {
        campaign: String,
        /// The case's place in the campaign, from 0.
        ordinal: u32,
        /// The repeat, from 0.
        repeat: u32,
    },
    /// This writer never started the run, or the run is finished.
    #[error("run {run} is not open for writing")]
    RunNotOpen { run: RunId },
    /// Another program started the same unit again, so this run no longer counts.
    #[error("run {run} was replaced: another program resumed the same campaign")]
    RunReplaced { run: RunId },
    /// The event is larger than the store accepts. Its run can no longer be finished.
    #[error("an event of run {run} takes {bytes} bytes, the limit is {limit}")]
    EventTooLarge {
        run: RunId,
        /// Size of its line in bytes.
        bytes: usize,
        /// [`StoreLimits::event_bytes_max`].
        limit: usize,
    },
    /// The writing thread has ended.
    #[error("the writer of the run store {} has stopped", path.display())]
    WriterStopped { path: PathBuf },
    /// The export's destination failed.
    #[error("cannot write the export: {reason}")]
    Export {
        /// The kind of failure: a closed pipe, for example, need not count as one.
        kind: std::io::ErrorKind,
        reason: String,
    },
}

/// Converts SQLite's errors into ours.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) limits: StoreLimits,
    /// For the connection that is opened with it.
    pub(crate) patience: Patience,
    /// The file was opened as a run store before.
    is_known: bool,
}

impl Place {
    pub(crate) fn new(path: &Path, limits: StoreLimits) -> Self {
        Self { path: path.to_owned(), limits, patience: Patience::new(), is_known: false }
    }

    /// The same, for a file that was opened as a run store.
    pub(crate) fn known(self) -> Self {
        Self { is_known: true, ..self }
    }

    /// The file is not a run store: if it was one before, that is not the fault of whoever named it.
    pub(crate) fn not_a_store(&self) -> StoreError {
        match self.is_known {
            true => self
                .damaged("it was a run store when it was opened, and something else has written to it since"),
            false => StoreError::NotAStore { path: self.path.clone() },
        }
    }

    // By value, because `map_err` passes it by value.
    #[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` wants")]
    pub(crate) fn error(&self, error: rusqlite::Error) -> StoreError {
        let path = self.path.clone();
        // SQLite says that of a folder in several ways, of which some look like a full disk.
        if path.is_dir() {
            return StoreError::CannotOpen { path, reason: "it is a folder; name a file".to_owned() };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => self.not_a_store(),
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, what: error.to_string() },
            Some(ErrorCode::DatabaseBusy) => StoreError::Busy { path, waited_ms: self.limits.busy_ms },
            Some(ErrorCode::OperationInterrupted) => {
                let what = format!("a query took longer than {} s", WORK_MAX.as_secs());
                StoreError::Damaged { path, what }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path, limit: self.limits.pages_max },
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
            Some(ErrorCode::CannotOpen) => {
                // The operating system's message about a missing or unreadable file or directory is more specific than
                // SQLite's.
                let opened = path.metadata().and_then(|_| std::fs::File::open(&path));
                let reason = opened.err().map_or_else(|| error.to_string(), |error| error.to_string());
                StoreError::CannotOpen { path, reason }
            }
            Some(ErrorCode::SystemIoFailure) => {
                let what = format!(
                    "{error}: is the disk full, or a limit on the size of files (`ulimit -f`) reached? What was committed is kept"
                );
                StoreError::Failed { path, what }
            }
            None if is_of_a_value(&error) => self.damaged("a value in it is not what planproof writes there"),
            _ => StoreError::Failed { path, what: error.to_string() },
        }
    }

    pub(crate) fn damaged(&self, what: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.to_owned() }
    }
}

/// Whether a value was found that is of another type than its column, or out of its range.
fn is_of_a_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};

    matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
    )
}
