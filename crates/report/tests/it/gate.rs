//! Whether a campaign is worse than an earlier one, from the results of both.

use planproof_report::baseline::{BaselineError, BaselineFile};
use planproof_report::gate::{EffortMetric, GateOptions, GateReport};
use planproof_suite::gate::GateAnswer;
use serde_json::{Value, json};

const DIGEST: &str = "00112233445566778899aabbccddeeff";

/// A baseline of these cases: the runs of each that passed, and how many have a score.
fn file(cases: &[(u32, u32)]) -> Value {
    let repeats = cases.iter().map(|(_, runs)| *runs).max().unwrap_or(1).max(1);
    let cases: Vec<Value> = cases
        .iter()
        .enumerate()
        .map(|(place, (passed, runs))| {
            let class = (passed < runs).then_some("order_error");
            let mut case =
                json!({"case": format!("7-{place}"), "digest": DIGEST, "passed": passed, "runs": runs});
            match class {
                _ if *runs == 0 => case["unscored"] = json!(1),
                Some(class) => case["class"] = json!(class),
                None => {}
            }
            case
        })
        .collect();
    json!({
        "schema": "planproof/baseline/v1", "planproof": "0.1.0", "suite": "order", "agent": "tools@sim/careless",
        "model": "sim/careless", "simulated": true, "seed": "7", "repeats": repeats, "rules": {"repeated_fails": true},
        "cases": cases,
    })
}

fn read(value: &Value) -> BaselineFile {
    BaselineFile::read(&value.to_string()).expect("it is a baseline")
}

fn gate(before: &Value, after: &Value) -> Result<GateReport, String> {
    let options = GateOptions::of_success(0.05);
    GateReport::new(&read(before), &read(after), &options).map_err(|error| error.to_string())
}

/// So many cases of each kind, in this order: fixed, broken, passed in both.
fn sides([fixed, broken, same]: [usize; 3]) -> (Value, Value) {
    let kinds = [((0, 1), (1, 1)), ((1, 1), (0, 1)), ((1, 1), (1, 1))];
    let of = |(count, kind)| std::iter::repeat_n(kind, count);
    let pairs: Vec<_> = [fixed, broken, same].into_iter().zip(kinds).flat_map(of).collect();
    let (before, after): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    (file(&before), file(&after))
}

#[test]
fn the_first_line_is_the_answer() {
    for (counts, answer, line) in [
        (
            [2, 11, 37],
            GateAnswer::Worse,
            "worse: fixed 2, broke 11 of 50 cases, p = 0.022: -18.0 points [-31.0, -4.4]",
        ),
        (
            [3, 2, 395],
            GateAnswer::NotWorse,
            "not worse: fixed 3, broke 2 of 400 cases: +0.2 points [-1.0, +1.5], so a loss of 5 points is ruled out",
        ),
        (
            [1, 3, 46],
            GateAnswer::CannotTell,
            "cannot tell: fixed 1, broke 3 of 50 cases, p = 0.625: -4.0 points [-14.0, +5.6]; with 50 cases a difference \
             under 12.4 points stays unseen; about 1,000 would do",
        ),
    ] {
        let (before, after) = sides(counts);
        let found = gate(&before, &after).expect("they can be compared");
        assert_eq!(found.answer, answer, "{found:?}");
        assert_eq!(found.headline.split(['[', ';']).next(), line.split(['[', ';']).next());
        assert_eq!(found.lost.len(), counts[1]);
    }
    let (before, after) = sides([2, 11, 37]);
    let lines = gate(&before, &after).expect("they can be compared").lines();
    assert!(lines[0].starts_with("Broken: 7-2 (order_error), 7-3 (order_error), "), "{lines:?}");
}

