//! Calls to look for right sessions among: for each tool, arguments of every kind that rules and a world tell apart.
//!
//! Two calls that match the same events of all rules, have the same values of `per`, and take and give the same values
//! are one call as far as rules can see, so one of them is enough. Their arguments are put together of values on both
//! sides of every value that a rule, a line of a world or a result names.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::samples::sample_of;
use super::search::{SampleCall, arguments_for, joined, put};
use super::{Phase, Pointer, RuleDemand, RuleSet, RuleTest, SessionEvent, ValueCheck, canonical, targets};
use crate::limits::{RULE_CALLS_MAX, RULE_CALLS_TRIED_MAX, RULE_PLACE_VALUES_MAX};
use crate::number::JsonNumber;

/// A tool that a session may call.
#[derive(Debug, Clone, Copy)]
pub struct CallableTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What the lines of a world ask of its arguments.
    pub lines: &'a [Vec<ValueCheck>],
    /// What it returns, as far as that is known.
    pub results: &'a [Value],
}

/// Calls of these tools, at most [`RULE_CALLS_MAX`] of each, that rules or the world tell apart. `complete` makes whole
/// arguments of those that matter, if the tool takes any such; `outcome` says what comes of a call, and `effect` what
/// else tells calls apart that rules see alike, because of what comes of calls after them.
///
/// The calls that the lines of the world ask for come first, those with few arguments before others.
pub fn calls_of(
    rules: &RuleSet,
    tools: &[CallableTool<'_>],
    complete: impl Fn(&str, Value) -> Option<Value>,
    outcome: impl Fn(&str, &Value) -> Result<Value, Value>,
    effect: impl Fn(&str, &Value) -> Vec<String>,
) -> Vec<SampleCall> {
    let mut calls = Vec::new();
    for tool in tools {
        let mut seen = HashSet::new();
        let mut tried = 0;
        let mut add = |arguments: Value| -> bool {
            tried += 1;
            if let Some(arguments) = complete(tool.name, arguments) {
                let outcome = Some(outcome(tool.name, &arguments));
                let effect = effect(tool.name, &arguments);
                let call = SampleCall { tool: tool.name.to_owned(), arguments, outcome };
                if seen.insert((seen_by_rules(rules, &call), effect)) {
                    calls.push(call);
                }
            }
            tried < RULE_CALLS_TRIED_MAX && seen.len() < RULE_CALLS_MAX
        };
        let asked: Vec<Value> = tool.lines.iter().map(|line| arguments_for(line)).collect();
        // Values that the tool does not take at their place are left out of all choices.
        let is_taken = |place: &Pointer, value: &Value| {
            let mut alone = json!({});
            put(&mut alone, place, value.clone());
            complete(tool.name, alone).is_some()
        };
        let values_of = |place: Pointer| {
            let mut values = values(rules, tools, &place);
            values.retain(|value| is_taken(&place, value));
            (place, values)
        };
        let places: Vec<(Pointer, Vec<Value>)> = places(rules, tool).into_iter().map(values_of).collect();
        let _ = asked.iter().all(|arguments| add(arguments.clone()))
            && asked.iter().all(|first| each_choice(&places, first, &mut add))
            && each_choice(&places, &json!({}), &mut add);
    }
    calls
}

/// Calls `visit` with `first` and the values of every choice of places, until it returns false. Choices of few places
/// come first, so that each value is tried even where there are too many choices.
fn each_choice(
    places: &[(Pointer, Vec<Value>)],
    first: &Value,
    visit: &mut impl FnMut(Value) -> bool,
) -> bool {
    (0..=places.len()).all(|count| choose(places, count, first, visit))
}

fn choose(
    places: &[(Pointer, Vec<Value>)],
    count: usize,
    chosen: &Value,
    visit: &mut impl FnMut(Value) -> bool,
) -> bool {
    if count == 0 {
        return visit(chosen.clone());
    }
    (0..places.len()).filter(|at| places.len() - at >= count).all(|at| {
        let (place, values) = &places[at];
        values.iter().all(|value| {
            let mut of_place = json!({});
            put(&mut of_place, place, value.clone());
            choose(&places[at + 1..], count - 1, &joined(chosen, &of_place), visit)
        })
    })
}

/// The places in the arguments of a tool that rules or lines of its world look at.
fn places(rules: &RuleSet, tool: &CallableTool<'_>) -> Vec<Pointer> {
    let mut places: Vec<Pointer> = Vec::new();
    let mut add = |pointer: &Pointer| {
        if !places.contains(pointer) {
            places.push(pointer.clone());
        }
    };
    tool.lines.iter().flatten().for_each(|check| add(&check.pointer));
    for rule in &rules.rules {
        let concerned = rule
            .patterns()
            .into_iter()
            .filter(|pattern| pattern.tools.as_ref().is_none_or(|tools| tools.match_tool(None, tool.name)));
        let concerned: Vec<_> = concerned.collect();
        concerned.iter().flat_map(|pattern| &pattern.arguments).for_each(|check| add(&check.pointer));
        if let RuleDemand::Takes { event, argument, .. } = &rule.demand
            && event.tools.as_ref().is_none_or(|tools| tools.match_tool(None, tool.name))
        {
            add(argument);
        }
        // A rule for each value of an argument holds for the values of all calls.
        rule.per.iter().for_each(&mut add);
    }
    places
}

/// The values that a test names, or one that passes it.
fn named_in(test: &RuleTest) -> Vec<Value> {
    match test {
        RuleTest::Is(value) | RuleTest::IsNot(value) => vec![value.clone()],
        RuleTest::OneOf(values) => values.clone(),
        RuleTest::Above(bound)
        | RuleTest::AtLeast(bound)
        | RuleTest::Below(bound)
        | RuleTest::AtMost(bound) => vec![bound.value()],
        RuleTest::Matches(pattern) => pattern.sample().into_iter().map(Value::from).collect(),
        RuleTest::Type(types) => types.iter().map(|one| sample_of(*one)).collect(),
        RuleTest::Present(_) => Vec::new(),
        RuleTest::Not(tests) => tests.iter().flat_map(named_in).collect(),
    }
}

/// Values of a place on both sides of everything that is named for it, whichever tool it is about: a rule for each
/// value compares the calls of different tools.
fn values(rules: &RuleSet, tools: &[CallableTool<'_>], place: &Pointer) -> Vec<Value> {
    let mut named: Vec<Value> = Vec::new();
    let of_lines = tools.iter().flat_map(|tool| tool.lines).flatten();
    let patterns: Vec<_> = rules.rules.iter().flat_map(|rule| rule.patterns()).collect();
    let of_rules = patterns.iter().flat_map(|pattern| &pattern.arguments);
    for check in of_lines.chain(of_rules).filter(|check| check.pointer == *place) {
        named.extend(named_in(&check.test));
    }
    for rule in &rules.rules {
        let RuleDemand::Takes { event: _, argument, from, value } = &rule.demand else { continue };
        let of_tools = tools
            .iter()
            .filter(|tool| from.tools.as_ref().is_none_or(|names| names.match_tool(None, tool.name)));
        if argument == place {
            let results = of_tools.flat_map(|tool| tool.results);
            named.extend(results.flat_map(|result| targets(result, value)).cloned());
        }
    }
    let mut values: Vec<Value> = Vec::new();
    let mut add = |value: Value| {
        if !values.contains(&value) && values.len() < RULE_PLACE_VALUES_MAX {
            values.push(value);
        }
    };
    named.iter().cloned().for_each(&mut add);
    let mut bounds: Vec<JsonNumber> = named.iter().filter_map(JsonNumber::of).collect();
    bounds.sort_unstable();
    bounds.dedup();
    for bound in &bounds {
        [bound.floor(), bound.ceil(), bound.below(), bound.above()]
            .into_iter()
            .for_each(|number| add(number.value()));
    }
    for pair in bounds.windows(2) {
        pair[0].between(pair[1]).into_iter().for_each(|number| add(number.value()));
    }
    // Values that nothing names. Two are enough to tell a rule for each value from one for all of them.
    for value in [json!("a"), json!("b"), json!(1), json!(2), json!(true), json!(false), json!([]), json!({})]
    {
        add(value);
    }
    values
}

/// What rules see of a call.
fn seen_by_rules(rules: &RuleSet, call: &SampleCall) -> Vec<String> {
    let event = |phase| SessionEvent::new(phase, &call.tool, &call.arguments);
    let mut events = vec![event(Phase::Call)];
    match &call.outcome {
        Some(Ok(result)) => events.push(event(Phase::Done).with_outcome(result)),
        Some(Err(error)) => events.push(event(Phase::Failed).with_outcome(error)),
        None => {}
    }
    let value = |value: Option<&Value>| value.map_or_else(|| "-".to_owned(), canonical);
    let mut seen = Vec::new();
    // Each outcome has its own kind of event, even where no rule looks at it.
    seen.push(if events.len() == 2 { events[1].moment.key() } else { "open" }.to_owned());
    for rule in &rules.rules {
        let matched = |pattern: &&super::EventPattern| {
            events.iter().map(|event| if pattern.matches(event) { '1' } else { '0' }).collect::<String>()
        };
        seen.extend(rule.patterns().iter().map(matched));
        if let Some(per) = &rule.per {
            seen.push(value(per.target(&call.arguments)));
        }
        if let RuleDemand::Takes { event, argument, from, value: place } = &rule.demand {
            if events.iter().any(|seen| event.matches(seen)) {
                seen.push(value(argument.target(&call.arguments)));
            }
            for done in events.iter().filter(|done| from.matches(done)) {
                let given = done.outcome.into_iter().flat_map(|result| targets(result, place));
                seen.extend(given.map(canonical));
            }
        }
    }
    seen
}
