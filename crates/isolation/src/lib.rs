//! Isolates a program under test from anything that would let it cheat, and from other runs.
//!
//! A program is started through a launcher, which is a mode of the binary ([`launcher_main`]): it creates
//! namespaces, covers what is [`Hidden`], gives up rights, and only then starts the program. No code of ours has to
//! run between fork and exec, so nothing is `unsafe`. What a machine offers is tried out before a campaign begins
//! ([`find`]); a launcher then does exactly that for each run or fails, so that the [`Account`] of a campaign holds
//! for all its runs.
//!
//! # Module layout
//!
//! - `account.rs`: the layers, and the account of those that held.
//! - `hidden.rs`: what is hidden; `hidden/mounts.rs` where in the file system it is visible; `mounts.rs` the mounts.
//! - `calls.rs`: filters of system calls; `processes.rs`: processes and their memory.
//! - `find.rs`: what the machine offers.
//! - `launcher.rs`: the outer launcher process; `launcher/inside.rs` the first process inside, `launcher/covers.rs`
//!   covers, `launcher/rights.rs` rights and limits, `launcher/memory.rs` memory (its limit is parsed in
//!   `memory.rs`).
//! - `elsewhere.rs` stands for finding and launching on systems other than Linux, where nothing is isolated.
//! - `limits.rs` has what a launcher and its caller both need to know.
//! - `gate.rs` keeps one run from exhausting the servers that all runs share.

mod account;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod find;
pub mod gate;
mod hidden;
#[cfg(target_os = "linux")]
mod launcher;
mod limits;
mod memory;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
pub mod processes;
#[cfg(target_os = "linux")]
mod spec;

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

#[cfg(not(target_os = "linux"))]
use self::elsewhere::died_by;
#[cfg(target_os = "linux")]
use self::launcher::died_by;

use self::limits::{MEMORY_SIGNAL, SETUP_SIGNAL};

pub use account::{Account, Isolate, Layer};
#[cfg(target_os = "linux")]
pub use calls::confined_calls;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{close_this_process, find, find_memory, launcher_main, only_launcher_main};
#[cfg(target_os = "linux")]
pub use find::{close_this_process, find, find_memory};
pub use hidden::Hidden;
#[cfg(target_os = "linux")]
pub use launcher::{main as launcher_main, only_main as only_launcher_main};
pub use limits::{FILES_MAX, INSIDE_ARGUMENT, LAUNCHER_ARGUMENT, PROCESSES_MAX};
pub use memory::AgentMemory;

/// Starts programs with the isolation that was found to work on this machine.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
    spec: String,
}

/// What a machine offers; nothing by default.
#[derive(Debug, Clone, Default)]
pub struct MachineIsolation {
    /// Starts programs; `None` if a launcher would have no effect.
    pub launcher: Option<Launcher>,
    /// What isolation it provides.
    pub account: Account,
}

impl Launcher {
    /// The program to start instead of the program under test.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its arguments before the program under test and that program's arguments.
    pub fn arguments(&self) -> [&str; 2] {
        [LAUNCHER_ARGUMENT, &self.spec]
    }

    /// Whether this exit status of a launcher means that it had not started its program. The reason is on its
    /// stderr.
    pub fn has_failed(status: ExitStatus) -> bool {
        died_by(status, SETUP_SIGNAL)
    }

    /// Whether this exit status of a launcher means that it killed its program for exceeding the memory limit.
    pub fn has_killed(status: ExitStatus) -> bool {
        died_by(status, MEMORY_SIGNAL)
    }
}
