//! A plan that is executed after it was written: which of its calls may be executed with their final arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_trace::ToolCall;

use super::dfa::{DEAD, Dfa};
use super::{Annotated, Automaton};
use crate::Entered;

/// Checks the calls of a written run, in order, before each is executed.
///
/// A call may be executed if the run can still be in the language afterwards, even if later calls have to be denied.
/// Assumptions about later calls: unresolved arguments can take any value, and a call may also be denied.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    annotated: Option<Arc<Annotated>>,
    /// The annotated symbols that each state can have.
    word: Vec<Vec<usize>>,
    /// For each place the number of the set of positions from which the rest of the word can be passed.
    live: Vec<usize>,
    sets: Vec<Vec<bool>>,
    /// Up to this place all is decided.
    place: usize,
    position: u32,
}

impl Plan {
    /// `word` are the states of a run with their calls, the last one being that of the handler. `is_waiting` says for
    /// each state whether its call is still to be executed.
    pub(crate) fn new(automaton: &Automaton, word: &[Entered<'_>], is_waiting: &[bool]) -> Self {
        let annotated = automaton.annotated.clone();
        let mut plan = Self {
            annotated: None,
            word: Vec::new(),
            live: Vec::new(),
            sets: Vec::new(),
            place: 0,
            position: DEAD,
        };
        // No requirement is about calls, so all of them may be executed.
        let Some(twin) = annotated else { return plan };
        let words = &automaton.alphabet;
        let annotations = words.annotations(&twin.alphabet);
        let symbols = |(entered, is_waiting): (&Entered<'_>, &bool)| {
            let mut symbols = annotations[words.symbol(*entered)].clone();
            // A waiting call may also be denied.
            if *is_waiting {
                symbols.push(twin.alphabet.of_fate(entered.state, None));
            }
            symbols
        };
        plan.word = word.iter().zip(is_waiting).map(symbols).collect();
        plan.position = twin.dfa.start();
        plan.look_back(&twin.dfa);
        plan.annotated = Some(twin);
        plan
    }

    /// Whether the specification requires something of calls.
    pub(crate) fn has_requirements(&self) -> bool {
        self.annotated.is_some()
    }

    /// Finds the positions from which the rest can be passed, from the end on. Plans are repetitive, and so are the
    /// sets.
    fn look_back(&mut self, dfa: &Dfa) {
        // After the word every position is live: from each of them an end can be reached.
        self.sets = vec![vec![true; dfa.positions()]];
        self.live = vec![0; self.word.len() + 1];
        let mut known: BTreeMap<(usize, &[usize]), usize> = BTreeMap::new();
        for (place, symbols) in self.word.iter().enumerate().rev() {
            let after = self.live[place + 1];
            let sets = &mut self.sets;
            self.live[place] = *known.entry((after, symbols)).or_insert_with(|| {
                let is_live = |position: u32| {
                    let mut targets = symbols.iter().map(|symbol| dfa.step(position, *symbol));
                    targets.any(|target| target != DEAD && sets[after][target as usize])
                };
                let set: Vec<bool> = (0..dfa.positions() as u32).map(is_live).collect();
                // Equal sets share a number, so that equal stretches of a plan are found in the table.
                sets.iter().position(|other| *other == set).unwrap_or_else(|| {
                    sets.push(set);
                    sets.len() - 1
                })
            });
        }
    }

    /// Whether the call of the state at this place of the word may be executed with these arguments; with `None`,
    /// whether it may be denied. The calls before it have been decided.
    pub(crate) fn may(&self, place: usize, call: Option<&ToolCall>) -> bool {
        let Some(twin) = &self.annotated else { return true };
        let before = self.at(&twin.dfa, place);
        let Some(state) = self.word[place].first().map(|symbol| twin.alphabet.state_of(*symbol)) else {
            return true;
        };
        let after = twin.dfa.step(before, twin.alphabet.of_fate(state, call));
        after != DEAD && self.sets[self.live[place + 1]][after as usize]
    }

    /// Decides it.
    pub(crate) fn decide(&mut self, place: usize, call: Option<&ToolCall>) {
        let Some(twin) = self.annotated.clone() else { return };
        let before = self.at(&twin.dfa, place);
        if let Some(state) = self.word[place].first().map(|symbol| twin.alphabet.state_of(*symbol)) {
            self.position = twin.dfa.step(before, twin.alphabet.of_fate(state, call));
            self.place = place + 1;
        }
    }

    /// The position before a place: the states between decided calls have one annotation that continues.
    fn at(&self, dfa: &Dfa, place: usize) -> u32 {
        let mut position = self.position;
        for (at, symbols) in self.word.iter().enumerate().take(place).skip(self.place) {
            let live = &self.sets[self.live[at + 1]];
            let mut targets = symbols.iter().map(|symbol| dfa.step(position, *symbol));
            position = targets.find(|target| *target != DEAD && live[*target as usize]).unwrap_or(DEAD);
        }
        position
    }
}
