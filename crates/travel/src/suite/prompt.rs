//! Prompts for agents. All wordings are ours.

use super::task::{QueryMode, TripTask};

/// The form of plans.
const PLAN: &str = include_str!("../../prompts/plan.txt");
/// What counts as existing. How to use the tools is explained in their descriptions, since each member of a team
/// has only some of them.
const TWO_STAGE: &str = include_str!("../../prompts/two_stage.txt");
/// What the reference information is.
const SOLE_PLANNING: &str = include_str!("../../prompts/sole_planning.txt");
/// The prompt for the planner in two-stage mode.
const PLANNER: &str = include_str!("../../prompts/planner.txt");
/// The form of the fields of a query.
const READING: &str = include_str!("../../prompts/reading.txt");
/// The unconventional hints (PMC, section 5.1): two rules of the published evaluator that are hard to guess.
pub const HINTS: &str = include_str!("../../prompts/hints.txt");

/// The prompt of an agent, without its tools. An agent that only plans is a planner, and gets the hints if they are
/// enabled; a two-stage agent gets them through its planner.
pub(super) fn of(task: &TripTask) -> String {
    let query = task.query.query.trim();
    let pieces = match task.options.mode {
        QueryMode::TwoStage => vec![query, TWO_STAGE, PLAN],
        QueryMode::Reading => vec![query, READING],
        QueryMode::SolePlanning => {
            let reference =
                task.reference.as_ref().map(super::task::ReferenceInformation::text).unwrap_or_default();
            let hints = if task.options.hints { HINTS } else { "" };
            // The form of the answer is said last, behind pages of information.
            let information = format!("# Information\n\n{reference}");
            return joined(&[query, SOLE_PLANNING, hints, &information, "# Answer", PLAN]);
        }
    };
    joined(&pieces)
}

/// The prompt of the planner in two-stage mode.
pub(super) fn of_planner(request: &str, notes: &str, hints: bool) -> String {
    let hints = if hints { HINTS } else { "" };
    joined(&[PLANNER, hints, &format!("# Request\n\n{}", request.trim()), &format!("# Notes\n\n{notes}")])
}

fn joined(pieces: &[&str]) -> String {
    let pieces = pieces.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
    pieces.collect::<Vec<_>>().join("\n\n")
}
