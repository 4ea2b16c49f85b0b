use planproof_report::inspect::{InspectError, file_name, write};
use planproof_sim::SimKind;
use planproof_synth::SynthesisOptions;
use planproof_trace::EndReason;
use serde_json::{Value, json};

use crate::campaigns::{TestCampaign, acted_by_samples, cases, right_plan, run};
use crate::mixed::{hostile, mixed};

fn text(campaign: &TestCampaign) -> String {
    let mut out = Vec::new();
    write(&campaign.reported(), &mut out).expect("memory can be written");
    String::from_utf8(out).expect("JSON is text")
}

fn log(campaign: &TestCampaign) -> Value {
    serde_json::from_str(&text(campaign)).expect("it is JSON")
}

#[test]
fn the_head_of_a_log() {
    let mut campaign = mixed("tools@sim/test", Some("sim/test"));
    campaign.report.cost = Some(0.25);
    let mut log = log(&campaign);
    log["samples"] = json!([]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).expect("it was JSON"));
}

#[test]
fn a_sample_of_every_kind() {
    let log = log(&mixed("tools@sim/test", Some("sim/test")));
    insta::assert_snapshot!(serde_json::to_string_pretty(&log["samples"]).expect("it was JSON"));
}

#[test]
fn samples_come_last_because_inspect_reads_no_further() {
    let text = text(&mixed("command:agent", None));
    let places: Vec<usize> = [
        "\"version\"",
        "\n\"status\"",
        "\n\"eval\"",
        "\n\"plan\"",
        "\n\"results\"",
        "\n\"stats\"",
        "\n\"samples\"",
    ]
    .iter()
    .map(|name| text.find(name).expect("it is there"))
    .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(text.ends_with("]}\n"));
}

#[test]
fn messages_of_agents_within_the_agent_have_their_names() {
    let case = cases(SynthesisOptions::default(), 1).swap_remove(0);
    let plan = right_plan(&case);
    let events = run(&case, &plan, EndReason::Answered { text: "All done.".into() });
    let voted = acted_by_samples(&case, events);
    let campaign = TestCampaign::of_runs(
        "direct:samples=1@sim/test",
        Some("sim/test"),
        vec![case.clone()],
        vec![Some(voted)],
    );
    let log = log(&campaign);
    let messages = log["samples"][0]["messages"].as_array().expect("a list");
    let said = messages.iter().filter(|message| message["metadata"]["actor"] == "sample-1");
    assert_eq!(said.count(), 1);
    // Calls and results of other actors are separate, although the ids are the same.
    let results = messages.iter().filter(|message| message["role"] == "tool");
    assert!(results.clone().count() == plan.len());
    assert!(
        results
            .zip(&plan)
            .all(|(message, tool)| message["function"] == **tool && message["metadata"]["actor"] == "other")
    );
}

#[test]
fn figures_agree_with_the_report() {
    let campaign = TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 200);
    let log = log(&campaign);
    let report = &campaign.report;
    let samples = log["samples"].as_array().expect("a list");
    let right = samples.iter().filter(|sample| sample["scores"]["planproof"]["value"] == "C").count() as u64;
    assert_eq!((samples.len() as u64, right), (report.cases, report.passed));
    let accuracy = log["results"]["scores"][0]["metrics"]["accuracy"]["value"].as_f64().expect("a number");
    assert_eq!(accuracy, report.passed as f64 / report.cases as f64);
    let tokens: u64 = samples
        .iter()
        .filter_map(|sample| sample["model_usage"]["sim/careless"]["input_tokens"].as_u64())
        .sum();
    assert_eq!(Some(tokens), report.tokens.map(|tokens| tokens.input));
    assert_eq!(log["stats"]["model_usage"]["sim/careless"]["input_tokens"], tokens);
    assert_eq!(log["status"], "success");
}

#[test]
fn the_target_does_not_depend_on_the_agent() {
    let logs = [SimKind::Careless, SimKind::Perfect]
        .map(|kind| log(&TestCampaign::simulated(kind, SynthesisOptions::default(), 30)));
    let targets = logs.each_ref().map(|log| {
        let samples = log["samples"].as_array().expect("a list");
        samples.iter().map(|sample| sample["target"].clone()).collect::<Vec<_>>()
    });
    assert_eq!(targets[0], targets[1]);
}

#[test]
fn a_trace_that_cannot_be_read_is_an_error_that_names_the_case() {
    let mut campaign = mixed("command:agent", None);
    campaign.traces[2] = Err("a page is damaged".into());
    let error = write(&campaign.reported(), &mut Vec::new()).expect_err("there is no trace");
    assert!(matches!(&error, InspectError::Trace { case, .. } if case == "7-2"));
    assert_eq!(error.to_string(), "the trace of case 7-2: a page is damaged");
    campaign.traces[2] = Ok(None);
    assert_eq!(log(&campaign)["samples"][2]["messages"].as_array().map(Vec::len), Some(1), "the query alone");
}

#[test]
fn harmful_texts_stay_texts() {
    let harm = "<script>\u{0}\u{ffff}\"\\ ](x)";
    let log = log(&hostile(harm));
    assert_eq!(log["samples"][0]["id"], harm);
    assert_eq!(log["samples"][1]["error"]["message"], harm);
    assert_eq!(log["eval"]["viewer"]["trust_content"], false);
}

#[test]
fn the_name_of_a_log_begins_with_its_moment() {
    let mut campaign = mixed("command:agent", None);
    assert_eq!(file_name(&campaign.reported()), "2026-11-20T12-33-20_planproof_20261120-1233-abcd.json");
    campaign.id = "../x".to_owned();
    assert_eq!(file_name(&campaign.reported()), "2026-11-20T12-33-20_planproof_---x.json");
}
