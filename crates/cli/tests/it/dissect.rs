//! `test --dissect`.

use serde_json::{Value, json};

use crate::stored::finished;
use crate::support::{Place, json_lines};

/// What does not depend on how often the campaign was begun.
fn causes(report: &Value) -> Value {
    let dissection = &report["dissection"];
    let cases = dissection["cases"].as_array().unwrap().iter();
    let cases: Vec<Value> = cases.map(|case| json!([case["case"], case["cause"], case["enough"]])).collect();
    json!([dissection["causes"], dissection["enough"], dissection["topics"], cases])
}

fn share(report: &Value, cause: &str) -> f64 {
    let causes = report["dissection"]["causes"].as_array().unwrap();
    causes.iter().find(|it| it["cause"] == cause).unwrap()["share"].as_f64().unwrap()
}

#[test]
fn a_planted_word_is_named_and_everything_is_kept() {
    let place = Place::new();
    let line = "test tools@sim/planted/word --cases 80 --dissect --dissect-k 3";
    let report = place.run(&format!("{line} --html r.html -q --json")).code(1).json();
    let dissection = &report["dissection"];
    assert!(report["failed"].as_u64().unwrap() > 3, "{report}");
    assert_eq!((&dissection["errors"], &dissection["taken"]), (&report["failed"], &report["failed"]));
    assert!((share(&report, "wording") - 1.0).abs() < 1e-9, "{dissection}");
    assert_eq!(dissection["enough"]["wordings"], report["failed"]);
    assert_eq!((&dissection["variants"], &dissection["reruns"]), (&json!(3), &json!(3)));
    // Every variant is there with what changed and its verdict.
    let case = &dissection["cases"][0];
    let trials = case["trials"].as_array().unwrap();
    let steps: Vec<&str> = trials.iter().map(|trial| trial["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["rerun", "rerun", "rerun", "terminal", "wordings", "actions"]);
    let passed: Vec<bool> = trials.iter().map(|trial| trial["passed"].as_bool().unwrap()).collect();
    assert_eq!(passed, [false, false, false, true, true, false]);
    let changed = trials[4]["changes"].as_array().unwrap();
    assert!(changed.iter().any(|it| it["from"].as_str().unwrap().eq_ignore_ascii_case("in advance of")));
    for change in changed {
        let text = |side: usize, paragraph: &Value| {
            let place = &change["places"][0][side];
            let [start, end] = [0, 1].map(|end| place[end].as_u64().unwrap() as usize);
            paragraph.as_str().unwrap()[start..end].to_owned()
        };
        assert_eq!(text(0, &case["paragraph"]), change["from"].as_str().unwrap());
        assert_eq!(text(1, &trials[4]["paragraph"]), change["to"].as_str().unwrap());
    }
    // The page has the texts.
    let page = std::fs::read_to_string(place.path("r.html")).unwrap();
    for part in
        ["Causes of failures", "it passes with other wordings and tasks", "terminal 1: passed", " became "]
    {
        assert!(page.contains(part), "{part}");
    }
    // So says the store, and the trials are not a campaign of the list.
    let shown = place.run("runs show last --json").code(0).json();
    assert_eq!(causes(&shown), causes(&report));
    assert_eq!(json_lines(&place.run("runs list --json").code(0).out).len(), 1);
    let text = place.run("runs show last").code(0).out;
    for part in
        ["Cause", "wording", "100.0 [", "Topics with the most failures", "other wordings alone were enough"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // One trial can be looked at.
    let id = dissection["campaign"].as_str().unwrap();
    let trial = trials[3]["id"].as_str().unwrap();
    let shown = place.run(&format!("runs show {id} --case {trial}")).code(0).out;
    assert!(shown.contains("passed") && shown.contains(trials[3]["paragraph"].as_str().unwrap()), "{shown}");
}

#[test]
fn a_finished_campaign_can_be_dissected_later_and_only_once() {
    let place = Place::new();
    let plain = place.run("test tools@sim/planted/constraint --cases 20 -q --json").code(1).json();
    assert_eq!(plain["dissection"], json!(null));
    let line = "test --resume last --dissect --dissect-k 1 --dissect-reruns 0 --dissect-max 3 -q --json";
    let later = place.run(line).code(1).json();
    assert_eq!(later["dissection"]["taken"], json!(3));
    assert_eq!(later["dissection"]["runs"], json!(9));
    assert!((share(&later, "constraint") - 1.0).abs() < 1e-9);
    assert_eq!(place.run(line).code(1).json()["dissection"], later["dissection"]);
    assert_eq!(place.run("test --resume last -q --json").code(1).json()["dissection"], later["dissection"]);
    let other = place.run("test --resume last --dissect --dissect-k 2 -q").code(2);
    assert!(other.err.contains("was already started with other options"), "{other:?}");
    // What came of the cases is as before.
    assert_eq!((&later["passed"], &later["classes"]), (&plain["passed"], &plain["classes"]));
}

#[test]
fn a_budget_ends_a_dissection_and_a_larger_one_finishes_it() {
    let place = Place::new();
    let line = "test tools@sim/planted/coin --cases 30 --dissect --dissect-reruns 1";
    let whole = place.run(&format!("{line} -q --json")).code(1).json();
    let first = whole["tokens"]["input"].as_u64().unwrap() + whole["tokens"]["output"].as_u64().unwrap();
    let place = Place::new();
    let part = place.run(&format!("{line} --max-tokens {} -q --json", first + 9000)).code(1);
    let report = part.json();
    assert!(report["not_run"] == 0 && report["dissection"]["unfinished"].as_u64().unwrap() > 0, "{report}");
    assert!(part.err.contains("failures is not finished. Resume with: planproof test --resume"), "{part:?}");
    let (_, runs) = finished(&place).unwrap();
    assert_eq!(runs.len(), 30);
    let resumed = place.run("test --resume last --max-tokens 9000000 -q --json").code(1).json();
    assert_eq!(resumed["dissection"]["unfinished"], json!(0));
    assert_eq!(causes(&resumed), causes(&whole));
}

#[test]
fn a_recorded_dissection_is_replayed() {
    let place = Place::new();
    let line =
        "test tools@sim/planted/structure --cases 12 --dissect --dissect-k 1 --record r.jsonl -q --json";
    let recorded = place.run(line).code(1).json();
    let replayed = place.run("test --replay r.jsonl -q --json").code(0).json();
    assert_eq!(causes(&replayed), causes(&recorded));
    assert!(share(&replayed, "structure") > 0.99);
}

#[test]
fn options_out_of_range_are_refused() {
    let place = Place::new();
    for (options, part) in [
        ("--dissect --dissect-k 0", "--dissect-k is 0; it must be a whole number from 1 to 100"),
        ("--dissect --dissect-k 101", "--dissect-k is 101"),
        (
            "--dissect --dissect-reruns 101",
            "--dissect-reruns is 101; it must be a whole number from 0 to 100",
        ),
        ("--dissect-k 3", "--dissect"),
        ("--dissect --compat paper", "original"),
        ("--dissect --dissect-max 0", "--dissect-max is 0; it must be a whole number from 1"),
    ] {
        let run = place.run(&format!("test tools@sim/perfect --cases 2 {options}")).code(2);
        assert!(run.err.contains(part), "{options}: {run:?}");
    }
    // Nothing failed, so there is nothing to dissect.
    let report = place.run("test tools@sim/perfect --cases 5 --dissect -q --json").code(0).json();
    assert_eq!((&report["dissection"]["taken"], &report["dissection"]["runs"]), (&json!(0), &json!(0)));
}
