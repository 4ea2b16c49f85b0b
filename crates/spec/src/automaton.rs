//! A specification, compiled: which state may come next, and whether a run may end.

mod alphabet;
mod check;
pub(crate) mod dfa;
mod execution;
mod plan;
mod sequence;
pub(crate) mod temporal;
mod unexecuted;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic};
use crate::monitor::SchemaValidator;
use crate::published;
use crate::read::tree::Faults;
use crate::read::{self, Draft};
use crate::{Compat, Entered, Formula, FormulaKind, Prompts, Severity, ShownExample, Spec, State, StateId};
use alphabet::Alphabet;
use dfa::{DEAD, Dfa, Work};
use temporal::StatesAndCalls;

pub(crate) use plan::Plan;

/// The position of a run: what the automaton knows about the states passed so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u32);

impl Position {
    /// A number: 0 is the start, the others follow in breadth-first order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The faults of an unusable specification; there may be warnings among them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FaultySpec {
    /// All faults, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for FaultySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.diagnostics.iter().map(Diagnostic::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// A usable specification, with its warnings.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The compiled specification.
    pub automaton: Arc<Automaton>,
    /// Warnings, in the order of the source.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a specification, and checks nothing but its form. Takes time in proportion to the source.
///
/// # Errors
/// All faults of the form at once.
pub fn read(source: &str) -> Result<Spec, FaultySpec> {
    let mut faults = Faults::default();
    let draft = read::read(source, &mut faults);
    match draft.and_then(Draft::into_spec) {
        Some(spec) if !faults.has_errors() => Ok(spec),
        _ => Err(FaultySpec { diagnostics: faults.into_sorted() }),
    }
}

/// Reads, checks and compiles a specification.
///
/// # Errors
/// All faults at once, if one of them is an error.
pub fn load(source: &str, compat: Compat) -> Result<Loaded, FaultySpec> {
    let mut faults = Faults::default();
    let draft = read::read(source, &mut faults);
    finish(draft, compat, None, faults)
}

/// As [`load`], and checks the JSON Schemas of content rules, which `load` does not parse.
///
/// # Errors
/// All faults at once, if one of them is an error.
pub fn load_with_schemas(
    source: &str,
    compat: Compat,
    schemas: &dyn SchemaValidator,
) -> Result<Loaded, FaultySpec> {
    let mut faults = Faults::default();
    let draft = read::read(source, &mut faults);
    finish(draft, compat, Some(schemas), faults)
}

/// As [`load_with_schemas`] with [`Compat::Original`], for an agent: states of the environment without a handler, and
/// states of calls without content rules, get those that states of their prompts or names have in the published agents,
/// such as `run-call` for `Obs`.
///
/// # Errors
/// All faults at once, if one of them is an error. A state of the environment that no published agent has needs a
/// handler here, too.
pub fn load_as_published(source: &str, schemas: &dyn SchemaValidator) -> Result<Loaded, FaultySpec> {
    let mut faults = Faults::default();
    let mut draft = read::read(source, &mut faults);
    if let Some(states) = draft.as_mut().and_then(|draft| draft.states.as_deref_mut()) {
        published::bind(states);
    }
    let loaded = finish(draft, Compat::Original, Some(schemas), faults)?;
    let is_unbound = |diagnostic: &Diagnostic| diagnostic.code == Code::UnboundEnvironment;
    if !loaded.warnings.iter().any(is_unbound) {
        return Ok(loaded);
    }
    // A warning where a specification is only looked at; an agent cannot go on without the text of such a state.
    let mut diagnostics = loaded.warnings;
    diagnostics.iter_mut().filter(|it| is_unbound(it)).for_each(|it| it.severity = Severity::Error);
    Err(FaultySpec { diagnostics })
}

/// A deterministic automaton with the fewest positions. The end can be reached from each of its positions.
///
/// It is compiled once; every later question is a table lookup.
#[derive(Debug, Clone)]
pub struct Automaton {
    spec: Arc<Spec>,
    alphabet: Alphabet,
    dfa: Dfa,
    /// The possible next states of each position, in the order of the specification.
    valid: Vec<Vec<StateId>>,
    /// The behaviour and the requirements separately, to find which of them forbids something.
    parts: Vec<Dfa>,
    /// The same as `dfa` for words annotated with the execution of each call; `None` if no requirement is about
    /// calls.
    annotated: Option<Arc<Annotated>>,
    /// A rank of each state that puts those that leave a loop before those that stay in it.
    exit_first: Vec<usize>,
}

/// The annotated words of a specification.
#[derive(Debug)]
struct Annotated {
    alphabet: Alphabet,
    dfa: Dfa,
}

impl Automaton {
    /// Checks and compiles a specification.
    ///
    /// # Errors
    /// All faults at once, if one of them is an error.
    pub fn compile(spec: Spec, compat: Compat) -> Result<Loaded, FaultySpec> {
        finish(Some(Draft::from(spec)), compat, None, Faults::default())
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// A state of the specification.
    pub fn state(&self, id: StateId) -> &State {
        &self.spec.states[id.index()]
    }

    /// The state of that name.
    pub fn state_named(&self, name: &str) -> Option<StateId> {
        self.spec.states.iter().position(|state| state.name.value == name).map(StateId::new)
    }

    /// The ids of all states, in the order of the specification.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.spec.states.len()).map(StateId::new)
    }

