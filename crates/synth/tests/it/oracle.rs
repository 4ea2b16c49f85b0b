use planproof_synth::{
    ActionId, ConstraintId, Draw, Flag, JudgeOptions, NoVerdict, OracleVerdict, OrderClass, PlanningCase,
    judge,
};
use planproof_trace::{Event, notation};

use crate::case;

/// A case over `a1`..`a4` with `a1` before `a2` before `a3` and `a4` free but mentioned, made from a drawn one so
/// that every field is filled.
fn chain() -> PlanningCase {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/chain_case.json"))
        .expect("the case is there");
    planproof_synth::file::read_case(&text).expect("the case is good")
}

fn events(line: &str) -> Vec<Event> {
    notation::parse(line).expect("the notation is right")
}

fn judged(line: &str) -> OracleVerdict {
    judge(&chain(), &events(line), JudgeOptions::default()).expect("the run is scored")
}

/// Class, flags, violated and undetermined ids in one line.
fn check_verdict(line: &str) -> String {
    let verdict = judged(line);
    let flags: Vec<&str> = verdict.flags.iter().map(|flag| flag.as_str()).collect();
    let violated: Vec<&str> = verdict.violated.iter().map(|violated| violated.id.as_str()).collect();
    let undetermined: Vec<&str> = verdict.undetermined.iter().map(ConstraintId::as_str).collect();
    format!(
        "{} [{}] violated [{}] undetermined [{}]",
        verdict.class.map_or("passed", OrderClass::as_str),
        flags.join(" "),
        violated.join(" "),
        undetermined.join(" ")
    )
}

const ALL_RIGHT: &str =
    "call feed_mixing {} | ok \"d\" | call egg_collection {} | ok \"d\" | call barn_inspection {} | ok \"d\"";

/// A call that a model wrote as text.
const WRITTEN: &str = r#"answer "```json\n{\"name\": \"egg_collection\", \"arguments\": {}}\n```""#;

#[test]
fn a_call_as_text_is_shown() {
    let verdict = judged(&format!("call feed_mixing {{}} | ok \"d\" | {WRITTEN}"));
    assert!(verdict.answer.is_some_and(|text| text.starts_with("```json")));
}

#[test]
fn classes_come_in_their_order() {
    let right = |end: &str| format!("{ALL_RIGHT} | {end}");
    for (line, expected) in [
        (right("answer \"done\""), "passed [] violated [] undetermined []"),
        (right("limit iterations 50"), "timeout [timeout] violated [] undetermined []"),
        (right("limit reply_tokens 4096"), "reply_limit [reply_limit] violated [] undetermined []"),
        // A call as text explains what is missing. With everything done it is just text.
        (right(WRITTEN), "passed [] violated [] undetermined []"),
        (
            format!("call feed_mixing {{}} | ok \"d\" | {WRITTEN}"),
            "unparsed_call [unparsed_call action_lost] violated [] undetermined [c1 c2]",
        ),
        (
            format!("call egg_collection {{}} | ok \"d\" | call feed_mixing {{}} | ok \"d\" | call barn_inspection {{}} | ok \"d\" | {WRITTEN}"),
            "order_error [order_error] violated [c1] undetermined []",
        ),
        (right("failed \"exit status 3\""), "act_error [act_error agent_failed] violated [] undetermined []"),
        (
            "call egg_collection {} | ok \"d\" | call feed_mixing {} | ok \"d\" | call barn_inspection {} | ok \"d\" | answer \"\"".into(),
            "order_error [order_error] violated [c1] undetermined []",
        ),
        (
            "call feed_mixing {} | ok \"d\" | call barn_inspection {} | ok \"d\" | answer \"\"".into(),
            "action_lost [action_lost] violated [] undetermined [c1 c2]",
        ),
        (
            "call feed_mixing {} | ok \"d\" | call nonsense {} | err \"no\" | call barn_inspection {} | ok \"d\" | answer \"\"".into(),
            "act_error [act_error action_lost] violated [] undetermined [c1 c2]",
        ),
        (
            // Refused for its arguments, but right later; another action is missing, which that does not explain.
            "call feed_mixing {\"x\":1} | err \"no\" | call feed_mixing {} | ok \"d\" | call egg_collection {} | ok \"d\" | answer \"\"".into(),
            "action_lost [act_error action_lost] violated [] undetermined [c2]",
        ),
        (
            format!("call nonsense {{}} | err \"no\" | {ALL_RIGHT} | answer \"\""),
            "passed [act_error] violated [] undetermined []",
        ),
        (
            // Held back, which is not a mistake by itself.
            format!("call barn_inspection {{}} | denied \"no\" | {ALL_RIGHT} | answer \"\""),
            "passed [denied] violated [] undetermined []",
        ),
        (
            "call barn_inspection {} | denied \"no\" | call feed_mixing {} | ok \"d\" | call egg_collection {} | ok \"d\" | answer \"\"".into(),
            "action_lost [action_lost denied] violated [] undetermined [c2]",
        ),
        (
            format!("{ALL_RIGHT} | call feed_mixing {{}} | ok \"d\" | answer \"\""),
            "repeated [repeated] violated [] undetermined []",
        ),
        (
            format!("{ALL_RIGHT} | call roof_painting {{}} | ok \"d\" | answer \"\""),
            "distractor [distractor] violated [] undetermined []",
        ),
        (
            "call egg_collection {} #x | call feed_mixing {} #y | ok #y \"d\" | ok #x \"d\" | call barn_inspection {} | ok \"d\" | answer \"\"".into(),
            "order_error [order_error concurrent] violated [c1] undetermined []",
        ),
        (
            // Two calls share an id while both are open: neither is lost.
            "call feed_mixing {} #x | call egg_collection {} #x | ok #x \"d\" | ok #x \"d\" | call barn_inspection {} | ok \"d\" | answer \"\"".into(),
            "order_error [order_error concurrent] violated [c1] undetermined []",
        ),
        (
            // One after the other it is not a mistake.
            "call feed_mixing {} #x | ok #x \"d\" | call egg_collection {} #x | ok #x \"d\" | call barn_inspection {} #x | ok #x \"d\" | answer \"\"".into(),
            "passed [] violated [] undetermined []",
        ),
        (
            // An unanswered call was not executed.
            "call feed_mixing {} | limit wall_ms 180000".into(),
            "timeout [timeout action_lost] violated [] undetermined [c1 c2]",
        ),
    ] {
        assert_eq!(check_verdict(&line), expected, "{line}");
    }
}

