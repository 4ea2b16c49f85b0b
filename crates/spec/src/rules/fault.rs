//! Faults of a file of rules, with their places.

use std::fmt;

/// A place in a file of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RulesPlace {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
}

impl fmt::Display for RulesPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something wrong with a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: RulesPlace,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Fault {
    pub(super) fn error(place: RulesPlace, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Fault {
    /// `LINE:COLUMN: what is wrong; what to do`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.message, self.help)
    }
}
