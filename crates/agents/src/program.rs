//! Programs of the user's that are started, fed, read and ended: agents, and checkers of proposed answers.

mod output;
mod script;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::env;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};

use futures::FutureExt as _;
use planproof_isolation::{Account, Launcher};
use planproof_tools::process::{GRACE, ProcessGroup, split_command};
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, Command};
use tokio::time::timeout;

#[cfg(unix)]
use self::unix as system;
#[cfg(windows)]
use self::windows as system;

pub(crate) use output::Output;
pub use script::is_interpreter;

/// A program with its arguments, which is started directly, without a shell.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    text: String,
    name: String,
    arguments: Vec<String>,
}

/// Why a command cannot be run. The user can mend all of these.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandError {
    /// There is no program.
    #[error("the command is empty: write the program and its arguments, as in `{example}`")]
    Empty { example: &'static str },
    /// A quote is never closed.
    #[error("a quote in the command is not closed: {text}")]
    UnclosedQuote { text: String },
    /// An argument has a placeholder for what differs from task to task, in a command for all of them.
    #[error(
        "`{{{name}}}` stands in the arguments of a worker, which is started once for all tasks: each task brings its own, \
         on the worker's stdin; or write `command:`, which starts the program for each task"
    )]
    OfOneTask {
        /// The name in braces.
        name: &'static str,
    },
    /// No such program.
    #[error("there is no program `{program}`: {hint}")]
    NotFound {
        /// The program as it was written.
        program: String,
        hint: &'static str,
    },
    /// A folder is named.
    #[error("`{program}` is a folder: name a program in it")]
    IsFolder {
        /// The folder as it was written.
        program: String,
    },
    /// The script that an interpreter is to run is not there.
    #[error("there is no file `{script}`{place}: {hint}")]
    NoScript {
        /// The script as it was written.
        script: String,
        /// Where it was looked for, with a blank before it; empty for a whole path.
        place: String,
        hint: String,
    },
    /// The file is there but is not a program.
    #[error("{} is not executable: {}", path.display(), system::MAKE_EXECUTABLE)]
    NotExecutable { path: PathBuf },
}

/// What is said of a program whose name has backslashes, where no such file is in the folders of `PATH`.
const OTHER_SYSTEM: &str =
    "it is written as a path of Windows; on this system a path is written with `/`, as in `./my_program`";

