//! What runs took, and limits on it.

use std::time::Duration;

use planproof_engine::{OVER_LISTED_MAX, Report, RunSummary, SummaryInput};
use planproof_suite::{Card, Effort, EffortLimits, Needed, Scored};
use planproof_trace::Usage;
use serde_json::{Value, json};

use crate::toy::{Toys, card, class};

fn needing(needed: Option<Needed>, count: usize) -> Vec<Card> {
    (0..count).map(|place| Card { needed, ..card(&format!("c{place}"), 1, [None; 3]) }).collect()
}

/// A run of each case: with a score and whether it passed, its calls, and its rounds.
fn runs(of: &[(Option<bool>, u32, u32)]) -> Vec<RunSummary> {
    let run = |(ordinal, (passed, calls, rounds)): (u32, &(Option<bool>, u32, u32))| RunSummary {
        ordinal,
        repeat: 0,
        scored: passed
            .map(|passed| Scored { class: (!passed).then(|| class("broken")), ..Scored::default() }),
        wall: Duration::from_millis(100 * u64::from(*calls)),
        usage: Usage::new(10 * u64::from(*calls), 1),
        monitor: None,
        team: None,
        memory: None,
        guard: None,
        requests: None,
        effort: Effort { calls: *calls, rounds: *rounds },
    };
    (0..).zip(of).map(run).collect()
}

fn report(cards: &[Card], runs: &[RunSummary], model: Option<&str>) -> Report {
    Report::of_summaries(SummaryInput {
        suite: &Toys,
        agent: "tools@sim",
        model,
        simulated: true,
        cards,
        repeats: 1,
        runs,
        synthesis: None,
        cost: None,
        ended_by: None,
    })
}

fn effort(report: &Report) -> Value {
    serde_json::to_value(&report.effort).expect("it is JSON")
}

#[test]
fn a_report_has_the_median_and_the_95th_percentile_of_scored_runs() {
    let needed = Some(Needed { calls: 2, rounds: Some(1) });
    let cards = needing(needed, 4);
    // The unscored run took most, and does not count.
    let runs = runs(&[(Some(true), 4, 3), (Some(false), 2, 2), (None, 90, 90), (Some(true), 9, 1)]);
    let found = report(&cards, &runs, Some("m"));
    assert_eq!(
        effort(&found),
        json!({
            "calls": { "median": 4, "p95": 9 },
            "rounds": { "median": 2, "p95": 3 },
            "tokens": { "median": 41, "p95": 91 },
            "needed": { "calls": 2, "rounds": 1 },
        })
    );
    let times = serde_json::to_value(found.run_seconds).expect("it is JSON");
    assert_eq!(times, json!({ "median": 0.4, "p95": 0.9 }));
    // One case of which nothing is known leaves nothing to say of all.
    let mut some = cards.clone();
    some[1].needed = None;
    assert_eq!(effort(&report(&some, &runs, Some("m")))["needed"], Value::Null);
    some[1].needed = Some(Needed { calls: 8, rounds: None });
    let found = effort(&report(&some, &runs, Some("m")));
    assert_eq!(found["needed"], json!({ "calls": 2, "rounds": null }));
    // No run is scored.
    let nothing = report(&cards, &runs[2..3], Some("m"));
    assert_eq!(effort(&nothing), Value::Null);
    let whole = serde_json::to_value(&nothing).expect("it is JSON");
    assert!(whole.get("effort").is_none());
}

#[test]
fn runs_over_a_limit_are_counted_apart_from_their_verdicts() {
    let cards = needing(Some(Needed { calls: 3, rounds: Some(2) }), 4);
    let runs = runs(&[(Some(true), 4, 3), (Some(false), 7, 2), (None, 90, 90), (Some(true), 3, 3)]);
    let mut found = report(&cards, &runs, Some("m"));
    let before = (found.passed, found.failed, found.classes.clone());
    assert_eq!(found.over(), None);
    found.hold_to(EffortLimits::parse("calls=1x,tokens=40").expect("limits"), &cards, &runs);
    assert_eq!(
        effort(&found)["over"],
        json!({
            "limits": "calls=1x,tokens=40",
            "right": 1, "wrong": 1, "calls": 2, "rounds": 0, "tokens": 2,
            "runs": [{ "case": "c0", "repeat": 0, "over": ["calls 4 of at most 3", "tokens 41 of at most 40"] }],
        })
    );
    assert_eq!((found.passed, found.failed, found.classes.clone()), before);
    let over = found.over().expect("it was held to limits");
    assert_eq!((over.all(), over.by_limit()), (2, "calls 2, tokens 2".to_owned()));
}

#[test]
fn a_limit_of_tokens_that_nobody_counted_is_unknown() {
    let cards = needing(None, 1);
    let mut runs = runs(&[(Some(true), 4, 3)]);
    let counted = runs[0].usage;
    let limits = EffortLimits::parse("tokens=40").expect("limits");
    // A program may be served a model whose tokens are known of the campaign alone.
    for (model, usage, unknown) in [
        (None, Usage::default(), true),
        (Some("m"), Usage::default(), true),
        (None, counted, false),
        (Some("m"), counted, false),
    ] {
        runs[0].usage = usage;
        let mut found = report(&cards, &runs, model);
        found.hold_to(limits, &cards, &runs);
        assert_eq!(found.over().map(|over| over.tokens_unknown), Some(unknown), "{model:?} {usage:?}");
    }
}

#[test]
fn long_lists_are_cut_and_counts_are_not() {
    let count = OVER_LISTED_MAX + 5;
    let (cards, runs) = (needing(None, count), runs(&vec![(Some(true), 2, 2); count]));
    let mut found = report(&cards, &runs, None);
    found.hold_to(EffortLimits::parse("calls=1").expect("limits"), &cards, &runs);
    let over = found.over().expect("it was held to limits");
    assert_eq!((over.right, over.runs.len()), (count as u64, OVER_LISTED_MAX));
}

/// Old summaries have no calls, so they are not read, and the runs are judged again from their traces.
#[test]
fn summaries_and_cards_from_before_calls_were_counted_are_not_read() {
    use planproof_engine::{Unit, card_from_json, card_to_json};
    let summary = &runs(&[(Some(true), 4, 3)])[0];
    let text = summary.to_json();
    let read = |text: &str| {
        RunSummary::from_json(&Toys, Unit { ordinal: 0, repeat: 0 }, Some(true), None, summary.wall, text)
    };
    assert_eq!(read(&text).as_ref(), Some(summary));
    let older = text.replace(r#""effort":{"calls":4,"rounds":3},"#, "");
    assert_ne!(older, text);
    assert_eq!(read(&older), None);
    let text = card_to_json(&needing(None, 1)[0]);
    assert!(card_from_json(&text).is_some());
    let older = text.replace(r#","needed":null"#, "");
    assert_ne!(older, text);
    assert_eq!(card_from_json(&older), None);
}
