//! Checks of a specification that was read successfully.

mod calls;
mod examples;
mod patterns;
pub(super) mod tools;

use std::collections::{BTreeMap, BTreeSet};

use planproof_trace::{Arguments, CallId, ToolCall};

use super::alphabet::Alphabet;
use super::dfa::{DEAD, Dfa, TooLarge, Work};
use crate::diagnostic::{Code, Diagnostic, all_of, nearest};
use crate::limits::{CONFLICT_TRIES_MAX, COUNT_MAX, PROMPT_BYTES_MAX};
use crate::monitor::SchemaValidator;
use crate::print::quoted;
use crate::published;
use crate::read::Draft;
use crate::read::formulas::is_reserved;
use crate::read::tree::Faults;
use crate::{
    Bounds, Compat, ContentRule, Entered, Example, ExampleStep, Formula, FormulaKind, Requirement,
    RequirementKind, Severity, Span, Spec, State, StateId,
};

/// Reports that a limit was exceeded while the automaton was built.
pub(super) fn too_large(span: Span, too_large: TooLarge, faults: &mut Faults) {
    let TooLarge { what, limit } = too_large;
    let message = format!("the automaton needs more than {limit} {what}");
    let help = "use smaller bounds and counts, fewer requirements, or fewer tests of arguments";
    faults.push(Diagnostic::new(Code::LimitExceeded, span, message).help(help));
}

/// Checks the names in the understood parts of a specification, and the prompts and handlers too.
pub(super) fn names(draft: &Draft, compat: Compat, faults: &mut Faults) {
    let states = draft.states.as_deref().unwrap_or_default();
    let mut first: BTreeMap<&str, &State> = BTreeMap::new();
    for state in states {
        if let Some(other) = first.get(state.name.value.as_str()) {
            let message = format!("the state `{}` is declared twice", state.name.value);
            let fault = Diagnostic::new(Code::DuplicateState, state.name.span, message);
            faults.push(fault.and(other.name.span, "the first one").help("rename one of them"));
        } else {
            first.insert(&state.name.value, state);
        }
    }
    for state in states {
        check_name_and_prompt(state, faults);
    }
    check_prompts(states, compat, faults);
    let completes_calls = states.iter().any(State::completes_call);
    for state in states {
        check_roles(state, completes_calls, compat, faults);
    }
    // Without a list of states every name would be unknown, which says nothing.
    if draft.states.is_none() {
        return;
    }
    let mut names = Names { first: &first, completes_calls, faults };
    if let Some(behavior) = &draft.behavior {
        names.formula(behavior);
    }
    draft.requirements.iter().for_each(|requirement| names.requirement(requirement));
    for example in draft.accepts.iter().chain(&draft.rejects) {
        example.steps.iter().for_each(|step| names.step(step));
    }
    for section in draft.examples.iter().flat_map(|example| &example.sections) {
        names.check(&section.state.value, section.state.span);
    }
    examples::check_content(draft, compat, faults);
    patterns::check(draft, faults);
}

/// Checks the JSON Schemas of content rules.
pub(super) fn schemas(draft: &Draft, schemas: &dyn SchemaValidator, faults: &mut Faults) {
    for rule in draft.states.iter().flatten().flat_map(|state| &state.content) {
        let ContentRule::Json(schema) = &rule.value else { continue };
        if let Err(what) = schemas.check_schema(schema) {
            let message = format!("the JSON Schema cannot be used: {what}");
            let fault = Diagnostic::new(Code::BadSchema, rule.span, message);
            faults.push(fault.help(
                "what content is held to must be a whole JSON Schema: the types are null, boolean, number, integer, string, \
                 array and object, and references stay within the schema, as in {\"$ref\": \"#/$defs/NAME\"}",
            ));
        }
    }
}

