//! Programs as files of Unix.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::process::Command;

/// What to do about a file that is not a program.
pub(super) const MAKE_EXECUTABLE: &str = "make it so with `chmod +x`, or name the program that runs it";

/// Whether a program of this name is not looked for on `PATH`.
pub(super) fn is_path(name: &str) -> bool {
    name.contains('/')
}

/// The file that is started for a path, if it can be.
pub(super) fn executable(path: &Path) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    is_program(path).then(|| path.to_owned())
}

/// Has a launcher be listed under our name, whatever its file is called.
pub(super) fn call_planproof(launcher: &mut Command) {
    launcher.arg0("planproof");
}
