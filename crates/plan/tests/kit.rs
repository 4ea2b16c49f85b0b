//! What the published parsers, verifiers and executor say, where the kit that records it is at hand. Where it is not,
//! the tests are *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use planproof_mnms::catalogue;
use planproof_plan::original::{self, PlanningMode, PublishedVerdict};
use planproof_plan::{Plan, read_json, read_python, to_json, to_python, verify, verify_program};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let trials = vec![
        trial("the_published_parsers_agree", "parser_cases", parsers),
        trial("the_published_verifiers_agree", "verifier_cases", verifiers),
        trial("the_published_executor_agrees", "executor_cases", executor),
        trial("right_plans_of_the_kit_are_right", "verifier_cases", right_plans),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &'static str, test: fn() -> Result<(), Failed>) -> Trial {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let is_there = move || kit(&format!("{needs}_expected.jsonl")).exists();
    let is_ignored = !is_there() && !is_ci;
    let trial =
        Trial::test(
            name,
            move || {
                if is_there() { test() } else { Err(format!("the kit has no {needs}").into()) }
            },
        );
    trial.with_ignored_flag(is_ignored)
}

fn kit(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits/mnms")).join(name)
}

fn lines(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(kit(name)).unwrap();
    // Python writes what JSON does not have.
    let read = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|_| {
            let line = line.replace(": NaN", ": \"nan\"").replace(": Infinity", ": \"inf\"");
            serde_json::from_str(&line).unwrap()
        })
    };
    text.lines().map(read).collect()
}

/// Compares our values for all inputs that have an expected one.
fn compare(
    name: &str,
    at_least: usize,
    ours: impl Fn(&Value) -> Value,
    expected: impl Fn(&Value) -> Value,
) -> Result<(), Failed> {
    let inputs: HashMap<String, Value> = lines(&format!("{name}_inputs.jsonl"))
        .into_iter()
        .map(|input| (input["id"].as_str().unwrap().to_owned(), input))
        .collect();
    let cases = lines(&format!("{name}_expected.jsonl"));
    let mut wrong = Vec::new();
    for case in &cases {
        let input = &inputs[case["id"].as_str().unwrap()];
        let (ours, theirs) = (ours(input), expected(&case["expected"]));
        if ours != theirs {
            wrong.push(format!("{}\n  {}\n  ours {ours}\n  theirs {theirs}", case["id"], input));
        }
    }
    assert!(cases.len() >= at_least, "only {} cases were compared", cases.len());
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n")).into())
}

fn codes(text: &str) -> BTreeSet<&str> {
    text.split(", ").filter(|code| !code.is_empty()).collect()
}

fn verdict(verdict: &PublishedVerdict) -> Value {
    if verdict.raised {
        return json!("raised");
    }
    let codes: BTreeSet<String> = verdict.codes().into_iter().map(ToString::to_string).collect();
    json!([verdict.status(), codes])
}

fn parsers() -> Result<(), Failed> {
    let ours = |input: &Value| {
        let text = input["text"].as_str().unwrap();
        let mode = if input["plan_mode"] == "multi-step" {
            PlanningMode::MultiStep
        } else {
            PlanningMode::StepByStep
        };
        let parsed = match input["parser"].as_str().unwrap() {
            "json" => original::read_json(text, mode),
            _ => original::read_python(text).map(Value::from),
        };
        match parsed {
            Ok(content) => json!([true, "", content]),
            Err(failure) => json!([false, failure.code.to_string()]),
        }
    };
    let theirs = |expected: &Value| match expected["status"].as_bool().unwrap() {
        true => json!([true, expected["error_code"], expected["content"]]),
        false => json!([false, expected["error_code"]]),
    };
    compare("parser_cases", 89, ours, theirs)
}

fn verifiers() -> Result<(), Failed> {
    let ours = |input: &Value| {
        let plan = &input["input"];
        verdict(&match input["verifier"].as_str().unwrap() {
            "json" => original::verify(plan, catalogue()),
            "single_node" => original::verify_step(plan, catalogue()),
            _ => match plan.as_str() {
                Some(text) => original::verify_program(text, catalogue()),
                None => return json!("raised"),
            },
        })
    };
    let theirs = |expected: &Value| match expected.get("raised") {
        Some(_) => json!("raised"),
        None => json!([expected["status"], codes(expected["error_code"].as_str().unwrap())]),
    };
    compare("verifier_cases", 967, ours, theirs)
}

fn executor() -> Result<(), Failed> {
    let ours = |input: &Value| json!(original::execute(&input["input"], catalogue()).is_ok());
    compare("executor_cases", 259, ours, |expected| expected["status"].clone())
}

/// What the published verifier takes for the reasons that we have too, ours takes, in both forms.
fn right_plans() -> Result<(), Failed> {
    let mut compared = 0;
    for input in lines("verifier_cases_inputs.jsonl") {
        let source = input["source_case"].as_str().unwrap();
        if !source.starts_with("identity-") || input["verifier"] != "json" {
            continue;
        }
        let plan: Plan = read_json(&input["input"].to_string())?;
        assert_eq!(verify(&plan, catalogue()), [], "{source}");
        assert_eq!(to_json(&plan), input["input"], "{source}");
        let program = to_python(&plan);
        assert_eq!(read_python(&program)?.plan, Some(plan), "{source}");
        assert_eq!(verify_program(&program, catalogue())?, [], "{source}");
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} plans were compared");
    Ok(())
}
