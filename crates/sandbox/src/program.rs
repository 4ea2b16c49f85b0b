//! A program and where it begins.

use serde::{Deserialize, Serialize};

/// Where a program begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// All of it is executed. Its value is that of the last statement, if that is an expression.
    Whole,
    /// All of it is executed, and then this function called, without arguments. Its value is what that returns.
    Function(String),
}

/// A program that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub(crate) text: String,
    pub(crate) entry: Entry,
    pub(crate) refuses_input: bool,
}

/// Texts by which a program is taken to ask for input.
const INPUT: [&str; 2] = ["input(", "stdin"];

impl Program {
    /// A program that does its work at its top level.
    pub fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), entry: Entry::Whole, refuses_input: false }
    }

    /// A program that defines a function in which the work is, such as `solve`. The name must be an identifier; any
    /// other is a `SyntaxError` of the program.
    pub fn function(text: impl Into<String>, name: impl Into<String>) -> Self {
        Self { text: text.into(), entry: Entry::Function(name.into()), refuses_input: false }
    }

    /// Does not run the program if its text has `input(` or `stdin` anywhere, be it in a string. Without this such a
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
