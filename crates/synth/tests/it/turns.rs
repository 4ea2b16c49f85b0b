//! Texts that arrive in several messages.

use std::collections::BTreeSet;

use planproof_synth::file::{read_case, read_verdict, write_case, write_verdict};
use planproof_synth::{
    ChangeKind, Draw, Flag, JudgeOptions, MessageRange, OracleVerdict, OrderClass, OrderTurns, PlanningCase,
    SynthesisError, SynthesisOptions, Synthesizer, TopicBank, Wordings, judge, read,
};
use planproof_trace::{Event, notation};

use crate::synthesise;

const CASES: u64 = 400;

fn options() -> SynthesisOptions {
    let turns = Some(MessageRange { min: 2, max: 4 });
    SynthesisOptions { actions_min: 3, actions_max: 7, turns, ..SynthesisOptions::default() }
}

fn case(index: u64) -> PlanningCase {
    synthesise(options(), 7, index)
}

fn turns(case: &PlanningCase) -> &OrderTurns {
    case.turns.as_ref().expect("the text arrives in several messages")
}

/// The events of a run with these actions in its turns, one call after the other.
fn run(case: &PlanningCase, calls: &[Vec<usize>]) -> Vec<Event> {
    let turn = |calls: &Vec<usize>| {
        let call = |action: &usize| format!("call {} {{}} | ok \"d\" | ", case.actions[*action].tool);
        ["query \"q\" | ".to_owned(), calls.iter().map(call).collect()].concat()
    };
    let line: String = calls.iter().map(turn).collect();
    notation::parse(&[line.as_str(), "answer \"done\""].concat()).expect("the notation is right")
}

fn judged(case: &PlanningCase, calls: &[Vec<usize>]) -> OracleVerdict {
    judge(case, &run(case, calls), JudgeOptions::default()).expect("the run is scored")
}

/// An order of these actions that keeps to the pairs, drawn from all.
fn drawn_order(draw: &mut Draw, actions: &[usize], pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut left = actions.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        let is_free =
            |action: &&usize| !pairs.iter().any(|(first, second)| second == *action && left.contains(first));
        let free: Vec<usize> = left.iter().filter(is_free).copied().collect();
        let next = free[draw.place(free.len())];
        left.retain(|action| *action != next);
        order.push(next);
    }
    order
}

fn effective(case: &PlanningCase) -> Vec<(usize, usize)> {
    case.constraints.iter().map(|stated| (stated.first, stated.second)).collect()
}

fn due_in(case: &PlanningCase, turn: u32) -> Vec<usize> {
    (0..case.actions.len()).filter(|action| turns(case).due[*action] == Some(turn)).collect()
}

#[test]
fn cases_read_back_and_survive_a_file() {
    let (mut reversed, mut orders, mut tasks, mut waits) = (0, 0, 0, 0);
    for index in 0..CASES {
        let case = case(index);
        read::verify(&case, read::Directions::shipped()).unwrap_or_else(|error| panic!("{index}: {error}"));
        let line = write_case(&case);
        assert_eq!(read_case(&line).unwrap_or_else(|error| panic!("{index}: {error}")), case, "{index}");
        assert_eq!(write_case(&self::case(index)), line, "{index}");
        for change in &turns(&case).changes {
            match change.kind {
                ChangeKind::Reversed { .. } => reversed += 1,
                ChangeKind::OrderDropped { .. } => orders += 1,
                ChangeKind::TaskDropped { .. } => tasks += 1,
            }
        }
        waits += usize::from(case.query.contains("Wait with "));
    }
    let least = (CASES / 20) as usize;
    assert!(reversed > least && orders > least / 4 && tasks > least / 4, "{reversed} {orders} {tasks}");
    assert!(waits > least, "{waits}");
}

