//! The symbols of an automaton: a state, and in a state that completes a call, the kind of the call.

use std::collections::BTreeSet;

use planproof_trace::ToolCall;

use super::dfa::TooLarge;
use crate::limits::CALL_KINDS_MAX;
use crate::{CallPattern, Requirement, RequirementKind, Spec, State, StateId};

/// Calls that no requirement tells apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallKind {
    /// Which patterns such a call is like.
    matched: Vec<bool>,
    /// Tools with such calls, of those that patterns name; `None` is any other tool.
    tools: BTreeSet<Option<String>>,
}

/// The symbols: first all of the first state, then all of the second, and so on.
#[derive(Debug, Clone)]
pub(crate) struct Alphabet {
    patterns: Vec<CallPattern>,
    kinds: Vec<CallKind>,
    /// State and kind of each symbol.
    symbols: Vec<(StateId, Option<usize>)>,
    /// First symbol of each state, and one past the last of all.
    begin: Vec<usize>,
}

impl Alphabet {
    /// The symbols that the states and requirements of a specification need.
    pub(crate) fn new(spec: &Spec) -> Result<Self, TooLarge> {
        let mut patterns = Vec::new();
        for requirement in &spec.requirements {
            collect_patterns(requirement, &mut patterns);
        }
        let kinds = kinds(&patterns)?;
        let mut symbols = Vec::new();
        let mut begin = vec![0];
        for (index, state) in spec.states.iter().enumerate() {
            let id = StateId::new(index);
            if state.completes_call() {
                symbols.extend((0..kinds.len()).map(|kind| (id, Some(kind))));
            } else {
                symbols.push((id, None));
            }
            begin.push(symbols.len());
        }
        Ok(Self { patterns, kinds, symbols, begin })
    }

    pub(crate) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// The state of each symbol.
    pub(crate) fn states(&self) -> Vec<usize> {
        self.symbols.iter().map(|(state, _)| state.index()).collect()
    }

    pub(crate) fn state_of(&self, symbol: usize) -> StateId {
        self.symbols[symbol].0
    }

    /// All symbols of a state.
    pub(crate) fn of_state(&self, state: StateId) -> std::ops::Range<usize> {
        self.begin[state.index()]..self.begin[state.index() + 1]
    }

    /// The symbol of a state that is left with this call.
    ///
    /// A call in a state that completes none is overlooked. Where one is missing it is a call of a tool that no pattern
    /// names, and no predicate holds of it.
    pub(crate) fn symbol(&self, state: StateId, call: Option<&ToolCall>) -> usize {
        let range = self.of_state(state);
        if self.symbols[range.start].1.is_none() {
            return range.start;
        }
        let is_like = |pattern: &CallPattern| call.is_some_and(|call| pattern.matches(call));
        let matched: Vec<bool> = self.patterns.iter().map(is_like).collect();
        let kind = match call {
            Some(_) => self.kinds.iter().position(|kind| kind.matched == matched),
            // The first of them is the one without predicates that hold.
            None => self.kinds.iter().position(|kind| kind.tools.contains(&None)),
        };
        // Every combination that a call can match has its kind.
        debug_assert!(kind.is_some());
        range.start + kind.unwrap_or(0)
    }

    /// Whether a call of this tool can have the symbol.
    pub(crate) fn can_be_call_of(&self, symbol: usize, tool: &str) -> bool {
        let Some(kind) = self.symbols[symbol].1 else { return false };
        let is_named = self.patterns.iter().any(|pattern| pattern.tool.as_deref() == Some(tool));
        self.kinds[kind].tools.contains(&is_named.then(|| tool.to_owned()))
    }

    /// Whether a call, of whatever tool, has the symbol.
    pub(crate) fn is_call(&self, symbol: usize) -> bool {
        self.symbols[symbol].1.is_some()
    }

    /// Tools that patterns name.
    pub(crate) fn named_tools(&self) -> BTreeSet<&str> {
        self.patterns.iter().filter_map(|pattern| pattern.tool.as_deref()).collect()
    }

    /// The symbols at which a call like this is completed.
    pub(super) fn with_call_like(&self, pattern: &CallPattern) -> Vec<bool> {
        let index = self.patterns.iter().position(|other| other == pattern);
        let is_like = |kind: &Option<usize>| match (kind, index) {
            (Some(kind), Some(index)) => self.kinds[*kind].matched[index],
            _ => false,
        };
        self.symbols.iter().map(|(_, kind)| is_like(kind)).collect()
    }

