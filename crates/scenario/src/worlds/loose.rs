//! A world in which everything is possible that some arguments could make possible.
//!
//! Sample calls stand for all calls that rules and lines see alike, but not for all amounts that such calls can have.
//! So where a search among them finds no session, that proves nothing if amounts matter. In this world, an argument is
//! anything that the tests which the call passes allow, a number of the state lies between two bounds, and a call has
//! every outcome that it could then have. Where no session is found here, there is none. Bounds beyond all numbers of
//! the case are dropped, so that there are few states.

use std::borrow::Cow;
use std::collections::HashMap;

use planproof_spec::JsonNumber;
use planproof_spec::rules::search::{SampleCall, outcomes_of};
use planproof_spec::rules::{CallWorld, RuleSet, RuleTest, ValueCheck};
use serde_json::{Value, json};

use super::rough::{Bound, Relations, Rough, RoughValues, narrowed};
use super::searched::{passes, sources};
use crate::state::exact::{Exact, plain};
use crate::state::{Effect, How, LineState, Need, NeedTest, Source, Values, filled};
use crate::turns::without_turn;
use crate::world::{self, AnsweringTool, NO_LINE};

/// The world in which arguments are known as far as rules and lines test them.
pub(crate) struct LooseWorld<'a> {
    tools: &'a [AnsweringTool],
    rules: &'a RuleSet,
    /// What rules tell apart of what comes of calls, by the tool.
    outcomes: HashMap<&'a str, Vec<Result<Value, Value>>>,
    /// No number of the case, and no sum of two of them, is above this, or below its opposite.
    limit: Option<Exact>,
}

impl<'a> LooseWorld<'a> {
    /// `calls` are those among which sessions are looked for.
    pub(crate) fn new(
        tools: &'a [AnsweringTool],
        rules: &'a RuleSet,
        beginning: &Values,
        calls: &[SampleCall],
    ) -> Self {
        let lines = tools.iter().flat_map(AnsweringTool::lines);
        let literals = lines.flat_map(sources).filter_map(|source| match source {
            Source::Literal(value) => Some(value),
            _ => None,
        });
        let arguments = calls.iter().filter_map(|call| call.arguments.as_object()).flat_map(|it| it.values());
        let numbers = literals.chain(beginning.values()).chain(arguments).filter_map(Value::as_f64);
        let most =
            numbers.filter(|number| number.abs() < 1e12).fold(1.0_f64, |most, number| most.max(number.abs()));
        let names = tools.iter().map(|tool| tool.tool.name.as_str());
        let outcomes = names.map(|name| (name, outcomes_of(rules, name))).collect();
        Self { tools, rules, outcomes, limit: Exact::of(&json!((most * 2.0).ceil() + 1.0)) }
    }

    /// The state that a world is in for certain.
    pub(crate) fn state(values: &Values) -> RoughValues {
        values.iter().map(|(name, value)| (name.clone(), Rough::Known(value.clone()))).collect()
    }

