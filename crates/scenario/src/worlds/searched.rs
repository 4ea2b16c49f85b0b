//! The world of a case as searches for right sessions see it, and the calls that its state tells apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{CallWorld, RuleSet, RuleTest, ValueCheck, read_tests};
use serde_json::{Value, json};

use super::loose::schema_at;
use crate::limits::STATE_VALUES_TRIED_MAX;
use crate::state::exact::Exact;
use crate::state::{How, LineState, Source, Values, filled};
use crate::turns::without_turn;
use crate::world::{Answered, AnsweringTool, seen};

/// The world as it is: a call has the outcome that these very arguments have.
pub(crate) struct ExactWorld<'a> {
    tools: &'a [AnsweringTool],
}

impl<'a> ExactWorld<'a> {
    pub(crate) fn new(tools: &'a [AnsweringTool]) -> Self {
        Self { tools }
    }
}

impl CallWorld for ExactWorld<'_> {
    type State = Values;

    fn outcomes<'c>(&self, values: &Values, call: &'c SampleCall) -> Vec<(Cow<'c, SampleCall>, Values)> {
        let Some(tool) = self.tools.iter().find(|tool| tool.tool.name == call.tool) else {
            return Vec::new();
        };
        // Calls are searched among those that their tools take.
        let Answered { outcome, after, .. } = tool.answer_taken(values, &without_turn(&call.arguments));
        let outcome = Some(outcome);
        let call = match call.outcome == outcome {
            true => Cow::Borrowed(call),
            false => Cow::Owned(SampleCall { outcome, ..call.clone() }),
        };
        vec![(call, after.unwrap_or_else(|| values.clone()))]
    }

    fn memory(&self, values: &Values) -> String {
        serde_json::to_string(values).unwrap_or_default()
    }
}

/// Every source of a line: what its needs compare with, what its changes take, and what its result quotes.
pub(super) fn sources(line: &LineState) -> impl Iterator<Item = &Source> {
    let needed = line.needs.iter().flat_map(|need| need.test.sources());
    needed.chain(line.effects.iter().map(|effect| &effect.source)).chain(&line.quoted)
}

/// Whether the state or a result depends on the arguments of calls otherwise than by `where`. If not, the sample calls
/// stand for all others.
pub(crate) fn depends_on_arguments(tools: &[AnsweringTool]) -> bool {
    let lines = tools.iter().flat_map(AnsweringTool::lines);
    lines.flat_map(sources).any(|source| matches!(source, Source::Argument(_)))
}

/// Whether calls add to a value, or subtract from one, so that it may have any number of values.
pub(crate) fn has_sums(tools: &[AnsweringTool]) -> bool {
    let lines = tools.iter().flat_map(AnsweringTool::lines);
    lines.flat_map(|line| &line.effects).any(|effect| effect.how != How::Sets)
}

/// What tells apart calls of a tool that rules see alike: the lines that fit, the arguments that these use, and which
/// of the tests of rules the arguments pass.
pub(crate) fn effect_of(rules: &RuleSet, tool: &AnsweringTool, arguments: &Value) -> Vec<String> {
    let mut effect = Vec::new();
    for line in tool.fitting(arguments) {
        effect.push(line.to_string());
        for source in sources(&tool.lines()[line]) {
            if let Source::Argument(pointer) = source {
                effect.push(arguments.pointer(pointer).map_or_else(|| "-".to_owned(), Value::to_string));
            }
        }
    }
    let patterns = rules.rules().iter().flat_map(|rule| rule.patterns());
    effect.push(
        patterns
            .filter(|pattern| pattern.is_of(&tool.tool.name))
            .map(|pattern| match passes(&pattern.arguments, arguments) {
                true => '1',
                false => '0',
            })
            .collect(),
    );
    effect
}

/// Whether arguments pass some tests.
pub(super) fn passes(tests: &[ValueCheck], arguments: &Value) -> bool {
    tests.iter().all(|check| check.holds(Some(arguments)))
}

/// The numbers and other values that a test compares with.
fn named(test: &RuleTest) -> Vec<Value> {
    match test {
        RuleTest::Is(value) | RuleTest::IsNot(value) => vec![value.clone()],
        RuleTest::OneOf(values) => values.to_vec(),
        RuleTest::Above(bound)
        | RuleTest::AtLeast(bound)
        | RuleTest::Below(bound)
        | RuleTest::AtMost(bound) => vec![bound.value()],
        RuleTest::Not(tests) => tests.iter().flat_map(named).collect(),
        RuleTest::Matches(_) | RuleTest::Type(_) | RuleTest::Present(_) => Vec::new(),
    }
}

