//! The order of the tasks in the middle of a run, from the calls that are finished.

use planproof_suite::{Board, CheckState};
use planproof_synth::{JudgeOptions, OracleVerdict, PlanningCase, judge};
use planproof_trace::{EndReason, Event, EventKind, paired_calls};

use crate::picture;
use crate::stated::Stated;

/// The beginning of a run is judged as if the run ended there: what holds or is broken between finished calls stays so.
pub(crate) fn board(
    case: &PlanningCase,
    events: &[Event],
    options: JudgeOptions,
    state: impl Fn(Stated<'_>, &OracleVerdict) -> CheckState,
) -> Result<Board, &'static str> {
    let events = match events.split_last() {
        Some((Event { kind: EventKind::End(_), .. }, before)) => before,
        _ => events,
    };
    let mut ended = events.to_vec();
    let at = events.last().map_or(0, |event| event.at);
    ended.push(Event::new(at, EventKind::End(EndReason::Answered { text: String::new() })));
    let verdict = judge(case, &ended, options).map_err(|_| "these events have no verdict")?;
    let drawn = picture::drawn(case, &verdict, |stated| state(stated, &verdict));
    let (graph, held) = drawn.ok_or("the case demands no order, or one that is too large to be seen")?;
    let mut begun = vec![false; graph.nodes.len()];
    for call in paired_calls(events).into_iter().filter(|paired| paired.result.is_none()) {
        if let Some(action) = case.action_of_tool(&call.call.name) {
            begun[action] = true;
        }
    }
    Ok(Board { graph, held, begun })
}
