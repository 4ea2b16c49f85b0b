//! The file of a guard's log, to which other guards may append as well.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use planproof_output::failure::Failure;
use planproof_output::layout::counted;

/// Where the lines of the log go.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    /// The same file, to see how it ends; `None` for a device, which has no end.
    end: Option<File>,
    /// It has a name, which it may lose.
    is_named: bool,
    /// Lines about what has happened that could not be written so far. Nothing is written before them.
    owed: VecDeque<String>,
    owed_bytes: usize,
    /// How many more there were.
    lost: usize,
}

/// Most bytes of lines that are kept until there is room for them. Further ones are missing in the log.
const OWED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What becomes of a line that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// It is forgotten, because what it says does not happen then.
    Undone,
    /// It is written as soon as possible, because what it says has happened.
    Owed,
}

impl LogFile {
    /// Opens a log to append to it.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let cannot =
            |error| Failure::of_file(format!("cannot write --log {}: {error}", path.display()), &error);
        let mut options = OpenOptions::new();
        planproof_files::without_other_writers(options.append(true).create(true));
        let file = planproof_files::open_to_write(path, &options).map_err(cannot)?;
        let is_file = file.metadata().map_err(cannot)?.is_file();
        let end = is_file.then(|| File::open(path)).transpose().map_err(cannot)?;
        let is_named = !is_deleted(&file).map_err(cannot)?;
        Ok(Self { path: path.to_owned(), file, end, is_named, owed: VecDeque::new(), owed_bytes: 0, lost: 0 })
    }

    /// Appends a line, behind all that are owed. When this returns, the operating system has it, and has it even if we
    /// are killed.
    ///
    /// # Errors
    /// Not all of it could be written, or nobody could read it, because the file was deleted.
    pub(super) fn append(&mut self, line: &str, unwritten: Unwritten) -> Result<(), String> {
        let appended = self.pay().and_then(|()| self.try_append(line));
        if appended.is_err() && unwritten == Unwritten::Owed {
            self.owe(line);
        }
        appended.map_err(|error| {
            format!("the log {} of the guard cannot be written: {error}", self.path.display())
        })
    }

    /// Writes what is owed, and says what is missing for good, if something is.
    pub(super) fn close(&mut self) -> Option<String> {
        let paid = self.pay();
        let missing = self.lost + self.owed.len();
        (missing > 0).then(|| {
            let why = paid.err().map(|error| format!(" ({error})")).unwrap_or_default();
            format!(
                "the log {} lacks {} about what has happened{why}",
                self.path.display(),
                counted(missing, "line")
            )
        })
    }

    fn owe(&mut self, line: &str) {
        if self.lost > 0 || self.owed_bytes + line.len() > OWED_BYTES_MAX {
            self.lost += 1;
            return;
        }
        self.owed_bytes += line.len();
        self.owed.push_back(line.to_owned());
    }

    fn pay(&mut self) -> std::io::Result<()> {
        while let Some(line) = self.owed.pop_front() {
            if let Err(error) = self.try_append(&line) {
                self.owed.push_front(line);
                return Err(error);
            }
            self.owed_bytes -= line.len();
        }
        Ok(())
    }

    fn try_append(&mut self, line: &str) -> std::io::Result<()> {
        if self.is_named && is_deleted(&self.file)? {
            return Err(std::io::Error::other("it was deleted"));
        }
        // Whoever wrote last may not have written all, and what is appended would belong to that line.
        let is_torn = match &mut self.end {
            Some(end) => ends_within_a_line(end)?,
            None => false,
        };
        let begin = if is_torn { "\n" } else { "" };
        let bytes = format!("{begin}{line}\n").into_bytes();
        let mut left = bytes.as_slice();
        while !left.is_empty() {
            match self.file.write(left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => left = left.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A line of which only the end is missing says all, and the next one begins with that end.
                Err(_) if left == b"\n" && !line.is_empty() => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether a file has no name any more, so that its content goes with the process.
#[cfg(unix)]
fn is_deleted(file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(file.metadata()?.nlink() == 0)
}

#[cfg(not(unix))]
fn is_deleted(_: &File) -> std::io::Result<bool> {
    // A file that is open cannot be deleted.
    Ok(false)
}

/// Whether the last line of a file has no end, as after a full disk.
fn ends_within_a_line(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("planproof-log-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn guards_that_share_a_log_begin_new_lines_after_cut_ones() {
        let folder = folder("cut");
        let path = folder.join("log.jsonl");
        let open = || LogFile::open(&path).map_err(|_| "cannot be opened").expect("a log");
        let (mut one, mut other) = (open(), open());
        one.append("1", Unwritten::Undone).expect("room");
        other.append("2", Unwritten::Undone).expect("room");
        // The disk was full for one of them.
        one.file.write_all(b"{\"cut").expect("room");
        other.append("3", Unwritten::Undone).expect("room");
        one.append("4", Unwritten::Undone).expect("room");
        assert_eq!(std::fs::read_to_string(&path).expect("a log"), "1\n2\n{\"cut\n3\n4\n");
        std::fs::remove_dir_all(folder).expect("it is there");
    }

    #[cfg(unix)]
    #[test]
    fn a_log_that_was_deleted_cannot_be_written_and_one_that_was_renamed_can() {
        let folder = folder("deleted");
        let (path, old) = (folder.join("log.jsonl"), folder.join("old.jsonl"));
        let mut log = LogFile::open(&path).map_err(|_| "cannot be opened").expect("a log");
        std::fs::rename(&path, &old).expect("it is there");
        log.append("1", Unwritten::Undone).expect("room");
        assert_eq!(std::fs::read_to_string(&old).expect("a log"), "1\n");
        std::fs::remove_file(&old).expect("it is there");
        assert!(log.append("2", Unwritten::Undone).is_err_and(|why| why.ends_with("it was deleted")));
        std::fs::remove_dir_all(folder).expect("it is there");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_happened_is_written_as_soon_as_it_can_be_and_before_all_else() {
        let folder = folder("owed");
        let path = folder.join("log.jsonl");
        let open = |path: &Path| LogFile::open(path).map_err(|_| "cannot be opened").expect("a log");
        let mut log = open(Path::new("/dev/full"));
        assert!(log.append("forgotten", Unwritten::Undone).is_err());
        assert!(log.append("1", Unwritten::Owed).is_err());
        assert!(log.append("2", Unwritten::Owed).is_err());
        assert!(log.append("forgotten, too", Unwritten::Undone).is_err());
        assert!(log.close().is_some_and(|why| why.contains("lacks 2 lines")));
        // There is room again.
        let other = open(&path);
        (log.file, log.end) = (other.file, other.end);
        log.append("3", Unwritten::Undone).expect("room");
        assert_eq!(log.close(), None);
        assert_eq!(std::fs::read_to_string(&path).expect("a log"), "1\n2\n3\n");
        // More than are kept are missing for good, and so are all behind them.
        let mut log = open(Path::new("/dev/full"));
        for line in ["short", &"x".repeat(OWED_BYTES_MAX), "short"] {
            assert!(log.append(line, Unwritten::Owed).is_err());
        }
        assert_eq!((log.owed.len(), log.lost), (1, 2));
        assert!(log.close().is_some_and(|why| why.contains("lacks 3 lines")));
        std::fs::remove_dir_all(folder).expect("it is there");
    }
}
