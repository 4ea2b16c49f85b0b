//! The plan in the trace of a run.

use planproof_trace::{EndReason, Event, EventKind};
use serde_json::Value as Json;

use super::{Asking, Division, Pair, PlanFaultKind, sections};

/// The plan of a run in which an agent wrote sub-tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOfRun {
    /// How the task was divided.
    pub division: Division,
    /// The sub-tasks: all planned ones or, if they came one by one, those that were started. A person's changes
    /// count. Empty if the agent produced none.
    pub pairs: Vec<Pair>,
    /// The kind of fault at which the agent failed, if it failed because of one of its model's replies.
    pub broken_at: Option<PlanFaultKind>,
}

impl PlanOfRun {
    /// Reads it from the events of a run; `None` unless the run's agent writes sub-tasks. Takes time in proportion to
    /// the events.
    pub fn of(events: &[Event]) -> Option<Self> {
        let mut division = None;
        let mut planned: Option<Vec<Pair>> = None;
        let mut taken_up: Vec<Pair> = Vec::new();
        let (mut last_fault, mut is_broken) = (None, false);
        for event in events {
            if let EventKind::End(EndReason::AgentFailed { .. }) = &event.kind {
                is_broken = true;
            }
            let EventKind::Section { state, text, note, .. } = &event.kind else { continue };
            let actor = event.actor.as_ref().map(planproof_trace::Actor::as_str);
            let is_planner = actor == Some(Asking::Plan.actor());
            match state.as_str() {
                // The first prompt names the division; a grouped agent then asks for single sub-tasks as well. Of a
                // prompt of the user's, the note names it.
                sections::PROMPT if is_planner && division.is_none() => {
                    let begun = |(asking, of_asking): &(Asking, Division)| {
                        note == of_asking.as_str() || (note.is_empty() && text.starts_with(asking.mark()))
                    };
                    let divisions = [
                        (Asking::Plan, Division::AtOnce),
                        (Asking::Next, Division::OneByOne),
                        (Asking::Groups, Division::Grouped),
                    ];
                    division = divisions.into_iter().find(begun).map(|(_, division)| division);
                }
                sections::PLAN if is_planner => {
                    planned = serde_json::from_str(text)
                        .ok()
                        .map(|list: Vec<Json>| list.iter().filter_map(Pair::of_json).collect());
                }
                sections::SUB_TASK if is_planner => {
                    let Some(pair) = serde_json::from_str(text).ok().as_ref().and_then(Pair::of_json) else {
                        continue;
                    };
                    let place = note.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                    // One that runs again keeps its number, and later ones come again.
                    match place.filter(|place| *place <= taken_up.len()) {
                        Some(place) => {
                            taken_up.truncate(place);
                            taken_up.push(pair);
                        }
                        None => taken_up.push(pair),
                    }
                }
                sections::FAULTS if division.is_some() => last_fault = PlanFaultKind::find(note),
                _ => {}
            }
        }
        // Only an agent that divides at once writes a plan; for the others, what was started is the plan.
        let pairs = planned.unwrap_or(taken_up);
        Some(Self { division: division?, pairs, broken_at: last_fault.filter(|_| is_broken) })
    }
}
