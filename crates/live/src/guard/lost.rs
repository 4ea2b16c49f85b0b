//! Marks that something was lost of what a guard has to remember. They stand beside a log or a history that had no room
//! for the line that says so, and need none themselves.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use planproof_store::{History, HistoryError};

/// What follows the name of the file in that of its mark.
const SUFFIX: &str = "-unread";

/// Marks a file, with an empty file beside it, which most file systems have room for, or else by making the file
/// read-only.
///
/// # Errors
/// Neither is possible, for the reason given.
pub(crate) fn mark(path: &Path) -> Result<(), String> {
    let beside = planproof_files::open_own(&beside(path), OpenOptions::new().append(true).create(true));
    if beside.is_ok() {
        return Ok(());
    }
    let sealed = path.metadata().and_then(|found| {
        let mut permissions = found.permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(path, permissions)
    });
    sealed
        .map_err(|error| format!("it cannot be noted in {} that a result was lost: {error}", path.display()))
}

/// The same for a history, and for nothing that is another file.
///
/// # Errors
/// As for [`mark`].
pub(crate) fn mark_history(path: &Path) -> Result<(), String> {
    match History::open_read_only(path) {
        Err(error @ (HistoryError::NotAHistory { .. } | HistoryError::Newer { .. })) => {
            Err(error.to_string())
        }
        _ => mark(path),
    }
}

/// Whether there is a mark.
pub(crate) fn is_marked(path: &Path) -> bool {
    beside(path).symlink_metadata().is_ok()
}

/// Removes the mark, after what it says was written to the file itself.
///
/// # Errors
/// It is still there, for the reason given.
pub(crate) fn unmark(path: &Path) -> Result<(), String> {
    let beside = beside(path);
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("the mark {} cannot be removed: {error}", beside.display()))
        }
        _ => Ok(()),
    }
}

/// Refuses a file that is read-only, also to those who could write to it nevertheless.
///
/// # Errors
/// It is, in a sentence without a full stop.
pub(crate) fn must_be_writable(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Ok(found) if found.permissions().readonly() => Err(format!(
            "{} is read-only, as where a result was lost; move it away, and begin a new session",
            path.display()
        )),
        _ => Ok(()),
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}
