//! Unix.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Fills all of `bytes` from this offset on.
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}
