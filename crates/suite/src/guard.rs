//! The guard between an agent and its tools.

use planproof_trace::ToolCall;

/// A guard's decision on a call before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may be made.
    Allow,
    /// It is denied. The text is the answer for the agent: the reason, and the right calls at this point.
    Deny(String),
}

/// A guard of one run. It sees every call before its tool does, and executed calls once more with their results;
/// calls come one after the other.
pub trait Guard: Send {
    /// Whether the call may be made.
    fn before(&mut self, call: &ToolCall) -> Decision;

    /// A call was allowed and executed; `is_error` says that its tool refused it.
    fn after(&mut self, call: &ToolCall, is_error: bool);
}
