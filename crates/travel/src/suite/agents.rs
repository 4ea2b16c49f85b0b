//! Agents without a model: what each does with a case.

use planproof_suite::{CaseError, Gold, SuiteAgent};

use super::case::TripCase;
use super::{gold, greedy};

/// The agents of the suite.
pub(super) static AGENTS: [SuiteAgent; 1] = [SuiteAgent {
    name: "greedy",
    about: "takes what is cheapest, one thing after the other, and looks at no constraint",
}];

/// What an agent does with a case; nothing where there is no such agent.
pub(super) fn act(case: &TripCase, agent: &str, seed: u64) -> Option<Result<Gold, CaseError>> {
    match agent {
        "greedy" => Some(case.database().map(|database| {
            let plan = greedy::plan(&database, &case.task().query, seed);
            gold::of_plan(case.task(), &plan)
        })),
        _ => None,
    }
}
