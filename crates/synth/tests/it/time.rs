//! Cases of the time form: synthesis, reading back, files.

use std::collections::BTreeSet;

use planproof_synth::file::{read_case, write_case};
use planproof_synth::read::{Directions, ReadError, VerifyError, read, verify};
use planproof_synth::{
    Bound, Day, PlanningCase, RESTART_TOOL, SynthesisCounts, SynthesisOptions, Synthesizer, TimeOptions,
    TopicBank, Wordings,
};

use crate::{synthesise, time_case};

fn options(actions_min: u32, actions_max: u32) -> SynthesisOptions {
    SynthesisOptions {
        actions_min,
        actions_max,
        time: Some(TimeOptions::default()),
        ..SynthesisOptions::default()
    }
}

/// As for the basic form: the same bytes for ever.
#[test]
fn golden_time_cases_never_change() {
    let mut lines = String::new();
    for index in 0..10 {
        lines += &write_case(&time_case(3..=8, index));
        lines.push('\n');
    }
    let wide = SynthesisOptions { relative_depth: 2, distractors: 3, ..options(24, 24) };
    lines += &write_case(&synthesise(wide, 1, 0));
    lines.push('\n');
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/golden_time_cases.jsonl");
    if std::env::var_os("PLANPROOF_WRITE_GOLDEN").is_some() {
        std::fs::write(golden, &lines).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(golden).expect("the golden file is there");
    assert!(lines == expected, "synthesis has changed; cases of old seeds would not be found again");
}

#[test]
fn every_time_case_reads_back_in_one_way() {
    let shapes = [(3, 5, 1, 1000), (2, 2, 3, 100), (6, 12, 3, 100), (20, 24, 2, 8), (64, 64, 1, 2)];
    for (actions_min, actions_max, relative_depth, count) in shapes {
        for index in 0..count {
            let options = SynthesisOptions { relative_depth, ..options(actions_min, actions_max) };
            let case = synthesise(options, 11, index);
            if let Err(error) = verify(&case, Directions::shipped()) {
                panic!("{} ({actions_min}..{actions_max}): {error}\n{}", case.id, case.paragraph);
            }
        }
    }
}

#[test]
fn every_time_case_is_feasible_and_names_a_clock_time() {
    for index in 0..400 {
        let case = time_case(2..=9, index);
        let time = case.time.as_ref().expect("it is of the time form");
        assert!(!time.bounds.is_empty(), "{}", case.paragraph);
        let problem = case.timed_problem().expect("it is of the time form");
        let schedule = problem.timetable().first_schedule().expect("it is small").expect("it is feasible");
        assert_eq!(schedule.len(), case.actions.len());
        assert!(
            problem.check(&schedule).iter().all(|status| *status == planproof_constraint::Status::Satisfied)
        );
        // What is hidden does not stand in the query.
        for (action, duration) in case.actions.iter().zip(&time.durations) {
            assert!(case.mock_answer(&action.tool).ends_with(&format!("It took {duration} minutes.")));
            assert!(!case.query.contains(&format!("{duration} min")), "{}", case.query);
        }
        assert!(case.query.contains("from 08:00 to 20:00") && case.query.contains(RESTART_TOOL));
        assert_eq!(case.tools.len(), case.actions.len() + 1);
        assert!(case.is_restart(RESTART_TOOL) && case.tool(RESTART_TOOL).is_some());
    }
}

/// Neither form sees the other one's options or draws.
#[test]
fn the_basic_form_knows_nothing_of_time() {
    let basic = crate::case(3..=5, 3);
    assert!(basic.time.is_none() && basic.timed_problem().is_none() && !basic.is_restart(RESTART_TOOL));
    let file = write_case(&basic);
    assert!(!file.contains("durations") && !file.contains("\"day\"") && !file.contains("start_time"));
}

#[test]
fn difficulty_counts_what_is_correct() {
    let mut counted = BTreeSet::new();
    for index in 0..300 {
        let case = time_case(3..=5, index);
        let correct = case.difficulty.correct_plans.expect("so few are counted");
        let all: u128 = (1..=case.actions.len() as u128).product();
        assert!(correct >= 1 && correct <= all);
        let stated = case.constraints.len() + case.time.map_or(0, |time| time.bounds.len());
        assert_eq!(case.difficulty.constraints, stated);
        counted.insert(correct);
    }
    assert!(counted.len() > 15, "{counted:?}");
}

/// Reads text over the actions "alpha", "beta", "gamma" and shows pairs as "a<b", bounds as "a<14:30" and "a>14:30".
fn check_reading(text: &str) -> Result<(u64, String), ReadError> {
    let actions = ["alpha", "beta", "gamma"];
    let reading = read(text, &actions, Directions::shipped())?;
    let letter = |place: usize| &actions[place][..1];
    let pairs = reading.pairs.iter().map(|pair| format!("{}<{}", letter(pair.first), letter(pair.second)));
    let bounds = reading.bounds.iter().map(|bound| {
        let (sign, minute) = match bound.bound {
            Bound::EndsBy(minute) => ('<', minute),
            Bound::StartsFrom(minute) => ('>', minute),
        };
        format!("{}{sign}{:02}:{:02}", letter(bound.action), minute / 60, minute % 60)
    });
    Ok((reading.readings, pairs.chain(bounds).collect::<Vec<_>>().join(" ")))
}

#[test]
fn each_production_with_a_clock_time_is_read() {
    for (text, stated) in [
        ("Alpha has to end by 14:30.", "a<14:30"),
        ("Alpha and beta must not start before 09:00.", "a>09:00 b>09:00"),
        ("Alpha is finished no later than 14:30.", "a<14:30"),
        ("Alpha and beta begin at or after 14:30.", "a>14:30 b>14:30"),
        ("By 14:30, alpha is over.", "a<14:30"),
        ("At some point no earlier than 14:30, alpha, beta, and gamma start.", "a>14:30 b>14:30 g>14:30"),
        ("Alpha, which has to wait until 10:00, precedes beta.", "a<b a>10:00"),
        ("Alpha precedes beta, which is completed by 10:00.", "a<b b<10:00"),
        ("By 10:00, alpha, which follows beta, ends.", "b<a a<10:00"),
        ("Alpha precedes beta, but by 10:00, gamma is over; beta ends by 11:00.", "a<b g<10:00 b<11:00"),
        ("Alpha, which ends by 14:30, and beta precedes gamma.", ""),
    ] {
        match check_reading(text) {
            Ok(reading) => assert_eq!(reading, (1, stated.to_owned()), "{text}"),
            Err(error) => assert!(stated.is_empty(), "{text}: {error}"),
        }
    }
}

#[test]
fn what_is_no_clock_time_or_says_too_much_is_not_read() {
    let point = |text: &str| match check_reading(text).expect_err(text) {
        ReadError::Unexpected { found, expected, .. } => format!("{found}: {}", expected.join(" or ")),
        other => panic!("{text}: {other}"),
    };
    assert_eq!(point("Alpha has to end by 25:00."), "\"25:00\": a clock time");
    assert_eq!(point("Alpha has to end by noon."), "\"noon\": a clock time");
    assert_eq!(point("Alpha has to end by 2 pm."), "\"2\": a clock time");
    assert_eq!(point("Alpha happens before 14:30."), "\"14:30\": a task of the case");
    assert_eq!(point("Alpha ends no earlier than 14:30."), "\"no\": a preposition");
    let disagreeing = point("Alpha end by 14:30.");
    assert!(disagreeing.starts_with("\"end\": ") && disagreeing.contains("a verb phrase that agrees"));
}

/// The canary: swapped wordings make text and constraints say different things.
#[test]
fn a_swapped_clock_wording_is_caught() {
    let file = include_str!("../../data/wordings.json");
    for (one, other) in [
        (r#"["has to end by", "have to end by"]"#, r#"["has to wait until", "have to wait until"]"#),
        (r#"["ends", "end"]"#, r#"["starts", "start"]"#),
        (r#""no sooner than""#, r#""not after""#),
    ] {
        let swapped = file.replace(one, "\u{1}").replace(other, one).replace('\u{1}', other);
        assert_ne!(swapped, file);
        let words = Wordings::from_json(&swapped).expect("the swap keeps the form");
        let synthesizer =
            Synthesizer::new(options(3, 5), &words, TopicBank::shipped()).expect("the options are in range");
        let caught = (0..300)
            .filter(|&index| {
                let case =
                    synthesizer.case(5, index, &mut Default::default(), &mut ()).expect("there is room");
                verify(&case, Directions::shipped()).is_err()
            })
            .count();
        assert!((5..290).contains(&caught), "{one}: {caught}");
    }
    let mut wrong = time_case(3..=5, 1);
    let bound = &mut wrong.time.as_mut().expect("it is of the time form").bounds[0];
    bound.bound = match bound.bound {
        Bound::EndsBy(minute) => Bound::StartsFrom(minute),
        Bound::StartsFrom(minute) => Bound::EndsBy(minute),
    };
    assert!(matches!(verify(&wrong, Directions::shipped()), Err(VerifyError::Differs { .. })));
}

#[test]
fn a_time_case_survives_the_file() {
    for index in 0..150 {
        let case = time_case(2..=7, index);
        let back = read_case(&write_case(&case)).expect("what was written can be read");
        assert_eq!(back, case);
    }
}

/// A case of two actions written by hand: feeding ends by 09:30, painting follows and starts from 10:00 on.
pub(crate) fn farm() -> PlanningCase {
    read_case(include_str!("../../testdata/farm_case.json")).expect("the case is good")
}

#[test]
fn what_is_wrong_in_bad_time_case_files_is_reported() {
    let good = include_str!("../../testdata/farm_case.json").trim();
    assert_eq!(farm().difficulty.correct_plans, Some(1));
    for (from, to, part) in [
        ("\"form\":\"time\"", "\"form\":\"basic\"", "if its form is \"time\""),
        ("\"day\":{\"start\":480,\"end\":1200},", "", "if its form is \"time\""),
        ("\"durations\":{\"a1\":60,\"a2\":90},", "", "if its form is \"time\""),
        ("\"a2\":90", "\"a3\":90", "durations names action \"a3\""),
        ("\"a1\":60,", "", "action \"a1\" has no duration"),
        ("\"a1\":60", "\"a1\":0", "action \"a1\" takes 0 minutes"),
        ("\"a1\":60", "\"a1\":95", "there is no schedule for c2"),
        (
            "\"a1\":60,\"a2\":90",
            "\"a1\":600,\"a2\":600",
            "its tasks take 1200 minutes, which the day from 08:00 to 20:00",
        ),
        ("\"end\":1200", "\"end\":1500", "from minute 480 to minute 1500"),
        ("\"end\":1200", "\"end\":480", "must end after it starts"),
        ("\"minute\":570", "\"minute\":1441", "constraint \"c2\" names minute 1441"),
        ("\"minute\":570", "\"minute\":\"09:30\"", "invalid type"),
        ("\"action\":\"a2\"", "\"action\":\"a7\"", "\"c3\" names action \"a7\""),
        ("\"restarts_max\":2", "\"restarts_max\":0", "restarts_max is 0"),
        ("\"name\":\"restart_plan\"", "\"name\":\"restart\"", "needs a tool \"restart_plan\""),
        ("\"start_time\":{", "\"start\":{", "takes no start_time"),
        ("\"correct_plans\":\"1\"", "\"correct_plans\":\"2\"", "difficulty is"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let message = read_case(&bad).expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn options_without_room_for_time_are_named() {
    let new = |actions, time| {
        let options = SynthesisOptions {
            actions_min: 2,
            actions_max: actions,
            time: Some(time),
            ..SynthesisOptions::default()
        };
        Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped()).map(|_| ())
    };
    let short = TimeOptions { day: Day { start: 540, end: 600 }, ..TimeOptions::default() };
    assert_eq!(new(12, short), Ok(()));
    let message = new(13, short).expect_err("13 times 5 minutes are more than an hour").to_string();
    assert!(
        message.starts_with("day is 09:00-10:00, that is 60 minutes; it must be at least 65"),
        "{message}"
    );
    let message = new(1, TimeOptions::default()).expect_err("one action has no order").to_string();
    assert!(message.contains("actions is 2..1"), "{message}");
}

#[test]
fn a_full_day_still_has_cases() {
    // Every minute of the day is needed, so only the order is free.
    let time =
        TimeOptions { day: Day { start: 480, end: 720 }, duration_min: Some(60), ..TimeOptions::default() };
    let mut counts = SynthesisCounts::default();
    let options =
        SynthesisOptions { actions_min: 4, actions_max: 4, time: Some(time), ..SynthesisOptions::default() };
    let synthesizer =
        Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped()).expect("it just fits");
    for index in 0..50 {
        let case = synthesizer.case(1, index, &mut counts, &mut ()).expect("there is room");
        assert_eq!(case.time.expect("it is of the time form").durations, [60; 4]);
    }
    assert!(counts.unsatisfiable > 0 && counts.undecided == 0);
}