    /// The number of positions.
    pub fn positions(&self) -> usize {
        self.dfa.positions()
    }

    /// Where every run begins.
    pub fn start(&self) -> Position {
        Position(0)
    }

    /// The possible next states: those from which the end can still be reached. In the order of the specification.
    pub fn valid(&self, position: Position) -> &[StateId] {
        &self.valid[position.index()]
    }

    /// The possible next states in the order of the published code: those that leave a loop come first.
    pub(crate) fn valid_exit_first(&self, position: Position) -> Vec<StateId> {
        let mut valid = self.valid(position).to_vec();
        valid.sort_by_key(|state| self.exit_first[state.index()]);
        valid
    }

    /// Whether the state may come next.
    pub fn is_valid(&self, position: Position, state: StateId) -> bool {
        // The list is sorted, because symbols are numbered in the order of the states.
        self.valid(position).binary_search(&state).is_ok()
    }

    /// The possible next states on a shortest path to entering a state, and how many states precede it on that path;
    /// empty if it can no longer be entered. Takes time in proportion to the size of the automaton.
    pub(crate) fn ways_to(&self, position: Position, target: StateId) -> (usize, Vec<StateId>) {
        if self.is_valid(position, target) {
            return (0, vec![target]);
        }
        // For each position, the first states of the shortest paths to it.
        let mut begun: Vec<Vec<StateId>> = vec![Vec::new(); self.positions()];
        let mut reached = vec![false; self.positions()];
        // The first layer: the successors of the position, each reached by one state.
        let mut layer: Vec<u32> = Vec::new();
        for (state, next) in self.edges(position) {
            begun[next.index()].push(state);
            if !std::mem::replace(&mut reached[next.index()], true) {
                layer.push(next.0);
            }
        }
        // A search layer by layer, because several shortest paths can meet in a position, and its first states are
        // complete only when its whole layer is known.
        for steps in 1.. {
            let mut found: Vec<StateId> = Vec::new();
            let mut next_layer: Vec<u32> = Vec::new();
            let mut is_next = vec![false; if layer.is_empty() { 0 } else { self.positions() }];
            for at in layer {
                let first = begun[at as usize].clone();
                for (state, next) in self.edges(Position(at)) {
                    if state == target {
                        found.extend(&first);
                    }
                    let next = next.index();
                    // A position of an earlier layer is reached by shorter paths, to which these do not belong.
                    if is_next[next] || !reached[next] {
                        begun[next].extend(&first);
                        begun[next].sort_unstable();
                        begun[next].dedup();
                    }
                    if !std::mem::replace(&mut reached[next], true) {
                        is_next[next] = true;
                        next_layer.push(next as u32);
                    }
                }
            }
            if !found.is_empty() || next_layer.is_empty() {
                found.sort_unstable();
                found.dedup();
                return (steps, found);
            }
            layer = next_layer;
        }
        // Never reached: layers have no position in common, so one of them is empty in the end.
        (0, Vec::new())
    }

    /// Whether a run may end here.
    pub fn is_accepting(&self, position: Position) -> bool {
        self.dfa.is_accepting(position.0)
    }

