//! `command:CMD`: a program started once for each case.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};

use planproof_tools::process::{GRACE, ProcessGroup};
use planproof_trace::{EndReason, LimitKind};
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, Command};
use tokio::time::{sleep, timeout};

use super::ExternalRun;
use super::output::Output;

/// Longest query that is also put into the environment: the system takes 128 KiB a variable.
const QUERY_VARIABLE_BYTES_MAX: usize = 100 * 1024;

/// A command whose program is started for each case, directly, without a shell.
///
/// The program gets the query on stdin and in `PLANPROOF_QUERY`, the URL of its tools in `PLANPROOF_MCP_URL`, and
/// our own environment and working directory. Variables named `*_PROXY` are removed and `NO_PROXY` is set, because a
/// proxy would swallow the calls to the loopback URL. Queries above 100 KiB come on stdin only.
///
/// What it writes to stdout by the time it exits with status 0 is the answer. Its process group is ended with it,
/// by SIGTERM and 0.3 seconds later SIGKILL: also after a normal exit, and by SIGKILL alone when the future is
/// dropped. A child that moves to a session of its own (`setsid`) leaves the group and is not found.
#[derive(Debug, Clone)]
pub struct CommandAgent {
    text: String,
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, SecretString)>,
}

/// Why a command cannot be an agent. All of these are the user's to mend.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandError {
    /// There is no program.
    #[error("the command is empty: write the program and its arguments, as in `command:python my_agent.py`")]
    Empty,
    /// A quote is never closed.
    #[error("a quote in the command is not closed: {text}")]
    UnclosedQuote {
        /// The command.
        text: String,
    },
    /// No such program.
    #[error("there is no program `{program}`: {hint}")]
    NotFound {
        /// The program as it was written.
        program: String,
        /// What to do.
        hint: &'static str,
    },
    /// The file is there but is no program.
    #[error("{} is not executable: make it so with `chmod +x`, or name the program that runs it", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
}

/// How the program's run ended, seen from here.
enum Outcome {
    Exited(std::io::Result<ExitStatus>),
    Over(LimitKind),
}

impl CommandAgent {
    /// Splits a command into words by the rules of the shell: blanks, quotes and backslashes count; pipes, variables
    /// and patterns mean nothing (for those write `sh -c '...'`).
    ///
    /// # Errors
    /// There are no words, or a quote is not closed.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let words = shell_words::split(text);
        let words = words.map_err(|_| CommandError::UnclosedQuote { text: text.to_owned() })?;
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty()).ok_or(CommandError::Empty)?;
        Ok(Self { text: text.to_owned(), program, arguments: words.collect(), environment: Vec::new() })
    }

    /// Sets a variable of the program's environment, over ours.
    pub fn set_variable(&mut self, name: impl Into<String>, value: SecretString) {
        self.environment.push((name.into(), value));
    }

    /// Finds the program's file as the system will, on `PATH` unless its name has a slash. Ask once before many
    /// runs, so that a typing mistake ends them all at the start.
    ///
    /// # Errors
    /// There is no such program, or the file cannot be executed.
    pub fn resolve(&self) -> Result<PathBuf, CommandError> {
        let hint = if self.program.contains('/') {
            let path = PathBuf::from(&self.program);
            if is_executable(&path) {
                return Ok(path);
            }
            if path.exists() {
                return Err(CommandError::NotExecutable { path });
            }
            "give its path from the current directory"
        } else {
            let path = env::var_os("PATH").unwrap_or_default();
            let mut candidates = env::split_paths(&path).map(|folder| folder.join(&self.program));
            if let Some(found) = candidates.find(|candidate| is_executable(candidate)) {
                return Ok(found);
            }
            "it is in none of the folders of PATH; give its path, as in `./my_agent` (no shell reads the command: for `cd`, variables or pipes write `sh -c '...'`)"
        };
        Err(CommandError::NotFound { program: self.program.clone(), hint })
    }

    /// Runs the program on one case. Needs a Tokio runtime with its IO and time drivers.
    pub async fn run(&self, run: &ExternalRun<'_>) -> EndReason {
        run.begin();
        let mut group = match ProcessGroup::start(&mut self.command(run)) {
            Ok(group) => group,
            Err(error) => {
                let reason = format!("`{}` could not be started: {error}", self.program);
                return run.end(EndReason::Unscored { reason });
            }
        };
        let (stdin, stdout, stderr) = group.take_streams();
        let mut output = Output::new(stdout, stderr, run.limits.output_bytes);
        let outcome = self.watch(run, &mut group, stdin, &mut output).await;
        let status = match outcome {
            Outcome::Exited(status) => status,
            Outcome::Over(limit) => {
                let reason = run.end(run.over(limit));
                group.terminate().await;
                group.kill().await;
                return reason;
            }
        };
        // What the program wrote may still be in its pipes. They end when nobody holds them any more, and whoever
        // outlives the program may hold them for ever.
        let ending = async {
            group.terminate().await;
            group.kill().await;
        };
        let ((), _) = tokio::join!(ending, timeout(GRACE * 2, output.read()));
        if output.is_too_much() {
            return run.end(run.over(LimitKind::OutputBytes));
        }
        run.end(match status {
            Ok(status) if status.success() => EndReason::Answered { text: output.answer() },
            Ok(status) => EndReason::AgentFailed { reason: failure(&status.to_string(), &output) },
            Err(error) => {
                EndReason::Unscored { reason: format!("the command could not be awaited: {error}") }
            }
        })
    }

    /// Feeds the program and reads what it writes, until it exits or goes over a limit.
    async fn watch(
        &self,
        run: &ExternalRun<'_>,
        group: &mut ProcessGroup,
        stdin: Option<ChildStdin>,
        output: &mut Output,
    ) -> Outcome {
        let mut feeding = pin!(feed(stdin, run.query));
        let mut deadline = pin!(sleep(run.limits.wall));
        let (mut is_fed, mut is_read) = (false, false);
        loop {
            tokio::select! {
                biased;
                () = run.limit_reached.cancelled() => return Outcome::Over(LimitKind::Iterations),
                () = &mut deadline => return Outcome::Over(LimitKind::WallMilliseconds),
                () = &mut feeding, if !is_fed => is_fed = true,
                () = output.read(), if !is_read => {
                    if output.is_too_much() {
                        return Outcome::Over(LimitKind::OutputBytes);
                    }
                    is_read = true;
                }
                status = group.leader_exit() => return Outcome::Exited(status),
            }
        }
    }

    fn command(&self, run: &ExternalRun<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in env::vars_os() {
            if is_proxy_variable(&name) {
                command.env_remove(name);
            }
        }
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        for (name, value) in &self.environment {
            command.env(name, value.expose_secret());
        }
        command.env("PLANPROOF_MCP_URL", run.mcp_url);
        if run.query.len() <= QUERY_VARIABLE_BYTES_MAX {
            command.env("PLANPROOF_QUERY", run.query);
        } else {
            command.env_remove("PLANPROOF_QUERY");
        }
        command
    }
}

impl fmt::Display for CommandAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Writes the query and closes the pipe. A program that does not read it is free not to.
async fn feed(stdin: Option<ChildStdin>, query: &str) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(query.as_bytes()).await;
        let _ = stdin.shutdown().await;
    }
}

fn failure(status: &str, output: &Output) -> String {
    let tail = output.stderr_tail();
    if tail.is_empty() {
        format!("the command ended with {status} and nothing on stderr")
    } else {
        format!("the command ended with {status}; its stderr ends with:\n{tail}")
    }
}

fn is_proxy_variable(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.to_ascii_uppercase().ends_with("_PROXY"))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
