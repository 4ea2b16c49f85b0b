//! The definitions, implemented literally, as a reference for the automaton. Slow, with only memoisation.
//!
//! It shares nothing with the automaton except the specification itself and the tests of arguments.

use std::collections::HashMap;

use crate::{Bounds, Entered, Fate, Formula, FormulaKind, Handler, Requirement, RequirementKind, Spec};

/// Whether a run that passed these states, and completed these calls, satisfies the behaviour and all requirements.
///
/// Takes O(|formula| n³) steps for n states, times the largest bound of a loop.
pub fn accepts(spec: &Spec, word: &[Entered<'_>]) -> bool {
    satisfies(spec, &spec.behavior, word)
        && spec.requirements.iter().all(|requirement| holds(spec, requirement, word))
}

/// Whether the call that is completed at a place of a word is executed: by the next state of the environment, if that
/// runs it, or by a later one that runs all calls of the run. A denied call is not.
pub fn is_executed(spec: &Spec, word: &[Entered<'_>], place: usize) -> bool {
    let state_at = |place: usize| &spec.states[word[place].state.index()];
    let handler_at = |place: usize| {
        let state = state_at(place);
        let named = state.handler.as_ref().map_or(Handler::RunCall, |handler| handler.value);
        state.is_environment.then_some(named)
    };
    let is_call = |place: usize| state_at(place).completes_call() && word[place].fate != Fate::Denied;
    if !is_call(place) {
        return false;
    }
    let later = place + 1..word.len();
    let is_run =
        later.clone().find(|later| handler_at(*later).is_some()).is_some_and(|environment| match handler_at(
            environment,
        ) {
            Some(Handler::RunCall) => !(place + 1..environment).any(is_call),
            Some(Handler::RunCalls | Handler::Summarise) => true,
            // An evaluator runs nothing, and a solver is looked for below.
            _ => false,
        });
    is_run || later.into_iter().any(|later| handler_at(later) == Some(Handler::Solve))
}

/// Whether a word satisfies a formula of behaviours.
pub fn satisfies(spec: &Spec, formula: &Formula, word: &[Entered<'_>]) -> bool {
    Sequences { spec, word, known: HashMap::new() }.satisfies(formula, 0, word.len())
}

/// Whether a requirement holds for a word. A call counts where it is completed, if it is executed.
pub fn holds(spec: &Spec, requirement: &Requirement, word: &[Entered<'_>]) -> bool {
    Places { spec, word, known: HashMap::new() }.holds(requirement, 0)
}

struct Sequences<'w> {
    spec: &'w Spec,
    word: &'w [Entered<'w>],
    /// The memoised results for a formula, from some operand or pass on, and a part of the word.
    known: HashMap<(*const Formula, usize, usize, usize), bool>,
}

impl Sequences<'_> {
    /// Whether the part of the word from `start` up to, not including, `end` satisfies the formula.
    fn satisfies(&mut self, formula: &Formula, start: usize, end: usize) -> bool {
        self.satisfies_from(formula, 0, start, end)
    }

    /// The same, for a formula whose first operands, or passes, are finished.
    fn satisfies_from(&mut self, formula: &Formula, done: usize, start: usize, end: usize) -> bool {
        // By address, which is cheaper to compare than a formula. The specification is borrowed, so no address is
        // reused.
        let question = (std::ptr::from_ref(formula), done, start, end);
        if let Some(answer) = self.known.get(&question) {
            return *answer;
        }
        let answer = match &formula.kind {
            FormulaKind::State(name) => {
                end - start == 1 && self.spec.states[self.word[start].state.index()].name.value == *name
            }
            FormulaKind::Or(operands) => operands.iter().any(|operand| self.satisfies(operand, start, end)),
            FormulaKind::Next(operands) => match &operands[done..] {
                [] => start == end,
                [first, ..] => (start..=end).any(|middle| {
                    self.satisfies(first, start, middle)
                        && self.satisfies_from(formula, done + 1, middle, end)
                }),
            },
            FormulaKind::Until { body, exit, bounds } => {
                (may_leave(done, *bounds) && self.satisfies(exit, start, end))
                    || self.satisfies_pass(formula, body, *bounds, done, start, end)
            }
            FormulaKind::Always { body, bounds } => {
                (may_leave(done, *bounds) && start == end)
                    || self.satisfies_pass(formula, body, *bounds, done, start, end)
            }
        };
        self.known.insert(question, answer);
        answer
    }

    /// Whether the loop allows another pass, followed by the rest.
    fn satisfies_pass(
        &mut self,
        formula: &Formula,
        body: &Formula,
        bounds: Bounds,
        done: usize,
        start: usize,
        end: usize,
    ) -> bool {
        let may_pass = bounds.max.is_none_or(|max| done < max as usize);
        // No part is empty, so a pass shortens the rest of the word.
        may_pass
            && (start + 1..=end).any(|middle| {
                self.satisfies(body, start, middle) && self.satisfies_from(formula, done + 1, middle, end)
            })
    }
}

fn may_leave(done: usize, bounds: Bounds) -> bool {
    done >= bounds.min as usize
}

struct Places<'w> {
    spec: &'w Spec,
    word: &'w [Entered<'w>],
    known: HashMap<(*const Requirement, usize), bool>,
}

impl Places<'_> {
    /// Whether the requirement holds at a place of the word.
    fn holds(&mut self, requirement: &Requirement, place: usize) -> bool {
        let question = (std::ptr::from_ref(requirement), place);
        if let Some(answer) = self.known.get(&question) {
            return *answer;
        }
        let end = self.word.len();
        let mut from_here = place..end;
        let here = self.word.get(place);
        let answer = match &requirement.kind {
            RequirementKind::True => true,
            RequirementKind::False => false,
            RequirementKind::State(name) => {
                here.is_some_and(|here| self.spec.states[here.state.index()].name.value == *name)
            }
            RequirementKind::Call(pattern) => here.is_some_and(|here| {
                let is_like = match here.call {
                    Some(call) => pattern.matches(call),
                    // A call of an unknown tool with unknown arguments.
                    None => pattern.tool.is_none() && pattern.predicates.is_empty(),
                };
                is_like && is_executed(self.spec, self.word, place)
            }),
            RequirementKind::Not(operand) => !self.holds(operand, place),
            RequirementKind::And(operands) => operands.iter().all(|operand| self.holds(operand, place)),
            RequirementKind::Or(operands) => operands.iter().any(|operand| self.holds(operand, place)),
            RequirementKind::Implies(first, second) => !self.holds(first, place) || self.holds(second, place),
            RequirementKind::Always(operand) => from_here.all(|later| self.holds(operand, later)),
            RequirementKind::Eventually(operand) => from_here.any(|later| self.holds(operand, later)),
            RequirementKind::Next(operand) => place + 1 < end && self.holds(operand, place + 1),
            RequirementKind::Until(first, second) => from_here.any(|later| {
                self.holds(second, later) && (place..later).all(|between| self.holds(first, between))
            }),
            // The first must hold strictly earlier; both at one place is not enough.
            RequirementKind::Before(first, second) => from_here.all(|later| {
                !self.holds(second, later) || (place..later).any(|earlier| self.holds(first, earlier))
            }),
            RequirementKind::AtMost(count, operand) => {
                from_here.filter(|later| self.holds(operand, *later)).count() <= *count as usize
            }
        };
        self.known.insert(question, answer);
        answer
    }
}
