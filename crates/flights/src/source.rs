//! Which index belongs to which file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::place::identity;

/// What is compared to see whether a file is the one that an index was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(crate) bytes: u64,
    /// Its modification time in nanoseconds since 1970, modulo 2⁶⁴.
    pub(crate) modified: u64,
    /// When the system last noted a change of it, likewise. A program can set the time of modification to any value,
    /// this one only with the clock of the machine.
    pub(crate) changed: u64,
    /// The number of the file in its file system, which a copy that is put in its place does not share. 0 where the
    /// system has none.
    pub(crate) number: u64,
}

impl Fingerprint {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let data = file.metadata()?;
        if data.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let modified = match data.modified()?.duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_nanos() as u64,
            Err(before) => (before.duration().as_nanos() as u64).wrapping_neg(),
        };
        let (changed, number) = identity(&data);
        Ok(Self { bytes: data.len(), modified, changed, number })
    }
}

/// The files of an index. Their names derive from the path of the table, so that several tables can share a folder.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) index: PathBuf,
    /// What is written until it is complete.
    pub(crate) part: PathBuf,
    /// What is locked while it is written.
    pub(crate) lock: PathBuf,
    /// The temporary file for whatever does not fit into memory.
    pub(crate) runs: PathBuf,
}

impl Names {
    pub(crate) fn of(table: &Path, cache: &Path) -> Self {
        let stem = format!("flights-{:016x}", hash(table.as_os_str().as_encoded_bytes()));
        let name = |extension: &str| cache.join(format!("{stem}.{extension}"));
        Self { index: name("index"), part: name("part"), lock: name("lock"), runs: name("runs") }
    }
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo), which is enough to distinguish names and to notice damage.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    hash_on(HASH_OF_NOTHING, bytes)
}

/// What [`hash_on`] begins with.
pub(crate) const HASH_OF_NOTHING: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of all bytes so far, given that of those before these.
pub(crate) fn hash_on(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