impl Program {
    /// Splits a command into words by the rules of the shell: blanks, quotes and backslashes count; pipes, variables
    /// and patterns mean nothing (for those write `sh -c '...'`). A Windows path keeps its backslashes. `example` is
    /// a command for the error message.
    pub(crate) fn parse(text: &str, example: &'static str) -> Result<Self, CommandError> {
        let words = split_command(text);
        let words = words.ok_or_else(|| CommandError::UnclosedQuote { text: text.to_owned() })?;
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

    /// Finds the program's file the way the system will: on `PATH`, or relative to `folder` if its name is a path. The
    /// script of an interpreter must be there as well.
    pub(crate) fn resolve(&self, folder: Option<&Path>) -> Result<PathBuf, CommandError> {
        let found = self.find(folder)?;
        script::must_exist(&self.name, &self.arguments, folder)?;
        Ok(found)
    }

    fn find(&self, folder: Option<&Path>) -> Result<PathBuf, CommandError> {
        let is_folder = || CommandError::IsFolder { program: self.name.clone() };
        let hint = if system::is_path(&self.name) {
            let path = self.file(folder);
            if let Some(found) = system::executable(&path) {
                return Ok(found);
            }
            if path.is_dir() {
                return Err(is_folder());
            }
            if path.exists() {
                return Err(CommandError::NotExecutable { path });
            }
            "give its path from the current directory"
        } else {
            let path = env::var_os("PATH").unwrap_or_default();
            let mut candidates = env::split_paths(&path).map(|folder| folder.join(&self.name));
            if let Some(found) = candidates.find_map(|candidate| system::executable(&candidate)) {
                return Ok(found);
            }
            if folder.unwrap_or(Path::new("")).join(&self.name).is_dir() {
                return Err(is_folder());
            }
            if self.name.contains('\\') {
                return Err(CommandError::NotFound { program: self.name.clone(), hint: OTHER_SYSTEM });
            }
            "it is in none of the folders of PATH; give its path, as in `./my_program` (no shell reads the command: for `cd`, variables or pipes write `sh -c '...'`)"
        };
        Err(CommandError::NotFound { program: self.name.clone(), hint })
    }

    /// Whether this placeholder, written `{NAME}`, stands in one of the arguments.
    pub(crate) fn has_placeholder(&self, name: &str) -> bool {
        let placeholder = format!("{{{name}}}");
        self.arguments.iter().any(|argument| argument.contains(&placeholder))
    }

    /// The absolute path to start: the system may resolve a relative path from `folder` or from our directory.
    fn file(&self, folder: Option<&Path>) -> PathBuf {
        match folder.filter(|_| system::is_path(&self.name)) {
            Some(folder) => folder.join(&self.name),
            None => PathBuf::from(&self.name),
        }
    }

    /// The command, with all its streams as pipes, its program relative to `folder`, started by `launcher` if there
    /// is one. Each placeholder `{NAME}` in the arguments is replaced by its value.
    pub(crate) fn command(
        &self,
        values: &[(&str, &str)],
        folder: Option<&Path>,
        launcher: Option<&Launcher>,
    ) -> Command {
        let file = self.file(folder);
        let mut command = match launcher {
            None => Command::new(file),
            Some(launcher) => {
                let mut command = Command::new(launcher.program());
                system::call_planproof(&mut command);
                command.args(launcher.arguments()).arg(file);
                command
            }
        };
        command.args(self.arguments.iter().map(|argument| filled(argument, values)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A running program, as the leader of a process group. Dropping it kills the whole group at once.
pub(crate) struct Running {
    group: ProcessGroup,
    stdin: Option<ChildStdin>,
    output: Output,
}

/// A text with placeholders replaced by values. Placeholders inside a value are left alone.
pub(crate) fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some(place) = rest.find('{') {
        let (before, at) = rest.split_at(place);
        made.push_str(before);
        let named = |name: &str| at[1..].strip_prefix(name)?.strip_prefix('}');
        match values.iter().find_map(|(name, value)| Some((value, named(name)?))) {
            Some((value, behind)) => {
                made.push_str(value);
                rest = behind;
            }
            None => {
                made.push('{');
                rest = &at[1..];
            }
        }
    }
    made.push_str(rest);
    made
}

/// The outcome of sending a line to a program.
pub(crate) enum Reply {
    /// The line that it wrote.
    Line(Vec<u8>),
    /// It wrote more than it may.
    TooMuch,
    /// It ended, or closed its stdout; `None` if it still ran shortly after that.
    Ended(Option<io::Result<ExitStatus>>),
}

/// What ended a program by itself.
pub(crate) enum Ended {
    Exited(io::Result<ExitStatus>),
    /// It wrote more than the limit. It may still run.
    TooMuch,
}

impl Running {
    /// Starts a command whose streams are pipes. `bytes_max` limits stdout and stderr together.
    pub(crate) fn start(mut command: Command, bytes_max: u64) -> io::Result<Self> {
        let mut group = ProcessGroup::start(&mut command)?;
        let (stdin, stdout, stderr) = group.take_streams();
        Ok(Self { group, stdin, output: Output::new(stdout, stderr, bytes_max) })
    }

    /// Feeds the program and reads its output until it exits or exceeds the limit. Call this once; it may be dropped.
    pub(crate) async fn until_end(&mut self, input: &[u8]) -> Ended {
        let mut feeding = pin!(feed(self.stdin.take(), input));
        let (mut is_fed, mut is_read) = (false, false);
        loop {
            // Biased: a program that wrote too much and then exits has written too much.
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

    /// Sends the program a line, which may be empty, and waits until it has written one. The limit applies to stdout
    /// and stderr together during that time. If this is dropped before its end, the program's streams must not be
    /// used again.
    pub(crate) async fn exchange(&mut self, sent: &[u8], bytes_max: u64) -> Reply {
        let Self { group, stdin, output } = self;
        output.begin_anew(bytes_max);
        let mut sending = pin!(send(stdin.as_mut(), sent));
        let (mut is_sent, mut reply) = (false, None);
        loop {
            tokio::select! {
                biased;
                () = &mut sending, if !is_sent => is_sent = true,
                line = output.line(), if reply.is_none() => match line {
                    Some(line) => reply = Some(line),
                    None if output.is_too_much() => return Reply::TooMuch,
                    // Its stdout is closed. Usually it is about to end, so its status is worth a short wait.
                    None => return Reply::Ended(timeout(GRACE, group.leader_exit()).await.ok()),
                },
                status = group.leader_exit() => {
                    // Its last words may still be in the pipe, which a process that outlives it may hold open for
                    // ever.
                    let last = match reply {
                        Some(line) => Some(line),
                        None => timeout(GRACE, output.line()).await.ok().flatten(),
                    };
                    return last.map_or(Reply::Ended(Some(status)), Reply::Line);
                }
            }
            // A program may answer before it has read all of its line. To return then would leave half a line in the
            // pipe.
            if is_sent && let Some(line) = reply.take() {
                return Reply::Line(line);
            }
        }
    }

    /// Whether the program runs, and has written nothing unasked to stdout.
    pub(crate) fn is_fit(&mut self) -> bool {
        let is_running = self.group.leader_exit().now_or_never().is_none();
        // A line that is found here is lost, which does no harm: the worker is discarded.
        is_running && self.output.line().now_or_never().is_none() && self.output.is_quiet()
    }

    /// Ends all of the group, at the latest by SIGKILL after [`GRACE`].
    pub(crate) async fn stop(mut self) {
        self.group.terminate().await;
        self.group.kill().await;
    }

    /// Ends the rest of the group after its leader, and returns the output.
    pub(crate) async fn finish(self) -> Output {
        let Self { mut group, mut output, .. } = self;
        // The program's output may still be in its pipes. They end when no process holds them any more, and a process
        // that outlives the program may hold them for ever.
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

/// Writes to a program whose stdin stays open. One that does not read it is free not to.
async fn send(stdin: Option<&mut ChildStdin>, sent: &[u8]) {
    if let Some(stdin) = stdin {
        let _ = stdin.write_all(sent).await;
        let _ = stdin.flush().await;
    }
}

/// Why a program was not started, if its launcher ended in this way.
pub(crate) fn not_started(status: ExitStatus, output: &Output) -> Option<String> {
    Launcher::has_failed(status).then(|| match output.stderr_tail() {
        said if said.is_empty() => "the program could not be isolated".to_owned(),
        said => said,
    })
}

/// Why a program was killed for its memory, if its launcher ended with that signal.
pub(crate) fn over_memory(status: ExitStatus, account: &Account) -> Option<String> {
    Launcher::has_killed(status).then(|| account.over_memory())
}

/// How a program failed, with the end of its stderr, or else its stdout.
pub(crate) fn failure(status: ExitStatus, output: &Output) -> String {
    with_last_words(&format!("the command ended with {status}"), output)
}

/// A clause with the end of the program's stderr, or else its stdout.
pub(crate) fn with_last_words(clause: &str, output: &Output) -> String {
    let (stderr, stdout) = (output.stderr_tail(), output.stdout_tail());
    if !stderr.is_empty() {
        format!("{clause}; its stderr ends with:\n{stderr}")
    } else if !stdout.is_empty() {
        format!("{clause} and nothing on stderr; its stdout ends with:\n{stdout}")
    } else {
        format!("{clause} and nothing on stderr")
    }
}
