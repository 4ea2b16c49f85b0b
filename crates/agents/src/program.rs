//! Programs of the user's that are started, fed, read and ended: agents, and checkers of proposed answers.

mod output;

use std::env;
use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};

use planproof_tools::process::{GRACE, ProcessGroup};
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, Command};
use tokio::time::timeout;

pub(crate) use output::Output;

/// A program with its arguments, which is started directly, without a shell.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    text: String,
    name: String,
    arguments: Vec<String>,
}

/// Why a command cannot be run. All of these are the user's to mend.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandError {
    /// There is no program.
    #[error("the command is empty: write the program and its arguments, as in `{example}`")]
    Empty {
        /// A command.
        example: &'static str,
    },
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

impl Program {
    /// Splits a command into words by the rules of the shell: blanks, quotes and backslashes count; pipes, variables
    /// and patterns mean nothing (for those write `sh -c '...'`). `example` is a command for the message.
    pub(crate) fn parse(text: &str, example: &'static str) -> Result<Self, CommandError> {
        let words = shell_words::split(text);
        let words = words.map_err(|_| CommandError::UnclosedQuote { text: text.to_owned() })?;
        let mut words = words.into_iter();
        let name =
            words.next().filter(|program| !program.is_empty()).ok_or(CommandError::Empty { example })?;
        Ok(Self { text: text.to_owned(), name, arguments: words.collect() })
    }

    /// The program without its arguments.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The command as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The program and its arguments.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.arguments).map(String::as_str)
    }

    /// Finds the program's file as the system will, on `PATH` unless its name has a slash.
    pub(crate) fn resolve(&self) -> Result<PathBuf, CommandError> {
        let hint = if self.name.contains('/') {
            let path = PathBuf::from(&self.name);
            if is_executable(&path) {
                return Ok(path);
            }
            if path.exists() {
                return Err(CommandError::NotExecutable { path });
            }
            "give its path from the current directory"
        } else {
            let path = env::var_os("PATH").unwrap_or_default();
            let mut candidates = env::split_paths(&path).map(|folder| folder.join(&self.name));
            if let Some(found) = candidates.find(|candidate| is_executable(candidate)) {
                return Ok(found);
            }
            "it is in none of the folders of PATH; give its path, as in `./my_program` (no shell reads the command: for `cd`, variables or pipes write `sh -c '...'`)"
        };
        Err(CommandError::NotFound { program: self.name.clone(), hint })
    }

    /// The command, with all its streams as pipes.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A program that was started, as the leader of a process group. Dropping it kills all of the group at once.
pub(crate) struct Running {
    group: ProcessGroup,
    stdin: Option<ChildStdin>,
    output: Output,
}

/// What ended a program by itself.
pub(crate) enum Ended {
    Exited(io::Result<ExitStatus>),
    /// It wrote more than it may. It may still run.
    TooMuch,
}

impl Running {
    /// Starts a command whose streams are pipes. It may write so many bytes to stdout and stderr together.
    pub(crate) fn start(mut command: Command, bytes_max: u64) -> io::Result<Self> {
        let mut group = ProcessGroup::start(&mut command)?;
        let (stdin, stdout, stderr) = group.take_streams();
        Ok(Self { group, stdin, output: Output::new(stdout, stderr, bytes_max) })
    }

    /// Feeds the program and reads what it writes until it exits, or has written too much. To be called once; may be
    /// dropped.
    pub(crate) async fn until_end(&mut self, input: &[u8]) -> Ended {
        let mut feeding = pin!(feed(self.stdin.take(), input));
        let (mut is_fed, mut is_read) = (false, false);
        loop {
            tokio::select! {
                biased;
                () = &mut feeding, if !is_fed => is_fed = true,
                () = self.output.read(), if !is_read => {
                    if self.output.is_too_much() {
                        return Ended::TooMuch;
                    }
                    is_read = true;
                }
                status = self.group.leader_exit() => return Ended::Exited(status),
            }
        }
    }

    /// Ends all of the group, at the latest by SIGKILL after [`GRACE`].
    pub(crate) async fn stop(mut self) {
        self.group.terminate().await;
        self.group.kill().await;
    }

    /// Ends what is left of the group after its leader, and gives what was written.
    pub(crate) async fn finish(self) -> Output {
        let Self { mut group, mut output, .. } = self;
        // What the program wrote may still be in its pipes. They end when nobody holds them any more, and whoever
        // outlives the program may hold them for ever.
        let ending = async {
            group.terminate().await;
            group.kill().await;
        };
        let ((), _) = tokio::join!(ending, timeout(GRACE * 2, output.read()));
        output
    }
}

/// Writes the input and closes the pipe. A program that does not read it is free not to.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

/// How a program failed, with the end of what it wrote to stderr, or else to stdout.
pub(crate) fn failure(status: ExitStatus, output: &Output) -> String {
    let (stderr, stdout) = (output.stderr_tail(), output.stdout_tail());
    if !stderr.is_empty() {
        format!("the command ended with {status}; its stderr ends with:\n{stderr}")
    } else if !stdout.is_empty() {
        format!("the command ended with {status} and nothing on stderr; its stdout ends with:\n{stdout}")
    } else {
        format!("the command ended with {status} and nothing on stderr")
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
