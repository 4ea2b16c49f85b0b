use std::collections::BTreeSet;

use planproof_synth::file::{read_case, read_verdict, write_case, write_verdict};
use planproof_synth::{
    Draw, InfeasibleShare, JudgeOptions, PlanningCase, SynthesisOptions, TimeOptions, judge,
};
use planproof_trace::notation;

use crate::{case, synthesise, time_case};

#[test]
fn a_case_survives_the_file() {
    for index in 0..300 {
        let case = case(2..=24, index);
        let line = write_case(&case);
        assert!(!line.contains('\n'));
        let back = read_case(&line).expect("what was written can be read");
        assert_eq!(back, case);
    }
}

#[test]
fn what_is_wrong_in_bad_case_files_is_reported() {
    let good = include_str!("../../testdata/chain_case.json").trim();
    assert!(read_case(good).is_ok());
    for (from, to, part) in [
        ("{", "[", "not a planproof/case/v1 document"),
        ("case/v1", "case/v9", "schema is \"planproof/case/v9\""),
        ("\"topic\":", "\"topics\":", "unknown field `topics`"),
        ("\"kind\":\"before\"", "\"kind\":\"meets\"", "unknown variant `meets`"),
        ("\"kind\":\"before\"", "\"kind\":\"ends_by\"", "\"c1\" with a clock time has `action` and `minute`"),
        ("\"second\":\"a3\",", "", "\"c2\" of kind \"before\" has `first` and `second`"),
        ("\"id\":\"a2\"", "\"id\":\"a1\"", "\"a1\" is used twice"),
        ("\"id\":\"c2\"", "\"id\":\"c1\"", "\"c1\" is used twice"),
        ("\"second\":\"a3\"", "\"second\":\"a9\"", "\"c2\" names action \"a9\""),
        ("\"second\":\"a3\"", "\"second\":\"a1\"", "c1, c2 form a cycle"),
        ("\"end\":75", "\"end\":99", "37..99; the paragraph has 76 characters"),
        (
            "\"correct_plans\":\"1\"",
            "\"correct_plans\":\"2\"",
            "\"correct_plans\":\"2\",\"bits\":2.584963}, but",
        ),
        ("\"bits\":2.5", "\"bits\":3.5", "make it"),
        ("\"tool\":\"feed_mixing\"", "\"tool\":\"feed\"", "names tool \"feed\""),
        ("\"name\":\"roof_painting\"", "\"name\":\"feed_mixing\"", "two tools have the same name"),
        (
            "Do these.\\n\\nFeed mixing precedes",
            "Do these.\\n\\nFeed mixing follows",
            "query does not contain its paragraph",
        ),
        ("\"options\":{\"actions\":3", "\"options\":{\"actions\":4", "options.actions is 4"),
        ("\"feasible\":true", "\"feasible\":false", "has a `conflict` if it is not `feasible`"),
        ("\"feasible\":true", "\"feasible\":false,\"conflict\":[1,2]", "its constraints can all hold"),
        ("\"seed\":\"0\"", "\"seed\":\"x\"", "seed \"x\""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let message = read_case(&bad).expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    }
    assert!(read_case("").is_err());
    assert!(read_case(&good[..good.len() / 2]).is_err());
}

/// Calls in the one-line notation, mostly wrong in one way or another: any of the tools, or one that is not there,
/// with a start in the time form, refused, denied and overlapping, and each of the ends that there are.
fn wrong_run(case: &PlanningCase, draw: &mut Draw) -> String {
    let mut line = String::new();
    for number in 0..draw.below(2 * case.tools.len() as u32) {
        let tool = draw.below(case.tools.len() as u32 + 1) as usize;
        let name = case.tools.get(tool).map_or("no_such_tool", |tool| &tool.name);
        let arguments = if case.is_report(name) {
            let numbers: Vec<u32> = (1..=1 + draw.below(4)).collect();
            format!("{{\"sentences\":{numbers:?}}}")
        } else if case.time.is_some() && !case.is_restart(name) {
            let (hour, minute) = (7 + number + draw.below(3), draw.below(66));
            format!("{{\"start_time\":\"{hour:02}:{minute:02}\"}}")
        } else {
            "{}".to_owned()
        };
        let answer = match draw.below(10) {
            0 => "err \"it \\\"failed\\\"\\n\"",
            1 => "denied \"not so\"",
            2 => "ok \"\" | call no_such_tool {} | err \"no\"",
            _ => "ok \"done\"",
        };
        line += &format!("call {name} {arguments} | {answer} | ");
    }
    line + match draw.below(5) {
        0 => "limit iterations 50",
        1 => "failed \"exit status: 3\\nwith a line\"",
        2 => "answer \"\"",
        _ => "answer \"I have done Ünser Bestes.\"",
    }
}

#[test]
fn a_verdict_survives_the_file() {
    let draw = &mut Draw::new(5, 0, "test/verdicts");
    let time = Some(TimeOptions::default());
    let infeasible = InfeasibleShare::new(0.5);
    let (mut classes, mut faults, mut answers) = (BTreeSet::new(), BTreeSet::new(), 0);
    for options in [
        SynthesisOptions::default(),
        SynthesisOptions { time, ..SynthesisOptions::default() },
        SynthesisOptions { infeasible, ..SynthesisOptions::default() },
        SynthesisOptions { infeasible, time, ..SynthesisOptions::default() },
    ] {
        for index in 0..150 {
            let case = synthesise(options.clone(), 7, index);
            let events = notation::parse(&wrong_run(&case, draw)).expect("the notation is right");
            let verdict = judge(&case, &events, JudgeOptions::default()).expect("the run is scored");
            let line = write_verdict(&case.id, &verdict);
            assert!(!line.contains('\n'));
            let back = read_verdict(&line).expect("what was written can be read");
            assert_eq!(back, (case.id.clone(), verdict.clone()), "{line}");
            classes.insert(verdict.class);
            answers += u32::from(verdict.answer.is_some());
            let errors = verdict.time.iter().flat_map(|time| &time.parameter_errors);
            faults.extend(errors.map(|error| error.fault.as_str()));
        }
    }
    assert!(classes.len() >= 8, "{classes:?}");
    assert_eq!(faults.into_iter().collect::<Vec<_>>(), ["before_day", "no_clock_time", "overlap"]);
    assert!(answers > 0);
}

#[test]
fn what_was_held_back_is_now_denied() {
    let case = synthesise(SynthesisOptions::default(), 7, 1);
    let line = format!("call {} {{}} | denied \"not so\" | answer \"\"", case.actions[0].tool);
    let events = notation::parse(&line).expect("the notation is right");
    let verdict = judge(&case, &events, JudgeOptions::default()).expect("the run is scored");
    let now = write_verdict(&case.id, &verdict);
    let before = now.replace("\"denied\"", "\"held_back\"");
    assert!(before.contains("\"flags\":[\"action_lost\",\"held_back\"]"), "{before}");
    assert!(before.contains("\"held_back\":[{"), "{before}");
    assert_eq!(read_verdict(&before).expect("an older one"), (case.id.clone(), verdict));
}

#[test]
fn what_is_wrong_in_bad_verdict_files_is_reported() {
    let case = time_case(3..=3, 0);
    let call = |place: usize, time: &str| {
        format!("call {} {{\"start_time\":\"{time}\"}} | ok \"d\"", case.actions[place].tool)
    };
    let line = format!("{} | {} | answer \"\"", call(0, "09:00"), call(1, "09:01"));
    let events = notation::parse(&line).expect("the notation is right");
    let verdict = judge(&case, &events, JudgeOptions::default()).expect("the run is scored");
    let good = write_verdict("farm", &verdict);
    assert!(read_verdict(&good).is_ok());
    assert!(!good.contains("\"answer\""), "{good}");
    let until = good.find(",\"until\"").expect("the calls overlap");
    let until = &good[until..until + ",\"until\":\"10:00\"".len()];
    for (from, to, part) in [
        ("{", "[", "not a planproof/verdict/v1 document"),
        ("verdict/v1", "verdict/v9", "schema is \"planproof/verdict/v9\""),
        ("\"case\":", "\"cases\":", "unknown field `cases`"),
        ("\"passed\":false", "\"passed\":true", "has a `class` if it is not `passed`"),
        ("\"class\":\"", "\"class\":\"very_", "there is no class \"very_"),
        ("\"flags\":[\"", "\"flags\":[\"very_", "there is no flag \"very_"),
        (until, "", "has no `until`"),
        ("\"overlap\"", "\"before_day\"", "\"before_day\" has `until`"),
        ("\"overlap\"", "\"other\"", "there is no fault \"other\""),
        ("\"09:01\"]", "\"9.01\"]", "\"9.01\" is no clock time"),
        ("\"09:00\",\"09:01\"]", "\"09:00\"]", "not as many start times as calls"),
        ("\"first_wrong_call\":", "\"first_wrong_call\":9", "first_wrong_call is none of its 2 calls"),
        (",\"decided\":true", "", "all fields of the time form or none"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let message = read_verdict(&bad).expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    }
    assert!(read_verdict("").is_err());
    assert!(read_verdict(&good[..good.len() / 2]).is_err());
}
