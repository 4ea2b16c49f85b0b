//! The eight tables.

use std::sync::{Arc, LazyLock};

use planproof_tools::sql::{DatabaseError, SqlDatabase, SqlLimits};

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
