//! What agents are asked. All wordings are ours.

use super::task::{Mode, Task};

/// What the form of plans is.
const PLAN: &str = include_str!("../../data/prompts/plan.txt");
/// What counts as existing. How to work with tools stands in their descriptions, since members of a team have a few
/// each.
const TWO_STAGE: &str = include_str!("../../data/prompts/two_stage.txt");
/// What the reference information is.
const SOLE_PLANNING: &str = include_str!("../../data/prompts/sole_planning.txt");
/// What the planner of two stages is asked.
const PLANNER: &str = include_str!("../../data/prompts/planner.txt");
/// What the form of the fields of a query is.
const READING: &str = include_str!("../../data/prompts/reading.txt");
/// The unconventional hints (PMC, section 5.1): two rules of the published evaluator that nobody would guess.
pub const HINTS: &str = include_str!("../../data/prompts/hints.txt");

/// What an agent is given beside its tools. An agent that only plans is a planner, and is given hints where there are
/// some; one of two stages is given them by its planner.
pub(super) fn of(task: &Task) -> String {
    let query = task.query.query.trim();
    let pieces = match task.options.mode {
        Mode::TwoStage => vec![query, TWO_STAGE, PLAN],
        Mode::Reading => vec![query, READING],
        Mode::SolePlanning => {
            let reference = task.reference.as_ref().map(super::task::Reference::text).unwrap_or_default();
            let hints = if task.options.hints { HINTS } else { "" };
            return joined(&[query, SOLE_PLANNING, hints, PLAN, &format!("# Information\n\n{reference}")]);
        }
    };
    joined(&pieces)
}

/// What the planner of two stages reads.
pub(super) fn of_planner(request: &str, notes: &str, hints: bool) -> String {
    let hints = if hints { HINTS } else { "" };
    joined(&[PLANNER, hints, &format!("# Request\n\n{}", request.trim()), &format!("# Notes\n\n{notes}")])
}

fn joined(pieces: &[&str]) -> String {
    let pieces = pieces.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
    pieces.collect::<Vec<_>>().join("\n\n")
}
