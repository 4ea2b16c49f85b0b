//! The eight tables.

use std::sync::{Arc, LazyLock};

use planproof_suite::Unscored;
use planproof_tools::sql::{DatabaseError, Rows, SqlDatabase, SqlError, SqlLimits};

/// The statements that build the tables: the schemas of the paper's appendix A, with rows of our own.
pub const TABLES: &str = include_str!("../data/tables.sql");

static OWN: LazyLock<Result<Arc<SqlDatabase>, DatabaseError>> =
    LazyLock::new(|| SqlDatabase::built([TABLES], SqlLimits::default()).map(Arc::new));

/// The database of all tables, built at the first call and shared from then on.
///
/// # Errors
/// It cannot be built, which only happens if there is no memory left.
pub fn database() -> Result<Arc<SqlDatabase>, DatabaseError> {
    OWN.clone()
}

/// The rows of a statement, or why it has none.
///
/// # Errors
/// The database cannot be read, which is not the agent's fault.
pub(crate) fn execute(statement: &str) -> Result<Result<Rows, String>, Unscored> {
    let outside = |reason: String| Unscored::Outside { reason };
    let database = database().map_err(|error| outside(error.to_string()))?;
    match database.run(statement) {
        Err(error @ SqlError::Unavailable { .. }) => Err(outside(error.to_string())),
        // Without the hint, which lists the tables: readers of the case know them.
        Err(SqlError::Invalid { what, .. }) => Ok(Err(what)),
        result => Ok(result.map_err(|error| error.to_string())),
    }
}
