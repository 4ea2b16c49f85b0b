//! How Python treats values parsed from JSON, because the verdicts of the published evaluator depend on it.
//!
//! Only what the evaluator needs of values is here: truth, equality, membership, subscripts, and the literals of the
//! published queries (`python/literal.rs`).

mod literal;

use std::fmt;

use planproof_measure::python::repr;
use serde_json::Value;

pub use literal::literal;

/// The exception that an operation of the published evaluator raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PythonException {
    /// The value's type does not have the method.
    Attribute,
    /// An index is out of range.
    Index,
    /// A key that is missing.
    Key,
    /// A value of the wrong type.
    Type,
    /// A text cannot be parsed.
    Value,
}

impl PythonException {
    /// The name of Python's class.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attribute => "AttributeError",
            Self::Index => "IndexError",
            Self::Key => "KeyError",
            Self::Type => "TypeError",
            Self::Value => "ValueError",
        }
    }
}

impl fmt::Display for PythonException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `bool(value)`.
pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// `one == other`. Numbers and truth values compare as numbers. The JSON parser bounds the depth.
pub fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| equal(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            ones.len() == others.len()
                && ones.iter().all(|(key, one)| others.get(key).is_some_and(|other| equal(one, other)))
        }
        _ => match (number(one), number(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// `text in container`.
///
/// # Errors
/// The value is not a container.
pub fn holds(container: &Value, text: &str) -> Result<bool, PythonException> {
    match container {
        Value::String(all) => Ok(all.contains(text)),
        Value::Array(items) => Ok(items.iter().any(|item| item == text)),
        Value::Object(members) => Ok(members.contains_key(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Err(PythonException::Type),
    }
}

/// `container[key]`.
///
/// # Errors
/// The value has no members, or none with this key.
pub fn member<'v>(container: &'v Value, key: &str) -> Result<&'v Value, PythonException> {
    match container {
        Value::Object(members) => members.get(key).ok_or(PythonException::Key),
        _ => Err(PythonException::Type),
    }
}

/// The text, when the value is passed to a text function.
///
/// # Errors
/// It is not a text.
pub fn text(value: &Value) -> Result<&str, PythonException> {
    value.as_str().ok_or(PythonException::Type)
}

/// The text, when a text method is called on the value.
///
/// # Errors
/// It is not a text.
pub fn method_of_text(value: &Value) -> Result<&str, PythonException> {
    value.as_str().ok_or(PythonException::Attribute)
}

/// `str(texts)` for a list.
pub fn list_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let written: Vec<String> = texts.into_iter().map(repr).collect();
    format!("[{}]", written.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn truth_is_pythons() {
        for value in
            [json!(null), json!(false), json!(0), json!(0.0), json!(-0.0), json!(""), json!([]), json!({})]
        {
            assert!(!is_true(&value), "{value}");
        }
        for value in [json!(true), json!(-1), json!(0.5), json!("-"), json!([null]), json!({"a": 0})] {
            assert!(is_true(&value), "{value}");
        }
    }

    #[test]
    fn numbers_and_truth_values_are_equal_as_numbers() {
        assert!(equal(&json!([1, {"a": true}]), &json!([1.0, {"a": 1}])));
        assert!(!equal(&json!(1), &json!("1")));
        assert!(!equal(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!equal(&json!(null), &json!(0)));
    }

    #[test]
    fn membership_depends_on_the_type() {
        assert_eq!(holds(&json!("from here"), "from"), Ok(true));
        assert_eq!(holds(&json!(["from here"]), "from"), Ok(false));
        assert_eq!(holds(&json!({"from": 1}), "from"), Ok(true));
        assert_eq!(holds(&json!(7), "from"), Err(PythonException::Type));
        assert_eq!(member(&json!({}), "a"), Err(PythonException::Key));
        assert_eq!(member(&json!([]), "a"), Err(PythonException::Type));
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(list_of(["a", "it's", "a\"b'c\n"]), r#"['a', "it's", 'a"b\'c\n']"#);
    }
}
