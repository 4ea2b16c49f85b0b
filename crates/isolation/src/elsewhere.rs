//! On systems other than Linux, no isolation is available.

use std::path::PathBuf;
use std::process::{self, ExitStatus};

use crate::{Account, AgentMemory, Hidden, Layer, MachineIsolation};

const NOT_LINUX: &str = "this system is not Linux";

/// Finds no isolation.
pub fn find(_: &Hidden, _: &[PathBuf], _: AgentMemory) -> MachineIsolation {
    let mut account = Account::default();
    for layer in [Layer::MountNamespace, Layer::PidNamespace, Layer::Landlock] {
        account.note(layer, Err(NOT_LINUX.to_owned()));
    }
    MachineIsolation { launcher: None, account }
}

/// Finds no memory limit.
pub fn find_memory(_: AgentMemory) -> MachineIsolation {
    MachineIsolation::default()
}

/// Not available on this system.
///
/// # Errors
/// Always.
pub fn close_this_process() -> Result<(), String> {
    Err(NOT_LINUX.to_owned())
}

/// Does nothing: no process is a launcher.
pub fn launcher_main() {}

/// Like [`launcher_main`], in a program that is only a launcher.
pub fn only_launcher_main() -> ! {
    process::exit(2)
}

/// No process ends the way a launcher reports with, because none is a launcher.
pub(crate) fn died_by(_: ExitStatus, _: i32) -> bool {
    false
}
