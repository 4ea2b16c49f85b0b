//! Scores which of the traveller's wishes the manager of a team passed on in its sub-tasks and constraints, field
//! by field. The members who work for it know nothing else.
//!
//! A manager may state constraints in a typed form in addition to words (crate `constraint` parses it); a team with
//! a solver is asked to do so. For a field covered by a typed constraint, that constraint counts; the grammar reads
//! the other fields from the words.

use std::sync::Arc;

use planproof_trace::{Event, EventKind};
use serde_json::Value;

use crate::query::{HouseRule, Query, RoomType, TransportRule};
use crate::reader::{CUISINES, QueryField, QueryReading, ReadingScore, read};
use crate::tables::TripDatabase;

/// The section of a trace that contains a team's graph.
const GRAPH: &str = "graph";

/// The fields by which a plan is judged, with the names of their scores.
pub(super) const STATED: [(QueryField, &str); 5] = [
    (QueryField::HouseRule, "stated_house_rule"),
    (QueryField::Cuisine, "stated_cuisine"),
    (QueryField::RoomType, "stated_room_type"),
    (QueryField::Transportation, "stated_transportation"),
    (QueryField::Budget, "stated_budget"),
];

/// Whether each field of [`STATED`] of a query can be recovered from the last graph of a run; `None` if there was no
/// graph, or the tables are not available.
pub(super) fn stated(
    query: &Query,
    database: impl FnOnce() -> Option<Arc<TripDatabase>>,
    events: &[Event],
) -> Option<[bool; STATED.len()]> {
    let graph = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Section { state, text, .. } if state == GRAPH => serde_json::from_str::<Value>(text).ok(),
        _ => None,
    })?;
    let database = database()?;
    let mut reading = read(&words(&graph), &database.cities).reading;
    Typed::of(&graph).put_into(&mut reading);
    let right = ReadingScore::new(&reading, query).right;
    Some(STATED.map(|(field, _)| {
        QueryField::ALL.into_iter().zip(right).any(|(other, is_right)| other == field && is_right)
    }))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The fields in the typed constraints of a graph; `None` for a field that no constraint concerns.
#[derive(Debug, Default, PartialEq)]
struct Typed {
    house_rule: Option<HouseRule>,
    cuisines: Vec<String>,
    room_type: Option<RoomType>,
    transportation: Option<TransportRule>,
    budget: Option<f64>,
}

impl Typed {
    fn of(graph: &Value) -> Self {
        let mut typed = Self::default();
        let of_parts = list(graph, "sub_tasks").iter().flat_map(|sub_task| list(sub_task, "constraints"));
        of_parts.filter_map(|it| it.get("typed")).for_each(|it| typed.take_values(it));
        for constraint in list(graph, "constraints").iter().filter_map(|it| it.get("typed")) {
            typed.take_values(constraint);
            // An upper bound on the total cost is the budget; a bound on a part is not.
            let bound = constraint.get("bound").or_else(|| constraint.get("value")).and_then(amount);
            let is_most = matches!(constraint.get("op").and_then(Value::as_str), Some("<=" | "<"));
            if let (None, Some(bound), true) = (typed.budget, bound, is_most) {
                typed.budget = Some(bound);
            }
        }
        typed
    }

    /// Takes the values that a constraint names. The possible values in queries determine the field.
    fn take_values(&mut self, constraint: &Value) {
        let is_negated = constraint.get("op").and_then(Value::as_str) == Some("!=");
        let of_condition = constraint.get("where").and_then(|it| it.get("value"));
        let single = ["value", "has"].into_iter().filter_map(|key| constraint.get(key)).chain(of_condition);
        for value in single.chain(list(constraint, "in")).filter_map(Value::as_str) {
            let lower = value.trim().to_lowercase();
            let stated = if is_negated { format!("{}{lower}", negation(&lower)) } else { lower };
            self.house_rule = self.house_rule.or_else(|| named(&stated));
            self.room_type = self.room_type.or_else(|| match stated.as_str() {
                "entire home/apt" => Some(RoomType::Entire),
                _ => named(&stated),
            });
            self.transportation = self.transportation.or_else(|| named(&stated));
            let cuisine = CUISINES.into_iter().find(|cuisine| cuisine.eq_ignore_ascii_case(&stated));
            self.cuisines.extend(cuisine.map(str::to_owned));
        }
    }