#[test]
fn repeats_tell_flaky_cases_from_broken_ones() {
    let before = vec![(3, 3); 40];
    let mut after = before.clone();
    after[..4].fill((0, 3));
    after[4] = (2, 3);
    after[5] = (1, 3);
    let found = gate(&file(&before), &file(&after)).expect("they can be compared");
    assert_eq!((found.answer, found.broken, found.flaky), (GateAnswer::Worse, 4, 2), "{found:?}");
    let begin = "worse: fixed 0, broke 4, 2 flaky (2 of 3, 1 of 3) of 40 cases, p = 0.031: -12.5 points";
    assert!(found.headline.starts_with(begin), "{}", found.headline);
    assert!(found.lines().contains(&"Flaky: 7-4 (2 of 3), 7-5 (1 of 3).".to_owned()), "{:?}", found.lines());
}

#[test]
fn runs_without_a_score_are_left_out_and_counted() {
    let (mut before, mut after) = (vec![(1, 1); 300], vec![(1, 1); 300]);
    after[..50].fill((0, 0));
    before[290..].fill((0, 0));
    let found = gate(&file(&before), &file(&after)).expect("they can be compared");
    assert_eq!((found.answer, found.cases, found.unscored), (GateAnswer::NotWorse, 240, 60), "{found:?}");
    assert_eq!(found.lines(), ["Not compared, and not failures: 60 without a score in one of them."]);
    let none = gate(&file(&[(1, 1)]), &file(&[(0, 0)])).expect("they can be compared");
    assert_eq!(
        (none.answer, &*none.headline),
        (GateAnswer::CannotTell, "cannot tell: no case has a score in both")
    );
}

#[test]
fn other_figures_are_compared_by_their_changes() {
    let (mut before, mut after) = (file(&[(1, 1); 60]), file(&[(1, 1); 60]));
    for place in 0..60 {
        before["cases"][place]["scores"] = json!({"f1": 0.9});
        after["cases"][place]["scores"] = json!({"f1": if place % 3 == 0 { 0.2 } else { 0.9 }});
    }
    let with = |metrics: &[&str]| {
        let metrics = metrics.iter().map(|metric| (*metric).to_owned()).collect();
        let options = GateOptions { metrics, ..GateOptions::of_success(0.07) };
        GateReport::new(&read(&before), &read(&after), &options).map_err(|error| error.to_string())
    };
    assert_eq!(with(&[]).expect("success is the same").answer, GateAnswer::NotWorse);
    let found = with(&["f1"]).expect("there is the figure");
    assert_eq!((found.answer, found.metrics.len()), (GateAnswer::Worse, 2), "{found:?}");
    assert!(found.headline.starts_with("worse in f1: "), "{}", found.headline);
    let unknown = with(&["f2"]).expect_err("there is no such figure");
    assert_eq!(
        unknown,
        "no run has a figure \"f2\"; its suite has \"f1\"; calls, rounds and tokens are counted in any suite"
    );
    after["cases"][3]["scores"] = json!({"f1": 7.5});
    let options = GateOptions { metrics: vec!["f1".to_owned()], ..GateOptions::of_success(0.05) };
    let error = GateReport::new(&read(&before), &read(&after), &options).expect_err("it is no share");
    assert_eq!(
        error.to_string(),
        "the figure \"f1\" is 7.5 in case \"7-3\": only figures from 0 to 1 can be compared"
    );
}

#[test]
fn what_cannot_be_compared_is_refused_once() {
    let base = || file(&[(1, 1), (0, 1)]);
    let changed = |pointer: &str, value: Value| {
        let mut file = base();
        *file.pointer_mut(pointer).expect("there is such a field") = value;
        file
    };
    for (before, error) in [
        (changed("/suite", json!("gsm8k")), "the baseline is of the suite gsm8k, and the campaign of order"),
        (
            changed("/planproof", json!("0.0.9")),
            "the baseline was judged by planproof 0.0.9, and this is 0.1.0, ",
        ),
        (
            changed("/rules/repeated_fails", json!(false)),
            "they were judged by different rules: repeated_fails is false in the baseline, and true in the campaign",
        ),
    ] {
        let found = gate(&before, &base()).expect_err(error);
        assert!(found.starts_with(error), "{found}");
    }
    let mut others = base();
    for place in 0..2 {
        others["cases"][place]["digest"] = json!("aaaa".repeat(8));
    }
    let found = gate(&others, &base()).expect_err("they are other cases");
    assert!(
        found
            .contains("no case in common (2 ids are in both, with other cases behind them); both were drawn"),
        "{found}"
    );
}

