//! What a tool is, and how it fails.

use crate::python;
use crate::record::Record;
use crate::value::Dict;
use crate::world::World;

/// An error of Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {text}")]
pub struct Raised {
    /// The name of its class, such as `KeyError`.
    pub kind: String,
    /// What `str` gives of it.
    pub text: String,
}

impl Raised {
    /// An error of this class.
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), text: text.into() }
    }

    /// A `KeyError`, whose text is the key as `repr` writes it.
    pub fn key(name: &str) -> Self {
        Self::new("KeyError", python::repr_of_text(name))
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

/// Why a call has no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The tool caught it: its text is the `exception` of the record.
    #[error("{0}")]
    Caught(String),
    /// The tool did not catch it, so that there is no record.
    #[error(transparent)]
    Raised(#[from] Raised),
    /// Something outside of the call is missing, such as a database or a service. It says nothing of the caller.
    #[error("{tool} cannot be carried out: {what}")]
    Outage {
        /// Which tool.
        tool: String,
        /// What is missing, and what to do about it.
        what: String,
    },
}

impl Fault {
    /// An error that the tool catches.
    pub fn caught(text: impl Into<String>) -> Self {
        Self::Caught(text.into())
    }
}

/// Runs a tool. The arguments are complete: every parameter is there, in the order of the tool's parameters, and left
/// out ones are `None`.
pub type Call = fn(Dict, &mut World) -> Result<Record, Fault>;

/// Whether a predicted record is as good as the gold one. Some checks of the original take arguments out of both
/// records while they compare, so both may be changed.
pub type Check = fn(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised>;

/// A tool: plain data and two functions.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name, as calls have it.
    pub name: &'static str,
    /// Parameters that may be left out, which makes them `None`.
    pub optional: &'static [&'static str],
    /// What it does.
    pub call: Call,
    /// How its records compare.
    pub check: Check,
}
