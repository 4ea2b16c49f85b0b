//! The events of a session, as rules see them.

use serde_json::Value;

/// What an event says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The agent asked for it.
    Call,
    /// Its result came.
    Done,
    /// Its error came.
    Failed,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Call, Self::Done, Self::Failed];

    /// The key that names it in a file: `call`, `done` or `failed`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// An event of a session.
#[derive(Debug, Clone, Copy)]
pub struct SessionEvent<'a> {
    /// What it says of the call.
    pub moment: Phase,
    /// The server whose tool it is, if the session has several.
    pub server: Option<&'a str>,
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments of the call, also where its result or its error came. Anything but an object has no arguments.
    pub arguments: &'a Value,
    /// The result or the error: JSON where the tool returned JSON, otherwise its text.
    pub outcome: Option<&'a Value>,
}

impl<'a> SessionEvent<'a> {
    /// An event without an outcome, of a tool that needs no server's name.
    pub fn new(moment: Phase, tool: &'a str, arguments: &'a Value) -> Self {
        Self { moment, server: None, tool, arguments, outcome: None }
    }

    /// The same event with a result or an error.
    pub fn with_outcome(self, outcome: &'a Value) -> Self {
        Self { outcome: Some(outcome), ..self }
    }
}
