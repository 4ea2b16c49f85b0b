//! The permissions and the budget of a statement.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, Authorization};
use rusqlite::limits::Limit;

use super::DatabaseError;

/// Most functions that a statement may call, as SQLite counts them while preparing it. A function of a long text is a
/// single step, between two checks of the budget.
pub const FUNCTIONS_MAX: u32 = 64;
/// Longest pattern of LIKE and GLOB, in bytes. Comparing takes time in proportion to text and pattern.
pub const LIKE_PATTERN_BYTES_MAX: i32 = 256;

/// How many steps pass between two checks of the budget. Reading the clock takes a few dozen nanoseconds.
const STEPS_BETWEEN: i32 = 100;
/// Deepest expression.
const EXPRESSION_DEPTH_MAX: i32 = 100;
/// Most SELECTs that one statement combines with UNION and the like.
const COMPOUND_MAX: i32 = 50;
/// Most columns of a result.
const COLUMNS_MAX: i32 = 200;

/// The budget of one statement. None of these may be 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlLimits {
    /// Longest statement, in bytes.
    pub statement_bytes: usize,
    /// Most rows of a result. Further ones are left out, and the result says so.
    pub rows: usize,
    /// Most bytes of a result as a text. Rows that do not fit are left out, and the result says so.
    pub result_bytes: usize,
    /// Longest text, blob and row on the way to the result, in bytes, so that no statement exhausts the memory.
    pub value_bytes: usize,
    /// Most steps of SQLite's virtual machine.
    pub steps: u64,
    /// Longest time, for operations that take long in few steps.
    pub time: Duration,
}

impl Default for SqlLimits {
    /// Enough for any question about small tables: 8 KiB of statement, 200 rows and 16 KiB of result, 16 KiB for a
    /// value, 10,000,000 steps (a tenth of a second or so), and 2 seconds, in which SQLite can hardly write more than
    /// a gigabyte of long rows that it sorts into temporary files.
    fn default() -> Self {
        Self {
            statement_bytes: 8 * 1024,
            rows: 200,
            result_bytes: 16 * 1024,
            value_bytes: 16 * 1024,
            steps: 10_000_000,
            time: Duration::from_secs(2),
        }
    }
}

impl SqlLimits {
    /// Refuses text that SQLite would interpret differently.
    pub(super) fn check(&self) -> Result<(), DatabaseError> {
        const BYTES_MAX: u64 = 64 << 20;
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let milliseconds = u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX);
        for (what, value, least, most) in [
            ("bytes of a statement", number(self.statement_bytes), 1, 1_000_000),
            ("rows", number(self.rows), 1, 1_000_000),
            ("bytes of a result", number(self.result_bytes), 1, BYTES_MAX),
            // SQLite needs room for its own statements.
            ("bytes of a value", number(self.value_bytes), 1000, BYTES_MAX),
            ("steps", self.steps, 1, 1_000_000_000_000),
            ("milliseconds", milliseconds, 1, 600_000),
        ] {
            if value < least || value > most {
                return Err(DatabaseError::Limit { what, value, least, most });
            }
        }
        Ok(())
    }
}

/// Why SQLite was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spent {
    Steps,
    Time,
}

/// What one statement may still use.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    left: Arc<Mutex<Left>>,
}

#[derive(Debug)]
struct Left {
    steps: u64,
    until: Option<Instant>,
    spent: Option<Spent>,
}

impl Budget {
    /// The budget of this connection's current statement.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let left = Arc::new(Mutex::new(Left { steps: u64::MAX, until: None, spent: None }));
        let watched = Arc::clone(&left);
        connection.progress_handler(
            STEPS_BETWEEN,
            Some(move || {
                let mut left = watched.lock().unwrap_or_else(PoisonError::into_inner);
                left.steps = left.steps.saturating_sub(u64::from(STEPS_BETWEEN.unsigned_abs()));
                if left.steps == 0 {
                    left.spent = Some(Spent::Steps);
                } else if left.until.is_some_and(|until| Instant::now() >= until) {
                    left.spent = Some(Spent::Time);
                }
                left.spent.is_some()
            }),
        )?;
        Ok(Self { left })
    }

    /// Begins anew.
    pub(super) fn grant(&self, steps: u64, time: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = Left { steps, until: Instant::now().checked_add(time), spent: None };
    }

    /// What was spent, if anything was.
    pub(super) fn spent(&self) -> Option<Spent> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).spent
    }
}

/// The authorizer's findings on a statement.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    refused: Arc<Mutex<Option<String>>>,
    functions: Arc<AtomicU32>,
}

impl Seen {
    /// Forgets the statement before.
    pub(super) fn forget(&self) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.functions.store(0, Ordering::Relaxed);
    }

    /// What was refused first, in words.
    pub(super) fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether there are too many functions.
    pub(super) fn has_too_many_functions(&self) -> bool {
        self.functions.load(Ordering::Relaxed) > FUNCTIONS_MAX
    }

    fn refuse(&self, what: String) -> Authorization {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
        Authorization::Deny
    }
}

