//! The execution of calls: which of a run's written calls the following states of the environment execute.
//!
//! A requirement is about executed calls, and whether a call is executed shows only later. So requirements are read
//! on *annotated* words, in which each completed call is either executed, or void, or denied. The automaton of
//! [`annotation`] accepts the words with a correct annotation; each word has exactly one. Combined with a requirement
//! it is [`projected`] to the words themselves: a position is then the set of possible fates of the waiting calls.

use std::collections::VecDeque;

use super::alphabet::{Alphabet, Made};
use super::dfa::{DEAD, Dfa, Numbering, TooLarge, Work, check_positions};
use crate::{Handler, Spec, StateId};

/// The effect of a state of the environment on calls; `None` for a state of the model.
pub(super) fn handler(spec: &Spec, state: StateId) -> Option<Handler> {
    let state = &spec.states[state.index()];
    // Without a handler the last call is run, as in the published dialect.
    state.is_environment.then(|| state.handler.as_ref().map_or(Handler::RunCall, |handler| handler.value))
}

/// A claim about waiting calls: that some of them are executed, and others not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Claims {
    executed: bool,
    void: bool,
}

impl Claims {
    fn and(self, other: Self) -> Self {
        Self { executed: self.executed || other.executed, void: self.void || other.void }
    }
}

/// The waiting calls: the latest one, earlier ones since the environment wrote last, and those that it skipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    latest: Claims,
    earlier: Claims,
    passed_over: Claims,
}

impl Waiting {
    fn after(self, claim: Claims) -> Self {
        Self { latest: claim, earlier: self.earlier.and(self.latest), ..self }
    }

    /// The waiting calls after a handler; `None` if a claim was false.
    fn handled(self, handler: Handler) -> Option<Self> {
        let collected = self.latest.and(self.earlier);
        let (run, rest) = match handler {
            Handler::RunCall => (self.latest, self.earlier),
            Handler::RunCalls | Handler::Summarise => (collected, Claims::default()),
            // An evaluator runs nothing, but only a solver can still run what was waiting.
            Handler::Evaluate => (Claims::default(), collected),
            Handler::Solve => (collected.and(self.passed_over), Claims::default()),
        };
        let passed_over =
            if handler == Handler::Solve { Claims::default() } else { self.passed_over.and(rest) };
        // A call that was claimed to be void has just been executed.
        (!run.void).then_some(Self { passed_over, ..Self::default() })
    }

    fn may_end(self) -> bool {
        // A call that was claimed to be executed would never have been.
        !(self.latest.executed || self.earlier.executed || self.passed_over.executed)
    }
}

/// The automaton of all annotated words with a correct annotation.
pub(super) fn annotation(spec: &Spec, annotated: &Alphabet, work: &mut Work) -> Result<Dfa, TooLarge> {
    let mut known: Numbering<Waiting> = Numbering::default();
    let (mut next, mut accepting) = (Vec::new(), Vec::new());
    // Six claims make at most 64 positions, so their number needs no check.
    known.number(Waiting::default());
    while let Some(waiting) = known.next() {
        accepting.push(waiting.may_end());
        work.spend(annotated.len())?;
        for symbol in 0..annotated.len() {
            let after = match annotated.made(symbol) {
                Made::Kind(_) => Some(waiting.after(Claims { executed: true, void: false })),
                Made::Void => Some(waiting.after(Claims { executed: false, void: true })),
                // A denied call does not wait, so only a state of the environment changes anything here.
                Made::Nothing | Made::Denied | Made::Open(_) => {
                    match handler(spec, annotated.state_of(symbol)) {
                        Some(handler) => waiting.handled(handler),
                        None => Some(waiting),
                    }
                }
            };
            next.push(after.map_or(DEAD, |after| known.number(after)));
        }
    }
    Dfa::new(annotated.len(), next, accepting).minimised(work)
}

/// The automaton of the words with an accepted annotation; `annotations` are the annotated symbols for each symbol of
/// a word.
pub(super) fn projected(dfa: &Dfa, annotations: &[Vec<usize>], work: &mut Work) -> Result<Dfa, TooLarge> {
    let mut sets: Numbering<Vec<u32>> = Numbering::default();
    let (mut next, mut accepting) = (Vec::new(), Vec::new());
    if !dfa.is_empty() {
        sets.number(vec![dfa.start()]);
    }
    // Subset construction: while calls wait, each of their annotations may still turn out to be the right one.
    while let Some(set) = sets.next() {
        accepting.push(set.iter().any(|position| dfa.is_accepting(*position)));
        for symbols in annotations {
            work.spend(set.len() * symbols.len())?;
            let steps = set.iter().flat_map(|at| symbols.iter().map(|symbol| dfa.step(*at, *symbol)));
            let mut target: Vec<u32> = steps.filter(|target| *target != DEAD).collect();
            target.sort_unstable();
            target.dedup();
            next.push(if target.is_empty() { DEAD } else { sets.number(target) });
        }
        check_positions(sets.len())?;
    }
    Dfa::new(annotations.len(), next, accepting).minimised(work)
}

/// Where a call is that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Latest,
    Earlier,
    PassedOver,
}

/// Whether a call that was just completed, at this position, is executed on some path from there to an end.
pub(super) fn can_execute(spec: &Spec, alphabet: &Alphabet, dfa: &Dfa, position: u32) -> bool {
    if position == DEAD {
        return false;
    }
    let mut seen = vec![[false; 3]; dfa.positions()];
    let mut open = VecDeque::from([(position, Place::Latest)]);
    while let Some((at, place)) = open.pop_front() {
        for symbol in (0..alphabet.len()).filter(|symbol| alphabet.is_plain(*symbol)) {
            let target = dfa.step(at, symbol);
            if target == DEAD {
                continue;
            }
            // `run-call` runs only the latest call. Whatever a handler skips, only a solver can still run.
            let place = match (handler(spec, alphabet.state_of(symbol)), place) {
                (None, Place::Latest) if alphabet.is_call(symbol) => Place::Earlier,
                (None, place) => place,
                (Some(Handler::Solve), _)
                | (Some(Handler::RunCalls | Handler::Summarise), Place::Latest | Place::Earlier)
                | (Some(Handler::RunCall), Place::Latest) => return true,
                (Some(_), _) => Place::PassedOver,
            };
            if !std::mem::replace(&mut seen[target as usize][place as usize], true) {
                open.push_back((target, place));
            }
        }
    }
    false
}
