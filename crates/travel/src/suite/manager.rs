//! What the manager of a team passed on of the traveller's wishes: its sub-tasks and constraints in words, read by the
//! grammar, and scored field by field. Whoever works for it knows nothing else.

use planproof_trace::{Event, EventKind};
use serde_json::Value;

use super::case::TripCase;
use crate::reader::{Field, Score, read};

/// The section of a trace that holds a team's graph.
const GRAPH: &str = "graph";

/// The fields that a plan is judged by, with the names of their figures.
pub(super) const STATED: [(Field, &str); 5] = [
    (Field::HouseRule, "stated_house_rule"),
    (Field::Cuisine, "stated_cuisine"),
    (Field::RoomType, "stated_room_type"),
    (Field::Transportation, "stated_transportation"),
    (Field::Budget, "stated_budget"),
];

/// Whether each field of [`STATED`] can be read out of the last graph of a run; nothing where there was no graph.
pub(super) fn stated(case: &TripCase, events: &[Event]) -> Option<[bool; STATED.len()]> {
    let graph = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Section { state, text, .. } if state == GRAPH => serde_json::from_str::<Value>(text).ok(),
        _ => None,
    })?;
    let database = case.database().ok()?;
    let reading = read(&words(&graph), &database.cities).reading;
    let right = Score::new(&reading, &case.task().query).right;
    Some(STATED.map(|(field, _)| {
        Field::ALL.into_iter().zip(right).any(|(other, is_right)| other == field && is_right)
    }))
}

/// The sub-tasks and constraints of a graph, each a sentence of its own.
fn words(graph: &Value) -> String {
    let list =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let constraints = |value: &Value| {
        let words = |it: &Value| it.get("words").and_then(Value::as_str).map(str::to_owned);
        list(value, "constraints").iter().filter_map(words).collect::<Vec<_>>()
    };
    let mut sentences = constraints(graph);
    for sub_task in list(graph, "sub_tasks") {
        sentences.extend(sub_task.get("task").and_then(Value::as_str).map(str::to_owned));
        sentences.extend(constraints(&sub_task));
    }
    // The same sentence twice says nothing more.
    let mut seen = std::collections::BTreeSet::new();
    sentences.retain(|sentence| seen.insert(sentence.clone()));
    sentences.iter().map(|it| it.trim().trim_end_matches('.')).collect::<Vec<_>>().join(". ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn graphs_become_sentences() {
        let graph = json!({
            "sub_tasks": [{"task": "Find rooms.", "constraints": [{"words": "pets are allowed"}, {"words": 7}]}],
            "constraints": [{"words": "at most $500"}],
        });
        assert_eq!(words(&graph), "at most $500. Find rooms. pets are allowed");
        assert_eq!(words(&json!([])), "");
    }
}
