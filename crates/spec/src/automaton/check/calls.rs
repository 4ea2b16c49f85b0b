//! Calls that no run can contain, and calls of which a run provides just one half.

use std::collections::{BTreeMap, VecDeque};

use super::Checker;
use super::patterns::each;
use crate::automaton::dfa::{DEAD, Dfa};
use crate::automaton::execution;
use crate::diagnostic::{Code, Diagnostic};
use crate::{CallPattern, Requirement, RequirementKind, Span};

impl Checker<'_> {
    /// Finds a shortest run with arguments but no tool, and one with a tool but no arguments.
    pub(super) fn roles(&mut self, whole: &Dfa) {
        // The position of a run, and whether a tool has been named since the last call.
        type Place = (u32, bool);
        let start: Place = (whole.start(), false);
        let mut reached_by: BTreeMap<Place, Option<(Place, usize)>> = BTreeMap::from([(start, None)]);
        let mut open = VecDeque::from([start]);
        let way = |reached_by: &BTreeMap<Place, Option<(Place, usize)>>, mut at: Place| {
            let mut word = Vec::new();
            while let Some(Some((before, symbol))) = reached_by.get(&at) {
                word.push(*symbol);
                at = *before;
            }
            word.reverse();
            word
        };
        // Both runs come from one breadth-first search, so each is a shortest one.
        let (mut without_tool, mut without_arguments) = (None, None);
        while let Some(place) = open.pop_front() {
            let (position, is_named) = place;
            if is_named && whole.is_accepting(position) && without_arguments.is_none() {
                without_arguments = Some(way(&reached_by, place));
            }
            for symbol in 0..whole.symbols() {
                let next = whole.step(position, symbol);
                if next == DEAD {
                    continue;
                }
                let state = &self.spec.states[self.alphabet.state_of(symbol).index()];
                let word = || way(&reached_by, place).into_iter().chain([symbol]).collect::<Vec<usize>>();
                if state.completes_call() && !is_named && without_tool.is_none() {
                    without_tool = Some(word());
                }
                if state.names_tool() && is_named && without_arguments.is_none() {
                    without_arguments = Some(word());
                }
                // A call uses up the named tool.
                let is_named = !state.completes_call() && (is_named || state.names_tool());
                reached_by.entry((next, is_named)).or_insert_with(|| {
                    open.push_back((next, is_named));
                    Some((place, symbol))
                });
            }
        }
        if let Some((word, last)) = without_tool.and_then(|word| Some((self.show(&word), *word.last()?))) {
            let state = &self.spec.states[self.alphabet.state_of(last).index()];
            let message = format!("`{}` completes a call whose tool no state has named", state.name.value);
            let fault = Diagnostic::new(Code::ArgumentsWithoutTool, state.name.span, message);
            self.faults.push(fault.at(format!("as in: {word}")).help(
                "let a state with (:content tool) come before it each time; without one, a call can be made only where there \
                 is one tool",
            ));
        }
        let Some(word) = without_arguments else { return };
        // The abandoned tool is the last one, unless the run ends or another tool is named after it.
        let names_tool =
            |symbol: &usize| self.spec.states[self.alphabet.state_of(*symbol).index()].names_tool();
        let named: Vec<usize> = word.iter().copied().filter(names_tool).collect();
        let is_renamed = word.last().is_some_and(names_tool) && named.len() > 1;
        let left = if is_renamed { named.get(named.len() - 2) } else { named.last() };
        let Some(state) = left.map(|left| &self.spec.states[self.alphabet.state_of(*left).index()]) else {
            return;
        };
        let message = format!("the tool that `{}` names need not be called", state.name.value);
        let fault = Diagnostic::new(Code::ToolWithoutArguments, state.name.span, message);
        let fault = fault.at(format!("as in: {}", self.show(&word)));
        self.faults.push(
            fault.help("let a state with (:content arguments) come after it, which completes the call"),
        );
    }

    /// Finds calls in requirements that no run can contain, except those that a requirement explicitly forbids.
    pub(super) fn impossible(&mut self, whole: &Dfa) {
        let mut patterns: Vec<(&CallPattern, Span)> = Vec::new();
        let mut forbidden: Vec<&CallPattern> = Vec::new();
        let spec = self.spec;
        for requirement in &spec.requirements {
            each(requirement, &mut |pattern, span| {
                if patterns.iter().all(|(other, _)| *other != pattern) {
                    patterns.push((pattern, span));
                }
            });
            collect_forbidden(requirement, &mut forbidden);
        }
        let alphabet = self.alphabet;
        let is_executed = |dfa: &Dfa, target: u32| execution::can_execute(spec, alphabet, dfa, target);
        let can_come = |dfa: &Dfa, symbols: &[bool]| {
            (0..dfa.positions() as u32).any(|at| {
                (0..symbols.len()).any(|symbol| symbols[symbol] && is_executed(dfa, dfa.step(at, symbol)))
            })
        };
        // A wider pattern covers all narrower ones.
        patterns.sort_by_key(|(pattern, _)| pattern.predicates.len());
        let mut found: Vec<&CallPattern> = Vec::new();
        for (pattern, span) in patterns {
            let symbols = self.alphabet.with_call_like(pattern);
            let is_known = forbidden.iter().chain(&found).any(|wide| covers(wide, pattern));
            // If the behaviour alone executes no such call, the requirements are not to blame. `unexecuted` reports
            // that case.
            if is_known || can_come(whole, &symbols) || !can_come(&self.parts[0], &symbols) {
                continue;
            }
            found.push(pattern);
            let culprit = (0..spec.requirements.len())
                .find(|index| self.together([*index]).is_ok_and(|dfa| !can_come(&dfa, &symbols)));
            let shown = Requirement { kind: RequirementKind::Call(pattern.clone()), span };
            let message = format!("no run can contain a call like `{shown}`");
            let mut fault = Diagnostic::new(Code::ImpossibleCall, span, message);
            fault = match culprit {
                Some(index) => fault.and(spec.requirements[index].span, "this one leaves no run with it"),
                None => fault.at("the requirements together leave no run with it"),
            };
            self.faults.push(fault.help(format!(
                "`next` and `until` speak of the next sections, of which few complete a call; (eventually ...) waits for a \
                 later call; if no such call is meant to be made, write (always (not {shown}))"
            )));
        }
    }
}

