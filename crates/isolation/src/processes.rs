//! Processes and their memory, as a `/proc` shows them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Minimum pause between two looks at the memory of processes.
pub const LOOK_MIN: Duration = Duration::from_millis(10);

/// Maximum pause between two looks.
pub const LOOK_MAX: Duration = Duration::from_millis(500);

/// How long processes must have been above their limit at every look. Between `vfork` and `exec`, a child shares the
/// memory of its parent and is counted in full as well.
pub const CONFIRMED_AFTER: Duration = Duration::from_millis(50);

/// How fast a core can fill memory, in bytes per millisecond: twice the measured rate. The next look comes no later
/// than all cores together could fill what is left.
const FASTEST_PER_CORE: u64 = 4 << 20;

/// What the system says of a process that has ended.
const NO_PROCESS: i32 = nix::libc::ESRCH;

/// A process according to `/proc`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Its id in the process namespace of this `/proc`.
    pub id: u32,
    /// That of its parent.
    pub parent: u32,
    /// Whether it has ended but was not reaped yet.
    pub is_over: bool,
    /// Resident and swapped memory and huge pages, including shared parts.
    pub bytes: u64,
    /// The number of its threads.
    pub threads: u64,
}

impl Process {
    /// All processes that this `/proc` shows.
    pub fn all(proc: &Path) -> Vec<Self> {
        let names = fs::read_dir(proc).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let ids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
        ids.filter_map(|id| Self::now(proc, id)).collect()
    }

    /// The process of this id.
    fn now(proc: &Path, id: u32) -> Option<Self> {
        let folder = proc.join(id.to_string());
        let process = Self::read(id, &fs::read_to_string(folder.join("status")).ok()?)?;
        if !process.is_over {
            return Some(process);
        }
        let threads = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
        let statuses = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
        Some(process.or_a_thread(statuses))
    }

    /// The process according to the first of its threads that has not ended. The status of a process is that of its
    /// first thread, which can end before the others: it then says that the process has ended and holds no memory.
    fn or_a_thread(self, mut statuses: impl Iterator<Item = String>) -> Self {
        let alive = |status: String| Self::read(self.id, &status).filter(|thread| !thread.is_over);
        statuses.find_map(alive).unwrap_or(self)
    }

    /// Parses `/proc/ID/status`.
    fn read(id: u32, status: &str) -> Option<Self> {
        let of = |name: &str| {
            let mut lines = status.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let parent = of("PPid")?.parse().ok()?;
        let is_over = of("State").is_some_and(|state| state.starts_with(['Z', 'X']));
        let amounts = ["VmRSS", "VmSwap", "HugetlbPages"];
        let bytes = amounts.into_iter().filter_map(|name| kibibytes(of(name)?)).sum();
        let threads = of("Threads").and_then(|number| number.parse().ok()).unwrap_or(1);
        Some(Self { id, parent, is_over, bytes, threads })
    }

    /// Its memory with shared parts divided equally among the processes that share them. The kernel takes longer to
    /// compute that, so it is only asked if the plain sum is above a limit. Without the right to ask, the plain sum.
    pub fn proportional_bytes(&self, proc: &Path) -> u64 {
        match fs::read_to_string(proc.join(self.id.to_string()).join("smaps_rollup")) {
            Ok(text) => proportional(&text).unwrap_or(self.bytes),
            // It has ended in the meantime. The plain sum may be that of a parent, whose memory it shared.
            Err(error) if error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(NO_PROCESS) => {
                0
            }
            Err(_) => self.bytes,
        }
    }
}

/// Parses `/proc/ID/smaps_rollup`.
fn proportional(text: &str) -> Option<u64> {
    let of =
        |name: &str| text.lines().find_map(|line| kibibytes(line.strip_prefix(name)?.strip_prefix(':')?));
    let others = ["SwapPss", "Private_Hugetlb", "Shared_Hugetlb"];
    Some(of("Pss")? + others.into_iter().filter_map(of).sum::<u64>())
}

/// Parses a number of kibibytes as written in `/proc`, and returns bytes.
fn kibibytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|number| number << 10)
}

/// Minimum time until this number of bytes can be filled: when to look again.
pub fn pause(left: u64) -> Duration {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    pause_of(left, cores)
}

fn pause_of(left: u64, cores: u64) -> Duration {
    Duration::from_millis(left / (FASTEST_PER_CORE * cores)).clamp(LOOK_MIN, LOOK_MAX)
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;

    #[test]
    fn a_status_is_read() {
        let status = "Name:\tVmRSS: 7 kB\nState:\tS (sleeping)\nPid:\t8\nPPid:\t7\n\
            VmPeak:\t  999 kB\nVmRSS:\t      12 kB\nVmSwap:\t       3 kB\nHugetlbPages:\t       1 kB\nThreads:\t4\n";
        let expected = Process { id: 8, parent: 7, is_over: false, bytes: 16 << 10, threads: 4 };
        assert_eq!(Process::read(8, status), Some(expected));
        // An ended process has no memory.
        let ended = Process::read(9, "Name:\tx\nState:\tZ (zombie)\nPPid:\t8\n").unwrap();
        assert!(ended.is_over && ended.bytes == 0);
        assert_eq!(Process::read(9, "Name:\tx\n"), None);
    }

    /// A program must not get around its limit by ending its first thread.
    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        let ended = "Name:\tx\nState:\tZ (zombie)\nPPid:\t7\n";
        let alive = "Name:\tx\nState:\tR (running)\nPPid:\t7\nVmRSS:\t      12 kB\n";
        let with = |statuses: &[&str]| {
            let process = Process::read(8, ended).unwrap();
            process.or_a_thread(statuses.iter().map(|status| (*status).to_owned()))
        };
        let expected = Process { id: 8, parent: 7, is_over: false, bytes: 12 << 10, threads: 1 };
        assert_eq!(with(&[ended, alive]), expected);
        assert_eq!(with(&[ended, "gone"]), Process { is_over: true, bytes: 0, ..expected });
    }

    #[test]
    fn this_process_is_in_memory_and_no_larger_by_its_portion() {
        let id = process::id();
        let whole = Process::read(id, &fs::read_to_string("/proc/self/status").unwrap()).unwrap().bytes;
        let process = Process { id, bytes: u64::MAX, ..Process::default() };
        let portion = process.proportional_bytes(Path::new("/proc"));
        assert!(whole > 1 << 20 && portion > 0 && portion < u64::MAX, "{whole}, {portion}");
        // No process has this id.
        let gone = Process { id: u32::MAX, ..process };
        assert_eq!(gone.proportional_bytes(Path::new("/proc")), 0);
    }

    #[test]
    fn looks_are_the_closer_the_nearer_the_limit_is() {
        assert_eq!(pause_of(1 << 40, 2), LOOK_MAX);
        assert_eq!(pause_of(0, 2), LOOK_MIN);
        let (near, far) = (pause_of(512 << 20, 2), pause_of(2 << 30, 2));
        assert!(LOOK_MIN < near && near < far && far < LOOK_MAX, "{near:?}, {far:?}");
    }
}
