//! The input of a simulated model: a valid plan, and the calls that find its contents.

use std::collections::BTreeSet;

use planproof_suite::{Gold, GoldCall};
use serde_json::{Map, Value, json};

use super::case::TripCase;
use super::fields;
use super::task::{QueryMode, TripTask};
use crate::entry::{from_to, strip_parenthesis};
use crate::own;
use crate::plan::{CITY, TRANSPORTATION};
use crate::query::Query;
use crate::solve::{SolveOptions, solve};

/// The solution of a case; `None` if no valid plan is known.
pub(super) fn of(case: &TripCase) -> Option<Gold> {
    let query = &case.task().query;
    if case.task().options.mode == QueryMode::Reading {
        let right = fields::of_query(query);
        let mut wrong = right.clone();
        wrong["budget"] = json!(query.budget + 1.0);
        let [answer, wrong_answer] = [right, wrong].map(|it| it.to_string());
        return Some(Gold { answer, wrong_answer, ..Gold::default() });
    }
    let plan = known_plan(case)?;
    Some(of_plan(case.task(), &plan))
}

/// A valid plan: one of ours for our own queries, otherwise the solver's.
fn known_plan(case: &TripCase) -> Option<Value> {
    let task = case.task();
    if task.tables.is_some() {
        let database = case.database().ok()?;
        let answer = solve(&database, &task.query, task.options.compat, &SolveOptions::default());
        return answer.solved().map(|solved| solved.plan.0.clone());
    }
    // Our own plans are in the order of our own queries.
    let place = own::queries().ok()?.iter().position(|query| *query == task.query)?;
    own::plans().ok()?.into_iter().nth(place).map(|submission| submission.plan.0)
}

/// The calls and the answer of an agent that arrives at this plan.
pub(super) fn of_plan(task: &TripTask, plan: &Value) -> Gold {
    let calls = if task.options.mode == QueryMode::TwoStage { calls(&task.query, plan) } else { Vec::new() };
    let (reasoning, sub_tasks) = Default::default();
    let (answer, wrong_answer) = (plan.to_string(), without_journey(plan));
    Gold { calls, reasoning, answer, wrong_answer, sub_tasks, ..Gold::default() }
}

/// The same plan without any means of travel, which fails in either mode.
fn without_journey(plan: &Value) -> String {
    let mut wrong = plan.clone();
    for day in wrong.as_array_mut().into_iter().flatten() {
        day[TRANSPORTATION] = json!("-");
    }
    wrong.to_string()
}

/// The searches that find the contents of a plan, without repetitions: the cities of the state, the journeys, and
/// the offers in each city.
fn calls(query: &Query, plan: &Value) -> Vec<GoldCall> {
    let mut calls = Vec::new();
    if query.is_for_state() {
        calls.push(call("CitySearch", &[("state", &query.dest)]));
    }
    let mut seen = BTreeSet::new();
    for (day, date) in plan.as_array().into_iter().flatten().zip(&query.date) {
        let [city, means] =
            [CITY, TRANSPORTATION].map(|key| day.get(key).and_then(Value::as_str).unwrap_or("-"));
        let Some((origin, destination)) = from_to(city) else { continue };
        // The tools accept exact names only, without a state.
        let [origin, destination] = [origin, destination].map(|it| strip_parenthesis(it).trim());
        calls.push(match means.to_lowercase() {
            lower if lower.contains("flight") => {
                call("FlightSearch", &[("origin", origin), ("destination", destination), ("date", date)])
            }
            lower => {
                let mode = if lower.contains("taxi") { "taxi" } else { "self-driving" };
                call(
                    "GoogleDistanceMatrix",
                    &[("origin", origin), ("destination", destination), ("mode", mode)],
                )
            }
        });
        if destination != query.org && seen.insert(destination.to_owned()) {
            for search in ["AccommodationSearch", "RestaurantSearch", "AttractionSearch"] {
                calls.push(call(search, &[("city", destination)]));
            }
        }
    }
    calls
}

fn call(tool: &str, arguments: &[(&str, &str)]) -> GoldCall {
    let arguments: Map<String, Value> =
        arguments.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    GoldCall { tool: tool.to_owned(), arguments }
}
