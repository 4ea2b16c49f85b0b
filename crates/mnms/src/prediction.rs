//! The plan that a run produced: either the agent's answer or the calls that it made.

use planproof_plan::{findings, read_json, read_python, to_json};
use planproof_trace::{Arguments, Author, Event, EventKind, paired_calls};
use serde_json::{Map, Value, json};

/// Longest output of a call, in bytes, that is searched for in later arguments.
const OUTPUT_SEARCHED_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of calls whose outputs are searched for in the arguments of a later call.
const CALLS_SEARCHED_MAX: usize = 100;

/// A predicted plan.
#[derive(Debug, Clone, PartialEq)]
pub enum PredictedPlan {
    /// A list of nodes.
    Nodes(Value),
    /// A program.
    Program(String),
}

/// How the execution of the plan went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionStatus {
    /// The whole plan was executed.
    Fine,
    /// The execution failed.
    Faulty,
    /// The sandbox lacks something that the program uses, so nothing is known about the plan.
    Unsupported,
    /// The plan was not executed.
    Not,
}

/// The plan of a run that ended with this answer; `None` if there is none.
pub(crate) fn predicted(events: &[Event], answer: &str) -> Option<PredictedPlan> {
    of_answer(answer).or_else(|| {
        let nodes = of_calls(events);
        (!nodes.is_empty()).then_some(PredictedPlan::Nodes(Value::Array(nodes)))
    })
}

/// The plan in an answer.
fn of_answer(answer: &str) -> Option<PredictedPlan> {
    if answer.contains("def solve") || answer.contains("```python") {
        return read_python(answer).ok().map(|program| PredictedPlan::Program(program.text));
    }
    // Numbers and empty lists parse too, but they occur in answers of other kinds.
    let plan = answer.contains(['{', '[']).then(|| read_json(answer).ok()).flatten()?;
    let is_plan = !plan.steps.is_empty() || answer.trim_start().starts_with(['{', '[']);
    if is_plan {
        return Some(PredictedPlan::Nodes(to_json(&plan)));
    }
    None
}

/// The calls of a run as nodes. The output of an earlier call becomes a reference wherever it is used later.
fn of_calls(events: &[Event]) -> Vec<Value> {
    let mut nodes = Vec::new();
    let mut given: Vec<(usize, String, Value)> = Vec::new();
    for (id, paired) in paired_calls(events).into_iter().enumerate() {
        let arguments = match &paired.call.arguments {
            Arguments::Object(object) => object.clone(),
            // A call whose arguments cannot be read is a step all the same.
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

/// Replaces outputs of earlier calls in a value with references, preferring the latest.
fn referring(value: Value, given: &[(usize, String, Value)]) -> Value {
    let reference = |id: &usize, key: &str| format!("<node-{id}>.{key}");
    if let Some((id, key, _)) = given.iter().rev().find(|(.., output)| is_same(output, &value)) {
        return reference(id, key).into();
    }
    // Only a text can contain an output among other words.
    let Value::String(text) = value else { return value };
    // Each with whether it is a reference. Nothing is searched for in those: an output such as `1` would tear apart
    // `<node-1>.text`, and a few outputs such as `n` and `o` would double the text again and again.
    let mut pieces = vec![(text, false)];
    for (id, key, output) in given.iter().rev() {
        let Value::String(output) = output else { continue };
        let is_in = |(words, is_reference): &(String, bool)| !is_reference && words.contains(output.as_str());
        if output.trim().is_empty() || !pieces.iter().any(is_in) {
            continue;
        }
        let mut split = Vec::new();
        for (words, is_reference) in pieces {
            if is_reference {
                split.push((words, true));
                continue;
            }
            for (place, words) in words.split(output.as_str()).enumerate() {
                if place > 0 {
                    split.push((reference(id, key), true));
                }
                split.push((words.to_owned(), false));
            }
        }
        pieces = split;
    }
    pieces.into_iter().map(|(piece, _)| piece).collect::<String>().into()
}

/// Whether a value is an output or its text. Empty outputs are never referenced.
fn is_same(output: &Value, value: &Value) -> bool {
    let is_empty = match output {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
    };
    // A model may also pass on a number or a list as the text that it has read.
    !is_empty
        && (output == value
            || value.as_str().is_some_and(|text| !output.is_string() && *text == *output.to_string()))
}

/// How the execution of the run's plan went.
pub(crate) fn executed(events: &[Event]) -> ExecutionStatus {
    let notes = events.iter().rev().filter_map(|event| match &event.kind {
        EventKind::Section { state, author: Author::Environment, note, .. }
            if state == findings::EXECUTION =>
        {
            Some(note.as_str())
        }
        _ => None,
    });
    // The last execution counts: those before it were of plans that the model then wrote again.
    match notes.into_iter().next() {
        Some(findings::FINE) => return ExecutionStatus::Fine,
        Some(findings::UNSUPPORTED) => return ExecutionStatus::Unsupported,
        Some(_) => return ExecutionStatus::Faulty,
        None => {}
    }
    // No plan was executed as a whole, so the calls that the agent made itself count.
    let calls = paired_calls(events);
    if calls.is_empty() {
        return ExecutionStatus::Not;
    }
    let is_fine = calls.iter().all(|call| call.result.is_some_and(|(_, result)| !result.is_error));
    if is_fine { ExecutionStatus::Fine } else { ExecutionStatus::Faulty }
}

/// The number of findings of a kind, by the states in [`findings`].
pub(crate) fn faults(events: &[Event], state: &str) -> u32 {
    let is_fault = |event: &&Event| matches!(&event.kind, EventKind::Section { state: of, note, .. } if of == state && note == findings::FAULTY);
    u32::try_from(events.iter().filter(is_fault).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_output_is_searched_for_in_a_reference() {
        let given = [(0, "number".to_owned(), json!("1")), (1, "text".to_owned(), json!("a cat"))];
        let found = referring(json!("draw a cat, 1 time"), &given);
        assert_eq!(found, json!("draw <node-1>.text, <node-0>.number time"));
        assert_eq!(referring(json!("1"), &given), json!("<node-0>.number"));
        // Each of these is a letter of every reference.
        let letters = ["n", "o", "d", "e"];
        let given: Vec<_> = (0..100_usize).map(|id| (id, "key".to_owned(), json!(letters[id % 4]))).collect();
        assert_eq!(referring(json!("n o"), &given), json!("<node-96>.key <node-97>.key"));
    }
}
