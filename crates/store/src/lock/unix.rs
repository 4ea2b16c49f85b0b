//! Files of Unix, which have an identity apart from their names.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::{Pid, test_kill_process};

/// Opens a lock file.
pub(super) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Whether this is the file that has the name.
pub(super) fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    let there = fs::metadata(path).ok().map(|there| (there.dev(), there.ino()));
    let ours = file.metadata()?;
    Ok(there == Some((ours.dev(), ours.ino())))
}

/// Removes the file, and releases the lock by closing it just afterwards.
pub(super) fn remove(path: &Path, file: File) -> io::Result<()> {
    let removed = fs::remove_file(path);
    drop(file);
    removed
}

/// Whether the process that the lock file names is alive.
pub(super) fn is_locked(path: &Path, holder: fn(&File) -> Option<u32>) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let process = holder(&file).and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // A process that we may not signal is one of another user, which is alive.
    process.is_some_and(|process| test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}
