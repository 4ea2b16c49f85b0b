//! Values across the boundary: those that JSON can represent, and no others.

use std::fmt::{self, Write};

use monty_types::MontyObject;
use serde_json::{Map, Number, Value};

use crate::limits::{MESSAGE_BYTES_MAX, VALUE_DEPTH_MAX};

/// Why a value does not cross.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotJson {
    /// JSON has no such thing.
    Kind(String),
    /// It takes more bytes than are left.
    TooLarge,
}

/// Converts values to JSON within a limit in bytes.
pub(super) struct Writer {
    bytes_left: usize,
}

impl Writer {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_left: bytes_max }
    }

    pub(super) fn value(&mut self, object: &MontyObject) -> Result<Value, NotJson> {
        self.at_depth(object, 0)
    }

    /// A dict, or keyword arguments.
    pub(super) fn members<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = &'a (MontyObject, MontyObject)>,
    ) -> Result<Map<String, Value>, NotJson> {
        self.members_at(pairs, 0)
    }

    fn at_depth(&mut self, object: &MontyObject, depth: usize) -> Result<Value, NotJson> {
        if depth > VALUE_DEPTH_MAX {
            return Err(kind(format!("a value nested more than {VALUE_DEPTH_MAX} deep")));
        }
        // For the comma or the colon after it.
        self.take(1)?;
        Ok(match object {
            MontyObject::None => self.scalar(Value::Null)?,
            MontyObject::Bool(value) => self.scalar(Value::Bool(*value))?,
            MontyObject::Int(value) => self.scalar((*value).into())?,
            MontyObject::BigInt(value) => {
                let value =
                    u64::try_from(value).map_err(|_| kind("an integer of more than 64 bits".into()))?;
                self.scalar(value.into())?
            }
            MontyObject::Float(value) => {
                let number = Number::from_f64(*value).ok_or_else(|| kind(format!("the number {value}")))?;
                self.scalar(Value::Number(number))?
            }
            MontyObject::String(text) => Value::String(self.text(text)?),
            MontyObject::List(items) | MontyObject::Tuple(items) => {
                self.take(2)?;
                Value::Array(
                    items.iter().map(|item| self.at_depth(item, depth + 1)).collect::<Result<_, _>>()?,
                )
            }
            MontyObject::Dict(pairs) => Value::Object(self.members_at(pairs, depth)?),
            // Functions and other things without a representation as a value.
            MontyObject::Repr(text) => return Err(kind(cut(text))),
            MontyObject::Cycle(..) => return Err(kind("a value that contains itself".into())),
            other => return Err(kind(format!("a value of type {}", other.type_name()))),
        })
    }

    fn members_at<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = &'a (MontyObject, MontyObject)>,
        depth: usize,
    ) -> Result<Map<String, Value>, NotJson> {
        self.take(2)?;
        let mut members = Map::new();
        for (key, value) in pairs {
            let MontyObject::String(key) = key else {
                return Err(kind(format!("a dict with a key of type {}", key.type_name())));
            };
            members.insert(self.text(key)?, self.at_depth(value, depth + 1)?);
        }
        Ok(members)
    }

    fn scalar(&mut self, value: Value) -> Result<Value, NotJson> {
        /// The longest number.
        const BYTES: usize = 24;
        self.take(BYTES)?;
        Ok(value)
    }

    fn text(&mut self, text: &str) -> Result<String, NotJson> {
        // A control character takes up to six bytes in JSON.
        let escaped: usize = text.bytes().map(|byte| if byte < b' ' { 6 } else { 1 }).sum();
        let quoted = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        self.take(escaped + quoted + 2)?;
        Ok(text.to_owned())
    }

    fn take(&mut self, bytes: usize) -> Result<(), NotJson> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(NotJson::TooLarge)?;
        Ok(())
    }
}

fn kind(what: String) -> NotJson {
    NotJson::Kind(what)
}

/// The host's value in Python's types.
pub(super) fn from_json(value: Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(value) => MontyObject::Bool(value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => MontyObject::Int(value),
            (None, Some(value)) => MontyObject::BigInt(value.into()),
            (None, None) => MontyObject::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => MontyObject::String(text),
        Value::Array(items) => MontyObject::List(items.into_iter().map(from_json).collect()),
        Value::Object(members) => MontyObject::dict(
            members
                .into_iter()
                .map(|(key, value)| (MontyObject::String(key), from_json(value)))
                .collect::<Vec<_>>(),
        ),
    }
}

/// The beginning of a value's `repr`.
pub(super) fn repr(object: &MontyObject) -> String {
    let mut beginning = Beginning(String::new());
    // An error means that the limit is reached.
    let _ = match object {
        MontyObject::Repr(text) => beginning.write_str(text),
        other => write!(beginning, "{other}"),
    };
    beginning.0
}

/// Text up to [`MESSAGE_BYTES_MAX`] bytes; then the writer is stopped.
struct Beginning(String);

impl Write for Beginning {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Does not underflow: no more than this is ever written.
        let fits = text.floor_char_boundary(MESSAGE_BYTES_MAX - self.0.len());
        self.0.push_str(&text[..fits]);
        if fits == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The beginning of a text, at most [`MESSAGE_BYTES_MAX`] bytes.
pub(super) fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MESSAGE_BYTES_MAX)].to_owned()
}
