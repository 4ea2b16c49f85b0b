//! What all drawn cases of some rules and tools have in common: which arguments matter, which outcomes the rules tell
//! apart, and which calls a rule may make necessary.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use planproof_spec::rules::search::{self, arguments_for, joined, outcomes_of, put};
use planproof_spec::rules::{
    CallRule, EventPattern, Phase, Pointer, RuleDemand, RuleSet, Session, SessionEvent, ValueCheck, targets,
};
use planproof_trace::{Draw, sample_arguments};
use serde_json::{Map, Value, json};

use super::cast::{Cast, Key, Linked, Links, is_wording};
use super::phrase::identified;
use crate::limits::{DRAWN_CALLS_MAX, DRAWN_OUTCOMES_MAX};
use crate::line::WorldTool;
use crate::state::Values;
use crate::world::AnsweringTool;

/// How far numbers are from the bounds of tests.
const NUMBERS: u32 = 40;

/// What a tool is to drawn cases.
pub(super) struct PlannedTool {
    pub(super) answering: AnsweringTool,
    /// Arguments that the schema demands, with simple values.
    base: Map<String, Value>,
    /// The arguments that calls have: those that the tool demands and those that rules look at.
    arguments: BTreeSet<String>,
    /// Those that rules look at, which the user has to say for that reason.
    tested: BTreeSet<String>,
    /// What the calls may come to, as far as the rules tell apart; with one, the tool is always done.
    pub(super) outcomes: Vec<Result<Value, Value>>,
    /// How good each outcome is for the calls that need one.
    scores: Vec<i32>,
    /// Values that a rule demands as arguments of other calls, at their places in the result.
    gives: Vec<(Pointer, String)>,
    /// Arguments that have to come from results, with the names under which the cast has the values, and the results.
    pub(super) taken: Vec<(Pointer, String, EventPattern)>,
}

impl PlannedTool {
    pub(super) fn name(&self) -> &str {
        &self.answering.tool.name
    }

    fn schema(&self, argument: &str) -> Option<&Value> {
        self.answering.tool.input_schema.get("properties")?.get(argument)
    }

    fn schema_at(&self, argument: &Pointer) -> Option<&Value> {
        let mut parts =
            argument.as_str().split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
        let first = self.schema(&parts.next()?)?;
        parts.try_fold(first, |schema, part| schema.get("properties")?.get(part))
    }

    /// Whether agents word this argument themselves.
    pub(super) fn is_wording(&self, argument: &str) -> bool {
        is_wording(argument, self.schema(argument)) && !self.tested.contains(argument)
    }

    /// Whether it matters what a call comes to.
    pub(super) fn is_telling(&self) -> bool {
        self.outcomes.len() > 1 || !self.gives.is_empty()
    }

    /// An outcome: one that is as good as any if `is_good`, otherwise any.
    pub(super) fn outcome(
        &self,
        is_good: bool,
        cast: &mut Cast<'_>,
        draw: &mut Draw,
    ) -> Result<Value, Value> {
        let best = self.scores.iter().max();
        let fitting: Vec<&Result<Value, Value>> = self
            .outcomes
            .iter()
            .zip(&self.scores)
            .filter(|(_, score)| !is_good || Some(*score) == best)
            .map(|(outcome, _)| outcome)
            .collect();
        let mut outcome = match fitting.len() {
            0 => Ok(json!({})),
            count => fitting[draw.place(count)].clone(),
        };
        if let Ok(result) = &mut outcome {
            for (place, _) in &self.gives {
                if let Some(value) = cast.given(self.name(), place.as_str(), draw) {
                    put(result, place, value);
                }
            }
        }
        outcome
    }

    /// Puts the values of one result that calls of others take into another result.
    pub(super) fn give_as(&self, result: &Value, other: &mut Value) {
        for (place, _) in &self.gives {
            if let Some(value) = targets(result, place).first() {
                put(other, place, (*value).clone());
            }
        }
    }
}

/// What sessions of some tools are about.
pub(super) struct Near {
    /// The tools, and those that they may need.
    pub(super) tools: BTreeSet<usize>,
    /// The numbers of the rules that have a say.
    pub(super) concerned: Vec<usize>,
    /// These rules.
    pub(super) rules: Arc<RuleSet>,
}

/// What was found out for earlier cases.
#[derive(Default)]
pub(super) struct Known {
    near: HashMap<BTreeSet<usize>, Arc<Near>>,
    rules: HashMap<Vec<usize>, Arc<RuleSet>>,
}

/// What all cases have in common.
pub(super) struct Plan {
    pub(super) rules: Arc<RuleSet>,
    pub(super) tools: Vec<PlannedTool>,
    /// The arguments that have to come from results, and the places of these.
    pub(super) links: Links,
    /// Whether an empty session violates each rule.
    is_open: Vec<bool>,
}

