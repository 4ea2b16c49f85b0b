//! Watches the memory use of a program and all its descendants, and kills them all if they exceed their limit.
//!
//! The use is the sum of resident and swapped memory according to `/proc`. Memory shared by processes is counted
//! once, but the kernel takes longer to compute that, so it is only asked if the plain sum is above the limit.
//! Memory that is merely reserved does not count: JavaScript and Java engines reserve more than machines have.

use std::collections::BTreeSet;
use std::fs;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{End, failed};

/// Minimum pause between two checks, and between two checks whether a tree is gone.
const LOOK_MIN: Duration = Duration::from_millis(10);

/// Maximum pause between two checks.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// How fast a core can fill memory, in bytes per millisecond: twice the measured rate. The next check comes no
/// later than all cores together could fill what is left.
const FASTEST_PER_CORE: u64 = 4 << 20;

/// How long the tree must have been above its limit at every check. Between `vfork` and `exec`, a child shares the
/// memory of its parent and is counted in full as well.
const CONFIRMED_AFTER: Duration = Duration::from_millis(50);

/// Maximum time to wait for all processes to end.
const KILL_MAX: Duration = Duration::from_secs(2);

/// All processes that this one can see.
const EVERYBODY: Pid = Pid::from_raw(-1);

/// The set of watched processes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tree {
    /// All processes of the own namespace, of which this is the first.
    Namespace,
    /// All descendants of this process, which adopts orphans.
    Below,
}

/// Watches a tree from its creation until this process ends.
pub(super) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// A process according to `/proc`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Process {
    id: u32,
    parent: u32,
    /// Whether it has ended but was not reaped yet.
    is_over: bool,
    /// Resident and swapped memory, including shared parts.
    bytes: u64,
}

impl Watch {
    /// Starts watching that a tree stays within this number of bytes.
    ///
    /// # Errors
    /// The memory use cannot be read.
    pub(super) fn start(tree: Tree, most: u64) -> Result<Self, String> {
        let wrong = |error| failed("watching the memory", error);
        // If this fails, so would each check, and the program would run without its limit.
        fs::read_dir("/proc").map_err(wrong)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let watching = move || {
            wait_until_over(tree, most);
            // Before the kill, because the main thread reads this as soon as the program has ended.
            told.store(true, Ordering::SeqCst);
            tree.kill();
        };
        Ok(Self { is_over, thread: thread::Builder::new().spawn(watching).map_err(wrong)? })
    }

    /// How the program really ended, given how it seems to have ended.
    pub(super) fn judge(self, end: End) -> End {
        if !self.is_over.load(Ordering::SeqCst) {
            return end;
        }
        // If the thread panicked, it has left processes of the tree, which end with the namespace or the process
        // group.
        let _ = self.thread.join();
        End::OverMemory
    }
}

fn wait_until_over(tree: Tree, most: u64) {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let mut pause = pause(most, cores);
    let mut over_since = None;
    loop {
        thread::sleep(pause);
        match most.checked_sub(tree.bytes(most)) {
            Some(left) => {
                over_since = None;
                pause = self::pause(left, cores);
            }
            None if over_since.get_or_insert_with(Instant::now).elapsed() >= CONFIRMED_AFTER => return,
            None => pause = LOOK_MIN,
        }
    }
}

/// Minimum time until this number of bytes can be filled.
fn pause(left: u64, cores: u64) -> Duration {
    Duration::from_millis(left / (FASTEST_PER_CORE * cores)).clamp(LOOK_MIN, LOOK_MAX)
}

impl Tree {
    /// The memory of all its processes, exact only if it is above `most`.
    fn bytes(self, most: u64) -> u64 {
        let processes = self.processes();
        let all: u64 = processes.iter().map(|process| process.bytes).sum();
        if all <= most {
            return all;
        }
        processes.iter().map(|process| proportional(process.id).unwrap_or(process.bytes)).sum()
    }

