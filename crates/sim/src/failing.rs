//! How a simulated model reacts to tools that fail.
//!
//! It repeats a call that failed for the moment, and leaves out a task whose tool will not work again, with all tasks
//! that have to come after it. Some kinds make one mistake at this, and none elsewhere.

use planproof_model::{ChatRequest, Message};
use planproof_trace::faults::SeenFault;

use crate::SimKind;
use crate::step::Step;

/// What became of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Not made, or failed for the moment.
    Open,
    Done,
    /// Its tool will not work again, or so the model thinks.
    Lost,
}

/// Whether some call of a conversation failed because its tool did.
pub(crate) fn has_failures(request: &ChatRequest) -> bool {
    answers(request).any(|(tool, text)| SeenFault::of(tool, text).is_some())
}

/// The answers of a conversation, with their tools.
fn answers(request: &ChatRequest) -> impl Iterator<Item = (&str, &str)> {
    let calls = request.messages.iter().flat_map(|message| match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    let calls: Vec<_> = calls.collect();
    request.messages.iter().filter_map(move |message| {
        let Message::Tool { id, text } = message else { return None };
        let call = calls.iter().find(|call| call.id == *id)?;
        Some((call.name.as_str(), text.as_str()))
    })
}

/// The next turn of a plan after failures, or its end. `after` has for each turn the set of the turns that have to come
/// before it.
pub(crate) fn next(kind: SimKind, calls: &[Step], after: &[u64], end: Step, request: &ChatRequest) -> Step {
    let tool_of = |turn: &Step| match turn {
        Step::Call { tool, .. } => request.tools.get(usize::from(*tool)).map(|tool| tool.name.as_str()),
        Step::Say(_) => None,
    };
    let mut turns = vec![Turn::Open; calls.len()];
    let mut attempts = vec![0; calls.len()];
    let mut has_given_up = false;
    for (tool, text) in answers(request) {
        let Some(turn) = calls.iter().position(|turn| tool_of(turn) == Some(tool)) else { continue };
        attempts[turn] += 1;
        turns[turn] = match (SeenFault::of(tool, text), kind) {
            (None, _) => Turn::Done,
            (Some(SeenFault::Transient), SimKind::NoRetry) => Turn::Lost,
            (Some(SeenFault::Transient), _) => Turn::Open,
            (Some(_), SimKind::RetriesForever) => Turn::Open,
            // It takes the task for done.
            (Some(_), SimKind::IgnoresFailures) => Turn::Done,
            (Some(_), _) => Turn::Lost,
        };
        has_given_up |= kind == SimKind::GivesUp
            && turns[turn] != Turn::Done
            && (turns[turn] == Turn::Lost || attempts[turn] > 1);
    }
    if has_given_up {
        return end;
    }
    let is_free = |turn: usize| {
        let before = after.get(turn).copied().unwrap_or_default();
        (0..calls.len().min(u64::BITS as usize))
            .all(|other| before & (1 << other) == 0 || turns[other] == Turn::Done)
    };
    let next = (0..calls.len()).find(|turn| turns[*turn] == Turn::Open && is_free(*turn));
    next.and_then(|turn| calls.get(turn)).copied().unwrap_or(end)
}
