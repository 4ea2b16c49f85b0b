//! A child process with everything it starts, and what it writes.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

/// How long a process group has to end after SIGTERM, before SIGKILL.
pub(super) const GRACE: Duration = Duration::from_millis(300);

/// How long a killed leader may take to be gone. Only one that is stuck inside the kernel takes longer.
const REAP_MAX: Duration = Duration::from_secs(2);

/// First pause between two looks at whether a group is gone; it doubles each time.
const POLL_FIRST: Duration = Duration::from_millis(1);

/// Bytes kept of the end of stderr.
const STDERR_TAIL_BYTES: usize = 4 * 1024;

/// Bytes asked for in one read.
const READ_BYTES: usize = 8 * 1024;

/// A process that leads a group of its own. Dropping it kills the group, leader and children, at once.
pub(super) struct ProcessGroup {
    leader: Child,
    id: Option<Pid>,
}

impl ProcessGroup {
    /// Starts `command` as the leader of a new group.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let leader = command.process_group(0).kill_on_drop(true).spawn()?;
        let id = leader.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { leader, id })
    }

    /// The leader's streams, where they were asked for as pipes; each can be taken once.
    pub(super) fn take_streams(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.leader.stdin.take(), self.leader.stdout.take(), self.leader.stderr.take())
    }

    /// Waits for the leader. Its children may live on.
    pub(super) async fn leader_exit(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Asks all of the group to end and waits until none is left, at most [`GRACE`].
    pub(super) async fn terminate(&mut self) {
        let Some(id) = self.id else { return };
        // An error means that nobody is left, or nobody whom we may signal.
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

    /// Kills what is left of the group and waits for its leader.
    pub(super) async fn kill(mut self) {
        self.kill_now();
        let _ = timeout(REAP_MAX, self.leader.wait()).await;
    }

    fn kill_now(&mut self) {
        if let Some(id) = self.id.take() {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill_now();
    }
}

/// What a process writes: all of its stdout and the end of its stderr, within a limit on both together.
pub(super) struct Output {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    answer: Vec<u8>,
    stderr_tail: Vec<u8>,
    bytes: u64,
    bytes_max: u64,
}

impl Output {
    pub(super) fn new(stdout: Option<ChildStdout>, stderr: Option<ChildStderr>, bytes_max: u64) -> Self {
        Self { stdout, stderr, answer: Vec::new(), stderr_tail: Vec::new(), bytes: 0, bytes_max }
    }

    /// Reads until both streams have ended or the limit is passed. May be dropped and called again at any point
    /// without losing a byte.
    pub(super) async fn read(&mut self) {
        while !self.is_too_much() && (self.stdout.is_some() || self.stderr.is_some()) {
            let count = tokio::select! {
                count = read_some(&mut self.stdout, &mut self.answer) => count,
                count = read_some(&mut self.stderr, &mut self.stderr_tail) => count,
            };
            self.bytes = self.bytes.saturating_add(count);
            if self.stderr_tail.len() > 4 * STDERR_TAIL_BYTES {
                self.stderr_tail.drain(..self.stderr_tail.len() - STDERR_TAIL_BYTES);
            }
        }
    }

    /// Whether more was written than allowed.
    pub(super) fn is_too_much(&self) -> bool {
        self.bytes > self.bytes_max
    }

    /// All of stdout, without the blanks around it.
    pub(super) fn answer(&self) -> String {
        String::from_utf8_lossy(&self.answer).trim().to_owned()
    }

    /// The last 4 KiB of stderr, without the blanks around them.
    pub(super) fn stderr_tail(&self) -> String {
        let tail = &self.stderr_tail[self.stderr_tail.len().saturating_sub(STDERR_TAIL_BYTES)..];
        String::from_utf8_lossy(tail).trim().to_owned()
    }
}

/// Appends what one read gives, and drops the stream at its end. Never ready without a stream.
async fn read_some<R: AsyncRead + Unpin>(stream: &mut Option<R>, into: &mut Vec<u8>) -> u64 {
    let Some(open) = stream else { return std::future::pending().await };
    into.reserve(READ_BYTES);
    match open.read_buf(into).await {
        Ok(count) if count > 0 => count as u64,
        // A pipe that cannot be read any more has nothing more to say.
        _ => {
            *stream = None;
            0
        }
    }
}
