//! The user's state on Unix.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Bits of a mode that give others than the owner any right.
const OF_OTHERS: u32 = 0o077;

/// The folder for the state of the user's programs, by the XDG base directories.
pub(super) fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // By that specification, relative paths are ignored.
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))
}

/// Refuses a secret that others could read, or have put there.
pub(super) fn must_be_private(file: &File) -> io::Result<()> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("this is no file"));
    }
    if found.mode() & OF_OTHERS != 0 {
        return Err(io::Error::other(
            "others may read or write the file: take their rights away with chmod 600",
        ));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("the file belongs to another user"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_state_is_where_the_environment_says() {
        let of = |given: &'static [(&str, &str)]| {
            state_folder(move |name| given.iter().find(|(it, _)| *it == name).map(|(_, path)| path.into()))
        };
        assert_eq!(of(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s".into()));
        assert_eq!(of(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]), Some("/h/.local/state".into()));
        assert_eq!(of(&[("HOME", "")]), None);
    }

    #[test]
    fn a_secret_that_others_can_read_is_none() {
        let path = std::env::temp_dir().join(format!("planproof-private-{}", std::process::id()));
        let options = fs::OpenOptions::new().write(true).create_new(true).clone();
        let file = planproof_files::open_own(&path, &options).unwrap();
        assert!(must_be_private(&file).is_ok());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(must_be_private(&file).unwrap_err().to_string().contains("chmod 600"));
        let _ = fs::remove_file(&path);
    }
}
