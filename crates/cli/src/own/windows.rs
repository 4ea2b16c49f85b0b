//! The user's state on Windows, where the folders of a profile are private to its user.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    variable("LOCALAPPDATA").map(PathBuf::from).filter(|path| path.is_absolute())
}

pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

pub(super) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

pub(super) fn must_be_private(file: &File) -> io::Result<()> {
    match file.metadata()?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("this is no file")),
    }
}