/// The patterns that a requirement explicitly forbids at every place.
fn collect_forbidden<'r>(requirement: &'r Requirement, forbidden: &mut Vec<&'r CallPattern>) {
    // Only what is plainly forbidden everywhere counts: then its author knows that no run contains it.
    match &requirement.kind {
        RequirementKind::And(operands) => {
            operands.iter().for_each(|operand| collect_forbidden(operand, forbidden));
        }
        RequirementKind::Always(operand) => match &operand.kind {
            RequirementKind::Not(never) => collect_never(never, forbidden),
            RequirementKind::And(operands) => {
                for operand in operands {
                    if let RequirementKind::Not(never) = &operand.kind {
                        collect_never(never, forbidden);
                    }
                }
            }
            _ => {}
        },
        RequirementKind::Not(operand) => {
            if let RequirementKind::Eventually(never) = &operand.kind {
                collect_never(never, forbidden);
            }
        }
        RequirementKind::AtMost(0, never) => collect_never(never, forbidden),
        _ => {}
    }
}

fn collect_never<'r>(never: &'r Requirement, forbidden: &mut Vec<&'r CallPattern>) {
    match &never.kind {
        RequirementKind::Call(pattern) => forbidden.push(pattern),
        RequirementKind::Or(operands) => {
            operands.iter().for_each(|operand| collect_never(operand, forbidden));
        }
        _ => {}
    }
}

/// Whether every call that matches `narrow` certainly matches `wide`.
fn covers(wide: &CallPattern, narrow: &CallPattern) -> bool {
    (wide.tool.is_none() || wide.tool == narrow.tool)
        && wide.predicates.iter().all(|predicate| narrow.predicates.contains(predicate))
}
