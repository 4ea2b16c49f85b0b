//! Calls to look for right sessions among: for each tool, arguments of every kind that rules and a world tell apart.
//!
//! Two calls that match the same events of all rules, have the same values of `per`, and take and give the same values
//! are one call as far as rules can see, so one of them is enough. Their arguments are put together of values on both
//! sides of every value that a rule, a line of a world or a result names.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::schemas::{SchemaPlace, place_in};
use super::search::{SampleCall, arguments_for, joined, outcomes_of};
use super::spots::{Spot, is_list_in, leads_into};
use super::values::{Representatives, ValueClasses};
use super::{Phase, Pointer, RuleDemand, RuleSet, RuleTest, SessionEvent, ValueCheck, targets};
use crate::limits::{RULE_CALLS_MAX, RULE_CALLS_TRIED_MAX, RULE_EQUALS_MAX};
use crate::number::canonical;

/// A tool that a session may call.
#[derive(Debug, Clone, Copy)]
pub struct CallableTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What the lines of a world ask of its arguments.
    pub lines: &'a [Vec<ValueCheck>],
    /// What it returns, as far as that is known.
    pub results: &'a [Value],
    /// The JSON Schema of its arguments.
    pub schema: &'a Map<String, Value>,
}

/// Calls to look for sessions among, and what they leave out.
#[derive(Debug, Clone, Default)]
pub struct PossibleCalls {
    /// The calls.
    pub calls: Vec<SampleCall>,
    /// What was not tried. Where it matters, that no session is found proves nothing.
    pub untried: Vec<UntriedValues>,
}

/// Arguments of a tool of which not all were tried that rules tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntriedValues {
    /// The tool.
    pub tool: String,
    /// The pointer to the argument; [`None`] for all of them together.
    pub place: Option<String>,
    /// Why not, as a sentence without a full stop.
    pub cause: String,
}

/// What makes arguments of tools, and says what comes of calls.
pub struct CallMaking<'a> {
    /// Whole arguments of a tool that its schema allows, with these among them; [`None`] if there are none.
    pub complete: &'a dyn Fn(&str, Value) -> Option<Value>,
    /// Whether the schema of a tool allows these arguments.
    pub fits: &'a dyn Fn(&str, &Value) -> bool,
    /// A simple value for the place to which a pointer leads in the arguments of a tool.
    pub sample: &'a dyn Fn(&str, &str) -> Value,
    /// What comes of a call.
    pub outcome: &'a dyn Fn(&str, &Value) -> Result<Value, Value>,
    /// What else tells calls apart that rules see alike, because of what comes of calls after them.
    pub effect: &'a dyn Fn(&str, &Value) -> Vec<String>,
}

impl std::fmt::Debug for CallMaking<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallMaking").finish_non_exhaustive()
    }
}

/// The values that are tried at a place, each with the way there.
struct Choices {
    pointer: Pointer,
    values: Vec<(Spot, Option<Value>)>,
}