/// While the database is built from the caller's texts: allows tables and rows, and nothing outside of this
/// connection.
pub(super) fn confine_building(connection: &Connection) -> rusqlite::Result<Seen> {
    harden(connection)?;
    let seen = Seen::default();
    let watching = seen.clone();
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| match context.action {
        // Attached databases and virtual tables reach files, a pragma could undo `harden`, and nobody knows what an
        // unknown action does.
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Pragma { .. }
        | AuthAction::CreateVtable { .. }
        | AuthAction::Unknown { .. } => watching.refuse(name_of(&context.action)),
        AuthAction::Function { function_name } if is_dangerous(function_name) => {
            watching.refuse(format!("the function {function_name}()"))
        }
        _ => Authorization::Allow,
    }))?;
    Ok(seen)
}

/// The database is built: statements of our own follow, which list its tables.
pub(super) fn release(connection: &Connection) -> rusqlite::Result<()> {
    connection.authorizer(None::<fn(rusqlite::hooks::AuthContext<'_>) -> Authorization>)
}

/// From here on the connection reads and does nothing else.
pub(super) fn confine_reading(connection: &Connection, limits: &SqlLimits) -> rusqlite::Result<Seen> {
    harden(connection)?;
    // Set before the authorizer, which refuses this pragma.
    connection.execute_batch("PRAGMA query_only = ON;")?;
    let bytes = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_SQL_LENGTH, bytes(limits.statement_bytes).saturating_add(1)),
        (Limit::SQLITE_LIMIT_LENGTH, bytes(limits.value_bytes)),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LIKE_PATTERN_BYTES_MAX),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, EXPRESSION_DEPTH_MAX),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, COMPOUND_MAX),
        (Limit::SQLITE_LIMIT_COLUMN, COLUMNS_MAX),
    ] {
        connection.set_limit(limit, value)?;
    }
    let seen = Seen::default();
    let watching = seen.clone();
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } => {
            if is_dangerous(function_name) {
                return watching.refuse(format!("the function {function_name}()"));
            }
            watching.functions.fetch_add(1, Ordering::Relaxed);
            // Denied without words: whoever interprets the error looks at the count first.
            if watching.has_too_many_functions() { Authorization::Deny } else { Authorization::Allow }
        }
        AuthAction::Pragma { pragma_name, .. } if is_harmless(pragma_name) => Authorization::Allow,
        ref other => watching.refuse(name_of(other)),
    }))?;
    Ok(seen)
}

/// What no connection of ours needs.
fn harden(connection: &Connection) -> rusqlite::Result<()> {
    for (config, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    ] {
        connection.set_db_config(config, value)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    Ok(())
}

/// Functions that access things outside of the database, or that only SQLite's internal tables need.
fn is_dangerous(function: &str) -> bool {
    ["load_extension", "fts3_tokenizer", "fts5_source_id", "readfile", "writefile", "edit", "sqlite_log"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(function))
}

/// Pragmas that describe tables and change nothing, with an argument or without.
fn is_harmless(pragma: &str) -> bool {
    ["table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(pragma))
}

/// What an action is called in SQL.
fn name_of(action: &AuthAction<'_>) -> String {
    let name = match action {
        AuthAction::Insert { .. } => "INSERT",
        AuthAction::Update { .. } => "UPDATE",
        AuthAction::Delete { .. } => "DELETE",
        AuthAction::CreateTable { .. } | AuthAction::CreateTempTable { .. } => "CREATE TABLE",
        AuthAction::CreateIndex { .. } | AuthAction::CreateTempIndex { .. } => "CREATE INDEX",
        AuthAction::CreateView { .. } | AuthAction::CreateTempView { .. } => "CREATE VIEW",
        AuthAction::CreateTrigger { .. } | AuthAction::CreateTempTrigger { .. } => "CREATE TRIGGER",
        AuthAction::CreateVtable { .. } => "CREATE VIRTUAL TABLE",
        AuthAction::DropTable { .. } | AuthAction::DropTempTable { .. } => "DROP TABLE",
        AuthAction::DropIndex { .. } | AuthAction::DropTempIndex { .. } => "DROP INDEX",
        AuthAction::DropView { .. } | AuthAction::DropTempView { .. } => "DROP VIEW",
        AuthAction::DropTrigger { .. } | AuthAction::DropTempTrigger { .. } => "DROP TRIGGER",
        AuthAction::DropVtable { .. } => "DROP TABLE",
        AuthAction::AlterTable { .. } => "ALTER TABLE",
        AuthAction::Attach { .. } => "ATTACH",
        AuthAction::Detach { .. } => "DETACH",
        AuthAction::Transaction { .. } => "a transaction",
        AuthAction::Savepoint { .. } => "a savepoint",
        AuthAction::Reindex { .. } => "REINDEX",
        AuthAction::Analyze { .. } => "ANALYZE",
        AuthAction::Pragma { pragma_name, .. } => return format!("PRAGMA {pragma_name}"),
        _ => "this statement",
    };
    name.to_owned()
}
