//! A database for reading statements: built in memory from texts, or a file.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Statement};

use super::confine::{Budget, Seen, Spent, confine_building, confine_reading, release};
use super::schema::describe;
use super::{Cut, DatabaseError, Rows, SqlError, SqlLimits, SqlValue};

/// Most bytes of the texts that build a database.
pub const SCRIPT_BYTES_MAX: usize = 16 << 20;

/// Most steps of SQLite that building one takes.
const BUILDING_STEPS_MAX: u64 = 200_000_000;
/// Longest time that building one takes.
const BUILDING_TIME_MAX: Duration = Duration::from_secs(60);
/// Idle connections that are kept. Further calls at the same time make their own.
const IDLE_MAX: usize = 4;
/// Most bytes of SQLite's message that an error repeats.
const MESSAGE_BYTES_MAX: usize = 300;
/// Most bytes of the table list that an error repeats.
const HINT_BYTES_MAX: usize = 1000;

/// Characters of a path that need no escape in a URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A read-only database. It is shared by the runs of a campaign; statements may be executed concurrently.
pub struct SqlDatabase {
    source: Source,
    limits: SqlLimits,
    schema: String,
    idle: Mutex<Vec<Confined>>,
}

/// Where a connection comes from.
#[derive(Debug)]
enum Source {
    /// The texts, each executed in order.
    Script(Vec<String>),
    File(PathBuf),
}

/// A connection that reads and does nothing else.
struct Confined {
    connection: Connection,
    budget: Budget,
    seen: Seen,
}

impl SqlDatabase {
    /// A database in memory, built by these texts: `CREATE TABLE`, `INSERT` and the like, several per text if
    /// necessary. They cannot access anything outside of it either. Takes about a millisecond for a hundred rows, and
    /// the same again for each concurrent statement.
    ///
    /// # Errors
    /// A text is invalid or does something other than building tables, a limit is reached, or one of `limits` makes
    /// no sense.
    pub fn built(
        texts: impl IntoIterator<Item = impl Into<String>>,
        limits: SqlLimits,
    ) -> Result<Self, DatabaseError> {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        let bytes = texts.iter().map(String::len).sum();
        if bytes > SCRIPT_BYTES_MAX {
            return Err(DatabaseError::ScriptTooLong { bytes });
        }
        Self::new(Source::Script(texts), limits)
    }

    /// A database in a file, which must not change while it is used. Nothing is written to it or beside it.
    ///
    /// # Errors
    /// There is no such file, it is not a database, another program has pending changes for it, or one of `limits`
    /// makes no sense.
    pub fn file(path: &Path, limits: SqlLimits) -> Result<Self, DatabaseError> {
        let refuse =
            |error: std::io::Error| DatabaseError::File { path: path.to_owned(), what: error.to_string() };
        let whole = fs::canonicalize(path).map_err(refuse)?;
        // An immutable file is read without its write-ahead log, so
        // changes that are only there would be missing unnoticed.
        let mut wal = whole.clone().into_os_string();
        wal.push("-wal");
        if fs::metadata(wal).is_ok_and(|it| it.len() > 0) {
            return Err(DatabaseError::Unsettled { path: path.to_owned() });
        }
        Self::new(Source::File(whole), limits)
    }

    fn new(source: Source, limits: SqlLimits) -> Result<Self, DatabaseError> {
        limits.check()?;
        let mut database = Self { source, limits, schema: String::new(), idle: Mutex::default() };
        let (first, schema) = database.connect()?;
        database.schema = schema;
        database.idle = Mutex::new(vec![first]);
        Ok(database)
    }

    /// What one statement may use.
    pub fn limits(&self) -> &SqlLimits {
        &self.limits
    }

