//! Reports and summaries of any suite.

use std::time::Duration;

use planproof_engine::{Report, RunSummary, SummaryInput, SynthesisUse, Unit};
use planproof_suite::{Card, Effort, Score, Scored};
use planproof_trace::Usage;
use serde_json::{Value, json};

use crate::toy::{Toys, card, class};

/// A run of the case with this ordinal.
fn run(ordinal: u32, scored: Option<Scored>) -> RunSummary {
    RunSummary {
        ordinal,
        repeat: 0,
        scored,
        wall: Duration::from_millis(250),
        usage: Usage::new(3, 2),
        monitor: None,
        team: None,
        memory: None,
        guard: None,
        requests: None,
        effort: Effort::default(),
    }
}

fn judged(passed: bool) -> Option<Scored> {
    let class = (!passed).then(|| class("broken"));
    Some(Scored { class, flags: Vec::new(), scores: vec![Score::new("bounces", 2.0)] })
}

fn report(cards: &[Card], runs: &[RunSummary]) -> Report {
    Report::of_summaries(SummaryInput {
        suite: &Toys,
        agent: "tools@sim",
        model: None,
        simulated: true,
        cards,
        repeats: 1,
        runs,
        synthesis: None,
        cost: None,
        ended_by: None,
    })
}

fn json(report: &Report) -> Value {
    serde_json::to_value(report).expect("it is JSON")
}

/// The rate over all runs weights each size by its number of runs, and the best agent is the one that is best over
/// all of them.
#[test]
fn baselines_are_weighted_by_runs_and_of_several_agents_the_best_counts() {
    let cards = [
        card("a", 1, [Some(0.5), Some(1.0), Some(0.0)]),
        card("b", 1, [Some(0.1), Some(0.0), Some(0.0)]),
        card("c", 4, [Some(0.9), Some(0.0), Some(1.0)]),
        card("d", 4, [Some(0.9), Some(0.0), Some(1.0)]),
        card("e", 4, [Some(0.0), Some(1.0), Some(0.0)]),
        // Not run, and therefore ignored.
        card("f", 9, [Some(0.0), Some(0.0), None]),
    ];
    let mut runs: Vec<RunSummary> = (0..5).map(|place| run(place, judged(place == 0))).collect();
    runs.push(run(5, None));
    let report = report(&cards, &runs);
    let [small, large] = report.by_size.as_slice() else { panic!("two sizes have scored runs") };
    assert_eq!((small.size, small.cases, small.runs, small.passed), (1, 2, 2, 1));
    assert_eq!((large.size, large.cases, large.runs, large.passed), (4, 3, 3, 0));
    let near = |rate: Option<f64>, wanted: f64| {
        assert!(rate.is_some_and(|rate| (rate - wanted).abs() < 1e-12), "{rate:?}, not {wanted}");
    };
    near(small.baselines.rate("coin"), 0.3);
    near(small.baselines.rate("guess"), 0.5);
    near(large.baselines.rate("coin"), 0.6);
    near(large.baselines.rate("guess"), 2.0 / 3.0);
    near(report.baseline("coin"), (0.5 + 0.1 + 0.9 + 0.9) / 5.0);
    // Left passes 2 of 5, and so does right. Combining the best agent of each size would give 3 of 5.
    near(report.baseline("guess"), 0.4);
    assert_eq!(report.baseline("dice"), None);
    let titles: Vec<&str> = report.baselines().iter().map(|rate| rate.baseline.title).collect();
    assert_eq!(titles, ["Coin", "Guess"]);
    let written = json(&report);
    assert_eq!(written["unit"], "parts");
    assert_eq!(
        written["by_size"][0]["baselines"],
        json!({ "coin": 0.3, "guess": { "left": 0.5, "right": 0.0 } })
    );
}

#[test]
fn a_baseline_that_is_unknown_for_one_run_is_unknown_for_all() {
    let cards = [
        card("a", 1, [Some(0.5), Some(1.0), Some(0.0)]),
        card("b", 1, [None, Some(1.0), None]),
        card("c", 2, [Some(0.5), Some(0.0), Some(1.0)]),
    ];
    let runs: Vec<RunSummary> = (0..3).map(|place| run(place, judged(true))).collect();
    let report = report(&cards, &runs);
    assert_eq!(report.by_size[0].baselines.rate("coin"), None);
    assert_eq!(report.by_size[1].baselines.rate("coin"), Some(0.5));
    assert_eq!(report.baseline("coin"), None);
    // If only one of two agents is known, it is the best.
    assert_eq!(report.by_size[0].baselines.rate("guess"), Some(1.0));
    assert_eq!(report.baseline("guess"), Some(2.0 / 3.0));
    let written = json(&report);
    assert_eq!(
        written["by_size"][0]["baselines"],
        json!({ "coin": null, "guess": { "left": 1.0, "right": null } })
    );
    // Without a run nothing is known.
    let none = self::report(&cards, &[]);
    assert_eq!((none.by_size.len(), none.baseline("coin"), none.baselines().iter().count()), (0, None, 0));
}

