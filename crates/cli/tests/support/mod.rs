//! A separate folder for each test, and the planproof command run in it.

pub(crate) mod documents;

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

/// Time limit of one command. Only a command that hangs reaches it.
const COMMAND_MAX: Duration = Duration::from_secs(300);

/// A folder. Commands run in it find no store but the one there. It is removed if the test passes.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        Self::within(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    /// Creates a folder inside that one.
    pub(crate) fn within(folder: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("planproof-{}-{number}", process::id());
        let path = folder.join(name);
        // A failed test of a process with the same id may have left one.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The command, without any part of our environment that would change what it does.
    pub(crate) fn command(&self, arguments: &[&str]) -> process::Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_planproof")), arguments)
    }

    /// Another program in the same environment.
    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> process::Command {
        let mut command = process::Command::new(program);
        // Stand-ins count requests; the tests of the check ask for it.
        command.args(arguments).current_dir(&self.0).env("NO_COLOR", "1");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text == "COLUMNS"
                || ["ANTHROPIC_", "OPENAI_", "PLANPROOF_"].iter().any(|prefix| text.starts_with(prefix))
                || ["_BASE_URL", "_API_KEY", "_TOKEN"].iter().any(|suffix| text.ends_with(suffix))
            {
                command.env_remove(name);
            }
        }
        command.env("PLANPROOF_NO_CHECK", "true");
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run_words(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments), "")
    }

    /// Runs the command with the words of a line as arguments.
    pub(crate) fn run(&self, line: &str) -> Run {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// Runs any command to its end, with this text on its stdin.
    pub(crate) fn of(command: process::Command, stdin: &str) -> Self {
        let mut command = assert_cmd::Command::from_std(command);
        let output = command.timeout(COMMAND_MAX).write_stdin(stdin).output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Stdout as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The JSON documents in a text, one per line.
#[track_caller]
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Sends a signal, such as `INT` for Ctrl-C.
pub(crate) fn send(process: &process::Child, signal: &str) {
    let id = process.id().to_string();
    let status = process::Command::new("sh")
        .args(["-c", "kill -s \"$1\" \"$2\"", "sh", signal, &id])
        .status()
        .unwrap();
    assert!(status.success());
}
