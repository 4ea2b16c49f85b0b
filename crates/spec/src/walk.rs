//! A walk through an automaton, state by state.

use crate::{Automaton, Compat, Entered, Position, StateId};

/// A run without its text: its states so far, and the possible next ones. Anything else is refused, and the walk
/// stays where it is.
///
/// With [`Compat::Original`] a walk whose formula has ended lists the states that could begin it; entering one of
/// them ends the walk.
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    automaton: &'a Automaton,
    compat: Compat,
    position: Position,
    has_ended: bool,
}

impl<'a> Walk<'a> {
    /// A walk at its start.
    pub fn new(automaton: &'a Automaton, compat: Compat) -> Self {
        Self { automaton, compat, position: automaton.start(), has_ended: false }
    }

    /// Where it is.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The possible next states, in the order of the specification.
    pub fn valid(&self) -> &'a [StateId] {
        if self.has_ended {
            &[]
        } else if self.is_complete() && self.compat == Compat::Original {
            self.automaton.valid(self.automaton.start())
        } else {
            self.automaton.valid(self.position)
        }
    }

    /// Whether the run may end here.
    pub fn may_end(&self) -> bool {
        self.automaton.is_accepting(self.position)
    }

    /// Whether the formula has ended: nothing can follow.
    pub fn is_complete(&self) -> bool {
        self.may_end() && self.automaton.valid(self.position).is_empty()
    }

    /// Whether the walk has ended like the published code's, by a state that could begin it anew.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Enters a state. Returns false and changes nothing if it must not come next, or not with this call.
    pub fn enter<'c>(&mut self, entered: impl Into<Entered<'c>>) -> bool {
        let entered = entered.into();
        if self.has_ended || !self.valid().contains(&entered.state) {
            return false;
        }
        // Only in the published dialect: in ours no state is valid then. The state marks the end and is not entered.
        if self.is_complete() {
            self.has_ended = true;
            return true;
        }
        match self.automaton.after(self.position, entered) {
            Some(position) => {
                self.position = position;
                true
            }
            None => false,
        }
    }
}
