//! A case as a line of JSON: what a suite asks of it before its own fields.

use serde::de::{Deserialize, DeserializeOwned};
use serde_json::Value;

use crate::CaseError;

/// Longest id of a case, in bytes.
pub const ID_BYTES_MAX: usize = 200;

/// Reads a case of the suite `suite` from a line of at most `bytes_max` bytes. The line names `schema`, which ends in
/// its version.
///
/// # Errors
/// The line is longer, is not JSON, names no schema or another one, or lacks a field.
pub fn read<T: DeserializeOwned>(
    line: &str,
    suite: &str,
    schema: &str,
    bytes_max: usize,
) -> Result<T, CaseError> {
    serde_json::from_value(checked(line, suite, schema, bytes_max)?).map_err(|error| no_case(schema, &error))
}

/// Reads a case like [`read`], straight from the text, so that a type which keeps the order of keys gets that of the
/// line. The line is parsed twice.
///
/// # Errors
/// Those of [`read`].
pub fn read_in_order<'l, T: Deserialize<'l>>(
    line: &'l str,
    suite: &str,
    schema: &str,
    bytes_max: usize,
) -> Result<T, CaseError> {
    checked(line, suite, schema, bytes_max)?;
    serde_json::from_str(line).map_err(|error| no_case(schema, &error))
}

/// The line as JSON. The schema is looked at before any other field, so that a line of another suite or version is
/// refused as such, and not for a field that it has or lacks.
fn checked(line: &str, suite: &str, schema: &str, bytes_max: usize) -> Result<Value, CaseError> {
    if line.len() > bytes_max {
        return Err(CaseError::new(format!("the line is longer than {bytes_max} bytes")));
    }
    let value: Value = serde_json::from_str(line).map_err(|error| no_case(schema, &error))?;
    refuse_schema(&value, suite, schema)?;
    Ok(value)
}

fn no_case(schema: &str, error: &serde_json::Error) -> CaseError {
    CaseError::new(format!("no case of {schema}: {error}"))
}

/// Refuses a line of JSON that is not a case of the suite `suite` in its schema `schema`, which ends in its version.
///
/// # Errors
/// It names no schema, or another one.
pub fn refuse_schema(value: &Value, suite: &str, schema: &str) -> Result<(), CaseError> {
    let family = schema.rsplit_once('/').map_or(schema, |(family, _)| family);
    let is_family = |other: &str| other.rsplit_once('/').is_some_and(|(other, _)| other == family);
    let what = match value.get("schema").and_then(Value::as_str) {
        Some(given) if given == schema => return Ok(()),
        Some(other) if is_family(other) => format!(
            "the case has schema `{other}`, which is another version of suite {suite}: this program reads {schema}; use \
             the version of planproof that wrote it, or make the cases again from the data"
        ),
        Some(other) => format!(
            "the case has schema `{other}`, which is not of suite {suite} ({schema}); run it with its own suite"
        ),
        None => format!(
            "the line names no schema, so it is no case of suite {suite} ({schema}); lines of the original data have to \
             be loaded as data"
        ),
    };
    Err(CaseError::new(what))
}

/// Refuses an id that is empty, longer than [`ID_BYTES_MAX`], or has control characters.
///
/// # Errors
/// It is such an id.
pub fn check_id(id: &str) -> Result<(), CaseError> {
    match id.is_empty() || id.len() > ID_BYTES_MAX || id.chars().any(char::is_control) {
        false => Ok(()),
        true => Err(CaseError::new(format!(
            "the id must have 1 to {ID_BYTES_MAX} bytes, without control characters"
        ))),
    }
}