#[test]
fn a_damaged_baseline_is_one_clear_error() {
    let text = |value: &Value| value.to_string();
    let good = file(&[(1, 1)]);
    let mut versioned = good.clone();
    versioned["schema"] = json!("planproof/baseline/v2");
    let mut twice = file(&[(1, 1), (1, 1)]);
    twice["cases"][1]["case"] = json!("7-0");
    for (text, error) in [
        (String::new(), "the file is empty; `planproof runs export RUN --baseline FILE` writes one"),
        (" \n".to_owned(), "the file is empty; "),
        ("[]".to_owned(), "it is not a JSON object; "),
        ("null".to_owned(), "it is not a JSON object; "),
        (text(&good)[..60].to_owned(), "line 1, column 60: the file ends too early; write the file again"),
        ("{}".to_owned(), "line 1, column 2: missing field `schema`"),
        (text(&versioned), "its schema is \"planproof/baseline/v2\", not \"planproof/baseline/v1\""),
        (text(&file(&[])), "it has no cases"),
        (text(&twice), "it has several cases with the id \"7-0\""),
        (text(&file(&[(2, 1)])), "case \"7-0\": more runs passed than have a score"),
        (text(&good).replace("\"agent\"", "\"agnet\""), "line 1, column "),
    ] {
        let found = BaselineFile::read(&text).expect_err(error).to_string();
        assert!(found.starts_with(error), "{found}");
    }
    // Figures that no campaign has.
    let effort =
        |calls: f64, rounds: f64, tokens: f64| json!({"calls": calls, "rounds": rounds, "tokens": tokens});
    let digest = "case \"7-0\": its digest is not one of 32 hexadecimal digits";
    let efforts = "case \"7-0\": its effort is none";
    for (pointer, value, error) in [
        ("/repeats", json!(0), "its repeats are 0"),
        ("/cases/0/digest", json!("zz"), digest),
        ("/cases/0/digest", json!(DIGEST.to_uppercase()), digest),
        ("/cases/0/runs", json!(2), "case \"7-0\": it has more runs than the campaign has repeats"),
        ("/cases/0/effort/calls", json!(-1.0), efforts),
        ("/cases/0/effort", effort(2.0, 3.0, 9.0), efforts),
        ("/cases/0/effort", effort(2.0, -1.0, 9.0), efforts),
        ("/cases/0/effort", effort(2.0, 1.0, 0.0), efforts),
        ("/cases/0/effort", effort(2.0, 1.0, -9.0), efforts),
        ("/cases/0/passed", json!(0), "case \"7-0\": no run passed, and yet it has an effort"),
    ] {
        let mut wrong = good.clone();
        wrong["cases"][0]["effort"] = effort(2.0, 1.0, 9.0);
        read(&wrong);
        *wrong.pointer_mut(pointer).expect("it is there") = value;
        let found = BaselineFile::read(&text(&wrong)).expect_err(error).to_string();
        assert!(found.starts_with(error), "{found}");
    }
    let read = read(&good);
    // It is written as it was read, in lines.
    let again = BaselineFile::read(&read.to_text());
    assert_eq!(again.as_ref(), Ok(&read));
    assert_eq!(again.map(|again| again.to_text()), Ok::<_, BaselineError>(read.to_text()));
    assert_eq!(read.to_text().lines().filter(|line| line.contains("\"digest\"")).count(), 1);
}