    /// A word as an example would be written.
    pub(crate) fn show(&self, word: &[usize], states: &[State]) -> String {
        if word.is_empty() {
            return "the empty sequence".to_owned();
        }
        let steps = word.iter().map(|symbol| {
            let (state, kind) = self.symbols[*symbol];
            let name = &states[state.index()].name.value;
            match kind.map(|kind| self.show_call(&self.kinds[kind])) {
                Some(call) if !call.is_empty() => format!("({name} {call})"),
                _ => name.clone(),
            }
        });
        steps.collect::<Vec<_>>().join(" ")
    }

    fn show_call(&self, kind: &CallKind) -> String {
        // Where another tool does, no call needs to be named.
        let Some(tool) = kind.tools.first().cloned().flatten() else { return String::new() };
        let pairs = self.patterns.iter().zip(&kind.matched);
        let tests = pairs.filter(|(pattern, matched)| **matched && !pattern.predicates.is_empty());
        let tests: Vec<String> =
            tests.flat_map(|(pattern, _)| &pattern.predicates).map(ToString::to_string).collect();
        let mut shown = format!("call:{tool}");
        for test in tests {
            shown.push(' ');
            shown.push_str(&test);
        }
        shown
    }
}

/// Collects the different patterns of a requirement.
fn collect_patterns(requirement: &Requirement, patterns: &mut Vec<CallPattern>) {
    match &requirement.kind {
        RequirementKind::Call(pattern) => {
            if !patterns.contains(pattern) {
                patterns.push(pattern.clone());
            }
        }
        RequirementKind::True | RequirementKind::False | RequirementKind::State(_) => {}
        RequirementKind::Not(operand)
        | RequirementKind::Always(operand)
        | RequirementKind::Eventually(operand)
        | RequirementKind::Next(operand)
        | RequirementKind::AtMost(_, operand) => collect_patterns(operand, patterns),
        RequirementKind::And(operands) | RequirementKind::Or(operands) => {
            operands.iter().for_each(|operand| collect_patterns(operand, patterns));
        }
        RequirementKind::Implies(first, second)
        | RequirementKind::Until(first, second)
        | RequirementKind::Before(first, second) => {
            collect_patterns(first, patterns);
            collect_patterns(second, patterns);
        }
    }
}

/// All combinations of patterns that a call can be like. Predicates count as independent of one another: that one
/// excludes another is not seen.
fn kinds(patterns: &[CallPattern]) -> Result<Vec<CallKind>, TooLarge> {
    let named: BTreeSet<&str> = patterns.iter().filter_map(|pattern| pattern.tool.as_deref()).collect();
    let tools = std::iter::once(None).chain(named.into_iter().map(Some));
    let mut kinds: Vec<CallKind> = Vec::new();
    for tool in tools {
        let concerns = |pattern: &CallPattern| pattern.tool.is_none() || pattern.tool.as_deref() == tool;
        let concerned: Vec<usize> = (0..patterns.len()).filter(|index| concerns(&patterns[*index])).collect();
        let open: Vec<usize> =
            concerned.iter().copied().filter(|index| !patterns[*index].predicates.is_empty()).collect();
        let too_large = TooLarge { what: "kinds of calls", limit: CALL_KINDS_MAX as u64 };
        if open.len() >= usize::BITS as usize || 1_usize << open.len() > CALL_KINDS_MAX {
            return Err(too_large);
        }
        for choice in 0_usize..1 << open.len() {
            let mut matched = vec![false; patterns.len()];
            for index in &concerned {
                let bit = open.iter().position(|other| other == index);
                matched[*index] = bit.is_none_or(|bit| choice >> bit & 1 == 1);
            }
            match kinds.iter_mut().find(|kind| kind.matched == matched) {
                Some(kind) => drop(kind.tools.insert(tool.map(str::to_owned))),
                None => {
                    let tools = BTreeSet::from([tool.map(str::to_owned)]);
                    kinds.push(CallKind { matched, tools });
                }
            }
        }
        if kinds.len() > CALL_KINDS_MAX {
            return Err(too_large);
        }
    }
    Ok(kinds)
}
