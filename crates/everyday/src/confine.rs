//! Real programs, run where they can access nothing: behind bubblewrap, or not at all.
//!
//! A program sees `/usr` and what runs its programs, both read-only, and three small folders of its own in memory; no
//! network, no other process, no file of the user's, no variable of ours. It runs as nobody without any capability.
//! It has limits of time, memory, output, processes and files, which count for its sandbox alone, whatever else its
//! user runs. If the machine lacks anything for this, that is an [`Unavailable`] with advice, and nothing is run; the
//! same if a program failed when the machine had not enough for a sandbox.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod watch;

use std::time::Duration;

use thiserror::Error;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::Confinement;
#[cfg(target_os = "linux")]
pub use linux::Confinement;

/// What a program may use.
#[derive(Debug, Clone, Copy)]
pub struct ProgramLimits {
    /// Elapsed time, after which everything is killed.
    pub time: Duration,
    /// Memory of all its processes and files together, in bytes. Beyond it everything is killed.
    pub memory_bytes: u64,
    /// Address space of each process, in bytes. Beyond it a process gets no memory.
    pub address_bytes: u64,
    /// Bytes of output, of both streams together. Later output is lost, and the program is killed.
    pub output_bytes: usize,
    /// Processes and threads at a time.
    pub processes: u32,
    /// Bytes in each of its three folders, which are in memory.
    pub files_bytes: u64,
}

impl Default for ProgramLimits {
    /// 10 seconds, 512 MiB, 64 KiB of output, 64 processes, 16 MiB of files in each folder.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            memory_bytes: 512 << 20,
            address_bytes: 512 << 20,
            output_bytes: 64 << 10,
            processes: 64,
            files_bytes: 16 << 20,
        }
    }
}

/// Why programs cannot be run on this machine. No agent is responsible for it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("programs are run only inside a sandbox, and this machine offers none: {reason}")]
pub struct Unavailable {
    /// What is missing, and what to do.
    pub reason: String,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// By itself, with this status.
    Exited(i32),
    Killed,
    /// It took too much memory, with its files.
    Memory,
    /// It started too many processes, on a kernel that does not count them for a sandbox.
    Processes,
    /// It took too long.
    Time,
    /// It wrote too much.
    Output,
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its output on both streams, as text, in order.
    pub output: String,
    pub ended: ProcessEnd,
}
