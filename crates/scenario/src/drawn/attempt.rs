//! One attempt at a case: what the user asks, what the tools answer, and whether a rule matters in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{EventPattern, Phase, Pointer, RuleDemand, RuleSet, Session};
use planproof_trace::Draw;
use serde_json::{Map, Value, json};

use super::cast::Cast;
use super::phrase;
use super::plan::{Known, Near, Plan, is_identifier};
use super::witness::{Searched, Witness};
use crate::limits::{DRAWN_ASKED_MAX, DRAWN_CALLS_MAX};
use crate::line::{Answer, Manner};
use crate::world::AnsweringTool;

/// A call that the user asks for.
struct Asked {
    tool: usize,
    arguments: Value,
    times: u32,
    /// The words of the query.
    words: String,
}

/// What an attempt came to.
pub(super) struct Attempt {
    pub(super) query: String,
    /// With what they answer.
    pub(super) tools: Vec<AnsweringTool>,
    pub(super) manner: Manner,
    /// Rules that make what is due a part of the case, with the words of the query.
    pub(super) expect: Vec<(Value, String)>,
    /// The calls of the query, in the order of mention.
    pub(super) asked: Vec<SampleCall>,
    /// A right session.
    pub(super) right: Vec<SampleCall>,
    /// Whether calls in the order of mention violate no other rule.
    pub(super) is_pure: bool,
}

