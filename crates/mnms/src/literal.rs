//! Plans as published and predicted: values of JSON or Python, with every digit of their numbers.

mod json;
mod python;
mod quick;

use planproof_measure::python::{float, push_repr};
use serde_json::Value;

/// Maximum nesting depth of lists and objects.
pub const NESTED_MAX: usize = 100;

/// A JSON value or a Python literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`, `None`.
    None,
    Bool(bool),
    /// A whole number of any size, as its decimal digits with a `-` if it is negative.
    Integer(String),
    /// Any other number.
    Float(f64),
    /// A text. A lone surrogate, which JSON can express but a text cannot contain, becomes a NUL: neither can occur
    /// in source.
    Text(String),
    List(Vec<Literal>),
    /// A tuple of Python.
    Tuple(Vec<Literal>),
    /// Keys with their values, in the order in which the keys first occurred. The last value of a repeated key
    /// wins.
    Mapping(Vec<(Literal, Literal)>),
}

/// Why a text is not a literal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct LiteralError {
    /// What is wrong, and where in the text.
    pub what: String,
}

impl LiteralError {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

impl Literal {
    /// Parses JSON. `NaN` is rejected; lone surrogates and numbers of any size are accepted.
    ///
    /// # Errors
    /// It is not JSON, or is nested deeper than [`NESTED_MAX`].
    pub fn from_json(text: &str) -> Result<Self, LiteralError> {
        json::read(text)
    }

    /// Parses a Python literal.
    ///
    /// # Errors
    /// It is not a literal, or is nested deeper than [`NESTED_MAX`]. Bytes, sets and complex numbers are rejected.
    pub fn from_python(text: &str) -> Result<Self, LiteralError> {
        python::read(text)
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// The value of a key, if it is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value)
    }

    /// The keys with their values, if it is a mapping.
    pub fn entries(&self) -> Option<&[(Self, Self)]> {
        match self {
            Self::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The name of its type in Python.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Integer(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Mapping(_) => "dict",
        }
    }

    /// The text that Python's `str` produces.
    pub fn python_str(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            _ => {
                let mut out = String::new();
                self.push_repr(&mut out);
                out
            }
        }
    }

    /// Appends the text that Python's `repr` produces. The depth is at most [`NESTED_MAX`].
    fn push_repr(&self, out: &mut String) {
        match self {
            Self::None => out.push_str("None"),
            Self::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
            Self::Integer(digits) => out.push_str(digits),
            Self::Float(value) => out.push_str(&float(*value)),
            Self::Text(text) => push_repr(text, out),
            Self::List(elements) => {
                out.push('[');
                push_reprs(elements, out);
                out.push(']');
            }
            Self::Tuple(elements) => {
                out.push('(');
                push_reprs(elements, out);
                if elements.len() == 1 {
                    out.push(',');
                }
                out.push(')');
            }
            Self::Mapping(entries) => {
                out.push('{');
                for (number, (key, value)) in entries.iter().enumerate() {
                    if number > 0 {
                        out.push_str(", ");
                    }
                    key.push_repr(out);
                    out.push_str(": ");
                    value.push_repr(out);
                }
                out.push('}');
            }
        }
    }

    /// The value as JSON: tuples become lists, keys become texts, and a number beyond the range of `serde_json`
    /// becomes a text.
    pub fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(digits) => match (digits.parse::<i64>(), digits.parse::<u64>()) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                _ => digits.as_str().into(),
            },
            Self::Float(value) if value.is_finite() => (*value).into(),
            Self::Float(value) => float(*value).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(elements) | Self::Tuple(elements) => elements.iter().map(Self::to_json).collect(),
            Self::Mapping(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.python_str(), value.to_json()));
                Value::Object(entries.collect())
            }
        }
    }

    /// Creates a mapping from entries that may contain repeated keys.
    fn mapping(entries: Vec<(Self, Self)>) -> Self {
        /// Up to this number of entries are searched linearly.
        const FEW: usize = 16;
        let mut kept: Vec<(Self, Self)> = Vec::with_capacity(entries.len());
        if entries.len() <= FEW {
            for (key, value) in entries {
                match kept.iter_mut().find(|(name, _)| *name == key) {
                    Some((_, held)) => *held = value,
                    None => kept.push((key, value)),
                }
            }
        } else {
            let mut places = std::collections::HashMap::new();
            for (key, value) in entries {
                // A `Literal` cannot be hashed, because it may hold a float.
                // The key is its type and its `repr` instead.
                let mut name = key.type_name().to_owned();
                key.push_repr(&mut name);
                match places.get(&name) {
                    Some(place) => kept[*place] = (key, value),
                    None => {
                        places.insert(name, kept.len());
                        kept.push((key, value));
                    }
                }
            }
        }
        Self::Mapping(kept)
    }
}

