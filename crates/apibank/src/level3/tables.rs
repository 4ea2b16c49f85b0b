//! Access to the tables of level 3, and shared functions that parse arguments.
//!
//! A table is stored in the world under the name of its tool, in the form in which the original's tables were
//! exported: texts and lists unchanged, tuples as lists, dictionaries with numeric keys as lists of `{"key": ..,
//! "value": ..}`, dates as texts.

use crate::api::ApiFault;
use crate::dates::{DateFormat, LocalDateTime, strptime_value};
use crate::python::repr;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

/// Whether tools behave like the published code.
pub(super) fn is_original(world: &ApiWorld) -> bool {
    world.has_published_tools || world.compat == ApiCompat::Original
}

/// The result of a call: its output, or why there is none.
pub(super) type Outcome = Result<PythonValue, ApiFault>;

/// A part of a tool's tables.
pub(super) fn part<'w>(world: &'w ApiWorld, tool: &str, part: &str) -> Result<&'w PythonValue, ApiFault> {
    let found = world.get(tool).and_then(PythonValue::as_dict).and_then(|tables| tables.get(part));
    found.ok_or_else(|| missing(tool, part))
}

/// The same, but mutable.
pub(super) fn part_mut<'w>(
    world: &'w mut ApiWorld,
    tool: &str,
    part: &str,
) -> Result<&'w mut PythonValue, ApiFault> {
    let found =
        world.get_mut(tool).and_then(PythonValue::as_dict_mut).and_then(|tables| tables.get_mut(part));
    found.ok_or_else(|| missing(tool, part))
}

/// A part that is a list; empty if it is anything else.
pub(super) fn list<'w>(world: &'w ApiWorld, tool: &str, name: &str) -> Result<&'w [PythonValue], ApiFault> {
    Ok(part(world, tool, name)?.as_list().unwrap_or_default())
}

fn missing(tool: &str, part: &str) -> ApiFault {
    let what = format!("the databases of level 3 have no `{part}` for it; load a file that has one");
    ApiFault::Outage { tool: tool.to_owned(), what }
}

/// The value under a key in a dictionary. The key is a text unless the call did not come from a text.
pub(super) fn lookup<'v>(dict: &'v PythonValue, key: &PythonValue) -> Option<&'v PythonValue> {
    dict.as_dict()?.get(key.as_text()?)
}

/// The value under a number in a list of keys and values.
pub(super) fn lookup_number<'v>(rows: &'v PythonValue, key: &PythonValue) -> Option<&'v PythonValue> {
    let row = rows.as_list()?.iter().find(|row| field(row, "key") == Some(key))?;
    field(row, "value")
}

/// A field of a row.
pub(super) fn field<'v>(row: &'v PythonValue, name: &str) -> Option<&'v PythonValue> {
    row.as_dict()?.get(name)
}

/// An argument. When a tool is called, all arguments are present.
pub(super) fn argument<'v>(arguments: &'v Dict, name: &str) -> &'v PythonValue {
    arguments.get(name).unwrap_or(&PythonValue::None)
}

/// A dictionary with one entry.
pub(super) fn single(name: &str, value: PythonValue) -> PythonValue {
    PythonValue::Dict(Dict::from([(name.to_owned(), value)]))
}

/// The value as a number, as Python computes with it.
pub(super) fn number(value: &PythonValue) -> Option<f64> {
    match value {
        PythonValue::Bool(value) => Some(f64::from(u8::from(*value))),
        PythonValue::Int(number) => Some(*number as f64),
        PythonValue::Float(number) => Some(*number),
        _ => None,
    }
}

/// An argument that must be a date; the error is Python's.
pub(super) fn date_argument(
    arguments: &Dict,
    name: &str,
    format: DateFormat,
) -> Result<LocalDateTime, ApiFault> {
    strptime_value(argument(arguments, name), format).map_err(|raised| ApiFault::Caught(raised.text))
}

/// An argument that must be a number.
pub(super) fn number_argument(arguments: &Dict, name: &str) -> Result<f64, ApiFault> {
    let value = argument(arguments, name);
    number(value).ok_or_else(|| ApiFault::caught(format!("`{name}` must be a number, not {}", repr(value))))
}

/// The text of the `KeyError` for a missing key.
pub(super) fn key_error(key: &PythonValue) -> ApiFault {
    ApiFault::Caught(repr(key))
}

/// What the original reports if a dictionary lacks a key, or a message that says what is unknown.
pub(super) fn unknown(world: &ApiWorld, what: &str, key: &PythonValue) -> ApiFault {
    match is_original(world) {
        true => key_error(key),
        false => ApiFault::Caught(format!("There is no {what} {}.", repr(key))),
    }
}
