//! Where the published two-stage loop would have stopped a run (spec of the benchmark's code,
//! `agents/tool_agents.py`).
//!
//! A step is a call. The run stops before its 31st step, before the third identical call in a row, and before a
//! call of a tool that has failed three times since the last success of any tool. Calls of tools that do not exist
//! count as failures of one tool. Calls of the planner neither add nor clear failures. An error in the published
//! code is reproduced: failures of `AccommodationSearch` count under a name that is never checked, and its calls are
//! stopped by the failures of nonexistent tools.
//!
//! A team has loops of its own. Of the rules, the limit of steps applies to it as a whole, because the paper on
//! collaborating agents counts a plan as delivered only within 30 steps, planning and execution together (PMC, section
//! 5.1.1). It does not define the steps of a team. We count whatever takes a decision of a member: each reply of the
//! manager, of the supervisor and of the deliverer, each call of an executor, and each end of a sub-task that was
//! started, with a report or without.

use std::collections::BTreeMap;

use planproof_trace::{Actor, Author, Event, EventKind, PairedCall};

use super::toolbox::{PLANNER, is_search_tool};

/// Maximum number of steps of a run.
const STEPS_MAX: usize = 30;
/// The number of identical calls in a row at which the run stops.
const SAME_CALLS: usize = 3;
/// The number of failures after which a tool is not called again.
const FAILURES_MAX: u32 = 3;

/// The tool whose failures the published code counts under a name that it never checks. Before a call of it, the
/// failures under [`INVALID`] are checked.
const NOT_COUNTED: &str = "AccommodationSearch";

/// The name under which the published code counts calls of tools that do not exist.
const INVALID: &str = "invalidAction";

/// The section in which an agent with that loop states why it stopped.
const STOPPED: &str = "stopped";

/// The members of a team that are steps with each reply; the first one leads it.
const LEADERS: [&str; 3] = ["manager", "supervisor", "deliverer"];

/// The member of a team that is a step with each call and each end of a sub-task.
const EXECUTOR: &str = "executor";

/// The sections in which a team's sub-task that was started has ended.
const ENDED: [&str; 2] = ["result", "failure"];

/// What a member of a team is: the first part of its actor's name.
fn role(actor: &Actor) -> &str {
    actor.as_str().split('/').next().unwrap_or_default()
}

/// The steps of a team in a run; `None` if no team is at work in it.
pub(super) fn steps_of_team(events: &[Event]) -> Option<usize> {
    let is_led = |event: &Event| event.actor.as_ref().is_some_and(|actor| role(actor) == LEADERS[0]);
    if !events.iter().any(is_led) {
        return None;
    }
    let is_step = |event: &&Event| {
        let Some(role) = event.actor.as_ref().map(role) else { return false };
        match &event.kind {
            EventKind::Turn { .. } => LEADERS.contains(&role),
            EventKind::Call(_) => role == EXECUTOR,
            EventKind::Section { state, author: Author::Environment, .. } => {
                role == EXECUTOR && ENDED.contains(&state.as_str())
            }
            _ => false,
        }
    };
    Some(events.iter().filter(is_step).count())
}

/// Whether and why the rule on steps stops a team, in words.
pub(super) fn of_team(events: &[Event]) -> Option<String> {
    let steps = steps_of_team(events)?;
    (steps > STEPS_MAX)
        .then(|| format!("after step {STEPS_MAX} of the team's {steps}: {}", Stop::Steps.words()))
}

/// Where and why the published loop stopped a run, or would have stopped it, in words.
pub(super) fn of(calls: &[PairedCall<'_>], events: &[Event]) -> Option<String> {
    // An agent that runs this loop says itself where it stopped. For others, the rules are applied to their calls.
    let said = events.iter().find_map(|event| match &event.kind {
        EventKind::Section { state, author: Author::Environment, text, .. } if state == STOPPED => {
            Some(format!("after call {}: {text}", calls.len()))
        }
        _ => None,
    });
    let found = || {
        let (place, stop) = Stop::of(calls)?;
        Some(format!("before call {}: {}", place + 1, stop.words()))
    };
    said.or_else(found)
}

/// Why the published loop would have stopped before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The limit of steps is exceeded.
    Steps,
    /// The same call is made a third time in a row.
    SameCall,
    /// A tool has failed too often.
    Failures,
}

impl Stop {
    /// The reason, in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Steps => "more than 30 steps",
            Self::SameCall => "the same call three times in a row",
            Self::Failures => "a tool that had failed three times",
        }
    }

    /// Why the published loop would have stopped a run with these calls, and before which of them, from 0.
    pub fn of(calls: &[PairedCall<'_>]) -> Option<(usize, Self)> {
        let mut failures: BTreeMap<&str, u32> = BTreeMap::new();
        for (place, paired) in calls.iter().enumerate() {
            if place >= STEPS_MAX {
                return Some((place, Self::Steps));
            }
            let is_same = |other: &PairedCall<'_>| {
                other.call.name == paired.call.name && other.call.arguments == paired.call.arguments
            };
            let before = &calls[..place];
            if before.len() + 1 >= SAME_CALLS && before.iter().rev().take(SAME_CALLS - 1).all(is_same) {
                return Some((place, Self::SameCall));
            }
            let name = paired.call.name.as_str();
            // A planner call counts as a step and as a repetition, so this comes after those two rules.
            if name == PLANNER {
                continue;
            }
            let counted = if name != NOT_COUNTED && is_search_tool(name) { name } else { INVALID };
            if failures.get(counted).is_some_and(|failed| *failed >= FAILURES_MAX) {
                return Some((place, Self::Failures));
            }
            // A success comes first: it clears all failures, even if the failures of its own tool are not counted.
            match paired.result {
                Some((_, result)) if !result.is_error => failures.clear(),
                _ if name == NOT_COUNTED => {}
                _ => *failures.entry(counted).or_default() += 1,
            }
        }
        None
    }
}
