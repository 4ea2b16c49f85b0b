//! What a monitor tells of a run.

pub use planproof_trace::Author;
use planproof_trace::ToolCall;

use crate::{Fate, Handler, StateId};

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// The model goes on.
    Continue,
    /// The model wrote something that must not come. Abort its request, and call [`Monitor::correct`].
    Violation,
    /// The environment writes: see [`Monitor::request`], and call [`Monitor::environment`].
    Environment,
    /// The run is over: see [`Monitor::outcome`].
    Ended,
}

/// A state of a run with its content.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateContent<'m> {
    /// The state.
    pub state: StateId,
    /// Who wrote the content.
    pub author: Author,
    /// The content, without the white space around it.
    pub content: &'m str,
    /// The call that the content completed.
    pub call: Option<&'m Call>,
    /// The content is final.
    pub is_complete: bool,
    /// The state under whose prompt the model wrote the content, if the run can only go on with another one.
    pub written_as: Option<StateId>,
}

/// A call that the content of a state completed.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The label it was given.
    pub label: Option<String>,
    /// The call; ids count from `c1`. Once it is executed, with its final arguments.
    pub call: ToolCall,
    /// The arguments as they were written.
    pub input: String,
    /// What is known of its execution.
    pub fate: Fate,
    /// It has been neither executed nor denied.
    pub is_waiting: bool,
}

/// What the environment is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request<'m> {
    /// The state whose content is wanted.
    pub state: StateId,
    /// The handler; `None` only in a specification of the published dialect.
    pub handler: Option<Handler>,
    /// The calls completed since the environment wrote last.
    pub calls: &'m [Call],
}

/// What was counted in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonitorCounts {
    /// Corrections.
    pub corrections: u32,
    /// Corrections that wrote a whole prompt because a shorter hint was insufficient.
    pub escalations: u32,
    /// Discarded bytes of the model's text; a byte of invalid UTF-8 counts as the three of U+FFFD.
    pub discarded_bytes: u64,
}
