//! The symbols of an automaton: a state, and in a state that completes a call, the kind of the call.
//!
//! A specification has two alphabets. The one of its words describes what is visible of a run: which call was
//! written. Its *annotated* twin also describes what became of the call, because only executed calls count. Every
//! word has one annotation, and requirements are read on that (see [`execution`](super::execution)).

use std::collections::BTreeSet;

use planproof_trace::ToolCall;

use super::dfa::TooLarge;
use crate::limits::CALL_KINDS_MAX;
use crate::{CallPattern, Entered, Fate, Handler, Requirement, RequirementKind, Spec, State, StateId};

/// Calls that no requirement distinguishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallKind {
    /// Which patterns such a call is like.
    matched: Vec<bool>,
    /// Tools with such calls, among those in patterns; `None` is any other tool.
    tools: BTreeSet<Option<String>>,
}

/// What a symbol says about the call that its state completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// The state completes none.
    Nothing,
    /// A call of this kind. In annotated words: an executed one.
    Kind(usize),
    /// A call with unresolved arguments, of the tools of this index into [`Alphabet::groups`]. Not in annotated
    /// words.
    Open(usize),
    /// A call that was denied.
    Denied,
    /// A call that is never executed. Only in annotated words.
    Void,
}

/// The symbols: first all of the first state, then all of the second, and so on.
#[derive(Debug, Clone)]
pub(crate) struct Alphabet {
    patterns: Vec<CallPattern>,
    kinds: Vec<CallKind>,
    /// The tools in patterns, preceded by the other tools if arguments can be unresolved.
    groups: Vec<Option<String>>,
    /// State and call of each symbol.
    symbols: Vec<(StateId, Made)>,
    /// First symbol of each state, and one past the last of all.
    begin: Vec<usize>,
}

impl Alphabet {
    /// The symbols required by the states and requirements of a specification.
    pub(crate) fn new(spec: &Spec) -> Result<Self, TooLarge> {
        let mut patterns = Vec::new();
        for requirement in &spec.requirements {
            collect_patterns(requirement, &mut patterns);
        }
        let kinds = kinds(&patterns)?;
        // Only a handler that solves a plan inserts results into arguments written earlier.
        let groups = if !patterns.is_empty() && spec.has_handler(Handler::Solve) {
            let named: BTreeSet<&str> =
                patterns.iter().filter_map(|pattern| pattern.tool.as_deref()).collect();
            std::iter::once(None).chain(named.into_iter().map(|tool| Some(tool.to_owned()))).collect()
        } else {
            Vec::new()
        };
        let mut alphabet = Self { patterns, kinds, groups, symbols: Vec::new(), begin: Vec::new() };
        let open = (0..alphabet.groups.len()).map(Made::Open);
        // Only a call that waits for a plan to be solved can be denied.
        let denied = (!alphabet.groups.is_empty()).then_some(Made::Denied);
        let calls = alphabet.all_kinds().chain(open).chain(denied).collect::<Vec<_>>();
        alphabet.number(spec, &calls);
        Ok(alphabet)
    }

    /// The alphabet of annotated words.
    pub(super) fn annotated(&self, spec: &Spec) -> Self {
        let mut alphabet = self.clone();
        // There is no unresolved call here: when a call is executed, its arguments are final.
        let calls: Vec<Made> = self.all_kinds().chain([Made::Denied, Made::Void]).collect();
        alphabet.number(spec, &calls);
        alphabet
    }

    fn all_kinds(&self) -> impl Iterator<Item = Made> + use<> {
        (0..self.kinds.len()).map(Made::Kind)
    }

    /// Numbers the symbols, given the calls that can be completed.
    fn number(&mut self, spec: &Spec, calls: &[Made]) {
        // The annotated alphabet starts as a copy of the other one, with its symbols.
        self.symbols.clear();
        self.begin = vec![0];
        for (index, state) in spec.states.iter().enumerate() {
            let made = if state.completes_call() { calls } else { &[Made::Nothing] };
            self.symbols.extend(made.iter().map(|made| (StateId::new(index), *made)));
            self.begin.push(self.symbols.len());
        }
    }

