//! `planproof test --repeat`.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::child;
use crate::recording::without_times;
use crate::stored::finished_count;
use crate::support::{Place, Run, json_lines, send};

#[test]
fn repeats_are_counted_shown_and_written() {
    let place = Place::new();
    let files = "--csv r.csv --junit r.xml --html r.html --inspect r.json --step-summary r.md";
    let line = format!("test tools@sim/careless --cases 40 --repeat 3 --findings 1 {files}");
    let run = place.run(&line).code(1);
    assert!(run.err.contains(": 40 cases, each 3 times\n"), "{run:?}");
    assert!(run.out.starts_with("tools@sim/careless, 40 cases, each 3 times, seed 7\n"), "{run:?}");
    assert!(run.out.contains("pass^k (% [95 %])") && run.out.contains("sometimes (flaky)"), "{run:?}");

    let report = place.run("runs show last --json -q").code(0).json();
    assert_eq!((&report["cases"], &report["runs"], &report["repeats"]), (&json!(40), &json!(120), &json!(3)));
    let repeated = &report["repeated"];
    let count = |name: &str| repeated[name].as_u64().unwrap();
    assert_eq!(count("always") + count("flaky") + count("never"), 40);
    assert!(count("flaky") > 0);
    let all: Vec<f64> = (0..3).map(|k| repeated["pass_all"][k]["rate"].as_f64().unwrap()).collect();
    assert!((all[0] - report["passed"].as_f64().unwrap() / 120.0).abs() < 1e-9 && all[0] > all[2], "{all:?}");
    // Judged again from the traces it comes to the same.
    assert_eq!(place.run("runs show last --judge-again --json -q").code(0).json()["repeated"], *repeated);

    let text = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert_eq!(text("r.csv").lines().filter(|line| line.contains("\"7-39\",")).count(), 3);
    assert_eq!(text("r.xml").matches("<testcase").count(), 120);
    assert!(text("r.xml").contains("repeat 2\" classname="));
    let log: Value = serde_json::from_str(&text("r.json")).unwrap();
    assert_eq!((&log["eval"]["config"]["epochs"], &log["samples"][5]["epoch"]), (&json!(3), &json!(3)));
    assert!(text("r.html").contains("Each case is run 3 times") && text("r.md").contains("### Repeats"));

    let traces = json_lines(&place.run("runs export last").code(0).out);
    let heads = traces.iter().filter(|line| line["schema"] == "planproof/trace/v1");
    let units: Vec<(&Value, u64)> =
        heads.map(|head| (&head["case"], head["repeat"].as_u64().unwrap())).collect();
    assert_eq!(units.len(), 120);
    assert_eq!(&units[..4], [(&json!("7-0"), 0), (&json!("7-0"), 1), (&json!("7-0"), 2), (&json!("7-1"), 0)]);

    place.run("runs show last --case 7-3 --repeat 2").code(0);
    let past = place.run("runs show last --case 7-3 --repeat 3").code(2);
    assert!(past.err.contains("--repeat is 3; each case of campaign"), "{past:?}");
}

#[test]
fn the_first_runs_are_those_of_a_campaign_without_repeats() {
    let place = Place::new();
    let verdicts = |line: &str| {
        place.run(line).code(1);
        json_lines(&place.run("runs export last --format verdicts").code(0).out)
    };
    let once = verdicts("test tools@sim/careless --cases 30 -q");
    let twice = verdicts("test tools@sim/careless --cases 30 --repeat 2 -q");
    assert!(once.iter().eq(twice.iter().step_by(2)));
    assert!(!once.iter().eq(twice.iter().skip(1).step_by(2)));
}

#[test]
#[ignore = "slow"]
fn repeats_are_bounded_and_kept_from_the_beginning() {
    let place = Place::new();
    for (line, what) in [
        ("test tools@sim/perfect --repeat 101", "--repeat is 101; it must be a whole number from 1 to 100"),
        ("test tools@sim/perfect --cases 60000 --repeat 20", "--repeat 20 makes 1200000 runs of 60000 cases"),
        ("test tools@sim/perfect --repeat 0", "--repeat is 0; it must be a whole number from 1 to 100"),
        ("test --resume last --repeat 2", "cannot be used with"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(what), "{run:?}");
    }
}

