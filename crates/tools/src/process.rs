//! A child process that leads a group of its own, so that nothing it starts outlives it, or us.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
mod words;

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

#[cfg(unix)]
use self::unix as system;
#[cfg(windows)]
use self::windows as system;

pub use words::{shell_word, split_command};

/// How long a process group has to end after SIGTERM, before SIGKILL.
pub const GRACE: Duration = Duration::from_millis(300);

/// How long a killed leader may take to be gone. Only one that is stuck inside the kernel takes longer.
const REAP_MAX: Duration = Duration::from_secs(2);

/// A process that leads a group of its own. Dropping it kills the group, leader and children, at once. A child that
/// moves to a session of its own (`setsid`) leaves the group and is not found. A group does not outlive this process
/// either, however that ends.
///
/// On Windows it is the tree of processes below the leader. Children of a leader that has exited are not found there,
/// and a tree outlives this process if that is killed.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Child,
    group: system::Group,
}

impl ProcessGroup {
    /// Starts `command` as the leader of a new group. Needs a Tokio runtime with its IO driver.
    ///
    /// # Errors
    /// The system's reason why the program cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        // On Unix this also starts the watcher, which has to exist before the group does.
        system::prepare(command);
        let leader = command.kill_on_drop(true).spawn()?;
        let group = system::Group::of(&leader);
        Ok(Self { leader, group })
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

    /// Asks the whole group to end and waits until none is left, at most [`GRACE`]. Windows asks nobody: it ends them.
    pub async fn terminate(&mut self) {
        self.group.terminate(&mut self.leader).await;
    }

    /// Kills the rest of the group and waits for its leader.
    pub async fn kill(mut self) {
        self.group.kill(&mut self.leader);
        let _ = timeout(REAP_MAX, self.leader.wait()).await;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.group.kill(&mut self.leader);
    }
}
