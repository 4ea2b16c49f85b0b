//! Workers as processes of Unix.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::Signal;
use tokio::process::Command;

/// Keeps signals from a terminal from reaching the worker, by a process group of its own.
pub(super) fn keep_signals_off(command: &mut Command) {
    command.process_group(0);
}

/// Whether the system ended the worker because it used too much CPU time.
pub(super) fn is_out_of_time(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::XCPU.as_raw())
}