/// Draws what could be a case for a rule, in which it may matter in one manner. `None` if the rule does not matter in
/// it, nobody can satisfy it, or it `must_be_pure` and calls in the order of mention violate another rule, too.
pub(super) fn attempt(
    plan: &Plan,
    rule: usize,
    (manner, must_be_pure): (Manner, bool),
    known: &mut Known,
    draw: &mut Draw,
) -> Option<Attempt> {
    let mut cast = Cast::new(&plan.links);
    let mut asked = mentions(plan, rule, manner, known, &mut cast, draw)?;
    // One value in the results cannot be what two calls of the query have to take differently.
    let is_taken = |task: &Asked, cast: &mut Cast<'_>, draw: &mut Draw| {
        let planned = &plan.tools[task.tool];
        planned.taken.iter().all(|(argument, name, _)| {
            let value = task.arguments.pointer(argument.as_str());
            value.is_none() || cast.value(name, planned.name(), None, draw).as_ref() == value
        })
    };
    if !asked.iter().all(|task| is_taken(task, &mut cast, draw)) {
        return None;
    }
    let near = plan.near(asked.iter().map(|asked| asked.tool).collect(), known);
    let Near { tools: all, concerned, rules } = &*near;
    // What the tools answer. For a case of a result that forbids a call, those of this rule answer in any way.
    let of_rule: BTreeSet<usize> =
        plan.rules.rules()[rule].patterns().into_iter().flat_map(|pattern| plan.tools_of(pattern)).collect();
    let mut outcomes: BTreeMap<usize, Result<Value, Value>> = BTreeMap::new();
    for tool in all {
        let is_good = !(manner == Manner::LeftUndone && of_rule.contains(tool)) && draw.chance(9, 10);
        outcomes.insert(*tool, plan.tools[*tool].outcome(is_good, &mut cast, draw));
    }
    let call = |tool: usize, arguments: &Value| SampleCall {
        tool: plan.tools[tool].name().to_owned(),
        arguments: arguments.clone(),
        outcome: Some(outcomes.get(&tool).cloned().unwrap_or(Ok(Value::from("done")))),
    };
    // The calls of the query first, then those that rules may demand beside them.
    let mut calls: Vec<SampleCall> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for task in &asked {
        let made = call(task.tool, &task.arguments);
        let place = calls.iter().position(|other| *other == made).unwrap_or(calls.len());
        if place == calls.len() {
            calls.push(made);
        }
        places.push(place);
    }
    let place_of_rule = concerned.iter().position(|other| *other == rule)?;
    let naive = naive(plan, &asked, &places, &calls, rules)?;
    if naive.verdict(place_of_rule).is_held_at_end() {
        return None;
    }
    let is_pure =
        (0..concerned.len()).all(|other| other == place_of_rule || naive.verdict(other).is_held_at_end());
    if must_be_pure && !is_pure {
        return None;
    }

    let count_asked = calls.len();
    for tool in all {
        let needed = plan.needed_of(*tool);
        let patterns = needed.into_iter().map(Some).chain([None]);
        for pattern in patterns {
            if let Some(arguments) = plan.arguments(*tool, pattern, &mut cast, draw) {
                let made = call(*tool, &arguments);
                if calls.len() < DRAWN_CALLS_MAX && !calls.contains(&made) {
                    calls.push(made);
                }
            }
        }
    }

    // What can be done is due.
    let every: BTreeSet<usize> = places.iter().copied().collect();
    let mut due = every.clone();
    let searched = Searched::new(rules, &calls);
    let mut right = searched.session(&due);
    if right == Witness::None {
        for task in &every {
            match searched.with(*task) {
                Witness::Session(_) => {}
                Witness::None => {
                    due.remove(task);
                }
                Witness::TooMany => return None,
            }
        }
        // Where either of two can be done and not both, nobody knows which is meant.
        if due.len() == every.len() {
            return None;
        }
        right = Witness::None;
    }
    let is_left_undone = due.len() < every.len();
    // Nobody knows that a call is forbidden by a result without looking at it.
    let mut looked: Vec<usize> = match is_left_undone {
        true => {
            (0..calls.len()).filter(|place| !every.contains(place) && is_look(plan, &calls, *place)).collect()
        }
        false => Vec::new(),
    };
    looked.retain(|place| matches!(searched.with(*place), Witness::Session(_)));
    let undone: Vec<usize> = every.difference(&due).copied().collect();
    looked.retain(|place| undone.iter().any(|task| would_allow(plan, rules, &calls, *place, *task)));
    let mut wanted = due.clone();
    wanted.extend(&looked);
    if wanted.is_empty() {
        return None;
    }
    if is_left_undone {
        right = searched.session(&wanted);
    }
    let Witness::Session(way) = right else { return None };
    let helpers: Vec<usize> = way.iter().copied().filter(|place| *place >= count_asked).collect();
    // Something is asked for more than once only where that is too often.
    let is_too_often = asked.iter().any(|task| task.times > 1);
    let found = match (is_left_undone || is_too_often, helpers.is_empty()) {
        // It is this rule that forbids something, and not another one.
        (true, _) if !is_forbidding(rules, place_of_rule, &calls, &way, &asked, &places) => return None,
        (true, _) => Manner::LeftUndone,
        (false, true) => Manner::Order,
        (false, false) => Manner::LeftOut,
    };

    asked.iter_mut().for_each(|task| task.words = words_of(plan, task));
    let query = query(plan, &asked, &helpers, &way, &calls);
    let mut expect = Vec::new();
    for (task, place) in asked.iter().zip(&places) {
        if due.contains(place) && !expect.iter().any(|(_, words)| *words == task.words) {
            expect.push((expected(plan, task.tool, &calls[*place]), task.words.clone()));
        }
    }
    for place in looked {
        let tool = plan.tools.iter().position(|tool| tool.name() == calls[place].tool)?;
        let words = asked.iter().zip(&places).find(|(_, place)| !due.contains(place))?.0.words.clone();
        let look = (expected(plan, tool, &calls[place]), words);
        if !expect.contains(&look) {
            expect.push(look);
        }
    }
    let mentioned = asked.iter().zip(&places);
    Some(Attempt {
        query,
        tools: world(plan, &outcomes, &calls)?,
        manner: found,
        expect,
        asked: mentioned.flat_map(|(task, place)| vec![calls[*place].clone(); task.times as usize]).collect(),
        right: way.into_iter().map(|place| calls[place].clone()).collect(),
        is_pure,
    })
}

