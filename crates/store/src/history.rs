//! The history of guarded sessions: lines of decisions and results in an SQLite file of its own, which all guards of a
//! session write to.
//!
//! It is not the run store: guards run in the folders of agents, and nothing that lies there may be taken for results.
//! A [`HistoryTurn`] is a transaction that nobody else can write during, so that a decision is made on all that came
//! before it. Lines are texts that this crate does not interpret. As with the run store, `synchronous = NORMAL` keeps
//! every commit over a crash of the program, and not over one of the machine.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior};
use thiserror::Error;

use crate::patience::Patience;

/// How long a guard waits for others that write to the same history, in milliseconds.
pub const HISTORY_BUSY_MS: u32 = 5000;

/// Longest line, and longest snapshot, in bytes.
pub const HISTORY_TEXT_BYTES_MAX: usize = 256 << 20;

/// Longest name of a session, in bytes.
pub const SESSION_NAME_BYTES_MAX: usize = 64 << 10;

/// Marks a file as a history: "PlGh".
const APPLICATION_ID: i64 = 0x506c_4768;

/// The version of its tables.
const VERSION: i64 = 1;

/// Its tables. A published version never changes.
const TABLES: &str = include_str!("history/1.sql");

const RETRY_AFTER: Duration = Duration::from_millis(2);

/// Why a history cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// It cannot be opened or created.
    #[error("the history {} cannot be opened: {reason}", path.display())]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It is another file, or one with other tables.
    #[error("{} is not a history of guards ({what}): name another file", path.display())]
    NotAHistory {
        /// The file.
        path: PathBuf,
        /// How that shows.
        what: String,
    },
    /// A newer planproof wrote it.
    #[error("the history {} has version {found}, and only {VERSION} is known: use a newer planproof", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// It was a history, and its content is corrupt.
    #[error("the history {} is damaged ({what}): move it away, and begin a new session", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another program held its lock for too long.
    #[error("the history {} was locked by another program for {HISTORY_BUSY_MS} ms", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There is no space left.
    #[error("the history {} cannot be written: no space is left", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that SQLite or the disk reports.
    #[error("the history {} failed: {what}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What is reported.
        what: String,
    },
}

/// An open history.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
    patience: Patience,
    /// Its files when it was opened.
    files: Option<HistoryFiles>,
}

/// A session in a transaction that others cannot write during. Dropping it undoes what was appended.
#[derive(Debug)]
pub struct HistoryTurn<'h> {
    transaction: Transaction<'h>,
    path: &'h Path,
    session: i64,
}

/// The state of a session after some of its lines, so that these need not be read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySnapshot {
    /// The number of the last line that it is after.
    pub number: u64,
    /// What else it depends on: with anything different it is of no use.
    pub made_with: String,
    /// The state, which this crate does not interpret.
    pub state: String,
}

