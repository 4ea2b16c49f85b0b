//! A program and where it begins.

use serde::{Deserialize, Serialize};

/// Where a program begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The whole program is executed. Its value is that of the last statement, if that is an expression.
    Whole,
    /// The whole program is executed, and then this function is called without arguments. Its value is the result.
    Function(String),
}

/// A program that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub(crate) text: String,
    pub(crate) entry: Entry,
    pub(crate) refuses_input: bool,
}

/// Texts that indicate that a program asks for input.
const INPUT: [&str; 2] = ["input(", "stdin"];

impl Program {
    /// A program that does its work at its top level.
    pub fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), entry: Entry::Whole, refuses_input: false }
    }

    /// A program that defines an entry function, such as `solve`. The name must be an identifier; anything else is a
    /// `SyntaxError` of the program.
    pub fn function(text: impl Into<String>, name: impl Into<String>) -> Self {
        Self { text: text.into(), entry: Entry::Function(name.into()), refuses_input: false }
    }

    /// Refuses the program if its text contains `input(` or `stdin` anywhere, even in a string. Without this such a
    /// program fails only when it gets there.
    #[must_use]
    pub fn refusing_input(mut self) -> Self {
        self.refuses_input = true;
        self
    }

    /// What in the text asks for input.
    pub(crate) fn refused(&self) -> Option<&'static str> {
        INPUT.into_iter().find(|found| self.refuses_input && self.text.contains(found))
    }
}
