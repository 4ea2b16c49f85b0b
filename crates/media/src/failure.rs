//! Why a tool failed, and whose fault that is.

use std::fmt;

/// Most characters of foreign text in a message.
const QUOTE_CHARACTERS_MAX: usize = 200;

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The call's: the requested thing does not exist, or makes no sense. The agent is responsible.
    Call,
    /// The world's or the set-up's: a server does not answer, answers nonsense, or is not configured. No agent is
    /// responsible, so a run in which it happens says nothing about its agent.
    World,
}

/// Why a tool failed, in words for the agent and for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    /// Whose fault it is.
    pub fault: Blame,
    /// What went wrong, where, and what to do.
    pub message: String,
}

impl ToolFailure {
    /// A mistake of the call's.
    pub fn call(message: impl Into<String>) -> Self {
        Self { fault: Blame::Call, message: message.into() }
    }

    /// Something outside is missing or broken.
    pub fn world(message: impl Into<String>) -> Self {
        Self { fault: Blame::World, message: message.into() }
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolFailure {}

/// The beginning of a text from outside, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut line = String::new();
    for (number, word) in text.split_whitespace().enumerate() {
        if number > 0 {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !c.is_control()));
        // A character has at most four bytes, so the line has enough of them.
        if line.len() > 4 * QUOTE_CHARACTERS_MAX {
            break;
        }
    }
    match line.char_indices().nth(QUOTE_CHARACTERS_MAX) {
        Some((end, _)) => format!("`{}...`", &line[..end]),
        None => format!("`{line}`"),
    }
}
