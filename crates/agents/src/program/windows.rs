//! Programs as files of Windows.

use std::path::{Path, PathBuf};

use tokio::process::Command;

/// What to do about a file that is not a program.
pub(super) const MAKE_EXECUTABLE: &str = "name the program that runs it, as in `python agent.py`";

/// The endings of the names of programs.
const PROGRAMS: [&str; 4] = ["exe", "com", "bat", "cmd"];

/// Whether a program of this name is not looked for on `PATH`.
pub(super) fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', ':'])
}

/// The file that is started for a path, if it can be: `.exe` may be left out, and other endings may not.
pub(super) fn executable(path: &Path) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        let ending =
            path.extension().is_some_and(|it| PROGRAMS.iter().any(|ending| it.eq_ignore_ascii_case(ending)));
        ending && path.is_file()
    };
    let mut with_ending = path.as_os_str().to_owned();
    with_ending.push(".exe");
    [path.to_owned(), with_ending.into()].into_iter().find(|path| is_program(path))
}

/// Nothing: no launcher is there, and no process has a name apart from its file's.
pub(super) fn call_planproof(_launcher: &mut Command) {}
