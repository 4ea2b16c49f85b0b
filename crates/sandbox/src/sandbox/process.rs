//! One worker process.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::system::keep_signals_off;
use super::{SandboxError, WorkerCommand};
use crate::protocol::{FromWorker, ToWorker};

/// How long a worker may take to get ready. It takes milliseconds; a machine may be very busy.
const READY_MAX: Duration = Duration::from_secs(30);
/// How long a worker that has closed its output, or was killed, may take to be gone.
const REAP_MAX: Duration = Duration::from_secs(2);
/// Most bytes of a worker's stderr that are read.
const COMPLAINTS_BYTES_MAX: u64 = 4096;
/// Bytes of the line with which a worker says that it is ready.
const READY_BYTES_MAX: u64 = 4096;

/// A worker that waits for a program or runs one. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    complaints: ChildStderr,
    /// Programs that it has run.
    pub(super) runs: u32,
}

/// Why a line did not come or go.
#[derive(Debug)]
pub(super) enum BreakOff {
    /// The worker is gone, or about to be.
    Gone,
    /// It did not say anything in time.
    Silent,
    /// It said what no worker says.
    Nonsense(String),
}

impl Worker {
    /// Starts a worker with nothing of ours except three pipes: no variable of the environment, and not our
    /// directory. It leads a process group, so that a signal from a terminal to us does not end it before we have
    /// ended its run.
    pub(super) async fn start(command: &WorkerCommand) -> Result<Self, SandboxError> {
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).env_clear().current_dir("/").kill_on_drop(true);
        keep_signals_off(&mut process);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process
            .spawn()
            .map_err(|source| SandboxError::Start { program: command.program.clone(), source })?;
        let not_ready = |how: String| SandboxError::NotReady { program: command.program.clone(), how };
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(complaints)) = streams else {
            return Err(not_ready("it has no streams".into()));
        };
        let mut worker = Self { child, input, output: BufReader::new(output), complaints, runs: 0 };
        match timeout(READY_MAX, worker.hear(READY_BYTES_MAX)).await {
            Ok(Ok(FromWorker::Ready)) => Ok(worker),
            Ok(Ok(_)) => Err(not_ready("it speaks out of turn".into())),
            Ok(Err(BreakOff::Nonsense(what))) => Err(not_ready(what)),
            Ok(Err(_)) => Err(not_ready(worker.last_words().await.describe())),
            Err(_) => Err(not_ready(format!("it said nothing for {READY_MAX:?}"))),
        }
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub(super) async fn say(&mut self, message: &ToWorker) -> Result<(), BreakOff> {
        let mut line = serde_json::to_vec(message).map_err(|error| BreakOff::Nonsense(error.to_string()))?;
        line.push(b'\n');
        self.input.write_all(&line).await.map_err(|_| BreakOff::Gone)
    }

    /// The next line, within a limit in bytes.
    pub(super) async fn hear(&mut self, bytes_max: u64) -> Result<FromWorker, BreakOff> {
        let mut line = Vec::new();
        let read = (&mut self.output).take(bytes_max).read_until(b'\n', &mut line).await;
        if read.is_err() || line.is_empty() {
            return Err(BreakOff::Gone);
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == bytes_max {
            return Err(BreakOff::Nonsense(format!("it wrote a line of more than {bytes_max} bytes")));
        }
        // The output ended within the line.
        if line.last() != Some(&b'\n') {
            return Err(BreakOff::Gone);
        }
        serde_json::from_slice(&line)
            .map_err(|error| BreakOff::Nonsense(format!("it wrote no message: {error}")))
    }

    /// Kills it and waits until it is gone, so that the memory is free before the next one begins.
    pub(super) async fn kill(mut self) {
        let _ = timeout(REAP_MAX, self.child.kill()).await;
    }

    /// How it died, with its message on stderr. If it is still alive it is killed.
    pub(super) async fn last_words(mut self) -> LastWords {
        let status = match timeout(REAP_MAX, self.child.wait()).await {
            Ok(status) => status.ok(),
            Err(_) => {
                let _ = timeout(REAP_MAX, self.child.kill()).await;
                None
            }
        };
        let mut words = Vec::new();
        let _ = timeout(REAP_MAX, (&mut self.complaints).take(COMPLAINTS_BYTES_MAX).read_to_end(&mut words))
            .await;
        LastWords { status, complaints: String::from_utf8_lossy(&words).trim().to_owned() }
    }
}

/// What is known of a worker's end.
pub(super) struct LastWords {
    /// None where it had to be killed.
    pub(super) status: Option<ExitStatus>,
    pub(super) complaints: String,
}

impl LastWords {
    pub(super) fn describe(&self) -> String {
        let status = self.status.map_or_else(|| "it did not exit".to_owned(), |status| status.to_string());
        match self.complaints.as_str() {
            "" => status,
            complaints => format!("{status}: {complaints}"),
        }
    }
}
