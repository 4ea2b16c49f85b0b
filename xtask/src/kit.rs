//! Our values for every input of a kit, one JSON line each, to be compared with the original implementation's.

mod behaviour;
mod mnms;
mod qa;

use std::path::Path;

use anyhow::{Result, bail};

/// Names of the kits.
const KITS: [&str; 3] = ["behaviour", "mnms", "qa"];

/// Our values for the kit of this name in a directory, as the original implementations would give them.
///
/// # Errors
/// There is no such kit, or a file of it is missing or makes no sense.
pub(crate) fn lines(name: &str, directory: &Path) -> Result<Vec<String>> {
    match name {
        "behaviour" => behaviour::lines(directory),
        "mnms" => mnms::lines(directory),
        "qa" => qa::lines(directory),
        _ => bail!("there is no kit `{name}`; there is {}", KITS.join(", ")),
    }
}