    /// The tables with their columns, one per line, in at most [`SCHEMA_BYTES_MAX`](super::SCHEMA_BYTES_MAX) bytes.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Executes one statement that reads. Blocks for as long as it takes, at most about the time of the limits.
    ///
    /// # Errors
    /// It is not exactly one valid statement that reads, or it reaches a limit; an excess of rows is not an error but a
    /// [`Cut`].
    pub fn run(&self, statement: &str) -> Result<Rows, SqlError> {
        if statement.len() > self.limits.statement_bytes {
            let (bytes, most) = (statement.len(), self.limits.statement_bytes);
            return Err(SqlError::TooLong { bytes, most });
        }
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let confined = match idle {
            Some(confined) => confined,
            None => self.connect().map_err(|error| SqlError::Unavailable { what: error.to_string() })?.0,
        };
        confined.seen.forget();
        confined.budget.grant(self.limits.steps, self.limits.time);
        let result = confined.select(statement, &self.limits);
        let result = result.map_err(|error| self.meaning(statement, &confined, error));
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(confined);
        }
        result
    }

    /// A connection, and its visible tables.
    fn connect(&self) -> Result<(Confined, String), DatabaseError> {
        let (connection, budget) = match &self.source {
            Source::Script(texts) => build(texts)?,
            Source::File(path) => open(path)?,
        };
        let refuse = |error: Error| match &self.source {
            Source::Script(_) => {
                DatabaseError::Script { what: shortened(&error.to_string(), MESSAGE_BYTES_MAX) }
            }
            Source::File(path) => DatabaseError::File { path: path.clone(), what: error.to_string() },
        };
        let schema = describe(&connection).map_err(refuse)?;
        let seen = confine_reading(&connection, &self.limits).map_err(refuse)?;
        Ok((Confined { connection, budget, seen }, schema))
    }

    /// The meaning of SQLite's error for the statement.
    fn meaning(&self, statement: &str, confined: &Confined, error: Failure) -> SqlError {
        let error = match error {
            Failure::Own(error) => return error,
            Failure::Sqlite(error) => error,
        };
        // Our own limits come first, because SQLite reports them all as an interruption or a denial.
        match confined.budget.spent() {
            Some(Spent::Steps) => return SqlError::Steps { steps: self.limits.steps },
            Some(Spent::Time) => return SqlError::Time { time: self.limits.time },
            None => {}
        }
        if confined.seen.has_too_many_functions() {
            return SqlError::Functions;
        }
        if let Some(what) = confined.seen.refused() {
            return SqlError::Refused { what };
        }
        match (&error, error.sqlite_error_code()) {
            (Error::MultipleStatement, _) => SqlError::Several,
            (_, Some(ErrorCode::TooBig)) => SqlError::ValueTooLong { bytes: self.limits.value_bytes },
            (_, Some(ErrorCode::ReadOnly | ErrorCode::AuthorizationForStatementDenied)) => {
                let word = statement.split_whitespace().next().unwrap_or_default();
                SqlError::Refused { what: shortened(word, MESSAGE_BYTES_MAX) }
            }
            (Error::SqlInputError { .. } | Error::NulError(_), _)
            | (_, Some(ErrorCode::Unknown | ErrorCode::TypeMismatch)) => self.invalid(&error),
            // All other errors that a statement can cause with a function of SQLite's also have code 1.
            (Error::SqliteFailure(code, _), _) if code.extended_code & 0xff == 1 => self.invalid(&error),
            _ if error.to_string().contains("pattern too complex") => {
                SqlError::ValueTooLong { bytes: self.limits.value_bytes }
            }
            _ => SqlError::Unavailable { what: shortened(&error.to_string(), MESSAGE_BYTES_MAX) },
        }
    }

    fn invalid(&self, error: &Error) -> SqlError {
        let what = match error {
            Error::SqlInputError { msg, .. } => msg.clone(),
            Error::SqliteFailure(_, Some(message)) => message.clone(),
            other => other.to_string(),
        };
        if what.contains("pattern too complex") {
            return SqlError::ValueTooLong { bytes: self.limits.value_bytes };
        }
        let tables = shortened(&self.schema.replace('\n', ", "), HINT_BYTES_MAX);
        let what = shortened(&what, MESSAGE_BYTES_MAX);
        SqlError::Invalid { what, hint: format!("The tables are: {tables}") }
    }
}

impl fmt::Debug for SqlDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source: &dyn fmt::Debug = match &self.source {
            Source::Script(_) => &"memory",
            Source::File(path) => path,
        };
        f.debug_struct("Database")
            .field("source", source)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Why a statement has no rows: our own finding, or SQLite's.
