//! `test --shrink`.

use serde_json::{Value, json};

use crate::support::Place;

#[test]
fn a_planted_word_is_shrunk_to_one_sentence_that_fails_again() {
    let place = Place::new();
    let line = "test tools@sim/planted/word --cases 60 --actions 8 --shrink --shrink-max 4 --shrink-to small.jsonl -q";
    let report = place.run(&format!("{line} --json")).code(1).json();
    let shrinking = &report["shrinking"];
    assert_eq!(
        (&shrinking["taken"], &shrinking["reproduced"], &shrinking["distinct"]),
        (&json!(4), &json!(4), &json!(1))
    );
    for failure in shrinking["failures"].as_array().unwrap() {
        assert_eq!(
            (&failure["from"]["actions"], &failure["to"]["actions"]),
            (&json!(8), &json!(2)),
            "{failure}"
        );
        assert_eq!(failure["end"], "minimal");
        assert_eq!((&failure["confirmed"], &failure["confirmations"]), (&json!(5), &json!(5)));
        assert!(failure["paragraph"].as_str().unwrap().to_lowercase().contains("in advance of"), "{failure}");
    }
    // The smallest cases are proper ones, and fail again.
    place.run("read small.jsonl --verify").code(0);
    let again = place.run("test tools@sim/planted/word --from small.jsonl -q --json").code(1).json();
    assert_eq!((&again["cases"], &again["failed"]), (&json!(4), &json!(4)));
    // The same seed gives the same.
    let same = place.run(&format!("{line} --json")).code(1).json();
    assert_eq!(same["shrinking"], *shrinking);
    let shown = place.run(line).code(1);
    for words in
        ["Shrunk 4 failures", "1 distinct", "from 8 actions to 2", "and 3 alike", "5 more runs 5 failed"]
    {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
}

#[test]
fn without_failures_nothing_is_shrunk() {
    let place = Place::new();
    let report = place.run("test tools@sim/perfect --cases 5 --shrink -q --json").code(0).json();
    assert_eq!((&report["shrinking"]["taken"], &report["shrinking"]["failures"]), (&json!(0), &json!([])));
    let report: Value = place.run("test tools@sim/perfect --cases 5 -q --json").code(0).json();
    assert_eq!(report.get("shrinking"), None);
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let place = Place::new();
    for options in [
        "--shrink --record r.jsonl",
        "--shrink-max 3",
        "--shrink-to small.jsonl",
        "--shrink --shrink-max 0",
        "--shrink --shrink-repeat 101",
    ] {
        place.run(&format!("test tools@sim/perfect --cases 2 {options}")).code(2);
    }
}