/// Whether a rule is violated by an agent that makes the right calls, and then all others that are asked for.
fn is_forbidding(
    rules: &Arc<RuleSet>,
    rule: usize,
    calls: &[SampleCall],
    right: &[usize],
    asked: &[Asked],
    places: &[usize],
) -> bool {
    let mut session = Session::new(rules);
    let count = |place: &usize| right.iter().filter(|other| *other == place).count();
    let others = asked.iter().zip(places).flat_map(|(task, place)| {
        std::iter::repeat_n(place, (task.times as usize).saturating_sub(count(place)))
    });
    right.iter().chain(others).all(|place| calls[*place].observe(&mut session))
        && !session.verdict(rule).is_held_at_end()
}

/// Whether the outcome of this call is why another of them is forbidden: a rule demands another outcome.
fn is_look(plan: &Plan, calls: &[SampleCall], place: usize) -> bool {
    let call = &calls[place];
    let arguments = |pattern: &EventPattern, call: &SampleCall| {
        pattern.is_of(&call.tool) && pattern.arguments.iter().all(|check| check.holds(Some(&call.arguments)))
    };
    plan.rules.rules().iter().any(|rule| match &rule.demand {
        RuleDemand::Requires { trigger, needed } => {
            let value = match &call.outcome {
                Some(Ok(value) | Err(value)) => Some(value),
                None => None,
            };
            arguments(needed, call)
                && !needed.outcome.iter().all(|check| check.holds_in_outcome(value))
                && calls.iter().any(|other| arguments(trigger, other))
        }
        _ => false,
    })
}

/// Whether a call could be made if the look at this place showed something else. If not, nobody has to look.
fn would_allow(plan: &Plan, rules: &Arc<RuleSet>, calls: &[SampleCall], look: usize, call: usize) -> bool {
    let Some(tool) = plan.tools.iter().find(|tool| tool.name() == calls[look].tool) else { return false };
    tool.outcomes.iter().any(|other| {
        let mut other = other.clone();
        if let (Ok(other), Some(Ok(result))) = (&mut other, &calls[look].outcome) {
            tool.give_as(result, other);
        }
        let mut calls = calls.to_vec();
        calls.iter_mut().filter(|call| call.tool == tool.name()).for_each(|call| {
            call.outcome = Some(other.clone());
        });
        matches!(Searched::new(rules, &calls).with(call), Witness::Session(_))
    })
}

/// What the user mentions, in the order of mention.
fn mentions(
    plan: &Plan,
    rule: usize,
    manner: Manner,
    known: &mut Known,
    cast: &mut Cast<'_>,
    draw: &mut Draw,
) -> Option<Vec<Asked>> {
    let rule = &plan.rules.rules()[rule];
    let mut mentioned: Vec<(usize, Option<&EventPattern>, u32)> = Vec::new();
    let is_bare = manner == Manner::LeftUndone && draw.chance(1, 3);
    for (number, pattern) in rule.patterns().into_iter().enumerate() {
        let tools = plan.tools_of(pattern);
        let is_left_out = match manner {
            Manner::Order => false,
            Manner::LeftOut => draw.chance(1, 2),
            Manner::LeftUndone => is_bare && number > 0,
        };
        if tools.is_empty() || is_left_out {
            continue;
        }
        let times = match rule.demand {
            RuleDemand::AtMost(times, _) => times + 1,
            _ => 1,
        };
        if times > DRAWN_ASKED_MAX {
            return None;
        }
        let passes = (pattern.arguments.is_empty() || draw.chance(7, 8)).then_some(pattern);
        mentioned.push((tools[draw.place(tools.len())], passes, times));
    }
    // Something else, so that there is always something to do.
    let is_alone = matches!(
        rule.demand,
        RuleDemand::Never(_)
            | RuleDemand::First(_)
            | RuleDemand::Last(_)
            | RuleDemand::AtLeast(..)
            | RuleDemand::AtMost(0, _)
    );
    if is_alone || mentioned.is_empty() || draw.chance(1, 3) {
        let is_other = |tool: &usize| mentioned.iter().all(|(other, ..)| other != tool);
        let mut others: Vec<usize> = (0..plan.tools.len()).filter(is_other).collect();
        // What other rules demand is asked for more often, so that the order of mention violates this one alone.
        if draw.chance(1, 2) {
            let near = plan.near(mentioned.iter().map(|(tool, ..)| *tool).collect(), known);
            let near: Vec<usize> = near.tools.iter().copied().filter(is_other).collect();
            if !near.is_empty() {
                others = near;
            }
        }
        if !others.is_empty() {
            mentioned.push((others[draw.place(others.len())], None, 1));
        }
    }
    draw.shuffle(&mut mentioned);
    let mut asked: Vec<Asked> = Vec::new();
    for (tool, passes, times) in mentioned {
        let arguments = plan.arguments(tool, passes, cast, draw)?;
        match asked.iter_mut().find(|other| other.tool == tool && other.arguments == arguments) {
            Some(other) => other.times = other.times.max(times),
            None => asked.push(Asked { tool, arguments, times, words: String::new() }),
        }
    }
    (!asked.is_empty()).then_some(asked)
}

