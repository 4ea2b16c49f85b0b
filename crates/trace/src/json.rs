//! JSON that other programs wrote: the one reader for what comes from model servers, MCP servers, workers and files of
//! others.
//!
//! Half an emoji must not cost a whole reply. Programs whose texts are UTF-16 cut characters in two and write the half
//! as an escape (`"\ud83d"`) or as its three bytes, and others cut UTF-8 in the middle of a character. Strict parsers
//! refuse the document. Here every such piece becomes U+FFFD, and so does an object's name. A byte order mark at the
//! beginning is skipped. Everything else is as strict as serde_json.
//!
//! A value takes far more memory than its text: `{"":0}` takes seven bytes there and seven hundred here. So what a
//! document would take is estimated first, and a limit on bytes is not the only one.

use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use thiserror::Error;

/// Most memory of the values of a document, in bytes as estimated.
pub const VALUES_MEMORY_MAX: usize = 256 << 20;

/// Documents of fewer bytes take less than [`VALUES_MEMORY_MAX`], whatever is in them.
const WEIGHED_BYTES_MIN: usize = 1 << 20;

/// Memory of an object with up to eleven members, which lie in it.
const OBJECT_MEMORY: usize = 640;

/// Memory of a list with up to four items, which lie in it.
const LIST_MEMORY: usize = 128;

/// Memory of one more member or item, with the room that grows ahead of them.
const COMMA_MEMORY: usize = 64;

/// Half the memory of a text beside its bytes.
const QUOTE_MEMORY: usize = 16;

/// The values of a document would take too much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it has so many values that they would take more than {} MiB of memory", VALUES_MEMORY_MAX >> 20)]
pub struct TooManyValuesInMemory;

/// What replaces bytes that are not a character.
const REPLACEMENT: &str = "\u{fffd}";

/// U+FFFD as an escape, which has the length of the escapes that it replaces.
const REPLACEMENT_ESCAPE: &[u8] = b"\\ufffd";

/// The byte order mark, which JSON does not have but some programs write.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads a document. Sound documents are parsed once, and halves of characters are not searched for in them.
///
/// # Errors
/// It is not JSON even with the halves of characters replaced, or not a `T`; the position is that in the replaced text.
/// Or it would take more than [`VALUES_MEMORY_MAX`].
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    let bytes = unmarked(bytes);
    weigh(bytes).map_err(serde_json::Error::custom)?;
    // Looking at all bytes at once is quicker than looking at those of each string in it.
    let read = match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(bytes),
    };
    read.or_else(|error| match mended(bytes) {
        Some(mended) => serde_json::from_slice(&mended),
        None => Err(error),
    })
}

/// Reads a document of any shape, as [`read`] does. It is compiled once, here, where it is optimised.
///
/// # Errors
/// It is not JSON even with the halves of characters replaced; the position is that in the replaced text. Or it would
/// take more than [`VALUES_MEMORY_MAX`].
pub fn value(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    read(bytes)
}

/// Whether the values of a document can be made: for documents that [`read`] does not read. Takes a millisecond for
/// each million bytes.
///
/// # Errors
/// They would take more than [`VALUES_MEMORY_MAX`].
pub fn weigh(bytes: &[u8]) -> Result<(), TooManyValuesInMemory> {
    at_most(bytes, memory_outside_texts)
}

/// The same of a document of which texts may be read as documents again, as results of tools are.
///
/// # Errors
/// The values of the document, and of those in its texts, would take more than [`VALUES_MEMORY_MAX`].
pub fn weigh_with_texts(bytes: &[u8]) -> Result<(), TooManyValuesInMemory> {
    at_most(bytes, |bytes| bytes.iter().map(|byte| memory_of(*byte)).sum())
}

fn at_most(bytes: &[u8], memory: fn(&[u8]) -> usize) -> Result<(), TooManyValuesInMemory> {
    let fits = bytes.len() < WEIGHED_BYTES_MIN || bytes.len() + memory(bytes) <= VALUES_MEMORY_MAX;
    if fits { Ok(()) } else { Err(TooManyValuesInMemory) }
}

/// The memory of a document's values beside the bytes of their texts.
fn memory_outside_texts(bytes: &[u8]) -> usize {
    let (mut memory, mut is_in_text, mut is_escaped) = (0, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_text,
            b'"' => {
                is_in_text = !is_in_text;
                memory += memory_of(*byte);
            }
            _ if !is_in_text => memory += memory_of(*byte),
            _ => {}
        }
    }
    memory
}

