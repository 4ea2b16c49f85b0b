//! JSON read so that no other reader can understand it differently.
//!
//! Readers disagree on a key that stands twice, on bytes that are not a text, and on where a line ends: these are
//! errors here. They also disagree on keys that differ in case only, and on integers that a float cannot hold, which
//! matter in calls alone.

use std::fmt;

use planproof_trace::json;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
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
    json::weigh_with_texts(line).map_err(|error| format!("the message cannot be read: {error}"))?;
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
    /// Not JSON, or of more values than are read.
    Unread,
}

/// Reads a line of a server as clients do: halves of characters are mended.
pub(crate) fn of_server(line: &[u8]) -> ServerLine {
    // Its texts are read as well, where they are results.
    if json::weigh_with_texts(line).is_err() {
        return ServerLine::Unread;
    }
    match json::read::<Strict>(line) {
        Ok(Strict(value)) => ServerLine::Read(value),
        Err(error) if error.to_string().contains(TWICE) => ServerLine::Ambiguous,
        Err(_) => ServerLine::Unread,
    }
}

/// Why JSON of others is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnreadJson {
    /// It is not JSON.
    NotJson {
        /// It ends too early.
        is_cut: bool,
    },
    /// It is JSON of which something would be lost, or that others read differently: why, in a sentence without a full
    /// stop.
    Unheld(String),
}

impl UnreadJson {
    /// Of bytes that could not be read as a value for this reason. `is_whole` says of bytes whether they are JSON for
    /// whoever keeps nothing of it.
    fn of(bytes: &[u8], error: &serde_json::Error, is_whole: fn(&[u8]) -> bool) -> Self {
        if is_whole(bytes) {
            Self::Unheld(error.to_string())
        } else if without_foreign_numbers(bytes).is_some_and(|bytes| is_whole(&bytes)) {
            Self::Unheld("it has `NaN` or `Infinity`, which JSON does not have".to_owned())
        } else {
            Self::NotJson { is_cut: error.is_eof() }
        }
    }
}

/// The numbers that Python and JavaScript write and JSON does not have.
const FOREIGN_NUMBERS: [&[u8]; 2] = [b"NaN", b"Infinity"];

/// JSON with zeros in place of such numbers; `None` if it has none.
fn without_foreign_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut replaced, mut at) = (None, 0);
    while let Some(byte) = bytes.get(at) {
        if *byte == b'"' {
            at = crate::loose::end_of_text(bytes, at);
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let found = FOREIGN_NUMBERS.into_iter().find(|number| rest.starts_with(number));
        if let Some(number) = found {
            let copy: &mut Vec<u8> = replaced.get_or_insert_with(|| bytes.to_vec());
            copy[at..at + number.len()].fill(b' ');
            copy[at] = b'0';
        }
        at += found.map_or(1, <[u8]>::len);
    }
    replaced
}

/// Reads a JSON value as it was recorded: halves of characters are mended, and nothing else is lost.
///
/// # Errors
/// It is not JSON; or it nests too deeply, has a key twice, or a number that would not be kept with all its digits.
pub fn read_held(bytes: &[u8]) -> Result<Value, UnreadJson> {
    match json::read::<Strict>(bytes) {
        Ok(Strict(value)) => digits_lost(bytes).map_or(Ok(value), |why| Err(UnreadJson::Unheld(why))),
        Err(error) => Err(UnreadJson::of(bytes, &error, |bytes| json::read::<IgnoredAny>(bytes).is_ok())),
    }
}

/// Reads JSON values that follow each other, in the same way: each with where it begins, up to the first that cannot be
/// read. Halves of characters have to be mended already.
pub fn read_all_held(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<Value, UnreadJson>)> {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Strict>();
    let mut is_over = false;
    std::iter::from_fn(move || {
        let begin = stream.byte_offset();
        let next = stream.next().filter(|_| !is_over)?;
        is_over = next.is_err();
        let rest = bytes.get(begin..).unwrap_or_default();
        let read = match next {
            Ok(Strict(value)) => {
                let own = bytes.get(begin..stream.byte_offset()).unwrap_or_default();
                digits_lost(own).map_or(Ok(value), |why| Err(UnreadJson::Unheld(why)))
            }
            Err(error) => Err(UnreadJson::of(rest, &error, |bytes| {
                let first = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>().next();
                matches!(first, Some(Ok(IgnoredAny)))
            })),
        };
        Some((begin, read))
    })
}

/// The digits that a float always keeps.
const FLOAT_DIGITS: usize = 17;

/// Why JSON that is otherwise read as it is would lose something, in a sentence without a full stop: a number in it is
/// not an integer of 64 bits, and has more digits than a float.
pub fn digits_lost(bytes: &[u8]) -> Option<String> {
    let number = long_number(bytes)?;
    Some(format!("the number {number} has more digits than are kept"))
}

