//! Remarks on single calls of a run: their numbers, peculiarities, and the first wrong one.

use std::collections::{HashMap, HashSet};

use planproof_suite::EventNote;
use planproof_synth::{OracleVerdict, PlanningCase, START_TIME_ARGUMENT, executed_calls};
use planproof_trace::{Event, EventKind, TimeOfDay, ToolCall, paired_calls};

use crate::words::{expected, is_wrong_value, wrong_values};

/// The notes, in the order of the events; `None` if the calls are not those of the verdict. The calls of a trace that
/// was changed since must not be attributed to the verdict.
pub(crate) fn notes(
    case: &PlanningCase,
    verdict: &OracleVerdict,
    events: &[Event],
) -> Option<Vec<EventNote>> {
    let executed = executed_actions(case, events);
    let ids = executed.iter().map(|(_, action)| &case.actions[*action].id);
    if !ids.eq(&verdict.calls) {
        return None;
    }
    let wrong = verdict.first_wrong_call.and_then(|wrong| executed.get(wrong)).map(|(place, _)| *place);
    // Overlapping calls are not judged in the order in which they began.
    let numbers: HashMap<usize, usize> = executed.iter().map(|(place, _)| *place).zip(1..).collect();
    let mut done: HashSet<&str> = HashSet::new();
    let mut notes = Vec::new();
    for paired in paired_calls(events) {
        let (place, call) = (paired.place, paired.call);
        let number = numbers.get(&place).copied();
        let is_answered = paired.result.is_some_and(|(_, answer)| !answer.is_error);
        let remark = match number {
            None if case.is_restart(&call.name) => is_answered.then_some("clears the day"),
            None if case.is_report(&call.name) => is_answered.then_some("reports a conflict"),
            None if case.action_of_tool(&call.name).is_some() => {
                (is_answered && case.time.is_some()).then_some("is not judged")
            }
            None => is_answered.then_some("belongs to no action"),
            Some(_) => (!done.insert(&call.name)).then_some("was done before"),
        };
        let wrong = (wrong == Some(place)).then(|| first_wrong(case, verdict));
        if number.is_some() || remark.is_some() {
            notes.push(EventNote { event: place, number, remark, wrong });
        }
    }
    Some(notes)
}

/// Indices of the calls that were executed as actions, in the order in which they are judged, with the indices of the
/// actions. In the time form only calls with a start count, and only those after the last restart, unless the case is
/// infeasible: there a restart undoes nothing.
fn executed_actions(case: &PlanningCase, events: &[Event]) -> Vec<(usize, usize)> {
    let call_at = |place: usize| match events.get(place).map(|event| &event.kind) {
        Some(EventKind::Call(call)) => Some((place, call)),
        _ => None,
    };
    let calls: Vec<(usize, &ToolCall)> = executed_calls(events).into_iter().filter_map(call_at).collect();
    // As in the judge of the time form: only what follows the last restart is judged.
    let restart = calls.iter().rposition(|(_, call)| case.is_restart(&call.name) && case.is_feasible());
    calls[restart.map_or(0, |restart| restart + 1)..]
        .iter()
        .filter(|(_, call)| case.time.is_none() || has_start(call))
        .filter_map(|(place, call)| Some((*place, case.action_of_tool(&call.name)?)))
        .collect()
}

fn has_start(call: &ToolCall) -> bool {
    let start = call.arguments.as_object().and_then(|arguments| arguments.get(START_TIME_ARGUMENT)?.as_str());
    start.and_then(TimeOfDay::parse).is_some()
}

/// "Expected A 08:00 to 09:00, B or C."; empty if nothing is known to be correct.
fn first_wrong(case: &PlanningCase, verdict: &OracleVerdict) -> String {
    match verdict.first_wrong_call {
        Some(wrong) if is_wrong_value(verdict, wrong) => {
            format!("{}.", wrong_values(case, verdict).join("; "))
        }
        Some(wrong) => match expected(case, verdict, wrong).as_str() {
            "" => String::new(),
            expected => format!("Expected {expected}."),
        },
        None => String::new(),
    }
}
