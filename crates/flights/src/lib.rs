//! TravelPlanner's table of flights on disk: 3.8 million rows, found in microseconds, with hardly any of them in
//! memory.
//!
//! [`open`] reads the published file once and writes an index into a folder that the caller names. After that it
//! opens the index, in milliseconds, as long as the file is unchanged. It returns the
//! [`Flights`](planproof_travel::tables::Flights) that the tools and the evaluator of `travel` query, because that
//! crate reads no files, and the digest of all bytes of the file, by which a case knows its tables. The answers equal
//! those of the table in memory (`FlightsBuilder`), as the tests check.
//!
//! # Module layout
//!
//! `source.rs` decides whether an index belongs to a file, `make.rs` builds it with a sort that needs little memory
//! (`sorter.rs`), `layout.rs` defines its layout, and `index.rs` looks flights up. `place.rs` reads from files.

mod index;
mod layout;
mod make;
mod place;
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

/// The number of rows sorted in memory at a time, which take 14 MB.
pub const ROWS_IN_MEMORY: usize = 500_000;

/// The maximum number of rows in a table. The published one has 3.83 million.
pub const ROWS_MAX: u64 = 100_000_000;

/// The maximum length of a line in bytes. Lines of the published table have fewer than 120.
pub const LINE_BYTES_MAX: u64 = 64 << 10;

/// The maximum number of flights of a leg, or of a flight number, that are read from an index. Real ones have dozens.
const FOUND_MAX: usize = 1 << 20;

/// The least number of bytes of a row in a table: nine cells and their ends. No index has more rows than this allows.
const TABLE_ROW_BYTES_MIN: u64 = 10;

/// The interval between checks whether another process has finished the index.
const WAIT: Duration = Duration::from_millis(50);

/// The progress of building an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexProgress {
    /// Another process makes it.
    Waiting,
    /// The table is read.
    Reading {
        /// Bytes so far.
        bytes: u64,
        of: u64,
    },
    /// Its rows are written in their order.
    Writing { rows: u64, of: u64 },
}

/// Why there are no flights.
#[derive(Debug, Error)]
pub enum FlightsError {
    /// The table cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Source {
        path: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// The table is none.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The table was modified while it was being read.
    #[error("{} changed while it was read; try again when it is complete", path.display())]
    Changed { path: PathBuf },
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
    /// The caller cancelled the build.
    #[error("the indexing was given up")]
    GivenUp,
}

impl FlightsError {
    /// Converts an error of the operating system about the table.
    fn source(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Source { path: path.to_owned(), source }
    }

    /// Converts an error of the operating system about the index.
    fn cache(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Cache { path: path.to_owned(), source }
    }

    /// Whether the user has to correct a path or the table.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::GivenUp => false,
            Self::Source { source, .. } | Self::Cache { source, .. } => !planproof_files::is_of_world(source),
            Self::Table(_) | Self::Changed { .. } => true,
        }
    }
}

/// The flights of an index.
#[derive(Debug, Clone)]
pub struct IndexedFlights {
    pub flights: Flights,
    /// SHA-256 of all bytes of the table that the index was built from.
    pub digest: [u8; layout::DIGEST_BYTES],
}

/// Opens the flights of a file in the published format. Builds the index in the folder `cache` first if there is
/// none, or if it was built in another layout or from a file with another size, path, number, time of modification or
/// time of any change, which no program can set. Creates the folder if it is missing.
///
/// Opening takes milliseconds; building the index takes seconds for the published table. That needs about 20 MB of
/// memory for any table ([`ROWS_IN_MEMORY`]), and 32 bytes of disk space per row, temporarily twice as much.
/// `progress` is called every few milliseconds during the build and can cancel it.
///
/// An index gets its name only when it is complete, so an interrupted one is never opened. If several processes want
/// the same index, one builds it and the others wait. The table may be deleted afterwards, because the index contains
/// all of it.
///
/// # Errors
/// [`FlightsError`].
pub fn open(
    source: &Path,
    cache: &Path,
    progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
) -> Result<IndexedFlights, FlightsError> {
    open_with(source, cache, ROWS_IN_MEMORY, progress)
}

/// The same, with a limit (at least one) on the number of rows in memory at a time.
///
/// # Errors
/// [`FlightsError`].
pub fn open_with(
    source: &Path,
    cache: &Path,
    rows_in_memory: usize,
    progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
) -> Result<IndexedFlights, FlightsError> {
    // The index is named after the path, so all spellings of the path share one index.
    let path = fs::canonicalize(source).map_err(FlightsError::source(source))?;
    let names = Names::of(&path, cache);
    let file = planproof_files::open(&path).map_err(FlightsError::source(source))?;
    // Of the open file and not of its path, which may name another file by now.
    let fingerprint = Fingerprint::of(&file).map_err(FlightsError::source(source))?;
    // First without the lock: in the usual case, nothing is written and nobody waits.
    if let Some(flights) = index::open(&names.index, &fingerprint) {
        return Ok(flights);
    }
    planproof_files::make_own_folder(cache).map_err(FlightsError::cache(cache))?;
    let _lock = lock(&names.lock, progress)?;
    // The previous holder of the lock may have built it.
    if let Some(flights) = index::open(&names.index, &fingerprint) {
        return Ok(flights);
    }
    make::make((&path, &file, &fingerprint), &names, rows_in_memory.max(1), progress)?;
    let gone = || io::Error::new(io::ErrorKind::NotFound, "it was changed as soon as it was written");
    index::open(&names.index, &fingerprint).ok_or_else(|| FlightsError::cache(&names.index)(gone()))
}

/// Waits until no other process is building the index. A lock is released when its process ends.
fn lock(
    path: &Path,
    progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
) -> Result<File, FlightsError> {
    // Windows does not lock a file that is opened for appending alone.
    let options = File::options().create(true).read(true).append(true).clone();
    let file = planproof_files::open_own(path, &options).map_err(FlightsError::cache(path))?;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                if progress(IndexProgress::Waiting).is_break() {
                    return Err(FlightsError::GivenUp);
                }
                std::thread::sleep(WAIT);
            }
            // Some file systems have no locks. Two processes may then build the same index, and the later one
            // remains.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}