    /// The position after a state; `None` if it must not come here, or not with this call.
    pub fn after<'c>(&self, position: Position, entered: impl Into<Entered<'c>>) -> Option<Position> {
        let next = self.dfa.step(position.0, self.alphabet.symbol(entered.into()));
        (next != DEAD).then_some(Position(next))
    }

    /// Whether a call that is completed in this state can be executed: on some path from there to an end it is. Also
    /// `true` if no call completed here is ever executed, so that the requirements are not the reason.
    pub fn can_execute(&self, position: Position, entered: Entered<'_>) -> bool {
        // No requirement can forbid a call then, and the searches are saved.
        if !self.alphabet.has_patterns() {
            return true;
        }
        let after = |symbol: usize| self.dfa.step(position.0, symbol);
        let is_executed =
            |symbol: usize| execution::can_execute(&self.spec, &self.alphabet, &self.dfa, after(symbol));
        is_executed(self.alphabet.symbol(entered)) || !self.alphabet.of_state(entered.state).any(is_executed)
    }

    /// Whether a run may pass these states and end.
    pub fn accepts<'c>(&self, word: impl IntoIterator<Item = Entered<'c>>) -> bool {
        let end = word.into_iter().try_fold(self.start(), |position, entered| self.after(position, entered));
        end.is_some_and(|position| self.is_accepting(position))
    }

    /// Whether the next completed call can be an executed one of this tool; if the next call is never executed,
    /// whether it can be one of this tool.
    pub(crate) fn can_call(&self, position: Position, tool: &str) -> bool {
        // Requirements that name no tool treat all tools alike.
        if self.alphabet.named_tools().is_empty() {
            return true;
        }
        let executed = |next: u32| execution::can_execute(&self.spec, &self.alphabet, &self.dfa, next);
        let (mut is_completed, mut is_other_executed) = (false, false);
        // A search that passes no call except the required one.
        let mut seen = vec![false; self.positions()];
        let mut open = vec![position.0];
        while let Some(at) = open.pop() {
            for symbol in (0..self.alphabet.len()).filter(|symbol| self.alphabet.is_plain(*symbol)) {
                let next = self.dfa.step(at, symbol);
                if next == DEAD {
                    continue;
                }
                if self.alphabet.can_be_call_of(symbol, tool) {
                    if executed(next) {
                        return true;
                    }
                    is_completed = true;
                } else if self.alphabet.is_call(symbol) {
                    is_other_executed = is_other_executed || executed(next);
                } else if !std::mem::replace(&mut seen[next as usize], true) {
                    open.push(next);
                }
            }
        }
        is_completed && !is_other_executed
    }

    /// The index of the requirement that no continuation of this word can satisfy any more, or that forbids executing
    /// the call at its end, if a single requirement is responsible.
    pub fn broken_requirement<'c>(&self, word: impl IntoIterator<Item = Entered<'c>>) -> Option<usize> {
        let symbols: Vec<usize> = word.into_iter().map(|entered| self.alphabet.symbol(entered)).collect();
        let (behavior, requirements) = self.parts.split_first()?;
        // The behaviour itself forbids the word, so no requirement is responsible.
        if behavior.run(&symbols) == DEAD {
            return None;
        }
        let is_call = symbols.last().is_some_and(|symbol| self.alphabet.is_call(*symbol));
        // Looked at first: such a requirement is violated whether or not the call is executed.
        let broken = requirements.iter().position(|requirement| requirement.run(&symbols) == DEAD);
        broken.or_else(|| if is_call { self.hindering(&symbols) } else { None })
    }

    /// The index of the first requirement that by itself forbids executing the call at the end of these symbols.
    fn hindering(&self, symbols: &[usize]) -> Option<usize> {
        let can_execute =
            |part: &Dfa| execution::can_execute(&self.spec, &self.alphabet, part, part.run(symbols));
        self.parts.iter().skip(1).position(|requirement| !can_execute(requirement))
    }

    /// The same automaton restricted to these tools: positions that can only continue with a call of another tool are
    /// dead. `None` if nothing is left.
    pub fn for_tools(&self, tools: &[&str]) -> Option<Self> {
        let is_impossible = |symbol: usize| self.alphabet.is_call_of_none(symbol, tools);
        let dfa = self.dfa.without(is_impossible);
        (!dfa.is_empty()).then(|| Self { valid: valid(&dfa, &self.alphabet), dfa, ..self.clone() })
    }

    /// The same without the texts for a model.
    pub fn without_examples(&self) -> Self {
        let mut spec = Spec::clone(&self.spec);
        spec.examples.clear();
        Self { spec: Arc::new(spec), ..self.clone() }
    }

    /// A text of [`Spec::examples`] in the form of a run: each section after its prompt, the environment's text with
    /// its prompts broken, and a line break at the end. An unknown state is left out.
    pub fn example_text(&self, example: &ShownExample) -> String {
        let prompts = Prompts::new(&self.spec, Compat::Ours);
        let mut text = String::new();
        for (place, section) in example.sections.iter().enumerate() {
            let Some(id) = self.state_named(&section.state.value) else { continue };
            let state = self.state(id);
            text.push_str(&state.prompt.value);
            // A space could complete the longer prompt. A line break cannot, because no prompt contains one.
            text.push(if prompts.begins_another(&state.prompt.value) { '\n' } else { ' ' });
            let content = section.content.value.trim();
            // In a run these are escaped as well, so the model is shown the form that it will meet.
            if place == 0 || state.is_environment {
                prompts.escape_into(content, &mut text);
            } else {
                text.push_str(content);
            }
            text.push('\n');
        }
        text
    }

    /// Whether a requirement is about calls, of any tool.
    pub fn requires_of_calls(&self) -> bool {
        self.alphabet.has_patterns()
    }

    /// The tools that requirements name.
    pub fn named_tools(&self) -> impl Iterator<Item = &str> {
        self.alphabet.named_tools().into_iter()
    }

    /// The successors of a position, each with the state that leads there; in the order of the states.
    pub(crate) fn edges(&self, position: Position) -> Vec<(StateId, Position)> {
        // An open call can become a closed one, so it leads to no other states.
        let symbols = (0..self.alphabet.len()).filter(|symbol| self.alphabet.is_plain(*symbol));
        let mut edges: Vec<(StateId, Position)> = symbols
            .map(|symbol| (self.alphabet.state_of(symbol), self.dfa.step(position.0, symbol)))
            .filter(|(_, next)| *next != DEAD)
            .map(|(state, next)| (state, Position(next)))
            .collect();
        // Several calls of one state can lead to the same position.
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

/// The possible next states of each position.
fn valid(dfa: &Dfa, alphabet: &Alphabet) -> Vec<Vec<StateId>> {
    let of_position = |position: usize| {
        let symbols = (0..dfa.symbols()).filter(|symbol| dfa.step(position as u32, *symbol) != DEAD);
        let mut states: Vec<StateId> = symbols.map(|symbol| alphabet.state_of(symbol)).collect();
        // Symbols are numbered state by state, so equal states are adjacent.
        states.dedup();
        states
    };
    (0..dfa.positions()).map(of_position).collect()
}

/// Checks and compiles the understood parts of a specification.
fn finish(
    draft: Option<Draft>,
    compat: Compat,
    schemas: Option<&dyn SchemaValidator>,
    mut faults: Faults,
) -> Result<Loaded, FaultySpec> {
    let mut automaton = None;
    if let Some(draft) = draft {
        check::names(&draft, compat, &mut faults);
        if let Some(schemas) = schemas {
            check::schemas(&draft, schemas, &mut faults);
        }
        let span = draft.name.span;
        // The language of a specification with unknown names would only produce consequential faults.
        if !faults.has_errors()
            && let Some(spec) = draft.into_spec()
        {
            automaton = compile(spec, &mut faults).unwrap_or_else(|too_large| {
                check::too_large(span, too_large, &mut faults);
                None
            });
        }
    }
    let has_errors = faults.has_errors();
    let diagnostics = faults.into_sorted();
    match automaton {
        Some(automaton) if !has_errors => {
            Ok(Loaded { automaton: Arc::new(automaton), warnings: diagnostics })
        }
        _ => {
            // Whatever prevented an automaton has been reported as an error.
            debug_assert!(diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error));
            Err(FaultySpec { diagnostics })
        }
    }
}

