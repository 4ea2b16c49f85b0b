//! Locks that the operating system releases when the process that holds them ends, however it ends.
//!
//! A lock is a locked file. It contains the process id, for people to read. A file left behind by a killed process is
//! taken over by the next process.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Maximum number of bytes read from a lock file; a process id is shorter.
const FILE_BYTES_MAX: u64 = 16;

/// A locked file, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// `None` only while this is dropped.
    file: Option<File>,
}

/// Why a file was not locked.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Another process holds it: this one, if that has written its id yet.
    Held { process: Option<u32> },
    /// The file system refused, for this reason.
    Failed { what: String },
}

impl Lock {
    /// Locks the file at `path`, which is made if there is none.
    pub(crate) fn take(path: &Path) -> Result<Self, LockError> {
        let wrong = |error: io::Error| LockError::Failed {
            what: format!("{} cannot be locked: {error}", path.display()),
        };
        loop {
            // A link could lead to any other file, which would be emptied below.
            if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
                return Err(wrong(io::Error::other("it is not a file; remove what is there")));
            }
            let mut options = File::options();
            // Not truncated, because the file may be locked and name its holder.
            options.create(true).truncate(false).read(true).write(true);
            let mut file = system::open(&options, path).map_err(wrong)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Held { process: holder(&file) }),
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
            }
            // The previous holder may have removed the file after we opened it; a lock on it would then block
            // nobody.
            if system::is_at(path, &file).map_err(wrong)? {
                file.set_len(0).and_then(|()| write!(file, "{}", process::id())).map_err(wrong)?;
                return Ok(Self { path: path.to_owned(), file: Some(file) });
            }
        }
    }

    /// Whether a process holds the lock of this file, as far as can be seen without touching it.
    pub(crate) fn is_taken(path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|found| found.is_file()) && system::is_locked(path, holder)
    }
}

/// The id of the process that locked the file, if it has written it yet. Windows lets nobody read a locked file.
fn holder(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // A file that could not be removed is taken over later.
            let _ = system::remove(&self.path, file);
        }
    }
}
