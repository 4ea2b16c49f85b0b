//! The folders of a run's files: one of the user's that is only read, and one of the run's that is written.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use image::RgbImage;
use thiserror::Error;

use crate::failure::{Blame, ToolFailure, quoted};
use crate::picture::{self, Picture};

/// Most bytes of the name of a file.
pub const NAME_BYTES_MAX: usize = 200;
/// Most bytes of a file with sound.
pub const SOUND_BYTES_MAX: usize = 25 << 20;
/// Most files that a run may write.
pub const OUTPUTS_MAX: usize = 1000;
/// Most bytes that a run may write.
pub const OUTPUT_BYTES_MAX: u64 = 1 << 30;
/// Most runs whose folders begin with the same label.
pub const FOLDERS_MAX: u32 = 100_000;

/// Why folders cannot be used.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The user's folder cannot be read.
    #[error("the folder with the media, {}, cannot be used: {source}", path.display())]
    Input {
        path: PathBuf,
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// It is not a folder.
    #[error("{} is no folder: name the one that the pictures are in", path.display())]
    NoFolder { path: PathBuf },
}

/// The folders of all runs of a campaign. Nothing is created before a run writes its first file.
#[derive(Debug, Clone)]
pub struct MediaFolders {
    /// Without symbolic links in it.
    input: Option<PathBuf>,
    output: PathBuf,
}

impl MediaFolders {
    /// Files of `input`, if there is one, are read; below `output` each run that writes gets a folder of its own.
    ///
    /// # Errors
    /// `input` does not exist, or is not a folder.
    pub fn new(input: Option<&Path>, output: &Path) -> Result<Self, FolderError> {
        let canonical = |path: &Path| {
            let failed = |source| FolderError::Input { path: path.to_owned(), source };
            let canonical = fs::canonicalize(path).map_err(failed)?;
            if !canonical.is_dir() {
                return Err(FolderError::NoFolder { path: path.to_owned() });
            }
            Ok(canonical)
        };
        Ok(Self { input: input.map(canonical).transpose()?, output: output.to_owned() })
    }

    /// The folders of one run. Its own is named after `label`, of which letters, digits, `-` and `_` are kept,
    /// followed by the first free number.
    pub fn for_run(&self, label: &str) -> MediaFolder {
        let keep = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
        let label: String = label.chars().map(keep).take(NAME_BYTES_MAX / 2).collect();
        MediaFolder {
            folders: Arc::new(self.clone()),
            label: if label.is_empty() { "run".to_owned() } else { label },
            state: Mutex::default(),
        }
    }
}

/// The files of one run.
///
/// A name is a path below the user's folder, with `/` between its parts, or the name of a file written by the run,
/// which takes precedence. Absolute paths, `..` and symbolic links cannot leave the two folders.
#[derive(Debug)]
pub struct MediaFolder {
    folders: Arc<MediaFolders>,
    label: String,
    state: Mutex<Written>,
}

#[derive(Debug, Default)]
struct Written {
    /// The folder of the run, once it is there.
    folder: Option<PathBuf>,
    /// The names of its files, in the order in which they were written.
    files: Vec<String>,
    bytes: u64,
}

impl MediaFolder {
    /// The folders of another run with the same label.
    pub fn for_another_run(&self) -> Self {
        self.folders.for_run(&self.label)
    }

    /// Where the run has written, if it has written anything.
    pub fn output(&self) -> Option<PathBuf> {
        self.lock().folder.clone()
    }

    /// A picture by its name.
    pub(crate) fn picture(&self, name: &str) -> Result<(Picture, Vec<u8>), ToolFailure> {
        let bytes = self.read(name, picture::PICTURE_BYTES_MAX, "a picture")?;
        let picture = picture::decode(&bytes, &quoted(name), Blame::Call)?;
        Ok((picture, bytes))
    }

    /// A file with sound by its name. Its content is not checked.
    pub(crate) fn sound(&self, name: &str) -> Result<Vec<u8>, ToolFailure> {
        self.read(name, SOUND_BYTES_MAX, "a file with sound")
    }

    /// Writes a picture into the run's folder, and returns its name: `out-0.png`, `out-1.png` and so on.
    pub(crate) fn write(&self, pixels: &RgbImage) -> Result<String, ToolFailure> {
        self.save("png", &picture::png(pixels)?)
    }

