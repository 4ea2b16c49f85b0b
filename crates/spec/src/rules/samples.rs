//! Sample calls: values on both sides of each test of the rules, put together to arguments and outcomes.

use serde_json::{Value, json};

use super::places::{PlaceKind, SamplePlaces};
use super::search::{SampleCall, tools};
use super::spots::Spot;
use super::values::ValueClasses;
use super::{Phase, Pointer, RuleSet, RuleTest, ValueCheck, ValueType};
use crate::limits::{RULE_SAMPLE_CALLS_MAX, RULE_SAMPLES_MAX};
use crate::number::JsonNumber;

/// An object with the entries of both; where both have one, the second's.
pub fn joined(first: &Value, second: &Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            let mut all = first.clone();
            for (key, value) in second {
                let value = first.get(key).map_or_else(|| value.clone(), |before| joined(before, value));
                all.insert(key.clone(), value);
            }
            Value::Object(all)
        }
        _ => second.clone(),
    }
}

/// Calls of all tools that rules name, and of one that none names.
pub(super) struct Samples {
    pub(super) calls: Vec<SampleCall>,
    /// Whether all values that the rules tell apart are among them. Otherwise, there may be sessions of others.
    pub(super) are_all: bool,
}

/// What the samples have besides what all rules say.
#[derive(Default, Clone, Copy)]
pub(super) struct SampleHints<'h> {
    /// A tool that has to be among them.
    pub(super) tool: Option<&'h str>,
    /// The number of the rule whose values come first, so that they are there where there are too many.
    pub(super) first: Option<usize>,
    /// Names of real tools, one of which stands for any tool that the rules do not name.
    pub(super) others: &'h [String],
}

/// The tool that stands for any that rules do not name, where no real one is known: words that no tool has as its name.
pub(super) const ANY_OTHER_TOOL: &str = "any other tool";

impl Samples {
    /// Calls with so many values of each class, up to [`RULE_EQUALS_MAX`](crate::limits::RULE_EQUALS_MAX), at places
    /// whose values are compared.
    pub(super) fn with(rules: &RuleSet, hints: SampleHints<'_>, copies: usize) -> Self {
        let mut names: Vec<String> = tools(rules);
        let tool = hints.tool.filter(|tool| !names.iter().any(|name| name == tool));
        names.extend(tool.map(str::to_owned));
        // A tool that no rule names; the rules that hold for any tool concern it.
        if (0..rules.rules.len()).any(|rule| rules.counts_any_tool(rule)) {
            names.push(unnamed(rules, &names, hints.others));
        }
        let mut places = SamplePlaces::new(rules, &names, hints.first, copies);
        let failures_matter = rules
            .rules
            .iter()
            .any(|rule| rule.patterns().iter().any(|pattern| pattern.moment == Phase::Failed));
        let mut calls = Vec::new();
        let most_of_tool = (RULE_SAMPLE_CALLS_MAX / names.len().max(1)).max(RULE_SAMPLES_MAX);
        for (number, tool) in names.iter().enumerate() {
            let before = calls.len();
            let results = places.samples(number, PlaceKind::Result);
            let errors = match failures_matter {
                true => places.samples(number, PlaceKind::Error),
                false => Vec::new(),
            };
            for arguments in places.samples(number, PlaceKind::Argument) {
                let call = |outcome| SampleCall { tool: tool.clone(), arguments: arguments.clone(), outcome };
                calls.extend(results.iter().map(|result| call(Some(Ok(result.clone())))));
                calls.extend(errors.iter().map(|error| call(Some(Err(error.clone())))));
                calls.push(call(None));
            }
            places.are_all &= calls.len() - before <= most_of_tool;
            calls.truncate(before + most_of_tool);
        }
        Self { calls, are_all: places.are_all }
    }
}

/// The name of a tool that these rules do not name: one of these if one fits, otherwise an invented one.
fn unnamed(rules: &RuleSet, names: &[String], others: &[String]) -> String {
    let is_named = |name: &str| {
        let mut patterns = rules.rules.iter().flat_map(|rule| rule.patterns());
        names.iter().any(|other| other == name)
            || patterns.any(|pattern| pattern.tools.is_some() && pattern.is_of(name))
    };
    if let Some(known) = others.iter().find(|name| !is_named(name)) {
        return known.clone();
    }
    let mut other = ANY_OTHER_TOOL.to_owned();
    while is_named(&other) {
        other.push('_');
    }
    other
}

