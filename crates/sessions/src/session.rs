//! What the readers of records have in common: a session, and what takes it.

use std::fmt;
use std::sync::Arc;

use planproof_spec::rules::RecordedEvent;
use serde_json::Value;

/// A session as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSession {
    /// The file and the place in it, or the case of a trace.
    pub name: String,
    /// The line of the file on which it begins, from 1.
    pub line: u64,
    /// What the user asked first, if that was recorded.
    pub query: Option<String>,
    /// The list of the tools that the agent had as it was recorded, if it was.
    pub tools: Option<Value>,
    /// The calls and what came of them. A tool of an MCP server may have the name that an agent has for it,
    /// `mcp__SERVER__TOOL`, without a server beside it; rules, or the plainest reading, say what it means.
    pub happened: Vec<RecordedEvent>,
    /// The line of each call, where calls stand on lines of their own.
    pub call_lines: Vec<u64>,
    /// The file of each call, where the session has several; otherwise nothing.
    pub call_files: Vec<Arc<str>>,
    /// What the record leaves open.
    pub doubts: RecordedDoubts,
}

/// What a record leaves open, as numbers of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordedDoubts {
    /// Calls that ran at the same time as others.
    pub overlapping: usize,
    /// Calls that cannot be ordered before or after another: both happened at one time, or the time is missing.
    pub unordered: usize,
    /// Calls without their arguments.
    pub without_arguments: usize,
    /// Calls whose name can mean several tools that the rules name, so that one of these was assumed.
    pub ambiguous: usize,
}

/// Why a file cannot be used, in a sentence without a full stop that begins with the file's name. The texts in it are
/// as they stand in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionError(String);

impl SessionError {
    /// An error in these words.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SessionError {}

/// Takes the sessions of a file, one after the other, and what is said of the file meanwhile.
pub trait SessionSink {
    /// Takes a session. An error ends the reading.
    ///
    /// # Errors
    /// Whatever the sink cannot do.
    fn session(&mut self, session: RecordedSession) -> Result<(), SessionError>;

    /// Takes a sentence about something that was left out and may matter. The texts in it are as they stand in the
    /// file.
    fn warn(&mut self, text: &str);

    /// Takes a sentence about something that was left out, which is common.
    fn note(&mut self, text: &str);
}

/// What makes sessions of the JSON values of a file.
pub(crate) trait Gather {
    /// Begins a further file of the same record, which is of the same form. Only logs of agents have such.
    fn file(&mut self, _name: &str) {}

    /// Takes the next value. `place` is what the name of a session has behind that of the file: `:LINE`, or nothing
    /// where the value is the whole file.
    fn value(
        &mut self,
        value: Value,
        line: u64,
        place: &str,
        sink: &mut dyn SessionSink,
    ) -> Result<(), SessionError>;

    /// Takes the end of the file.
    fn end(&mut self, sink: &mut dyn SessionSink) -> Result<(), SessionError>;

    /// Whether a line that is not JSON is left out. Otherwise it is an error.
    fn may_leave_out(&self) -> bool;
}

/// The error of a file in which there is no session.
pub(crate) fn unknown(name: &str, place: &str) -> SessionError {
    SessionError::new(format!(
        "{name}{place}: no session is found here; a file holds traces (trace v1), the log of a guard (decision v1), spans \
         of OpenTelemetry (OTLP JSON), the log of a session of Claude Code or Codex, or transcripts of OpenAI or \
         Anthropic: {{\"messages\": [...]}}, one a line, or a list of messages"
    ))
}

/// The error of a line that is JSON and cannot be kept as it is. Without it, rules would not see its calls.
pub(crate) fn unheld(name: &str, line: u64, why: &str) -> SessionError {
    SessionError::new(format!(
        "{name}:{line}: JSON that cannot be read without losing something: {why}; without it, rules would not see all \
         calls"
    ))
}

/// A number with its noun: "1 span", "2 spans".
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
