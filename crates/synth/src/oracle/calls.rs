//! The calls of a trace, in the order in which they began, and the orders that their executions leave open.
//!
//! The calls of one reply of a model ([`EventKind::Batch`]) count as made one after the other as written, in whatever
//! order a framework sends them. Other calls with overlapping executions have no order among each other. A verdict
//! lists them as they began, but which of them began first is often the result of a race, so nothing is blamed on it:
//! they are judged in the order that is most favourable to the agent ([`linearisation`]).

use planproof_trace::{Actor, Arguments, CallId, Event, EventKind, PairedCall, paired_calls};

/// A call that was not executed, and the answer for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The tool's name, as the agent wrote it.
    pub tool: String,
    pub answer: String,
}

/// One tool call of the trace.
pub(super) struct CallRecord<'a> {
    id: &'a str,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Arguments,
    /// The index of its first event.
    place: usize,
    /// Its beginning: a position in the trace; for a call of a batch, one at which a call of the batch began or
    /// ended.
    pub(super) start: u64,
    /// Set when it was answered: the position, and the error if any.
    pub(super) answered: Option<(u64, Option<&'a str>)>,
    /// The answer, without an error, has no text.
    pub(super) is_empty: bool,
    /// Its batch, if it has one.
    pub(super) batch: Option<usize>,
}

/// The calls of one reply, as they were written.
struct Written<'a> {
    place: usize,
    actor: Option<&'a Actor>,
    ids: Vec<&'a str>,
}

/// The executed calls of a run, by the indices of their events, in the order in which they began.
pub fn executed_calls(events: &[Event]) -> Vec<usize> {
    let calls = collect_calls(events).1.into_iter();
    calls.filter(|call| matches!(call.answered, Some((_, None)))).map(|call| call.place).collect()
}

/// Calls with their results, and separately the denied ones. Starts and ends are positions in the trace, which is the
/// order of observation.
pub(super) fn collect_calls(events: &[Event]) -> (Vec<Refused>, Vec<CallRecord<'_>>) {
    let events_at = events.iter().enumerate();
    let batches: Vec<Written<'_>> = events_at
        .filter_map(|(place, event)| match &event.kind {
            EventKind::Batch { calls } => {
                let ids = calls.iter().map(CallId::as_str).collect();
                Some(Written { place, actor: event.actor.as_ref(), ids })
            }
            _ => None,
        })
        .collect();
    let mut denied = Vec::new();
    let executed =
        paired_calls(events).into_iter().filter_map(|PairedCall { actor, call, place, result }| {
            let (id, tool, arguments) = (call.id.as_str(), call.name.as_str(), &call.arguments);
            let answered = match result {
                Some((_, result)) if result.is_denied => {
                    denied.push(Refused { tool: tool.to_owned(), answer: result.text.clone() });
                    return None;
                }
                Some((end, result)) => Some((end as u64, result.is_error.then_some(result.text.as_str()))),
                None => None,
            };
            // Ids may be reused in later replies, so the latest batch before the call counts.
            let holds =
                |batch: &Written<'_>| batch.place < place && batch.actor == actor && batch.ids.contains(&id);
            let batch = batches.iter().rposition(holds);
            let is_empty = result.is_some_and(|(_, result)| !result.is_error && result.text.is_empty());
            Some(CallRecord { id, tool, arguments, place, start: place as u64, answered, is_empty, batch })
        });
    let mut calls: Vec<CallRecord<'_>> = executed.collect();
    for (number, batch) in batches.iter().enumerate() {
        space_out(&mut calls, number, &batch.ids);
    }
    calls.sort_by_key(|call| call.start);
    (denied, calls)
}

/// Distributes the positions at which calls of a batch began and ended, so that the calls follow each other as
/// written.
fn space_out(calls: &mut [CallRecord<'_>], number: usize, written: &[&str]) {
    let mut own: Vec<&mut CallRecord<'_>> =
        calls.iter_mut().filter(|call| call.batch == Some(number)).collect();
    let ends = own.iter().filter_map(|call| call.answered.map(|(end, _)| end));
    let mut places: Vec<u64> = own.iter().map(|call| call.start).chain(ends).collect();
    // There is one place for each start and each end, so dealing them out below uses up all of them.
    places.sort_unstable();
    let mut places = places.into_iter();
    own.sort_by_key(|call| written.iter().position(|id| *id == call.id));
    for call in own {
        call.start = places.next().unwrap_or(call.start);
        if let Some((end, _)) = &mut call.answered {
            *end = places.next().unwrap_or(*end);
        }
    }
}

/// One order of calls that are given by their starts and ends, in the order of their starts: a call that had ended
/// before another began stays before it. Among those that may come next, `choose` picks one: it gets their places, in
/// the order in which they began, and returns an index into them. Takes time in the square of the calls that overlap.
pub(super) fn linearisation(spans: &[(u64, u64)], mut choose: impl FnMut(&[usize]) -> usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(spans.len());
    let (mut begun, mut open) = (0, Vec::new());
    while order.len() < spans.len() {
        // Whatever begins before the first of the open calls has ended could have come before that call.
        let mut first_end = open.iter().map(|&place: &usize| spans[place].1).min();
        while let Some(&(start, end)) =
            spans.get(begun).filter(|span| first_end.is_none_or(|it| span.0 <= it))
        {
            debug_assert!(start <= end, "a call ends after it began");
            open.push(begun);
            begun += 1;
            first_end = Some(first_end.map_or(end, |it| it.min(end)));
        }
        order.push(open.remove(choose(&open)));
    }
    order
}
