//! Windows.

use std::fs::{File, Metadata};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _};

/// The time at which a file was made, which is the nearest that the standard library has, and no number.
pub(crate) fn identity(data: &Metadata) -> (u64, u64) {
    (data.creation_time(), 0)
}

/// Fills all of `bytes` from this offset on. It also moves the file's own position, which other systems do not.
pub(crate) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                bytes = &mut bytes[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
