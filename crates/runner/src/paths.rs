//! Paths that hold from any folder.

use std::path::{Path, PathBuf};

use crate::error::RunnerError;

/// The path from any folder in which a campaign may resume.
///
/// # Errors
/// It is empty, or there is no current folder.
pub fn absolute(path: &Path) -> Result<PathBuf, RunnerError> {
    // Standard input has no path.
    if path.as_os_str() == "-" {
        return Ok(path.to_owned());
    }
    std::path::absolute(path).map_err(|error| RunnerError::usage(format!("{}: {error}", path.display())))
}