/// The memory of what a byte begins or ends outside of texts.
fn memory_of(byte: u8) -> usize {
    match byte {
        b'{' => OBJECT_MEMORY,
        b'[' => LIST_MEMORY,
        b',' => COMMA_MEMORY,
        b'"' => QUOTE_MEMORY,
        _ => 0,
    }
}

/// The document without a byte order mark.
pub fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// The document with each half of a character replaced by U+FFFD; `None` if it has none. For documents that are read
/// into borrowed types; others are read by [`read`].
pub fn mended(bytes: &[u8]) -> Option<Vec<u8>> {
    let characters = with_characters(bytes);
    let escapes = with_escapes(characters.as_deref().unwrap_or(bytes));
    escapes.or(characters)
}

/// The bytes as UTF-8; `None` if they are.
fn with_characters(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes;
    let mut out = Vec::new();
    while let Err(error) = std::str::from_utf8(rest) {
        let (sound, broken) = rest.split_at(error.valid_up_to());
        out.extend_from_slice(sound);
        out.extend_from_slice(REPLACEMENT.as_bytes());
        let length = match broken {
            // Half a pair of UTF-16, written as if it were a character: one replacement for its three bytes.
            [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] => 3,
            // Without a length, the bytes end in the middle of a character.
            _ => error.error_len().unwrap_or(broken.len()),
        };
        rest = &broken[length..];
    }
    if rest.len() == bytes.len() {
        return None;
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// The bytes without escapes of half a pair; `None` if there are none.
fn with_escapes(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(place) = bytes[at..].iter().position(|byte| *byte == b'\\').map(|place| at + place) {
        // Backslashes are in strings only, where each begins an escape. A backslash elsewhere is not JSON anyway.
        at = match unit(&bytes[place..]) {
            Some(0xd800..=0xdbff)
                if matches!(bytes.get(place + 6..).and_then(unit), Some(0xdc00..=0xdfff)) =>
            {
                place + 12
            }
            Some(0xd800..=0xdfff) => {
                let out = out.get_or_insert_with(|| bytes.to_vec());
                out[place..place + 6].copy_from_slice(REPLACEMENT_ESCAPE);
                place + 6
            }
            Some(_) => place + 6,
            None => (place + 2).min(bytes.len()),
        };
    }
    out
}

/// The unit of UTF-16 that an escape at the beginning stands for.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_of_characters_become_a_mark() {
        for (document, expected) in [
            (&br#""\ud83d""#[..], "\u{fffd}"),
            (br#""a\uD83Db""#, "a\u{fffd}b"),
            (br#""\ude00 \ud83d""#, "\u{fffd} \u{fffd}"),
            (br#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (br#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (br#""\ud83d\n\ude00""#, "\u{fffd}\n\u{fffd}"),
            (br#""\ud83d\u0041""#, "\u{fffd}A"),
            // An escaped backslash begins no escape of a character.
            (br#""\\ud83d""#, "\\ud83d"),
            (br#""\\\ud83d""#, "\\\u{fffd}"),
            (br#""\ud83d\ude00\u00e9""#, "😀é"),
            (b"\"a\xed\xa0\xbdb\"", "a\u{fffd}b"),
            (b"\"a\xf0\x9f\x98\"", "a\u{fffd}"),
            (b"\"\xff\xfe\"", "\u{fffd}\u{fffd}"),
            (b"\"\xed\xa0\xbd\\ud83d\"", "\u{fffd}\u{fffd}"),
            (b"\xef\xbb\xbf\"a\"", "a"),
        ] {
            let read: String = read(document).expect("readable");
            assert_eq!(read, expected, "{}", String::from_utf8_lossy(document));
        }
        let nested: Value = read(br#"{"\udc00": [{"a": "\ud800"}]}"#).expect("readable");
        assert_eq!(nested, json!({"\u{fffd}": [{"a": "\u{fffd}"}]}));
    }

    #[test]
    fn what_is_no_json_stays_an_error() {
        for document in
            [&b""[..], b"{", br#""\ud83"#, br#""\ud83""#, br#""\"#, b"\"\xf0\x9f", b"\xff", b"{} {}"]
        {
            assert!(read::<Value>(document).is_err(), "{}", String::from_utf8_lossy(document));
        }
    }

    /// The twin of [`memory_outside_texts`], which looks at the value instead of the text.
    fn memory(value: &Value) -> usize {
        let text = 2 * QUOTE_MEMORY;
        match value {
            Value::Array(items) => {
                LIST_MEMORY
                    + items.iter().map(memory).sum::<usize>()
                    + COMMA_MEMORY * items.len().saturating_sub(1)
            }
            Value::Object(members) => {
                let inside = members.values().map(|member| text + memory(member));
                OBJECT_MEMORY + inside.sum::<usize>() + COMMA_MEMORY * members.len().saturating_sub(1)
            }
            Value::String(_) => text,
            _ => 0,
        }
    }

    fn many(value: &str, count: usize) -> Vec<u8> {
        format!("[{}]", vec![value; count].join(",")).into_bytes()
    }

    #[test]
    #[ignore = "slow"]
    fn documents_of_too_many_values_are_refused() {
        for value in
            ["{\"\":0}", "{\"a\":[]}", "[[]]", "[0,0,0,0,0,0]", "0", "\"\"", "{\"a\":{\"b\":{\"c\":0}}}"]
        {
            let one: Value = serde_json::from_str(value).unwrap();
            let count = VALUES_MEMORY_MAX / (memory(&one) + COMMA_MEMORY + value.len() + 1);
            let (below, above) = (many(value, count * 9 / 10), many(value, count * 11 / 10));
            assert_eq!(weigh(&below), Ok(()), "{value}");
            assert_eq!(weigh(&above), Err(TooManyValuesInMemory), "{value}");
            // It is not read at all.
            let error = read::<Value>(&above).unwrap_err().to_string();
            assert_eq!(error, "it has so many values that they would take more than 256 MiB of memory");
            assert_eq!(weigh_with_texts(&above), weigh(&above), "{value}");
        }
        // What stands in a text takes the room of a text, unless the text is read as well.
        let text = serde_json::to_vec(&Value::from("{[,".repeat(1 << 20))).unwrap();
        assert_eq!(weigh(&text), Ok(()));
        assert_eq!(weigh_with_texts(&text), Err(TooManyValuesInMemory));
        let escaped = serde_json::to_vec(&Value::from("\\\"{[,".repeat(1 << 18))).unwrap();
        assert_eq!(weigh(&escaped), Ok(()));
        // A large result is none of many values.
        let rows = many(
            r#"{"id":"c-1234567","name":"Ada Lovelace","city":"London","amount":120.5,"open":true}"#,
            180_000,
        );
        assert!(rows.len() > 14 << 20 && weigh(&rows) == Ok(()) && weigh_with_texts(&rows) == Ok(()));
    }

    /// The shortest document that is weighed cannot be of too many values: none is refused for what is not counted.
    #[test]
    fn short_documents_fit_whatever_they_hold() {
        for value in ["{\"\":0}", "{}", "[]", "0", "\"\""] {
            let count = WEIGHED_BYTES_MIN / (value.len() + 1);
            let one: Value = serde_json::from_str(value).unwrap();
            assert!(count * (memory(&one) + COMMA_MEMORY + value.len() + 1) < VALUES_MEMORY_MAX, "{value}");
        }
    }

    proptest! {
        #[test]
        fn sound_documents_are_not_touched(text in "(?s)(\\\\|[a-z\"]|.){0,40}") {
            for value in [json!(text), json!([{ text.as_str(): text }])] {
                let document = value.to_string();
                prop_assert_eq!(mended(document.as_bytes()), None);
                prop_assert_eq!(read::<Value>(document.as_bytes()).unwrap(), value);
            }
        }

        #[test]
        fn memory_is_that_of_the_twin(
            value in prop_oneof![any::<u8>().prop_map(Value::from), "[\\\\\"{,a]{0,5}".prop_map(Value::from)]
                .prop_recursive(4, 40, 5, |inner| prop_oneof![
                    proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                    proptest::collection::btree_map("[\\\\\"{,a]{0,5}", inner, 0..5)
                        .prop_map(|members| Value::Object(members.into_iter().collect())),
                ]),
        ) {
            prop_assert_eq!(memory_outside_texts(value.to_string().as_bytes()), memory(&value));
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(prop_oneof![
            Just(b'\\'), Just(b'u'), Just(b'd'), Just(b'8'), Just(b'"'), Just(0xed), Just(0xa0), any::<u8>(),
        ], 0..40)) {
            if let Some(mended) = mended(&bytes) {
                prop_assert!(std::str::from_utf8(&mended).is_ok());
                prop_assert_eq!(super::mended(&mended), None);
            }
            let _ = read::<Value>(&bytes);
        }
    }
}
