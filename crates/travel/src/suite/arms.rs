//! Who sees what: rates of agents with different inputs are not comparable.

use planproof_suite::{Judged, Section, Table};
use serde_json::json;

use super::marks;
use super::task::QueryMode;
use crate::TripCompat;

/// The arms: the agent, what it sees of the query, and what it knows of the world.
const ARMS: [[&str; 3]; 9] = [
    ["an agent of two stages (tools@, react@)", "the text", "what its tools return"],
    [
        "two-stage@, the published loop",
        "the text",
        "what its tools return; its planner what was kept of that",
    ],
    [
        "an agent that only plans (direct@, cot@, react@, reflexion@ with mode=sole-planning)",
        "the text",
        "the reference information, in which the cities of the trip are chosen already",
    ],
    [
        "a team (team@)",
        "the text (manager and deliverer); its sub-task (executor)",
        "what the executors' tools return",
    ],
    ["sim/gold", "the right plan: it proves the plumbing and nothing else", "-"],
    ["greedy", "origin, destination, days and dates; no constraint", "the tables"],
    ["solver, solver-cheapest", "the structured fields, which no model had to find", "the tables"],
    ["reader (mode=reading)", "the text, which a grammar reads", "-"],
    ["solver-from-text", "the text, which a grammar reads", "the tables"],
];

/// The inputs of these runs, and the other arms.
pub(super) fn section(runs: &[Judged<'_>]) -> Section {
    let options = runs.first().map(|run| marks::read(run.card.marks).options).unwrap_or_default();
    let mode = options.mode.name();
    let hints = match (options.mode, options.hints) {
        (QueryMode::Reading, _) => "none are needed",
        (_, true) => "given to planners",
        (_, false) => "not given",
    };
    let judged = match options.compat {
        TripCompat::Original => "as by the published evaluator",
        TripCompat::Right => "with the gaps of the published evaluator closed",
    };
    Section {
        key: "arms",
        title: "Who sees what",
        intro: format!(
            "Mode: {mode}. Unconventional hints: {hints}. Judged {judged}. Only rows of one arm can be compared."
        ),
        tables: vec![Table {
            caption: "What each arm is given".to_owned(),
            columns: ["who", "of the query", "of the world"].map(str::to_owned).to_vec(),
            rows: ARMS.iter().map(|row| row.map(str::to_owned).to_vec()).collect(),
        }],
        json: json!({"mode": mode, "hints": options.hints, "compat": options.compat}),
        ..Section::default()
    }
}