/// Compiles a specification with valid names. `None` if it is unusable, as the faults then explain.
fn compile(spec: Spec, faults: &mut Faults) -> Result<Option<Automaton>, dfa::TooLarge> {
    let mut work = Work::default();
    let names: BTreeMap<&str, usize> =
        spec.states.iter().enumerate().map(|(index, state)| (state.name.value.as_str(), index)).collect();
    let alphabet = Alphabet::new(&spec)?;
    let behavior = sequence::automaton(&spec.behavior, &names, &mut work)?;
    work.spend(behavior.positions() * alphabet.len())?;
    // The behaviour does not distinguish calls: all symbols of a state act like the state.
    let words = behavior.relabelled(&alphabet.states());
    let mut parts = vec![words];
    let mut annotated = None;
    // A requirement about calls is about executed ones, so it is read on annotated words. Without such requirements,
    // annotation would cost work and change nothing.
    let dfa = if alphabet.has_patterns() {
        let twin = alphabet.annotated(&spec);
        let annotations = alphabet.annotations(&twin);
        let truth = execution::annotation(&spec, &twin, &mut work)?;
        work.spend(behavior.positions() * twin.len())?;
        let mut whole = behavior.relabelled(&twin.states()).intersected(&truth, &mut work)?;
        for requirement in &spec.requirements {
            let part = temporal::automaton(
                requirement,
                &StatesAndCalls { alphabet: &twin, names: &names },
                &mut work,
            )?;
            whole = whole.intersected(&part, &mut work)?;
            // Alone, too, a requirement must not be satisfied by a wrong annotation.
            let part = part.intersected(&truth, &mut work)?;
            parts.push(execution::projected(&part, &annotations, &mut work)?);
        }
        // Projected last: an unresolved call has several annotations, and one of them must satisfy all requirements
        // together.
        let dfa = execution::projected(&whole, &annotations, &mut work)?;
        annotated = Some(Arc::new(Annotated { alphabet: twin, dfa: whole }));
        dfa
    } else {
        let atoms = StatesAndCalls { alphabet: &alphabet, names: &names };
        for requirement in &spec.requirements {
            parts.push(temporal::automaton(requirement, &atoms, &mut work)?);
        }
        let first = parts[0].clone();
        let dfa = parts[1..].iter().try_fold(first, |dfa, part| dfa.intersected(part, &mut work))?;
        if parts.len() == 1 { dfa.minimised(&mut work)? } else { dfa }
    };
    // Unresolved arguments are neither a fault of a specification nor written by its author.
    let plain = |dfa: &Dfa| dfa.without(|symbol| !alphabet.is_plain(symbol));
    let plain_parts: Vec<Dfa> = parts.iter().map(plain).collect();
    check::language(&spec, &alphabet, &plain(&dfa), &plain_parts, faults);
    // If nothing is left, the behaviour alone may be the reason.
    let run = if dfa.is_empty() { &parts[0] } else { &dfa };
    unexecuted::warnings(&spec, &alphabet, run).into_iter().for_each(|warning| faults.push(warning));
    if dfa.is_empty() {
        return Ok(None);
    }
    let mut exit_first = vec![usize::MAX; spec.states.len()];
    rank_exits(&spec.behavior, &names, &mut 0, &mut exit_first);
    Ok(Some(Automaton {
        valid: valid(&dfa, &alphabet),
        alphabet,
        dfa,
        parts,
        annotated,
        exit_first,
        spec: Arc::new(spec),
    }))
}

/// Numbers the states in the order of their first occurrence in a formula, with the exit of a loop before its body.
fn rank_exits(formula: &Formula, names: &BTreeMap<&str, usize>, next: &mut usize, ranks: &mut [usize]) {
    match &formula.kind {
        FormulaKind::State(name) => {
            if let Some(rank) = names.get(name.as_str()).map(|state| &mut ranks[*state]) {
                *rank = (*rank).min(*next);
                *next += 1;
            }
        }
        FormulaKind::Or(operands) | FormulaKind::Next(operands) => {
            operands.iter().for_each(|operand| rank_exits(operand, names, next, ranks));
        }
        FormulaKind::Until { body, exit, .. } => {
            rank_exits(exit, names, next, ranks);
            rank_exits(body, names, next, ranks);
        }
        FormulaKind::Always { body, .. } => rank_exits(body, names, next, ranks),
    }
}