/// Checks that a state's name is allowed in formulas, and that its prompt can be recognised.
fn check_name_and_prompt(state: &State, faults: &mut Faults) {
    let name = &state.name.value;
    if is_reserved(name) {
        let message = format!("`{name}` means something else in formulas");
        let fault = Diagnostic::new(Code::ReservedName, state.name.span, message);
        faults.push(fault.help("give the state another name"));
    }
    let what = match &state.prompt.value {
        prompt if prompt.chars().count() < 2 => "is shorter than two characters",
        prompt if prompt.len() > PROMPT_BYTES_MAX => "is too long",
        prompt if prompt.trim() != prompt => {
            "begins or ends with white space, which does not count beside a prompt"
        }
        prompt if prompt.contains(['\n', '\r']) => "has a line break",
        _ => return,
    };
    let fault = Diagnostic::new(Code::BadPrompt, state.prompt.span, format!("the prompt {what}"));
    faults.push(fault.help(format!(
        "take a text of 2 to {PROMPT_BYTES_MAX} bytes that is rare elsewhere, such as [Thought]"
    )));
}

fn check_prompts(states: &[State], compat: Compat, faults: &mut Faults) {
    // Prompts conflict in the form in which they are recognised: the published code ignores case.
    let seen = |state: &State| match compat {
        Compat::Ours => state.prompt.value.clone(),
        Compat::Original => state.prompt.value.to_ascii_lowercase(),
    };
    for (index, state) in states.iter().enumerate() {
        let prompt = seen(state);
        for (other_index, other) in states.iter().enumerate() {
            let other_prompt = seen(other);
            if other_index == index || prompt.is_empty() {
                continue;
            }
            let names = (&state.name.value, &other.name.value);
            if prompt == other_prompt {
                // The loops meet each pair twice.
                if other_index < index {
                    let message = format!("`{}` and `{}` have the same prompt", names.1, names.0);
                    let fault = Diagnostic::new(Code::EqualPrompts, state.prompt.span, message);
                    faults.push(fault.and(other.prompt.span, "the first one").help(
                        "give each state a prompt of its own; a state may stand in several places of the behaviour",
                    ));
                }
            } else if other_prompt.contains(&prompt) {
                let message = format!("the prompt of `{}` is part of that of `{}`", names.0, names.1);
                let fault = Diagnostic::new(Code::NestedPrompts, state.prompt.span, message);
                faults.push(fault.and(other.prompt.span, "the longer one").help(
                    "where both fit, the longer one counts, even if its end was meant as content; brackets around prompts prevent that",
                ));
            }
        }
    }
}

/// Checks that states of the environment, and only those, have a handler, and that only others have content rules.
fn check_roles(state: &State, completes_calls: bool, compat: Compat, faults: &mut Faults) {
    let name = &state.name.value;
    match (&state.handler, state.is_environment) {
        (None, true) => {
            let mut fault = unbound(state);
            // Specifications of the published code have no handlers.
            if compat == Compat::Original {
                fault.severity = Severity::Warning;
            }
            faults.push(fault);
        }
        (Some(handler), false) => {
            let message = format!("`{name}` has a handler, but the model writes its content");
            let fault = Diagnostic::new(Code::HandlerOfModelState, handler.span, message);
            faults.push(fault.help("add (:flags :env-input), or leave out the handler"));
        }
        (Some(handler), true) if handler.value.needs_calls() && !completes_calls => {
            let message =
                format!("the handler `{}` has no calls to run: no state completes one", handler.value);
            let fault = Diagnostic::new(Code::NoCalls, handler.span, message);
            faults.push(fault.help(CALLS_HELP));
        }
        _ => {}
    }
    if let (Some(rule), true) = (state.content.first(), state.is_environment) {
        let message = format!("`{name}` has content rules, but the environment writes its content");
        let fault = Diagnostic::new(Code::RuleOfEnvironmentState, rule.span, message);
        faults.push(fault.help("content rules are for what the model writes; leave them out"));
    }
}