/// Values for a test: the first passes it, if we know one that does, and the last does not.
pub(super) fn samples(test: &RuleTest) -> Vec<Value> {
    match test {
        RuleTest::Is(value) => vec![value.clone(), other_than(value)],
        RuleTest::IsNot(value) => vec![other_than(value), value.clone()],
        RuleTest::OneOf(all) => all.iter().take(2).cloned().chain([json!("something else")]).collect(),
        RuleTest::Above(bound) => vec![bound.above().value(), bound.value()],
        RuleTest::AtMost(bound) => vec![bound.value(), bound.above().value()],
        RuleTest::AtLeast(bound) => vec![bound.value(), bound.below().value()],
        RuleTest::Below(bound) => vec![bound.below().value(), bound.value()],
        RuleTest::Matches(pattern) => {
            pattern.sample().into_iter().map(Value::from).chain([json!("something else")]).collect()
        }
        RuleTest::Type(types) => {
            let passing = types.first().map(|one| sample_of(*one));
            let failing = ValueType::ALL.into_iter().map(sample_of);
            let failing = failing.filter(|value| !test.holds(Some(value))).take(1);
            passing.into_iter().chain(failing).collect()
        }
        // The other way round, and a value of another type.
        RuleTest::Not(tests) => {
            let of_tests: Vec<Value> = tests.iter().flat_map(samples).chain([json!("something")]).collect();
            let (passing, failing) = of_tests.into_iter().partition(|value| test.holds(Some(value)));
            let (passing, failing): (Vec<Value>, Vec<Value>) = (passing, failing);
            passing.into_iter().chain(failing).collect()
        }
        RuleTest::Present(true) => vec![json!("something"), Value::Null],
        RuleTest::Present(false) => Vec::new(),
    }
}

/// A value of a type.
pub(super) fn sample_of(kind: ValueType) -> Value {
    match kind {
        ValueType::String => json!("something"),
        ValueType::Number => json!(1.5),
        ValueType::Integer => json!(1),
        ValueType::Boolean => json!(true),
        ValueType::Object => json!({}),
        ValueType::Array => json!([]),
        ValueType::Null => Value::Null,
    }
}

/// Arguments that pass some tests, as far as there are values that pass all tests of one place.
pub fn arguments_for(checks: &[ValueCheck]) -> Value {
    let mut arguments = json!({});
    for check in checks {
        // Where there are several tests of one place, a value for one of them may pass all.
        let of_place = |other: &&ValueCheck| other.pointer == check.pointer;
        let passes_all = |value: &Value| {
            let mut with = json!({});
            put(&mut with, &check.pointer, value.clone());
            checks.iter().filter(of_place).all(|other| other.holds(Some(&with)))
        };
        let tests: Vec<&RuleTest> = checks.iter().filter(of_place).map(|other| &other.test).collect();
        let candidates: Vec<Value> = tests.iter().flat_map(|test| samples(test)).collect();
        let other = || {
            let classes = ValueClasses { tests, ..ValueClasses::default() };
            classes.representatives(|_| true).values.into_iter().find(passes_all)
        };
        if let Some(value) = candidates.into_iter().find(passes_all).or_else(other) {
            put(&mut arguments, &check.pointer, value);
        }
    }
    arguments
}

fn other_than(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!(!value),
        Value::Number(_) => JsonNumber::of(value).map_or(json!(1), |number| number.above().value()),
        Value::String(value) if value == "something else" => json!("something"),
        _ => json!("something else"),
    }
}

/// A number as people write it: without a fraction where there is none.
pub(super) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// Puts a value where a pointer leads, making the objects on the way. `*` makes a list with one element, and a number
/// the place in a list unless there is an object already; elements before it that are not there are `null`.
pub fn put(within: &mut Value, pointer: &Pointer, value: Value) {
    let first = Pointer::made(pointer.as_str().replace("/*", "/0"));
    Spot::new(&first, |_| true).put(within, value, &|_| Value::Null);
}
