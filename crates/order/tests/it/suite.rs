//! The kind of case, its cards, tools, guard and right answers.

use std::sync::Arc;

use planproof_order::{
    CONFLICT_IS_ALL, DrawnCases, DrawnLevel, OFFERS_REPORT, OrderCase, OrderSuite, ShrinkOptions,
};
use planproof_suite::{Card, Case as _, Class, Decision, Registry, Suite as _, Unscored};
use planproof_synth::{
    Draw, Flag, OneLook, SynthesisCounts, SynthesisOptions, Synthesizer, TopicBank, Wordings,
};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall, ToolResult};
use serde_json::json;

use crate::{call, call_at, chain, events, execute, farm, judged, synthesise};

/// A run in which these calls were made, one after the other.
fn run(calls: impl IntoIterator<Item = (ToolCall, ToolResult)>) -> Vec<Event> {
    let pairs =
        calls.into_iter().flat_map(|(call, result)| [EventKind::Call(call), EventKind::Result(result)]);
    let end = EventKind::End(EndReason::Answered { text: String::new() });
    (0..).zip(pairs.chain([end])).map(|(at, kind)| Event::new(at, kind)).collect()
}

fn numbered(number: usize, name: &str, arguments: Arguments) -> ToolCall {
    ToolCall { id: CallId::new(number.to_string()), name: name.to_owned(), arguments }
}

#[test]
fn the_suite_can_be_registered() {
    let suite = std::sync::Arc::new(OrderSuite::default());
    let registry = Registry::new(vec![suite]).expect("its classes are ranked");
    let suite = registry.find("order").expect("it is there");
    let classes: Vec<&str> = suite.classes().iter().map(|class| class.name).collect();
    assert_eq!(classes, planproof_synth::OrderClass::ALL.map(planproof_synth::OrderClass::as_str));
    let flags: Vec<&str> = suite.flags().iter().map(|flag| flag.name).collect();
    assert_eq!(flags, Flag::ALL.map(Flag::as_str));
    assert!(suite.read("{}").is_err_and(|error| error.to_string().contains("planproof/case/v1")));
}

#[test]
fn its_sequels_are_asked_for_by_its_options() {
    let sequels = OrderSuite::default().sequels();
    let asked = |option: &str, values: &[(&str, &str)]| {
        let sequel = sequels.iter().find(|sequel| sequel.option() == option).expect("there is the sequel");
        sequel.asked(values).map_err(|error| error.to_string())
    };
    let shrinking = |runs: u32, failures: u32, runs_max: u32, failures_max: u32| {
        let how = ShrinkOptions { runs, failures, runs_max, failures_max, ..ShrinkOptions::default() };
        serde_json::to_value(how).expect("it can be written")
    };
    let cases = [
        ("dissect", vec![], None),
        ("dissect", vec![("dissect-k", "2"), ("shrink", "yes")], None),
        (
            "dissect",
            vec![("dissect", "yes"), ("compat", "ours")],
            Some(json!({"variants": 5, "reruns": 3, "errors_max": null, "original": false})),
        ),
        (
            "dissect",
            vec![
                ("dissect", "yes"),
                ("dissect-k", "100"),
                ("dissect-reruns", "0"),
                ("dissect-max", "4294967295"),
                ("compat", "original"),
            ],
            Some(json!({"variants": 100, "reruns": 0, "errors_max": u32::MAX, "original": true})),
        ),
        ("shrink", vec![("shrink-max", "2"), ("dissect", "yes")], None),
        ("shrink", vec![("shrink", "yes")], Some(shrinking(3, 2, 200, 3))),
        (
            "shrink",
            vec![("shrink", "yes"), ("shrink-repeat", "4"), ("shrink-runs", "9"), ("shrink-max", "1")],
            Some(shrinking(4, 3, 9, 1)),
        ),
    ];
    for (option, values, expected) in cases {
        assert_eq!(asked(option, &values), Ok(expected.clone()), "{values:?}");
        // What a campaign keeps is written as options that ask for the same.
        let sequel = sequels.iter().find(|sequel| sequel.option() == option).expect("there is the sequel");
        let written = sequel.written(expected.as_ref());
        let again: Vec<(&str, &str)> =
            written.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        assert_eq!(asked(option, &again), Ok(expected), "{written:?}");
    }
    for (option, name, value) in [
        ("dissect", "dissect-k", "0"),
        ("dissect", "dissect-k", "101"),
        ("dissect", "dissect-reruns", "-1"),
        ("dissect", "dissect-max", "some"),
        ("shrink", "shrink-repeat", "101"),
        ("shrink", "shrink-runs", "0"),
    ] {
        let error = asked(option, &[(option, "yes"), (name, value)]).expect_err("no such number");
        assert!(error.starts_with(&format!("{name} is {value}; it must be a whole number from ")), "{error}");
    }
}