fn unbound(state: &State) -> Diagnostic {
    let name = &state.name.value;
    let message = format!("nothing writes the content of `{name}`, a state of the environment");
    let fault = Diagnostic::new(Code::UnboundEnvironment, state.name.span, message);
    fault.help(match published::handler(state) {
        Some(handler) => format!(
            "write ({name} (:text {}) (:flags :env-input) (:handler {handler})); or leave the file as it is, and run the agent \
             with --compat original, which adds what published specifications leave open",
            quoted(&state.prompt.value)
        ),
        None => format!(
            "name a handler, such as (:handler run-call); --compat original knows those of {} alone",
            published::known()
        ),
    })
}

const CALLS_HELP: &str =
    "add (:content tool) to the state that names the tool, and (:content arguments) to the one after it";

struct Names<'d, 'f> {
    first: &'d BTreeMap<&'d str, &'d State>,
    completes_calls: bool,
    faults: &'f mut Faults,
}

impl Names<'_, '_> {
    fn check(&mut self, name: &str, span: Span) {
        if self.first.contains_key(name) {
            return;
        }
        let fault = Diagnostic::new(Code::UnknownState, span, format!("there is no state `{name}`"));
        // The search for a similar name is the costly part, and the fault would be dropped.
        if self.faults.is_full() {
            return self.faults.push(fault);
        }
        self.faults.push(fault.help(match nearest(name, self.first.keys().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it: ({name} (:text \"[{name}]\"))"),
        }));
    }

    // The parser refuses this as well; the check is for specifications from other sources.

    fn operands(&mut self, span: Span, is_empty: bool) {
        if is_empty {
            let fault = Diagnostic::new(Code::WrongArity, span, "an operator without operands");
            self.faults.push(fault.help("give it one or more"));
        }
    }

    fn bounds(&mut self, span: Span, bounds: Bounds, least: u32) {
        let Bounds { min, max } = bounds;
        if min < least || max.is_some_and(|max| max < min) || max.unwrap_or(min) > COUNT_MAX {
            let max = max.map_or("any number of".to_owned(), |max| max.to_string());
            let message = format!("at least {min} and at most {max} times");
            let fault = Diagnostic::new(Code::BadNumber, span, message);
            self.faults
                .push(fault.help(format!("take numbers from {least} to {COUNT_MAX}, the smaller first")));
        }
    }

    fn formula(&mut self, formula: &Formula) {
        match &formula.kind {
            FormulaKind::State(name) => self.check(name, formula.span),
            FormulaKind::Or(operands) | FormulaKind::Next(operands) => {
                self.operands(formula.span, operands.is_empty());
                operands.iter().for_each(|operand| self.formula(operand));
            }
            FormulaKind::Until { body, exit, bounds } => {
                self.bounds(formula.span, *bounds, 0);
                self.formula(body);
                self.formula(exit);
            }
            FormulaKind::Always { body, bounds } => {
                self.bounds(formula.span, *bounds, 1);
                self.formula(body);
            }
        }
    }

    fn requirement(&mut self, requirement: &Requirement) {
        match &requirement.kind {
            RequirementKind::State(name) => self.check(name, requirement.span),
            RequirementKind::Call(_) if !self.completes_calls => {
                let message = "the requirement speaks of calls, but no state completes one";
                self.faults.push(Diagnostic::new(Code::NoCalls, requirement.span, message).help(CALLS_HELP));
            }
            RequirementKind::Call(_) | RequirementKind::True | RequirementKind::False => {}
            RequirementKind::AtMost(count, operand) => {
                self.bounds(requirement.span, Bounds { min: 0, max: Some(*count) }, 0);
                self.requirement(operand);
            }
            RequirementKind::Not(operand)
            | RequirementKind::Always(operand)
            | RequirementKind::Eventually(operand)
            | RequirementKind::Next(operand) => self.requirement(operand),
            RequirementKind::And(operands) | RequirementKind::Or(operands) => {
                self.operands(requirement.span, operands.is_empty());
                operands.iter().for_each(|operand| self.requirement(operand));
            }
            RequirementKind::Implies(first, second)
            | RequirementKind::Until(first, second)
            | RequirementKind::Before(first, second) => {
                self.requirement(first);
                self.requirement(second);
            }
        }
    }

    fn step(&mut self, step: &ExampleStep) {
        self.check(&step.state.value, step.state.span);
        let state = self.first.get(step.state.value.as_str());
        if step.call.is_some() && state.is_some_and(|state| !state.completes_call()) {
            let message = format!("no call is completed in `{}`", step.state.value);
            let fault = Diagnostic::new(Code::NoCalls, step.state.span, message);
            self.faults.push(fault.help("give the call to the state with (:content arguments)"));
        }
    }
}

/// Checks the automata. `parts` are the behaviour and the requirements, `whole` is their combination.
pub(super) fn language(spec: &Spec, alphabet: &Alphabet, whole: &Dfa, parts: &[Dfa], faults: &mut Faults) {
    let names = spec.states.iter().enumerate().map(|(index, state)| (state.name.value.as_str(), index));
    let mut checker =
        Checker { spec, alphabet, parts, names: names.collect(), work: Work::default(), faults };
    // If no run is possible, the other checks would only report consequences.
    if whole.is_empty() {
        checker.conflict();
    } else {
        checker.states(whole);
        if checker.vacuous().is_err() {
            let message = "the requirements are too many to tell which of them change nothing";
            let mut fault = Diagnostic::new(Code::LimitExceeded, spec.requirements[0].span, message);
            // Unlike a specification that cannot be compiled, one that cannot be checked completely is usable.
            fault.severity = Severity::Warning;
            checker.faults.push(fault.help("use fewer requirements, or smaller ones"));
        }
        checker.roles(whole);
        checker.impossible(whole);
        checker.examples(whole);
    }
}

struct Checker<'c> {
    spec: &'c Spec,
    alphabet: &'c Alphabet,
    parts: &'c [Dfa],
    names: BTreeMap<&'c str, usize>,
    /// A separate budget, so that a specification that compiles is not refused because of the checks.
    work: Work,
    faults: &'c mut Faults,
}

