//! What the published parsers, verifiers and executor make of the kit's replies, plans and programs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use planproof_mnms::catalogue;
use planproof_plan::original::{self, PlanningMode, PublishedVerdict};
use serde_json::{Value, json};

/// Our values for an input.
type Judge = fn(&Value) -> Result<Value>;

pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let kinds: [(&str, Judge); 3] = [("parser", parser), ("verifier", verifier), ("executor", executor)];
    let mut lines = Vec::new();
    for (kind, judge) in kinds {
        let path = directory.join(format!("{kind}_cases_inputs.jsonl"));
        let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        for (place, line) in text.lines().enumerate() {
            let line = || -> Result<String> {
                let input: Value = serde_json::from_str(line)?;
                let mut values = judge(&input)?;
                values["kind"] = kind.into();
                values["id"] = input.get("id").context("a case has no id")?.clone();
                Ok(values.to_string())
            };
            lines.push(line().with_context(|| format!("{}, line {}", path.display(), place + 1))?);
        }
    }
    Ok(lines)
}

fn parser(input: &Value) -> Result<Value> {
    let text = input["text"].as_str().context("there is no text")?;
    let mode = match input["plan_mode"].as_str() {
        Some("multi-step") => PlanningMode::MultiStep,
        Some("step-by-step") => PlanningMode::StepByStep,
        other => bail!("there is no plan mode {other:?}"),
    };
    let failure = match input["parser"].as_str() {
        Some("json") => original::read_json(text, mode).err(),
        Some("code") => original::read_python(text).err(),
        other => bail!("there is no parser {other:?}"),
    };
    let code = failure.as_ref().map(|failure| failure.code.to_string()).unwrap_or_default();
    Ok(json!({"status": failure.is_none(), "error_code": code, "raised": false}))
}

fn verifier(input: &Value) -> Result<Value> {
    let plan = &input["input"];
    let verdict = match input["verifier"].as_str() {
        Some("json") => original::verify(plan, catalogue()),
        Some("single_node") => original::verify_step(plan, catalogue()),
        Some("code") => match plan.as_str() {
            Some(program) => original::verify_program(program, catalogue()),
            None => PublishedVerdict::raised(),
        },
        other => bail!("there is no verifier {other:?}"),
    };
    let codes: Vec<String> = verdict.codes().into_iter().map(ToString::to_string).collect();
    Ok(json!({"status": verdict.status(), "error_code": codes.join(", "), "raised": verdict.raised}))
}

fn executor(input: &Value) -> Result<Value> {
    let is_carried_out = original::execute(&input["input"], catalogue()).is_ok();
    Ok(json!({"status": is_carried_out, "raised": false}))
}