    /// What is known of an argument of all calls that rules and lines see like this one, and whether it is there.
    fn argument(&self, tool: &AnsweringTool, arguments: &Value, pointer: &str) -> (Rough, bool) {
        let lines = tool.fitting(arguments).flat_map(|line| &tool.tests()[line]);
        let patterns = self.rules.rules().iter().flat_map(|rule| rule.patterns());
        let patterns = patterns
            .filter(|pattern| pattern.is_of(&tool.tool.name) && passes(&pattern.arguments, arguments));
        let checks: Vec<&ValueCheck> = lines
            .chain(patterns.flat_map(|pattern| &pattern.arguments))
            .filter(|check| check.pointer.as_str() == pointer)
            .collect();
        let failed = failed_checks(self.rules, tool, arguments, pointer);
        let schema = schema_at(&tool.tool.input_schema, pointer);
        let mut rough = match schema.and_then(|(schema, _)| schema.get("type")).and_then(Value::as_str) {
            Some("integer" | "number") => {
                let bound = |key: &str| {
                    let number = schema.and_then(|(schema, _)| schema.get(key)).and_then(JsonNumber::of);
                    number.and_then(|number| Bound::of(number, key.starts_with("exclusive")))
                };
                let listed: Vec<Exact> = listed(schema.map(|(schema, _)| schema));
                let least = listed
                    .iter()
                    .copied()
                    .reduce(|one, two| if one.compare(two).is_le() { one } else { two });
                let most = listed
                    .iter()
                    .copied()
                    .reduce(|one, two| if one.compare(two).is_ge() { one } else { two });
                let closed =
                    (bound("minimum").or(least.map(Bound::at)), bound("maximum").or(most.map(Bound::at)));
                narrowed(closed, (bound("exclusiveMinimum"), bound("exclusiveMaximum")))
            }
            _ => Rough::Any,
        };
        let mut is_there = schema.is_some_and(|(_, is_required)| is_required);
        for check in checks {
            let bounds = match &check.test {
                RuleTest::Is(value) => {
                    rough = Rough::Known(plain(value));
                    is_there = true;
                    continue;
                }
                RuleTest::Above(number) => (Bound::of(*number, true), None),
                RuleTest::AtLeast(number) => (Bound::of(*number, false), None),
                RuleTest::Below(number) => (None, Bound::of(*number, true)),
                RuleTest::AtMost(number) => (None, Bound::of(*number, false)),
                RuleTest::IsNot(_)
                | RuleTest::OneOf(_)
                | RuleTest::Matches(_)
                | RuleTest::Type(_)
                | RuleTest::Present(true) => {
                    is_there = true;
                    continue;
                }
                RuleTest::Present(false) | RuleTest::Not(_) => continue,
            };
            is_there = true;
            if rough.known().is_none()
                && let Some(before) = rough.bounds()
            {
                rough = narrowed(before, bounds);
            }
        }
        for check in failed {
            // Only of what can be nothing but a number is it known on which side of a bound it lies.
            let Rough::Between(from, to) = rough else { break };
            rough = match &check.test {
                RuleTest::Above(number) => narrowed((from, to), (None, Bound::of(*number, false))),
                RuleTest::AtLeast(number) => narrowed((from, to), (None, Bound::of(*number, true))),
                RuleTest::Below(number) => narrowed((from, to), (Bound::of(*number, false), None)),
                RuleTest::AtMost(number) => narrowed((from, to), (Bound::of(*number, true), None)),
                _ => Rough::Between(from, to),
            };
        }
        (rough, is_there)
    }

    /// What is known of a source, and whether it is there.
    fn source(&self, source: &Source, values: &RoughValues, seen: &Seen<'_>) -> (Rough, bool) {
        match source {
            Source::Literal(value) => (Rough::Known(value.clone()), true),
            Source::State(name) => (values.get(name).cloned().unwrap_or(Rough::Any), true),
            Source::Argument(pointer) => self.argument(seen.tool, seen.arguments, pointer),
        }
    }

    /// Whether a need may hold, and whether it may not.
    fn may(&self, need: &Need, values: &RoughValues, seen: &Seen<'_>) -> (bool, bool) {
        let value = values.get(&need.name).unwrap_or(&Rough::Any);
        let order = |source: &Source, chosen: fn(Relations) -> (bool, bool)| {
            let (other, is_there) = self.source(source, values, seen);
            let relations = value.relations(&other);
            let (holds, fails) = chosen(relations);
            (holds, fails || relations.none || !is_there)
        };
        let is = |source: &Source| {
            let (other, is_there) = self.source(source, values, seen);
            let (is, is_not) = value.equality(&other);
            (is, is_not || !is_there)
        };
        match &need.test {
            NeedTest::Is(source) => is(source),
            NeedTest::IsNot(source) => {
                let (is, is_not) = is(source);
                (is_not, is)
            }
            NeedTest::OneOf(sources) => {
                let each: Vec<(bool, bool)> = sources.iter().map(is).collect();
                (each.iter().any(|(is, _)| *is), each.iter().all(|(_, is_not)| *is_not))
            }
            NeedTest::Above(source) => order(source, |it| (it.greater, it.less || it.equal)),
            NeedTest::AtLeast(source) => order(source, |it| (it.greater || it.equal, it.less)),
            NeedTest::Below(source) => order(source, |it| (it.less, it.greater || it.equal)),
            NeedTest::AtMost(source) => order(source, |it| (it.less || it.equal, it.greater)),
            NeedTest::Matches(pattern) => match value.known() {
                Some(known) => {
                    let is_matched = known.as_str().is_some_and(|text| pattern.matches(text));
                    (is_matched, !is_matched)
                }
                None => (*value == Rough::Any, true),
            },
            NeedTest::Present(present) => match value {
                Rough::Known(known) => (known.is_null() != *present, known.is_null() == *present),
                Rough::Between(..) => (*present, !*present),
                Rough::Any => (true, true),
            },
        }
    }

