//! JSON read so that no other reader can understand it differently.
//!
//! Readers disagree on a key that stands twice, on bytes that are not a text, and on where a line ends: these are
//! errors here. They also disagree on keys that differ in case only, and on integers that a float cannot hold, which
//! matter in calls alone.

use std::fmt;

use planproof_trace::json;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What is said of a key that an object has twice.
const TWICE: &str = "stands twice";

/// The largest integer up to which all integers are exact in a float.
pub(crate) const EXACT_MAX: u64 = 1 << 53;

/// Reads a line.
///
/// # Errors
/// What is wrong with it, in a sentence without a full stop.
pub(crate) fn read(line: &[u8]) -> Result<Value, String> {
    if std::str::from_utf8(line).is_err() {
        return Err("the message is not UTF-8".to_owned());
    }
    // A line may end with it. Elsewhere some readers take it for the end of a line, and what follows for a message.
    if line.strip_suffix(b"\r").unwrap_or(line).contains(&b'\r') {
        return Err("the message has a carriage return in it".to_owned());
    }
    match serde_json::from_slice::<Strict>(line) {
        Ok(Strict(value)) => Ok(value),
        Err(error) => Err(format!("the message is not valid JSON: {error}")),
    }
}

/// Reads what says which call has ended: halves of characters are mended, as in the results of servers. Gives also why
/// others may read it differently, if that is so, which matters in whatever asks for a call.
///
/// # Errors
/// What else is wrong with it, in a sentence without a full stop.
pub(crate) fn read_mended(line: &[u8]) -> Result<(Value, Option<String>), String> {
    read(line).map(|value| (value, None)).or_else(|fault| {
        let mended = json::mended(line).and_then(|mended| read(&mended).ok());
        mended.map(|value| (value, Some(fault.clone()))).ok_or(fault)
    })
}

/// A line of a server.
pub(crate) enum ServerLine {
    /// A message, or several.
    Read(Value),
    /// JSON with a key that stands twice, which clients read differently.
    Ambiguous,
    /// Not JSON.
    Unread,
}

/// Reads a line of a server as clients do: halves of characters are mended.
pub(crate) fn of_server(line: &[u8]) -> ServerLine {
    match json::read::<Strict>(line) {
        Ok(Strict(value)) => ServerLine::Read(value),
        Err(error) if error.to_string().contains(TWICE) => ServerLine::Ambiguous,
        Err(_) => ServerLine::Unread,
    }
}

/// Whether an integer in a value is not exact in a float, so that readers disagree on it.
pub(crate) fn has_inexact_integer(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.as_u64().is_some_and(|it| it > EXACT_MAX)
                || number.as_i64().is_some_and(|it| it.unsigned_abs() > EXACT_MAX)
                // An integer beyond 64 bits was read as a float.
                || number.as_f64().is_some_and(|it| number.is_f64() && it.fract() == 0.0 && it.abs() > EXACT_MAX as f64)
        }
        Value::Array(items) => items.iter().any(has_inexact_integer),
        Value::Object(entries) => entries.values().any(has_inexact_integer),
        _ => false,
    }
}

/// A name as readers see it that disregard case. Some letters have one form of each case only in ASCII: the long s and
/// the sign of Kelvin are letters of it to them.
pub(crate) fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// A value of which each object has each key once.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let Strict(value) = entries.next_value()?;
            if all.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {} {TWICE}", Value::from(key))));
            }
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_disagree_on_is_refused() {
        for (line, fault) in [
            (&b"{\"a\":1,\"a\":2}"[..], "the key \"a\" stands twice"),
            (b"{\"a\":1,\"\\u0061\":2}", "the key \"a\" stands twice"),
            (b"[{\"x\":{\"a\":1,\"a\":1}}]", "the key \"a\" stands twice"),
            (b"{\"a\":\"\xff\"}", "not UTF-8"),
            (b"{\"a\":\r{\"b\":1}}", "a carriage return"),
            (b"{\"a\":1} {\"b\":2}", "trailing characters"),
            (b"{\"a\":1,}", "trailing comma"),
            (b"{\"a\":NaN}", "expected value"),
            (b"{\"a\":1e400}", "out of range"),
            (b"{\"a\":\"\\ud83d\"}", "end of hex escape"),
            (b"\xef\xbb\xbf{}", "expected value"),
            (b"{'a':1}", "key must be a string"),
            (b"{/* */}", "key must be a string"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.contains(fault), "{}: {error}", String::from_utf8_lossy(line));
        }
        assert!(read(&[b'['; 500]).is_err_and(|error| error.contains("recursion limit")));
        assert_eq!(read(b"{\"a\":[1,-2.5,null,true,\"\\u00e9\\/\"]}\r").unwrap()["a"][4], "\u{e9}/");
    }

    #[test]
    fn integers_that_floats_lack_are_found() {
        for (text, expected) in [
            ("9007199254740992", false),
            ("-9007199254740992", false),
            ("9007199254740993", true),
            ("-9007199254740993", true),
            ("18446744073709551615", true),
            ("100000000000000000000000", true),
            ("0.1", false),
            ("1e15", false),
            ("{\"a\":[{\"b\":9007199254740993}]}", true),
        ] {
            assert_eq!(has_inexact_integer(&serde_json::from_str(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn names_are_compared_as_careless_readers_do() {
        for name in ["method", "Method", "METHOD", "metho\u{64}"] {
            assert_eq!(folded(name), "method");
        }
        assert_eq!(folded("param\u{17f}"), "params");
        assert_eq!(folded("\u{212a}ind"), "kind");
        assert_ne!(folded("m\u{435}thod"), "method");
    }
}
