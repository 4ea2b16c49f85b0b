//! Our values for the kit of m&m's.

mod checks;
mod metrics;

use std::path::Path;

use anyhow::Result;

/// Computes our values, in the form the original implementation would give.
///
/// # Errors
/// A file of the kit is missing or malformed.
pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let mut lines = metrics::lines(directory)?;
    lines.extend(checks::lines(directory)?);
    Ok(lines)
}
