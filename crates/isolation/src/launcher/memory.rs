//! Watches the memory use of a program and all its descendants, and kills them all if they exceed their limit.
//!
//! The use is the sum of resident and swapped memory according to `/proc`. Memory shared by processes is counted
//! once, but the kernel takes longer to compute that, so it is only asked if the plain sum is above the limit.
//! Memory that is merely reserved does not count: JavaScript and Java engines reserve more than machines have.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{End, failed};
use crate::processes::{self, CONFIRMED_AFTER, LOOK_MIN, Process};

/// Where the kernel shows the processes of this namespace.
const PROC: &str = "/proc";

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

impl Watch {
    /// Starts watching that a tree stays within this number of bytes.
    ///
    /// # Errors
    /// The memory use cannot be read.
    pub(super) fn start(tree: Tree, most: u64) -> Result<Self, String> {
        let wrong = |error| failed("watching the memory", error);
        // If this fails, so would each check, and the program would run without its limit.
        fs::read_dir(PROC).map_err(wrong)?;
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
    let mut pause = processes::pause(most);
    let mut over_since = None;
    loop {
        thread::sleep(pause);
        match most.checked_sub(tree.bytes(most)) {
            Some(left) => {
                over_since = None;
                pause = processes::pause(left);
            }
            None if over_since.get_or_insert_with(Instant::now).elapsed() >= CONFIRMED_AFTER => return,
            None => pause = LOOK_MIN,
        }
    }
}

impl Tree {
    /// The memory of all its processes, exact only if it is above `most`.
    fn bytes(self, most: u64) -> u64 {
        let processes = self.processes();
        let all: u64 = processes.iter().map(|process| process.bytes).sum();
        if all <= most {
            return all;
        }
        processes.iter().map(|process| process.proportional_bytes(Path::new(PROC))).sum()
    }

    /// The processes that have not ended.
    fn processes(self) -> Vec<Process> {
        let own = process::id();
        let mut processes = Process::all(Path::new(PROC));
        processes.retain(|process| process.id != own);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_in_any_order() {
        let process = |(id, parent)| Process { id, parent, ..Process::default() };
        let processes = [(2, 9), (3, 2), (5, 4), (9, 1), (4, 1)].map(process);
        assert_eq!(below(9, &processes), BTreeSet::from([9, 2, 3]));
    }
}
