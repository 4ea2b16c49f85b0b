//! What a session remembers, as JSON, so that another process can take it up without the events so far.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::RuleSet;
use super::compile::Compiled;
use super::session::{Instance, Session, State};
use crate::automaton::dfa::DEAD;

impl Session {
    /// What is remembered. Only the same rules, compiled by the same version of this crate, can take it up. Takes time
    /// in its size.
    pub fn state(&self) -> Value {
        let states = self.states.iter().map(|state| {
            // Sorted: equal sessions have equal states.
            let by_value: BTreeMap<&String, Value> =
                state.by_value.iter().map(|(value, instance)| (value, of_instance(instance))).collect();
            json!({
                "common": of_instance(&state.common), "by_value": by_value, "is_violated": state.is_violated,
            })
        });
        Value::Array(states.collect())
    }

    /// The session with this state, by the rules that it was made with; `None` if it cannot be of these.
    pub fn with_state(rules: &Arc<RuleSet>, state: &Value) -> Option<Self> {
        let found = state.as_array().filter(|states| states.len() == rules.compiled.len())?;
        let states = found.iter().zip(&rules.compiled).map(|(state, compiled)| {
            let by_value = state.get("by_value")?.as_object()?.iter();
            let by_value =
                by_value.map(|(value, instance)| Some((value.clone(), instance_of(instance, compiled)?)));
            let by_value = by_value.collect::<Option<HashMap<_, _>>>()?;
            let common = instance_of(state.get("common")?, compiled)?;
            Some(Arc::new(State::new(common, by_value, state.get("is_violated")?.as_bool()?)))
        });
        Some(Self { rules: Arc::clone(rules), states: states.collect::<Option<_>>()? })
    }
}

fn of_instance(instance: &Instance) -> Value {
    let values: BTreeSet<&String> = instance.values.iter().collect();
    json!([instance.position, values])
}

fn instance_of(value: &Value, compiled: &Compiled) -> Option<Instance> {
    let position = u32::try_from(value.get(0)?.as_u64()?).ok()?;
    let is_position = position == DEAD || (position as usize) < compiled.positions();
    let values = value.get(1)?.as_array()?.iter().map(|value| value.as_str().map(str::to_owned));
    let values = values.collect::<Option<HashSet<_>>>()?;
    is_position.then_some(Instance { position, values })
}
