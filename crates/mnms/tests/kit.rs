//! What the published evaluator says of predictions, where the kit that records it is at hand. Where it is not, the
//! tests are *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "../../qa/tests/support/kit.rs"]
mod recorded;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_mnms::evaluation::original::{
    Alternatives, GoldRecord, Pairs, PlanSplitter, PredictionFormat, PredictionRecord, evaluate,
};
use planproof_mnms::evaluation::{
    CodeCorpus, Corpus, CorpusMetrics, Labels, Scorer, ScoringRules, ScoringSettings, result_bleu, same_tree,
};
use planproof_mnms::{Literal, RequestExample, pair, read_examples, read_predictions};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let trials = vec![
        trial("single_predictions_are_scored_as_published", "expected_per_case.jsonl", single_predictions),
        trial("groups_are_scored_as_published", "expected.json", groups),
        trial("whole_files_are_scored_as_published", "full/gold_synth_882.jsonl", whole_files),
        trial("odd_files_end_as_published", "edge_cases.json", odd_files),
        trial("programs_are_compared_as_reconstructed", "expected_per_case.jsonl", programs),
        trial("texts_of_results_are_compared_as_published", "result_bleu_cases.json", results),
        trial("right_plans_score_100_by_our_rules", "full/gold_synth_882.jsonl", right_plans),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &str, test: fn()) -> Trial {
    recorded::trial(name, kit(needs), test)
}

fn kit(name: &str) -> PathBuf {
    recorded::path("mnms", name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(kit(name)).unwrap()
}

fn lines(name: &str) -> Vec<Literal> {
    text(name).lines().map(|line| Literal::from_json(line).unwrap()).collect()
}

fn format(case: &Literal) -> PredictionFormat {
    if case.get("format").unwrap().as_text() == Some("code") {
        PredictionFormat::Code
    } else {
        PredictionFormat::Json
    }
}

fn shown(labels: &Labels) -> Value {
    json!({
        "tool_macro": labels.tools,
        "argname": labels.argnames,
        "argvalue": labels.argvalues,
        "edge": labels.edges,
    })
}

/// All figures but for the counts, which must be equal.
fn check_unrounded(metrics: &CorpusMetrics, expected: &Value, about: &str) {
    for (name, value) in metrics.figures() {
        let right = expected[name].as_f64().unwrap();
        assert!((value.unwrap() - right).abs() < 1e-9, "{about}: {name} is {value:?} instead of {right}");
    }
    for (name, tally) in ["argname", "argvalue", "edge"].iter().zip(metrics.tallies) {
        for (kind, count) in [("tp", tally.right), ("fp", tally.extra), ("fn", tally.missing)] {
            assert_eq!(expected[format!("{name}_{kind}")].as_u64(), Some(count), "{about}: {name}_{kind}");
        }
    }
}

fn check_rounded(metrics: &CorpusMetrics, expected: &Value, about: &str) {
    for (name, value) in metrics.rounded_figures() {
        assert_eq!(value, expected[name].as_f64(), "{about}: {name}");
    }
    assert_eq!(expected.as_object().unwrap().len(), metrics.figures().len());
}

fn single_predictions() {
    let cases = lines("cases.jsonl");
    let by_id: HashMap<&str, &Literal> =
        cases.iter().map(|case| (case.get("case_id").unwrap().as_text().unwrap(), case)).collect();
    let mut evaluator = PlanSplitter::default();
    let mut count = 0;
    for line in text("expected_per_case.jsonl").lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let id = expected["case_id"].as_str().unwrap();
        let case = by_id[id];
        let alternatives = case.get("alt_plans").unwrap().as_list().unwrap();
        let gold = evaluator.gold(case.get("gold_plan").unwrap(), alternatives).unwrap();
        let reading = evaluator.read(case.get("prediction").unwrap(), format(case)).unwrap();
        if let Some(code) = expected["pred_code"].as_str() {
            assert_eq!(reading.code, code, "{id}");
        }
        assert_eq!(gold.plan(0).unwrap().code, expected["gold_code"].as_str().unwrap(), "{id}");
        assert_eq!(shown(&reading.labels), expected["pred_labels"], "{id}");
        assert_eq!(shown(&gold.plan(0).unwrap().labels), expected["gold_labels"], "{id}");
        assert_eq!(u64::from(reading.malformed.is_some()), expected["invalid"].as_u64().unwrap(), "{id}");
        if let (Some(malformed), Some(error)) = (reading.malformed, expected["invalid_error"].as_str()) {
            assert!(error.starts_with(malformed.python_name()), "{id}: {malformed:?} instead of {error}");
        }
        let metrics = |with_alternatives| {
            let mut corpus = Corpus::default();
            corpus.add(&gold.compare(&reading, with_alternatives));
            corpus.original_metrics().unwrap()
        };
        check_rounded(&metrics(false), &expected["metrics"], id);
        check_unrounded(&metrics(false), &expected["raw"], id);
        check_rounded(&metrics(true), &expected["best_match_metrics"], id);
        assert_eq!(Some(gold.best_match(&reading) as u64), expected["best_match_index"].as_u64(), "{id}");
        count += 1;
    }
    assert!(count >= 860, "only {count} cases were compared");
}