/// The session of an agent that makes the calls in the order of mention, all of them, whatever comes of them. Values
/// that it would have to take from a result it takes if it has the result, and makes up otherwise.
fn naive(
    plan: &Plan,
    asked: &[Asked],
    places: &[usize],
    calls: &[SampleCall],
    rules: &Arc<RuleSet>,
) -> Option<Session> {
    let mut session = Session::new(rules);
    let mut done: Vec<&str> = Vec::new();
    for (task, place) in asked.iter().zip(places) {
        for _ in 0..task.times {
            let mut call = calls[*place].clone();
            for (argument, _, from) in &plan.tools[task.tool].taken {
                if !done.iter().any(|tool| from.is_of(tool)) {
                    made_up(&mut call.arguments, argument);
                }
            }
            if !call.observe(&mut session) {
                return None;
            }
        }
        if matches!(calls[*place].outcome, Some(Ok(_))) {
            done.push(&calls[*place].tool);
        }
    }
    Some(session)
}

/// Replaces a value that nobody knows.
fn made_up(arguments: &mut Value, pointer: &Pointer) {
    if let Some(value) = arguments.pointer_mut(pointer.as_str()) {
        *value = match value {
            Value::Number(_) => json!(0),
            _ => json!("unknown"),
        };
    }
}

/// The arguments that a user names: neither wordings, nor values that a rule demands from a result.
fn said<'a>(plan: &Plan, tool: usize, arguments: &'a Value) -> Vec<(&'a str, &'a Value)> {
    let taken = &plan.tools[tool].taken;
    let entries = arguments.as_object().into_iter().flatten();
    entries
        .map(|(name, value)| (name.as_str(), value))
        .filter(|(name, _)| !plan.tools[tool].is_wording(name))
        .filter(|(name, _)| taken.iter().all(|(pointer, ..)| pointer.as_str() != format!("/{name}")))
        .collect()
}

fn words_of(plan: &Plan, task: &Asked) -> String {
    let words = phrase::task(plan.tools[task.tool].name(), &said(plan, task.tool, &task.arguments));
    format!("{words}{}", phrase::times(task.times))
}

