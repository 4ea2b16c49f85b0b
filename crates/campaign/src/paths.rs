//! Paths that hold from any folder.

use std::path::{Path, PathBuf};

use crate::error::CampaignError;

/// The path from any folder in which a campaign may resume.
///
/// # Errors
/// It is empty or not UTF-8, or there is no current folder.
pub fn absolute(path: &Path) -> Result<PathBuf, CampaignError> {
    // Standard input has no path.
    if path.as_os_str() == "-" {
        return Ok(path.to_owned());
    }
    let whole = std::path::absolute(path)
        .map_err(|error| CampaignError::usage(format!("{}: {error}", path.display())))?;
    // Options are stored as JSON, which has no other texts.
    if whole.to_str().is_none() {
        return Err(CampaignError::usage(format!(
            "{}: this path is not UTF-8, so the campaign cannot store it: use another name",
            whole.display()
        )));
    }
    Ok(whole)
}
