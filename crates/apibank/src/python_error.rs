//! Exceptions of Python.

use planproof_measure::python::repr;

/// An error of Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {text}")]
pub struct PythonError {
    /// The name of the exception's class, such as `KeyError`.
    pub kind: String,
    /// What `str` gives of it.
    pub text: String,
}

impl PythonError {
    /// An error of this class.
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), text: text.into() }
    }

    /// A `KeyError`, whose text is the key as `repr` writes it.
    pub fn key(name: &str) -> Self {
        Self::new("KeyError", repr(name))
    }

    /// An `AssertionError`.
    pub fn assertion(text: impl Into<String>) -> Self {
        Self::new("AssertionError", text)
    }

    /// A `TypeError`.
    pub fn types(text: impl Into<String>) -> Self {
        Self::new("TypeError", text)
    }
}