impl History {
    /// Opens a history to write to it. A missing or empty file becomes one; its folder must exist. Waits up to
    /// [`HISTORY_BUSY_MS`] for others.
    ///
    /// # Errors
    /// [`HistoryError`]. A file that is not a history is left unchanged.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut history = Self::connect(path, flags)?;
        let started = Instant::now();
        // SQLite itself does not wait when two programs set up the same file at the same time.
        loop {
            match history.set_up() {
                Err(HistoryError::Busy { .. })
                    if started.elapsed() < Duration::from_millis(u64::from(HISTORY_BUSY_MS)) =>
                {
                    thread::sleep(RETRY_AFTER);
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    history.files = Some(HistoryFiles::at(path));
                    return Ok(history);
                }
            }
        }
    }

    /// Opens a history that is there, to read it.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn open_read_only(path: &Path) -> Result<Self, HistoryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let history = Self::connect(path, flags)?;
        if !history.is_history()? {
            let what = "it is empty".to_owned();
            return Err(HistoryError::NotAHistory { path: path.to_owned(), what });
        }
        Ok(history)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, HistoryError> {
        must_be_file(path)?;
        let patience = Patience::new();
        let open = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(Duration::from_millis(u64::from(HISTORY_BUSY_MS)))?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // A hostile file must not be able to run code through its schema.
            connection.pragma_update(None, "trusted_schema", false)?;
            connection.set_limit(
                Limit::SQLITE_LIMIT_LENGTH,
                i32::try_from(HISTORY_TEXT_BYTES_MAX).unwrap_or(i32::MAX),
            )?;
            patience.watch(&connection)?;
            Ok(connection)
        };
        let connection = open().map_err(|error| convert(path, error))?;
        Ok(Self { connection, path: path.to_owned(), patience, files: None })
    }

    /// Whether the file is a history, seen in one transaction: another program may be setting it up.
    fn is_history(&self) -> Result<bool, HistoryError> {
        let transaction = self.connection.unchecked_transaction();
        let transaction = transaction.map_err(|error| convert(&self.path, error))?;
        is_history(&transaction, &self.path)
    }

    fn set_up(&mut self) -> Result<(), HistoryError> {
        let path = self.path.clone();
        let error = |error| convert(&path, error);
        // Nothing may be changed in a file before it is known to be a history, or empty.
        let is_there = self.is_history()?;
        let mode: String =
            self.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(error)?;
        if mode != "wal" {
            self.connection.pragma_update(None, "journal_mode", "wal").map_err(error)?;
        }
        self.connection.pragma_update(None, "synchronous", "normal").map_err(error)?;
        if is_there {
            return Ok(());
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(error)?;
        // Another program may have been faster.
        if !is_history(&transaction, &path)? {
            let mark = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};");
            transaction
                .execute_batch(TABLES)
                .and_then(|()| transaction.execute_batch(&mark))
                .map_err(error)?;
        }
        transaction.commit().map_err(error)
    }

    /// Begins a turn of a session, which is created if it is new. Waits for the turns of others.
    ///
    /// # Errors
    /// [`HistoryError`]. One of its files was deleted or replaced: what is written to it, nobody else sees.
    pub fn turn(&mut self, session: &str) -> Result<HistoryTurn<'_>, HistoryError> {
        let path = &self.path;
        if session.len() > SESSION_NAME_BYTES_MAX {
            let what = format!("the name of a session has more than {SESSION_NAME_BYTES_MAX} bytes");
            return Err(HistoryError::Failed { path: path.clone(), what });
        }
        self.patience.begin();
        let begin = || {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            transaction
                .execute("INSERT INTO session (name) VALUES (?1) ON CONFLICT (name) DO NOTHING", [session])?;
            let key = transaction
                .query_row("SELECT key FROM session WHERE name = ?1", [session], |row| row.get(0))?;
            Ok((transaction, key))
        };
        let (transaction, session) = begin().map_err(|error| convert(path, error))?;
        if self.files.as_ref().is_some_and(|files| *files != HistoryFiles::at(path)) {
            let what = "it was deleted or replaced while it was in use; start anew".to_owned();
            return Err(HistoryError::Failed { path: path.clone(), what });
        }
        Ok(HistoryTurn { transaction, path, session })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of all sessions, in the order in which they began. Takes time in their number.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn sessions(&self) -> Result<Vec<String>, HistoryError> {
        self.patience.begin_unlimited();
        let read = || {
            let mut statement = self.connection.prepare("SELECT name FROM session ORDER BY key")?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|error| convert(&self.path, error))
    }

    /// The lines of all sessions, session by session, in the order in which they began.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn all_lines(&self) -> Result<Vec<String>, HistoryError> {
        // Takes time in the size of the file.
        self.patience.begin_unlimited();
        let read = || {
            let mut statement = self.connection.prepare("SELECT text FROM line ORDER BY session, number")?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|error| convert(&self.path, error))
    }
}

