//! The user's state on Windows, where the folders of a profile are private to its user.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

pub(super) fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    variable("LOCALAPPDATA").map(PathBuf::from).filter(|path| path.is_absolute())
}

pub(super) fn must_be_private(file: &File) -> io::Result<()> {
    match file.metadata()?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("this is no file")),
    }
}
