//! What the published code says of texts, where the kit that records it is at hand. Where it is not, the tests are
//! *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_qa::gsm8k::rules::{RightNumber, by_paper, by_strict};
use planproof_qa::gsm8k::{Gsm8k, Problem, read_data, read_places, score};
use planproof_suite::{Case, Selection, Suite};
use planproof_tools::calculator::evaluate;
use serde_json::{Value, json};

fn main() -> ExitCode {
    let trials = vec![
        trial(
            "numbers_are_found_as_by_the_published_rules",
            "gsm8k_extract_expected.jsonl",
            numbers_are_found,
        ),
        trial("the_test_set_is_read", "gsm8k/test.jsonl", the_test_set_is_read),
        trial("worked_solutions_are_right", "gsm8k/test.jsonl", worked_solutions_are_right),
        trial("the_published_order_is_taken", "gsm8k/subset_indices.json", the_published_order_is_taken),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &'static str, test: fn()) -> Trial {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let is_ignored = !kit(needs).exists() && !is_ci;
    let trial = Trial::test(name, move || {
        if !kit(needs).exists() {
            return Err(format!("there is no {}", kit(needs).display()).into());
        }
        test();
        Ok(())
    });
    trial.with_ignored_flag(is_ignored)
}

fn kit(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits/qa")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(kit(name)).unwrap()
}

fn lines(name: &str) -> Vec<Value> {
    text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn problems() -> Vec<Problem> {
    read_data(&text("gsm8k/test.jsonl"), "test.jsonl").unwrap()
}

fn numbers_are_found() {
    let inputs = lines("gsm8k_extract_inputs.jsonl");
    let inputs: HashMap<u64, &Value> = inputs.iter().map(|it| (it["line"].as_u64().unwrap(), it)).collect();
    let expected = lines("gsm8k_extract_expected.jsonl");
    for case in &expected {
        let input = inputs[&case["line"].as_u64().unwrap()];
        let text = input["text"].as_str().unwrap();
        let right = RightNumber::read(input["gold"].as_str().unwrap_or("18")).unwrap();
        let (paper, strict) = (by_paper(text), by_strict(text));
        assert_eq!(case["ibm_last_number"], json!(paper), "{text:?}");
        assert_eq!(case["openai_extract"], json!(strict.as_deref().unwrap_or("[invalid]")), "{text:?}");
        let is_right = |rule: &str| {
            let told =
                case.get(format!("{rule}_correct")).or_else(|| case.get(format!("{rule}_correct_vs_18")));
            told.unwrap().as_bool().unwrap()
        };
        assert_eq!(paper.is_some_and(|it| right.is_by_paper(&it)), is_right("ibm"), "{text:?}");
        assert_eq!(strict.is_some_and(|it| right.is_by_strict(&it)), is_right("openai"), "{text:?}");
    }
    assert!(expected.len() >= 139, "only {} cases were compared", expected.len());
}

fn the_test_set_is_read() {
    let problems = problems();
    assert_eq!(problems.len(), 1319);
    for problem in &problems {
        let line = problem.to_line();
        let again = Gsm8k.read(&line).unwrap();
        assert_eq!((again.to_line(), again.identity()), (line, problem.identity()));
        let gold = problem.gold().unwrap();
        let is_right = |answer: &str| {
            let by_paper = by_paper(answer).is_some_and(|it| problem.right().is_by_paper(&it));
            let by_strict = by_strict(answer).is_some_and(|it| problem.right().is_by_strict(&it));
            [by_paper, by_strict]
        };
        assert_eq!(is_right(&gold.answer), [true; 2], "{}", problem.id());
        assert_eq!(is_right(&gold.wrong_answer), [false; 2], "{}", problem.id());
    }
}

/// The data's own solutions are right by both rules, and the built-in calculator reads what they calculate.
fn worked_solutions_are_right() {
    let problems = problems();
    let lines = lines("gsm8k/test.jsonl");
    let predictions: Vec<String> =
        lines.iter().map(|line| json!({"prediction": line["answer"]}).to_string()).collect();
    let scored = score(&problems, &predictions.join("\n"), "solutions").unwrap();
    assert_eq!((scored.right, scored.right_strict, scored.missing.len()), (1319, 1319, 0));
    let steps: u32 = problems.iter().map(|problem| problem.card().size).sum();
    let calls: Vec<_> = problems.iter().flat_map(|problem| problem.gold().unwrap().calls).collect();
    assert!(calls.iter().all(|call| evaluate(call.arguments["expression"].as_str().unwrap()).is_ok()));
    assert!(calls.len() as f64 > 0.97 * f64::from(steps), "{} of {steps}", calls.len());
}

fn the_published_order_is_taken() {
    let places = read_places(&text("gsm8k/subset_indices.json"), "subset_indices.json").unwrap();
    let taken = Selection::Places(places.clone()).take(problems(), Some(1000)).unwrap();
    assert_eq!(taken.len(), 1000);
    assert_eq!(taken[0].id(), format!("gsm8k-{}", places[0] + 1));
}
