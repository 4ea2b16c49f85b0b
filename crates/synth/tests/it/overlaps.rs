//! Calls that overlap: nothing is blamed on which of them began first, nor on the names of their tools.

use std::collections::BTreeMap;

use planproof_synth::{ActionId, Draw, JudgeOptions, OracleVerdict, PlanningCase, judge};
use planproof_trace::{Event, notation};

use crate::{case, time_case};

/// A call of a run: the action, the positions at which it began and was answered, and its start time if it has one.
#[derive(Debug, Clone, Copy)]
struct Made {
    action: usize,
    start: usize,
    end: usize,
    minute: Option<u16>,
}

fn judged(case: &PlanningCase, events: &[Event]) -> OracleVerdict {
    judge(case, events, JudgeOptions::default()).expect("the run is scored")
}

/// Some of the actions, a few of them twice, begun and answered at random positions.
fn draw_calls(draw: &mut Draw, case: &PlanningCase) -> Vec<Made> {
    let mut actions: Vec<usize> = (0..case.actions.len()).collect();
    draw.shuffle(&mut actions);
    actions.truncate(5);
    if draw.chance(1, 4) {
        actions.pop();
    }
    if draw.chance(1, 6) {
        actions.push(actions[0]);
    }
    // Twice each call: its first occurrence is its beginning, its second one its answer.
    let mut positions: Vec<usize> = (0..actions.len()).flat_map(|call| [call, call]).collect();
    draw.shuffle(&mut positions);
    if draw.chance(1, 2) {
        // Mostly in sequence, with few overlaps.
        positions.sort_unstable();
        for _ in 0..2 {
            let at = draw.below(positions.len() as u32 - 1) as usize;
            positions.swap(at, at + 1);
        }
    }
    let place = |call: usize| {
        let mut places = positions.iter().enumerate().filter(|(_, other)| **other == call).map(|(at, _)| at);
        (places.next().expect("it begins"), places.next().expect("it is answered"))
    };
    let made = actions.iter().enumerate().map(|(call, action)| {
        let (start, end) = place(call);
        Made { action: *action, start, end, minute: None }
    });
    made.collect()
}

fn run(case: &PlanningCase, calls: &[Made]) -> Vec<Event> {
    let mut parts: BTreeMap<usize, String> = BTreeMap::new();
    for (number, call) in calls.iter().enumerate() {
        let tool = &case.actions[call.action].tool;
        let time = |minute: u16| format!("\"start_time\":\"{:02}:{:02}\"", minute / 60, minute % 60);
        let arguments = call.minute.map(time).unwrap_or_default();
        parts.insert(call.start, format!("call {tool} {{{arguments}}} #n{number} | "));
        parts.insert(call.end, format!("ok #n{number} | "));
    }
    let line = parts.into_values().collect::<String>() + "answer \"\"";
    notation::parse(&line).expect("the notation is right")
}

/// All orders of the calls in which each one that had ended before another began stays before it.
fn linearisations(calls: &[Made]) -> Vec<Vec<Made>> {
    if calls.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        if calls.iter().any(|other| other.end < call.start) {
            continue;
        }
        let mut rest = calls.to_vec();
        rest.remove(at);
        for mut order in linearisations(&rest) {
            order.insert(0, *call);
            all.push(order);
        }
    }
    all
}

/// The same calls one after the other.
fn in_sequence(calls: &[Made]) -> Vec<Made> {
    let spaced = calls.iter().enumerate();
    spaced.map(|(at, call)| Made { start: 2 * at, end: 2 * at + 1, ..*call }).collect()
}

/// The case and the run with each tool called differently.
fn renamed(case: &PlanningCase, calls: &[Made], draw: &mut Draw) -> (PlanningCase, Vec<Event>) {
    let mut names: Vec<String> = (0..case.actions.len()).map(|number| format!("tool_{number}")).collect();
    draw.shuffle(&mut names);
    let mut case = case.clone();
    for (action, name) in case.actions.iter_mut().zip(names) {
        let tool =
            case.tools.iter_mut().find(|tool| tool.name.as_str() == action.tool).expect("it is offered");
        tool.name.clone_from(&name);
        action.tool = name;
    }
    let events = run(&case, calls);
    (case, events)
}

