//! What stands between an agent and its tools.

use planproof_trace::ToolCall;

/// What a guard says of a call that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may be made.
    Allow,
    /// It is denied. The text is the answer that the agent gets: why, and what is right at this point.
    Deny(String),
}

/// A guard of one run. It sees every call before its tool does, and those that were executed once more with what came
/// of them; calls come one after the other.
pub trait Guard: Send {
    /// Whether the call may be made.
    fn before(&mut self, call: &ToolCall) -> Decision;

    /// A call was allowed and executed; `is_error` says that its tool refused it.
    fn after(&mut self, call: &ToolCall, is_error: bool);
}
