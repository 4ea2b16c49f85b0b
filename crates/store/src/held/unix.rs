//! Files of Unix, which have an identity apart from their names.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

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
