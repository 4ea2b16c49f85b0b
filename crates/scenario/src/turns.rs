//! What the user says later: from which message on a demand binds, and until which.
//!
//! The number of the message is put into the arguments of every event, under a name that no tool has, and the demands
//! test it there. So the automata that judge, and the searches for right sessions, are those of any other case.

use std::sync::Arc;

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{
    CallRule, EventPattern, Phase, RecordedEvent, RuleDemand, RuleSet, RulesPlace, ValueCheck, read_tests,
};
use serde_json::{Value, json};

use crate::line::CaseLine;

/// The name of the message's number among the arguments of an event.
const TURN: &str = "planproof message";

/// The event with the number of the message before it.
pub(crate) fn with_turn(mut event: RecordedEvent, turn: u32) -> RecordedEvent {
    put(Arc::make_mut(&mut event.arguments), turn);
    event
}

fn put(arguments: &mut Value, turn: u32) {
    if let Value::Object(arguments) = arguments {
        arguments.insert(TURN.to_owned(), turn.into());
    }
}

/// These calls, each in each of so many turns.
pub(crate) fn in_each_turn(calls: &[SampleCall], turns: u32) -> Vec<SampleCall> {
    let in_turn = |turn| {
        calls.iter().map(move |call| {
            let mut call = call.clone();
            put(&mut call.arguments, turn);
            call
        })
    };
    (1..=turns).flat_map(in_turn).collect()
}

/// The calls as tools take them, and the number of the message before each.
pub(crate) fn apart(mut calls: Vec<SampleCall>) -> (Vec<SampleCall>, Vec<u32>) {
    let turns = calls.iter_mut().map(|call| take(&mut call.arguments)).collect();
    (calls, turns)
}

/// The arguments as tools take them.
pub(crate) fn without_turn(arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    take(&mut arguments);
    arguments
}

fn take(arguments: &mut Value) -> u32 {
    let turn = arguments.as_object_mut().and_then(|arguments| arguments.remove(TURN));
    turn.as_ref().and_then(Value::as_u64).and_then(|turn| u32::try_from(turn).ok()).unwrap_or(1)
}

/// The tests of a message's number.
fn checks(from: u32, until: Option<u32>) -> Vec<ValueCheck> {
    let mut tests = serde_json::Map::new();
    if from > 1 {
        tests.insert("at-least".to_owned(), from.into());
    }
    if let Some(until) = until {
        tests.insert("at-most".to_owned(), until.into());
    }
    if tests.is_empty() {
        return Vec::new();
    }
    // The tests are well formed, whatever the numbers.
    read_tests(&json!({ format!("/{TURN}"): tests })).unwrap_or_default()
}

/// The rules of a case as they bind over its messages.
///
/// # Errors
/// They become too large.
pub(crate) fn bound(rules: &RuleSet, line: &CaseLine) -> Result<RuleSet, String> {
    let of_file = line.rules.len();
    let mut all: Vec<CallRule> = rules.rules().to_vec();
    for (rule, expectation) in all.iter_mut().skip(of_file).zip(&line.expect) {
        let of = |from| checks(from, expectation.until);
        // What binds from a message on may rest on what was done before it.
        let (from, ever) = (of(expectation.from.unwrap_or(1)), of(1));
        let (binding, history): (Vec<&mut EventPattern>, Option<&mut EventPattern>) = match &mut rule.demand {
            RuleDemand::Requires { trigger, needed } => (vec![trigger], Some(needed)),
            RuleDemand::NeverAfter { event, after } => (vec![event], Some(after)),
            RuleDemand::Takes { event, from, .. } => (vec![event], Some(from)),
            RuleDemand::FollowedBy { trigger, then } => (vec![trigger, then], None),
            RuleDemand::Never(event) | RuleDemand::AtMost(_, event) | RuleDemand::AtLeast(_, event) => {
                (vec![event], None)
            }
            // These speak of the whole session.
            RuleDemand::First(_) | RuleDemand::Last(_) | RuleDemand::Formula { .. } => (Vec::new(), None),
        };
        binding.into_iter().for_each(|pattern| pattern.arguments.extend(from.iter().cloned()));
        history.into_iter().for_each(|pattern| pattern.arguments.extend(ever.iter().cloned()));
    }
    // Messages come one after the other.
    for turn in 2..=count(line) {
        let any =
            |arguments| EventPattern { moment: Phase::Call, tools: None, arguments, outcome: Vec::new() };
        all.push(CallRule {
            id: format!("{TURN} {turn}"),
            why: None,
            per: None,
            is_shadow: false,
            demand: RuleDemand::NeverAfter {
                event: any(checks(1, Some(turn - 1))),
                after: any(checks(turn, None)),
            },
            place: RulesPlace { line: 1, column: 1 },
        });
    }
    RuleSet::compile(all).map_err(|faults| faults.first().map_or_else(String::new, ToString::to_string))
}

/// How many messages the user writes, the query included.
pub(crate) fn count(line: &CaseLine) -> u32 {
    u32::try_from(line.turns.len()).unwrap_or(u32::MAX).saturating_add(1)
}

/// How many of the calls come before each later message.
pub(crate) fn before_each(turns: &[u32], line: &CaseLine) -> Vec<usize> {
    (2..=count(line)).map(|message| turns.iter().filter(|turn| **turn < message).count()).collect()
}
