//! `worker:CMD`: a program that is kept for a whole campaign and given one task after the other.

mod pool;
mod process;

use std::fmt;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};

use planproof_isolation::Account;
use planproof_model::{BoxFuture, run_time};
use planproof_trace::{EndReason, EventKind, LimitKind};
use tokio::time::sleep;

use self::pool::Pool;
use self::process::{Said, Worker};
use super::ExternalRun;
use super::environment::ProgramSetting;
use super::question::QuestionMessage;
use crate::program::{CommandError, Program};
use crate::{Agent, Ran, RunContext, RunError};

/// The field that holds the URL of the tools.
const TOOLS_AT: &str = "the `mcp_url` of its task";

/// Placeholders in the arguments of `command:`, which make no sense for a program that outlives its tasks.
const OF_ONE_TASK: [&str; 3] = ["query", "mcp_url", "model_url"];

/// A command whose program is started once, directly, without a shell, and serves one task after the other. There are
/// as many instances as concurrent runs, each started when it is needed.
///
/// The program first writes the line `{"ready": true}`. Then it gets each task as a line of JSON on stdin: `{"id": N,
/// "query": ..., "mcp_url": ...}` and, if a model is served to it, `"model": {"base_url": ..., "api_key": ...,
/// "name": ...}`, as for a service. It answers with the line `{"id": N, "answer": ...}` or `{"id": N, "error": ...}`
/// on stdout. What the user says later is another such line, with what was said before in `messages`; only a program
/// that has written `{"ready": true, "conversations": true}` is given any. Its stderr is shown if it fails. Its
/// environment is that of a `command:` agent without the parts that belong to one task, with `PLANPROOF_WORKER=1`.
///
/// A worker that fails to answer, that writes something else, or whose task reaches a limit is ended with its process
/// group, and the next task gets a new one. If a worker cannot be started, its runs are unscored. All are killed when
/// the agent is dropped.
#[derive(Debug)]
pub struct WorkerAgent {
    program: Program,
    setting: ProgramSetting,
    pool: Pool,
    tasks: AtomicU64,
}

impl WorkerAgent {
    /// Splits a command into words, as [`CommandAgent::parse`](crate::CommandAgent::parse) does. Nothing is started
    /// yet.
    ///
    /// # Errors
    /// There are no words, a quote is not closed, or an argument has a placeholder for what differs from task to
    /// task.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let program = Program::parse(text, "worker:python my_worker.py")?;
        if let Some(name) = OF_ONE_TASK.into_iter().find(|name| program.has_placeholder(name)) {
            return Err(CommandError::OfOneTask { name });
        }
        let (setting, pool, tasks) = Default::default();
        Ok(Self { program, setting, pool, tasks })
    }

    /// Starts the program in this setting instead of ours.
    pub fn set_up(&mut self, setting: ProgramSetting) {
        self.setting = setting;
    }

    /// Finds the program's file, as [`CommandAgent::resolve`](crate::CommandAgent::resolve) does.
    ///
    /// # Errors
    /// There is no such program, or the file cannot be executed.
    pub fn resolve(&self) -> Result<PathBuf, CommandError> {
        self.program.resolve(self.setting.folder.as_deref())
    }

    /// Runs a worker on one case, and returns how it ended. Needs a Tokio runtime with its IO and time drivers. The
    /// wait for a worker to become free or ready is not charged to the run.
    pub async fn run_with(&self, run: &ExternalRun<'_>) -> EndReason {
        let start = || Worker::start(&self.program, run, &self.setting);
        let taken = run_time::uncharged(self.pool.take(start)).await;
        // The run begins once it has a worker, so that the wait is not part of its times.
        run.begin();
        let (mut worker, seat) = match taken {
            Ok(taken) => taken,
            Err(reason) => return run.end(EndReason::Unscored { reason }),
        };
        let mut out_of_time = pin!(sleep(run.limits.wall));
        let (mut messages, mut query, mut later) = (Vec::new(), run.query, run.later.iter());
        let said = loop {
            let id = self.tasks.fetch_add(1, Ordering::Relaxed) + 1;
            let said = tokio::select! {
                biased;
                () = run.limit_reached.cancelled() => Err(LimitKind::Iterations),
                () = &mut out_of_time => Err(LimitKind::WallMilliseconds),
                said = worker.ask(run, id, (&messages, query)) => said,
            };
            let Ok(Said::Answer(text)) = said else { break said };
            let Some(next) = later.next() else { break Ok(Said::Answer(text)) };
            if !worker.converses {
                self.pool.put(worker, seat);
                let reason = "the case has later messages, and the worker does not say that it carries conversations: \
                              its first line is not {\"ready\": true, \"conversations\": true} (docs/workers.md)";
                return run.end(EndReason::Unscored { reason: reason.to_owned() });
            }
            run.recorder.record(EventKind::Query { text: next.clone() });
            messages.extend(QuestionMessage::pair(query, text));
            query = next;
        };
        match said {
            Ok(Said::Answer(text)) => {
                self.pool.put(worker, seat);
                run.end(EndReason::Answered { text })
            }
            Ok(Said::Error(reason)) => {
                self.pool.put(worker, seat);
                run.end(EndReason::AgentFailed { reason: format!("the worker reported an error: {reason}") })
            }
            Ok(Said::Nonsense(reason)) => {
                let end = run.end(EndReason::AgentFailed { reason });
                worker.stop().await;
                end
            }
            Ok(Said::Ended(status)) => {
                // Calls that it made while it died are part of the run, as they are for a command.
                let reason = worker.last_words(status, "before it answered").await;
                run.end(EndReason::AgentFailed { reason })
            }
            Err(limit) => {
                let end = run.end(run.over(limit));
                worker.stop().await;
                end
            }
        }
    }
}

impl Agent for WorkerAgent {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            let open = run.surroundings.open(&run, &self.setting.hosts).await?;
            let end = self.run_with(&open.external(&run)).await;
            Ok(open.ran(end, TOOLS_AT))
        })
    }

    fn is_in_process(&self) -> bool {
        false
    }

    /// The program says when it is ready whether it does.
    fn can_converse(&self) -> bool {
        true
    }

    fn isolation(&self) -> Option<&Account> {
        Some(&self.setting.isolation.account)
    }
}

impl fmt::Display for WorkerAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.program, f)
    }
}
