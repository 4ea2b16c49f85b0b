//! Values of arguments, records and databases.
//!
//! API-Bank's verdicts rest on Python's equality, where `1 == 1.0` and `True == 1`, and its tools scan tables in
//! the order of their files. So dictionaries keep their order here, and equality is Python's.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::python;
use crate::python_error::PythonError;

/// A dictionary in insertion order. Equality ignores the order.
pub type Dict = IndexMap<String, PythonValue>;

/// A Python value that a tool accepts, returns or stores. Equality ([`PartialEq`]) is Python's.
///
/// The nesting of values parsed from JSON is limited by `serde_json` (128), so recursive traversal is safe.
#[derive(Debug, Clone, Default)]
pub enum PythonValue {
    /// `None`, which is JSON's `null`.
    #[default]
    None,
    Bool(bool),
    /// An integer. Integers of more than 128 bits do not occur and are not supported.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    Text(String),
    List(Vec<PythonValue>),
    /// A dictionary with texts as keys.
    Dict(Dict),
    /// An object that JSON cannot express, such as an exception that a tool returns by mistake: its class and the
    /// text that `str` gives. It equals nothing, not even another one with the same text.
    Object(PythonError),
}

impl PythonValue {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The dictionary, if it is one.
    pub fn as_dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// The mutable dictionary, if it is one.
    pub fn as_dict_mut(&mut self) -> Option<&mut Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether it is `None`.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The result of `bool`: false for `None`, zero and anything empty.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Dict(dict) => !dict.is_empty(),
            Self::Object(_) => true,
        }
    }

    /// The name of its class in Python.
    pub fn class(&self) -> &str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
            Self::Object(object) => &object.kind,
        }
    }

    /// The result of `str`: a text as it is, anything else as `repr` writes it.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Object(object) => object.text.clone(),
            other => python::repr(other),
        }
    }
}

/// Python's equality: numbers by value, `True` as 1, dictionaries regardless of order.
impl PartialEq for PythonValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::List(one), Self::List(other)) => one == other,
            (Self::Dict(one), Self::Dict(other)) => one == other,
            (Self::Float(one), Self::Float(other)) => one == other,
            (Self::Float(float), number) | (number, Self::Float(float)) => {
                number.integer().is_some_and(|integer| is_same_number(integer, *float))
            }
            _ => self.integer().is_some_and(|integer| other.integer() == Some(integer)),
        }
    }
}

impl PythonValue {
    fn integer(&self) -> Option<i128> {
        match self {
            Self::Bool(value) => Some(i128::from(*value)),
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }
}

/// Compares as Python does, without rounding the integer.
fn is_same_number(integer: i128, float: f64) -> bool {
    // The smallest float above all `i128`: 2^127.
    const BEYOND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    float.fract() == 0.0 && float.abs() < BEYOND && float as i128 == integer
}

impl From<&str> for PythonValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for PythonValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for PythonValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for PythonValue {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<i64> for PythonValue {
    fn from(number: i64) -> Self {
        Self::Int(i128::from(number))
    }
}

impl From<Dict> for PythonValue {
    fn from(dict: Dict) -> Self {
        Self::Dict(dict)
    }
}

impl From<Vec<PythonValue>> for PythonValue {
    fn from(items: Vec<PythonValue>) -> Self {
        Self::List(items)
    }
}

impl Serialize for PythonValue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            // JSON integers have 64 bits here; larger ones become floats.
            Self::Int(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                (Ok(number), _) => to.serialize_i64(number),
                (_, Ok(number)) => to.serialize_u64(number),
                _ => to.serialize_f64(*number as f64),
            },
            Self::Float(number) => to.serialize_f64(*number),
            Self::Text(text) => to.serialize_str(text),
            // JSON has no exceptions, and a record shows the text of one.
            Self::Object(object) => to.serialize_str(&object.text),
            Self::List(items) => {
                let mut list = to.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Dict(dict) => {
                let mut map = to.serialize_map(Some(dict.len()))?;
                for (key, value) in dict {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for PythonValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = PythonValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<PythonValue, E> {
        Ok(PythonValue::None)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<PythonValue, E> {
        Ok(PythonValue::Bool(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<PythonValue, E> {
        Ok(PythonValue::Int(i128::from(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<PythonValue, E> {
        Ok(PythonValue::Int(i128::from(number)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<PythonValue, E> {
        Ok(PythonValue::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<PythonValue, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<PythonValue, E> {
        Ok(PythonValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<PythonValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(PythonValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<PythonValue, A::Error> {
        let mut dict = Dict::new();
        while let Some((key, value)) = from.next_entry()? {
            dict.insert(key, value);
        }
        Ok(PythonValue::Dict(dict))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> PythonValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn equality_is_that_of_python() {
        for (one, other) in [
            ("1", "1.0"),
            ("true", "1"),
            ("false", "0.0"),
            ("[1, true]", "[1.0, 1]"),
            (r#"{"a": 1, "b": 2}"#, r#"{"b": 2.0, "a": true}"#),
            ("9007199254740992", "9007199254740992.0"),
        ] {
            assert_eq!(read(one), read(other));
            assert_eq!(read(other), read(one));
        }
        for (one, other) in
            [("1", "\"1\""), ("null", "false"), ("9007199254740993", "9007199254740992.0"), ("[]", "{}")]
        {
            assert_ne!(read(one), read(other));
            assert_ne!(read(other), read(one));
        }
        let object = PythonValue::Object(PythonError::new("Exception", "x"));
        assert_ne!(object, object.clone());
    }

    #[test]
    fn order_survives_reading_and_writing() {
        let text = r#"{"z":1,"a":[null,true,-2.5,"é"],"m":{}}"#;
        assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
    }
}
