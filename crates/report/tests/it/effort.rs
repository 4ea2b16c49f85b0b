//! Runs that passed and took too much, in every report.

use planproof_engine::{RunSummary, over_in_words};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{csv, inspect, junit, median_run, over_limits, step_summary};
use planproof_sim::SimKind;
use planproof_suite::{Card, EffortLimits};
use planproof_synth::SynthesisOptions;
use roxmltree::Document;

use crate::campaigns::TestCampaign;

/// Right and wrong runs held to these limits.
fn held_to(limits: &str) -> TestCampaign {
    let mut campaign = TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 30);
    let cards: Vec<Card> = campaign.reported().cases.iter().map(|case| case.card().clone()).collect();
    let runs: Vec<RunSummary> = campaign.outcomes.iter().map(RunSummary::of).collect();
    campaign.report.hold_to(EffortLimits::parse(limits).expect("limits"), &cards, &runs);
    campaign
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("it is text")
}

#[test]
fn every_report_names_the_right_runs_that_are_over() {
    let campaign = held_to("rounds=1x");
    let over = campaign.report.over().expect("it was held to limits").clone();
    assert!(0 < over.right && over.right < campaign.report.passed && over.wrong > 0, "{over:?}");
    let first = format!("right, but over: {}", over_in_words(&over.runs[0].over));
    assert!(over_limits(&over).contains(&format!(
        "as case {}: {}",
        over.runs[0].case,
        over_in_words(&over.runs[0].over)
    )));
    assert!(median_run(campaign.report.effort.as_ref().expect("there are scored runs")).contains(" needed)"));
    let reported = campaign.reported();

    let xml = text(|out| junit::write(&reported, out));
    let document = Document::parse(&xml).expect("it is XML");
    let failures: Vec<_> = document.descendants().filter(|node| node.has_tag_name("failure")).collect();
    assert_eq!(failures.len() as u64, campaign.report.failed + over.right);
    let of_over: Vec<_> = failures.iter().filter(|it| it.attribute("type") == Some("over")).collect();
    assert_eq!(of_over.len() as u64, over.right);
    assert_eq!(of_over[0].attribute("message"), Some(first.as_str()));
    let counted = document.root_element().attribute("failures").and_then(|count| count.parse().ok());
    assert_eq!(counted, Some(campaign.report.failed + over.right));

    let rows = text(|out| csv::write(&reported, out));
    let marked =
        rows.lines().filter(|row| row.contains("rounds ") && row.contains(" of at most ")).count() as u64;
    assert_eq!(marked, over.all());

    let page = text(|out| html::write(&reported, &HtmlLimits::default(), out));
    assert_eq!(page.matches("right, but over: ").count() as u64, over.right);
    assert!(page.contains("Held to --fail-over rounds=1x"));

    let summary = text(|out| step_summary::write(&reported, out));
    assert!(summary.contains("**Over limit**: ") && summary.contains("Median run: "), "{summary}");

    let mut log = Vec::new();
    inspect::write(&reported, &mut log).expect("memory can be written");
    let log: serde_json::Value = serde_json::from_slice(&log).expect("it is JSON");
    let samples = log["samples"].as_array().expect("there are samples");
    let over_in_log = samples.iter().filter(|it| it["metadata"]["over"].is_string()).count() as u64;
    assert_eq!(over_in_log, over.all());
}

/// Without limits, or within them, the reports mention none.
#[test]
fn runs_within_their_limits_are_as_they_were() {
    let campaign = held_to("calls=100,rounds=100");
    let over = campaign.report.over().expect("it was held to limits");
    assert_eq!((over.right, over.wrong, over.runs.len()), (0, 0, 0));
    assert_eq!(over_limits(over), "no right run is over --fail-over calls=100,rounds=100");
    let xml = text(|out| junit::write(&campaign.reported(), out));
    assert!(!xml.contains("type=\"over\""));
    let plain = TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 30);
    assert_eq!(text(|out| junit::write(&plain.reported(), out)), xml);
    let page = text(|out| html::write(&plain.reported(), &HtmlLimits::default(), out));
    assert!(page.contains("What a run took") && !page.contains("--fail-over"));
}
