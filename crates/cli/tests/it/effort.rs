//! Limits on what runs take beside their verdicts: `--fail-over`.

use serde_json::{Value, json};

use crate::child::call_all_tools;
use crate::stand_in::{StandIn, answer};
use crate::support::Place;

#[test]
fn a_right_run_that_takes_too_much_fails_the_criterion_and_keeps_its_verdict() {
    let place = Place::new();
    let plain = place.run("test tools@sim/perfect --cases 20 --json -q").code(0).json();
    assert_eq!(plain["effort"].get("over"), None);
    // One call after the other is as many rounds as calls.
    assert_eq!(plain["effort"]["calls"], plain["effort"]["rounds"]);
    assert_eq!(plain["effort"]["needed"], json!({ "calls": 4, "rounds": 3 }));
    place.run("test tools@sim/perfect --cases 20 --fail-over calls=1x,tokens=100000 -q").code(0);
    let failed = place.run("test tools@sim/perfect --cases 20 --fail-over rounds=+0 --junit j.xml").code(1);
    let line = "right, but over --fail-over rounds=+0, as case 7-0: rounds ";
    assert!(failed.out.contains("Passed:     20 of 20") && failed.out.contains(line), "{failed:?}");
    assert!(failed.out.contains("\nMedian run: 4 calls (4 needed), 4 rounds (3 needed), "), "{failed:?}");
    let report = place.run("report last --json -q").code(0).json();
    let over = &report["effort"]["over"];
    assert_eq!(over["limits"], "rounds=+0");
    assert!(over["right"].as_u64() > Some(0) && over["wrong"] == 0, "{over}");
    for key in ["passed", "failed", "classes", "flags", "low", "high"] {
        assert_eq!(report[key], plain[key], "{key}");
    }
    let again = place.run("runs show last --judge-again --json -q").code(0).json();
    assert_eq!(again["effort"], report["effort"]);
    let case = over["runs"][0]["case"].as_str().unwrap();
    let shown = place.run(&format!("runs show last --case {case}")).code(0).out;
    let what = over["runs"][0]["over"][0].as_str().unwrap();
    assert!(shown.contains(&format!("\npassed, but over: {what}\n")), "{shown}");
    let failures =
        std::fs::read_to_string(place.path("j.xml")).unwrap().matches("type=\"over\"").count() as u64;
    assert_eq!(Some(failures), over["right"].as_u64());
    // The limits belong to the campaign.
    let resumed = place.run("test --resume last --json -q").code(1).json();
    assert_eq!(&resumed["effort"]["over"], over);
    place.run("test --resume last --fail-over calls=9").code(2);
    // A campaign on the same cases has them as well, unless it names its own.
    let like = place.run("test tools@sim/parallel --like last --json -q").code(0).json();
    assert_eq!(like["effort"]["over"]["limits"], "rounds=+0");
    let own = place.run("test tools@sim/parallel --like last --fail-over calls=1x --json -q").code(0).json();
    assert_eq!(own["effort"]["over"]["limits"], "calls=1x");
}

#[test]
fn the_share_of_right_runs_is_one_within_the_limits() {
    let place = Place::new();
    let line = "test tools@sim/perfect --cases 20 --fail-over rounds=+1";
    let run = place.run(&format!("{line} --success-min 50%")).code(0);
    assert!(run.err.contains(" of 20 scored runs passed within the limits, which reaches"), "{run:?}");
    place.run(&format!("{line} --success-min 95%")).code(1);
    let refused = place.run(&format!("{line} --success-min 50%:proved")).code(2);
    assert!(refused.err.contains("does not go with --fail-over"), "{refused:?}");
    // A gate knows nothing of limits, which count beside it.
    place.run("test tools@sim/perfect --cases 120 --label main -q").code(0);
    place.run("test tools@sim/perfect --cases 120 --baseline main -q").code(0);
    place.run("test tools@sim/perfect --cases 120 --baseline main --fail-over rounds=1x -q").code(1);
}

#[test]
fn a_replay_is_held_to_the_recorded_limits_or_to_its_own() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 10 --fail-over rounds=1x --record r.jsonl -q").code(1);
    let replay = place.run("test --replay r.jsonl --json -q").code(1).json();
    assert_eq!(replay["effort"]["over"]["limits"], "rounds=1x");
    let own = place.run("test --replay r.jsonl --fail-over rounds=3x --json -q").code(0).json();
    assert_eq!(own["effort"]["over"]["limits"], "rounds=3x");
}

#[test]
fn limits_that_say_nothing_are_refused_before_anything_runs() {
    let place = Place::new();
    for (limits, expected) in [
        ("calls=0x", "calls=0x is less than what is needed"),
        ("rounds=-1", "rounds=-1 is not a limit"),
        ("tokens=2x", "nobody knows how many tokens a case needs"),
        ("call=2", "did you mean `calls`?"),
        ("calls=2,calls=3", "calls is limited twice"),
        ("calls=9999999999999999999999", "is too large"),
    ] {
        let run = place.run(&format!("test tools@sim/perfect --cases 1 --fail-over {limits}")).code(2);
        assert!(run.err.contains(expected), "{limits}: {run:?}");
    }
    let unknown = [
        "bench gsm8k tools@sim/gold --limit 2 --fail-over calls=2x",
        "bench gsm8k tools@sim/gold --limit 2 --fail-over rounds=+1",
        "test tools@sim/perfect --cases 2 --faults transient=0.2 --fail-over calls=2x",
    ];
    for line in unknown {
        let run = place.run(line).code(2);
        assert!(
            run.err.starts_with("error: --fail-over ") && run.err.contains("nobody knows how many"),
            "{run:?}"
        );
    }
    assert!(!place.path("planproof.db").exists());
    place.run("bench gsm8k tools@sim/gold --limit 2 --fail-over calls=50 -q").code(0);
}

#[test]
fn each_combination_of_a_matrix_is_held_to_the_limits() {
    let place = Place::new();
    let line = "bench gsm8k tools@sim/gold cot@sim/gold --limit 3 --json -q --fail-over";
    let table = place.run(&format!("{line} tokens=1")).code(1).json();
    let over: Vec<&Value> =
        table["combinations"].as_array().unwrap().iter().map(|row| &row["effort"]["over"]["right"]).collect();
    assert_eq!(over, [3, 3]);
    place.run(&format!("{line} tokens=1000000")).code(0);
}

/// A service with a model of its own: its calls are counted, and its tokens by nobody.
#[test]
fn a_limit_of_tokens_that_nobody_counted_decides_nothing() {
    let service = StandIn::start(|_, body| {
        call_all_tools(body["mcp_url"].as_str().unwrap());
        answer("200 OK", "", &json!({"answer": "Done."}).to_string())
    });
    let place = Place::new();
    let line =
        format!("test url:{}/run --cases 4 --actions 2 --success-min 1% --fail-over", service.base_url());
    let unknown = place.run(&format!("{line} tokens=100")).code(3);
    assert!(unknown.err.contains("cannot tell whether --fail-over tokens=100 is kept"), "{unknown:?}");
    assert!(
        unknown.out.contains("its tokens are unknown") && !unknown.out.contains(" tokens;"),
        "{unknown:?}"
    );
    // A model that is served to it is metered for the whole campaign, and not for each run.
    let served = place.run(&format!("{line} tokens=100 --serve-model sim/perfect")).code(3);
    assert!(!served.out.contains("0 tokens"), "{served:?}");
    place.run(&format!("{line} calls=1x -q")).code(0);
    place.run(&format!("{line} calls=1 -q")).code(1);
}