/// Cases that pass in both campaigns, with the calls of each before and after.
fn with_calls(calls: &[(f64, f64)]) -> (Value, Value) {
    let side = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut side = file(&vec![(1, 1); calls.len()]);
        for (case, calls) in side["cases"].as_array_mut().expect("a list").iter_mut().zip(calls) {
            case["effort"] = json!({"calls": of(calls), "rounds": of(calls), "tokens": 100.0});
        }
        side
    };
    (side(&|it| it.0), side(&|it| it.1))
}

fn gate_on(before: &Value, after: &Value, metrics: &[&str]) -> Result<GateReport, String> {
    let metrics = metrics.iter().map(|&metric| metric.to_owned()).collect();
    let options = GateOptions { metrics, ..GateOptions::of_success(0.05) };
    GateReport::new(&read(before), &read(after), &options).map_err(|error| error.to_string())
}

#[test]
fn more_calls_are_worse_beyond_the_tolerance() {
    // Every case takes 3 to 6 calls before.
    let calls = |more: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        (0..200).map(|case| ((case % 4 + 3) as f64, (case % 4 + 3) as f64 + more(case))).collect()
    };
    for (more, metrics, answer, line) in [
        // The same but for chance: 2 of 40 cases take one more, 2 one less.
        (
            Box::new(|case: usize| [1.0, -1.0].get(case % 20).copied().unwrap_or(0.0))
                as Box<dyn Fn(usize) -> f64>,
            &["calls", "tokens=5%"][..],
            GateAnswer::NotWorse,
            "not worse",
        ),
        (
            Box::new(|_| 1.0),
            &["calls"],
            GateAnswer::Worse,
            "worse in calls: fixed 0, broke 0 of 200 cases, p < 0.001: +22.2 %",
        ),
        // A certain increase of 22 % is tolerated where 30 % are.
        (Box::new(|_| 1.0), &["calls=30%"], GateAnswer::NotWorse, "not worse"),
        (Box::new(|_| -1.0), &["calls", "rounds=1%"], GateAnswer::NotWorse, "not worse"),
        // What varies much between cases cannot be decided.
        (
            Box::new(|case| if case % 2 == 0 { 4.5 } else { -4.0 }),
            &["calls"],
            GateAnswer::CannotTell,
            "cannot tell in calls",
        ),
    ] {
        let (before, after) = with_calls(&calls(&*more));
        let found = gate_on(&before, &after, metrics).expect("they can be compared");
        assert_eq!(found.answer, answer, "{}", found.headline);
        assert!(found.headline.starts_with(line), "{}", found.headline);
        assert_eq!(found.metrics.len(), metrics.len() + 1);
    }
}

/// A multiple of the calls before lies in its interval, however narrow the tolerance is.
#[test]
fn a_large_increase_lies_in_its_interval() {
    for (tolerance, more) in [("calls=1%", 4.0), ("calls", 16.0), ("calls=1000%", 900.0)] {
        let calls: Vec<(f64, f64)> = (0..100).map(|case| (4.0, 4.0 + more + f64::from(case % 3))).collect();
        let (before, after) = with_calls(&calls);
        let found = gate_on(&before, &after, &[tolerance]).expect("they can be compared");
        let effect = found.metrics[1].effect;
        assert!(effect.low <= effect.difference && effect.difference <= effect.high, "{effect:?}");
        let text = &found.headline[found.headline.find("+").expect("more")..];
        let numbers: Vec<f64> = text
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .filter_map(|number| number.parse().ok())
            .collect();
        assert!(numbers[1] < numbers[0] && numbers[0] < numbers[2], "{}", found.headline);
    }
    // A single case says nothing about others.
    let (before, after) = with_calls(&[(4.0, 8.0)]);
    let one = gate_on(&before, &after, &["calls"]).expect("they can be compared");
    assert!(one.lines().concat().contains("calls: +100.0 % [-∞, +∞]"), "{:?}", one.lines());
}