#[test]
fn cases_scored_apart_are_in_no_rate_but_in_times_and_in_the_suites_own_figures() {
    let apart = |id| Card { apart: Some("hidden".into()), ..card(id, 1, [Some(1.0); 3]) };
    let cards = [card("a", 1, [Some(0.5); 3]), apart("b"), apart("c"), apart("d")];
    let runs = [run(0, judged(true)), run(1, judged(false)), run(2, None)];
    let report = report(&cards, &runs);
    assert_eq!((report.cases, report.runs, report.passed, report.failed, report.not_run), (1, 1, 1, 0, 0));
    assert_eq!(report.baseline("coin"), Some(0.5));
    let apart = report.apart.as_ref().expect("there are some");
    assert_eq!((apart.word.as_str(), apart.cases, apart.runs), ("hidden", 2, 2));
    assert_eq!((apart.passed, apart.failed, apart.unscored, apart.not_run), (0, 1, 1, 1));
    assert_eq!((report.all_runs(), report.all_scored(), report.all_failed()), (3, 2, 1));
    assert_eq!((report.all_cases(), report.all_unscored(), report.all_not_run()), (3, 1, 1));
    let written = json(&report);
    assert_eq!(written["agent_seconds"], 0.75);
    assert_eq!(written["tokens"], json!({ "input": 9, "output": 6 }));
    // Values that only the suite understands are in fields with its own names.
    assert_eq!(written["suite"], "toys");
    assert_eq!(written["metrics"]["bounces"], json!({ "value": 4.0, "low": null, "high": null }));
    assert_eq!(written["playground"], json!({ "runs": 3, "planned": 4 }));
    for absent in ["apart", "solver", "synthesis_seconds", "shrinking"] {
        assert!(written.get(absent).is_none(), "{absent}");
    }
}

#[test]
fn what_synthesis_took_is_reported_where_there_was_one() {
    let synthesis = SynthesisUse {
        solver_calls: 3,
        solver_time: Duration::from_millis(500),
        time: Duration::from_millis(750),
    };
    let cards = [card("a", 1, [None; 3])];
    let written = json(&Report::of_summaries(SummaryInput {
        suite: &Toys,
        agent: "tools@sim",
        model: None,
        simulated: true,
        cards: &cards,
        repeats: 1,
        runs: &[],
        synthesis: Some(synthesis),
        cost: None,
        ended_by: None,
    }));
    assert_eq!(written["solver"], json!({ "calls": 3, "seconds": 0.5 }));
    assert_eq!(written["synthesis_seconds"], 0.75);
}

#[test]
fn summaries_of_runs_keep_scores() {
    let unit = Unit { ordinal: 7, repeat: 2 };
    let scores = vec![Score::new("rolls", 0.25), Score { metric: "bounces", value: 1e-9, weight: 12.0 }];
    let summary = RunSummary {
        ordinal: 7,
        repeat: 2,
        requests: Some(4),
        ..run(0, Some(Scored { class: Some(class("late")), flags: vec!["broken", "loud"], scores }))
    };
    let text = summary.to_json();
    let read = |text: &str| {
        RunSummary::from_json(&Toys, unit, Some(false), Some("late"), Duration::from_millis(250), text)
    };
    assert_eq!(read(&text), Some(summary));
    for wrong in [
        text.replace("rolls", "flies"),
        text.replace("loud", "quiet"),
        text.replace("\"scores\"", "\"points\""),
        text.replace("\"requests\"", "\"asked\""),
        text.replace("0.25", "\"much\""),
    ] {
        assert_ne!(wrong, text);
        assert_eq!(read(&wrong), None, "{wrong}");
    }
    // Without scores, the report does not mention them.
    let bare = run(7, Some(Scored::default()));
    assert!(!bare.to_json().contains("scores"));
    let read = RunSummary::from_json(
        &Toys,
        Unit { ordinal: 7, repeat: 0 },
        Some(true),
        None,
        Duration::from_millis(250),
        &bare.to_json(),
    );
    assert_eq!(read, Some(bare));
}