#[test]
fn budgets_recordings_and_replays_know_repeats() {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 30 --repeat 3 --record r.jsonl --max-tokens 30000 -q --json";
    let ended = place.run(line).json();
    assert!(ended["not_run"].as_u64().unwrap() > 0, "{ended}");
    let whole = place.run("test --resume last --max-tokens 10000000 -q --json").code(1);
    assert_eq!((&whole.json()["runs"], &whole.json()["not_run"]), (&json!(90), &json!(0)));
    let replayed = place.run("test --replay r.jsonl -q --json").code(0);
    assert_eq!(replayed.err, "");
    let without = |run: &Run| {
        let mut report = without_times(run.json());
        report["cost"] = Value::Null;
        report
    };
    assert_eq!(without(&replayed), without(&whole));
}

/// A framework's own cache answers in every run of a case but the first: what it gives is not a repeat.
#[test]
fn repeats_that_ask_the_model_nothing_are_named() {
    let place = Place::new();
    let words = "--serve-model sim/perfect --cases 4 --repeat 3 --concurrency 2";
    let files = "--html r.html --step-summary r.md";
    let first = child::test(&place, "list ask-or-know", &format!("{words} --record r.jsonl {files}")).code(1);
    let what = "8 runs asked the model nothing, although another run of the same case did: a cache of the agent's own \
                answered. They are no repeats, and pass^k takes every run for one.";
    assert!(first.out.contains(what), "{first:?}");
    for file in ["r.html", "r.md"] {
        let text = fs::read_to_string(place.path(file)).unwrap();
        assert!(text.contains(what), "{text}");
    }
    let count = |line: &str| place.run(line).code(0).json()["repeated"]["without_requests"].clone();
    for line in ["runs show last --json -q", "runs show last --judge-again --json -q"] {
        assert_eq!(count(line), 8, "{line}");
    }
    // An agent that asks in every run, and one of which nobody knows.
    let asks = child::test(&place, "list ask", &format!("{words} -q --json")).code(1).json();
    assert_eq!(asks["repeated"]["without_requests"], 0);
    let unserved = child::test(&place, "list", "--cases 4 --repeat 3 -q --json").code(1).json();
    assert_eq!(unserved["repeated"].get("without_requests"), None);

    // A replay runs the agent anew, here with an empty cache.
    fs::remove_dir_all(place.path("answers")).unwrap();
    let replayed = child::test(&place, "list ask-or-know", "--replay r.jsonl -q --json");
    assert_eq!(replayed.code(0).json()["repeated"]["without_requests"], 8);
}

/// What was finished before counts with what is finished after.
#[test]
fn a_resumed_campaign_knows_which_repeats_asked_nothing() {
    const CASES: usize = 20;
    let place = Place::new();
    let agent = child::agent_name();
    let options = "--serve-model sim/perfect --cases 20 --repeat 3 --concurrency 1 -q";
    let words: Vec<&str> = ["test", &agent].into_iter().chain(options.split(' ')).collect();
    let mut command = child::command(&place, "list ask-or-know", &words);
    let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    crate::until("a repeat is finished", || (finished_count(&place) > CASES).then_some(()));
    send(&process, "INT");
    assert_eq!(process.wait_with_output().unwrap().status.code(), Some(3));
    assert!(finished_count(&place) < 3 * CASES);
    let resume = ["test", "--resume", "last", "-q", "--json"];
    let whole = child::run(&place, "list ask-or-know", &resume).code(1).json();
    assert_eq!((&whole["runs"], &whole["repeated"]["without_requests"]), (&json!(60), &json!(40)));
}

#[test]
fn campaigns_with_repeats_are_compared_case_by_case() {
    let place = Place::new();
    let id = |line: &str, code: i32| {
        place.run(line).code(code);
        json_lines(&place.run("runs list --json").code(0).out)[0]["run"].as_str().unwrap().to_owned()
    };
    let careless = id("test tools@sim/careless --cases 30 --repeat 4 -q", 1);
    let perfect = id("test tools@sim/perfect --cases 30 --repeat 2 -q", 0);
    let text = place.run(&format!("report {careless} {perfect}")).code(0).out;
    assert!(text.contains("A difference as large as this comes about by chance with p < 0.001"), "{text}");
    let comparison = place.run(&format!("report {careless} {perfect} --json")).code(0).json();
    assert_eq!((&comparison["a"]["runs"], &comparison["b"]["runs"]), (&json!(120), &json!(60)));
    assert_eq!(comparison["changes"]["broken"], 0);
    let same = place.run(&format!("report {careless} {careless} --json")).code(0).json();
    assert_eq!((&same["p_value"], &same["difference"]), (&json!(1.0), &json!(0.0)));
    place.run(&format!("report {careless} {perfect} --html c.html")).code(0);
    assert!(fs::read_to_string(place.path("c.html")).unwrap().contains("sign-flip test over cases"));
}