impl Checker<'_> {
    fn show(&self, word: &[usize]) -> String {
        self.alphabet.show(word, &self.spec.states)
    }

    /// The behaviour and some requirements together.
    fn together(&mut self, requirements: impl IntoIterator<Item = usize>) -> Result<Dfa, TooLarge> {
        requirements.into_iter().try_fold(self.parts[0].clone(), |dfa, index| {
            dfa.intersected(&self.parts[index + 1], &mut self.work)
        })
    }

    /// Reports which requirements cannot hold together: a smallest set, if it can be found.
    fn conflict(&mut self) {
        let fault = self.smallest_conflict().and_then(|core| self.conflict_of(&core));
        let fault = fault.unwrap_or_else(|_: TooLarge| {
            let message = "the requirements cannot hold together, and are too many to tell which of them";
            let fault = Diagnostic::new(Code::ConflictingRequirements, self.spec.behavior.span, message);
            fault.help("leave some of them out, to find those that are in conflict")
        });
        self.faults.push(fault);
    }

    /// The message about a smallest conflicting set, with a run for the set without each of its members.
    fn conflict_of(&mut self, core: &[usize]) -> Result<Diagnostic, TooLarge> {
        let mut labels = Vec::new();
        for left_out in core {
            let rest = self.together(core.iter().copied().filter(|index| index != left_out))?;
            let word = rest.shortest_word().map(|word| self.show(&word)).unwrap_or_default();
            labels.push((self.spec.requirements[*left_out].span, word));
        }
        Ok(match &labels[..] {
            [] => {
                // Every parsed formula has a word, so this is for a specification built in code.
                let span = self.spec.behavior.span;
                Diagnostic::new(Code::EmptyLanguage, span, "no run satisfies the behaviour")
            }
            [(span, word)] => {
                let message = "no run of the behaviour satisfies this requirement";
                Diagnostic::new(Code::EmptyLanguage, *span, message)
                    .at(format!("does not hold of: {word}"))
                    .help("the run shown is a shortest one of the behaviour; weaken the requirement, or the behaviour")
            }
            [(span, word), others @ ..] => {
                let numbers: Vec<String> = core.iter().map(|index| (index + 1).to_string()).collect();
                let message = format!(
                    "requirements {} cannot hold together",
                    all_of(numbers.iter().map(String::as_str))
                );
                let mut fault = Diagnostic::new(Code::ConflictingRequirements, *span, message)
                    .at(format!("without this one, this would do: {word}"))
                    .help("drop or weaken one of them; no smaller set of requirements is in conflict");
                for (span, word) in others {
                    fault = fault.and(*span, format!("without this one, this would do: {word}"));
                }
                fault
            }
        })
    }

    fn smallest_conflict(&mut self) -> Result<Vec<usize>, TooLarge> {
        let count = self.parts.len() - 1;
        let mut tries = 0;
        // By size, so that the first conflicting set is a smallest one.
        for size in 1..=count {
            let mut set: Vec<usize> = (0..size).collect();
            loop {
                tries += 1;
                if tries > CONFLICT_TRIES_MAX {
                    // There are too many subsets. One pass finds a set from which nothing can be left out.
                    return self.minimal_conflict();
                }
                if self.together(set.iter().copied())?.is_empty() {
                    return Ok(set);
                }
                if !next_subset(&mut set, count) {
                    break;
                }
            }
        }
        Ok(Vec::new())
    }

    /// Leaves out one requirement after the other, as long as the rest conflicts.
    fn minimal_conflict(&mut self) -> Result<Vec<usize>, TooLarge> {
        let mut set: Vec<usize> = (0..self.parts.len() - 1).collect();
        // One pass is enough: a requirement that was needed for the conflict is also needed in any subset.
        for left_out in set.clone() {
            let rest: Vec<usize> = set.iter().copied().filter(|index| *index != left_out).collect();
            if self.together(rest.iter().copied())?.is_empty() {
                set = rest;
            }
        }
        Ok(set)
    }

    /// States that no accepted word holds.
    fn states(&mut self, whole: &Dfa) {
        let used = |dfa: &Dfa| -> BTreeSet<StateId> {
            let symbols = (0..dfa.positions() as u32).flat_map(|position| {
                (0..dfa.symbols()).filter(move |symbol| dfa.step(position, *symbol) != DEAD)
            });
            symbols.map(|symbol| self.alphabet.state_of(symbol)).collect()
        };
        let (in_behavior, in_whole) = (used(&self.parts[0]), used(whole));
        let mut found = Vec::new();
        for (index, state) in self.spec.states.iter().enumerate() {
            let (id, name) = (StateId::new(index), &state.name.value);
            if !in_behavior.contains(&id) {
                let message = format!("the behaviour never reaches the state `{name}`");
                let fault = Diagnostic::new(Code::UnreachableState, state.name.span, message);
                found.push(fault.help("put it into the behaviour, or leave it out"));
            } else if !in_whole.contains(&id) {
                let is_here = |_, symbol: Option<usize>| {
                    symbol.is_some_and(|symbol| self.alphabet.state_of(symbol) == id)
                };
                let way = self.parts[0].shortest_way(0, is_here).unwrap_or_default();
                let message = format!("no run that enters the state `{name}` can satisfy the requirements");
                // Only a requirement that this path already violates is named; the others may forbid the state in
                // combination.
                let broken = self.parts[1..].iter().position(|part| part.run(&way) == DEAD);
                let mut fault = Diagnostic::new(Code::NoWayToEnd, state.name.span, message)
                    .at(format!("entered by: {}", self.show(&way)))
                    .help("leave it out of the behaviour, or weaken the requirements");
                if let Some(requirement) = broken {
                    fault = fault.and(self.spec.requirements[requirement].span, "this one forbids it");
                }
                found.push(fault);
            }
        }
        found.into_iter().for_each(|fault| self.faults.push(fault));
    }

    /// Requirements that could be dropped without changing the language.
    fn vacuous(&mut self) -> Result<(), TooLarge> {
        let count = self.parts.len() - 1;
        for index in 0..count {
            let others = self.together((0..count).filter(|other| *other != index))?;
            // A word that satisfies all the others, but not this one, shows that it forbids something.
            if others.shortest_difference(&self.parts[index + 1], &mut self.work)?.is_some() {
                continue;
            }
            let alone = self.parts[0].shortest_difference(&self.parts[index + 1], &mut self.work)?.is_none();
            let because =
                if alone { "the behaviour satisfies it anyway" } else { "it follows from the others" };
            let fault = Diagnostic::new(
                Code::VacuousRequirement,
                self.spec.requirements[index].span,
                format!("the requirement changes nothing: {because}"),
            );
            self.faults.push(fault.help("leave it out, or say what it was meant to forbid"));
        }
        Ok(())
    }

    fn examples(&mut self, whole: &Dfa) {
        for example in &self.spec.accepts {
            let word = self.word(example);
            if !whole.accepts(&word) {
                let fault = self.not_accepted(example, &word, whole);
                self.faults.push(fault);
            }
        }
        for example in &self.spec.examples {
            let example = self.as_sequence(example);
            let word = self.word(&example);
            if !whole.accepts(&word) {
                let fault = self.not_accepted(&example, &word, whole);
                self.faults.push(fault);
            }
        }
        for example in &self.spec.rejects {
            if whole.accepts(&self.word(example)) {
                let message = "the example is accepted, but stands under `:rejects`";
                let fault = Diagnostic::new(Code::ExampleNotRejected, example.span, message);
                self.faults.push(fault.help("forbid it with a requirement, or move it to `:accepts`"));
            }
        }
    }

    fn word(&self, example: &Example) -> Vec<usize> {
        let symbol = |step: &ExampleStep| {
            // The name is known: an unknown one is an error, and the automaton is then not built.
            let state = StateId::new(self.names.get(step.state.value.as_str()).copied().unwrap_or_default());
            let call = step.call.as_ref().map(|call| ToolCall {
                id: CallId::new("example"),
                name: call.tool.clone(),
                arguments: Arguments::Object(call.arguments.clone()),
            });
            self.alphabet.symbol(Entered::with(state, call.as_ref()))
        };
        example.steps.iter().map(symbol).collect()
    }

    /// Reports at which step an example leaves the language, and what would have been possible there.
    fn not_accepted(&self, example: &Example, word: &[usize], whole: &Dfa) -> Diagnostic {
        let mut position = whole.start();
        for (step, symbol) in example.steps.iter().zip(word) {
            let next = whole.step(position, *symbol);
            if next == DEAD {
                let message =
                    format!("the example is not accepted: `{}` cannot stand here", step.state.value);
                let fault = Diagnostic::new(Code::ExampleNotAccepted, step.state.span, message);
                return fault.and(example.span, "the example").help(self.could_stand(whole, position));
            }
            position = next;
        }
        let message = "the example is not accepted: it ends too early";
        let fault = Diagnostic::new(Code::ExampleNotAccepted, example.span, message);
        fault.help(self.could_stand(whole, position))
    }

    fn could_stand(&self, whole: &Dfa, position: u32) -> String {
        let symbols = (0..whole.symbols()).filter(|symbol| whole.step(position, *symbol) != DEAD);
        let shown: BTreeSet<String> = symbols.map(|symbol| self.show(&[symbol])).collect();
        match shown.is_empty() {
            true => "the example must end here".to_owned(),
            false => format!("what can come here: {}", shown.into_iter().collect::<Vec<_>>().join(", ")),
        }
    }
}

/// The next subset of `0..count` of the same size, in lexicographic order; false after the last one.
fn next_subset(set: &mut [usize], count: usize) -> bool {
    let size = set.len();
    // The last element that can still grow. Those after it become its direct successors.
    let Some(at) = (0..size).rev().find(|at| set[*at] < count - size + at) else { return false };
    set[at] += 1;
    for later in at + 1..size {
        set[later] = set[later - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_come_in_order() {
        let mut set = vec![0, 1];
        let mut all = vec![set.clone()];
        while next_subset(&mut set, 4) {
            all.push(set.clone());
        }
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    }
}