    /// Writes a file with this extension into the run's folder, and returns its name: the number counts all files of
    /// the run.
    pub(crate) fn save(&self, ending: &str, bytes: &[u8]) -> Result<String, ToolFailure> {
        // Held until the file is written, so that no two calls get the same number.
        let mut written = self.lock();
        let total = written.bytes + bytes.len() as u64;
        if written.files.len() >= OUTPUTS_MAX || total > OUTPUT_BYTES_MAX {
            return Err(ToolFailure::call(format!(
                "the run has written as much as it may, which is {OUTPUTS_MAX} files and {OUTPUT_BYTES_MAX} bytes"
            )));
        }
        let failed = |path: &Path, error: std::io::Error| {
            ToolFailure::world(format!("{} cannot be written: {error}", path.display()))
        };
        let folder = match &written.folder {
            Some(folder) => folder.clone(),
            None => {
                let folder = self.create().map_err(|error| failed(&self.folders.output, error))?;
                written.folder = Some(folder.clone());
                folder
            }
        };
        let name = format!("out-{}.{ending}", written.files.len());
        let path = folder.join(&name);
        // An existing file belongs to somebody unknown, so it is not overwritten.
        planproof_files::create(&path, bytes, |_| Ok(())).map_err(|error| failed(&path, error))?;
        written.files.push(name.clone());
        written.bytes = total;
        Ok(name)
    }

    /// The run's folder, which nobody else has.
    fn create(&self) -> std::io::Result<PathBuf> {
        fs::create_dir_all(&self.folders.output)?;
        let output = fs::canonicalize(&self.folders.output)?;
        for number in 1..=FOLDERS_MAX {
            let folder = output.join(format!("{}-{number}", self.label));
            // Creating a folder that exists fails, so no two runs get the same one, in whatever processes they are.
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::Error::other(format!("there are {FOLDERS_MAX} folders of {} in it", self.label)))
    }

    /// The path of a file by its name, without symbolic links in it.
    pub(crate) fn locate(&self, name: &str, what: &str) -> Result<PathBuf, ToolFailure> {
        let shown = quoted(name);
        let relative = relative(name)?;
        let not_there = || {
            ToolFailure::call(format!(
                "there is no file {shown}: give the name of a file that the task names, or that a tool has answered \
                 with"
            ))
        };
        // Until the run has written a file of this name, a file of the user's is meant.
        let own = {
            let written = self.lock();
            written.folder.clone().filter(|_| written.files.iter().any(|own| own == name))
        };
        let base = own.or_else(|| self.folders.input.clone()).ok_or_else(not_there)?;
        let path = fs::canonicalize(base.join(relative)).map_err(|_| not_there())?;
        // Links have been resolved in both, so the beginning of the path decides.
        if !path.starts_with(&base) {
            return Err(ToolFailure::call(format!(
                "{shown} leads out of the folder with the media, which is not allowed"
            )));
        }
        let cannot =
            |why: &dyn std::fmt::Display| ToolFailure::world(format!("{shown} cannot be read: {why}"));
        // Checked before it is opened, because opening a pipe would wait for a writer.
        if !fs::metadata(&path).map_err(|error| cannot(&error))?.is_file() {
            return Err(ToolFailure::call(format!("{shown} is no file: give the name of {what}")));
        }
        Ok(path)
    }

    fn read(&self, name: &str, bytes_max: usize, what: &str) -> Result<Vec<u8>, ToolFailure> {
        let path = self.locate(name, what)?;
        let shown = quoted(name);
        let cannot =
            |why: &dyn std::fmt::Display| ToolFailure::world(format!("{shown} cannot be read: {why}"));
        let file = planproof_files::open(&path).map_err(|error| cannot(&error))?;
        let mut bytes = Vec::new();
        // One byte more than allowed is enough to see that a file is too large.
        file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
        if bytes.len() > bytes_max {
            return Err(ToolFailure::call(format!(
                "{shown} has more than {bytes_max} bytes, which are allowed for {what}: give a smaller one"
            )));
        }
        Ok(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        // A panic while the lock is held leaves whole numbers.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name as a path that textually stays below its starting point.
fn relative(name: &str) -> Result<PathBuf, ToolFailure> {
    let refuse =
        |why: &str| Err(ToolFailure::call(format!("{} is not the name of a file here: {why}", quoted(name))));
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return refuse(&format!("a name has 1 to {NAME_BYTES_MAX} bytes"));
    }
    // On some systems a backslash also separates path components, and a colon names a drive.
    if name.contains(|c: char| c.is_control() || matches!(c, '\\' | ':')) {
        return refuse("control characters, `\\` and `:` may not stand in it");
    }
    let path = Path::new(name);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return refuse("give it without `/` at the beginning and without `.` and `..`");
    }
    Ok(path.to_owned())
}
