//! What plan a run came to: the one that the agent answered with, or the calls that it made.

use planproof_plan::{findings, read_json, read_python, to_json};
use planproof_trace::{Arguments, Author, Event, EventKind, paired_calls};
use serde_json::{Map, Value, json};

/// Longest output of a call that later arguments are searched for, in bytes.
const OUTPUT_SEARCHED_BYTES_MAX: usize = 64 * 1024;

/// Most calls whose outputs are searched for in the arguments of a later one.
const CALLS_SEARCHED_MAX: usize = 100;

/// A plan as it was predicted.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicted {
    /// A list of nodes.
    Nodes(Value),
    /// A program.
    Program(String),
}

/// How carrying out the plan went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executed {
    /// All of it was carried out.
    Fine,
    /// It went wrong.
    Faulty,
    /// The sandbox lacks what the program uses, so that nothing is known of the plan.
    Unsupported,
    /// It was not tried.
    Not,
}

/// The plan of a run that ended with this answer; `None` where there is none.
pub(crate) fn predicted(events: &[Event], answer: &str) -> Option<Predicted> {
    of_answer(answer).or_else(|| {
        let nodes = of_calls(events);
        (!nodes.is_empty()).then_some(Predicted::Nodes(Value::Array(nodes)))
    })
}

/// The plan that an answer is.
fn of_answer(answer: &str) -> Option<Predicted> {
    if answer.contains("def solve") || answer.contains("```python") {
        return read_python(answer).ok().map(|program| Predicted::Program(program.text));
    }
    // Numbers and empty lists can be read too, and stand in answers of other kinds.
    let plan = answer.contains(['{', '[']).then(|| read_json(answer).ok()).flatten()?;
    let is_plan = !plan.steps.is_empty() || answer.trim_start().starts_with(['{', '[']);
    if is_plan {
        return Some(Predicted::Nodes(to_json(&plan)));
    }
    None
}

/// The calls of a run as nodes: what an earlier call gave is a reference to it where it is used later.
fn of_calls(events: &[Event]) -> Vec<Value> {
    let mut nodes = Vec::new();
    let mut given: Vec<(usize, String, Value)> = Vec::new();
    for (id, paired) in paired_calls(events).into_iter().enumerate() {
        let arguments = match &paired.call.arguments {
            Arguments::Object(object) => object.clone(),
            Arguments::Malformed(_) => Map::new(),
        };
        let arguments: Map<String, Value> =
            arguments.into_iter().map(|(name, value)| (name, referring(value, &given))).collect();
        nodes.push(json!({"id": id, "name": paired.call.name.replace('_', " "), "args": arguments}));
        let output = paired.result.filter(|(_, result)| result.text.len() <= OUTPUT_SEARCHED_BYTES_MAX);
        let output = output.and_then(|(_, result)| serde_json::from_str(&result.text).ok());
        if let (Some(Value::Object(output)), true) = (output, id < CALLS_SEARCHED_MAX) {
            given.extend(output.into_iter().map(|(key, value)| (id, key, value)));
        }
    }
    nodes
}

/// A value with references where it holds what an earlier call gave, the latest first.
fn referring(value: Value, given: &[(usize, String, Value)]) -> Value {
    let reference = |id: &usize, key: &str| format!("<node-{id}>.{key}");
    if let Some((id, key, _)) = given.iter().rev().find(|(.., output)| is_same(output, &value)) {
        return reference(id, key).into();
    }
    let Value::String(mut text) = value else { return value };
    for (id, key, output) in given.iter().rev() {
        if let Value::String(output) = output
            && !output.trim().is_empty()
            && text.contains(output.as_str())
        {
            text = text.replace(output.as_str(), &reference(id, key));
        }
    }
    text.into()
}

/// Whether a value is an output, or the text of it. Nothing refers to what says nothing.
fn is_same(output: &Value, value: &Value) -> bool {
    let is_empty = match output {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
    };
    !is_empty
        && (output == value
            || value.as_str().is_some_and(|text| !output.is_string() && *text == *output.to_string()))
}

/// How carrying out the plan of a run went.
pub(crate) fn executed(events: &[Event]) -> Executed {
    let notes = events.iter().rev().filter_map(|event| match &event.kind {
        EventKind::Section { state, author: Author::Environment, note, .. }
            if state == findings::EXECUTION =>
        {
            Some(note.as_str())
        }
        _ => None,
    });
    match notes.into_iter().next() {
        Some(findings::FINE) => return Executed::Fine,
        Some(findings::UNSUPPORTED) => return Executed::Unsupported,
        Some(_) => return Executed::Faulty,
        None => {}
    }
    let calls = paired_calls(events);
    if calls.is_empty() {
        return Executed::Not;
    }
    let is_fine = calls.iter().all(|call| call.result.is_some_and(|(_, result)| !result.is_error));
    if is_fine { Executed::Fine } else { Executed::Faulty }
}

/// How often something was found wrong, by the states of [`findings`].
pub(crate) fn faults(events: &[Event], state: &str) -> u32 {
    let is_fault = |event: &&Event| matches!(&event.kind, EventKind::Section { state: of, note, .. } if of == state && note == findings::FAULTY);
    u32::try_from(events.iter().filter(is_fault).count()).unwrap_or(u32::MAX)
}