/// What the user writes. The order of mention is said to mean nothing.
fn query(plan: &Plan, asked: &[Asked], helpers: &[usize], right: &[usize], calls: &[SampleCall]) -> String {
    let words: Vec<String> = asked.iter().map(|task| task.words.clone()).collect();
    let mut query = format!("Please {}.", phrase::list(&words));
    // What other calls need, and neither the user nor a result says.
    let mut known: Vec<(&str, &Value)> =
        asked.iter().flat_map(|task| said(plan, task.tool, &task.arguments)).collect();
    let way = right.iter().map(|place| calls[*place].tool.as_str());
    let given: BTreeSet<String> = way.flat_map(|tool| plan.given(tool)).collect();
    let mut facts: Vec<String> = Vec::new();
    for call in helpers.iter().map(|place| &calls[*place]) {
        let Some(tool) = plan.tools.iter().position(|tool| tool.name() == call.tool) else { continue };
        for fact in said(plan, tool, &call.arguments) {
            if !known.contains(&fact) && !given.contains(fact.0) {
                known.push(fact);
                facts.push(phrase::fact(fact.0, fact.1));
            }
        }
    }
    if !facts.is_empty() {
        query.push_str(&format!(" In case you need to know: {}.", phrase::list(&facts)));
    }
    query.push_str(match asked.len() {
        1 => " Leave out what is not allowed.",
        _ => " Choose the order yourself, and leave out what is not allowed.",
    });
    query
}

/// That a call is made with success, or at least asked for where the world lets none succeed.
fn expected(plan: &Plan, tool: usize, call: &SampleCall) -> Value {
    let tests: Map<String, Value> = said(plan, tool, &call.arguments)
        .into_iter()
        .map(|(name, value)| {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            // A map would be read as tests.
            let value = if value.is_object() { json!({"is": value}) } else { value.clone() };
            (pointer, value)
        })
        .collect();
    let moment = if matches!(call.outcome, Some(Err(_))) { Phase::Call } else { Phase::Done };
    let mut event = Map::from_iter([
        (moment.key().to_owned(), Value::from(call.tool.as_str())),
        ("times".to_owned(), json!(1)),
    ]);
    if !tests.is_empty() {
        event.insert("where".to_owned(), Value::Object(tests));
    }
    json!({ "at-least": event })
}

/// The tools with what they answer. Where an answer matters, it is one about what the case is about.
fn world(
    plan: &Plan,
    outcomes: &BTreeMap<usize, Result<Value, Value>>,
    calls: &[SampleCall],
) -> Option<Vec<AnsweringTool>> {
    let tools = plan.tools.iter().enumerate().map(|(number, planned)| {
        let Some(outcome) = outcomes.get(&number).filter(|_| planned.is_telling()) else {
            return Some(planned.answering.clone());
        };
        let name = planned.name();
        let of_tool: Vec<&Value> =
            calls.iter().filter(|call| call.tool == name).map(|call| &call.arguments).collect();
        // Arguments that are the same in all calls and identify something. Where a rule looks at errors, a call about
        // something else must not bring one about.
        let patterns = plan.rules.rules().iter().flat_map(|rule| rule.patterns());
        let do_errors_matter = patterns.into_iter().any(|it| it.moment == Phase::Failed && it.is_of(name));
        let first = of_tool.first().and_then(|arguments| arguments.as_object()).filter(|_| !do_errors_matter);
        let tests: Map<String, Value> = first
            .into_iter()
            .flatten()
            .filter(|(name, value)| {
                is_identifier(name) && of_tool.iter().all(|other| other.get(name.as_str()) == Some(value))
            })
            .map(|(name, value)| (format!("/{}", name.replace('~', "~0").replace('/', "~1")), value.clone()))
            .collect();
        let is_any = tests.is_empty();
        let (returns, fails) = match outcome {
            Ok(value) => (Some(value.clone()), None),
            Err(Value::String(text)) if !text.trim().is_empty() => (None, Some(text.clone())),
            Err(Value::Object(entries)) if entries.is_empty() => (None, Some("not now".to_owned())),
            Err(value) => (None, Some(value.to_string())),
        };
        let mut answers = vec![Answer { arguments: tests, returns, fails, ..Answer::default() }];
        if !is_any {
            let fails = Some("nothing is known about it".to_owned());
            answers.push(Answer { fails, ..Answer::default() });
        }
        planned.answering.with_answers(answers).ok()
    });
    tools.collect()
}
