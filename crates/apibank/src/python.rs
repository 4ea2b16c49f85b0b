//! Python's handling of texts and numbers, as far as verdicts and error texts depend on it.

use std::fmt::Write;

use crate::value::PythonValue;

/// `str.isspace` for one character: the Unicode property and four more separators.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// `str.strip` without arguments.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// What `\w` matches. Letters and digits come from Rust's tables, which count some vowel signs and circled letters
/// as letters where Python does not.
pub fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// `str.isdigit` for ASCII digits, which is false for the empty text. Digits of other scripts do not count.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `repr` of a value.
pub fn repr(value: &PythonValue) -> String {
    let mut text = String::new();
    write_repr(&mut text, value);
    text
}

/// The JSON parser limits the nesting of values, which bounds the recursion.
fn write_repr(to: &mut String, value: &PythonValue) {
    match value {
        PythonValue::None => to.push_str("None"),
        PythonValue::Bool(true) => to.push_str("True"),
        PythonValue::Bool(false) => to.push_str("False"),
        PythonValue::Int(number) => {
            let _ = write!(to, "{number}");
        }
        PythonValue::Float(number) => to.push_str(&repr_of_float(*number)),
        PythonValue::Text(text) => write_repr_of_text(to, text),
        PythonValue::List(items) => {
            to.push('[');
            for (place, item) in items.iter().enumerate() {
                to.push_str(if place == 0 { "" } else { ", " });
                write_repr(to, item);
            }
            to.push(']');
        }
        PythonValue::Dict(dict) => {
            to.push('{');
            for (place, (key, value)) in dict.iter().enumerate() {
                to.push_str(if place == 0 { "" } else { ", " });
                write_repr_of_text(to, key);
                to.push_str(": ");
                write_repr(to, value);
            }
            to.push('}');
        }
        // As Python writes an exception: its class, and its text in parentheses.
        PythonValue::Object(object) => {
            to.push_str(&object.kind);
            to.push('(');
            write_repr_of_text(to, &object.text);
            to.push(')');
        }
    }
}

/// `repr` of a text: in double quotes if it contains single quotes and no double ones, otherwise in single quotes.
pub fn repr_of_text(text: &str) -> String {
    let mut written = String::new();
    write_repr_of_text(&mut written, text);
    written
}

fn write_repr_of_text(to: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    to.push(quote);
    for character in text.chars() {
        match character {
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            _ if character == quote => {
                to.push('\\');
                to.push(quote);
            }
            _ if is_printable(character) => to.push(character),
            _ => write_escape(to, character),
        }
    }
    to.push(quote);
}

fn write_escape(to: &mut String, character: char) {
    let code = u32::from(character);
    let _ = match code {
        0..=0xff => write!(to, "\\x{code:02x}"),
        0x100..=0xffff => write!(to, "\\u{code:04x}"),
        _ => write!(to, "\\U{code:08x}"),
    };
}

/// `str.isprintable`, except for code points that Unicode has not assigned yet.
fn is_printable(character: char) -> bool {
    let is_format = matches!(u32::from(character),
        0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
        | 0xe000..=0xf8ff | 0xfeff | 0xfff9..=0xfffb | 0xe0001..=0xe007f | 0xf0000..);
    character == ' ' || !(character.is_control() || is_space(character) || is_format)
}

/// Python uses an exponent outside this range of powers of ten.
const POINT_RANGE: std::ops::Range<i32> = -4..16;

/// `repr` of a float: the shortest digits that parse back to it.
pub fn repr_of_float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Rust also finds the shortest digits, but writes the exponent in another form.
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if POINT_RANGE.contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_python_does() {
        let cases = [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (1e300, "1e+300"),
            (f64::INFINITY, "inf"),
        ];
        for (number, written) in cases {
            assert_eq!(repr_of_float(number), written);
        }
    }

    #[test]
    fn texts_are_written_as_python_does() {
        let cases = [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("'\"", "'\\'\"'"),
            ("\\\n\x01é\u{a0}", "'\\\\\\n\\x01é\\xa0'"),
            ("\u{2028}", "'\\u2028'"),
        ];
        for (text, written) in cases {
            assert_eq!(repr_of_text(text), written);
        }
        let value: PythonValue = serde_json::from_str(r#"{"a": [1, 2.0, null, true], "b": {}}"#).unwrap();
        assert_eq!(repr(&value), "{'a': [1, 2.0, None, True], 'b': {}}");
    }
}
