//! How long SQLite may work on one thing.
//!
//! A file that somebody damaged or forged can hold pages that refer to each other so often that a query over a few
//! rows never ends. Whatever reads or writes a store therefore says when it begins, and SQLite gives up on what takes
//! longer than [`WORK_MAX`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// How long SQLite may take for one page of rows, one run, one chain or one transaction. In a sound file, the slowest
/// of these takes about a second on a slow disk.
pub(crate) const WORK_MAX: Duration = Duration::from_secs(30);

/// After how many steps of its virtual machine SQLite looks at the clock: about a millisecond.
const STEPS: i32 = 100_000;

/// The time at which the work that was begun last has taken too long.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    epoch: Instant,
    /// In milliseconds after `epoch`.
    until: Arc<AtomicU64>,
}

impl Patience {
    pub(crate) fn new() -> Self {
        let patience = Self { epoch: Instant::now(), until: Arc::default() };
        patience.begin();
        patience
    }

    /// Work begins that must end within [`WORK_MAX`].
    pub(crate) fn begin(&self) {
        self.set(self.elapsed_ms().saturating_add(u64::try_from(WORK_MAX.as_millis()).unwrap_or(u64::MAX)));
    }

    /// Work begins whose time grows with the file.
    pub(crate) fn begin_unlimited(&self) {
        self.set(u64::MAX);
    }

    fn set(&self, until: u64) {
        self.until.store(until, Ordering::Relaxed);
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Makes SQLite interrupt a statement of this connection when the work has taken too long.
    pub(crate) fn watch(&self, connection: &Connection) -> rusqlite::Result<()> {
        let patience = self.clone();
        connection.progress_handler(
            STEPS,
            Some(move || patience.elapsed_ms() > patience.until.load(Ordering::Relaxed)),
        )
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ErrorCode;

    use super::*;

    const ENDLESS: &str =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";

    #[test]
    fn a_query_that_never_ends_is_interrupted() {
        let connection = Connection::open_in_memory().expect("opens");
        let patience = Patience::new();
        patience.watch(&connection).expect("watches");
        patience.set(patience.elapsed_ms() + 50);
        let error = connection.query_row(ENDLESS, [], |row| row.get::<_, i64>(0)).expect_err("never ends");
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
        // What begins afterwards has its own time.
        patience.begin();
        assert_eq!(connection.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)), Ok(1));
    }
}