    /// The state in which these needs hold.
    fn with_needs(&self, line: &LineState, values: &RoughValues, seen: &Seen<'_>) -> RoughValues {
        let mut narrow = values.clone();
        for need in &line.needs {
            let Some(value) = narrow.get(&need.name).cloned().filter(|value| value.known().is_none()) else {
                continue;
            };
            let bounds =
                |source: &Source| self.source(source, values, seen).0.bounds().unwrap_or((None, None));
            let open = |bound: Option<Bound>| bound.map(|bound| Bound { is_open: true, ..bound });
            let of_test = match &need.test {
                NeedTest::Is(source) => match self.source(source, values, seen).0 {
                    Rough::Known(known) => {
                        narrow.insert(need.name.clone(), Rough::Known(known));
                        continue;
                    }
                    _ => continue,
                },
                NeedTest::Above(source) => (open(bounds(source).0), None),
                NeedTest::AtLeast(source) => (bounds(source).0, None),
                NeedTest::Below(source) => (None, open(bounds(source).1)),
                NeedTest::AtMost(source) => (None, bounds(source).1),
                _ => continue,
            };
            if let Some(before) = value.bounds() {
                narrow.insert(need.name.clone(), narrowed(before, of_test));
            }
        }
        narrow
    }

    /// The values after a call, and whether the call may fail because a value cannot be kept. [`None`]: it must fail.
    fn after(&self, line: &LineState, values: &RoughValues, seen: &Seen<'_>) -> (Option<RoughValues>, bool) {
        let mut after = values.clone();
        let mut may_fail = false;
        for Effect { name, how, source } in &line.effects {
            let (value, is_there) = self.source(source, values, seen);
            let before = values.get(name).unwrap_or(&Rough::Any);
            may_fail |= !is_there || value.known().is_none();
            let value = match how {
                How::Sets => value,
                How::Adds | How::Subtracts => match (before.bounds(), value.bounds()) {
                    (Some((from, to)), Some((least, most))) => {
                        let sum = |one: Option<Bound>, two: Option<Bound>| {
                            let how = if *how == How::Subtracts { Exact::minus } else { Exact::plus };
                            one.zip(two).and_then(|(one, two)| one.with(two, how))
                        };
                        let bounds = match how {
                            How::Subtracts => (sum(from, most), sum(to, least)),
                            _ => (sum(from, least), sum(to, most)),
                        };
                        // A sum of two numbers that is not kept is an error, and so may one of many be.
                        let is_known = before.known().is_some() && value.known().is_some();
                        if is_known && bounds.0.is_none() {
                            return (None, true);
                        }
                        may_fail |= !is_known;
                        narrowed(bounds, (None, None))
                    }
                    _ => return (None, true),
                },
            };
            let value = self.limit.map_or_else(|| value.clone(), |limit| value.clone().within(limit));
            after.insert(name.clone(), value);
        }
        (Some(after), may_fail)
    }
}

/// A call of a tool.
struct Seen<'a> {
    tool: &'a AnsweringTool,
    arguments: &'a Value,
}

/// The tests of an argument that all calls fail which rules and lines see like this one: those that stand alone in a
/// line, or in an event of a rule, which does not fit.
fn failed_checks<'c>(
    rules: &'c RuleSet,
    tool: &'c AnsweringTool,
    arguments: &Value,
    pointer: &str,
) -> Vec<&'c ValueCheck> {
    let patterns = rules.rules().iter().flat_map(|rule| rule.patterns());
    let patterns =
        patterns.filter(|pattern| pattern.is_of(&tool.tool.name)).map(|pattern| &pattern.arguments);
    let alone = tool.tests().iter().chain(patterns).filter_map(|checks| match checks.as_slice() {
        [check] if !check.holds(Some(arguments)) => Some(check),
        _ => None,
    });
    alone.filter(|check| check.pointer.as_str() == pointer).collect()
}

/// The numbers among which a schema lets choose, if it lists all values.
fn listed(schema: Option<&serde_json::Map<String, Value>>) -> Vec<Exact> {
    let values = schema.and_then(|schema| schema.get("enum")).and_then(Value::as_array);
    let numbers: Option<Vec<Exact>> = values.and_then(|values| values.iter().map(Exact::of).collect());
    numbers.unwrap_or_default()
}

/// The schema of an argument, and whether it has to be there.
pub(crate) fn schema_at<'s>(
    schema: &'s serde_json::Map<String, Value>,
    pointer: &str,
) -> Option<(&'s serde_json::Map<String, Value>, bool)> {
    let (mut at, mut is_required) = (schema, true);
    for part in pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")) {
        if let Some(below) = at.get("properties").and_then(|properties| properties.get(&part)) {
            let required = at.get("required").and_then(Value::as_array);
            is_required &= required.is_some_and(|names| names.iter().any(|name| *name == part));
            at = below.as_object()?;
            continue;
        }
        let place: usize = part.parse().ok()?;
        let least = at.get("minItems").and_then(Value::as_u64);
        is_required &= least.and_then(|least| usize::try_from(least).ok()).is_some_and(|least| place < least);
        let first = at.get("prefixItems").and_then(|items| items.get(place));
        at = first.or(at.get("items"))?.as_object()?;
    }
    Some((at, is_required))
}