#[test]
fn what_can_occur_depends_on_the_cards() {
    let suite = OrderSuite::default();
    let [plain, offering, apart] =
        [synthesise(None, false, 0), synthesise(Some(0.0), false, 0), synthesise(Some(1.0), false, 0)]
            .map(|case| suite.wrap(case).card().clone());
    let can_occur = |name: &str, cards: &[Card]| {
        let class = Class::find(suite.classes(), name).expect("there is the class");
        suite.can_occur(class, &mut cards.iter())
    };
    for (cards, alarm, missed) in [
        (vec![plain.clone()], false, false),
        (vec![plain.clone(), offering], true, false),
        (vec![plain, apart], true, true),
        (Vec::new(), false, false),
    ] {
        assert_eq!(can_occur("false_alarm", &cards), alarm);
        assert_eq!(can_occur("conflict_missed", &cards), missed);
        assert!(can_occur("timeout", &cards));
    }
}

#[test]
fn cards_say_what_figures_need() {
    let suite = OrderSuite::default();
    let card = chain().card().clone();
    assert_eq!((card.id.as_str(), card.label.as_str(), card.size), ("chain", "farmer", 3));
    assert_eq!(card.detail_sizes, [2, 76]);
    assert_eq!(card.baselines.len(), 1 + OneLook::ALL.len());
    assert_eq!(card.baselines[..2], [Some(1.0 / 6.0), Some(1.0)]);
    assert_eq!((card.apart.as_deref(), card.marks), (None, 0));
    let mut marks = std::collections::BTreeSet::new();
    for index in 0..60 {
        let case = synthesise(Some(0.5), false, index);
        let is_all = case.conflict.as_ref().is_some_and(|it| it.len() == case.sentences());
        let passing: Vec<OneLook> = OneLook::passing(&case).collect();
        let is_feasible = case.is_feasible();
        let card = suite.wrap(case).card().clone();
        assert_eq!(card.apart.as_deref(), (!is_feasible).then_some("infeasible"));
        assert_eq!(card.marks & CONFLICT_IS_ALL != 0, is_all);
        assert!(card.marks & OFFERS_REPORT != 0);
        for (rate, heuristic) in card.baselines[1..].iter().zip(OneLook::ALL) {
            assert_eq!(*rate, Some(f64::from(u8::from(passing.contains(&heuristic)))));
        }
        marks.insert(card.marks);
    }
    assert_eq!(marks.len(), 2);
}

#[test]
fn baselines_name_places_that_there_are() {
    let suite = OrderSuite::default();
    let card = chain().card().clone();
    for baseline in suite.baselines() {
        assert!(baseline.of.iter().all(|place| *place < card.baselines.len()));
    }
}

fn class_and_flags(verdict: &planproof_suite::Verdict) -> (Option<&'static str>, Vec<&'static str>) {
    (verdict.class().map(Class::as_str), verdict.scored.flags.clone())
}

