//! Results in JSON.

use crate::failure::Failure;
use crate::terminal;

/// Writes a value as one line of JSON to stdout.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    use std::io::Write as _;
    let text = serde_json::to_string(value).map_err(|error| Failure::outside(error.to_string()))?;
    writeln!(terminal::json(), "{text}")?;
    Ok(())
}