/// If each place compared all calls with all others, this would take minutes.
#[test]
fn very_many_overlapping_calls_are_judged() {
    let calls: String = (0..5000).map(|call| format!("call feed_mixing {{}} #x{call} | ")).collect();
    let results: String = (0..5000).map(|call| format!("ok #x{call} \"d\" | ")).collect();
    let verdict = judged(&format!("{calls}{results}answer \"\""));
    assert_eq!(verdict.calls.len(), 5000);
    assert!(verdict.flags.contains(&Flag::Concurrent));
}

/// All calls of [`ALL_RIGHT`] at once, as several frameworks make the calls of one reply: in any order, overlapping.
const AT_ONCE: [&str; 3] = [
    "call feed_mixing {} #x | call egg_collection {} #y | call barn_inspection {} #z | ok #z | ok #x | ok #y",
    "call barn_inspection {} #z | call egg_collection {} #y | ok #y | call feed_mixing {} #x | ok #x | ok #z",
    "call barn_inspection {} #z | ok #z | call egg_collection {} #y | ok #y | call feed_mixing {} #x | ok #x",
];

#[test]
fn calls_of_one_reply_are_judged_as_they_were_written() {
    let strict = JudgeOptions { at_once_fails: true, ..JudgeOptions::default() };
    let words = |verdict: &OracleVerdict| {
        let flags: Vec<&str> = verdict.flags.iter().map(|flag| flag.as_str()).collect();
        let calls: Vec<&str> = verdict.calls.iter().map(ActionId::as_str).collect();
        let violated: Vec<&str> = verdict.violated.iter().map(|violated| violated.id.as_str()).collect();
        let class = verdict.class.map_or("passed", OrderClass::as_str);
        format!("{class} [{}] {} [{}]", flags.join(" "), calls.join(" "), violated.join(" "))
    };
    for (batch, expected, strictly) in [
        (
            "batch #x #y #z",
            "passed [at_once] a1 a2 a3 []",
            "order_error [order_error at_once] a1 a2 a3 [c1 c2]",
        ),
        (
            "batch #z #y #x",
            "order_error [order_error] a3 a2 a1 [c1 c2]",
            "order_error [order_error] a3 a2 a1 [c1 c2]",
        ),
    ] {
        for run in &AT_ONCE {
            let events = events(&format!("{batch} | {run} | answer \"\""));
            let judged = |options| words(&judge(&chain(), &events, options).expect("the run is scored"));
            assert_eq!(judged(JudgeOptions::default()), expected, "{batch} {run}");
            assert_eq!(judged(strict), strictly, "{batch} {run}");
        }
    }
    // Calls of several replies come one after the other, whatever is asked for.
    let apart = events(&format!("batch #c1 #c9 | {ALL_RIGHT} | answer \"\""));
    let verdict = judge(&chain(), &apart, strict).expect("the run is scored");
    assert_eq!(words(&verdict), "passed [] a1 a2 a3 []");
}

