//! Process groups of Unix, ended by signals.

mod watch;

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::GRACE;

/// First pause between two checks whether a group is gone; it doubles each time.
const POLL_FIRST: Duration = Duration::from_millis(1);

/// A group; `None` once it has been killed.
#[derive(Debug)]
pub(super) struct Group(Option<Pid>);

/// Has the command's process lead a group of its own.
pub(super) fn prepare(command: &mut Command) {
    watch::stands_by();
    command.process_group(0);
}

impl Group {
    /// The group of a process that has just been started.
    pub(super) fn of(leader: &Child) -> Self {
        let id = leader.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        id.into_iter().for_each(watch::begins);
        Self(id)
    }

    /// Asks the whole group to end and waits until none is left, at most [`GRACE`].
    pub(super) async fn terminate(&self, leader: &mut Child) {
        let Some(id) = self.0 else { return };
        // An error means that nobody is left, or nobody that we may signal.
        if kill_process_group(id, Signal::TERM).is_err() {
            return;
        }
        let gone = async {
            // The leader stays in the group until it has been waited for.
            let _ = leader.wait().await;
            let mut pause = POLL_FIRST;
            while test_kill_process_group(id).is_ok() {
                sleep(pause).await;
                pause *= 2;
            }
        };
        let _ = timeout(GRACE, gone).await;
    }

    /// Kills the rest of the group, leader and children.
    pub(super) fn kill(&mut self, _leader: &mut Child) {
        if let Some(id) = self.0.take() {
            // The watcher learns of the end only after the kill. If we are killed in between, it kills the group.
            let _ = kill_process_group(id, Signal::KILL);
            watch::is_over(id);
        }
    }
}