    fn put_into(self, reading: &mut QueryReading) {
        let local = &mut reading.local_constraint;
        local.house_rule = self.house_rule.or(local.house_rule);
        local.room_type = self.room_type.or(local.room_type);
        local.transportation = self.transportation.or(local.transportation);
        if !self.cuisines.is_empty() {
            local.cuisine = Some(self.cuisines);
        }
        reading.budget = self.budget.or(reading.budget);
    }
}

/// How queries express that something is not wanted.
fn negation(value: &str) -> &'static str {
    if value.ends_with("room") { "not " } else { "no " }
}

/// A wish, by its name in the data.
fn named<T: serde::de::DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::from(name)).ok()
}

/// An amount: a number, or a text that starts with one, such as `900 USD`.
fn amount(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.split_whitespace().next()?.parse().ok())
}

/// The sub-tasks and constraints of a graph, each as a separate sentence.
fn words(graph: &Value) -> String {
    let constraints = |value: &Value| {
        let words = |it: &Value| it.get("words").and_then(Value::as_str).map(str::to_owned);
        list(value, "constraints").iter().filter_map(words).collect::<Vec<_>>()
    };
    let mut sentences = constraints(graph);
    for sub_task in list(graph, "sub_tasks") {
        sentences.extend(sub_task.get("task").and_then(Value::as_str).map(str::to_owned));
        sentences.extend(constraints(sub_task));
    }
    // A repeated sentence adds nothing.
    let mut seen = std::collections::BTreeSet::new();
    sentences.retain(|sentence| seen.insert(sentence.clone()));
    // Full stops end clauses, so a negation does not reach into the next sentence.
    sentences.iter().map(|it| it.trim().trim_end_matches('.')).collect::<Vec<_>>().join(". ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn typed_constraints_count_where_there_are_some() {
        let typed = |typed: Value| json!({"words": "x", "typed": typed});
        let graph = json!({
            "sub_tasks": [{"task": "Find rooms.", "constraints": [
                typed(json!({"kind": "member", "field": "room.allows", "has": "pets"})),
                typed(json!({"kind": "compare", "left": "room.type", "op": "!=", "value": "shared room"})),
                typed(json!({"kind": "compare", "left": "room.price", "op": "<=", "value": 90})),
                typed(json!({"kind": "count", "fields": ["a.cuisine"], "where": {"op": "==", "value": "Thai"}})),
                typed(json!({"kind": "member", "field": "a.cuisine", "in": ["French", "Mexican"]})),
            ]}],
            "constraints": [
                typed(json!({"kind": "compare", "left": "way.kind", "op": "!=", "value": "Flight"})),
                typed(json!({"kind": "sum", "terms": ["room.price"], "op": "<=", "bound": "1500 USD"})),
            ],
        });
        let mut reading = QueryReading { budget: Some(1.0), ..QueryReading::default() };
        reading.local_constraint.house_rule = Some(HouseRule::Smoking);
        Typed::of(&graph).put_into(&mut reading);
        let local = &reading.local_constraint;
        assert_eq!((local.house_rule, reading.budget), (Some(HouseRule::Pets), Some(1500.0)));
        assert_eq!(local.room_type, Some(RoomType::NotShared));
        assert_eq!(local.transportation, Some(TransportRule::NoFlight));
        assert_eq!(local.cuisine, Some(["Thai", "French", "Mexican"].map(str::to_owned).to_vec()));
        // Without typed constraints, what was read from the words remains.
        let before = reading.clone();
        Typed::of(&json!({"constraints": [{"words": "cheap"}], "sub_tasks": 7})).put_into(&mut reading);
        assert_eq!(reading, before);
    }

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
