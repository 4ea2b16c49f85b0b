//! Python's handling of texts and numbers, as far as verdicts and error texts depend on it.

use std::fmt::Write;

use planproof_measure::python::{float, push_repr};
pub use planproof_measure::python::{is_space, is_word, repr as repr_of_text, strip};

use crate::value::PythonValue;

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
        PythonValue::Float(number) => to.push_str(&float(*number)),
        PythonValue::Text(text) => push_repr(text, to),
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
                push_repr(key, to);
                to.push_str(": ");
                write_repr(to, value);
            }
            to.push('}');
        }
        // As Python writes an exception: its class, and its text in parentheses.
        PythonValue::Object(object) => {
            to.push_str(&object.kind);
            to.push('(');
            push_repr(&object.text, to);
            to.push(')');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_python_does() {
        let value: PythonValue = serde_json::from_str(r#"{"a": [1, 2.0, null, true], "b": {}}"#).unwrap();
        assert_eq!(repr(&value), "{'a': [1, 2.0, None, True], 'b': {}}");
    }
}