    /// The symbols of annotated words that each symbol can stand for.
    pub(super) fn annotations(&self, annotated: &Self) -> Vec<Vec<usize>> {
        let of = |(state, made): &(StateId, Made)| {
            let fits = |other: &Made| match (made, other) {
                (Made::Nothing | Made::Denied, other) => made == other,
                // Any written call may turn out never to be executed.
                (_, Made::Void) => true,
                (Made::Kind(_), other) => made == other,
                // The final arguments are unknown, so any kind of call of these tools is possible.
                (Made::Open(group), Made::Kind(kind)) => {
                    self.kinds[*kind].tools.contains(&self.groups[*group])
                }
                _ => false,
            };
            annotated.of_state(*state).filter(|symbol| fits(&annotated.symbols[*symbol].1)).collect()
        };
        self.symbols.iter().map(of).collect()
    }

    pub(super) fn made(&self, symbol: usize) -> Made {
        self.symbols[symbol].1
    }

    /// The symbol of annotated words for a call that is executed or was denied.
    pub(super) fn of_fate(&self, state: StateId, call: Option<&ToolCall>) -> usize {
        let wanted = call.map_or(Made::Denied, |call| Made::Kind(self.kind_of(call)));
        let mut range = self.of_state(state);
        let begin = range.start;
        range.find(|symbol| self.symbols[*symbol].1 == wanted).unwrap_or(begin)
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

    /// The symbol of a state with its call.
    ///
    /// A call in a state that completes none is ignored. A missing one counts as a call of a tool that no pattern
    /// names, for which no predicate holds.
    pub(crate) fn symbol(&self, entered: Entered<'_>) -> usize {
        let range = self.of_state(entered.state);
        // A state that completes no call has only this symbol.
        if self.symbols[range.start].1 == Made::Nothing {
            return range.start;
        }
        let wanted = match (entered.fate, entered.call) {
            // Without groups there are no symbols for denied and unresolved calls, which then count as written.
            (Fate::Denied, _) if !self.groups.is_empty() => Made::Denied,
            (Fate::Open, Some(call)) if !self.groups.is_empty() => {
                let group = self.groups.iter().position(|tool| tool.as_deref() == Some(call.name.as_str()));
                // The first group is that of all tools that no pattern names.
                Made::Open(group.unwrap_or(0))
            }
            (_, Some(call)) => Made::Kind(self.kind_of(call)),
            // The first of them is the one for which no predicate holds.
            (_, None) => {
                let other = self.kinds.iter().position(|kind| kind.tools.contains(&None));
                Made::Kind(other.unwrap_or(0))
            }
        };
        let mut symbols = range.clone();
        symbols.find(|symbol| self.symbols[*symbol].1 == wanted).unwrap_or(range.start)
    }

    fn kind_of(&self, call: &ToolCall) -> usize {
        let matched: Vec<bool> = self.patterns.iter().map(|pattern| pattern.matches(call)).collect();
        let kind = self.kinds.iter().position(|kind| kind.matched == matched);
        // Every combination of patterns that a call can match has its kind.
        debug_assert!(kind.is_some());
        kind.unwrap_or(0)
    }

    /// Whether a call of this tool, with known arguments, can have the symbol.
    pub(crate) fn can_be_call_of(&self, symbol: usize, tool: &str) -> bool {
        let Made::Kind(kind) = self.symbols[symbol].1 else { return false };
        self.kinds[kind].tools.contains(&self.group_of(tool))
    }

    /// A tool as far as patterns distinguish it.
    fn group_of(&self, tool: &str) -> Option<String> {
        let is_named = self.patterns.iter().any(|pattern| pattern.tool.as_deref() == Some(tool));
        is_named.then(|| tool.to_owned())
    }

    /// Whether the symbol is that of a call, and of a tool other than these.
    pub(crate) fn is_call_of_none(&self, symbol: usize, tools: &[&str]) -> bool {
        match self.symbols[symbol].1 {
            Made::Nothing | Made::Denied | Made::Void => false,
            Made::Kind(_) => !tools.iter().any(|tool| self.can_be_call_of(symbol, tool)),
            Made::Open(group) => !tools.iter().any(|tool| self.group_of(tool) == self.groups[group]),
        }
    }

    /// Whether a call of any tool has the symbol.
    pub(crate) fn is_call(&self, symbol: usize) -> bool {
        self.symbols[symbol].1 != Made::Nothing
    }

    /// Whether the symbol completely describes a call to be executed, as in a word by a specification's author.
    pub(crate) fn is_plain(&self, symbol: usize) -> bool {
        matches!(self.symbols[symbol].1, Made::Nothing | Made::Kind(_))
    }

    /// Whether requirements distinguish calls.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Tools that patterns name.
    pub(crate) fn named_tools(&self) -> BTreeSet<&str> {
        self.patterns.iter().filter_map(|pattern| pattern.tool.as_deref()).collect()
    }

    /// The symbols that complete a call of this kind. In annotated words: an executed one.
    pub(super) fn with_call_like(&self, pattern: &CallPattern) -> Vec<bool> {
        let index = self.patterns.iter().position(|other| other == pattern);
        let is_like = |made: &Made| match (made, index) {
            (Made::Kind(kind), Some(index)) => self.kinds[*kind].matched[index],
            _ => false,
        };
        self.symbols.iter().map(|(_, made)| is_like(made)).collect()
    }

    /// A word in the form of an example.
    pub(crate) fn show(&self, word: &[usize], states: &[State]) -> String {
        if word.is_empty() {
            return "the empty sequence".to_owned();
        }
        let steps = word.iter().map(|symbol| {
            let (state, made) = self.symbols[*symbol];
            let name = &states[state.index()].name.value;
            match made {
                Made::Kind(kind) => match self.show_call(&self.kinds[kind]) {
                    call if call.is_empty() => name.clone(),
                    call => format!("({name} {call})"),
                },
                _ => name.clone(),
            }
        });
        steps.collect::<Vec<_>>().join(" ")
    }

    fn show_call(&self, kind: &CallKind) -> String {
        // If another tool does as well, no call needs to be named.
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

/// Collects the distinct patterns of a requirement.
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

/// All combinations of patterns that a call can match. Predicates count as independent: mutual exclusion is not
/// detected.
fn kinds(patterns: &[CallPattern]) -> Result<Vec<CallKind>, TooLarge> {
    let named: BTreeSet<&str> = patterns.iter().filter_map(|pattern| pattern.tool.as_deref()).collect();
    // The unnamed tools come first, and with them the kind for which no test holds: `Alphabet::symbol` relies on it.
    let tools = std::iter::once(None).chain(named.into_iter().map(Some));
    let mut kinds: Vec<CallKind> = Vec::new();
    for tool in tools {
        let concerns = |pattern: &CallPattern| pattern.tool.is_none() || pattern.tool.as_deref() == tool;
        let concerned: Vec<usize> = (0..patterns.len()).filter(|index| concerns(&patterns[*index])).collect();
        let open: Vec<usize> =
            concerned.iter().copied().filter(|index| !patterns[*index].predicates.is_empty()).collect();
        let too_large = TooLarge { what: "kinds of calls", limit: CALL_KINDS_MAX as u64 };
        // Compared with the number of bits first, because the shift would overflow.
        if open.len() >= usize::BITS as usize || 1_usize << open.len() > CALL_KINDS_MAX {
            return Err(too_large);
        }
        // A pattern without tests matches every call of its tool; the tests of the others can hold in any
        // combination.
        for choice in 0_usize..1 << open.len() {
            let mut matched = vec![false; patterns.len()];
            for index in &concerned {
                let bit = open.iter().position(|other| other == index);
                matched[*index] = bit.is_none_or(|bit| choice >> bit & 1 == 1);
            }
            // Tools whose calls match the same patterns share a kind, which keeps the alphabet small.
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