impl Plan {
    pub(super) fn new(rules: Arc<RuleSet>, tools: Vec<WorldTool>) -> Result<Self, String> {
        let tools: Vec<PlannedTool> =
            tools.into_iter().map(|tool| planned(&rules, tool)).collect::<Result<_, _>>()?;
        let links = links(&rules, &tools);
        let start = Session::new(&rules).verdicts();
        let is_open = start.into_iter().map(|verdict| !verdict.is_held_at_end()).collect();
        Ok(Self { rules, tools, links, is_open })
    }

    /// The numbers of the tools that an event can be about.
    pub(super) fn tools_of(&self, pattern: &EventPattern) -> Vec<usize> {
        (0..self.tools.len()).filter(|tool| pattern.is_of(self.tools[*tool].name())).collect()
    }

    /// Arguments for a call of a tool that pass the tests of an event, if they are to. `None` if the tool does not take
    /// such arguments.
    pub(super) fn arguments(
        &self,
        tool: usize,
        passes: Option<&EventPattern>,
        cast: &mut Cast<'_>,
        draw: &mut Draw,
    ) -> Option<Value> {
        let planned = &self.tools[tool];
        let mut arguments = Value::Object(planned.base.clone());
        for name in &planned.arguments {
            if planned.is_wording(name) && arguments.get(name).is_some() {
                continue;
            }
            if let Some(value) = cast.value(name, planned.name(), planned.schema(name), draw) {
                let before = set(&mut arguments, name, Some(value));
                // What the cast has for the name does not fit every tool.
                if !planned.answering.fits(&arguments) {
                    set(&mut arguments, name, before);
                }
            }
        }
        for (argument, name, _) in &planned.taken {
            if let Some(value) = cast.value(name, planned.name(), planned.schema(name), draw) {
                put(&mut arguments, argument, value);
            }
        }
        if let Some(pattern) = passes {
            arguments =
                joined(&arguments, &varied(&pattern.arguments, &arguments_for(&pattern.arguments), draw));
            if !pattern.arguments.iter().all(|check| check.holds(Some(&arguments))) {
                return None;
            }
            // What the event tests of such an argument has to stand in the result, too.
            for (argument, name, _) in &planned.taken {
                if let Some(value) = arguments.pointer(argument.as_str()) {
                    cast.set(name, planned.name(), value.clone());
                }
            }
        }
        planned.answering.fits(&arguments).then_some(arguments)
    }

    /// The names of the arguments whose values a tool gives.
    pub(super) fn given(&self, tool: &str) -> Vec<String> {
        let tool = self.tools.iter().find(|planned| planned.name() == tool);
        tool.into_iter().flat_map(|tool| tool.gives.iter().map(|(_, name)| name.clone())).collect()
    }

    /// What sessions of these tools are about; found once for each set of tools.
    pub(super) fn near(&self, tools: BTreeSet<usize>, known: &mut Known) -> Arc<Near> {
        if let Some(near) = known.near.get(&tools) {
            return Arc::clone(near);
        }
        let all = self.with_helpers(&tools);
        let concerned = self.concerned(&all);
        let rules =
            known.rules.entry(concerned.clone()).or_insert_with(|| search::only(&self.rules, &concerned));
        let near = Arc::new(Near { tools: all, concerned, rules: Arc::clone(rules) });
        known.near.insert(tools, Arc::clone(&near));
        near
    }

    /// The tools whose calls a session with calls of these may need, these among them.
    fn with_helpers(&self, tools: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut all = tools.clone();
        loop {
            let before = all.len();
            for (number, rule) in self.rules.rules().iter().enumerate() {
                let (begins, needs): (Vec<&EventPattern>, Vec<&EventPattern>) = match &rule.demand {
                    RuleDemand::Requires { trigger, needed } => (vec![trigger], vec![needed]),
                    RuleDemand::FollowedBy { trigger, then } => (vec![trigger], vec![then]),
                    RuleDemand::Takes { event, from, .. } => (vec![event], vec![from]),
                    RuleDemand::AtLeast(_, event) => (vec![], vec![event]),
                    // A session with a call has a first and a last one.
                    RuleDemand::First(event) | RuleDemand::Last(event) => (vec![], vec![event]),
                    RuleDemand::Formula { events, .. } => (events.iter().collect(), events.iter().collect()),
                    RuleDemand::NeverAfter { .. } | RuleDemand::Never(_) | RuleDemand::AtMost(..) => continue,
                };
                let has_begun = begins.is_empty()
                    || self.is_open[number]
                    || begins
                        .iter()
                        .any(|pattern| all.iter().any(|tool| pattern.is_of(self.tools[*tool].name())));
                if has_begun {
                    // Any tool will do where none is named.
                    for pattern in needs.into_iter().filter(|pattern| pattern.tools.is_some()) {
                        all.extend(self.tools_of(pattern));
                    }
                }
            }
            if all.len() == before || all.len() >= DRAWN_CALLS_MAX {
                return all;
            }
        }
    }

