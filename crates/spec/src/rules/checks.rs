//! Tests of values within arguments, results and errors.

use serde_json::Value;

use super::result::inner;
use super::{Pointer, ValueList};
use crate::Pattern;
use crate::number::{JsonNumber, is_same};

/// A test of a value within arguments, a result or an error.
#[derive(Debug, Clone)]
pub struct ValueCheck {
    /// Where the value stands.
    pub pointer: Pointer,
    /// What must hold of it.
    pub test: RuleTest,
}

/// What must hold of a value.
#[derive(Debug, Clone)]
pub enum RuleTest {
    /// It is this value. Numbers are equal by value; `17` and `"17"` differ.
    Is(Value),
    /// It is there, with another value.
    IsNot(Value),
    /// It is one of these values.
    OneOf(ValueList),
    /// It is a number above this one.
    Above(JsonNumber),
    /// It is a number that is not below this one.
    AtLeast(JsonNumber),
    /// It is a number below this one.
    Below(JsonNumber),
    /// It is a number that is not above this one.
    AtMost(JsonNumber),
    /// It is a text that a regular expression matches as a whole.
    Matches(Pattern),
    /// It is of one of these types.
    Type(Vec<ValueType>),
    /// It is there, or it is not.
    Present(bool),
    /// These tests do not all hold, as of a value that is not there. None of them is `Present` or `Not`.
    Not(Vec<RuleTest>),
}

/// The types of JSON, by their names in JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// A text.
    String,
    /// Any number.
    Number,
    /// A number without a fraction, such as `17` and `17.0`.
    Integer,
    /// True or false.
    Boolean,
    /// A map of names to values.
    Object,
    /// A list.
    Array,
    /// `null`.
    Null,
}

impl ValueType {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::String, Self::Number, Self::Integer, Self::Boolean, Self::Object, Self::Array, Self::Null];

    /// Its name in JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::Null => "null",
        }
    }

    /// Whether a value is of this type.
    pub fn is_of(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.is_number() && value.as_f64().is_none_or(|number| number.fract() == 0.0),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Null => value.is_null(),
        }
    }
}

impl ValueCheck {
    /// Whether it holds in a result or an error, which may be [wrapped](super::result_of).
    pub fn holds_in_outcome(&self, outcome: Option<&Value>) -> bool {
        self.holds(outcome.map(|outcome| inner(outcome, &self.pointer)))
    }

    /// Whether it holds. A value that is not there, or of another type, fails every test but that it is absent, and
    /// passes the opposite of one that it fails.
    pub fn holds(&self, within: Option<&Value>) -> bool {
        self.test.holds(within.and_then(|value| self.pointer.target(value)))
    }
}

impl RuleTest {
    /// Whether it is only about the type of a value, and whether there is one.
    pub(super) fn is_of_type(&self) -> bool {
        match self {
            Self::Type(_) | Self::Present(_) => true,
            Self::Not(tests) => tests.iter().all(Self::is_of_type),
            _ => false,
        }
    }

    /// Whether it holds of a value, or of none.
    pub(super) fn holds(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Self::Present(present), value) => *present == value.is_some(),
            (Self::Not(tests), value) => !tests.iter().all(|test| test.holds(value)),
            (_, None) => false,
            (test, Some(value)) => test.holds_of(value),
        }
    }

    fn holds_of(&self, value: &Value) -> bool {
        let number = |compare: fn(&JsonNumber, &JsonNumber) -> bool, bound: &JsonNumber| {
            JsonNumber::of(value).is_some_and(|number| compare(&number, bound))
        };
        match self {
            Self::Is(other) => is_same(value, other),
            Self::IsNot(other) => !is_same(value, other),
            Self::OneOf(others) => others.has(value),
            Self::Above(bound) => number(JsonNumber::gt, bound),
            Self::AtLeast(bound) => number(JsonNumber::ge, bound),
            Self::Below(bound) => number(JsonNumber::lt, bound),
            Self::AtMost(bound) => number(JsonNumber::le, bound),
            Self::Matches(pattern) => value.as_str().is_some_and(|text| pattern.matches(text)),
            Self::Type(types) => types.iter().any(|one| one.is_of(value)),
            Self::Present(present) => *present,
            Self::Not(tests) => !tests.iter().all(|test| test.holds(Some(value))),
        }
    }
}
