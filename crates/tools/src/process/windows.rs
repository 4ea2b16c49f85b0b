//! Process trees of Windows, ended by its program `taskkill`.
//!
//! A job object would hold more: children of a leader that has exited, and all of them when this process is killed.
//! The system's functions for it need `unsafe`.

use std::process::{Command as Started, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Keeps Ctrl-C in our console from reaching the process: CREATE_NEW_PROCESS_GROUP.
const NEW_PROCESS_GROUP: u32 = 0x200;

/// How long ending a tree may take.
const TASKKILL_MAX: Duration = Duration::from_secs(5);

/// The tree below a leader. It is found through its leader, and only as long as that has not been waited for: the
/// system may give the number to another process afterwards.
#[derive(Debug)]
pub(super) struct Group;

/// Has Ctrl-C reach this process alone, which then ends the command's.
pub(super) fn prepare(command: &mut Command) {
    command.creation_flags(NEW_PROCESS_GROUP);
}

impl Group {
    /// The tree of a process that has just been started.
    pub(super) fn of(_leader: &Child) -> Self {
        Self
    }

    /// Ends the leader and its children at once: programs without windows cannot be asked to end.
    pub(super) async fn terminate(&self, leader: &mut Child) {
        let Some(command) = taskkill(leader) else { return };
        let gone = async {
            let _ = Command::from(command).status().await;
            let _ = leader.start_kill();
            let _ = leader.wait().await;
        };
        let _ = timeout(TASKKILL_MAX, gone).await;
    }

    /// The same, and waits for `taskkill` on this thread, because it has to find the leader alive.
    pub(super) fn kill(&mut self, leader: &mut Child) {
        let Some(mut command) = taskkill(leader) else { return };
        let _ = command.status();
        let _ = leader.start_kill();
    }
}

/// The command that ends a leader with its children, unless the leader has been waited for.
fn taskkill(leader: &Child) -> Option<Started> {
    let id = leader.id()?.to_string();
    let mut command = Started::new("taskkill");
    command.args(["/F", "/T", "/PID", &id]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(command)
}
