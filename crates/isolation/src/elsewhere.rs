//! Systems that are not Linux have none of this.

use std::path::PathBuf;
use std::process;

use crate::{Account, AgentMemory, Found, Hidden, Launcher, Layer};

const NOT_LINUX: &str = "this system is not Linux";

/// Nothing.
pub fn find(_: &Hidden, _: &[PathBuf], _: AgentMemory) -> Found {
    let mut account = Account::default();
    for layer in [Layer::MountNamespace, Layer::PidNamespace, Layer::Landlock] {
        account.note(layer, Err(NOT_LINUX.to_owned()));
    }
    Found { launcher: None, account }
}

/// Nothing.
pub fn find_memory(_: AgentMemory) -> Found {
    Found::default()
}

/// Not here.
///
/// # Errors
/// Always.
pub fn close_this_process() -> Result<(), String> {
    Err(NOT_LINUX.to_owned())
}

/// No process is a launcher.
pub fn launcher_main() {}

/// The same in a program that is nothing else.
pub fn only_launcher_main() -> ! {
    process::exit(2)
}
