//! TravelPlanner's table of flights on disk: 3.8 million rows, found in microseconds, of which next to nothing is in
//! memory.
//!
//! [`open`] reads the published file once and writes an index into a folder that the caller names; from then on it opens
//! that index, in milliseconds, as long as the file is the same. What it gives are the
//! [`Flights`](planproof_travel::tables::Flights) that the tools and the evaluator of `travel` ask, which reads no
//! files. The answers are those of the table in memory (`FlightsBuilder`), to which the tests hold it.
//!
//! # What is where
//!
//! Whether an index is that of a file (`source.rs`), making it (`make.rs`) with a sort that needs little memory
//! (`sorter.rs`), its layout (`layout.rs`), and looking things up in it (`index.rs`).

mod index;
mod layout;
mod make;
mod sorter;
mod source;

use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use planproof_travel::tables::{Flights, TableError};
use thiserror::Error;

use source::{Fingerprint, Names};

/// How many rows are sorted in memory at a time: 14 MB of them.
pub const ROWS_IN_MEMORY: usize = 500_000;

/// Most rows of a table. The published one has 3.83 million.
pub const ROWS_MAX: u64 = 100_000_000;

/// Most bytes of a line. Those of the published table have fewer than 120.
pub const LINE_BYTES_MAX: u64 = 64 << 10;

/// How long is waited between two looks at whether another process has finished the index.
const WAIT: Duration = Duration::from_millis(50);

/// How far the making of an index has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Another process makes it.
    Waiting,
    /// The table is read.
    Reading {
        /// Bytes so far.
        bytes: u64,
        /// All of them.
        of: u64,
    },
    /// Its rows are written in their order.
    Writing {
        /// Rows so far.
        rows: u64,
        /// All of them.
        of: u64,
    },
}

/// Why there are no flights.
#[derive(Debug, Error)]
pub enum FlightsError {
    /// The table cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// The table is none.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The table was written to while it was read.
    #[error("{} changed while it was read; try again when it is complete", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The index cannot be written or read.
    #[error(
        "the index of the flights cannot be kept at {}: {source}; name a folder that can be written to",
        path.display()
    )]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// The caller did not want to wait any longer.
    #[error("the indexing was given up")]
    GivenUp,
}

impl FlightsError {
    /// Makes an error of what the operating system says of the table.
    fn source(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Source { path: path.to_owned(), source }
    }

    /// Makes an error of what the operating system says of the index.
    fn cache(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Cache { path: path.to_owned(), source }
    }

    /// Whether the user has to mend a path or the table.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::GivenUp)
    }
}

/// Opens the flights of a file in the published form, and makes the index in the folder `cache` first if there is none,
/// or one of another version of the file: of another size, time of change, or path, or written in another layout. The
/// folder is made where it is missing.
///
/// Opening takes milliseconds, making the index seconds for the published table. It needs some 60 MB of memory for
/// that (12 bytes a row, and what [`ROWS_IN_MEMORY`] says), and 32 bytes a row on disk, for a while twice as much.
/// `progress` is called every few milliseconds meanwhile; where it breaks off, so does the making.
///
/// An index takes its name when it is complete, so that one that was cut off is never opened. Of several processes that
/// want the same index one makes it, and the others wait for it. Afterwards the file may go: the index has all of it.
///
/// # Errors
/// [`FlightsError`].
pub fn open(
    source: &Path,
    cache: &Path,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Flights, FlightsError> {
    open_with(source, cache, ROWS_IN_MEMORY, progress)
}

/// The same, with at most so many rows in memory at a time (at least one).
///
/// # Errors
/// [`FlightsError`].
pub fn open_with(
    source: &Path,
    cache: &Path,
    rows_in_memory: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Flights, FlightsError> {
    let path = fs::canonicalize(source).map_err(FlightsError::source(source))?;
    let names = Names::of(&path, cache);
    let file = File::open(&path).map_err(FlightsError::source(source))?;
    let fingerprint = Fingerprint::of(&file).map_err(FlightsError::source(source))?;
    if let Some(flights) = index::open(&names.index, &fingerprint) {
        return Ok(flights);
    }
    fs::create_dir_all(cache).map_err(FlightsError::cache(cache))?;
    let _lock = lock(&names.lock, progress)?;
    // Whoever held the lock before may have made it.
    if let Some(flights) = index::open(&names.index, &fingerprint) {
        return Ok(flights);
    }
    make::make((&path, &file, &fingerprint), &names, rows_in_memory.max(1), progress)?;
    let gone = || io::Error::new(io::ErrorKind::NotFound, "it was changed as soon as it was written");
    index::open(&names.index, &fingerprint).ok_or_else(|| FlightsError::cache(&names.index)(gone()))
}

/// Waits until no other process makes the index. The lock ends with its process.
fn lock(path: &Path, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<File, FlightsError> {
    let file = File::options().create(true).append(true).open(path).map_err(FlightsError::cache(path))?;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                if progress(Progress::Waiting).is_break() {
                    return Err(FlightsError::GivenUp);
                }
                std::thread::sleep(WAIT);
            }
            // Some file systems have no locks; then two may make the same index, and the later one stays.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}
