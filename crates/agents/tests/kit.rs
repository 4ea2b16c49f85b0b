//! Compares with a published implementation, if the kit that records it is available. If not, the tests are
//! *ignored*, which the usual harness cannot report at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_agents::behaviour::evidence::{
    Evidence, EvidenceRules, NO_EVIDENCE, PlanText, PlannedWork, execution_order, read_plan,
};
use serde_json::Value;

/// The tools of the published program.
const TOOLS: [&str; 4] = ["Wikipedia", "LLM", "Calculator", "Google"];

fn main() -> ExitCode {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let trial = Trial::test("plans_are_carried_out_as_by_rewoo", || {
        if !kit().exists() {
            return Err(format!("there is no {}", kit().display()).into());
        }
        plans_are_carried_out_as_by_rewoo();
        Ok(())
    });
    let trials = vec![trial.with_ignored_flag(!kit().exists() && !is_ci)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn kit() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits/qa/rewoo_parse.json"))
}

type Pairs = Vec<(String, String)>;

/// The pairs of a JSON object, or of an array of pairs, in order.
fn pairs(value: &Value) -> Pairs {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match value {
        Value::Array(items) => items.iter().map(|item| (text(&item[0]), text(&item[1]))).collect(),
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        other => panic!("no pairs: {other}"),
    }
}

/// The calls made, and the final evidence. A tool answers with its name and its input.
fn carried_out(plan: &PlanText, rules: EvidenceRules) -> (Pairs, Pairs) {
    let labels: Vec<&str> = plan.steps.iter().map(|step| step.label.as_str()).collect();
    let mut evidence = Evidence::new(rules, labels.iter().copied());
    let mut calls = Vec::new();
    for index in execution_order(&labels, rules) {
        let result = match plan.steps[index].work(rules) {
            PlannedWork::Text(text) => text.to_owned(),
            PlannedWork::Call { tool, .. } if !TOOLS.contains(&tool) => NO_EVIDENCE.to_owned(),
            PlannedWork::Call { tool, input } => {
                let input = evidence.text(input).value;
                calls.push((tool.to_owned(), input.clone()));
                format!("<{tool}:{input}>")
            }
        };
        evidence.add(labels[index], &result);
    }
    let known = labels.iter().map(|label| ((*label).to_owned(), evidence.of(label).unwrap().to_owned()));
    (calls, known.collect())
}

fn sorted(mut pairs: Pairs) -> Pairs {
    pairs.sort();
    pairs
}

fn plans_are_carried_out_as_by_rewoo() {
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(kit()).unwrap()).unwrap();
    let mut compared = 0;
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        compared += 1;
        let plan = match (read_plan(text, EvidenceRules::Rewoo), case.get("raised")) {
            (Err(_), Some(_)) => continue,
            (Ok(plan), None) => plan,
            (plan, raised) => panic!("{text:?}: {plan:?} but {raised:?}"),
        };
        let plans: Vec<String> = plan.plans.iter().map(|plan| format!("Plan: {plan}")).collect();
        assert_eq!(case["plans"], serde_json::json!(plans), "{text:?}");
        let steps = plan.steps.iter().map(|step| (step.label.clone(), step.text.clone())).collect();
        assert_eq!(sorted(steps), sorted(pairs(&case["planner_evidences"])), "{text:?}");
        let (calls, known) = carried_out(&plan, EvidenceRules::Rewoo);
        assert_eq!(calls, pairs(&case["calls"]), "{text:?}");
        assert_eq!(sorted(known), sorted(pairs(&case["worker_evidences"])), "{text:?}");
        // Ours parses every one of these texts, and calls the same tools wherever the published program had no
        // error.
        let ours = read_plan(text, EvidenceRules::Ours).unwrap();
        assert!(ours.steps.len() >= plan.steps.len(), "{text:?}");
    }
    assert!(compared >= 19, "only {compared} cases were compared");
}
