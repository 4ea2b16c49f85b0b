//! What comes of calls in the sessions that are searched: always the same, or what earlier calls made possible.

use std::borrow::Cow;

use super::search::SampleCall;

/// A world in which calls are made. What comes of a call may depend on the calls before it.
pub trait CallWorld {
    /// What the world remembers of them.
    type State: Clone;

    /// What may come of a call in a state, each with the state after it: one thing, unless it is not known which. A
    /// call that cannot be made has none.
    fn outcomes<'c>(
        &self,
        state: &Self::State,
        call: &'c SampleCall,
    ) -> Vec<(Cow<'c, SampleCall>, Self::State)>;

    /// A text that two states share only if the same can come of all calls after them.
    fn memory(&self, state: &Self::State) -> String;
}

/// A world that remembers nothing: each call has the outcome that it comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedOutcomes;

impl CallWorld for FixedOutcomes {
    type State = ();

    fn outcomes<'c>(&self, (): &(), call: &'c SampleCall) -> Vec<(Cow<'c, SampleCall>, ())> {
        vec![(Cow::Borrowed(call), ())]
    }

    fn memory(&self, (): &()) -> String {
        String::new()
    }
}