#[test]
fn which_of_the_overlapping_calls_began_first_only_shows() {
    let verdict = |run: &str| judged(&format!("{run} | answer \"\""));
    let first = verdict(AT_ONCE[0]);
    assert!(first.flags.contains(&Flag::Concurrent) && first.class == Some(OrderClass::OrderError));
    for (other, calls) in [
        (
            "call barn_inspection {} #z | call feed_mixing {} #x | call egg_collection {} #y | ok #x | ok #y | ok #z",
            ["a3", "a1", "a2"],
        ),
        (
            "call egg_collection {} #y | call barn_inspection {} #z | call feed_mixing {} #x | ok #y | ok #z | ok #x",
            ["a2", "a3", "a1"],
        ),
    ] {
        let other = verdict(other);
        assert_eq!(other.calls.iter().map(ActionId::as_str).collect::<Vec<_>>(), calls);
        assert_eq!((other.first_wrong_call, &other.core, &other.repair), (None, &vec![], &vec![]));
        let rest = |verdict: &OracleVerdict| (verdict.class, verdict.flags.clone(), verdict.violated.clone());
        assert_eq!(rest(&other), rest(&first));
    }
}

#[test]
fn what_was_denied_is_in_the_order_of_the_calls() {
    let verdict = judged(&format!(
        "call barn_inspection {{}} #x | call egg_collection {{}} #y | denied #y \"later\" | denied #x \"no\" | {ALL_RIGHT} | answer \"\""
    ));
    let denied: Vec<&str> = verdict.denied.iter().map(|it| it.tool.as_str()).collect();
    assert_eq!(denied, ["barn_inspection", "egg_collection"]);
    assert_eq!(verdict.calls.len(), 3);
}

#[test]
fn options_let_repeats_and_distractors_pass() {
    let line = format!(
        "{ALL_RIGHT} | call feed_mixing {{}} | ok \"d\" | call roof_painting {{}} | ok \"d\" | answer \"\""
    );
    let lenient = JudgeOptions { repeated_fails: false, distractor_fails: false, ..JudgeOptions::default() };
    let verdict = judge(&chain(), &events(&line), lenient).expect("the run is scored");
    assert!(verdict.passed);
    assert!(verdict.flags.contains(&Flag::Class(OrderClass::Repeated)));
}

#[test]
fn what_failed_outside_is_unscored() {
    let unscored = judge(&chain(), &events("unscored \"no model\""), JudgeOptions::default());
    assert_eq!(unscored, Err(NoVerdict::Outside { reason: "no model".into() }));
    let cut_off = judge(&chain(), &events("call feed_mixing {} | ok \"d\""), JudgeOptions::default());
    assert_eq!(cut_off, Err(NoVerdict::CutOff));
    assert_eq!(judge(&chain(), &[], JudgeOptions::default()), Err(NoVerdict::CutOff));
}

#[test]
fn a_wrong_plan_is_explained() {
    let verdict = judged(
        "call barn_inspection {} | ok \"d\" | call feed_mixing {} | ok \"d\" | call egg_collection {} | ok \"d\" | answer \"\"",
    );
    assert_eq!(verdict.first_wrong_call, Some(0));
    assert_eq!(verdict.core.iter().map(ConstraintId::as_str).collect::<Vec<_>>(), ["c2"]);
    assert_eq!(verdict.violated[0].words, "Barn inspection follows egg collection");
    assert_eq!(verdict.repair.iter().map(ActionId::as_str).collect::<Vec<_>>(), ["a1", "a2", "a3"]);
    assert_eq!(verdict.correct_next[0].iter().map(ActionId::as_str).collect::<Vec<_>>(), ["a1"]);
    assert!(verdict.correct_next[1].is_empty());
}

/// The twin: plain loops over positions, on random plans of random cases.
#[test]
fn verdicts_agree_with_a_plain_recount() {
    let mut draw = Draw::new(42, 0, "test/plans");
    for index in 0..1500 {
        let case = case(3..=7, index);
        let mut plan: Vec<usize> = (0..case.actions.len()).collect();
        draw.shuffle(&mut plan);
        if draw.chance(1, 4) {
            plan.pop();
        }
        if draw.chance(1, 4) {
            plan.push(plan[0]);
        }
        let calls: Vec<String> =
            plan.iter().map(|&place| format!("call {} {{}} | ok \"d\"", case.actions[place].tool)).collect();
        let line = format!("{} | answer \"\"", calls.join(" | "));
        let verdict = judge(&case, &events(&line), JudgeOptions::default()).expect("the run is scored");

        let position = |action: usize| plan.iter().position(|&called| called == action);
        let lost = (0..case.actions.len()).any(|action| position(action).is_none());
        let mut violated = Vec::new();
        for stated in &case.constraints {
            if let (Some(first), Some(second)) = (position(stated.first), position(stated.second))
                && first > second
            {
                violated.push(stated.id.clone());
            }
        }
        let mut distinct = plan.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let class = if lost {
            Some(OrderClass::ActionLost)
        } else if !violated.is_empty() {
            Some(OrderClass::OrderError)
        } else if distinct.len() < plan.len() {
            Some(OrderClass::Repeated)
        } else {
            None
        };
        assert_eq!(verdict.class, class, "{line}");
        assert_eq!(verdict.violated.iter().map(|v| v.id.clone()).collect::<Vec<_>>(), violated, "{line}");
        assert_eq!(verdict.repair.is_empty(), verdict.passed, "{line}");
    }
}