/// Whether a byte is one of a number without sign and exponent.
fn is_of_number(byte: &u8) -> bool {
    byte.is_ascii_digit() || *byte == b'.'
}

/// Whether more such bytes than a float keeps digits follow each other, in a text or outside of one. Most lines have no
/// such row, and are not read further.
fn has_long_row(bytes: &[u8]) -> bool {
    fn row<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
        bytes.take(FLOAT_DIGITS + 1).take_while(|byte| is_of_number(byte)).count()
    }
    let is_within = |at: usize| {
        let (before, behind) = bytes.split_at(at);
        let after = row(behind.iter());
        after > 0 && after + row(before.iter().rev()) > FLOAT_DIGITS
    };
    // Each such row has one of these places in it.
    (FLOAT_DIGITS..bytes.len()).step_by(FLOAT_DIGITS + 1).any(is_within)
}

/// The first such number.
fn long_number(bytes: &[u8]) -> Option<String> {
    if !has_long_row(bytes) {
        return None;
    }
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'"' {
            at = crate::loose::end_of_text(bytes, at);
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_of_number(byte) || **byte == b'-').count();
        let number = std::str::from_utf8(rest.get(..length).unwrap_or_default()).unwrap_or_default();
        let is_held = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
        let digits: String = number.chars().filter(char::is_ascii_digit).collect();
        if !is_held && digits.trim_matches('0').len() > FLOAT_DIGITS {
            return Some(number.to_owned());
        }
        at += length.max(1);
    }
    None
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
pub(crate) struct Strict(pub(crate) Value);

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
    use proptest::prelude::*;

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
        // A message of sixteen megabytes would take six gigabytes.
        let many = format!("{{\"a\":[{}]}}", vec!["{\"\":0}"; 2_000_000].join(","));
        assert!(read(many.as_bytes()).is_err_and(|error| error.contains("more than 256 MiB of memory")));
        assert!(matches!(of_server(many.as_bytes()), ServerLine::Unread));
        let text = serde_json::json!({ "a": many }).to_string();
        assert!(matches!(of_server(text.as_bytes()), ServerLine::Unread));
        assert!(read(&[b'['; 500]).is_err_and(|error| error.contains("recursion limit")));
        assert_eq!(read(b"{\"a\":[1,-2.5,null,true,\"\\u00e9\\/\"]}\r").unwrap()["a"][4], "\u{e9}/");
    }

    #[test]
    fn nothing_of_a_record_is_lost_unnoticed() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let cut = deep(300).trim_end_matches(']').to_owned();
        for (text, expected) in [
            ("[1, 18446744073709551615, -9223372036854775808, 1e308, 0.30000000000000004]", Ok(())),
            ("[100000000000000000000, 0.00000000000000000000012, 1234567890123456.50]", Ok(())),
            ("\"123456789012345678901234567890\"", Ok(())),
            ("{\"a\":\"\\\"12345678901234567890123456\"}", Ok(())),
            (&deep(120), Ok(())),
            (&deep(130), Err("recursion limit")),
            ("{\"a\":1e999}", Err("number out of range")),
            ("{\"a\":123456789012345678901}", Err("the number 123456789012345678901 has more digits")),
            ("[-18446744073709551617]", Err("has more digits")),
            ("[0.1000000000000000055]", Err("has more digits")),
            ("{\"a\":1,\"a\":1}", Err("stands twice")),
            ("{\"a\":NaN}", Err("`NaN`")),
            ("[-Infinity, \"NaN\"]", Err("`NaN`")),
            ("{\"a\":nan}", Err("NotJson")),
            (&cut, Err("NotJson")),
            ("{\"a\":", Err("is_cut: true")),
        ] {
            let read = read_held(text.as_bytes());
            let streamed = read_all_held(text.as_bytes()).next().expect("a value").1;
            assert_eq!(read, streamed, "{text}");
            match expected {
                Ok(()) => assert!(read.is_ok(), "{text}: {read:?}"),
                Err(why) => {
                    let fault = format!("{:?}", read.unwrap_err());
                    assert!(fault.contains(why), "{text}: {fault}");
                }
            }
        }
        let several: Vec<usize> =
            read_all_held(b"{} [1]\n{\"a\":1e999} {}").map(|(begin, _)| begin).collect();
        assert_eq!(several, [0, 2, 6], "up to the first that cannot be read");
    }

    proptest! {
        #[test]
        fn long_rows_are_found(text in "([0-9.]{0,20}|[a,]{0,3}){0,6}") {
            let plain = text.split(|mark: char| !mark.is_ascii_digit() && mark != '.').any(|row| row.len() > 17);
            prop_assert_eq!(has_long_row(text.as_bytes()), plain);
        }
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
