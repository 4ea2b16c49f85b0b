//! JSON, parsed level by level so that the text of each number is available.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::quick::{self, Language};
use super::{Literal, LiteralError, NESTED_MAX};
use crate::python::big::read_integer;

pub(super) fn read(text: &str) -> Result<Literal, LiteralError> {
    quick::read(text, Language::Json).map_or_else(|| read_any(text), Ok)
}

/// Parses the whole text.
pub(super) fn read_any(text: &str) -> Result<Literal, LiteralError> {
    guard_depth(text)?;
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|error| LiteralError::new(format!("no JSON: {error}")))?;
    value(raw)
}

/// Rejects a text with too many brackets open at once before any recursion.
fn guard_depth(text: &str) -> Result<(), LiteralError> {
    let (mut open, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => open += 1,
            b']' | b'}' if !is_text => open = open.saturating_sub(1),
            _ => {}
        }
        if open > NESTED_MAX {
            return Err(LiteralError::new(format!("it is nested more than {NESTED_MAX} deep")));
        }
    }
    Ok(())
}

/// The depth is limited by [`guard_depth`].
fn value(raw: &RawValue) -> Result<Literal, LiteralError> {
    let text = raw.get();
    let refused = |error: serde_json::Error| LiteralError::new(format!("no JSON: {error}"));
    match text.as_bytes().first() {
        // The elements of a list or object are parsed as raw texts first, which keeps the digits of their numbers. So
        // each level scans its text again, at most `NESTED_MAX` times.
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(refused)?;
            let elements = elements.into_iter().map(value);
            Ok(Literal::List(elements.collect::<Result<_, _>>()?))
        }
        Some(b'{') => {
            let Entries(entries) = serde_json::from_str(text).map_err(refused)?;
            let entry =
                |(key, held): (&RawValue, &RawValue)| Ok((Literal::Text(string(key.get())), value(held)?));
            let entries: Result<_, LiteralError> = entries.into_iter().map(entry).collect();
            Ok(Literal::mapping(entries?))
        }
        Some(b'"') => Ok(Literal::Text(string(text))),
        Some(b't') => Ok(Literal::Bool(true)),
        Some(b'f') => Ok(Literal::Bool(false)),
        Some(b'n') => Ok(Literal::None),
        _ => Ok(number(text)),
    }
}

/// Parses a JSON number. Without a point or an exponent it is a whole number.
pub(super) fn number(text: &str) -> Literal {
    if text.contains(['.', 'e', 'E']) {
        return Literal::Float(text.parse().unwrap_or(f64::NAN));
    }
    // Python rejects a file with a longer one. Nothing is lost by keeping its digits.
    Literal::Integer(read_integer(text).unwrap_or_else(|| text.to_owned()))
}

/// The content of a JSON string that is well-formed except for lone surrogates.
fn string(raw: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return text;
    }
    // The text was accepted as raw JSON before, so only a lone surrogate can be wrong with it and escapes are
    // well-formed.
    let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    let mut units: Vec<u16> = Vec::with_capacity(inside.len());
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        let unit = match character {
            '\\' => match characters.next() {
                Some('u') => {
                    let digits: String = characters.by_ref().take(4).collect();
                    u16::from_str_radix(&digits, 16).unwrap_or_default()
                }
                Some('n') => 0x0a,
                Some('r') => 0x0d,
                Some('t') => 0x09,
                Some('b') => 0x08,
                Some('f') => 0x0c,
                Some(other) => u16::try_from(u32::from(other)).unwrap_or_default(),
                None => 0,
            },
            _ => {
                units.extend(character.encode_utf16(&mut [0; 2]).iter());
                continue;
            }
        };
        units.push(unit);
    }
    char::decode_utf16(units).map(|unit| unit.unwrap_or('\0')).collect()
}

/// The entries of an object, including those with repeated keys.
struct Entries<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
                Err(serde::de::Error::invalid_type(serde::de::Unexpected::Seq, &self))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