    /// Rules that have a say in sessions of these tools, in order.
    fn concerned(&self, tools: &BTreeSet<usize>) -> Vec<usize> {
        let rules = self.rules.rules().iter().enumerate();
        let has_say = |number: usize, rule: &CallRule| match rule.demand {
            RuleDemand::First(_) | RuleDemand::Last(_) => true,
            _ if self.is_open[number] => true,
            _ => rule
                .patterns()
                .iter()
                .any(|pattern| tools.iter().any(|tool| pattern.is_of(self.tools[*tool].name()))),
        };
        rules.filter(|(number, rule)| has_say(*number, rule)).map(|(number, _)| number).collect()
    }

    /// Events that a call of this tool may be needed for.
    pub(super) fn needed_of(&self, tool: usize) -> Vec<&EventPattern> {
        let name = self.tools[tool].name();
        let needs = self.rules.rules().iter().flat_map(|rule| match &rule.demand {
            RuleDemand::Requires { needed, .. } => vec![needed],
            RuleDemand::FollowedBy { then, .. } => vec![then],
            RuleDemand::AtLeast(_, event) | RuleDemand::First(event) | RuleDemand::Last(event) => vec![event],
            RuleDemand::Formula { events, .. } => events.iter().collect(),
            RuleDemand::Takes { .. }
            | RuleDemand::NeverAfter { .. }
            | RuleDemand::Never(_)
            | RuleDemand::AtMost(..) => Vec::new(),
        });
        needs.filter(|pattern| pattern.is_of(name)).collect()
    }
}

/// Which places have to have one value: an argument and the results that it has to come from, and all that is linked
/// with one of these.
fn links(rules: &RuleSet, tools: &[PlannedTool]) -> Links {
    // Each with the keys that it links, and the argument whose value they have.
    let mut groups: Vec<(BTreeSet<Key>, Linked)> = Vec::new();
    for rule in rules.rules() {
        let RuleDemand::Takes { event, argument, from, value } = &rule.demand else { continue };
        let name = last_part(argument);
        let mut keys: BTreeSet<Key> = tools
            .iter()
            .filter(|tool| from.is_of(tool.name()))
            .map(|tool| Key::Result(tool.name().to_owned(), value.as_str().to_owned()))
            .collect();
        let taking: Vec<&PlannedTool> = tools.iter().filter(|tool| event.is_of(tool.name())).collect();
        keys.extend(taking.iter().map(|tool| Key::of_argument(&name, tool.name())));
        let Some(first) = taking.first() else { continue };
        let mut linked = Linked {
            key: Key::of_argument(&name, first.name()),
            name: name.clone(),
            tool: first.name().to_owned(),
            schema: first.schema_at(argument).cloned(),
        };
        let (same, others) = groups.into_iter().partition(|(those, _)| !those.is_disjoint(&keys));
        groups = others;
        // The earliest rule says what the value is.
        for (those, earlier) in Vec::into_iter(same).rev() {
            keys.extend(those);
            linked = earlier;
        }
        groups.push((keys, linked));
    }
    let each =
        groups.into_iter().flat_map(|(keys, linked)| keys.into_iter().map(move |key| (key, linked.clone())));
    each.collect()
}

/// Puts a value into arguments, or removes it; gives the one before.
fn set(arguments: &mut Value, name: &str, value: Option<Value>) -> Option<Value> {
    let arguments = arguments.as_object_mut()?;
    match value {
        Some(value) => arguments.insert(name.to_owned(), value),
        None => arguments.remove(name),
    }
}

/// The same arguments with other numbers that pass the tests, so that not all cases have the one at the bound.
fn varied(checks: &[ValueCheck], arguments: &Value, draw: &mut Draw) -> Value {
    let mut varied = arguments.clone();
    for check in checks {
        let Some(number) = arguments.pointer(check.pointer.as_str()).and_then(Value::as_i64) else {
            continue;
        };
        let more = i64::from(draw.below(NUMBERS));
        for other in [number.saturating_add(more), number.saturating_sub(more)] {
            let mut with = varied.clone();
            put(&mut with, &check.pointer, json!(other));
            if other >= 0 && checks.iter().all(|check| check.holds(Some(&with))) {
                varied = with;
                break;
            }
        }
    }
    varied
}

/// The last name of a pointer, under which the cast has its value.
fn last_part(pointer: &Pointer) -> String {
    let last = pointer.as_str().rsplit('/').find(|part| *part != "*").unwrap_or_default();
    last.replace("~1", "/").replace("~0", "~")
}

