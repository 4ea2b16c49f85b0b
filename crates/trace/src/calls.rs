//! Calls with their results: the one place that decides which result belongs to which call.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::{Actor, CallId, Event, EventKind, ToolCall, ToolResult, Trace};

/// A call of a run, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedCall<'e> {
    /// The agent that made it; `None` for the only or the outermost one.
    pub actor: Option<&'e Actor>,
    /// The call.
    pub call: &'e ToolCall,
    /// Which of the events it is, from 0.
    pub place: usize,
    /// Its result, with the index of its event; `None` if there is none.
    pub result: Option<(usize, &'e ToolResult)>,
}

/// Pairs calls with results while they are recorded.
///
/// A result belongs to the call of the same actor with its id. In foreign traces calls can share an id, even at the
/// same time: then results belong to them in the order of the calls, each to the first one without a result. Nothing
/// better can be known, and no executed call is lost. A result without a waiting call belongs to none.
#[derive(Debug, Clone, Default)]
pub struct CallPairing {
    calls: usize,
    waiting: Waiting<(Option<Actor>, CallId)>,
}

/// The numbers of the calls that wait for a result, by actor and id.
#[derive(Debug, Clone)]
struct Waiting<K> {
    /// If a single call waits, which is the usual case, it is stored here and nothing is hashed.
    single: Option<(K, usize)>,
    several: HashMap<K, VecDeque<usize>>,
}

impl<K> Default for Waiting<K> {
    fn default() -> Self {
        Self { single: None, several: HashMap::new() }
    }
}

impl<K: Eq + Hash> Waiting<K> {
    fn add(&mut self, key: K, number: usize) {
        if self.single.is_none() && self.several.is_empty() {
            self.single = Some((key, number));
            return;
        }
        // From the second waiting call on, all are in the map, in their order.
        for (key, number) in self.single.take().into_iter().chain([(key, number)]) {
            self.several.entry(key).or_default().push_back(number);
        }
    }

    /// Removes the first call of that actor and id.
    fn take(&mut self, key: &K) -> Option<usize> {
        if let Some((_, number)) = self.single.take_if(|(single, _)| single == key) {
            return Some(number);
        }
        let numbers = self.several.get_mut(key)?;
        let number = numbers.pop_front();
        // An empty list is removed, so that a single call can be stored without hashing again.
        if numbers.is_empty() {
            self.several.remove(key);
        }
        number
    }
}

impl CallPairing {
    /// Takes the next event. Returns for a call its number, counted from 0, and for a result that of its call; `None`
    /// for all other events.
    pub fn take(&mut self, event: &Event) -> Option<usize> {
        match &event.kind {
            EventKind::Call(call) => {
                let number = self.calls;
                self.calls += 1;
                self.waiting.add((event.actor.clone(), call.id.clone()), number);
                Some(number)
            }
            EventKind::Result(result) => self.waiting.take(&(event.actor.clone(), result.id.clone())),
            _ => None,
        }
    }

    /// Calls so far.
    pub fn calls(&self) -> usize {
        self.calls
    }
}

/// The calls among events, in order, each with its result by the rule of [`CallPairing`].
pub fn paired_calls<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<PairedCall<'e>> {
    // Here all events are at hand, so the keys are borrowed.
    let mut waiting: Waiting<(Option<&Actor>, &CallId)> = Waiting::default();
    let mut calls: Vec<PairedCall<'e>> = Vec::new();
    for (place, event) in events.into_iter().enumerate() {
        let actor = event.actor.as_ref();
        match &event.kind {
            EventKind::Call(call) => {
                waiting.add((actor, &call.id), calls.len());
                calls.push(PairedCall { actor, call, place, result: None });
            }
            EventKind::Result(result) => {
                if let Some(number) = waiting.take(&(actor, &result.id)) {
                    calls[number].result = Some((place, result));
                }
            }
            _ => {}
        }
    }
    calls
}

impl Trace {
    /// The calls of the run, in order, each with its result: see [`paired_calls`].
    pub fn calls(&self) -> Vec<PairedCall<'_>> {
        paired_calls(&self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// Each call as its tool and its answer.
    fn pairs(events: &str) -> Vec<(String, String)> {
        let events = parse(events).expect("valid");
        // While they are recorded, the pairs are the same.
        let mut pairing = CallPairing::default();
        let numbers: Vec<Option<usize>> = events.iter().map(|event| pairing.take(event)).collect();
        for (number, it) in paired_calls(&events).iter().enumerate() {
            let places: Vec<usize> =
                (0..events.len()).filter(|place| numbers[*place] == Some(number)).collect();
            assert!(places.iter().eq([it.place].iter().chain(it.result.iter().map(|(place, _)| place))));
        }
        let calls = paired_calls(&events).into_iter().map(|it| {
            assert!(matches!(&events[it.place].kind, EventKind::Call(call) if call == it.call));
            let text = |(place, result): (usize, &ToolResult)| {
                assert!(matches!(&events[place].kind, EventKind::Result(other) if other == result));
                result.text.clone()
            };
            (it.call.name.clone(), it.result.map_or_else(|| "-".to_owned(), text))
        });
        calls.collect()
    }

    #[track_caller]
    fn check(events: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(pairs(events), expected);
    }

    #[test]
    fn results_may_come_in_any_order() {
        check(
            r#"call a #x | call b #y | ok #y "2" | say "." | call c #z | ok #x "1""#,
            &[("a", "1"), ("b", "2"), ("c", "-")],
        );
    }

    #[test]
    fn calls_that_share_an_id_have_results_in_their_order() {
        check(
            r#"call a #x | call b #x | ok #x "1" | call c #x | ok #x "2" | ok #x "3" | ok #x "4" | ok #none "5""#,
            &[("a", "1"), ("b", "2"), ("c", "3")],
        );
    }

    #[test]
    fn ids_are_those_of_an_actor() {
        check(
            r#"one: call a #x | two: call b #x | call c #x | two: ok #x "2" | ok #x "3" | one: ok #x "1" | one: ok #x "no""#,
            &[("a", "1"), ("b", "2"), ("c", "3")],
        );
    }
}
