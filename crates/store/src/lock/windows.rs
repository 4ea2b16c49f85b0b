//! Files of Windows, which keep their names as long as somebody has them open, if they are opened so.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;

/// Others may read and write the file meanwhile, and nobody may remove it: FILE_SHARE_READ and FILE_SHARE_WRITE,
/// without FILE_SHARE_DELETE.
const SHARED: u32 = 0x1 | 0x2;

/// Opens a lock file.
pub(super) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.clone().share_mode(SHARED).open(path)
}

/// Always: nobody can have removed it.
#[expect(clippy::unnecessary_wraps, reason = "other systems have to look")]
pub(super) fn is_at(_: &Path, _: &File) -> io::Result<bool> {
    Ok(true)
}

/// Releases the lock by closing the file, and removes it unless somebody else has opened it by then.
pub(super) fn remove(path: &Path, file: File) -> io::Result<()> {
    drop(file);
    fs::remove_file(path)
}

/// Whether the file can be read: while it is locked, nobody can.
pub(super) fn is_locked(path: &Path, _: fn(&File) -> Option<u32>) -> bool {
    fs::read(path).is_err()
}