#[test]
fn the_texts_are_these() {
    let shown: Vec<String> = (0..4)
        .map(|index| {
            let case = case(index);
            [case.query.clone(), turns(&case).later.join("\n--\n")].join("\n--\n")
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n\n==========\n\n"));
}

#[test]
fn who_does_all_that_is_due_in_any_right_order_passes() {
    for index in 0..CASES {
        let case = case(index);
        let draw = &mut Draw::new(1, index, "right");
        let calls: Vec<Vec<usize>> = (1..=turns(&case).messages())
            .map(|turn| drawn_order(draw, &due_in(&case, turn), &effective(&case)))
            .collect();
        let verdict = judged(&case, &calls);
        assert!(verdict.passed, "{index}: {:?} {:?}", verdict.class, verdict.violated);
        assert!(verdict.repair.is_empty() && verdict.first_wrong_call.is_none() && verdict.core.is_empty());
        assert_eq!(verdict.turns.len(), verdict.calls.len());
    }
}

/// What a run did wrong, found message by message: what is known after each, and what each call may rest on.
fn twin(case: &PlanningCase, calls: &[Vec<usize>], knows_changes: bool) -> BTreeSet<OrderClass> {
    let stated = turns(case);
    let mut classes = BTreeSet::new();
    let mut done: Vec<usize> = Vec::new();
    let all: Vec<usize> = calls.concat();
    for (turn, calls) in (1u32..).zip(calls) {
        for &action in calls {
            // A change is known from its message on.
            let mut binding: Vec<(usize, usize, bool)> = Vec::new();
            for constraint in &case.constraints {
                let change = stated.changes.iter().find(
                    |change| matches!(&change.kind, ChangeKind::Reversed { new, .. } if *new == constraint.id),
                );
                if change.is_some() && !knows_changes {
                    continue;
                }
                if stated.arrival(constraint) <= turn {
                    binding.push((constraint.first, constraint.second, change.is_some()));
                }
            }
            let is_again = done.contains(&action);
            match stated.due[action] {
                _ if is_again => {
                    classes.insert(OrderClass::Repeated);
                }
                None => {
                    let dropped = stated.changes.iter().any(|change| {
                        matches!(change.kind, ChangeKind::TaskDropped { action: it } if it == action)
                            && change.message <= turn
                    });
                    let class = if dropped { OrderClass::MissedCorrection } else { OrderClass::OutOfTurn };
                    if knows_changes || !dropped {
                        classes.insert(class);
                    }
                }
                Some(due) if due != turn => {
                    classes.insert(OrderClass::OutOfTurn);
                }
                Some(_) => {}
            }
            for (first, second, is_changed) in binding {
                // A task that is never done violates no order.
                let is_ever = all.contains(&first);
                if second == action && !is_again && !done.contains(&first) && is_ever {
                    classes.insert(match is_changed {
                        true => OrderClass::MissedCorrection,
                        false => OrderClass::OrderError,
                    });
                }
            }
            done.push(action);
        }
    }
    let is_lost = |action: usize| stated.due[action].is_some() && !done.contains(&action);
    if (0..case.actions.len()).any(is_lost) {
        classes.insert(OrderClass::ActionLost);
    }
    classes
}

/// The classes among the flags of a verdict.
fn flagged(verdict: &OracleVerdict) -> BTreeSet<OrderClass> {
    let class = |flag: &Flag| match flag {
        Flag::Class(class) => Some(*class),
        _ => None,
    };
    verdict.flags.iter().filter_map(class).collect()
}

/// A run that is right but for some moves of calls to other places and turns, and some repeats.
fn nearly_right(draw: &mut Draw, case: &PlanningCase) -> Vec<Vec<usize>> {
    let mut calls: Vec<Vec<usize>> = (1..=turns(case).messages())
        .map(|turn| drawn_order(draw, &due_in(case, turn), &effective(case)))
        .collect();
    for _ in 0..draw.below(4) {
        let from = draw.place(calls.len());
        if calls[from].is_empty() {
            continue;
        }
        let at = draw.place(calls[from].len());
        let action = calls[from].remove(at);
        let to = if draw.chance(1, 2) { from } else { draw.place(calls.len()) };
        let at = draw.place(calls[to].len() + 1);
        calls[to].insert(at, action);
        if draw.chance(1, 8) {
            calls[to].push(action);
        }
    }
    if let Some(dropped) = turns(case).due.iter().position(Option::is_none)
        && draw.chance(1, 3)
    {
        let to = draw.place(calls.len());
        let at = draw.place(calls[to].len() + 1);
        calls[to].insert(at, dropped);
    }
    calls
}

#[test]
#[ignore = "slow"]
fn the_oracle_agrees_with_a_walk_through_the_turns() {
    let (mut failed, mut differs) = (0, 0);
    for index in 0..CASES * 10 {
        let case = case(index % CASES);
        let calls = nearly_right(&mut Draw::new(2, index, "twin"), &case);
        let verdict = judged(&case, &calls);
        let expected = twin(&case, &calls, true);
        assert_eq!(flagged(&verdict), expected, "{index}: {calls:?}");
        assert_eq!(verdict.passed, expected.is_empty());
        assert_eq!(verdict.passed, verdict.repair.is_empty(), "{index}");
        failed += usize::from(!verdict.passed);
        // A twin that forgets changes must be caught.
        differs += usize::from(expected != twin(&case, &calls, false));
        let written = write_verdict(&case.id, &verdict);
        assert_eq!(read_verdict(&written).expect("it can be read").1, verdict);
    }
    assert!(failed > 1000 && differs > 20, "{failed} {differs}");
}

/// An agent that keeps to what the first mention of each thing said.
#[test]
fn who_forgets_changes_fails_in_that_class_alone() {
    let (mut changed, mut failed) = (0, 0);
    for index in 0..CASES {
        let case = case(index);
        let own = turns(&case);
        let draw = &mut Draw::new(3, index, "forgets");
        let is_reversal = |it: &&planproof_synth::StatedConstraint| own.change_to(&it.id).is_none();
        let mut pairs: Vec<(usize, usize)> =
            case.constraints.iter().filter(is_reversal).map(|it| (it.first, it.second)).collect();
        pairs.extend(own.replaced.iter().map(|(_, it)| (it.first, it.second)));
        let due = |action: usize| {
            own.due[action].unwrap_or_else(|| {
                let is_it = |it: &&planproof_synth::TurnChange| {
                    matches!(it.kind, ChangeKind::TaskDropped { action: dropped } if dropped == action)
                };
                own.changes.iter().find(is_it).expect("a message drops it").message
            })
        };
        let calls: Vec<Vec<usize>> = (1..=own.messages())
            .map(|turn| {
                let all: Vec<usize> = (0..case.actions.len()).filter(|action| due(*action) == turn).collect();
                drawn_order(draw, &all, &pairs)
            })
            .collect();
        let is_felt = |it: &planproof_synth::TurnChange| !matches!(it.kind, ChangeKind::OrderDropped { .. });
        let verdict = judged(&case, &calls);
        if own.changes.iter().any(is_felt) {
            changed += 1;
            failed += usize::from(verdict.class == Some(OrderClass::MissedCorrection));
        } else {
            assert!(verdict.passed, "{index}: {:?}", verdict.class);
        }
    }
    assert!(changed > 100, "{changed}");
    assert_eq!(failed, changed);
}

#[test]
fn right_plans_are_counted_turn_by_turn() {
    for index in 0..CASES {
        let case = case(index);
        let problem = case.turn_problem();
        let order = problem.order().expect("it can be satisfied");
        assert_eq!(order.count_sequences(), case.difficulty.correct_plans, "{index}");
    }
}

#[test]
fn a_turn_that_ends_early_has_no_wrong_call() {
    let case = (0..CASES).map(case).find(|case| due_in(case, 1).len() == 1).expect("there is one");
    let right: Vec<Vec<usize>> = (1..=turns(&case).messages())
        .map(|turn| drawn_order(&mut Draw::new(4, 0, "early"), &due_in(&case, turn), &effective(&case)))
        .collect();
    let mut late = right.clone();
    let action = late[0].remove(0);
    late[1].insert(0, action);
    let verdict = judged(&case, &late);
    assert_eq!((verdict.class, verdict.first_wrong_call), (Some(OrderClass::OutOfTurn), None));
    assert_eq!(verdict.core[0].as_str(), format!("{}.by", case.actions[action].id));
    // Without any later message, what was due is still judged.
    let verdict = judged(&case, &right[..1]);
    assert_eq!(verdict.class, Some(OrderClass::ActionLost));
}

#[test]
fn options_that_leave_no_room_are_refused() {
    let fault = |options| {
        let made = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped());
        made.err().map(|error: SynthesisError| error.to_string()).unwrap_or_default()
    };
    let range = |min, max| Some(MessageRange { min, max });
    let shown = [
        fault(SynthesisOptions { turns: range(1, 2), ..options() }),
        fault(SynthesisOptions { turns: range(2, 6), ..options() }),
        fault(SynthesisOptions { turns: range(3, 3), ..options() }),
        fault(SynthesisOptions { actions_max: 64, ..options() }),
        fault(SynthesisOptions { time: Some(Default::default()), ..options() }),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn files_whose_turns_contradict_their_texts_are_refused() {
    let case = (0..CASES).map(case).find(|case| !turns(case).changes.is_empty()).expect("there is one");
    let line = write_case(&case);
    let words = &turns(&case).changes[0].words;
    let swapped = |from: &str, to: &str| {
        assert!(line.contains(from), "{from}");
        read_case(&line.replacen(from, to, 1)).expect_err("it is wrong").to_string()
    };
    let faults = [
        swapped(words, "Never mind."),
        swapped("\"due\":{\"a1\":", "\"due\":{\"a1\":9,\"x\":"),
        swapped("\"changes\":[{\"message\":", "\"changes\":[{\"message\":7"),
        swapped("\"messages\":[{\"start\":0", "\"messages\":[{\"start\":1"),
    ];
    insta::assert_snapshot!(faults.join("\n"));
}
