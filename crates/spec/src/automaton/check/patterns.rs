//! Patterns of calls that match nothing, or less than intended: checks that need no tools.

use std::collections::BTreeMap;

use planproof_trace::Arguments;
use serde_json::{Map, Value};

use crate::diagnostic::{Code, Diagnostic};
use crate::number::JsonNumber;
use crate::read::Draft;
use crate::read::tree::Faults;
use crate::{CallPattern, ExampleStep, Predicate, Requirement, RequirementKind, Span, Test};

/// Calls `see` with each pattern of a requirement and its position.
pub(super) fn each<'r>(requirement: &'r Requirement, see: &mut dyn FnMut(&'r CallPattern, Span)) {
    match &requirement.kind {
        RequirementKind::Call(pattern) => see(pattern, requirement.span),
        RequirementKind::True | RequirementKind::False | RequirementKind::State(_) => {}
        RequirementKind::Not(operand)
        | RequirementKind::Always(operand)
        | RequirementKind::Eventually(operand)
        | RequirementKind::Next(operand)
        | RequirementKind::AtMost(_, operand) => each(operand, see),
        RequirementKind::And(operands) | RequirementKind::Or(operands) => {
            operands.iter().for_each(|operand| each(operand, see));
        }
        RequirementKind::Implies(first, second)
        | RequirementKind::Until(first, second)
        | RequirementKind::Before(first, second) => {
            each(first, see);
            each(second, see);
        }
    }
}

/// Checks each pattern by itself, together with the names of tools and the values in examples.
pub(super) fn check(draft: &Draft, faults: &mut Faults) {
    let mut patterns: Vec<(&CallPattern, Span)> = Vec::new();
    for requirement in &draft.requirements {
        each(requirement, &mut |pattern, span| patterns.push((pattern, span)));
    }
    for (pattern, span) in &patterns {
        check_name(pattern, *span, faults);
        check_tests(pattern, *span, faults);
    }
    let steps = draft.accepts.iter().chain(&draft.rejects).flat_map(|example| &example.steps);
    let steps: Vec<&ExampleStep> = steps.filter(|step| step.call.is_some()).collect();
    check_spelling(&patterns, &steps, faults);
    steps.iter().for_each(|step| check_values(&patterns, step, faults));
}

fn check_name(pattern: &CallPattern, span: Span, faults: &mut Faults) {
    let Some(tool) = pattern.tool.as_deref().filter(|tool| tool.contains('*')) else { return };
    let message = format!(
        "no call matches `call:{tool}`: a `*` stands for any tool by itself alone, not within a name"
    );
    let fault = Diagnostic::new(Code::UnmatchedCall, span, message);
    faults.push(fault.help("name the tools, as in (or call:delete call:destroy), or write call:* for any"));
}

/// Names that differ only in capitals, `_` and `-` mean different tools, which is rarely intended.
fn check_spelling(patterns: &[(&CallPattern, Span)], steps: &[&ExampleStep], faults: &mut Faults) {
    let in_patterns = patterns.iter().filter_map(|(pattern, span)| Some((pattern.tool.as_deref()?, *span)));
    let in_steps = steps.iter().filter_map(|step| Some((step.call.as_ref()?.tool.as_str(), step.state.span)));
    let mut first: BTreeMap<String, Vec<(&str, Span)>> = BTreeMap::new();
    for (tool, span) in in_patterns.chain(in_steps) {
        let bare: String = tool.to_lowercase().chars().filter(|c| !['_', '-'].contains(c)).collect();
        let spellings = first.entry(bare).or_default();
        if spellings.iter().any(|(other, _)| *other == tool) {
            continue;
        }
        if let Some((other, place)) = spellings.first() {
            let message = format!("`{tool}` and `{other}` are different tools");
            let fault = Diagnostic::new(Code::SimilarTools, span, message);
            faults.push(fault.and(*place, "the other one").help("write a tool's name in one way"));
        }
        spellings.push((tool, span));
    }
}

fn check_tests(pattern: &CallPattern, span: Span, faults: &mut Faults) {
    for predicate in &pattern.predicates {
        if let Test::Equal(Value::String(text)) | Test::NotEqual(Value::String(text)) = &predicate.test
            && is_number(text)
        {
            let argument = &predicate.argument;
            let message =
                format!("`{predicate}` compares `{argument}` with a text, and no number equals a text");
            let fault = Diagnostic::new(Code::NumberInString, span, message);
            faults.push(fault.help(format!(
                "without quotes it is a number; where a text of digits is meant, a regular expression says so: (matches \
                 {argument} \"{text}\")"
            )));
        }
    }
    // Only tests of the same argument can contradict one another.
    let mut by_argument: BTreeMap<&str, Vec<&Predicate>> = BTreeMap::new();
    for predicate in &pattern.predicates {
        by_argument.entry(name_of(predicate)).or_default().push(predicate);
    }
    for predicates in by_argument.values() {
        if let Some(why) = contradiction(predicates) {
            let shown: Vec<String> = predicates.iter().map(ToString::to_string).collect();
            let message = match &shown[..] {
                [test] => format!("no call matches this: `{test}` never holds: {why}"),
                _ => format!("no call matches this: {} never hold together: {why}", quoted(&shown)),
            };
            let fault = Diagnostic::new(Code::UnmatchedCall, span, message);
            faults
                .push(fault.help(
                    "mend or leave out one of the tests; `or` joins patterns of which one is to match",
                ));
        }
    }
}

