//! What the readers of records have in common: a session, and what takes it.

use planproof_spec::rules::RecordedEvent;
use planproof_trace::Tool;
use serde_json::Value;

use crate::failure::Failure;
use crate::terminal::inline;

/// A session as it was recorded.
#[derive(Debug)]
pub(crate) struct RecordedSession {
    /// The file and the place in it, or the case of a trace.
    pub(crate) name: String,
    /// The line of the file on which it begins, from 1.
    pub(crate) line: u64,
    /// What the user asked first, if that was recorded.
    pub(crate) query: Option<String>,
    /// The tools that the agent had, if they were recorded.
    pub(crate) tools: Vec<Tool>,
    /// The calls and what came of them.
    pub(crate) happened: Vec<RecordedEvent>,
    /// The line of each call, where calls stand on lines of their own.
    pub(crate) call_lines: Vec<u64>,
    /// What the record leaves open.
    pub(crate) doubts: RecordedDoubts,
}

/// What a record leaves open, as numbers of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordedDoubts {
    /// Calls that ran at the same time as others.
    pub(crate) overlapping: usize,
    /// Calls that cannot be ordered before or after another: both happened at one time, or the time is missing.
    pub(crate) unordered: usize,
    /// Calls without their arguments.
    pub(crate) without_arguments: usize,
}

/// Takes one session after the other.
pub(crate) type Take<'t> = &'t mut dyn FnMut(RecordedSession) -> Result<(), Failure>;

/// What makes sessions of the JSON values of a file.
pub(super) trait Gather {
    /// Takes the next value. `place` is what the name of a session has behind that of the file: `:LINE`, or nothing
    /// where the value is the whole file.
    fn value(&mut self, value: Value, line: u64, place: &str, take: Take<'_>) -> Result<(), Failure>;

    /// Takes the end of the file.
    fn end(&mut self, take: Take<'_>) -> Result<(), Failure>;

    /// Whether a line that is not JSON is left out. Otherwise it is an error.
    fn may_leave_out(&self) -> bool;
}

/// The error of a file in which there is no session.
pub(super) fn unknown(name: &str, place: &str) -> Failure {
    Failure::usage(format!(
        "{}{place}: no session is found here; a file holds traces (trace v1), the log of a guard (decision v1), spans of \
         OpenTelemetry (OTLP JSON), the log of a session of Claude Code or Codex, or transcripts of OpenAI or Anthropic: \
         {{\"messages\": [...]}}, one a line, or a list of messages",
        inline(name)
    ))
}
