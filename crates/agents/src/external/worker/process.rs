//! One worker: its start, and the lines that are exchanged with it.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use planproof_isolation::Account;
use planproof_trace::{LimitKind, json};
use serde::Deserialize;
use tokio::time::timeout;

use super::super::environment::{ProgramSetting, dress, lead_to};
use super::super::question::{Question, QuestionMessage};
use super::super::{ExternalRun, shortened};
use crate::program::{Program, Reply, Running, over_memory, with_last_words};

/// Longest time from the start of a worker to its first line: libraries of agents take seconds to import, and longer
/// on a busy machine.
const START_MAX: Duration = Duration::from_secs(120);

/// An address without a model: each task has its own. A client made before the first task notices this at once.
const NO_MODEL_YET: &str = "http://127.0.0.1:9/each-task-has-a-base_url-of-its-own";

/// A worker that is ready for a task. Dropping it kills it, with its process group.
pub(super) struct Worker {
    running: Running,
    /// It has said that it carries conversations.
    pub(super) converses: bool,
    /// What its launcher holds it to; `None` without one.
    held_to: Option<Account>,
}

/// What a worker made of a task.
pub(super) enum Said {
    Answer(String),
    /// It reported an error, and is ready for the next task.
    Error(String),
    /// It wrote something else, which is described here. Its further output is unreliable.
    Nonsense(String),
    /// It ended; `None` if it only closed its stdout.
    Ended(Option<io::Result<ExitStatus>>),
}

#[derive(Deserialize)]
struct Ready {
    ready: bool,
    #[serde(default)]
    conversations: bool,
}

#[derive(Deserialize)]
struct Answer {
    id: u64,
    answer: Option<String>,
    error: Option<String>,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    ///
    /// # Errors
    /// Why it did not become ready, in words for the user.
    pub(super) async fn start(
        program: &Program,
        run: &ExternalRun<'_>,
        setting: &ProgramSetting,
    ) -> Result<Self, String> {
        let name = program.name();
        let ProgramSetting { folder, isolation, .. } = setting;
        let mut command = program.command(&[], folder.as_deref(), isolation.launcher.as_ref());
        dress(&mut command, run.model, setting);
        if run.model.is_some() {
            lead_to(&mut command, NO_MODEL_YET);
        }
        command.env("PLANPROOF_WORKER", "1").env_remove("PLANPROOF_MCP_URL").env_remove("PLANPROOF_QUERY");
        let bytes_max = run.limits.output_bytes;
        let running = Running::start(command, bytes_max)
            .map_err(|error| format!("the worker `{name}` could not be started: {error}"))?;
        let held_to = isolation.launcher.as_ref().map(|_| isolation.account.clone());
        let mut worker = Self { running, converses: false, held_to };
        // Nothing is sent: a worker speaks first.
        let first = timeout(START_MAX, worker.running.exchange(b"", bytes_max)).await;
        let line = match first {
            Ok(Reply::Line(line)) => line,
            Ok(Reply::Ended(status)) => return Err(worker.last_words(status, "before it was ready").await),
            Ok(Reply::TooMuch) => return Err(format!("the worker wrote {bytes_max} bytes and no line")),
            Err(_) => {
                let seconds = START_MAX.as_secs();
                let clause = format!("the worker was not ready {seconds} seconds after its start");
                return Err(with_last_words(&clause, &worker.running.finish().await));
            }
        };
        match json::read::<Ready>(&line) {
            Ok(Ready { ready: true, conversations }) => Ok(Self { converses: conversations, ..worker }),
            _ => Err(format!(
                "the worker's first line is not {{\"ready\": true}}, so it does not speak the protocol of workers \
                 (docs/workers.md): {}",
                shortened(&String::from_utf8_lossy(&line))
            )),
        }
    }

    /// Sends it the task of a run, or what the user says after these messages, and waits for the outcome. If this is
    /// dropped before its end, the worker must not be used again.
    ///
    /// # Errors
    /// It wrote more than it may.
    pub(super) async fn ask(
        &mut self,
        run: &ExternalRun<'_>,
        id: u64,
        (messages, query): (&[QuestionMessage], &str),
    ) -> Result<Said, LimitKind> {
        let question = Question::of(run, Some(id)).after(messages, query);
        let mut task = serde_json::to_vec(&question).unwrap_or_default();
        task.push(b'\n');
        let line = match self.running.exchange(&task, run.limits.output_bytes).await {
            Reply::Line(line) => line,
            Reply::TooMuch => return Err(LimitKind::OutputBytes),
            Reply::Ended(status) => return Ok(Said::Ended(status)),
        };
        let quoted = || shortened(&String::from_utf8_lossy(&line));
        Ok(match json::read::<Answer>(&line) {
            // The answer to another task would shift all later answers by one.
            Ok(Answer { id: other, .. }) if other != id => Said::Nonsense(format!(
                "the worker answered task {other} when it was at task {id}: {}",
                quoted()
            )),
            Ok(Answer { answer: Some(text), error: None, .. }) => Said::Answer(text.trim().to_owned()),
            Ok(Answer { answer: None, error: Some(reason), .. }) => Said::Error(shortened(&reason)),
            Ok(_) => Said::Nonsense(format!(
                "the worker's line has not one of \"answer\" and \"error\", each a text: {}",
                quoted()
            )),
            Err(error) => Said::Nonsense(format!(
                "the worker's line is not {{\"id\": {id}, \"answer\": text}} ({error}): {}",
                quoted()
            )),
        })
    }

    /// Whether it can be given a task.
    pub(super) fn is_fit(&mut self) -> bool {
        self.running.is_fit()
    }

    /// Ends it.
    pub(super) async fn stop(self) {
        self.running.stop().await;
    }

    /// How it ended at that point, with the end of its output. Ends what is left of it.
    pub(super) async fn last_words(self, status: Option<io::Result<ExitStatus>>, when: &str) -> String {
        if let (Some(Ok(status)), Some(account)) = (&status, &self.held_to)
            && let Some(reason) = over_memory(*status, account)
        {
            self.running.stop().await;
            return format!("the worker {reason}, {when}");
        }
        let clause = match status {
            Some(Ok(status)) => format!("the worker ended with {status} {when}"),
            Some(Err(error)) => format!("the worker could not be awaited: {error}"),
            None => format!("the worker closed its stdout {when}"),
        };
        with_last_words(&clause, &self.running.finish().await)
    }
}