/// What would leave nothing to compare is refused before anything is run.
#[test]
fn a_comparison_that_cannot_be_is_foreseen() {
    let planned = |cases: usize| {
        let mut planned = file(&vec![(0, 0); cases]);
        planned["cases"]
            .as_array_mut()
            .expect("a list")
            .iter_mut()
            .for_each(|case| case["unscored"] = json!(0));
        planned
    };
    let foresee = |before: &Value, cases: usize, metrics: &[&str], all_paired: bool| {
        let metrics = metrics.iter().map(|&metric| metric.to_owned()).collect();
        let options = GateOptions { metrics, ..GateOptions::of_success(0.05) };
        GateReport::foresee(&read(before), &read(&planned(cases)), &options, all_paired)
            .map_err(|error| error.to_string())
    };
    let (before, _) = with_calls(&[(4.0, 4.0); 3]);
    let with = |pointer: &str, value: Value| {
        let mut before = before.clone();
        before["cases"]
            .as_array_mut()
            .expect("a list")
            .iter_mut()
            .for_each(|case| case[pointer] = value.clone());
        before
    };
    assert_eq!(foresee(&before, 3, &["calls", "success"], true), Ok(()));
    assert_eq!(foresee(&before, 5, &["calls"], false), Ok(()));
    let mut unscored = file(&[(0, 0); 3]);
    unscored["seed"] = json!("7");
    let mut without_tokens = before.clone();
    for case in without_tokens["cases"].as_array_mut().expect("a list") {
        case["effort"].as_object_mut().expect("an object").remove("tokens");
    }
    for (before, cases, metrics, all_paired, error) in [
        (before.clone(), 5, &[][..], true, "2 of the 5 cases of the campaign are not in the baseline"),
        (unscored, 3, &[], false, "none of the 3 cases that both have can be compared"),
        (with("apart", json!(true)), 3, &[], false, "none of the 3 cases that both have can be compared"),
        (with("scores", json!({"f1": 2.0})), 3, &["f1"], false, "the figure \"f1\" is 2 in case \"7-0\""),
        (
            with("scores", json!({"a, b": 0.5})),
            3,
            &["f1"],
            false,
            "no run has a figure \"f1\"; its suite has \"a, b\"",
        ),
        (
            before.clone(),
            3,
            &["CALLS"],
            false,
            "no run has a figure \"CALLS\"; its suite has none but success",
        ),
        (before.clone(), 3, &["calls", "calls=3%"], false, "the figure \"calls\" is named twice"),
        (without_tokens, 3, &["tokens"], false, "no case that passed in both campaigns has counted tokens"),
    ] {
        let found = foresee(&before, cases, metrics, all_paired).expect_err(error);
        assert!(found.starts_with(error), "{found}");
    }
}

#[test]
fn what_failed_runs_took_does_not_count() {
    let (mut before, mut after) = with_calls(&[(4.0, 4.0); 100]);
    for case in after["cases"].as_array_mut().expect("a list").iter_mut().take(3) {
        // A failed case has no effort.
        *case =
            json!({"case": case["case"], "digest": DIGEST, "passed": 0, "runs": 1, "class": "order_error"});
    }
    let found = gate_on(&before, &after, &["calls"]).expect("they can be compared");
    assert_eq!(found.metrics[1].effect.cases, 97);
    for case in before["cases"].as_array_mut().expect("a list") {
        case.as_object_mut().expect("an object").remove("effort");
    }
    let error = gate_on(&before, &after, &["calls"]).expect_err("nothing was counted");
    assert!(error.contains("export the baseline again"), "{error}");
}

#[test]
fn tolerances_are_read_with_care() {
    let shown: Vec<String> = ["calls=0%", "calls=10", "tokens=2000%", "f1=3%", "calls=", "rounds=x%"]
        .iter()
        .map(|text| EffortMetric::parse(text).expect_err("it is none").to_string())
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    assert_eq!(EffortMetric::parse("f1"), Ok(None));
    assert_eq!(EffortMetric::parse("tokens").map(|it| it.map(|it| it.margin)), Ok(Some(0.1)));
}
