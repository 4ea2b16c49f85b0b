//! What may be expected of an agent, by what a good session did.

use std::collections::BTreeSet;

use planproof_spec::rules::{Phase, RecordedEvent};
use planproof_trace::Tool;
use serde_json::{Map, Value, json};

use super::world::{are_possible, is_said, scalars, tests_of};
use super::{GoodSession, calls_of};

/// What may be expected of an agent with this task, by what the session did.
pub(super) fn proposals_of(session: &GoodSession, query: &str, tools: &[Tool]) -> Vec<Value> {
    let mut done: Vec<&str> = Vec::new();
    for event in session.happened.iter().filter(|event| event.phase == Phase::Done) {
        if !done.contains(&event.tool.as_str()) {
            done.push(&event.tool);
        }
    }
    if done.is_empty() {
        // Nothing succeeded, so the calls themselves are proposed.
        let mut called: Vec<&str> = Vec::new();
        for call in calls_of(session) {
            if !called.contains(&call.tool.as_str()) {
                called.push(&call.tool);
            }
        }
        return match called.is_empty() {
            true => vec![json!({"never": {"call": "*"}})],
            false => called.into_iter().map(|tool| json!({"with": {"call": tool}})).collect(),
        };
    }
    let mut proposals = vec![json!({ "do": done })];
    let takes = takes_of(session, query);
    let mut pairs: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (call, argument, from, value) in &takes {
        pairs.insert((from, call));
        proposals.push(json!({"takes": {"call": call, "argument": argument, "from": from, "value": value}}));
    }
    // Each after the one before it, unless a value that it takes says so already, or it was called before that result.
    for pair in done.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let place = |phase: Phase, tool: &str| {
            session.happened.iter().position(|event| event.phase == phase && event.tool == tool)
        };
        let is_later = place(Phase::Call, after) > place(Phase::Done, before);
        if is_later && !pairs.contains(&(before, after)) {
            proposals.push(json!({"requires": {"call": after, "done": before}}));
        }
    }
    // Calls of one tool with different values that the user named. Where there is one such call, the world lets no
    // other succeed.
    for tool in done {
        let of_tool =
            session.happened.iter().filter(|event| event.phase == Phase::Done && event.tool == tool);
        let mut named: Vec<Map<String, Value>> = Vec::new();
        for event in of_tool {
            let tests = tests_of(&event.arguments);
            let said: Map<String, Value> =
                tests.into_iter().filter(|(_, value)| is_said(value, query)).collect();
            if !said.is_empty() && !named.contains(&said) && are_possible(&said, tool, tools) {
                named.push(said);
            }
        }
        if named.len() > 1 {
            proposals.extend(named.into_iter().map(|said| json!({"with": {"done": tool, "where": said}})));
        }
    }
    proposals
}

/// Arguments that every call of a tool has from an earlier result: the tool, the argument, the tool of the result, and
/// the place in it.
fn takes_of<'s>(session: &'s GoodSession, query: &str) -> Vec<(&'s str, String, &'s str, String)> {
    let mut taken: Vec<(&str, String, &str, String)> = Vec::new();
    let mut tools: Vec<&str> = Vec::new();
    for call in calls_of(session) {
        if !tools.contains(&call.tool.as_str()) {
            tools.push(&call.tool);
        }
    }
    for tool in tools {
        let calls: Vec<usize> = (0..session.happened.len())
            .filter(|at| session.happened[*at].phase == Phase::Call && session.happened[*at].tool == tool)
            .collect();
        let Some(first) = calls.first() else { continue };
        for (argument, value) in scalars(&session.happened[*first].arguments) {
            if argument.contains('*') || is_said(value, query) || !is_telling(value) {
                continue;
            }
            // The places in earlier results that hold the argument of every call.
            let mut sources = sources_of(&session.happened[..*first], value);
            for at in &calls[1..] {
                let other = session.happened[*at].arguments.pointer(&argument);
                let of_other =
                    other.map(|value| sources_of(&session.happened[..*at], value)).unwrap_or_default();
                sources.retain(|source| of_other.contains(source));
            }
            if let Some((from, place)) = sources.into_iter().find(|(from, _)| *from != tool) {
                taken.push((tool, argument, from, place));
            }
        }
    }
    taken
}

/// The places in results that hold this value.
fn sources_of<'s>(happened: &'s [RecordedEvent], value: &Value) -> Vec<(&'s str, String)> {
    let mut sources = Vec::new();
    for event in happened.iter().filter(|event| event.phase == Phase::Done) {
        for (place, found) in event.outcome.iter().flat_map(scalars) {
            let source = (event.tool.as_str(), place);
            if found == value && !sources.contains(&source) {
                sources.push(source);
            }
        }
    }
    sources
}

/// Whether a value is hardly the same by chance.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().count() > 2,
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() >= 10.0),
        _ => false,
    }
}
