//! `command:CMD`: a program started once for each case.

use std::fmt;
use std::path::PathBuf;

use planproof_isolation::Account;
use planproof_model::BoxFuture;
use planproof_trace::{EndReason, LimitKind};
use tokio::process::Command;
use tokio::time::sleep;

use super::ExternalRun;
use super::environment::{ProgramSetting, dress, lead_to};
use crate::program::{CommandError, Ended, Program, Running, failure, not_started, over_memory};
use crate::{Agent, Ran, RunContext, RunError};

/// The variable that holds the URL of the tools.
const TOOLS_AT: &str = "PLANPROOF_MCP_URL";

/// The placeholder for the URL of the served model.
const MODEL_PLACEHOLDER: &str = "model_url";

/// Longest query that is also put into the environment: the system takes 128 KiB a variable.
const QUERY_VARIABLE_BYTES_MAX: usize = 100 * 1024;

/// A command whose program is started for each case, directly, without a shell.
///
/// The program gets the query on stdin and in `PLANPROOF_QUERY`, the URL of its tools in `PLANPROOF_MCP_URL`, and our
/// own environment and working directory. Variables named `*_PROXY` are removed and `NO_PROXY` is set, because a
/// proxy would swallow the calls to the loopback URL. If a model is served to it,
/// [`SERVED_VARIABLES`](super::SERVED_VARIABLES) hold its address, and the program gets no other variable that looks
/// as if it held a key. Queries above 100 KiB come on stdin only. In its arguments `{query}`, `{mcp_url}` and
/// `{model_url}` stand for the same texts, each as one argument, whatever they hold.
///
/// Its answer is what it has written to stdout when it exits with status 0. Its process group is ended with it, by
/// SIGTERM and 0.3 seconds later SIGKILL, even after a normal exit, and by SIGKILL alone when the future is dropped.
/// A child that moves to a session of its own (`setsid`) leaves the group and is not found.
#[derive(Debug, Clone)]
pub struct CommandAgent {
    program: Program,
    setting: ProgramSetting,
}

impl CommandAgent {
    /// Splits a command into words by the rules of the shell: blanks, quotes and backslashes count; pipes, variables
    /// and patterns mean nothing (for those write `sh -c '...'`).
    ///
    /// # Errors
    /// There are no words, or a quote is not closed.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let program = Program::parse(text, "command:python my_agent.py")?;
        Ok(Self { program, setting: ProgramSetting::default() })
    }

    /// Starts the program in this setting instead of ours.
    pub fn set_up(&mut self, setting: ProgramSetting) {
        self.setting = setting;
    }

    /// Finds the program's file the way the system will: on `PATH`, or relative to the directory it is started in if
    /// its name has a slash. Call this once before many runs, so that a typing mistake ends them all at the start.
    ///
    /// # Errors
    /// There is no such program, or the file cannot be executed.
    pub fn resolve(&self) -> Result<PathBuf, CommandError> {
        self.program.resolve(self.setting.folder.as_deref())
    }

    /// Runs the program on one case, and says how it ended. Needs a Tokio runtime with its IO and time drivers.
    pub async fn run_with(&self, run: &ExternalRun<'_>) -> EndReason {
        run.begin();
        let mut running = match Running::start(self.command(run), run.limits.output_bytes) {
            Ok(running) => running,
            Err(error) => {
                let reason = format!("`{}` could not be started: {error}", self.program.name());
                return run.end(EndReason::Unscored { reason });
            }
        };
        // Biased, so that chance decides nothing: where a limit and the program's end come together, the limit counts.
        let ended = tokio::select! {
            biased;
            () = run.limit_reached.cancelled() => Err(LimitKind::Iterations),
            () = sleep(run.limits.wall) => Err(LimitKind::WallMilliseconds),
            ended = running.until_end(run.query.as_bytes()) => match ended {
                Ended::Exited(status) => Ok(status),
                Ended::TooMuch => Err(LimitKind::OutputBytes),
            },
        };
        let status = match ended {
            Ok(status) => status,
            Err(limit) => {
                // Closed before the program is stopped, so that its last calls are not part of the run.
                let reason = run.end(run.over(limit));
                running.stop().await;
                return reason;
            }
        };
        let output = running.finish().await;
        // What was still in the pipes when the program ended counts as well.
        if output.is_too_much() {
            return run.end(run.over(LimitKind::OutputBytes));
        }
        // Only with a launcher do these signals mean this. Without one, they are the program's own.
        if let Ok(status) = &status
            && self.setting.isolation.launcher.is_some()
        {
            if let Some(reason) = not_started(*status, &output) {
                return run.end(EndReason::Unscored { reason });
            }
            if let Some(reason) = over_memory(*status, &self.setting.isolation.account) {
                return run.end(EndReason::AgentFailed { reason: format!("the command {reason}") });
            }
        }
        run.end(match status {
            Ok(status) if status.success() => EndReason::Answered { text: output.answer() },
            // A crash counts, because an agent may crash more often on hard cases than on easy ones.
            Ok(status) => EndReason::AgentFailed { reason: failure(status, &output) },
            Err(error) => {
                EndReason::Unscored { reason: format!("the command could not be awaited: {error}") }
            }
        })
    }

    fn command(&self, run: &ExternalRun<'_>) -> Command {
        let model_url = run.model.map_or("", |model| model.base_url);
        let values = [("query", run.query), ("mcp_url", run.mcp_url), (MODEL_PLACEHOLDER, model_url)];
        let ProgramSetting { folder, isolation, .. } = &self.setting;
        let launcher = isolation.launcher.as_ref();
        let mut command = self.program.command(&values, folder.as_deref(), launcher);
        dress(&mut command, run.model, &self.setting);
        if run.model.is_some() {
            lead_to(&mut command, model_url);
        }
        // After the user's variables, which must not lead the program to other tools.
        command.env(TOOLS_AT, run.mcp_url);
        if run.query.len() <= QUERY_VARIABLE_BYTES_MAX {
            command.env("PLANPROOF_QUERY", run.query);
        } else {
            // A variable inherited from our own environment would hold another query.
            command.env_remove("PLANPROOF_QUERY");
        }
        command
    }
}

impl Agent for CommandAgent {
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

    fn isolation(&self) -> Option<&Account> {
        Some(&self.setting.isolation.account)
    }

    fn needs_served_model(&self) -> Option<&'static str> {
        self.program.has_placeholder(MODEL_PLACEHOLDER).then_some("{model_url} in the command stands")
    }
}

impl fmt::Display for CommandAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.program, f)
    }
}