/// The values that each value of the state has, as far as lines name them.
fn possible(tools: &[AnsweringTool], beginning: &Values) -> BTreeMap<String, Vec<Value>> {
    let mut possible: BTreeMap<String, Vec<Value>> =
        beginning.iter().map(|(name, value)| (name.clone(), vec![value.clone()])).collect();
    let mut add = |name: &str, value: Value| {
        let values = possible.entry(name.to_owned()).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    };
    for effect in tools.iter().flat_map(AnsweringTool::lines).flat_map(|line| &line.effects) {
        let Source::Literal(value) = &effect.source else { continue };
        let sum = |how: fn(Exact, Exact) -> Option<Exact>| {
            let before = beginning.get(&effect.name).and_then(Exact::of);
            before.zip(Exact::of(value)).and_then(|(before, value)| how(before, value)).map(Exact::value)
        };
        let after = match effect.how {
            How::Sets => Some(value.clone()),
            How::Adds => sum(Exact::plus),
            How::Subtracts => sum(Exact::minus),
        };
        after.into_iter().for_each(|after| add(&effect.name, after));
    }
    possible
}

/// For each place of the arguments of a tool that its lines use: values that matter because of the state, as tests
/// that name them.
pub(crate) fn tried_values(
    rules: &RuleSet,
    tools: &[AnsweringTool],
    beginning: &Values,
    tool: &AnsweringTool,
) -> Vec<Vec<ValueCheck>> {
    let possible = possible(tools, beginning);
    let needs: Vec<_> = tools.iter().flat_map(AnsweringTool::lines).flat_map(|line| &line.needs).collect();
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in tool.lines() {
        let needed =
            line.needs.iter().flat_map(|need| need.test.sources().iter().map(|it| (it, need.name.as_str())));
        let changed = line.effects.iter().map(|effect| (&effect.source, effect.name.as_str()));
        for (source, name) in needed.chain(changed) {
            if let Source::Argument(pointer) = source {
                places.entry(pointer).or_default().push(name);
            }
        }
    }
    let mut found = Vec::new();
    for (pointer, names) in places {
        let mut values: Vec<Value> = Vec::new();
        let mut add = |value: Value| {
            if !values.contains(&value) && values.len() < STATE_VALUES_TRIED_MAX {
                values.push(value);
            }
        };
        let schema = schema_at(&tool.tool.input_schema, pointer).map(|(schema, _)| schema);
        let listed = schema.and_then(|schema| schema.get("enum")).and_then(Value::as_array);
        listed.into_iter().flatten().cloned().for_each(&mut add);
        let mut numbers: Vec<Exact> = Vec::new();
        let of_state = names.iter().flat_map(|name| {
            let needed = needs.iter().filter(move |need| need.name == **name);
            let needed = needed.flat_map(|need| need.test.sources()).filter_map(|source| match source {
                Source::Literal(value) => Some(value.clone()),
                _ => None,
            });
            possible.get(*name).into_iter().flatten().cloned().chain(needed)
        });
        let patterns = rules.rules().iter().flat_map(|rule| rule.patterns());
        let checks = patterns
            .filter(|pattern| pattern.is_of(&tool.tool.name))
            .flat_map(|pattern| &pattern.arguments)
            .filter(|check| check.pointer.as_str() == pointer);
        // What rules ask of results that quote the state.
        let quoting = tools.iter().filter(|tool| {
            let quoted = tool.lines().iter().flat_map(|line| &line.quoted);
            quoted
                .into_iter()
                .any(|source| matches!(source, Source::State(name) if names.contains(&name.as_str())))
        });
        let asked = quoting.flat_map(|tool| {
            let patterns = rules.rules().iter().flat_map(|rule| rule.patterns());
            patterns.filter(|pattern| pattern.is_of(&tool.tool.name)).flat_map(|pattern| &pattern.outcome)
        });
        for value in of_state.chain(checks.chain(asked).flat_map(|check| named(&check.test))) {
            numbers.extend(Exact::of(&value));
            add(value);
        }
        // What leads from one number to another.
        for one in &numbers {
            for two in &numbers {
                one.minus(*two).into_iter().for_each(|difference| add(difference.value()));
            }
        }
        if !values.is_empty() {
            found.push(read_tests(&json!({ pointer: {"one-of": values} })).unwrap_or_default());
        }
    }
    found
}

/// The results of a tool, with values that the state may have where they quote it.
pub(crate) fn results_of(tools: &[AnsweringTool], beginning: &Values, tool: &AnsweringTool) -> Vec<Value> {
    let possible = possible(tools, beginning);
    let most = possible.values().map(Vec::len).max().unwrap_or(1);
    let mut results = Vec::new();
    for (answer, line) in tool.tool.answers.iter().zip(tool.lines()) {
        let Some(result) = &answer.returns else { continue };
        if line.quoted.is_empty() && beginning.is_empty() {
            results.push(seen(result.clone()));
            continue;
        }
        for number in 0..most {
            let values: Values = possible
                .iter()
                .filter_map(|(name, values)| {
                    Some((name.clone(), values.get(number % values.len().max(1))?.clone()))
                })
                .collect();
            // What a result quotes of the arguments is not known here.
            let quotes = line.quoted.iter().any(|source| matches!(source, Source::Argument(_)));
            if let Ok(result) = filled(result, &values, &Value::Null).map(seen)
                && !quotes
                && !results.contains(&result)
            {
                results.push(result);
            }
        }
    }
    results
}