    /// The processes that have not ended.
    fn processes(self) -> Vec<Process> {
        let own = process::id();
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let ids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok()).filter(|id| *id != own);
        let mut processes: Vec<Process> = ids.filter_map(Process::now).collect();
        if let Self::Below = self {
            let below = below(own, &processes);
            processes.retain(|process| below.contains(&process.id));
        }
        processes.retain(|process| !process.is_over);
        processes
    }

    /// Kills the whole tree, including processes started in the meantime.
    fn kill(self) {
        let begun = Instant::now();
        loop {
            match self {
                Self::Namespace => {
                    let _ = kill(EVERYBODY, Signal::SIGKILL);
                }
                Self::Below => {
                    for process in self.processes() {
                        let _ = kill(Pid::from_raw(process.id.cast_signed()), Signal::SIGKILL);
                    }
                }
            }
            if self.processes().is_empty() || begun.elapsed() > KILL_MAX {
                return;
            }
            thread::sleep(LOOK_MIN);
        }
    }
}

/// The descendants of a process.
fn below(ancestor: u32, processes: &[Process]) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([ancestor]);
    // A parent may stand after its child in the list, so the search is repeated until it finds nothing more.
    loop {
        let before = found.len();
        let children = processes.iter().filter(|process| found.contains(&process.parent));
        let children: Vec<u32> = children.map(|process| process.id).collect();
        found.extend(children);
        if found.len() == before {
            return found;
        }
    }
}

impl Process {
    /// The process of this id.
    fn now(id: u32) -> Option<Self> {
        let process = Self::read(id, &fs::read_to_string(format!("/proc/{id}/status")).ok()?)?;
        if !process.is_over {
            return Some(process);
        }
        let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
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
        let bytes = ["VmRSS", "VmSwap"].into_iter().filter_map(|name| kibibytes(of(name)?)).sum();
        Some(Self { id, parent, is_over, bytes })
    }
}

/// The memory of a process, with shared parts divided equally among the processes that share them; `None` if we may
/// not read it.
fn proportional(id: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
    let of =
        |name: &str| text.lines().find_map(|line| kibibytes(line.strip_prefix(name)?.strip_prefix(':')?));
    Some(of("Pss")? + of("SwapPss").unwrap_or(0))
}

/// Parses a number of kibibytes as written in `/proc`, and returns bytes.
fn kibibytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|number| number << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read() {
        let status = "Name:\tVmRSS: 7 kB\nState:\tS (sleeping)\nPid:\t8\nPPid:\t7\n\
            VmPeak:\t  999 kB\nVmRSS:\t      12 kB\nVmSwap:\t       3 kB\n";
        let expected = Process { id: 8, parent: 7, is_over: false, bytes: 15 << 10 };
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
        let expected = Process { id: 8, parent: 7, is_over: false, bytes: 12 << 10 };
        assert_eq!(with(&[ended, alive]), expected);
        assert_eq!(with(&[ended, "gone"]), Process { is_over: true, bytes: 0, ..expected });
    }

    #[test]
    fn descendants_are_found_in_any_order() {
        let process = |(id, parent)| Process { id, parent, ..Process::default() };
        let processes = [(2, 9), (3, 2), (5, 4), (9, 1), (4, 1)].map(process);
        assert_eq!(below(9, &processes), BTreeSet::from([9, 2, 3]));
    }

    #[test]
    fn this_process_is_in_memory_and_no_larger_by_its_portion() {
        let id = process::id();
        let whole = Process::read(id, &fs::read_to_string("/proc/self/status").unwrap()).unwrap().bytes;
        let portion = proportional(id).unwrap();
        assert!(whole > 1 << 20 && portion > 0, "{whole}, {portion}");
    }

    #[test]
    fn looks_are_the_closer_the_nearer_the_limit_is() {
        assert_eq!(pause(1 << 40, 2), LOOK_MAX);
        assert_eq!(pause(0, 2), LOOK_MIN);
        let (near, far) = (pause(512 << 20, 2), pause(2 << 30, 2));
        assert!(LOOK_MIN < near && near < far && far < LOOK_MAX, "{near:?}, {far:?}");
    }
}
