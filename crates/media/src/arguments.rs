//! The arguments of a call.
//!
//! Missing and superfluous arguments are usually detected before a call arrives here. Here the values are checked,
//! because they may come from other tools.

use serde_json::{Map, Value};

use crate::failure::{ToolFailure, quoted};

/// Most bytes of a text that is given to a tool.
pub const TEXT_BYTES_MAX: usize = 64 << 10;
/// Most objects in a list that is given to a tool.
pub const OBJECTS_MAX: usize = 1000;
/// Most digits of a whole number.
const DIGITS_MAX: usize = 30;

/// The arguments of one call.
#[derive(Clone, Copy)]
pub(crate) struct Given<'c>(pub(crate) &'c Map<String, Value>);

impl<'c> Given<'c> {
    fn value(self, name: &str) -> Result<&'c Value, ToolFailure> {
        self.0.get(name).ok_or_else(|| ToolFailure::call(format!("the argument `{name}` is missing")))
    }

    /// A text. Numbers and truth values count as their written form, because a plan may pass the count of one tool as
    /// the text of another.
    pub(crate) fn text(self, name: &str) -> Result<String, ToolFailure> {
        let text = match self.value(name)? {
            Value::String(text) => text.clone(),
            value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
            other => return Err(wrong(name, "a text", other)),
        };
        if text.len() > TEXT_BYTES_MAX {
            let bytes = text.len();
            return Err(ToolFailure::call(format!(
                "`{name}` has {bytes} bytes; {TEXT_BYTES_MAX} are allowed: give a shorter text"
            )));
        }
        Ok(text)
    }

    /// A text in which something stands.
    pub(crate) fn filled_text(self, name: &str) -> Result<String, ToolFailure> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            return Err(ToolFailure::call(format!("`{name}` is empty: say what is meant")));
        }
        Ok(text)
    }

    /// The name of a file.
    pub(crate) fn file(self, name: &str) -> Result<&'c str, ToolFailure> {
        match self.value(name)? {
            Value::String(file) => Ok(file),
            other => Err(wrong(name, "the name of a file", other)),
        }
    }

    /// An integer in decimal digits, with its sign, given as a number or as a text.
    pub(crate) fn integer(self, name: &str) -> Result<String, ToolFailure> {
        let value = self.value(name)?;
        let text = match value {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.trim().to_owned(),
            other => return Err(wrong(name, "a whole number", other)),
        };
        let digits = text.strip_prefix('-').unwrap_or(&text);
        let is_number =
            (1..=DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        if is_number { Ok(text) } else { Err(wrong(name, "a whole number", value)) }
    }

    /// A list of objects, not checked yet.
    pub(crate) fn objects(self, name: &str) -> Result<&'c [Value], ToolFailure> {
        let value = self.value(name)?;
        let Value::Array(objects) = value else { return Err(wrong(name, "a list of objects", value)) };
        if objects.len() > OBJECTS_MAX {
            let count = objects.len();
            return Err(ToolFailure::call(format!(
                "`{name}` has {count} objects; {OBJECTS_MAX} are allowed: give a shorter list"
            )));
        }
        Ok(objects)
    }

    /// One object, not checked yet.
    pub(crate) fn object(self, name: &str) -> Result<&'c Map<String, Value>, ToolFailure> {
        match self.value(name)? {
            Value::Object(object) => Ok(object),
            other => Err(wrong(name, "an object such as `select object` gives", other)),
        }
    }
}

fn wrong(name: &str, wanted: &str, found: &Value) -> ToolFailure {
    ToolFailure::call(format!("`{name}` has to be {wanted}, not {}", quoted(&found.to_string())))
}