#[test]
fn verdicts_say_class_and_flags() {
    let case = chain();
    let line = call("egg_collection") + &call("feed_mixing") + &call("roof_painting") + "answer \"\"";
    let flags = vec!["action_lost", "order_error", "distractor"];
    assert_eq!(class_and_flags(&judged(&case, &line)), (Some("action_lost"), flags));
    // Nothing is to be said of conflicts in a feasible case.
    let scores = judged(&case, &line).scored.scores;
    assert!(scores.iter().all(|score| !score.metric.starts_with("conflict_")), "{scores:?}");
    let unscored = case.judge(&events("unscored \"the model is down\""));
    assert_eq!(unscored, Err(Unscored::Outside { reason: "the model is down".into() }));
    assert_eq!(case.judge(&[]), Err(Unscored::CutOff));
}

#[test]
fn cells_are_as_many_as_columns() {
    let columns = OrderSuite::default().columns();
    let case = farm();
    let line = call_at("feed_mixing", "08:31") + &call_at("fence_painting", "10:00") + "answer \"\"";
    assert_eq!(case.cells(), ["farmer", "2", "3", "1", "1", "mention each_sentence"].map(str::to_owned));
    assert_eq!(case.cells().len(), columns.of_case.len());
    let cells = case.run_cells(&judged(&case, &line));
    assert_eq!(cells.len(), columns.of_run.len());
    let expected = [
        "feed mixing; fence painting",
        "08:31; 10:00",
        "Feed mixing is finished by 09:30",
        "0",
        "feed mixing; fence painting",
        "08:00; 10:00",
        "",
        "",
        "",
    ];
    assert_eq!(cells, expected);
}

#[test]
fn metadata_is_of_the_case_or_of_the_run() {
    let case = farm();
    let line = call_at("feed_mixing", "08:31") + &call_at("fence_painting", "10:00") + "answer \"\"";
    let of_case = serde_json::Value::Object(case.metadata(None));
    let by =
        json!({"action": "feed mixing", "ends_by": "09:30", "words": "Feed mixing is finished by 09:30"});
    assert_eq!(of_case["constraints"][1], by);
    assert_eq!(of_case["day"], "08:00 to 20:00");
    assert_eq!(of_case["durations_minutes"], json!([60, 90]));
    assert_eq!(of_case["correct_plans"], "1");
    let of_run = serde_json::Value::Object(case.metadata(Some(&judged(&case, &line))));
    assert_eq!(
        of_run,
        json!({
            "restarts": 0, "violated": [by], "first_wrong_call": 0,
            "repair": "feed mixing 08:00 to 09:00, fence painting 10:00 to 11:30",
        })
    );
    assert_eq!(case.target(), "feed mixing 08:00 to 09:00, fence painting 10:00 to 11:30");
}

/// Whoever makes the calls of the key passes, with every tool's own answer.
#[test]
fn the_key_passes() {
    let suite = OrderSuite::default();
    for (infeasible, is_timed) in [(None, false), (None, true), (Some(1.0), false), (Some(1.0), true)] {
        for index in 0..30 {
            let case = suite.wrap(synthesise(infeasible, is_timed, index));
            let toolbox = case.toolbox().expect("its tools can be made");
            let gold = case.gold().expect("the case is small");
            let calls = gold.calls.into_iter().enumerate().map(|(number, it)| {
                let call = numbered(number, &it.tool, Arguments::Object(it.arguments));
                let result = execute(&*toolbox, &call);
                assert!(!result.is_error, "{}", result.text);
                (call, result)
            });
            let verdict = case.judge(&run(calls)).expect("it is scored");
            assert!(verdict.passed(), "{verdict:?}");
            let end = if infeasible.is_some() { " cannot hold together." } else { "All tasks are done." };
            assert!(gold.answer.ends_with(end), "{}", gold.answer);
        }
    }
}

