//! Keeps a program under test from what would let it cheat, and from the runs beside its own.
//!
//! A program is not started by itself but by a launcher, which is a mode of the binary ([`launcher_main`]): it takes
//! namespaces of its own, covers what is [`Hidden`], gives up rights, and only then starts the program. Nothing between
//! fork and exec needs code of ours, so nothing is `unsafe`. What a machine offers of this is tried before a campaign
//! begins ([`find`]); a launcher does exactly that much for each run or fails, so that the [`Account`] of a campaign
//! holds for all its runs.
//!
//! # What is where
//!
//! The layers, and the account of those that held (`account.rs`), what is hidden and at which places of the file
//! system it shows (`hidden.rs`), what the machine offers (`find.rs`), and the launcher (`launcher.rs`): its side
//! outside of the process namespace, the first process inside (`launcher/inside.rs`), covers (`launcher/covers.rs`),
//! rights and limits (`launcher/rights.rs`), memory (`launcher/memory.rs`, whose limit is read in `memory.rs`). What
//! keeps one run from filling up the servers of all is `gate.rs`.

mod account;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod find;
pub mod gate;
mod hidden;
#[cfg(target_os = "linux")]
mod launcher;
mod memory;
mod spec;

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

pub use account::{Account, Isolate, Layer};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{close_this_process, find, find_memory, launcher_main, only_launcher_main};
#[cfg(target_os = "linux")]
pub use find::{close_this_process, find, find_memory};
pub use hidden::Hidden;
#[cfg(target_os = "linux")]
pub use launcher::{main as launcher_main, only_main as only_launcher_main};
pub use memory::AgentMemory;

/// First argument of the program where it is a launcher.
pub const LAUNCHER_ARGUMENT: &str = "__launch-isolated";

/// First argument of the program where it is the first process of a run's own process namespace.
pub const INSIDE_ARGUMENT: &str = "__first-isolated";

/// Most processes and threads of a run at once, where the kernel counts them for each run.
pub const PROCESSES_MAX: u64 = 4096;

/// Most open files of each process of a run.
pub const FILES_MAX: u64 = 65_536;

/// The signal by which a launcher dies that could not start its program: no other program of ours ends so, and a
/// launcher takes no signal from the program.
const SETUP_SIGNAL: i32 = 30;

/// The signal by which a launcher dies that has killed its program for the memory it took. The same holds of it.
const MEMORY_SIGNAL: i32 = 29;

/// Starts programs so that they are kept apart as far as was found to work on this machine.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
    spec: String,
}

/// What a machine offers; nothing by default.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// What starts programs; none where nothing would be gained by it.
    pub launcher: Option<Launcher>,
    /// What it holds them to.
    pub account: Account,
}

impl Launcher {
    /// The program that is to be started in place of another one.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its arguments before the other program and those of it.
    pub fn arguments(&self) -> [&str; 2] {
        [LAUNCHER_ARGUMENT, &self.spec]
    }

    /// Whether a launcher that ended so had not started its program. Why stands on its stderr.
    pub fn has_failed(status: ExitStatus) -> bool {
        status.signal() == Some(SETUP_SIGNAL)
    }

    /// Whether a launcher that ended so has killed its program, because it took more memory than it may.
    pub fn has_killed(status: ExitStatus) -> bool {
        status.signal() == Some(MEMORY_SIGNAL)
    }
}
