//! A child process that leads a group of its own, so that nothing it starts outlives it, or us.

mod watch;
mod words;

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

pub use words::split_command;

/// How long a process group has to end after SIGTERM, before SIGKILL.
pub const GRACE: Duration = Duration::from_millis(300);

/// How long a killed leader may take to be gone. Only one that is stuck inside the kernel takes longer.
const REAP_MAX: Duration = Duration::from_secs(2);

/// First pause between two checks whether a group is gone; it doubles each time.
const POLL_FIRST: Duration = Duration::from_millis(1);

/// A process that leads a group of its own. Dropping it kills the group, leader and children, at once. A child that
/// moves to a session of its own (`setsid`) leaves the group and is not found. A group does not outlive this process
/// either, however that ends.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Child,
    id: Option<Pid>,
}

impl ProcessGroup {
    /// Starts `command` as the leader of a new group. Needs a Tokio runtime with its IO driver.
    ///
    /// # Errors
    /// The system's reason why the program cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        watch::stands_by();
        let leader = command.process_group(0).kill_on_drop(true).spawn()?;
        let id = leader.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        id.into_iter().for_each(watch::begins);
        Ok(Self { leader, id })
    }

    /// The leader's streams, if they were requested as pipes; each can be taken once.
    pub fn take_streams(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.leader.stdin.take(), self.leader.stdout.take(), self.leader.stderr.take())
    }

    /// Waits for the leader. Its children may live on. May be dropped and called again.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub async fn leader_exit(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Asks the whole group to end and waits until none is left, at most [`GRACE`].
    pub async fn terminate(&mut self) {
        let Some(id) = self.id else { return };
        // An error means that nobody is left, or nobody that we may signal.
        if kill_process_group(id, Signal::TERM).is_err() {
            return;
        }
        let leader = &mut self.leader;
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

    /// Kills the rest of the group and waits for its leader.
    pub async fn kill(mut self) {
        self.kill_now();
        let _ = timeout(REAP_MAX, self.leader.wait()).await;
    }

    fn kill_now(&mut self) {
        if let Some(id) = self.id.take() {
            let _ = kill_process_group(id, Signal::KILL);
            watch::is_over(id);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill_now();
    }
}
