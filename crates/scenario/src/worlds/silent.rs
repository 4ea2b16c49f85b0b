//! A world in which some tools do their work and answer with nothing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use planproof_spec::rules::CallWorld;
use planproof_spec::rules::search::SampleCall;
use serde_json::Value;

/// Another world, whose results of some tools are empty texts.
pub(crate) struct SilentWorld<'a, W> {
    world: &'a W,
    silent: &'a BTreeSet<String>,
}

impl<'a, W> SilentWorld<'a, W> {
    pub(crate) fn new(world: &'a W, silent: &'a BTreeSet<String>) -> Self {
        Self { world, silent }
    }
}

impl<W: CallWorld> CallWorld for SilentWorld<'_, W> {
    type State = W::State;

    fn outcomes<'c>(&self, state: &W::State, call: &'c SampleCall) -> Vec<(Cow<'c, SampleCall>, W::State)> {
        let outcomes = self.world.outcomes(state, call).into_iter();
        let silenced = |call: Cow<'c, SampleCall>| match &call.outcome {
            Some(Ok(_)) if self.silent.contains(&call.tool) => {
                let outcome = Some(Ok(Value::from("")));
                Cow::Owned(SampleCall { outcome, ..call.into_owned() })
            }
            _ => call,
        };
        outcomes.map(|(call, state)| (silenced(call), state)).collect()
    }

    fn memory(&self, state: &W::State) -> String {
        self.world.memory(state)
    }
}
