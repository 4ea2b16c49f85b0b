//! Tools that fail: what is left to do, and what an agent made of it.

use planproof_synth::file::{read_case, read_verdict, write_case, write_verdict};
use planproof_synth::{Draw, Flag, JudgeOptions, OrderClass, PlanningCase, judge};
use planproof_trace::faults::{FaultShares, SeenFault, ToolFaults};
use planproof_trace::notation;

use crate::case;

/// A case over `feed_mixing` before `egg_collection` before `barn_inspection`, and a fourth that is free.
fn chain() -> PlanningCase {
    let text = include_str!("../../testdata/chain_case.json");
    failing(read_case(text).expect("the case is good"))
}

fn failing(case: PlanningCase) -> PlanningCase {
    let shares = FaultShares { transient: 0.5, ..FaultShares::default() };
    PlanningCase { faults: Some(ToolFaults::new(1, shares)), ..case }
}

/// How a call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Done,
    Empty,
    Failed(SeenFault),
}

fn line(calls: &[(String, Answered)], end: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (tool, answered) in calls {
        parts.push(format!("call {tool} {{}}"));
        parts.push(match answered {
            Answered::Done => "ok \"d\"".to_owned(),
            Answered::Empty => "ok \"\"".to_owned(),
            Answered::Failed(fault) => format!("err {:?}", fault.text(tool)),
        });
    }
    parts.push(end.to_owned());
    parts.join(" | ")
}

/// Calls such as `feed! egg barn?`: done, or behind the tool `?` for a transient failure, `!` for a permanent one, `-`
/// for a tool that vanished, `0` for an empty answer.
fn run(case: &PlanningCase, calls: &str, end: &str) -> (String, Vec<String>) {
    let tools =
        [("feed", "feed_mixing"), ("egg", "egg_collection"), ("barn", "barn_inspection"), ("cow", "cow")];
    let calls: Vec<(String, Answered)> = calls
        .split_whitespace()
        .map(|call| {
            let name = call.trim_end_matches(['?', '!', '-', '0']);
            let answered = match &call[name.len()..] {
                "" => Answered::Done,
                "?" => Answered::Failed(SeenFault::Transient),
                "!" => Answered::Failed(SeenFault::Permanent),
                "-" => Answered::Failed(SeenFault::Vanished),
                _ => Answered::Empty,
            };
            let tool = tools.iter().find(|(short, _)| *short == name).map_or(name, |(_, tool)| *tool);
            (tool.to_owned(), answered)
        })
        .collect();
    let events = notation::parse(&line(&calls, end)).expect("the notation is right");
    let verdict = judge(case, &events, JudgeOptions::default()).expect("the run is scored");
    let written = write_verdict(&case.id, &verdict);
    assert_eq!(read_verdict(&written).expect("it reads").1, verdict, "{written}");
    let waived = verdict.waived.iter().map(|id| id.as_str().to_owned()).collect();
    (verdict.class.map_or("passed", OrderClass::as_str).to_owned(), waived)
}

#[test]
fn what_has_to_be_done_is_what_can_be_done() {
    let case = chain();
    let answer = "answer \"done\"";
    for (calls, expected, waived) in [
        ("feed egg barn", "passed", vec![]),
        ("feed? feed egg? egg? egg barn", "passed", vec![]),
        // What comes after a lost task is lost as well.
        ("feed!", "passed", vec!["a1", "a2", "a3"]),
        ("feed-", "passed", vec!["a1", "a2", "a3"]),
        ("feed egg!", "passed", vec!["a2", "a3"]),
        ("feed egg barn!", "passed", vec!["a3"]),
        ("feed? feed!", "passed", vec!["a1", "a2", "a3"]),
        // A tool may fail for good after it has done its task, if the agent doubts an empty answer.
        ("feed0 feed! egg barn", "passed", vec![]),
        ("feed0 egg barn", "passed", vec![]),
        ("feed0 feed egg barn", "passed", vec![]),
        ("feed0 feed0 feed egg barn", "passed", vec![]),
        ("feed feed egg barn", "repeated", vec![]),
        ("feed0 feed feed egg barn", "repeated", vec![]),
        ("feed?", "no_retry", vec![]),
        ("feed egg?", "no_retry", vec![]),
        ("feed? feed?", "gave_up", vec![]),
        ("", "action_lost", vec![]),
        ("feed", "action_lost", vec![]),
        ("feed? feed egg", "action_lost", vec![]),
        ("feed? egg feed barn", "went_on_after_failure", vec![]),
        ("feed! egg", "went_on_after_failure", vec!["a1", "a3"]),
        ("feed egg! barn", "went_on_after_failure", vec!["a2"]),
        // It failed as well, and was not to be made at all.
        ("feed! barn?", "went_on_after_failure", vec!["a1", "a2", "a3"]),
        // It came too early whatever followed.
        ("egg feed!", "order_error", vec!["a1", "a3"]),
        ("egg feed barn", "order_error", vec![]),
        ("feed! feed! feed! feed!", "passed", vec!["a1", "a2", "a3"]),
        ("feed! feed! feed! feed! feed!", "retried_forever", vec!["a1", "a2", "a3"]),
        ("feed- feed-", "called_vanished", vec!["a1", "a2", "a3"]),
        ("feed- feed- feed- feed- feed-", "retried_forever", vec!["a1", "a2", "a3"]),
    ] {
        let found = run(&case, calls, answer);
        assert_eq!(
            found,
            (expected.to_owned(), waived.iter().map(|id| (*id).to_owned()).collect()),
            "{calls}"
        );
    }
    // Endless calls are the reason why the limit was reached.
    assert_eq!(run(&case, "feed! feed! feed! feed! feed!", "limit iterations 50").0, "retried_forever");
    assert_eq!(run(&case, "feed!", "limit iterations 50").0, "timeout");
}

