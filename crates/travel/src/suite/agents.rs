//! Agents without a model, and how each handles a case.

use planproof_suite::{CaseError, Gold, SuiteAgent};

use super::case::TripCase;
use super::task::QueryMode;
use super::{gold, greedy};
use crate::query::{Query, QueryError};
use crate::reader::{Heard, read};
use crate::solve::{SolveAnswer, SolveOptions, SolvedTrip, TripObjective, solve};

/// The agents of the suite.
pub(super) static AGENTS: [SuiteAgent; 5] = [
    SuiteAgent {
        name: "greedy",
        about: "takes what is cheapest, one thing after the other, and looks at no constraint",
    },
    SuiteAgent { name: "solver", about: "is given the fields of the query, and solves them exactly" },
    SuiteAgent { name: "solver-cheapest", about: "the same, and proves that no trip costs less" },
    SuiteAgent {
        name: "solver-from-text",
        about: "is given the text of the query, which a grammar reads for it",
    },
    SuiteAgent { name: "reader", about: "reads the fields of the query by a grammar, and plans nothing" },
];

/// What an agent does with a case; `None` if there is no such agent.
pub(super) fn act(case: &TripCase, agent: &str, seed: u64) -> Option<Result<Gold, CaseError>> {
    let task = case.task();
    let is_reading = task.options.mode == QueryMode::Reading;
    let wrong_mode =
        |what: &str| Err(CaseError::new(format!("{agent} {what}: there is nothing for it in this mode")));
    Some(match agent {
        "reader" if is_reading => fields_read(case),
        "reader" => wrong_mode("plans no trips"),
        _ if AGENTS.iter().all(|it| it.name != agent) => return None,
        _ if is_reading => wrong_mode("plans trips, and gives no fields"),
        "solver" | "solver-cheapest" if task.unjudged => Err(CaseError::new(format!(
            "{agent} is given the fields of the query, which the published test set lacks; solver-from-text reads its \
             text"
        ))),
        "greedy" => case.database().map(|database| {
            let plan = greedy::plan(&database, &task.query, seed);
            gold::of_plan(task, &plan)
        }),
        "solver" => solved(case, &task.query, TripObjective::Any),
        "solver-cheapest" => solved(case, &task.query, TripObjective::Cheapest),
        _ => solved_from_text(case),
    })
}

/// The solver's answer to a query, which is either that of the case or what the grammar extracted from its text.
fn solved(case: &TripCase, query: &Query, objective: TripObjective) -> Result<Gold, CaseError> {
    let database = case.database()?;
    let options = SolveOptions { objective, ..SolveOptions::default() };
    let answer = solve(&database, query, case.task().options.compat, &options);
    let words = in_words(&answer, query);
    Ok(match answer.solved() {
        Some(SolvedTrip { plan, .. }) => Gold { reasoning: words, ..gold::of_plan(case.task(), &plan.0) },
        // The proof is the whole answer. It contains no plan, so the run counts as undelivered.
        None => Gold { reasoning: words.clone(), answer: words, ..Gold::default() },
    })
}

/// The proved result, in sentences.
fn in_words(answer: &SolveAnswer, query: &Query) -> String {
    match answer {
        SolveAnswer::Solved(solved) => {
            let SolvedTrip { cost, is_cheapest, steps, .. } = solved;
            let least = if *is_cheapest { ", and no trip that holds costs less" } else { "" };
            let budget = query.budget;
            format!(
                "A trip that holds costs {cost:.2} of {budget:.2} dollars{least} ({steps} steps of search)."
            )
        }
        SolveAnswer::Infeasible(infeasible) => {
            let smallest = if infeasible.is_smallest { " No fewer demands conflict." } else { "" };
            format!("{infeasible}{smallest} (Proved in {} steps of search.)", infeasible.steps)
        }
        SolveAnswer::Undecided(undecided) => format!("It is not decided: {}.", undecided.why),
    }
}

/// The query that the grammar extracts from the text of a case. The fields of the case are not used.
fn heard(case: &TripCase) -> Result<(Heard, Result<Query, QueryError>), CaseError> {
    let Query { idx, level, query: text, .. } = &case.task().query;
    let database = case.database()?;
    let heard = read(text, &database.cities);
    let query = heard.reading.query(*idx, *level, text);
    Ok((heard, query))
}

/// The solver's answer to the query that the grammar extracted.
fn solved_from_text(case: &TripCase) -> Result<Gold, CaseError> {
    let (heard, query) = heard(case)?;
    let doubts = match heard.doubts.is_empty() {
        true => String::new(),
        false => format!(" In doubt: {}.", heard.doubts.join("; ")),
    };
    let read = serde_json::to_string(&heard.reading).unwrap_or_default();
    match query {
        Ok(query) => {
            let acted = solved(case, &query, TripObjective::Any)?;
            Ok(Gold { reasoning: format!("Read: {read}.{doubts} {}", acted.reasoning), ..acted })
        }
        Err(error) => {
            let what = format!("The text cannot be read: {error}.");
            Ok(Gold { reasoning: format!("Read: {read}.{doubts}"), answer: what, ..Gold::default() })
        }
    }
}

/// The fields that the grammar extracted.
fn fields_read(case: &TripCase) -> Result<Gold, CaseError> {
    let (heard, _) = heard(case)?;
    let answer = serde_json::to_string(&heard.reading).unwrap_or_default();
    Ok(Gold { reasoning: heard.doubts.join("; "), answer, ..Gold::default() })
}
