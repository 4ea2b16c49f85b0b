//! Access to the tables of level 3, and shared functions that parse arguments.
//!
//! A table is stored in the world under the name of its tool, in the form in which the original's tables were
//! exported: texts and lists unchanged, tuples as lists, dictionaries with numeric keys as lists of `{"key": ..,
//! "value": ..}`, dates as texts.

use crate::api::Fault;
use crate::dates::{Format, Moment, strptime_value};
use crate::python::repr;
use crate::value::{Dict, Value};
use crate::world::{Compat, World};

/// Whether tools behave like the published code.
pub(super) fn is_original(world: &World) -> bool {
    world.compat == Compat::Original
}

/// The result of a call: its output, or why there is none.
pub(super) type Outcome = Result<Value, Fault>;

/// A part of a tool's tables.
pub(super) fn part<'w>(world: &'w World, tool: &str, part: &str) -> Result<&'w Value, Fault> {
    let found = world.get(tool).and_then(Value::as_dict).and_then(|tables| tables.get(part));
    found.ok_or_else(|| missing(tool, part))
}

/// The same, but mutable.
pub(super) fn part_mut<'w>(world: &'w mut World, tool: &str, part: &str) -> Result<&'w mut Value, Fault> {
    let found = world.get_mut(tool).and_then(Value::as_dict_mut).and_then(|tables| tables.get_mut(part));
    found.ok_or_else(|| missing(tool, part))
}

/// A part that is a list; empty if it is anything else.
pub(super) fn list<'w>(world: &'w World, tool: &str, name: &str) -> Result<&'w [Value], Fault> {
    Ok(part(world, tool, name)?.as_list().unwrap_or_default())
}

fn missing(tool: &str, part: &str) -> Fault {
    let what = format!("the databases of level 3 have no `{part}` for it; load a file that has one");
    Fault::Outage { tool: tool.to_owned(), what }
}

/// The value under a key in a dictionary. The key is a text unless the call did not come from a text.
pub(super) fn lookup<'v>(dict: &'v Value, key: &Value) -> Option<&'v Value> {
    dict.as_dict()?.get(key.as_text()?)
}

/// The value under a number in a list of keys and values.
pub(super) fn lookup_number<'v>(rows: &'v Value, key: &Value) -> Option<&'v Value> {
    let row = rows.as_list()?.iter().find(|row| field(row, "key") == Some(key))?;
    field(row, "value")
}

/// A field of a row.
pub(super) fn field<'v>(row: &'v Value, name: &str) -> Option<&'v Value> {
    row.as_dict()?.get(name)
}

/// An argument. When a tool is called, all arguments are present.
pub(super) fn argument<'v>(arguments: &'v Dict, name: &str) -> &'v Value {
    arguments.get(name).unwrap_or(&Value::None)
}

/// A dictionary with one entry.
pub(super) fn single(name: &str, value: Value) -> Value {
    Value::Dict(Dict::from([(name.to_owned(), value)]))
}

/// The value as a number, as Python computes with it.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// An argument that must be a date; the error is Python's.
pub(super) fn date_argument(arguments: &Dict, name: &str, format: Format) -> Result<Moment, Fault> {
    strptime_value(argument(arguments, name), format).map_err(|raised| Fault::Caught(raised.text))
}

/// An argument that must be a number.
pub(super) fn number_argument(arguments: &Dict, name: &str) -> Result<f64, Fault> {
    let value = argument(arguments, name);
    number(value).ok_or_else(|| Fault::caught(format!("`{name}` must be a number, not {}", repr(value))))
}

/// The text of the `KeyError` for a missing key.
pub(super) fn key_error(key: &Value) -> Fault {
    Fault::Caught(repr(key))
}

/// What the original reports if a dictionary lacks a key, or a message that says what is unknown.
pub(super) fn unknown(world: &World, what: &str, key: &Value) -> Fault {
    match is_original(world) {
        true => key_error(key),
        false => Fault::Caught(format!("There is no {what} {}.", repr(key))),
    }
}
