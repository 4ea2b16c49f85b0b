//! How ReWOO parses a plan and executes it.

use std::path::Path;

use anyhow::{Context, Result};
use planproof_agents::behaviour::evidence::{
    Evidence, EvidenceRules, NO_EVIDENCE, PlanLineFault, PlanText, PlannedWork, execution_order, read_plan,
};
use serde_json::{Map, Value, json};

use super::{document, text};

/// The tools of the published program, and how the recording measured the cost of each: either a quarter of the
/// characters of a model's input and output per call, or the number of calls.
const TOOLS: [(&str, Option<&str>); 4] = [
    ("Wikipedia", None),
    ("LLM", Some("LLM_token")),
    ("Calculator", Some("Calculator_token")),
    ("Google", Some("Google")),
];

pub(super) fn rewoo(directory: &Path) -> Result<Vec<(Value, Value)>> {
    let cases = document(directory, "rewoo_parse.json")?;
    let cases = cases.as_array().context("there is no list of cases")?.iter().map(|case| {
        let input = text(case, "text")?;
        let mut found = match read_plan(input, EvidenceRules::Rewoo) {
            Ok(plan) => carried_out(&plan)?,
            Err(fault) => json!({"raised": raised(&fault)}),
        };
        found["text"] = input.into();
        Ok((case.clone(), found))
    });
    cases.collect()
}

/// The Python exception that the published program raises for a given fault in a plan.
fn raised(fault: &PlanLineFault) -> &'static str {
    match fault {
        // Python's own message for unpacking a line without an equals sign.
        PlanLineFault::NoEquals { .. } => "ValueError: not enough values to unpack (expected 2, got 1)",
        PlanLineFault::NoLabel { .. } | PlanLineFault::Repeated { .. } => {
            "IndexError: string index out of range"
        }
    }
}

/// Executes a plan with tools that answer with their own name and input.
fn carried_out(plan: &PlanText) -> Result<Value> {
    let rules = EvidenceRules::Rewoo;
    let labels: Vec<&str> = plan.steps.iter().map(|step| step.label.as_str()).collect();
    let mut evidence = Evidence::new(rules, labels.iter().copied());
    let mut calls = Vec::new();
    let mut spent: Map<String, Value> = Map::new();
    for index in execution_order(&labels, rules) {
        let result = match plan.steps[index].work(rules) {
            PlannedWork::Text(text) => text.to_owned(),
            PlannedWork::Call { tool, input } => match TOOLS.iter().find(|(name, _)| *name == tool) {
                None => NO_EVIDENCE.to_owned(),
                Some((_, counter)) => {
                    let input = evidence.text(input).value;
                    let output = format!("<{tool}:{input}>");
                    if let Some(counter) = counter {
                        // The recording took four characters for a token, with both texts added up before the division.
                        let cost = if counter.ends_with("_token") {
                            (input.chars().count() + output.chars().count()) as u64 / 4
                        } else {
                            1
                        };
                        let before = spent.get(*counter).and_then(Value::as_u64).unwrap_or_default();
                        spent.insert((*counter).to_owned(), (before + cost).into());
                    }
                    calls.push(json!([tool, input]));
                    output
                }
            },
        };
        evidence.add(labels[index], &result);
    }
    let known: Map<String, Value> =
        labels.iter().filter_map(|it| Some(((*it).to_owned(), evidence.of(it)?.into()))).collect();
    let planned: Map<String, Value> =
        plan.steps.iter().map(|step| (step.label.clone(), step.text.clone().into())).collect();
    let plans: Vec<String> = plan.plans.iter().map(|plan| format!("Plan: {plan}")).collect();
    Ok(json!({
        "plans": plans,
        "planner_evidences": planned,
        "calls": calls,
        "worker_evidences": known,
        "tool_counter": spent,
    }))
}
