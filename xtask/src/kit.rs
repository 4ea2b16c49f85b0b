//! Our values for every input of a kit, one JSON line each, to be compared with the original implementation's.

mod behaviour;
mod mnms;

use std::path::Path;

use anyhow::{Result, bail};

/// Names of the kits.
const KITS: [&str; 2] = ["behaviour", "mnms"];

/// Our values for the kit of this name in a directory, as the original implementations would give them.
///
/// # Errors
/// There is no such kit, or a file of it is missing or makes no sense.
pub(crate) fn lines(name: &str, directory: &Path) -> Result<Vec<String>> {
    match name {
        "behaviour" => behaviour::lines(directory),
        "mnms" => mnms::lines(directory),
        _ => bail!("there is no kit `{name}`; there is {}", KITS.join(", ")),
    }
}