fn begun(case: &PlanningCase, calls: &[Made]) -> Vec<ActionId> {
    let mut calls = calls.to_vec();
    calls.sort_by_key(|call| call.start);
    calls.iter().map(|call| case.actions[call.action].id.clone()).collect()
}

/// Compares the verdict on overlapping calls with those on all orders that they leave open.
fn check(case: &PlanningCase, calls: &[Made], draw: &mut Draw, seen: &mut BTreeMap<&'static str, u32>) {
    let verdict = judged(case, &run(case, calls));
    assert_eq!(verdict.calls, begun(case, calls), "listed as they began");
    let orders = linearisations(calls);
    let sequential: Vec<OracleVerdict> =
        orders.iter().map(|order| judged(case, &run(case, &in_sequence(order)))).collect();
    let is_right = sequential.iter().any(|one| one.first_wrong_call.is_none());
    assert_eq!(verdict.first_wrong_call.is_none(), is_right, "{calls:?}");
    assert!(verdict.core.is_empty() || !is_right, "{calls:?}");
    if sequential.iter().any(|one| one.repair.is_empty()) {
        assert!(verdict.repair.is_empty(), "{calls:?}");
    }
    // The wrong call is the one of an order that stays right as long as any.
    if let Some(wrong) = verdict.first_wrong_call {
        let longest = sequential.iter().filter_map(|one| one.first_wrong_call).max();
        let furthest = sequential.iter().filter(|one| one.first_wrong_call == longest);
        let mut named = furthest.filter_map(|one| one.calls.get(one.first_wrong_call?));
        assert!(named.any(|id| *id == verdict.calls[wrong]), "{calls:?}");
    }
    // No name of a tool matters.
    let (other_case, other_events) = renamed(case, calls, draw);
    let mut other = judged(&other_case, &other_events);
    // Impossible starts name the tools themselves.
    let time = other.time.as_mut().zip(verdict.time.as_ref());
    if let Some((other, time)) = time {
        for (other, one) in other.parameter_errors.iter_mut().zip(&time.parameter_errors) {
            other.tool.clone_from(&one.tool);
        }
    }
    assert_eq!(other, verdict, "{calls:?}");
    let is_overlapping = verdict.flags.iter().any(|flag| flag.as_str() == "concurrent");
    let kind = match (is_overlapping, is_right) {
        (false, _) => "in sequence",
        (true, true) => "overlapping, right in some order",
        (true, false) => "overlapping, wrong in every order",
    };
    *seen.entry(kind).or_default() += 1;
}

#[test]
fn overlapping_calls_are_blamed_only_if_every_order_of_them_is_wrong() {
    let mut seen = BTreeMap::new();
    for number in 0..600 {
        let mut draw = Draw::new(11, number, "test/overlaps");
        let case = case(3..=6, number % 40);
        let calls = draw_calls(&mut draw, &case);
        check(&case, &calls, &mut draw, &mut seen);
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count > 50), "{seen:?}");
}

#[test]
fn start_times_order_overlapping_calls() {
    let mut seen = BTreeMap::new();
    for number in 0..300 {
        let mut draw = Draw::new(12, number, "test/overlaps-of-times");
        let case = time_case(3..=5, number % 20);
        let form = case.time.as_ref().expect("it is of the time form");
        let mut calls = draw_calls(&mut draw, &case);
        // Start times in the order in which the calls were drawn, which need not be that in which they began.
        let mut minute = form.day.start;
        for call in &mut calls {
            call.minute = Some(minute.min(1439));
            minute += form.durations[call.action];
        }
        check(&case, &calls, &mut draw, &mut seen);
    }
    assert!(seen["overlapping, right in some order"] > 10, "{seen:?}");
    assert!(seen["overlapping, wrong in every order"] > 50, "{seen:?}");
}
