//! The published implementation's verdicts, where the kit that holds them is at hand. Where it is not, the tests are
//! *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_spec::monitor::match_tool;
use planproof_spec::{Automaton, Compat, PromptPiece, Prompts, Walk, load};
use serde_json::Value;

/// Specifications whose traces record a defect of the published code.
const DEFECTIVE: [&str; 2] = ["x_always", "x_always_b"];

fn main() -> ExitCode {
    let tests: [(&str, fn()); 3] = [
        ("traces_have_the_published_verdicts", traces_have_the_published_verdicts),
        ("texts_are_split_as_published", texts_are_split_as_published),
        ("tools_are_matched_as_published", tools_are_matched_as_published),
    ];
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let trials = tests
        .into_iter()
        .map(|(name, test)| {
            let trial = Trial::test(name, move || {
                if !kit("").exists() {
                    return Err(format!("there is no {}", kit("").display()).into());
                }
                test();
                Ok(())
            });
            trial.with_ignored_flag(!kit("").exists() && !is_ci)
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn kit(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits/behaviour")).join(file)
}

fn json(file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(kit(file)).unwrap()).unwrap()
}

fn json_lines(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(kit(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(automaton: &Automaton, walk: &Walk<'_>) -> Vec<String> {
    let mut names: Vec<String> =
        walk.valid().iter().map(|state| automaton.state(*state).name.value.clone()).collect();
    names.sort();
    names
}

fn traces_have_the_published_verdicts() {
    let specs: BTreeMap<String, String> = serde_json::from_value(json("specs.json")).unwrap();
    let expected: BTreeMap<String, Value> = json_lines("fsm_traces_expected.jsonl")
        .into_iter()
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line["steps"].clone()))
        .collect();
    let mut compared = 0;
    for input in json_lines("fsm_traces_inputs.jsonl") {
        let (id, spec) = (input["id"].as_str().unwrap(), input["spec"].as_str().unwrap());
        let loaded = load(&specs[spec], Compat::Original).unwrap();
        let Some(steps) = expected.get(id).filter(|_| !DEFECTIVE.contains(&spec)) else { continue };
        let mut walk = Walk::new(&loaded.automaton, Compat::Original);
        for (step, proposed) in steps.as_array().unwrap().iter().zip(input["proposed"].as_array().unwrap()) {
            let mut valid: Vec<String> = serde_json::from_value(step["valid"].clone()).unwrap();
            valid.sort();
            assert_eq!(names(&loaded.automaton, &walk), valid, "{id}");
            assert_eq!(step["exit"], walk.has_ended(), "{id}");
            if let Some(name) = proposed.as_str() {
                let accepted = walk.enter(loaded.automaton.state_named(name).unwrap());
                assert_eq!(step["accepted"], accepted, "{id}");
            }
            compared += 1;
        }
    }
    assert!(compared > 3000, "only {compared} steps were compared");
}

fn texts_are_split_as_published() {
    let kit = json("split_cases.json");
    let texts: Vec<&str> =
        kit["state_texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let states: String =
        texts.iter().enumerate().map(|(index, text)| format!("(s{index} (:text {text:?}))")).collect();
    let source = format!("(define split (:states {states}) (:behavior (next s0)))");
    let loaded = load(&source, Compat::Original).unwrap();
    let prompts = Prompts::new(loaded.automaton.spec(), Compat::Original);
    let mut compared = 0;
    for case in kit["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let pieces = prompts.split(text);
        let split: Vec<&str> = pieces
            .iter()
            .map(|piece| match piece {
                PromptPiece::Text(text) | PromptPiece::Prompt(_, text) => *text,
            })
            .collect();
        assert_eq!(serde_json::json!(split), case["split"], "{text}");
        // Where the published code finds states with their contents, they are the prompts with what follows them.
        if let Some(collected) = case["collect"].as_array() {
            let pairs: Vec<Value> = pieces
                .chunks(2)
                .map(|pair| match pair {
                    [PromptPiece::Prompt(state, _), PromptPiece::Text(text)] => {
                        serde_json::json!([texts[state.index()], text])
                    }
                    other => panic!("{other:?} of {text}"),
                })
                .collect();
            assert_eq!(&pairs, collected, "{text}");
        }
        compared += 1;
    }
    assert!(compared >= 7);
}

fn tools_are_matched_as_published() {
    let kit = json("constraint_cases.json");
    let names: Vec<&str> =
        kit["constraints"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for case in kit["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let found = match_tool(text, &names, Compat::Original).map(|index| names[index]);
        assert_eq!(serde_json::json!(found), case["hard"], "{text}");
        assert_eq!(serde_json::json!(found.unwrap_or(names[0])), case["soft"], "{text}");
        // Ours finds nothing else, only less.
        let ours = match_tool(text, &names, Compat::Ours).map(|index| names[index]);
        assert!(ours.is_none() || ours == found, "{text}");
    }
}
