//! The calculator against cases of published benchmarks' calculators, which lie beside the repository.
//!
//! Where they are missing the tests are *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI`
//! set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_tools::calculator::{Mistake, Number, evaluate};
use serde_json::Value;

/// Where the cases are.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits/qa");

fn main() -> ExitCode {
    let tests = [
        (
            "ibm_calculator.jsonl",
            "agrees_with_the_calculator_of_the_behaviour_paper",
            behaviour_paper as fn(&str),
        ),
        ("gsm8k_calculator.jsonl", "agrees_with_the_calculator_of_gsm8k", gsm8k),
    ];
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let trials = tests
        .into_iter()
        .map(|(file, name, test)| {
            let path = Path::new(FOLDER).join(file);
            let is_ignored = !path.exists() && !is_ci;
            let trial = Trial::test(name, move || {
                test(&fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?);
                Ok(())
            });
            trial.with_ignored_flag(is_ignored)
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap())
}

/// That calculator deletes what it does not know and evaluates the rest as Python. Only what nothing is deleted from,
/// and what Python writes as everybody does, means the same to ours; of `007` Python alone thinks that it is no number.
fn behaviour_paper(text: &str) {
    let mut compared = 0;
    for case in lines(text) {
        let (input, output) = (case["input"].as_str().unwrap(), case["output"].as_str().unwrap());
        if !input.chars().all(|c| "0123456789*+-/.() ".contains(c)) || input == "007" {
            continue;
        }
        compared += 1;
        match (output, evaluate(input)) {
            ("Cannot divide by zero", Err(error)) => assert_eq!(error.mistake, Mistake::DivisionByZero),
            (output, Err(error)) => assert!(output.starts_with("<<"), "{input}: {error}"),
            (output, Ok(value)) => assert_eq!(value.to_f64(), output.parse::<f64>().unwrap(), "{input}"),
        }
    }
    assert!(compared >= 15, "only {compared} cases could be compared");
}

/// That one evaluates what stands between `<<` and `=`, and has no `**` that differs from ours. Again only what it
/// takes as it stands is compared.
fn gsm8k(text: &str) {
    let mut compared = 0;
    for case in lines(text) {
        let (Some((_, rest)), Some(result)) =
            (case["text"].as_str().unwrap().rsplit_once("<<"), case["result"].as_f64())
        else {
            continue;
        };
        let expression = rest.trim_end_matches('=');
        if expression.contains([',', '=']) {
            continue;
        }
        compared += 1;
        assert_eq!(evaluate(expression).map(Number::to_f64), Ok(result), "{expression}");
    }
    assert!(compared >= 6, "only {compared} cases could be compared");
}
