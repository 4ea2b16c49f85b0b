//! Workers as processes of Windows.

use std::process::ExitStatus;

use tokio::process::Command;

/// CREATE_NEW_PROCESS_GROUP.
const NEW_PROCESS_GROUP: u32 = 0x200;

/// Keeps Ctrl-C in our console from reaching the worker.
pub(super) fn keep_signals_off(command: &mut Command) {
    command.creation_flags(NEW_PROCESS_GROUP);
}

/// Never: the system does not limit CPU time here.
pub(super) fn is_out_of_time(_: ExitStatus) -> bool {
    false
}