/// An agent that tries any call again and again, and reports in the end where it can, passes behind the guard.
fn behind_the_guard(case: &OrderCase, draw: &mut Draw) -> Vec<Event> {
    let toolbox = case.toolbox().expect("its tools can be made");
    let mut guard = case.guard().expect("there is one");
    let mut calls = Vec::new();
    let report: Vec<u64> = case.case().conflict.iter().flatten().map(|it| u64::from(*it)).collect();
    for number in 0..400 {
        let tools = toolbox.tools();
        let name = tools[draw.place(tools.len())].name.clone();
        let arguments = if case.case().is_report(&name) {
            planproof_synth::report_arguments(report.iter().copied().chain([1]).take(report.len().max(1)))
        } else if case.case().is_restart(&name) {
            continue;
        } else if case.case().time.is_some() {
            let start = format!("{:02}:{:02}", 8 + draw.below(12), 5 * draw.below(12));
            planproof_order::case_arguments(case.case(), &name, Some(start))
        } else {
            planproof_order::case_arguments(case.case(), &name, None)
        };
        let call = numbered(number, &name, arguments);
        let result = match guard.before(number as u64, &call) {
            Decision::Deny(denial) => denial.result(&call),
            Decision::Note(rules) => panic!("the guard of a case has no rules: {rules:?}"),
            Decision::Allow => {
                let result = execute(&*toolbox, &call);
                guard.after(number as u64, &call, &result);
                result
            }
        };
        calls.push((call, result));
    }
    run(calls)
}

#[test]
fn behind_the_guard_nothing_goes_wrong() {
    let suite = OrderSuite::default();
    let draw = &mut Draw::new(3, 0, "test/guard");
    let mut passed = 0;
    for index in 0..40 {
        for is_timed in [false, true] {
            let case = suite.wrap(synthesise(Some(0.3), is_timed, index));
            let verdict = case.judge(&behind_the_guard(&case, draw)).expect("it is scored");
            // Starts at random may leave a task undone, and nothing else.
            assert!(verdict.class().is_none_or(|class| class.as_str() == "action_lost"), "{verdict:?}");
            assert!(verdict.scored.has("denied"));
            passed += u32::from(verdict.passed());
        }
    }
    assert!(passed > 60, "{passed}");
}

/// A line that only names a case stands for the same case as its whole line.
#[test]
fn a_named_case_is_drawn_again() {
    let options = |actions| SynthesisOptions {
        actions_min: actions,
        actions_max: actions,
        ..SynthesisOptions::default()
    };
    let bank = TopicBank::shipped();
    let level = |first, actions| DrawnLevel { first, count: 2, options: options(actions) };
    let drawn = DrawnCases { seed: 7, levels: vec![level(300, 3), level(500, 5)], bank: bank.clone() };
    let suite = OrderSuite { drawn: Some(Arc::new(drawn)), ..OrderSuite::default() };
    for (index, actions) in [(300, 3), (301, 3), (500, 5), (501, 5)] {
        let synthesizer =
            Synthesizer::new(options(actions), Wordings::shipped(), bank).expect("they are in range");
        let case = synthesizer.case(7, index, &mut SynthesisCounts::default(), &mut ()).expect("is drawn");
        let line = DrawnCases::line(&case.id);
        assert_eq!(DrawnCases::named(&line).as_deref(), Some(&*case.id));
        let whole = suite.wrap(case).to_line();
        assert_eq!(DrawnCases::named(&whole), None);
        assert!(line.len() < 40 && line.len() < whole.len() / 20, "{line}");
        assert_eq!(suite.read(&line).expect("is drawn again").to_line(), whole);
        let error = OrderSuite::default().read(&line).expect_err("it is not known how");
        assert!(error.to_string().contains("does not say how 7-"), "{error}");
    }
    // Another seed, an index in no level, numbers that are none, and a line with more in it.
    for id in ["8-300", "7-299", "7-302", "7-", "7-x", "", "7-18446744073709551616"] {
        let error = suite.read(&DrawnCases::line(id)).expect_err("there is none");
        assert!(error.to_string().contains("none of the cases that were drawn"), "{id}: {error}");
    }
    assert!(suite.read(r#"{"drawn":"7-300","x":1}"#).is_err());
}