enum Failure {
    Own(SqlError),
    Sqlite(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Confined {
    fn select(&self, text: &str, limits: &SqlLimits) -> Result<Rows, Failure> {
        // SQLite would read the statement up to there and ignore the rest.
        if text.contains('\0') {
            let what = "there is a NUL character".to_owned();
            return Err(Failure::Own(SqlError::Invalid { what, hint: "Leave it out.".to_owned() }));
        }
        let mut statement = self.connection.prepare(text)?;
        refuse_unfit(&statement, text).map_err(Failure::Own)?;
        let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let width = columns.len();
        let mut result = Rows { columns, rows: Vec::new(), cut: None };
        let mut bytes = result.to_string().len();
        let mut selected = statement.raw_query();
        while let Some(row) = selected.next()? {
            // Only a further row shows that something is left out.
            if result.rows.len() == limits.rows {
                result.cut = Some(Cut::Rows);
                break;
            }
            let values = (0..width).map(|place| row.get_ref(place).map(SqlValue::from));
            let values = values.collect::<rusqlite::Result<Vec<SqlValue>>>()?;
            // A separator behind each cell, as in the text.
            bytes += values.iter().map(|value| value.to_string().len() + " | ".len()).sum::<usize>();
            if bytes > limits.result_bytes {
                result.cut = Some(Cut::Bytes);
                break;
            }
            result.rows.push(values);
        }
        Ok(result)
    }
}

/// What the authorizer does not see.
fn refuse_unfit(statement: &Statement<'_>, text: &str) -> Result<(), SqlError> {
    // Blanks and comments alone are a statement without columns.
    if statement.column_count() == 0 && statement.readonly() && statement.parameter_count() == 0 {
        return Err(SqlError::Empty);
    }
    if !statement.readonly() || statement.column_count() == 0 {
        let word = text.split_whitespace().next().unwrap_or_default();
        return Err(SqlError::Refused { what: shortened(word, MESSAGE_BYTES_MAX) });
    }
    if statement.parameter_count() > 0 {
        return Err(SqlError::Parameters);
    }
    Ok(())
}

/// Builds a database in memory.
fn build(texts: &[String]) -> Result<(Connection, Budget), DatabaseError> {
    let refuse = |what: String| DatabaseError::Script { what: shortened(&what, MESSAGE_BYTES_MAX) };
    let failed = |error: Error| refuse(error.to_string());
    let connection = Connection::open_in_memory().map_err(failed)?;
    let budget = Budget::of(&connection).map_err(failed)?;
    let seen = confine_building(&connection).map_err(failed)?;
    budget.grant(BUILDING_STEPS_MAX, BUILDING_TIME_MAX);
    for text in texts {
        connection.execute_batch(text).map_err(|error| match (seen.refused(), budget.spent()) {
            (Some(what), _) => refuse(format!("{what} is not allowed there")),
            (None, Some(_)) => refuse("it takes too long".to_owned()),
            (None, None) => failed(error),
        })?;
    }
    if !connection.is_autocommit() {
        return Err(refuse("a transaction was begun and not ended".to_owned()));
    }
    release(&connection).map_err(failed)?;
    Ok((connection, budget))
}

/// Opens a file as one that nobody changes, so that SQLite creates neither a lock nor a file beside it.
fn open(path: &Path) -> Result<(Connection, Budget), DatabaseError> {
    let refuse = |what: String| DatabaseError::File { path: path.to_owned(), what };
    let failed = |error: Error| refuse(error.to_string());
    let text =
        path.to_str().ok_or_else(|| refuse("its path is no UTF-8; give it another name".to_owned()))?;
    let uri = format!("file:{}?mode=ro&immutable=1", utf8_percent_encode(text, PATH));
    // Without SQLite's own mutex: a connection is in use by one thread at a time, which takes it from the idle ones.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags).map_err(failed)?;
    let budget = Budget::of(&connection).map_err(failed)?;
    // For the listing of the tables, all that happens before the first statement.
    budget.grant(BUILDING_STEPS_MAX, BUILDING_TIME_MAX);
    Ok((connection, budget))
}

/// At most `bytes_max` bytes of a text, cut between two characters, with a mark where something was left out.
fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}...", &text[..text.floor_char_boundary(bytes_max)])
}
