//! Where the file is, and its text.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use planproof_output::failure::Failure;

use crate::reach::Standing;

/// Name of the file where none is named.
pub const NAME: &str = "planproof.toml";
/// Replaces a file's name for no file at all.
const NONE: &str = "none";
/// Largest file that is read, in bytes.
const BYTES_MAX: u64 = 256 << 10;

/// The file that applies, and how it came to be read: the requested one, else the nearest [`NAME`] in `start` and the
/// folders above it up to the repository's root. Outside a repository only `start` is searched, because the folders
/// above may belong to anyone.
///
/// # Errors
/// The requested file does not exist.
pub(crate) fn find(asked: Option<&Path>, start: &Path) -> Result<Option<(PathBuf, Standing)>, Failure> {
    if let Some(asked) = asked {
        if asked.as_os_str() == NONE {
            return Ok(None);
        }
        return match asked.try_exists() {
            Ok(true) => Ok(Some((asked.to_owned(), Standing::Named))),
            _ => Err(Failure::usage(format!(
                "there is no configuration file {}; `planproof init` writes {NAME}",
                asked.display()
            ))),
        };
    }
    // A folder or a file: the root of a worktree has a file of that name.
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let looked_at = start.ancestors().position(|folder| is_root(&folder)).unwrap_or(0);
    let mut folders = start.ancestors().take(looked_at + 1);
    let found = folders.find(|folder| folder.join(NAME).exists());
    // Messages name the file in the current directory without the path to it.
    Ok(found.map(|folder| match folder == start {
        true => (PathBuf::from(NAME), Standing::Here),
        false => (folder.join(NAME), Standing::Above),
    }))
}

/// The text of the file.
///
/// # Errors
/// It cannot be read, is larger than [`BYTES_MAX`], or is not UTF-8.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let fail = |error: std::io::Error| Failure::usage(format!("cannot read {shown}: {error}"));
    let mut bytes = Vec::new();
    // One byte more than allowed shows that there is more, also in a pipe, whose length nobody knows.
    planproof_files::open(path).map_err(fail)?.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Failure::usage(format!(
            "{shown} is larger than {BYTES_MAX} bytes, the most for a configuration file"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::usage(format!("{shown}, line {line}: this is not UTF-8 text"))
    })?;
    // Some editors begin a file with a mark of its encoding.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
