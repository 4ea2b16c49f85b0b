//! Models that repeat our words: an echo alone passes no case, and hides no right answer.

use serde_json::json;

use crate::support::Place;

/// The suites that come with cases, and the kinds of agents that make sense there.
const SUITES: [(&str, &[&str]); 7] = [
    (
        "bench gsm8k",
        &["tools", "tools-cot", "direct", "cot", "one-step", "sequential", "hierarchical", "plan", "team"],
    ),
    ("bench hotpotqa", &["tools", "direct", "react", "one-step", "team"]),
    ("bench triviaqa", &["tools", "cot", "sequential"]),
    ("bench tptu --limit 60", &["tools", "one-step", "sequential", "hierarchical", "plan"]),
    ("bench mnms", &["tools", "plan", "one-step", "sequential"]),
    ("bench apibank --limit 20", &["tools", "react", "one-step", "sequential", "team"]),
    ("test --cases 8", &["tools", "react", "rewoo", "plan", "one-step", "sequential", "team"]),
];

#[test]
#[ignore = "slow"]
fn an_echo_alone_passes_no_case() {
    let place = Place::new();
    let travel = [
        ("bench travelplanner --mode two-stage --limit 4", &["two-stage", "tools"][..]),
        ("bench travelplanner --mode sole-planning --limit 4", &["tools", "direct"]),
        ("bench travelplanner --mode reading --limit 4", &["tools"]),
    ];
    for (line, kinds) in SUITES.into_iter().chain(travel) {
        for kind in kinds {
            // Repeats differ in what is repeated.
            let line = format!("{line} {kind}@sim/echo --repeat 4 --iterations 12 --json -q");
            let report = place.run(&line).json();
            assert_eq!(report["passed"], json!(0), "{line}: {report}");
            assert_eq!(
                (&report["unscored"], report["failed"].as_u64() > Some(0)),
                (&json!(0), true),
                "{line}: {report}"
            );
        }
    }
}

#[test]
#[ignore = "slow"]
fn an_echo_hides_no_right_answer() {
    let place = Place::new();
    for (line, kinds, cases) in [
        ("bench gsm8k", &["tools", "cot", "one-step", "sequential", "team"][..], 10),
        ("bench hotpotqa", &["tools", "direct", "one-step"], 10),
        ("bench triviaqa", &["tools", "cot", "sequential"], 10),
        ("bench tptu", &["tools", "one-step", "sequential"], 200),
        ("bench apibank", &["tools"], 50),
    ] {
        for kind in kinds {
            let line = format!("{line} {kind}@sim/gold/echo --json -q");
            let report = place.run(&line).json();
            assert_eq!(
                (&report["passed"], &report["unscored"]),
                (&json!(cases), &json!(0)),
                "{line}: {report}"
            );
        }
    }
    for mode in ["two-stage", "sole-planning", "reading"] {
        let line = format!("bench travelplanner --mode {mode} --limit 5 tools@sim/gold/echo --json -q");
        let report = place.run(&line).json();
        assert_eq!((&report["passed"], &report["unscored"]), (&json!(5), &json!(0)), "{line}: {report}");
    }
}