fn groups() {
    let cases = lines("cases.jsonl");
    let mut groups: BTreeMap<&str, Vec<&Literal>> = BTreeMap::new();
    for case in &cases {
        groups.entry(case.get("group").unwrap().as_text().unwrap()).or_default().push(case);
    }
    let expected: Value = serde_json::from_str(&text("expected.json")).unwrap();
    let expected = expected["groups"].as_object().unwrap();
    for (name, right) in expected {
        let cases = &groups[name.as_str()];
        let mut evaluator = PlanSplitter::default();
        let (mut plain, mut best, mut invalid) = (Corpus::default(), Corpus::default(), 0);
        for case in cases {
            let alternatives = case.get("alt_plans").unwrap().as_list().unwrap();
            let gold = evaluator.gold(case.get("gold_plan").unwrap(), alternatives).unwrap();
            let reading = evaluator.read(case.get("prediction").unwrap(), format(case)).unwrap();
            plain.add(&gold.compare(&reading, false));
            best.add(&gold.compare(&reading, true));
            invalid += u64::from(reading.malformed.is_some());
        }
        assert_eq!(Some(plain.samples), right["n"].as_u64(), "{name}");
        assert_eq!(Some(invalid), right["invalid_predictions"].as_u64(), "{name}");
        let (plain, best) = (plain.original_metrics().unwrap(), best.original_metrics().unwrap());
        check_unrounded(&plain, &right["unrounded"], name);
        check_rounded(&plain, &right["metrics"], name);
        check_unrounded(&best, &right["best_match_unrounded"], name);
        check_rounded(&best, &right["best_match_metrics"], name);
    }
    assert!(expected.len() >= 56, "only {} groups were compared", expected.len());
}

fn gold_records(rows: &[Literal]) -> Vec<GoldRecord> {
    let record = |row: &Literal| GoldRecord {
        id: row.get("id").unwrap().clone(),
        plan: Literal::from_python(row.get("plan_str").unwrap().as_text().unwrap()).unwrap(),
        alternatives: match row.get("alt_plans_str") {
            None => Alternatives::Absent,
            Some(Literal::Text(text)) => Alternatives::Literal(Literal::from_python(text).unwrap()),
            Some(_) => Alternatives::Null,
        },
    };
    rows.iter().map(record).collect()
}

fn prediction_records(rows: &[Literal]) -> Vec<PredictionRecord> {
    let record = |row: &Literal| PredictionRecord {
        id: row.get("id").unwrap().clone(),
        prediction: row.get("prediction").cloned(),
    };
    rows.iter().map(record).collect()
}

fn whole_files() {
    let gold = gold_records(&lines("full/gold_synth_882.jsonl"));
    assert_eq!(gold.len(), 882);
    let expected: Value = serde_json::from_str(&text("expected.json")).unwrap();
    let expected = expected["full"].as_object().unwrap();
    for (file, right) in expected {
        let predictions = prediction_records(&lines(&format!("full/{file}")));
        let format = if right["format"] == "code" { PredictionFormat::Code } else { PredictionFormat::Json };
        let plain = evaluate(&gold, &predictions, format, Pairs::OfGold, false).unwrap();
        check_unrounded(&plain.metrics, &right["unrounded"], file);
        check_rounded(&plain.metrics, &right["metrics"], file);
        assert_eq!(Some(plain.invalid), right["invalid_predictions"].as_u64(), "{file}");
        let best = evaluate(&gold, &predictions, format, Pairs::OfGold, true).unwrap();
        check_unrounded(&best.metrics, &right["best_match_unrounded"], file);
        check_rounded(&best.metrics, &right["best_match_metrics"], file);
    }
    assert!(!expected.is_empty());
}

fn examples() -> Vec<RequestExample> {
    read_examples(&text("full/gold_synth_882.jsonl"), "gold_synth_882.jsonl").unwrap()
}

fn scored(file: &str, settings: ScoringSettings) -> Corpus {
    let examples = examples();
    let predictions = read_predictions(&text(&format!("full/{file}")), file).unwrap();
    let paired = pair(&examples, predictions, file).unwrap();
    assert!(paired.missing.is_empty());
    let mut scorer = Scorer::new(settings);
    let mut corpus = Corpus::default();
    for (example, prediction) in examples.iter().zip(paired.predictions) {
        let gold = scorer.gold(example).unwrap();
        corpus.add(&scorer.score(&prediction.unwrap().content, &gold).unwrap().counts);
    }
    corpus
}

