//! What a run enters: a state, with the call that its content completed and what is known of it.

use planproof_trace::ToolCall;

use crate::limits::STATES_MAX;

/// Index of a state in [`Spec::states`](crate::Spec::states).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(u16);

impl StateId {
    pub(crate) fn new(index: usize) -> Self {
        debug_assert!(index < STATES_MAX);
        Self(index as u16)
    }

    /// The index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A state that a run has entered, and the call that its content completed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entered<'c> {
    /// The state.
    pub state: StateId,
    /// The call. It counts only in a state that completes one; `None` there means a call of a tool that no
    /// requirement names, for which no test of its arguments holds.
    pub call: Option<&'c ToolCall>,
    /// What is known about its execution besides the consequences of later states.
    pub fate: Fate,
}

/// What is known about a call's execution. Requirements apply to executed calls: whether a call is executed, and
/// when, follows from the handlers of later states of the environment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// If it is executed, then with these arguments.
    #[default]
    Written,
    /// If it is executed, then with other arguments, because these contain unresolved references. Only if a state's
    /// handler is [`Handler::Solve`](crate::Handler::Solve); otherwise the same as [`Written`](Self::Written).
    Open,
    /// It was to be executed and was denied. It counts for nothing.
    Denied,
}

impl<'c> Entered<'c> {
    /// A state, and the call that its content completed.
    pub fn with(state: StateId, call: Option<&'c ToolCall>) -> Self {
        Self { state, call, fate: Fate::Written }
    }
}

impl From<StateId> for Entered<'_> {
    fn from(state: StateId) -> Self {
        Self::with(state, None)
    }
}
