//! The calls of a trace, in the order in which they are judged.
//!
//! That order never depends on a race between two calls. The calls of one reply of a model ([`EventKind::Batch`])
//! count as made one after the other as written, in whatever order a framework sends them. Other calls with
//! overlapping executions have no order among each other: they stay overlapping, and are listed in a canonical order.

use planproof_trace::{Actor, Arguments, CallId, Event, EventKind, PairedCall, TimeOfDay, paired_calls};

use super::{Refused, time::written_start};

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
    /// Its batch, if it has one.
    pub(super) batch: Option<usize>,
}

/// The calls of one reply, as they were written.
struct Written<'a> {
    place: usize,
    actor: Option<&'a Actor>,
    ids: Vec<&'a str>,
}

/// The executed calls of a run, by the indices of their events, in the order in which they are judged.
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
    let mut held_back = Vec::new();
    let executed =
        paired_calls(events).into_iter().filter_map(|PairedCall { actor, call, place, result }| {
            let (id, tool, arguments) = (call.id.as_str(), call.name.as_str(), &call.arguments);
            let answered = match result {
                Some((_, result)) if result.is_held_back => {
                    held_back.push(Refused { tool: tool.to_owned(), answer: result.text.clone() });
                    return None;
                }
                Some((end, result)) => Some((end as u64, result.is_error.then_some(result.text.as_str()))),
                None => None,
            };
            // Ids may be reused in later replies, so the latest batch before the call counts.
            let holds =
                |batch: &Written<'_>| batch.place < place && batch.actor == actor && batch.ids.contains(&id);
            let batch = batches.iter().rposition(holds);
            Some(CallRecord { id, tool, arguments, place, start: place as u64, answered, batch })
        });
    let mut calls: Vec<CallRecord<'_>> = executed.collect();
    for (number, batch) in batches.iter().enumerate() {
        space_out(&mut calls, number, &batch.ids);
    }
    // Sorted before overlaps are grouped, which takes calls in the order of their starts.
    calls.sort_by_key(|call| call.start);
    order_overlapping(&mut calls);
    (held_back, calls)
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

/// Sorts overlapping calls by criteria other than which began first: by their start times, then by their tools. A
/// call that had ended before another began stays before it. Takes time in the square of the calls that overlap.
fn order_overlapping(calls: &mut [CallRecord<'_>]) {
    let end = |call: &CallRecord<'_>| call.answered.map_or(call.start, |(end, _)| end);
    let rank = |call: &CallRecord<'_>| {
        let minute = written_start(call).and_then(TimeOfDay::parse).map(TimeOfDay::minute);
        // With tool and arguments the order is total, so which call came first in the trace never shows.
        (minute, call.tool.to_owned(), call.arguments.to_text())
    };
    let mut first = 0;
    while first < calls.len() {
        let (mut last, mut group_end) = (first + 1, end(&calls[first]));
        // A group is everything that is connected by overlaps, so no call outside of it overlaps one inside.
        while calls.get(last).is_some_and(|call| call.start < group_end) {
            group_end = group_end.max(end(&calls[last]));
            last += 1;
        }
        let group = &mut calls[first..last];
        // Once for each call of a group; a call alone has nothing to be compared with.
        let mut ranks: Vec<_> = if group.len() > 1 { group.iter().map(rank).collect() } else { Vec::new() };
        for place in 0..group.len().saturating_sub(1) {
            // The order in time stays where there is one: nothing else of the rest may
            // have ended before this call began.
            let first_end = group[place..].iter().map(end).min().unwrap_or_default();
            let may_be_next = |at: &usize| group[*at].start <= first_end;
            let next = (place..group.len()).filter(may_be_next).min_by_key(|at| &ranks[*at]);
            let next = next.unwrap_or(place);
            // A rotation, unlike a swap, keeps the order of the calls that it passes.
            group[place..=next].rotate_right(1);
            ranks[place..=next].rotate_right(1);
        }
        first = last;
    }
}