/// The line of the world that may answer a call, if any does, and whether it applies or says what it needs.
pub(super) type Answering = (Option<usize>, bool);

impl CallWorld for LooseWorld<'_> {
    type State = RoughValues;

    fn outcomes<'c>(
        &self,
        values: &RoughValues,
        call: &'c SampleCall,
    ) -> Vec<(Cow<'c, SampleCall>, RoughValues)> {
        let outcomes = self.outcomes_by_line(values, call).into_iter();
        outcomes.map(|(_, call, values)| (call, values)).collect()
    }

    fn memory(&self, values: &RoughValues) -> String {
        format!("{values:?}")
    }
}

impl LooseWorld<'_> {
    /// The outcomes that a call may have, each with the line that answers.
    pub(super) fn outcomes_by_line<'c>(
        &self,
        values: &RoughValues,
        call: &'c SampleCall,
    ) -> Vec<(Answering, Cow<'c, SampleCall>, RoughValues)> {
        let Some(tool) = self.tools.iter().find(|tool| tool.tool.name == call.tool) else {
            return Vec::new();
        };
        let arguments = without_turn(&call.arguments);
        let seen = Seen { tool, arguments: &arguments };
        let with =
            |outcome: Result<Value, Value>| Cow::Owned(SampleCall { outcome: Some(outcome), ..call.clone() });
        if tool.tool.answers.is_empty() {
            return vec![((None, true), Cow::Borrowed(call), values.clone())];
        }
        // An outcome that is not known may be any that rules tell apart.
        let any = |is_error: bool| {
            let outcomes = self.outcomes.get(call.tool.as_str()).cloned().unwrap_or_default();
            let outcomes = outcomes.into_iter().filter(move |outcome| outcome.is_err() == is_error);
            let other = Value::from("something else");
            outcomes.chain([if is_error { Err(other) } else { Ok(other) }])
        };
        let error = |text: &str| Err(world::seen(Value::from(text)));
        let mut found = Vec::new();
        for line in tool.fitting(&arguments) {
            let (answer, state) = (&tool.tool.answers[line], &tool.lines()[line]);
            let applies = (Some(line), true);
            let may: Vec<(bool, bool)> =
                state.needs.iter().map(|need| self.may(need, values, &seen)).collect();
            if may.iter().all(|(holds, _)| *holds) {
                let narrow = self.with_needs(state, values, &seen);
                match (&answer.fails, self.after(state, &narrow, &seen)) {
                    (Some(text), _) => found.push((applies, with(error(text)), narrow)),
                    (None, (after, may_fail)) => {
                        if may_fail {
                            found.extend(any(true).map(|outcome| (applies, with(outcome), narrow.clone())));
                        }
                        if let Some(after) = after {
                            self.results(answer.returns.as_ref(), state, &after, any(false), |outcome| {
                                found.push((applies, with(outcome), after.clone()));
                            });
                        }
                    }
                }
            }
            if may.iter().all(|(_, fails)| !*fails) {
                return found;
            }
            if let Some(text) = &answer.otherwise {
                found.push(((Some(line), false), with(error(text)), values.clone()));
                return found;
            }
        }
        let text = format!("{NO_LINE}: {} {arguments}", tool.tool.name);
        found.push(((None, true), with(Err(text.into())), values.clone()));
        found
    }

    /// The results that a line may have: the one that it returns, or any where it quotes what is not known.
    fn results(
        &self,
        result: Option<&Value>,
        line: &LineState,
        after: &RoughValues,
        any: impl Iterator<Item = Result<Value, Value>>,
        mut found: impl FnMut(Result<Value, Value>),
    ) {
        let is_known = line.quoted.iter().all(|source| match source {
            Source::State(name) => after.get(name).is_some_and(|value| value.known().is_some()),
            Source::Argument(_) => false,
            Source::Literal(_) => true,
        });
        let known: Values =
            after.iter().filter_map(|(name, value)| Some((name.clone(), value.known()?.clone()))).collect();
        match result {
            None => found(Ok("done".into())),
            Some(result) if is_known => {
                found(filled(result, &known, &Value::Null).map(world::seen).map_err(Value::from));
            }
            Some(_) => any.for_each(found),
        }
    }
}