fn first_part(pointer: &Pointer) -> Option<String> {
    let first = pointer.as_str().split('/').nth(1)?;
    Some(first.replace("~1", "/").replace("~0", "~"))
}

fn planned(rules: &RuleSet, tool: WorldTool) -> Result<PlannedTool, String> {
    let name = tool.name.clone();
    let base = sample_arguments(&tool.input_schema);
    let mut arguments: BTreeSet<String> = base.keys().cloned().collect();
    let mut rules_look_at: BTreeSet<String> = BTreeSet::new();
    let empty = Map::new();
    let properties = tool.input_schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for rule in rules.rules() {
        let concerned: Vec<&EventPattern> =
            rule.patterns().into_iter().filter(|pattern| pattern.is_of(&name)).collect();
        let tested = concerned.iter().flat_map(|pattern| &pattern.arguments).map(|check| &check.pointer);
        let per = rule.per.iter().filter(|_| !concerned.is_empty());
        let looked_at = tested.chain(per).filter_map(first_part).filter(|part| properties.contains_key(part));
        rules_look_at.extend(looked_at);
    }
    arguments.extend(rules_look_at.iter().cloned());
    let gives: Vec<(Pointer, String)> = rules
        .rules()
        .iter()
        .filter_map(|rule| match &rule.demand {
            RuleDemand::Takes { argument, from, value, .. } if from.is_of(&name) => {
                Some((value.clone(), last_part(argument)))
            }
            _ => None,
        })
        .collect();
    let taken = rules.rules().iter().filter_map(|rule| match &rule.demand {
        RuleDemand::Takes { event, argument, from, .. } if event.is_of(&name) => {
            Some((argument.clone(), last_part(argument), from.clone()))
        }
        _ => None,
    });
    let taken = taken.collect();
    let mut outcomes = outcomes_of(rules, &name);
    // A tool fails only where a rule looks at that.
    let may_fail =
        rules.rules().iter().flat_map(CallRule::patterns).any(|pattern| {
            pattern.moment == Phase::Failed && pattern.tools.is_some() && pattern.is_of(&name)
        });
    outcomes.retain(|outcome| outcome.is_ok() || may_fail);
    // A result that lacks what a rule looks at is not an answer of a real tool.
    let size = |outcome: &Result<Value, Value>| match outcome {
        Ok(value) | Err(value) => leaves(value),
    };
    let fullest = |is_ok: bool| outcomes.iter().filter(|it| it.is_ok() == is_ok).map(size).max();
    let (of_results, of_errors) = (fullest(true), fullest(false));
    outcomes.retain(|outcome| Some(size(outcome)) == if outcome.is_ok() { of_results } else { of_errors });
    for (place, _) in &gives {
        // The values that are given stand in for those that the search has there.
        outcomes
            .iter_mut()
            .filter_map(|outcome| outcome.as_mut().ok())
            .for_each(|result| put(result, place, json!(0)));
    }
    let mut different: Vec<Result<Value, Value>> = Vec::new();
    for outcome in outcomes {
        if !different.contains(&outcome) && different.len() < DRAWN_OUTCOMES_MAX {
            different.push(outcome);
        }
    }
    let scores = different.iter().map(|outcome| score(rules, &name, outcome)).collect();
    let answering = AnsweringTool::new(tool.into(), &Values::new())?;
    Ok(PlannedTool {
        answering,
        base,
        arguments,
        tested: rules_look_at,
        outcomes: different,
        scores,
        gives,
        taken,
    })
}

/// How many events that calls need this outcome is one of, less those that forbid calls.
fn score(rules: &RuleSet, tool: &str, outcome: &Result<Value, Value>) -> i32 {
    let arguments = json!({});
    let (moment, value) = match outcome {
        Ok(value) => (Phase::Done, value),
        Err(value) => (Phase::Failed, value),
    };
    let event = SessionEvent::new(moment, tool, &arguments).with_outcome(value);
    let is_one = |pattern: &EventPattern| {
        i32::from(
            pattern.moment == moment
                && pattern.is_of(tool)
                && pattern.outcome.iter().all(|check| check.holds_in_outcome(event.outcome)),
        )
    };
    let of_rule = |rule: &CallRule| match &rule.demand {
        RuleDemand::Requires { needed, .. } => 2 * is_one(needed),
        RuleDemand::NeverAfter { after, .. } => -2 * is_one(after),
        _ => 0,
    };
    // Of those that are equally good, a result is better than an error.
    rules.rules().iter().map(of_rule).sum::<i32>() + i32::from(outcome.is_ok())
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(entries) => entries.values().map(leaves).sum(),
        Value::Array(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// Whether a top-level argument identifies something.
pub(super) fn is_identifier(argument: &str) -> bool {
    identified(argument).is_some()
}