/// Programs too, which the published evaluator marks down for how they are written.
fn right_plans() {
    for (file, format) in [
        ("preds_json_identity.jsonl", PredictionFormat::Json),
        ("preds_code_program_identity.jsonl", PredictionFormat::Code),
    ] {
        for with_alternatives in [false, true] {
            let settings = ScoringSettings { mode: ScoringRules::Ours, format, with_alternatives };
            let metrics = scored(file, settings).metrics().unwrap();
            for (name, value) in metrics.figures() {
                let right = if name == "tool_normalized_edit_distance" { 0.0 } else { 100.0 };
                assert_eq!(value, Some(right), "{file}: {name}");
            }
        }
    }
    let none = scored("preds_json_empty.jsonl", ScoringSettings::default()).metrics().unwrap();
    assert_eq!((none.tool_macro.f1, none.tool.precision, none.edge.f1), (Some(0.0), None, Some(0.0)));
    assert_eq!(none.tool_normalized_edit_distance, 1.0);
    // What is noisy is so by either rules.
    let noisy = |mode| {
        let corpus = scored("preds_json_noisy.jsonl", ScoringSettings { mode, ..ScoringSettings::default() });
        let metrics =
            if mode == ScoringRules::Ours { corpus.metrics() } else { corpus.original_metrics() }.unwrap();
        metrics.argname.f1.unwrap()
    };
    assert!((noisy(ScoringRules::Ours) - noisy(ScoringRules::Original)).abs() < 0.1);
}

/// Trees are equal where Python's are, and the n-grams of CodeBLEU are those of the package.
fn programs() {
    let cases = lines("cases.jsonl");
    let by_id: HashMap<&str, &Literal> =
        cases.iter().map(|case| (case.get("case_id").unwrap().as_text().unwrap(), case)).collect();
    let programs = |case: &Literal| {
        let right = case.get("gold_code_str").unwrap().as_text().unwrap().to_owned();
        (case.get("prediction").unwrap().python_str(), right)
    };
    let mut count = 0;
    for line in text("expected_per_case.jsonl").lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let Some(equal) = expected.get("ast_equal").and_then(Value::as_u64) else { continue };
        let (program, right) = programs(by_id[expected["case_id"].as_str().unwrap()]);
        assert_eq!(u64::from(same_tree(&program, &right)), equal, "{}", expected["case_id"]);
        count += 1;
    }
    assert!(count >= 300, "only {count} programs were compared");
    let expected: Value = serde_json::from_str(&text("expected.json")).unwrap();
    let codes: HashMap<i64, String> =
        examples().into_iter().map(|example| (example.id, example.code)).collect();
    for file in ["preds_code_noisy.jsonl", "preds_code_program_identity.jsonl"] {
        let right = &expected["full"][file]["code_metrics_reconstruction"]["codebleu_corpus"];
        let mut corpus = CodeCorpus::default();
        for prediction in read_predictions(&text(&format!("full/{file}")), file).unwrap() {
            corpus.add(prediction.content.as_text().unwrap(), &codes[&prediction.id]);
        }
        let likeness = corpus.likeness().unwrap();
        for (name, value, most) in [
            ("ngram_match_score", likeness.n_grams, 1e-9),
            ("weighted_ngram_match_score", likeness.weighted_n_grams, 1e-9),
            // These are reconstructed from another parser.
            ("syntax_match_score", likeness.syntax, 0.1),
            ("dataflow_match_score", likeness.data_flow, 0.1),
        ] {
            let Some(right) = right[name].as_f64() else { continue };
            assert!((value - right).abs() <= most, "{file}: {name} is {value} instead of {right}");
        }
    }
}

fn results() {
    let cases: Value = serde_json::from_str(&text("result_bleu_cases.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let part = |name: &str| case[name].as_str().unwrap();
        let (value, right) =
            (result_bleu(part("candidate"), part("reference")), case["bleu"].as_f64().unwrap());
        // They may be hardly more than 0.
        assert!((value - right).abs() <= right * 1e-9, "{case}: {value}");
    }
}

fn odd_files() {
    let cases = Literal::from_json(&text("edge_cases.json")).unwrap();
    for case in cases.as_list().unwrap() {
        let part = |name: &str| case.get(name).and_then(Literal::as_text);
        let name = part("name").unwrap();
        let gold = gold_records(case.get("gt").unwrap().as_list().unwrap());
        let predictions = prediction_records(case.get("pred").unwrap().as_list().unwrap());
        let pairs = match part("eval_set").unwrap() {
            "gt" => Pairs::OfGold,
            "pred" => Pairs::OfPredictions,
            // Our type has no room for another one.
            _ => continue,
        };
        let format =
            if part("plan_format") == Some("code") { PredictionFormat::Code } else { PredictionFormat::Json };
        let with_alternatives = case.get("use_best_match") == Some(&Literal::Bool(true));
        let outcome = evaluate(&gold, &predictions, format, pairs, with_alternatives);
        match part("exception") {
            Some(exception) => assert_eq!(outcome.unwrap_err().to_string(), exception, "{name}"),
            None => {
                let outcome = outcome.unwrap_or_else(|raised| panic!("{name}: {raised}"));
                check_rounded(&outcome.metrics, &case.get("metrics").unwrap().to_json(), name);
                assert_eq!(
                    case.get("invalid"),
                    Some(&Literal::Integer(outcome.invalid.to_string())),
                    "{name}"
                );
            }
        }
    }
}
