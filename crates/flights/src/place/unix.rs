//! Unix.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

/// The time in nanoseconds at which a file last changed, its name and rights included, and its number.
pub(crate) fn identity(data: &Metadata) -> (u64, u64) {
    const NANOSECONDS: i64 = 1_000_000_000;
    (data.ctime().wrapping_mul(NANOSECONDS).wrapping_add(data.ctime_nsec()).cast_unsigned(), data.ino())
}

/// Fills all of `bytes` from this offset on.
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}
