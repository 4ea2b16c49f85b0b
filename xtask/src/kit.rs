//! Prints our values for every input of a kit, one JSON line each, so that they can be compared with those of the
//! original implementation.

mod apibank;
mod behaviour;
mod mnms;
mod qa;
mod travelplanner;

use std::path::Path;

use anyhow::{Result, bail};

/// Names of the kits.
const KITS: [&str; 5] = ["apibank", "behaviour", "mnms", "qa", "travelplanner"];

/// Computes our values for the kit called `name` in a directory, in the form the original implementations would give.
///
/// # Errors
/// There is no such kit, or one of its files is missing or malformed.
pub(crate) fn lines(name: &str, directory: &Path) -> Result<Vec<String>> {
    match name {
        "apibank" => apibank::lines(directory),
        "behaviour" => behaviour::lines(directory),
        "mnms" => mnms::lines(directory),
        "qa" => qa::lines(directory),
        "travelplanner" => travelplanner::lines(directory),
        _ => bail!("there is no kit `{name}`; there is {}", KITS.join(", ")),
    }
}
