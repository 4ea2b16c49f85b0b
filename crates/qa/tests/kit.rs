//! What the published code says of texts, where the kit that records it is at hand. Where it is not, the tests are
//! *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "support/kit.rs"]
mod recorded;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use planproof_measure::answers::Normalisation;
use planproof_measure::numbers::{RightNumber, by_paper, by_strict};
use planproof_measure::rouge::rouge_l;
use planproof_qa::gsm8k::{Gsm8k, WordProblem, read_data, score};
use planproof_qa::questions::{self, Benchmark, QuestionCase, Questions, short_answer};
use planproof_suite::rows::read_places;
use planproof_suite::{Case, CaseSelection, Data, Suite};
use planproof_tools::calculator::evaluate;
use serde_json::{Value, json};

fn main() -> ExitCode {
    let trials = vec![
        trial(
            "numbers_are_found_as_by_the_published_rules",
            "gsm8k_extract_expected.jsonl",
            numbers_are_found,
        ),
        trial("short_answers_are_compared_as_by_hotpotqa", "hotpot_em_f1_expected.jsonl", by_hotpotqa),
        trial("short_answers_are_compared_as_by_triviaqa", "trivia_em_f1_expected.jsonl", by_triviaqa),
        trial("texts_are_compared_as_by_rouge", "rouge_l_expected.jsonl", by_rouge),
        trial("published_questions_are_read", "hotpotqa/hotpot_dev_v1_simplified.json", questions_are_read),
        trial("the_test_set_is_read", "gsm8k/test.jsonl", the_test_set_is_read),
        trial("worked_solutions_are_right", "gsm8k/test.jsonl", worked_solutions_are_right),
        trial("the_published_order_is_taken", "gsm8k/subset_indices.json", the_published_order_is_taken),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &str, test: fn()) -> Trial {
    recorded::trial(name, kit(needs), test)
}

fn kit(name: &str) -> PathBuf {
    recorded::path("qa", name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(kit(name)).unwrap()
}

fn lines(name: &str) -> Vec<Value> {
    text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn problems() -> Vec<WordProblem> {
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
            let field =
                case.get(format!("{rule}_correct")).or_else(|| case.get(format!("{rule}_correct_vs_18")));
            field.unwrap().as_bool().unwrap()
        };
        assert_eq!(paper.is_some_and(|it| right.is_by_paper(&it)), is_right("ibm"), "{text:?}");
        assert_eq!(strict.is_some_and(|it| right.is_by_strict(&it)), is_right("openai"), "{text:?}");
    }
    assert!(expected.len() >= 139, "only {} cases were compared", expected.len());
}

/// Pairs of an input and what the original says of it.
fn pairs(name: &str) -> Vec<(Value, Value)> {
    let inputs = lines(&format!("{name}_inputs.jsonl"));
    let mut inputs: HashMap<u64, Value> =
        inputs.into_iter().map(|it| (it["line"].as_u64().unwrap(), it)).collect();
    let expected = lines(&format!("{name}_expected.jsonl"));
    expected.into_iter().map(|it| (inputs.remove(&it["line"].as_u64().unwrap()).unwrap(), it)).collect()
}

fn by_hotpotqa() {
    let pairs = pairs("hotpot_em_f1");
    for (input, expected) in &pairs {
        let (answer, right) = (input["pred"].as_str().unwrap(), input["gold"].as_str().unwrap());
        assert_eq!(expected["norm_pred"], Normalisation::Hotpot.normal(answer), "{answer:?}");
        assert_eq!(expected["norm_gold"], Normalisation::Hotpot.normal(right), "{right:?}");
        let found = Normalisation::Hotpot.compare(answer, right);
        assert_eq!(expected["em"], found.is_exact, "{answer:?} {right:?}");
        if !right.trim().is_empty() {
            let data = json!({"question": "Q", "answer": right});
            let official = originally(Benchmark::HotpotQa, &data, answer);
            assert_eq!(expected["em"], official, "{answer:?} {right:?}");
        }
        for (name, value) in [("f1", found.f1), ("precision", found.precision), ("recall", found.recall)] {
            assert_eq!(expected[name].as_f64(), Some(value), "{name} of {answer:?} {right:?}");
        }
    }
    assert!(pairs.len() >= 463, "only {} cases were compared", pairs.len());
}

fn by_triviaqa() {
    // The inputs name the aliases alone; which of them the data puts first stands in the sample of questions.
    let values = lines("triviaqa/triviaqa_sm_sub.jsonl").into_iter().map(|mut it| {
        let mut aliases: Vec<Value> = it["aliases"].as_array().unwrap().clone();
        aliases.sort_unstable_by(|one, other| one.as_str().cmp(&other.as_str()));
        (json!(aliases), it["answer"].take())
    });
    let values: HashMap<Value, Value> = values.collect();
    let pairs = pairs("trivia_em_f1");
    for (input, expected) in &pairs {
        let answer = input["pred"].as_str().unwrap();
        let aliases: Vec<&str> =
            input["aliases"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let mut normal: Vec<String> = aliases.iter().map(|it| Normalisation::Trivia.normal(it)).collect();
        normal.sort_unstable();
        normal.dedup();
        assert_eq!(expected["normalized_aliases"], json!(normal));
        assert_eq!(expected["norm_pred"], Normalisation::Trivia.normal(answer), "{answer:?}");
        let best = Normalisation::Trivia.best(answer, normal.iter().map(String::as_str));
        assert_eq!(expected["em"], best.is_exact, "{answer:?} {aliases:?}");
        assert_eq!(expected["is_exact_match"], best.is_exact, "{answer:?} {aliases:?}");
        assert_eq!(expected["f1"].as_f64(), Some(best.f1), "{answer:?} {aliases:?}");
        let mut sorted = aliases.clone();
        sorted.sort_unstable();
        let value = values.get(&json!(sorted)).map_or(aliases[0], |value| value.as_str().unwrap());
        let value = Normalisation::Hotpot.compare(answer, value).is_exact;
        assert_eq!(expected["hotpot_style_em_vs_value"], value, "{answer:?} {aliases:?}");
        // The whole way of a prediction, with `--compat original`; a question has to have an answer.
        let right = aliases[0];
        if !right.trim().is_empty() {
            let data = json!({"question": "Q", "answer": {"value": right, "aliases": aliases}});
            let official = originally(Benchmark::TriviaQa, &data, answer);
            assert_eq!(expected["em"], official, "{answer:?} {aliases:?}");
        }
    }
    assert!(pairs.len() >= 415, "only {} cases were compared", pairs.len());
}

/// Whether a prediction is right with `--compat original`.
fn originally(benchmark: Benchmark, data: &Value, answer: &str) -> bool {
    let suite = Questions::new(benchmark).scored_with(&[("compat", "original")]).unwrap().unwrap();
    let load = |text: &str| suite.load(Some(Data { text, file: "d" }), &CaseSelection::default(), None);
    let cases = load(&data.to_string()).unwrap();
    let prediction = json!({"prediction": answer}).to_string();
    suite.score(&cases, Data { text: &prediction, file: "p" }).unwrap().verdicts[0].passed()
}

fn by_rouge() {
    let pairs = pairs("rouge_l");
    for (input, expected) in &pairs {
        let (hypothesis, reference) = (input["hyp"].as_str().unwrap(), input["ref"].as_str().unwrap());
        let found = match rouge_l(hypothesis, reference) {
            Ok(found) => json!({"r": found.recall, "p": found.precision, "f": found.f}),
            Err(error) => json!({"error": format!("ValueError: {error}")}),
        };
        assert_eq!(expected["rouge_l"], found, "{hypothesis:?} {reference:?}");
    }
    assert!(pairs.len() >= 200, "only {} cases were compared", pairs.len());
}

fn questions_are_read() {
    let read = |benchmark, name: &str| questions::read_data(benchmark, &text(name), name).unwrap();
    let hotpot = read(Benchmark::HotpotQa, "hotpotqa/hotpot_dev_v1_simplified.json");
    assert_eq!(hotpot.len(), 7405);
    let trivia = read(Benchmark::TriviaQa, "triviaqa/triviaqa_sm_sub.jsonl");
    assert_eq!(trivia.len(), text("triviaqa/triviaqa_sm_sub.jsonl").lines().count());
    assert_eq!(read(Benchmark::TriviaQa, "triviaqa/triviaqa_sample.json").len(), 1);
    for question in hotpot.iter().chain(&trivia) {
        let line = question.to_line();
        assert_eq!(QuestionCase::read(question.benchmark(), &line).unwrap().to_line(), line);
        let gold = question.gold().unwrap();
        let is_right = |answer: &str| question.by_paper(short_answer(answer)).is_exact;
        assert_eq!(
            [is_right(&gold.answer), is_right(&gold.wrong_answer)],
            [true, false],
            "{}",
            question.id()
        );
    }
    let sample = read(Benchmark::TriviaQa, "triviaqa/triviaqa_sample.json");
    let cases = vec![Arc::new(sample[0].clone()) as Arc<dyn Case>];
    let predictions = text("triviaqa/sample_predictions.json");
    let scored = Questions::new(Benchmark::TriviaQa).score(&cases, Data { text: &predictions, file: "x" });
    assert!(scored.unwrap().verdicts[0].passed());
}

fn the_test_set_is_read() {
    let problems = problems();
    assert_eq!(problems.len(), 1319);
    for problem in &problems {
        let line = problem.to_line();
        let again = Gsm8k::default().read(&line).unwrap();
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
    assert_eq!((scored.verdicts.len(), scored.missing.len()), (1319, 0));
    assert!(scored.verdicts.iter().all(|it| it.passed() && it.scored.score("strict") == Some(1.0)));
    let steps: u32 = problems.iter().map(|problem| problem.card().size).sum();
    let calls: Vec<_> = problems.iter().flat_map(|problem| problem.gold().unwrap().calls).collect();
    assert!(calls.iter().all(|call| evaluate(call.arguments["expression"].as_str().unwrap()).is_ok()));
    assert!(calls.len() as f64 > 0.97 * f64::from(steps), "{} of {steps}", calls.len());
}

fn the_published_order_is_taken() {
    let places = read_places(&text("gsm8k/subset_indices.json"), "subset_indices.json").unwrap();
    let taken = CaseSelection::Places(places.clone()).take(problems(), Some(1000)).unwrap();
    assert_eq!(taken.len(), 1000);
    assert_eq!(taken[0].id(), format!("gsm8k-{}", places[0] + 1));
}
