//! Files that a command writes whole, such as reports.
//!
//! A command may take hours, so everything that could prevent writing a file is checked before it begins: the folder
//! must exist, and a temporary file in it is opened. It is renamed when it is complete, so that there is never half
//! a report.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::random::random_bytes;
use crate::terminal::{Search, Searched};
use crate::{progress, terminal};

/// Random digits in the name of an incomplete file.
const RANDOM_DIGITS: usize = 8;

/// A file that will be there once it is complete.
#[derive(Debug)]
pub struct ReportFile {
    /// As it was asked for.
    asked: PathBuf,
    place: Place,
    search: Search,
}

#[derive(Debug)]
enum Place {
    Stdout,
    /// A file that takes its name when it is complete.
    New(Temporary),
    /// What is open already, as a pipe, or a device that takes everything.
    Stream(File),
    /// A file that is added to.
    Appended(File),
}

/// A file beside its final location; it is deleted unless it is renamed.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    target: PathBuf,
    file: File,
    is_kept: bool,
}

impl ReportFile {
    /// The page that `--html` names, where it is the only file; `taken` are other files of the same command, with the
    /// options that name them.
    ///
    /// # Errors
    /// It cannot be written, is one of them, or is for stdout although that is for JSON, as `is_json` says.
    pub fn page(
        path: Option<&Path>,
        taken: &[(&str, &Path)],
        is_json: bool,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = path else { return Ok(None) };
        if is_stdout(path) {
            if is_json {
                return Err(Failure::usage("--html - and --json both write to stdout: name a file"));
            }
        } else {
            must_differ(path, taken)?;
        }
        Self::open("--html", path).map(Some)
    }
}

/// Refuses to write a file, such as a report, where it would replace another file of the same command. `taken` are
/// those, with the options that name them.
pub fn must_differ(written: &Path, taken: &[(&str, &Path)]) -> Result<(), Failure> {
    match taken.iter().find(|(_, other)| resolved(other) == resolved(written)) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::usage(format!(
            "{} is the file of {name}: name another file to write to",
            written.display()
        ))),
    }
}

/// The file behind a path, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize()
        .or_else(|_| in_real_folder(&created_at(path)?))
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

impl ReportFile {
    /// Makes sure that the file can be written: its folder exists, and there is nothing else at its path. `-` is
    /// stdout.
    pub fn open(option: &str, path: &Path) -> Result<Self, Failure> {
        let place = Self::place(path).map_err(|error| cannot(option, path, &error))?;
        Ok(Self { asked: path.to_owned(), place, search: Search::Text })
    }

    /// The same file, for JSON.
    pub fn of_json(self) -> Self {
        Self { search: Search::Json, ..self }
    }

    /// The same file, whose text is the user's own and is not searched for keys.
    pub fn unsearched(self) -> Self {
        Self { search: Search::Nothing, ..self }
    }

    /// The same for the file of `--out`, which must not exist unless it is overwritten by `force`.
    pub fn open_new(path: &Path, force: bool) -> Result<Self, Failure> {
        // Anything but a plain file, such as a pipe, holds nothing that could be lost.
        if !force && path.is_file() {
            let what = format!("there is a {} already; --force overwrites it", path.display());
            return Err(Failure::usage(what));
        }
        Self::open("--out", path)
    }

    /// The same for a file that is added to, as `--step-summary` names it.
    pub fn append_to(path: &Path) -> Result<Self, Failure> {
        let open = || {
            folder_of(path)?;
            planproof_files::open_to_write(path, OpenOptions::new().create(true).append(true))
                .map(Place::Appended)
        };
        let place = if is_stdout(path) { Ok(Place::Stdout) } else { open() };
        let place = place.map_err(|error| cannot("--step-summary", path, &error))?;
        Ok(Self { asked: path.to_owned(), place, search: Search::Text })
    }

    fn place(path: &Path) -> io::Result<Place> {
        if is_stdout(path) {
            return Ok(Place::Stdout);
        }
        match fs::metadata(path) {
            // A link keeps pointing where it does.
            Ok(found) if found.is_file() => Temporary::beside(&path.canonicalize()?).map(Place::New),
            // Refuses what could make us wait forever.
            Ok(_) => planproof_files::open_to_write(path, OpenOptions::new().write(true)).map(Place::Stream),
            // Usually it does not exist. Any other obstacle shows when a file is created beside it.
            Err(_) => Temporary::beside(&in_real_folder(&created_at(path)?)?).map(Place::New),
        }
    }

    /// The file that is written, if it is one of its own.
    pub fn target(&self) -> Option<PathBuf> {
        match &self.place {
            Place::New(temporary) => Some(temporary.target.clone()),
            // It was created when it was opened, so it can be resolved.
            Place::Appended(_) => self.asked.canonicalize().ok(),
            Place::Stdout | Place::Stream(_) => None,
        }
    }

    /// Whether it is not a file but stdout.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// Writes the file, without the keys that we hold, renames it to its final name, and reports it.
    pub fn write(
        self,
        is_quiet: bool,
        report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let said = (!self.is_stdout()).then(|| format!("wrote {}", self.asked.display()));
        self.write_silently(report)?;
        if let Some(said) = said {
            progress::say(is_quiet, &said);
        }
        Ok(())
    }

