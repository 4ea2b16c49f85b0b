//! Watches what a sandbox holds: the memory of its processes, its files, which are in memory as well, and its sockets.
//!
//! The `/proc` inside of a sandbox shows exactly its processes, so nobody else is looked at, and nobody leaves it.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use planproof_isolation::processes::Process;
use rustix::fs::statfs;

/// The folders in memory that a program can write to.
pub(super) const FOLDERS: [&str; 3] = ["/dev/shm", "/tmp", "/work"];

/// What the kernel keeps for a file besides its content, rounded up.
const FILE_BYTES: u64 = 2 << 10;

/// What can wait in a socket, rounded up: twice the usual most of `net.core.wmem_max`.
const SOCKET_BYTES: u64 = 512 << 10;

/// What a sandbox holds at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes of memory, exact only if there are more than the limit.
    pub(super) bytes: u64,
    /// Threads of all processes.
    pub(super) threads: u64,
}

/// What the sandbox with this first process holds; `None` as long as it is being set up, and once it is gone.
///
/// # Errors
/// The system lets nobody look.
pub(super) fn held(first: u32, most: u64) -> io::Result<Option<Held>> {
    let root = PathBuf::from(format!("/proc/{first}/root"));
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino()));
    let inside = match identity(&root) {
        Ok(inside) => inside,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(error),
        Err(_) => return Ok(None),
    };
    let proc = root.join("proc");
    // Before the sandbox has a root of its own, that of the machine is seen.
    if inside == identity(Path::new("/"))? || !proc.join("1").exists() {
        return Ok(None);
    }
    let processes = Process::all(&proc);
    let of_files: u64 = FOLDERS.iter().map(|folder| of_folder(&root.join(&folder[1..]))).sum();
    let others = of_files + of_sockets(&proc, &processes);
    let threads = processes.iter().map(|process| process.threads).sum();
    let plain: u64 = others + processes.iter().map(|process| process.bytes).sum::<u64>();
    if plain <= most {
        return Ok(Some(Held { bytes: plain, threads }));
    }
    let exact: u64 = processes.iter().map(|process| process.proportional_bytes(&proc)).sum();
    Ok(Some(Held { bytes: others + exact, threads }))
}

/// The content of a folder's file system, and what belongs to each of its files.
fn of_folder(folder: &Path) -> u64 {
    let Ok(found) = statfs(folder) else { return 0 };
    let block = u64::try_from(found.f_bsize).unwrap_or_default();
    let files = found.f_files.saturating_sub(found.f_ffree);
    found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(block) + files.saturating_mul(FILE_BYTES)
}

/// What can wait in the sockets between processes, of which all of a sandbox share one list.
fn of_sockets(proc: &Path, processes: &[Process]) -> u64 {
    let lists = processes.iter().map(|process| proc.join(format!("{}/net/unix", process.id)));
    let list = lists.filter_map(|path| fs::read_to_string(path).ok()).next().unwrap_or_default();
    // The first line is a heading.
    (list.lines().count().saturating_sub(1) as u64).saturating_mul(SOCKET_BYTES)
}
