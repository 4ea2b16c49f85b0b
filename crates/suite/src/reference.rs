//! Work that a verdict needs and that is not the agent's, such as carrying out the right plan, so that its results can
//! be compared with those of the run. It is done before the run ends, and what it finds is in the trace, so that
//! judging again does none of it.

use planproof_trace::Event;

/// The actor of that work in a trace.
pub const REFERENCE: &str = "reference";

/// Something that the work found. It is recorded as a section of the environment under the actor [`REFERENCE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceNote {
    /// The state of the section, by which the suite finds it again.
    pub state: &'static str,
    /// What was found.
    pub text: String,
    /// A remark for readers of the trace; may be empty.
    pub note: String,
}

/// Whether an event belongs to such work rather than to the agent's.
pub fn is_of_reference(event: &Event) -> bool {
    event.actor.as_ref().is_some_and(|actor| actor.as_str() == REFERENCE)
}
