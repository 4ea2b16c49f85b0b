//! Our values for the kit of m&m's.

mod checks;

use std::path::Path;

use anyhow::Result;

/// The lines of kinds "parser", "verifier" and "executor".
pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    checks::lines(directory)
}
