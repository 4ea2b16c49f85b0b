//! The file of the stored tools: a line of JSON for each.

use std::collections::HashSet;
use std::fs::{OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use planproof_tools::SchemaCache;
use planproof_trace::WrittenObject;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::MAKE_TOOL;
use super::function::{Fault, MadeTool};

/// Most bytes of the file.
pub const LIBRARY_BYTES_MAX: u64 = 16 << 20;
/// Most tools in it.
pub const TOOLS_MAX: usize = 500;

/// How long another process may lock the file; appending a tool takes milliseconds.
const LOCK_MAX: Duration = Duration::from_secs(5);
/// How long to wait before looking again.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The key that every line has, and its value.
const SCHEMA: (&str, &str) = ("schema", "planproof/made-tool/v1");

/// Why a library cannot be used.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// The file cannot be read.
    #[error("the library of tools {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// A line is not a tool.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// It is too large.
    #[error("the library of tools {} is too large: {what}", path.display())]
    TooLarge {
        path: PathBuf,
        /// Which limit it exceeds.
        what: String,
    },
}

/// The name in a line of the file. Other fields are ignored.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// The tools of a file. All runs of this process share them; tools added by another process are seen when the file is
/// opened again, but their names are taken at once.
#[derive(Debug)]
pub struct ToolLibrary {
    path: PathBuf,
    tools: Mutex<Vec<Arc<MadeTool>>>,
}

impl ToolLibrary {
    /// Reads a file. A missing one is empty, and is created with the first stored tool. Of tools with equal names, the
    /// first one counts.
    ///
    /// # Errors
    /// The file cannot be read, holds something else, or exceeds [`LIBRARY_BYTES_MAX`] or [`TOOLS_MAX`].
    pub fn open(path: &Path) -> Result<Self, LibraryError> {
        let too_large = |what: String| LibraryError::TooLarge { path: path.to_owned(), what };
        let mut text = String::new();
        match planproof_files::open(path) {
            Ok(file) => {
                // Waits for a process that is appending.
                locked(|| file.try_lock_shared())
                    .map_err(|source| LibraryError::Unreadable { path: path.to_owned(), source })?;
                // One byte more than is allowed, so that a file that is too large shows.
                let read = file.take(LIBRARY_BYTES_MAX + 1).read_to_string(&mut text);
                read.map_err(|source| LibraryError::Unreadable { path: path.to_owned(), source })?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(LibraryError::Unreadable { path: path.to_owned(), source }),
        }
        if text.len() as u64 > LIBRARY_BYTES_MAX {
            return Err(too_large(format!("it has more than {LIBRARY_BYTES_MAX} bytes")));
        }
        let schemas = SchemaCache::default();
        let mut tools: Vec<Arc<MadeTool>> = Vec::new();
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |what: String| LibraryError::Line { path: path.to_owned(), line: place + 1, what };
            // Checked like a new tool, because anybody may have edited the file.
            let tool = read_line(line, &schemas).map_err(wrong)?;
            if tool.name() == MAKE_TOOL {
                return Err(wrong(format!("the name `{}` is taken", tool.name())));
            }
            // On a file system without locks, two processes may have kept a tool of one name at the same time.
            if tools.iter().any(|other| other.name() == tool.name()) {
                continue;
            }
            if tools.len() == TOOLS_MAX {
                return Err(too_large(format!("it has more than {TOOLS_MAX} tools")));
            }
            tools.push(Arc::new(tool));
        }
        Ok(Self { path: path.to_owned(), tools: Mutex::new(tools) })
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn tools(&self) -> Vec<Arc<MadeTool>> {
        self.lock().clone()
    }

    /// Appends a tool to the file, in one write. The file is locked meanwhile, and the tools count that other processes
    /// have appended, so that it stays within its limits and has each name once.
    pub(super) fn keep(&self, tool: &Arc<MadeTool>) -> Result<(), Fault> {
        let world = |what: &dyn std::fmt::Display| {
            Fault::World(format!("the library of tools {} cannot be written: {what}", self.path.display()))
        };
        let written = serde_json::to_string(&**tool).and_then(|json| WrittenObject::read(&json));
        let written = written.map_err(|error| world(&error))?;
        let written = written.edited(|map| drop(map.insert(SCHEMA.0.to_owned(), SCHEMA.1.into())));
        let mut line = format!("{written}\n");
        let mut tools = self.lock();
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        let file = planproof_files::open_to_write(&self.path, &options).map_err(|error| world(&error))?;
        // Without locks, `open` keeps the first of equal names.
        locked(|| file.try_lock()).map_err(|error| world(&error))?;
        let mut bytes = Vec::new();
        (&file).take(LIBRARY_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| world(&error))?;
        // What is not a tool is named by `open`.
        let named = |line: &[u8]| serde_json::from_slice::<Named>(line).ok().map(|it| it.name);
        let names: HashSet<String> = bytes.split(|byte| *byte == b'\n').filter_map(named).collect();
        if names.contains(tool.name()) || tools.iter().any(|other| other.name() == tool.name()) {
            return Err(Fault::Call(format!(
                "there is a tool named `{}` already: choose another name",
                tool.name()
            )));
        }
        if names.len().max(tools.len()) >= TOOLS_MAX {
            return Err(Fault::Call(format!("the library is full: it has {TOOLS_MAX} tools")));
        }
        // Somebody may have edited the file and left out the last line break.
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            line.insert(0, '\n');
        }
        if (bytes.len() + line.len()) as u64 > LIBRARY_BYTES_MAX {
            return Err(Fault::Call(format!(
                "the library is full: with this tool it would have more than {LIBRARY_BYTES_MAX} bytes"
            )));
        }
        // One write at the end of the file, so that lines do not mix even without a lock. Half a line would make the
        // library unreadable.
        planproof_files::append(&file, line.as_bytes()).map_err(|error| world(&error))?;
        // Only now, because a tool that is not in the file would be lost with this process.
        tools.push(Arc::clone(tool));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<MadeTool>>> {
        // A panic while the lock is held leaves whole tools.
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a lock, but not for a process that never releases it. Some file systems have no locks; there is none to
/// wait for.
fn locked(mut lock: impl FnMut() -> Result<(), TryLockError>) -> std::io::Result<()> {
    let until = Instant::now() + LOCK_MAX;
    loop {
        match lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(std::io::Error::other(format!(
                    "another process has locked it for more than {} s",
                    LOCK_MAX.as_secs()
                )));
            }
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

fn read_line(line: &str, schemas: &SchemaCache) -> Result<MadeTool, String> {
    let object = WrittenObject::read(line).map_err(|error| format!("no JSON: {error}"))?;
    if object.get(SCHEMA.0).and_then(Value::as_str) != Some(SCHEMA.1) {
        return Err(format!("the line has no `\"{}\": \"{}\"`", SCHEMA.0, SCHEMA.1));
    }
    let object = object.edited(|map| drop(map.remove(SCHEMA.0)));
    MadeTool::read(&object, schemas).map_err(|fault| fault.to_string())
}
