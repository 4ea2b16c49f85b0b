//! Real programs, run where they can access nothing: behind bubblewrap, or not at all.
//!
//! A program sees `/usr` and what runs its programs, both read-only, and two small folders of its own in memory; no
//! network, no other process, no file of the user's, no variable of ours. It runs as nobody without any capability.
//! It has limits of time, memory, output, processes and files. If the machine lacks anything for this, that is an
//! [`Unavailable`] with advice, and nothing is run.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::time::Duration;

use thiserror::Error;

#[cfg(unix)]
pub use unix::Confinement;
#[cfg(windows)]
pub use windows::Confinement;

/// What a program may use.
#[derive(Debug, Clone, Copy)]
pub struct ProgramLimits {
    /// Elapsed time, after which everything is killed.
    pub time: Duration,
    /// Address space of each process, in bytes.
    pub memory_bytes: u64,
    /// Bytes of output, of both streams together. Later output is lost, and the program is killed.
    pub output_bytes: usize,
    /// Processes and threads at a time.
    pub processes: u32,
    /// Bytes in each of its two folders, which are in memory.
    pub files_bytes: u64,
}

impl Default for ProgramLimits {
    /// 10 seconds, 512 MiB, 64 KiB of output, 64 processes, 16 MiB of files.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            memory_bytes: 512 << 20,
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
    /// By a signal, such as for too much memory.
    Killed,
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
    /// How it ended.
    pub ended: ProcessEnd,
}
