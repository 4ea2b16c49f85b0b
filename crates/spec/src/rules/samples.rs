//! Sample calls: values on both sides of each test of the rules, put together to arguments and outcomes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::search::{SampleCall, tools};
use super::{CallRule, EventPattern, Phase, Pointer, RuleDemand, RuleSet, RuleTest, ValueCheck, ValueType};
use crate::number::JsonNumber;

/// Sample values of one place.
const VALUES_MAX: usize = 6;

/// Sample arguments, and sample results, of one tool.
const SAMPLES_MAX: usize = 24;

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

/// The values that are looked at within the arguments or the outcomes of a tool.
type Places = BTreeMap<String, Vec<Value>>;

impl Samples {
    pub(super) fn with(rules: &RuleSet, hints: SampleHints<'_>) -> Self {
        let mut names: Vec<String> = tools(rules);
        let tool = hints.tool.filter(|tool| !names.iter().any(|name| name == tool));
        names.extend(tool.map(str::to_owned));
        // A tool that no rule names; the rules that hold for any tool concern it.
        if rules.rules.iter().any(CallRule::concerns_any_tool) {
            names.push(unnamed(rules, &names, hints.others));
        }
        let first = hints.first.and_then(|first| rules.rules.get(first));
        let mut are_all = true;
        let mut calls = Vec::new();
        for tool in names {
            let mut arguments = Places::new();
            let (mut results, mut errors) = (Places::new(), Places::new());
            for rule in first.into_iter().chain(&rules.rules) {
                let concerns = |pattern: &EventPattern| {
                    pattern.tools.as_ref().is_none_or(|tools| tools.match_tool(None, &tool))
                };
                let patterns = rule.patterns();
                let concerned: Vec<&&EventPattern> =
                    patterns.iter().filter(|pattern| concerns(pattern)).collect();
                for pattern in &concerned {
                    add(&mut arguments, &pattern.arguments);
                    add(
                        if pattern.moment == Phase::Failed { &mut errors } else { &mut results },
                        &pattern.outcome,
                    );
                }
                if concerned.is_empty() {
                    continue;
                }
                // Two values are enough to tell a rule for each value from one for all of them.
                if let Some(per) = &rule.per {
                    arguments.entry(per.as_str().to_owned()).or_default().extend([json!(1), json!(2)]);
                }
                if let RuleDemand::Takes { event, argument, from, value } = &rule.demand {
                    if concerns(event) {
                        arguments
                            .entry(argument.as_str().to_owned())
                            .or_default()
                            .extend([json!("a"), json!("b")]);
                    }
                    if concerns(from) {
                        results.entry(value.as_str().to_owned()).or_default().push(json!("a"));
                    }
                }
            }
            let failures_matter = rules
                .rules
                .iter()
                .any(|rule| rule.patterns().iter().any(|pattern| pattern.moment == Phase::Failed));
            let results = combinations(&results, &mut are_all);
            let errors = if failures_matter { combinations(&errors, &mut are_all) } else { Vec::new() };
            for arguments in combinations(&arguments, &mut are_all) {
                let call = |outcome| SampleCall { tool: tool.clone(), arguments: arguments.clone(), outcome };
                calls.extend(results.iter().map(|result| call(Some(Ok(result.clone())))));
                calls.extend(errors.iter().map(|error| call(Some(Err(error.clone())))));
                calls.push(call(None));
            }
        }
        Self { calls, are_all }
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

/// Adds values on both sides of each test.
fn add(places: &mut Places, checks: &[ValueCheck]) {
    for check in checks {
        let values = places.entry(check.pointer.as_str().to_owned()).or_default();
        values.append(&mut samples(&check.test));
    }
}

/// Values for a test: the first passes it, if we know one that does, and the last does not.
fn samples(test: &RuleTest) -> Vec<Value> {
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

/// Arguments that pass some tests, as far as values for one test after the other do.
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
        let candidates: Vec<Value> =
            checks.iter().filter(of_place).flat_map(|other| samples(&other.test)).collect();
        if let Some(value) = candidates.into_iter().find(passes_all) {
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

/// Objects with each choice of values, up to [`SAMPLES_MAX`]. Among the choices for a place is that nothing is there,
/// but comes last. `are_all` becomes false if there are more.
fn combinations(places: &Places, are_all: &mut bool) -> Vec<Value> {
    let mut all = vec![json!({})];
    for (pointer, values) in places {
        let mut choices: Vec<Option<Value>> = Vec::new();
        for value in values {
            if !choices.contains(&Some(value.clone())) {
                if choices.len() == VALUES_MAX {
                    *are_all = false;
                    break;
                }
                choices.push(Some(value.clone()));
            }
        }
        choices.push(None);
        let mut next = Vec::new();
        for choice in &choices {
            for object in &all {
                let mut object = object.clone();
                if let Some(value) = choice {
                    put(&mut object, &Pointer::made(pointer.as_str()), value.clone());
                }
                if !next.contains(&object) {
                    match next.len() < SAMPLES_MAX {
                        true => next.push(object),
                        false => *are_all = false,
                    }
                }
            }
        }
        all = next;
    }
    all
}

/// Puts a value where a pointer leads, making the objects on the way. `*` makes a list with one element.
pub fn put(within: &mut Value, pointer: &Pointer, value: Value) {
    let mut at = within;
    for part in pointer.parts() {
        if part == "*" {
            if !at.is_array() {
                *at = json!([null]);
            }
            match at {
                Value::Array(items) if !items.is_empty() => at = &mut items[0],
                _ => return,
            }
        } else {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            match at {
                Value::Object(entries) => at = entries.entry(part).or_insert(Value::Null),
                _ => return,
            }
        }
    }
    *at = value;
}