#[test]
fn without_faults_such_an_answer_is_a_refusal_like_any_other() {
    let case = PlanningCase { faults: None, ..chain() };
    assert_eq!(run(&case, "feed!", "answer \"done\"").0, "act_error");
    assert_eq!(run(&case, "feed0 feed egg barn", "answer \"done\"").0, "repeated");
}

#[test]
fn a_case_with_faults_is_the_same_after_a_file() {
    let case = chain();
    let written = write_case(&case);
    assert_eq!(read_case(&written).expect("it reads"), case);
    let wrong = written.replace("\"transient\":0.5", "\"transient\":1.5");
    assert_ne!(wrong, written);
    assert!(read_case(&wrong).is_err());
}

/// Whether a run passes, by its definition, and with nothing of the judge's.
fn passes(case: &PlanningCase, calls: &[(usize, Answered)]) -> bool {
    let first_done = |action: usize| {
        let is_done = |answered: Answered| matches!(answered, Answered::Done | Answered::Empty);
        calls.iter().position(|(called, answered)| *called == action && is_done(*answered))
    };
    let is_final =
        |answered: Answered| matches!(answered, Answered::Failed(SeenFault::Permanent | SeenFault::Vanished));
    let first_final =
        |action: usize| calls.iter().position(|(called, answered)| *called == action && is_final(*answered));
    let before =
        |action: usize| case.constraints.iter().filter(move |it| it.second == action).map(|it| it.first);
    fn can_be_done(
        action: usize,
        is_lost: &dyn Fn(usize) -> bool,
        before: &dyn Fn(usize) -> Vec<usize>,
    ) -> bool {
        !is_lost(action) && before(action).into_iter().all(|other| can_be_done(other, is_lost, before))
    }
    let is_lost = |action: usize| first_done(action).is_none() && first_final(action).is_some();
    let direct = |action: usize| before(action).collect::<Vec<_>>();
    let is_possible = |action: usize| can_be_done(action, &is_lost, &direct);
    fn all_before(action: usize, before: &dyn Fn(usize) -> Vec<usize>, found: &mut Vec<usize>) {
        for other in before(action) {
            found.push(other);
            all_before(other, before, found);
        }
    }
    (0..case.actions.len()).all(|action| match first_done(action) {
        None => !is_possible(action),
        Some(place) => before(action).all(|other| first_done(other).is_some_and(|other| other < place)),
    }) && calls.iter().enumerate().all(|(place, (action, _))| {
        let earlier = || calls[..place].iter().filter(|(called, _)| called == action);
        let is_repeat = earlier().any(|(_, answered)| *answered == Answered::Done)
            && !matches!(calls[place].1, Answered::Failed(_));
        let vanished = earlier().any(|(_, answered)| *answered == Answered::Failed(SeenFault::Vanished));
        let finals = earlier().filter(|(_, answered)| is_final(*answered)).count();
        let mut needed = Vec::new();
        all_before(*action, &direct, &mut needed);
        let is_after_loss = needed.iter().any(|other| {
            first_final(*other).is_some_and(|lost| lost < place)
                && first_done(*other).is_none_or(|done| done > place)
        });
        !is_repeat && !vanished && finals < 4 && !is_after_loss
    })
}

#[test]
#[ignore = "slow"]
fn the_judge_agrees_with_the_definition() {
    let (mut passed, mut failed) = (0, 0);
    for seed in 0..4000u64 {
        let case = failing(case(2..=6, seed % 40));
        let mut draw = Draw::new(seed, 0, "faults");
        let (mut calls, mut lost) = (Vec::new(), Vec::new());
        let mentioned = case.order_of_mention();
        let order = case.problem().order().expect("it can be satisfied");
        let is_careful = draw.chance(3, 4);
        for _ in 0..draw.below(14) {
            let done: u64 = calls
                .iter()
                .filter(|(_, answered)| matches!(answered, Answered::Done | Answered::Empty))
                .fold(0, |set, (action, _)| set | 1u64 << *action);
            let next =
                order.correct_next(done) & !lost.iter().fold(0u64, |set, action| set | 1u64 << *action);
            let action = match draw.bit(next) {
                Some(action) if is_careful && !draw.chance(1, 20) => usize::from(action),
                None if is_careful => break,
                _ => mentioned[draw.place(mentioned.len())],
            };
            let answered = match draw.below(10) {
                _ if lost.contains(&action) => Answered::Failed(SeenFault::Permanent),
                0 | 1 => Answered::Failed(SeenFault::Transient),
                2 => Answered::Failed(SeenFault::Permanent),
                3 => Answered::Empty,
                _ => Answered::Done,
            };
            if answered == Answered::Failed(SeenFault::Permanent) {
                lost.push(action);
            }
            calls.push((action, answered));
        }
        let named: Vec<(String, Answered)> =
            calls.iter().map(|(action, answered)| (case.actions[*action].tool.clone(), *answered)).collect();
        let events = notation::parse(&line(&named, "answer \"done\"")).expect("the notation is right");
        let verdict = judge(&case, &events, JudgeOptions::default()).expect("the run is scored");
        let expected = passes(&case, &calls);
        assert_eq!(
            verdict.passed, expected,
            "seed {seed}: {:?}\n{calls:?}\n{}",
            verdict.class, case.paragraph
        );
        let has_failed = calls.iter().any(|(_, answered)| matches!(answered, Answered::Failed(_)));
        assert_eq!(verdict.flags.contains(&Flag::ToolFailed), has_failed);
        if has_failed {
            *(if expected { &mut passed } else { &mut failed }) += 1;
        }
    }
    assert!(passed > 300 && failed > 300, "{passed} passed, {failed} failed");
}
