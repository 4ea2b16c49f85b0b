//! Which states may come next, and which are accepted, along the traces of the behaviour kit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use planproof_spec::{Automaton, Compat, Loaded, Walk, load};
use serde_json::{Value, json};

pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let read = |file: &str| {
        let path = directory.join(file);
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let sources: BTreeMap<String, String> = serde_json::from_str(&read("specs.json")?)?;
    let mut specs = BTreeMap::new();
    for (name, source) in &sources {
        specs.insert(name.as_str(), load(source, Compat::Original).with_context(|| name.clone())?);
    }
    let inputs = read("fsm_traces_inputs.jsonl")?;
    inputs.lines().map(|line| trace(&serde_json::from_str(line)?, &specs)).collect()
}

fn trace(input: &Value, specs: &BTreeMap<&str, Loaded>) -> Result<String> {
    let id = input["id"].as_str().context("a trace has no id")?;
    let steps = (|| {
        let loaded =
            input["spec"].as_str().and_then(|name| specs.get(name)).context("unknown specification")?;
        let mut walk = Walk::new(&loaded.automaton, Compat::Original);
        let proposed = input["proposed"].as_array().context("nothing is proposed")?;
        proposed
            .iter()
            .map(|proposed| step(&loaded.automaton, &mut walk, proposed))
            .collect::<Result<Vec<_>>>()
    })();
    let steps = steps.with_context(|| format!("trace {id}"))?;
    Ok(json!({"kind": "fsm", "id": id, "steps": steps}).to_string())
}

/// What is valid, and whether the proposal is accepted; `null` proposes nothing.
fn step(automaton: &Automaton, walk: &mut Walk<'_>, proposed: &Value) -> Result<Value> {
    let valid: Vec<&str> =
        walk.valid().iter().map(|state| automaton.state(*state).name.value.as_str()).collect();
    let mut step = json!({"valid": valid, "exit": walk.has_ended()});
    if let Some(name) = proposed.as_str() {
        let state = automaton.state_named(name).with_context(|| format!("there is no state `{name}`"))?;
        step["accepted"] = walk.enter(state).into();
    }
    Ok(step)
}
