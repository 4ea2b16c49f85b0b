//! Our values for every input of a kit, one JSON line each, to be compared with the original implementation's.

mod apibank;
mod behaviour;
mod mnms;
mod qa;
mod travelplanner;

use std::path::Path;

use anyhow::{Result, bail};

/// Names of the kits.
const KITS: [&str; 5] = ["apibank", "behaviour", "mnms", "qa", "travelplanner"];

/// Our values for the kit of this name in a directory, as the original implementations would give them.
///
/// # Errors
/// There is no such kit, or a file of it is missing or makes no sense.
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