/// Calls of these tools, at most [`RULE_CALLS_MAX`] of each, that rules or the world tell apart.
///
/// The calls that the lines of the world ask for come first, those with few arguments before others.
pub fn calls_of(rules: &RuleSet, tools: &[CallableTool<'_>], making: &CallMaking<'_>) -> PossibleCalls {
    let mut possible = PossibleCalls::default();
    let bases = tools.iter().map(|tool| {
        let mut asked = tool.lines.iter().map(|line| arguments_for(line));
        let base = (making.complete)(tool.name, json!({}))
            .or_else(|| found_base(tool, making))
            .or_else(|| asked.find_map(|arguments| (making.complete)(tool.name, arguments)));
        (*tool, base)
    });
    let bases: Vec<(CallableTool<'_>, Option<Value>)> = bases.collect();
    for (tool, base) in &bases {
        let Some(base) = base else {
            possible.untried.push(UntriedValues {
                tool: tool.name.to_owned(),
                place: None,
                cause: format!("no arguments are known that {} takes", tool.name),
            });
            continue;
        };
        let pointers = places(rules, tool);
        let mut choices = Vec::new();
        for pointer in &pointers {
            let (found, cause) = choices_of(rules, &bases, (tool, base), pointer, &pointers, making);
            let place = Some(pointer.as_str().to_owned());
            let untried = cause.map(|cause| UntriedValues { tool: tool.name.to_owned(), place, cause });
            possible.untried.extend(untried);
            choices.push(found);
        }
        let mut seen = HashSet::new();
        let (mut tried, mut is_whole) = (0, true);
        let calls = &mut possible.calls;
        let mut add = |arguments: &Value| -> bool {
            tried += 1;
            if (making.fits)(tool.name, arguments) {
                let outcome = Some((making.outcome)(tool.name, arguments));
                let effect = (making.effect)(tool.name, arguments);
                let call = SampleCall { tool: tool.name.to_owned(), arguments: arguments.clone(), outcome };
                if seen.insert((seen_by_rules(rules, &call), effect)) {
                    if seen.len() > RULE_CALLS_MAX {
                        is_whole = false;
                        return false;
                    }
                    calls.push(call);
                }
            }
            is_whole &= tried < RULE_CALLS_TRIED_MAX;
            is_whole
        };
        let filler = |pointer: &str| (making.sample)(tool.name, pointer);
        let asked: Vec<Value> =
            tool.lines.iter().map(|line| with_checks(base, line, &pointers, tool, &filler)).collect();
        let _ = asked.iter().all(&mut add)
            && asked.iter().all(|first| each_choice(&choices, first, &filler, &mut add))
            && each_choice(&choices, base, &filler, &mut add);
        if !is_whole {
            possible.untried.push(UntriedValues {
                tool: tool.name.to_owned(),
                place: None,
                cause: format!("there are too many different calls of {}", tool.name),
            });
        }
    }
    possible
}

/// Arguments that a tool takes whose sample does not fit: with values for the keywords of its schema that samples do
/// not regard.
fn found_base(tool: &CallableTool<'_>, making: &CallMaking<'_>) -> Option<Value> {
    let names = |key: &str| -> Vec<String> {
        let names = tool.schema.get(key).and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    let all: Vec<String> = properties.into_iter().flat_map(Map::keys).cloned().collect();
    [names("required"), all].into_iter().find_map(|names| {
        let mut made: Vec<Value> = vec![json!({})];
        for name in names {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let mut values = vec![(making.sample)(tool.name, &pointer)];
            let place = place_in(tool.schema, &pointer);
            values.extend(place.classes(1).candidates().0);
            let mut next = Vec::new();
            for value in &values {
                for object in &made {
                    let mut object = object.clone();
                    object[&name] = value.clone();
                    next.push(object);
                }
            }
            next.truncate(RULE_CALLS_MAX);
            // What does not fit alone may fit with others, so that it comes later.
            next.sort_by_cached_key(|object| !(making.fits)(tool.name, object));
            made = next;
        }
        made.into_iter().find(|object| (making.fits)(tool.name, object))
    })
}

/// Arguments that pass some tests, as far as they are found by one place after the other.
fn with_checks(
    base: &Value,
    checks: &[ValueCheck],
    pointers: &[Pointer],
    tool: &CallableTool<'_>,
    filler: &dyn Fn(&str) -> Value,
) -> Value {
    let asked = arguments_for(checks);
    let mut arguments = base.clone();
    for check in checks {
        if let Some(value) = check.pointer.target(&asked) {
            let spot = spots(&check.pointer, pointers, tool.schema).remove(0);
            spot.put(&mut arguments, value.clone(), filler);
        }
    }
    match checks.iter().all(|check| check.holds(Some(&arguments))) {
        true => arguments,
        false => joined(base, &asked),
    }
}

/// The ways to a place: where neither the schema nor a value says whether a number in a pointer is the place in a list
/// or the name of an entry, both.
fn spots(pointer: &Pointer, pointers: &[Pointer], schema: &Map<String, Value>) -> Vec<Spot> {
    let texts = || pointers.iter().map(Pointer::as_str);
    let by_schema = |stem: &str, otherwise: bool| match place_in(schema, stem).kinds() {
        (true, false) => true,
        (false, true) => false,
        _ => otherwise,
    };
    let likely = Spot::new(pointer, |stem| by_schema(stem, is_list_in(texts(), stem)));
    let mut spots = vec![likely];
    for otherwise in [true, false] {
        let spot = Spot::new(pointer, |stem| by_schema(stem, otherwise));
        if !spots.contains(&spot) {
            spots.push(spot);
        }
    }
    spots
}

/// Calls `visit` with `first` and the values of every choice of places, until it returns false. Choices of few places
/// come first, so that each value is tried even where there are too many choices.
fn each_choice(
    places: &[Choices],
    first: &Value,
    filler: &dyn Fn(&str) -> Value,
    visit: &mut impl FnMut(&Value) -> bool,
) -> bool {
    (0..=places.len()).all(|count| choose(places, count, first, filler, visit))
}

fn choose(
    places: &[Choices],
    count: usize,
    chosen: &Value,
    filler: &dyn Fn(&str) -> Value,
    visit: &mut impl FnMut(&Value) -> bool,
) -> bool {
    if count == 0 {
        return visit(chosen);
    }
    (0..places.len()).filter(|at| places.len() - at >= count).all(|at| {
        places[at].values.iter().all(|(spot, value)| {
            let mut with = chosen.clone();
            match value {
                Some(value) => spot.put(&mut with, value.clone(), filler),
                None => remove(&mut with, &places[at].pointer),
            }
            choose(&places[at + 1..], count - 1, &with, filler, visit)
        })
    })
}

/// Takes away what stands at a place.
fn remove(within: &mut Value, pointer: &Pointer) {
    let Some((stem, _)) = pointer.as_str().rsplit_once('/') else { return };
    let last = pointer.parts().last().unwrap_or_default();
    match within.pointer_mut(stem) {
        Some(Value::Object(entries)) => drop(entries.remove(&last)),
        Some(Value::Array(items)) => items.truncate(last.parse().unwrap_or(usize::MAX)),
        _ => {}
    }
}

/// The places in the arguments of a tool that rules or lines of its world look at, those that lead to others first.
fn places(rules: &RuleSet, tool: &CallableTool<'_>) -> Vec<Pointer> {
    let mut places: Vec<Pointer> = Vec::new();
    let mut add = |pointer: &Pointer| {
        if !places.contains(pointer) {
            places.push(pointer.clone());
        }
    };
    tool.lines.iter().flatten().for_each(|check| add(&check.pointer));
    for rule in &rules.rules {
        let concerned = rule.patterns().into_iter().filter(|pattern| pattern.is_of(tool.name));
        let concerned: Vec<_> = concerned.collect();
        concerned.iter().flat_map(|pattern| &pattern.arguments).for_each(|check| add(&check.pointer));
        if let RuleDemand::Takes { event, argument, .. } = &rule.demand
            && event.is_of(tool.name)
        {
            add(argument);
        }
        // A rule for each value of an argument holds for the values of all calls.
        rule.per.iter().for_each(&mut add);
    }
    places.sort_by_key(|place| place.parts().count());
    places
}

/// The values that are tried at a place of the arguments of a tool, and why these are not all that matter.
fn choices_of(
    rules: &RuleSet,
    bases: &[(CallableTool<'_>, Option<Value>)],
    (tool, base): (&CallableTool<'_>, &Value),
    pointer: &Pointer,
    pointers: &[Pointer],
    making: &CallMaking<'_>,
) -> (Choices, Option<String>) {
    let schema = place_in(tool.schema, pointer.as_str());
    let tools: Vec<CallableTool<'_>> = bases.iter().map(|(tool, _)| *tool).collect();
    let is_compared = is_compared(rules, pointer);
    // Values that are compared with those of other tools are distinguished by whether these take them.
    let others: Vec<(&CallableTool<'_>, &Value, Spot)> = bases
        .iter()
        .filter(|(other, _)| is_compared && other.name != tool.name)
        .filter_map(|(other, base)| {
            Some((other, base.as_ref()?, spots(pointer, pointers, other.schema).remove(0)))
        })
        .collect();
    let mut all = schema.clone();
    for (other, _, _) in &others {
        all.compare(&place_in(other.schema, pointer.as_str()));
    }
    let classes = classes_of(rules, &tools, pointer, &all, is_compared);
    let ways = spots(pointer, pointers, tool.schema);
    let fits = |(tool, base): (&CallableTool<'_>, &Value), spot: &Spot, value: &Value| {
        let mut alone = base.clone();
        spot.put(&mut alone, value.clone(), &|pointer| (making.sample)(tool.name, pointer));
        (making.fits)(tool.name, &alone)
    };
    let put = |spot: &Spot, value: &Value| fits((tool, base), spot, value);
    let taken_by_others =
        |value: &Value| others.iter().map(|(other, base, spot)| fits((other, base), spot, value)).collect();
    // Values that the tool does not take at their place are left out of all choices.
    let is_misread = Cell::new(false);
    let is_taken = |value: &Value| {
        let is_taken = ways.iter().any(|spot| put(spot, value));
        is_misread
            .set(is_misread.get() || schema.allows_text(value).is_some_and(|allowed| allowed != is_taken));
        is_taken
    };
    let Representatives { values, are_all, is_short } = classes.representatives_by(is_taken, taken_by_others);
    let is_tested_for_type = !is_compared && classes.tests.iter().all(|test| test.is_of_type());
    // What a schema says of a value alone does not matter if it takes values of every class.
    let own = schema.own_unknown.as_ref().filter(|_| is_short);
    let cause = if let Some(keyword) = schema.unknown.as_ref().or(own) {
        Some(format!("what its schema says with `{keyword}` is not looked into"))
    } else if is_misread.get() && is_short {
        Some("its `pattern` or `format` is not understood".to_owned())
    } else if !are_all {
        Some("its tests tell too many values apart".to_owned())
    } else if !is_tested_for_type && pointers.iter().any(|inner| leads_into(pointer.as_str(), inner.as_str()))
    {
        Some("other tests are about what is within it".to_owned())
    } else if !is_tested_for_type && schema.has_parts {
        Some("it has parts of its own".to_owned())
    } else {
        None
    };
    let mut found: Vec<(Spot, Option<Value>)> = Vec::new();
    for value in values {
        found.extend(
            ways.iter().filter(|spot| put(spot, &value)).map(|spot| (spot.clone(), Some(value.clone()))),
        );
    }
    if pointer.target(base).is_some() {
        found.push((ways[0].clone(), None));
    }
    (Choices { pointer: pointer.clone(), values: found }, cause)
}

/// Whether rules compare the values of a place with one another, or with those of results.
fn is_compared(rules: &RuleSet, place: &Pointer) -> bool {
    rules.rules.iter().any(|rule| {
        let is_taken = matches!(&rule.demand, RuleDemand::Takes { argument, .. } if argument == place);
        is_taken || rule.per.as_ref() == Some(place)
    })
}

/// What tells the values of a place apart, whichever tool it is about: a rule for each value compares the calls of
/// different tools.
fn classes_of<'a>(
    rules: &'a RuleSet,
    tools: &[CallableTool<'a>],
    place: &Pointer,
    schema: &SchemaPlace,
    is_compared: bool,
) -> ValueClasses<'a> {
    let of_lines = || {
        let lines = tools.iter().flat_map(|tool| tool.lines).flatten();
        lines.filter(|check| check.pointer == *place).map(|check| &check.test)
    };
    let of_rules = rules.rules.iter().flat_map(|rule| rule.patterns()).flat_map(|pattern| &pattern.arguments);
    let of_rules = of_rules.filter(|check| check.pointer == *place).map(|check| &check.test);
    // What the lines of a world choose from, and what its results give to take.
    let listed = of_lines().filter_map(|test| match test {
        RuleTest::OneOf(values) => Some(values.iter()),
        _ => None,
    });
    let mut named: Vec<Value> = listed.flatten().cloned().collect();
    for rule in &rules.rules {
        let RuleDemand::Takes { argument, from, value, .. } = &rule.demand else { continue };
        for tool in tools.iter().filter(|tool| argument == place && from.is_of(tool.name)) {
            let of_rules = outcomes_of(rules, tool.name);
            let results =
                tool.results.iter().chain(of_rules.iter().filter_map(|outcome| outcome.as_ref().ok()));
            named.extend(results.flat_map(|result| targets(result, value)).cloned());
        }
    }
    let copies = if is_compared { rules.copies_at(place).min(RULE_EQUALS_MAX) } else { 1 };
    let mut classes = schema.classes(copies);
    classes.tests = of_lines().chain(of_rules).collect();
    classes.named = named;
    classes.preferred.extend([json!("a"), json!("b"), json!(1), json!(2)]);
    classes
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