fn push_reprs(elements: &[Literal], out: &mut String) {
    for (number, element) in elements.iter().enumerate() {
        if number > 0 {
            out.push_str(", ");
        }
        element.push_repr(out);
    }
}

impl From<&Value> for Literal {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => json::number(&number.to_string()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(elements) => Self::List(elements.iter().map(Self::from).collect()),
            Value::Object(entries) => {
                let entry = |(key, value): (&String, &Value)| (Self::Text(key.clone()), Self::from(value));
                Self::Mapping(entries.iter().map(entry).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_python_writes_them() {
        let cases = [
            ("5", "5"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("1e22", "1e+22"),
            ("1E400", "inf"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("[true, null, [\"a\\\"b'\", 1.0]]", "[True, None, ['a\"b\\'', 1.0]]"),
            ("{\"a\": 1, \"b\": {}, \"a\": 2}", "{'a': 2, 'b': {}}"),
            ("\"text\"", "text"),
            ("[\"\\ud83d\\ude00\"]", "['😀']"),
        ];
        for (json, text) in cases {
            assert_eq!(
                Literal::from_json(json).map(|value| value.python_str()).as_deref(),
                Ok(text),
                "{json}"
            );
        }
    }

    #[test]
    fn literals_of_python_are_read() {
        let cases = [
            ("[{'id': 0, 'args': {'a': \"it's\" ' b'}}]", "[{'id': 0, 'args': {'a': \"it's b\"}}]"),
            (" (1, -2, +3.5, (), (None,))", "(1, -2, 3.5, (), (None,))"),
            ("{1: True, 'k': 0xff, 1: 2}", "{1: 2, 'k': 255}"),
            ("-123456789012345678901234567890", "-123456789012345678901234567890"),
            ("[\n 1,\n]", "[1]"),
        ];
        for (source, text) in cases {
            assert_eq!(
                Literal::from_python(source).map(|value| value.python_str()).as_deref(),
                Ok(text),
                "{source}"
            );
        }
        let refused = [
            "", "f(1)", "[x]", "1 + 2", "b'a'", "{1, 2}", "1j", "f'{x}'", "not True", "[1", "a = 1", "1; 2",
            "[*[1]]",
        ];
        for source in refused {
            assert!(Literal::from_python(source).is_err(), "{source}");
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for read in [Literal::from_json, Literal::from_python] {
            assert!(read(&nested(NESTED_MAX)).is_ok());
            for depth in [NESTED_MAX + 1, 10_000, 200_000] {
                let error = read(&nested(depth)).unwrap_err();
                assert!(error.what.contains("deep") || error.what.contains("brackets"), "{error}");
            }
        }
    }

    #[test]
    fn lone_surrogates_are_no_text() {
        assert_eq!(Literal::from_json("\"a\\ud800b\""), Ok(Literal::Text("a\0b".to_owned())));
        assert_eq!(Literal::from_json("\"\\udc00\\u0041\\ud800\""), Ok(Literal::Text("\0A\0".to_owned())));
    }

    #[test]
    fn many_keys_are_read_in_time() {
        let entries: Vec<String> = (0..50_000).map(|key| format!("\"k{}\": {key}", key % 40_000)).collect();
        let value = Literal::from_json(&format!("{{{}}}", entries.join(", "))).unwrap();
        assert_eq!(value.entries().unwrap().len(), 40_000);
        assert_eq!(value.get("k1"), Some(&Literal::Integer("40001".to_owned())));
    }
}
