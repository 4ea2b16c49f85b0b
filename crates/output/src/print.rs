//! How to print, and results in JSON.

use crate::failure::Failure;
use crate::terminal;

/// How to print, as the command line asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printing {
    /// Results are for programs: one JSON document, or JSON lines.
    pub json: bool,
    /// No progress is shown.
    pub quiet: bool,
}

/// Writes a value as one line of JSON to stdout.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    use std::io::Write as _;
    let text = serde_json::to_string(value).map_err(|error| Failure::outside(error.to_string()))?;
    writeln!(terminal::json(), "{text}")?;
    Ok(())
}
