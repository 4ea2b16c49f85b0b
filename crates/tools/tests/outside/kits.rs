//! The calculator against cases of published benchmarks' calculators, which lie beside the repository.

use std::path::PathBuf;

use planproof_tools::calculator::{Mistake, Number, evaluate};
use serde_json::Value;

/// A file of the cases.
pub(crate) fn file(name: &str) -> PathBuf {
    crate::root().join("../shared/kits/qa").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap())
}

/// That calculator deletes what it does not know and evaluates the rest as Python. Only what nothing is deleted from,
/// and what Python writes as everybody does, means the same to ours; of `007` Python alone thinks that it is no number.
pub(crate) fn behaviour_paper() {
    let text = read("ibm_calculator.jsonl");
    let mut compared = 0;
    for case in lines(&text) {
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
pub(crate) fn gsm8k() {
    let text = read("gsm8k_calculator.jsonl");
    let mut compared = 0;
    for case in lines(&text) {
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