impl HistoryTurn<'_> {
    /// The lines behind that of this number, with theirs. The first line of a session has the number 1.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn lines_after(&self, number: u64) -> Result<Vec<(u64, String)>, HistoryError> {
        let read = || {
            let mut statement = self.transaction.prepare_cached(
                "SELECT number, text FROM line WHERE session = ?1 AND number > ?2 ORDER BY number",
            )?;
            let rows = statement.query_map((self.session, signed(number)), |row| {
                Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(u64, String)>>>()
        };
        read().map_err(|error| convert(self.path, error))
    }

    /// Appends a line, and gives its number.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn append(&self, line: &str) -> Result<u64, HistoryError> {
        let write = || {
            let last: i64 = self.transaction.query_row(
                "SELECT coalesce(max(number), 0) FROM line WHERE session = ?1",
                [self.session],
                |row| row.get(0),
            )?;
            let number = last.saturating_add(1);
            self.transaction.execute(
                "INSERT INTO line (session, number, text) VALUES (?1, ?2, ?3)",
                (self.session, number, line),
            )?;
            Ok(number.unsigned_abs())
        };
        write().map_err(|error| convert(self.path, error))
    }

    /// The latest snapshot of the session, if there is one.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn snapshot(&self) -> Result<Option<HistorySnapshot>, HistoryError> {
        let found = self.transaction.query_row(
            "SELECT number, made_with, state FROM snapshot WHERE session = ?1",
            [self.session],
            |row| {
                let number = row.get::<_, i64>(0)?.unsigned_abs();
                Ok(HistorySnapshot { number, made_with: row.get(1)?, state: row.get(2)? })
            },
        );
        found.optional().map_err(|error| convert(self.path, error))
    }

    /// Keeps a snapshot in place of the one before.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn keep(&self, snapshot: &HistorySnapshot) -> Result<(), HistoryError> {
        let kept = self.transaction.execute(
            "INSERT INTO snapshot (session, number, made_with, state) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (session) DO UPDATE SET number = ?2, made_with = ?3, state = ?4",
            (self.session, signed(snapshot.number), &snapshot.made_with, &snapshot.state),
        );
        kept.map(drop).map_err(|error| convert(self.path, error))
    }

    /// Ends the turn. What was appended counts from now on, also after a kill.
    ///
    /// # Errors
    /// [`HistoryError`]: nothing was appended.
    pub fn commit(self) -> Result<(), HistoryError> {
        let path = self.path;
        self.transaction.commit().map_err(|error| convert(path, error))
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Whether a file is a history; not so if it is empty. The connection has to be in a transaction.
fn is_history(connection: &Connection, path: &Path) -> Result<bool, HistoryError> {
    let read = |connection: &Connection| {
        let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let id = number("PRAGMA application_id")?;
        let version = number("PRAGMA user_version")?;
        let objects = schema(connection)?;
        Ok((id, version, objects))
    };
    let (id, version, objects) = read(connection).map_err(|error| convert(path, error))?;
    let not = |what: &str| Err(HistoryError::NotAHistory { path: path.to_owned(), what: what.to_owned() });
    match (id, version) {
        (0, 0) if objects.is_empty() => Ok(false),
        (APPLICATION_ID, VERSION) => {
            let ours = Connection::open_in_memory()
                .and_then(|connection| connection.execute_batch(TABLES).and_then(|()| schema(&connection)))
                .map_err(|error| convert(path, error))?;
            // A view or a trigger that somebody has added could make a query of ours do anything.
            if objects == ours { Ok(true) } else { not("its tables are not those of a history") }
        }
        (APPLICATION_ID, found) => Err(HistoryError::Newer { path: path.to_owned(), found }),
        _ => not("it is the file of another program"),
    }
}

/// Kind, name and SQL of what a file has.
fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let mut statement =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name LIMIT 20")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

/// What tells the files of a history apart from others that have their names later: SQLite goes on writing to a file
/// that has lost its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HistoryFiles([Option<FileIdentity>; 3]);

impl HistoryFiles {
    /// The files that are there now. Those beside the history stay as long as somebody has it open.
    fn at(path: &Path) -> Self {
        Self(["", "-wal", "-shm"].map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            identity_of(Path::new(&name))
        }))
    }
}

/// The device of a file, and its number there.
type FileIdentity = (u64, u64);

#[cfg(unix)]
fn identity_of(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity_of(_: &Path) -> Option<FileIdentity> {
    // A file that is open can be neither deleted nor replaced.
    None
}

/// Refuses links, which whoever can write into the folder could have put there, and what never ends.
fn must_be_file(path: &Path) -> Result<(), HistoryError> {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        if Path::new(&name).symlink_metadata().is_ok_and(|found| !found.is_file()) {
            let what = format!("{} is a link, a folder or a device", Path::new(&name).display());
            return Err(HistoryError::NotAHistory { path: path.to_owned(), what });
        }
    }
    Ok(())
}

// By value, because `map_err` passes it by value.
#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` wants")]
fn convert(path: &Path, error: rusqlite::Error) -> HistoryError {
    let path = path.to_owned();
    let what = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            HistoryError::NotAHistory { path, what: "it is not a file of SQLite".to_owned() }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::OperationInterrupted) => {
            HistoryError::Damaged { path, what }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => HistoryError::Busy { path },
        Some(ErrorCode::DiskFull) => HistoryError::Full { path },
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let missing = folder.and_then(|folder| folder.metadata().err());
            let reason = missing.map_or(what, |error| error.to_string());
            HistoryError::CannotOpen { path, reason }
        }
        _ => HistoryError::Failed { path, what },
    }
}
