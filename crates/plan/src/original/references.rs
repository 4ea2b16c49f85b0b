//! How the published code reads ids and references.

use std::fmt;

use serde_json::Value as Json;

use super::{Unexpected, unexpected};
use crate::text::OPENING;

/// The id of a step, as Python compares keys: `1`, `1.0` and `True` are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Id {
    Number(i64),
    Other(String),
}

/// A reference in a text: `<node-`, digits, `>.`, letters.
pub(super) struct Found<'t> {
    /// All of it.
    pub(super) text: &'t str,
    pub(super) key: &'t str,
}

/// The id that a value is.
pub(super) fn id(value: &Json) -> Result<Id, Unexpected> {
    Ok(match value {
        Json::Null => return unexpected("an id is null"),
        Json::Array(_) | Json::Object(_) => return unexpected("an id is a list or an object"),
        Json::Bool(it) => Id::Number(i64::from(*it)),
        Json::Number(number) => {
            // Below this bound a whole float is an exact integer.
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15);
            match number.as_i64().or(whole.map(|float| float as i64)) {
                Some(number) => Id::Number(number),
                None => Id::Other(number.to_string()),
            }
        }
        Json::String(text) => Id::Other(format!("\"{text}\"")),
    })
}

/// The id that the published code reads: only the character after `<node-`.
pub(super) fn first_digit(text: &str) -> Result<Id, Unexpected> {
    match text.chars().nth(OPENING.len()).and_then(|digit| digit.to_digit(10)) {
        Some(digit) => Ok(Id::Number(i64::from(digit))),
        None => unexpected(format!("`{OPENING}` is not followed by a digit")),
    }
}

/// All non-overlapping references of a text.
pub(super) fn find(text: &str) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(place) = rest.find(OPENING) {
        rest = &rest[place..];
        let number = &rest[OPENING.len()..];
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let key = number[digits..].strip_prefix(">.").unwrap_or_default();
        let letters = key.bytes().take_while(u8::is_ascii_alphabetic).count();
        if digits > 0 && letters > 0 {
            let length = OPENING.len() + digits + ">.".len() + letters;
            found.push(Found { text: &rest[..length], key: &key[..letters] });
            rest = &rest[length..];
        } else {
            // Only the opening is skipped, because the rest may contain another one.
            rest = number;
        }
    }
    found
}

/// The values that Python visits when it traverses a value.
pub(super) fn items(value: &Json) -> Result<&[Json], Unexpected> {
    match value {
        Json::Array(items) => Ok(items),
        // Nothing to visit raises nothing, so an empty object passes as an empty plan.
        Json::Object(entries) if entries.is_empty() => Ok(&[]),
        Json::String(text) if text.is_empty() => Ok(&[]),
        _ => unexpected("the plan is no list of steps"),
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Other(text) => write!(out, "{text}"),
        }
    }
}