    /// The same, without a word.
    pub fn write_silently(
        self,
        report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Self { asked, place, search } = self;
        let report = |out: &mut dyn Write| {
            let mut out = Searched::new(out, search);
            report(&mut out).and_then(|()| out.flush())
        };
        let fail = |error: io::Error| Failure::outside(format!("cannot write {}: {error}", asked.display()));
        match place {
            Place::Stdout => {
                // Not with `fail`: the conversion recognises a reader that has closed the pipe, which is no fault.
                let mut out = BufWriter::new(terminal::searched_document());
                report(&mut out).and_then(|()| out.flush()).map_err(Failure::from)
            }
            Place::New(temporary) => temporary.write(report).map_err(fail),
            Place::Stream(file) => write_to(&file, report).map_err(fail),
            Place::Appended(file) => {
                // In one write, because other steps may append to the same file.
                let mut text = Vec::new();
                report(&mut text).and_then(|()| planproof_files::append(&file, &text)).map_err(fail)
            }
        }
    }
}

impl Temporary {
    fn beside(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| io::Error::other("it does not name a file"))?;
        // A killed process cannot remove its own file, so the next one for the same target does.
        remove_left_parts(target, name);
        loop {
            let random = u32::from_le_bytes(random_bytes());
            let path = target.with_file_name(part_name(name, &format!("{random:08x}")));
            let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
            // As long as it is locked nobody takes it for one that was left behind. Before that somebody may have.
            if is_still_ours(&file.try_lock(), &path) {
                return Ok(Self { path, target: target.to_owned(), file, is_kept: false });
            }
        }
    }

    fn write(mut self, report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        write_to(&self.file, report)?;
        // Replacing a file by renaming would otherwise lose its permissions.
        if let Ok(former) = fs::metadata(&self.target) {
            self.file.set_permissions(former.permissions())?;
        }
        fs::rename(&self.path, &self.target)?;
        self.is_kept = true;
        Ok(())
    }
}

/// Whether nobody has taken a new file for one that was left behind, given what came of locking it.
fn is_still_ours(locked: &Result<(), TryLockError>, path: &Path) -> bool {
    match locked {
        Err(TryLockError::WouldBlock) => false,
        // Some file systems have no locks. Nobody removes a file there, and another one could not be locked either.
        Ok(()) | Err(TryLockError::Error(_)) => path.try_exists().unwrap_or(true),
    }
}

/// The name of a file that is to become one of that name.
fn part_name(name: &OsStr, middle: &str) -> OsString {
    let mut part = OsString::from(".");
    part.push(name);
    part.push(format!(".{middle}.part"));
    part
}

/// Removes the leftovers of killed programs for a file: unlocked temporary files. One that cannot be removed does no
/// harm.
fn remove_left_parts(target: &Path, name: &OsStr) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (first, last) = (part_name(name, ""), ".part".len());
    let first = first.as_encoded_bytes();
    // Up to the random digits, which stand before the last dot.
    let first = first.get(..first.len() - last).unwrap_or(first);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let digits =
            found.as_encoded_bytes().strip_prefix(first).and_then(|rest| rest.strip_suffix(b".part"));
        // The folder is the user's, so only names of exactly our form are removed.
        let is_part =
            digits.is_some_and(|it| it.len() == RANDOM_DIGITS && it.iter().all(u8::is_ascii_hexdigit));
        // The lock is held until the file is gone. Otherwise the process that created it could take it in between, and
        // lose what it writes.
        if is_part
            && let Ok(file) = planproof_files::open_own(&entry.path(), OpenOptions::new().read(true))
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_kept {
            // It is ours alone; if it cannot be deleted it does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn write_to(file: &File, report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    report(&mut out)?;
    out.flush()
}

/// Whether a path stands for stdout.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where a file is created that does not exist yet: a link to it stays, and leads to it then.
fn created_at(path: &Path) -> io::Result<PathBuf> {
    let Ok(next) = fs::read_link(path) else { return Ok(path.to_owned()) };
    match fs::metadata(path) {
        // Links in a circle, for one, which would be followed without end.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        // A link is relative to its own folder. What it names may be another link.
        _ => created_at(&folder_of(path)?.join(next)),
    }
}

/// The path with its folder as the file system knows it, so that two names of one file are the same.
fn in_real_folder(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it does not name a file"))?;
    Ok(folder_of(path)?.canonicalize()?.join(name))
}

/// The folder of a file. A missing one is more often a typing mistake than a request to create one.
fn folder_of(path: &Path) -> io::Result<&Path> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let shown = folder.display();
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(folder),
        Ok(_) => Err(io::Error::other(format!("{shown} is not a folder"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::other(format!("there is no folder {shown}; create it first")))
        }
        Err(error) => Err(error),
    }
}

fn cannot(option: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::of_file(format!("{option} {}: cannot write it: {error}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_written_to_all_the_same() {
        let there = std::env::current_exe().unwrap();
        let gone = there.with_file_name("no such file");
        let no_locks = || Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        assert!(is_still_ours(&Ok(()), &there));
        assert!(is_still_ours(&no_locks(), &there));
        assert!(!is_still_ours(&Err(TryLockError::WouldBlock), &there));
        for locked in [Ok(()), no_locks()] {
            assert!(!is_still_ours(&locked, &gone));
        }
    }
}
