//! Agents without a model: what each does with a case.

use planproof_suite::{CaseError, Gold, SuiteAgent};

use super::case::TripCase;
use super::task::Mode;
use super::{gold, greedy};
use crate::query::Query;
use crate::solve::{Answer, Change, Demand, Infeasible, Objective, Options, Solved, solve};

/// The agents of the suite.
pub(super) static AGENTS: [SuiteAgent; 3] = [
    SuiteAgent {
        name: "greedy",
        about: "takes what is cheapest, one thing after the other, and looks at no constraint",
    },
    SuiteAgent { name: "solver", about: "is given the fields of the query, and solves them exactly" },
    SuiteAgent { name: "solver-cheapest", about: "the same, and proves that no trip costs less" },
];

/// What an agent does with a case; nothing where there is no such agent.
pub(super) fn act(case: &TripCase, agent: &str, seed: u64) -> Option<Result<Gold, CaseError>> {
    let task = case.task();
    let is_reading = task.options.mode == Mode::Reading;
    Some(match agent {
        "greedy" | "solver" | "solver-cheapest" if is_reading => {
            Err(CaseError::new(format!("{agent} plans trips and reads no text: there is nothing to do in this mode")))
        }
        "greedy" => case.database().map(|database| {
            let plan = greedy::plan(&database, &task.query, seed);
            gold::of_plan(task, &plan)
        }),
        "solver" => solved(case, &task.query, Objective::Any),
        "solver-cheapest" => solved(case, &task.query, Objective::Cheapest),
        _ => return None,
    })
}

/// What the solver answers to a query, which is that of the case or what was read out of its text.
fn solved(case: &TripCase, query: &Query, objective: Objective) -> Result<Gold, CaseError> {
    let database = case.database()?;
    let options = Options { objective, ..Options::default() };
    let answer = solve(&database, query, case.task().options.compat, &options);
    let words = in_words(&answer, query);
    Ok(match answer.solved() {
        Some(Solved { plan, .. }) => Gold { reasoning: words, ..gold::of_plan(case.task(), &plan.0) },
        None => Gold { reasoning: words.clone(), answer: words, ..Gold::default() },
    })
}

/// What was proved, in sentences.
pub(super) fn in_words(answer: &Answer, query: &Query) -> String {
    match answer {
        Answer::Solved(solved) => {
            let Solved { cost, is_cheapest, steps, .. } = solved;
            let least = if *is_cheapest { ", and no trip that holds costs less" } else { "" };
            let budget = query.budget;
            format!("A trip that holds costs {cost:.2} of {budget:.2} dollars{least} ({steps} steps of search).")
        }
        Answer::Infeasible(infeasible) => no_trip(infeasible),
        Answer::Undecided(undecided) => format!("It is not decided: {}.", undecided.why),
    }
}

/// Why there is no trip, and what would help.
fn no_trip(infeasible: &Infeasible) -> String {
    let Infeasible { conflict, is_smallest, changes, obstacle, steps } = infeasible;
    let list = |demands: &[Demand]| demands.iter().map(Demand::to_string).collect::<Vec<_>>().join("; ");
    let why = match (obstacle, is_smallest) {
        (Some(obstacle), _) => format!("There is no such trip whatever is asked for: {obstacle}."),
        (None, true) => format!("No trip meets all of this, and no fewer demands conflict: {}.", list(conflict)),
        (None, false) => format!("No trip meets all of this: {}.", list(conflict)),
    };
    let change = |change: &Change| match change {
        Change::Budget(dollars) => format!("spend {dollars:.2} dollars, no less will do"),
        Change::Drop(demands) => format!("give up: {}", list(demands)),
    };
    let changes: Vec<String> = changes.iter().map(change).collect();
    let help = match changes.is_empty() {
        true => String::new(),
        false => format!(" What would help: {}.", changes.join("; or ")),
    };
    format!("{why}{help} (Proved in {steps} steps of search.)")
}