fn quoted(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    crate::diagnostic::all_of(texts.iter().map(String::as_str))
}

/// The argument; `/name` and `name` are the same.
fn name_of(predicate: &Predicate) -> &str {
    let argument = predicate.argument.as_str();
    match argument.strip_prefix('/') {
        Some(name) if !name.contains(['/', '~']) => name,
        _ => argument,
    }
}

/// Whether a text would be read as a JSON number.
pub(super) fn is_number(text: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(text.trim()).is_ok()
}

/// Whether only numbers can pass a test.
pub(super) fn is_numeric(test: &Test) -> bool {
    matches!(test, Test::Below(_) | Test::AtMost(_) | Test::Above(_) | Test::AtLeast(_))
}

/// A bound, and whether it is included.
pub(super) type Bound = (JsonNumber, bool);

/// Numbers that some tests leave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    min: Option<Bound>,
    max: Option<Bound>,
}

impl Range {
    pub(super) fn all() -> Self {
        Self { min: None, max: None }
    }

    pub(super) fn raise(&mut self, bound: JsonNumber, is_in: bool) {
        // Of two equal bounds, the one that excludes its number is tighter.
        if self.min.is_none_or(|(min, _)| bound > min || bound == min && !is_in) {
            self.min = Some((bound, is_in));
        }
    }

    pub(super) fn lower(&mut self, bound: JsonNumber, is_in: bool) {
        if self.max.is_none_or(|(max, _)| bound < max || bound == max && !is_in) {
            self.max = Some((bound, is_in));
        }
    }

    pub(super) fn meet(&mut self, test: &Test) {
        match test {
            Test::Below(bound) => self.lower(*bound, false),
            Test::AtMost(bound) => self.lower(*bound, true),
            Test::Above(bound) => self.raise(*bound, false),
            Test::AtLeast(bound) => self.raise(*bound, true),
            Test::Has | Test::Equal(_) | Test::NotEqual(_) | Test::Matches(_) => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let both = self.min.zip(self.max);
        both.is_some_and(|(min, max)| min.0 > max.0 || min.0 == max.0 && !(min.1 && max.1))
    }

    /// The bounds, where there are any.
    pub(super) fn bounds(&self) -> (Option<Bound>, Option<Bound>) {
        (self.min, self.max)
    }

    /// The only number that is left.
    fn only(&self) -> Option<JsonNumber> {
        let (min, max) = self.min.zip(self.max)?;
        (min.0 == max.0 && !self.is_empty()).then_some(min.0)
    }
}

/// Why no value can pass all tests of one argument; `None` if one can, or if that cannot be decided (for several
/// regular expressions).
fn contradiction(predicates: &[&Predicate]) -> Option<String> {
    let tests = || predicates.iter().map(|predicate| &predicate.test);
    let passes = |value: &Value| {
        let object = Arguments::Object(Map::from_iter([("value".to_owned(), value.clone())]));
        tests().all(|test| Predicate { argument: "value".into(), test: test.clone() }.holds(&object))
    };
    let is_never = |test: &Test| matches!(test, Test::Matches(pattern) if pattern.is_never());
    if tests().any(is_never) {
        return Some("no text matches the regular expression".into());
    }
    let equal = tests().find_map(|test| match test {
        Test::Equal(value) => Some(value),
        _ => None,
    });
    // With an equality there is only one candidate, so all tests can simply be tried.
    if let Some(value) = equal {
        return (!passes(value)).then(|| format!("{value} does not pass all of them"));
    }
    let mut range = Range::all();
    tests().for_each(|test| range.meet(test));
    let is_numeric = tests().any(is_numeric);
    if is_numeric && tests().any(|test| matches!(test, Test::Matches(_))) {
        return Some("a value is a number or a text, not both".into());
    }
    // If only one number is left, another test such as `!=` can still exclude it.
    let is_excluded = range.only().is_some_and(|number| !passes(&number.value()));
    (is_numeric && (range.is_empty() || is_excluded)).then(|| "no number lies within them".to_owned())
}

/// An example with a text does not show its author's intention if requirements compare numbers.
fn check_values(patterns: &[(&CallPattern, Span)], step: &ExampleStep, faults: &mut Faults) {
    let Some(call) = &step.call else { return };
    let concerned =
        patterns.iter().filter(|(pattern, _)| pattern.tool.as_ref().is_none_or(|tool| *tool == call.tool));
    for (pattern, span) in concerned {
        for predicate in &pattern.predicates {
            let Some(Value::String(text)) = call.arguments.get(name_of(predicate)) else { continue };
            let compares = is_numeric(&predicate.test)
                || matches!(
                    &predicate.test,
                    Test::Equal(Value::Number(_)) | Test::NotEqual(Value::Number(_))
                );
            if compares && is_number(text) {
                let message =
                    format!("`{}` is a text here, and `{predicate}` compares numbers", predicate.argument);
                let fault = Diagnostic::new(Code::NumberInString, step.state.span, message);
                let fault = fault.and(*span, "the test");
                faults.push(fault.help(format!("without quotes, {text} is a number")));
                return;
            }
        }
    }
}
