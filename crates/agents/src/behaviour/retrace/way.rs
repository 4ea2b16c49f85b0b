//! The shortest path through an automaton that makes and executes all given calls, and on which the run may end.

use std::collections::{BTreeMap, VecDeque};

use planproof_spec::{Automaton, Entered, Handler, Position, StateId};
use planproof_trace::ToolCall;

/// Where a way begins.
pub(super) struct Beginning {
    /// Where the run is.
    pub(super) position: Position,
    /// The state whose content is being written. If it completes a call, the position is before it.
    pub(super) open: Option<StateId>,
    /// How many calls wait to be executed.
    pub(super) waiting: usize,
}

/// What a way must be like.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// The calls, in order.
    pub(super) calls: &'a [ToolCall],
    /// No call is written while another one waits.
    pub(super) sees_each: bool,
    /// What the first mark begins with.
    pub(super) hint: &'a str,
}

/// A place on a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    position: Position,
    /// How many of the calls are written.
    made: usize,
    /// How many calls wait to be executed.
    waiting: usize,
}

/// The states of a path, the open one first; among the shortest paths, the first in the order of the specification.
/// `None` if there is none. A breadth-first search: takes time in proportion to positions, calls and states.
pub(super) fn shortest_way(
    automaton: &Automaton,
    beginning: &Beginning,
    rules: &Rules<'_>,
) -> Option<Vec<StateId>> {
    let start = Place { position: beginning.position, made: 0, waiting: beginning.waiting };
    let begin = match beginning.open {
        None => start,
        Some(state) if automaton.state(state).completes_call() => enter(automaton, start, state, rules)?,
        // The name of a tool has been begun, and no call is left to make.
        Some(state) if automaton.state(state).names_tool() && rules.calls.is_empty() => return None,
        Some(_) => start,
    };
    let mut from: BTreeMap<Place, Option<(Place, StateId)>> = BTreeMap::from([(begin, None)]);
    let mut open = VecDeque::from([begin]);
    while let Some(place) = open.pop_front() {
        // Places leave the queue in the order of their distance, so the first end is a nearest one.
        if is_end(automaton, place, rules) {
            let mut way = Vec::new();
            let mut at = place;
            while let Some(Some((before, state))) = from.get(&at) {
                way.push(*state);
                at = *before;
            }
            way.extend(beginning.open);
            way.reverse();
            return Some(way);
        }
        for state in automaton.valid(place.position).iter().copied() {
            // Only the beginning of the first mark can be written already.
            let is_first = place == begin && beginning.open.is_none();
            if is_first && !automaton.state(state).prompt.value.starts_with(rules.hint) {
                continue;
            }
            if let Some(next) = enter(automaton, place, state, rules)
                && !from.contains_key(&next)
            {
                from.insert(next, Some((place, state)));
                open.push_back(next);
            }
        }
    }
    None
}

fn is_end(automaton: &Automaton, place: Place, rules: &Rules<'_>) -> bool {
    place.made == rules.calls.len() && place.waiting == 0 && automaton.is_accepting(place.position)
}

/// The position of a path after a state; `None` if the state must not come, or loses something.
fn enter(automaton: &Automaton, place: Place, id: StateId, rules: &Rules<'_>) -> Option<Place> {
    let state = automaton.state(id);
    let next = rules.calls.get(place.made);
    if state.is_environment {
        let position = automaton.after(place.position, id)?;
        let waiting_max = match state.handler.as_ref().map(|handler| handler.value) {
            // Discards the calls that wait.
            Some(Handler::Evaluate) => 0,
            // Executes only the last call.
            None | Some(Handler::RunCall) => 1,
            Some(Handler::RunCalls | Handler::Summarise | Handler::Solve) => usize::MAX,
        };
        return (place.waiting <= waiting_max).then_some(Place { position, waiting: 0, ..place });
    }
    if state.completes_call() {
        if rules.sees_each && place.waiting > 0 {
            return None;
        }
        let position = automaton.after(place.position, Entered::with(id, Some(next?)))?;
        return Some(Place { position, made: place.made + 1, waiting: place.waiting + 1 });
    }
    if state.names_tool() {
        next?;
    }
    Some(Place { position: automaton.after(place.position, id)?, ..place })
}
