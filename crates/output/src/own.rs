//! The secret of this user on this machine, with which campaigns are proved to be their own. It is kept with the user's
//! state and never beside a run store, which may come from anybody.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use planproof_store::{OWN_KEY_BYTES, OwnKey};

use crate::random::random_bytes;

#[cfg(unix)]
use unix::{must_be_private, state_folder};
#[cfg(windows)]
use windows::{must_be_private, state_folder};

/// The folder of the secret within the user's state.
const FOLDER: &str = "planproof";

const FILE: &str = "own.key";

/// The secret, which is created when it is first needed; `None` where none can be kept, so that nothing is proved.
pub fn key() -> Option<&'static OwnKey> {
    found().as_ref().ok()
}

/// Why there is no secret, if there is none.
pub fn why_none() -> Option<&'static str> {
    found().as_ref().err().map(String::as_str)
}

/// The folder of the secret, which programs under test must not see.
pub fn folder() -> Option<PathBuf> {
    Some(state_folder(|name| std::env::var_os(name))?.join(FOLDER))
}

fn found() -> &'static Result<OwnKey, String> {
    static FOUND: OnceLock<Result<OwnKey, String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let folder = folder().ok_or("the environment names no folder for the user's state")?;
        let path = folder.join(FILE);
        let fail = |error: io::Error| format!("{}: {error}", path.display());
        match read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => create(&folder, &path).map_err(fail),
            read => read.map_err(fail),
        }
    })
}

fn read(path: &Path) -> io::Result<OwnKey> {
    let file = fs::File::open(path)?;
    must_be_private(&file)?;
    let mut bytes = Vec::new();
    // One byte more shows that there is more.
    file.take(OWN_KEY_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let bytes: [u8; OWN_KEY_BYTES] = bytes.try_into().map_err(|_| {
        io::Error::other(format!(
            "the file does not have {OWN_KEY_BYTES} bytes; remove it, and a new one is made"
        ))
    })?;
    Ok(OwnKey::new(&bytes))
}

/// Creates the secret, or reads that of another process which does the same.
fn create(folder: &Path, path: &Path) -> io::Result<OwnKey> {
    planproof_files::make_own_folder(folder)?;
    // Under a name of its own until it is whole, so that nobody reads a part of it.
    let tail = random_bytes::<8>().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let draft = path.with_extension(tail);
    let written = || {
        let mut file =
            planproof_files::open_own(&draft, fs::OpenOptions::new().write(true).create_new(true))?;
        file.write_all(&random_bytes::<OWN_KEY_BYTES>())?;
        file.sync_all()?;
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            // Some file systems have no links. If two processes are here at once, the later one's secret stays.
            Err(_) => fs::rename(&draft, path),
            Ok(()) => Ok(()),
        }
    };
    let written = written();
    let _ = fs::remove_file(&draft);
    written?;
    read(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once_and_read_again() {
        let folder = std::env::temp_dir().join(format!("planproof-own-{}", std::process::id()));
        let path = folder.join(FILE);
        let proof = create(&folder, &path).unwrap().proof(&["a"]);
        assert!(read(&path).unwrap().has_proved(&["a"], &proof));
        // Another process that found none a moment ago.
        assert!(create(&folder, &path).unwrap().has_proved(&["a"], &proof));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        fs::write(&path, "short").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("does not have 32 bytes"));
        let _ = fs::remove_dir_all(&folder);
    }
}
