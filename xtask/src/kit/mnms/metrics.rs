//! The metrics of single predictions, of groups of predictions and of whole files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use planproof_mnms::evaluation::original::{PlanSplitter, PredictionFormat};
use planproof_mnms::evaluation::{Corpus, CorpusMetrics, LabelCounts, Scorer, ScoringRules, ScoringSettings};
use planproof_mnms::{Literal, pair, read_examples, read_predictions};
use serde_json::{Map, Value, json};

/// The right plans of all whole files.
const GOLD: &str = "full/gold_synth_882.jsonl";

/// The files, each with the format of its predictions.
const FILES: [(&str, PredictionFormat); 6] = [
    ("preds_code_noisy.jsonl", PredictionFormat::Code),
    ("preds_code_program_identity.jsonl", PredictionFormat::Code),
    ("preds_json_empty.jsonl", PredictionFormat::Json),
    ("preds_json_identity.jsonl", PredictionFormat::Json),
    ("preds_json_noisy.jsonl", PredictionFormat::Json),
    ("preds_json_verynoisy.jsonl", PredictionFormat::Json),
];

pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let read = |file: &str| {
        let path = directory.join(file);
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let mut lines = Vec::new();
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let mut evaluator = PlanSplitter::default();
    for (number, line) in (1..).zip(read("cases.jsonl")?.lines()) {
        // In a closure, so that one `with_context` names the line for every fault in it.
        let mut case = || -> Result<(String, String, Scored)> {
            let case = Literal::from_json(line)?;
            let text =
                |name: &str| case.get(name).and_then(Literal::as_text).with_context(|| format!("no {name}"));
            let part = |name: &str| case.get(name).with_context(|| format!("no {name}"));
            let alternatives = part("alt_plans")?.as_list().context("alternatives are no list")?;
            let format =
                if text("format")? == "code" { PredictionFormat::Code } else { PredictionFormat::Json };
            let gold = evaluator.gold(part("gold_plan")?, alternatives)?;
            let reading = evaluator.read(part("prediction")?, format)?;
            let scored = Scored {
                // With and without the alternative plans, because the kit records both.
                plain: gold.compare(&reading, false),
                best: gold.compare(&reading, true),
                is_invalid: reading.malformed.is_some(),
            };
            Ok((text("case_id")?.to_owned(), text("group")?.to_owned(), scored))
        };
        let (id, group, scored) = case().with_context(|| format!("cases.jsonl:{number}"))?;
        let mut corpus = Corpus::default();
        corpus.add(&scored.plain);
        let line = json!({
            "kind": "case",
            "case_id": id,
            "invalid": u8::from(scored.is_invalid),
            "metrics": rounded(&metrics(&corpus)?),
        });
        lines.push(line.to_string());
        groups.entry(group).or_default().add(&scored);
    }
    for (name, group) in groups {
        let plain = metrics(&group.plain)?;
        let line = json!({
            "kind": "group",
            "group": name,
            "unrounded": unrounded(&plain),
            "metrics": rounded(&plain),
            "best_match_unrounded": unrounded(&metrics(&group.best)?),
            "invalid_predictions": group.invalid,
        });
        lines.push(line.to_string());
    }
    let examples = read_examples(&read(GOLD)?, GOLD)?;
    for (file, format) in FILES {
        let paired = pair(&examples, read_predictions(&read(&format!("full/{file}"))?, file)?, file)?;
        let mut scorer =
            Scorer::new(ScoringSettings { mode: ScoringRules::Original, format, with_alternatives: false });
        let mut corpus = Corpus::default();
        for (example, prediction) in examples.iter().zip(&paired.predictions) {
            let prediction =
                prediction.as_ref().with_context(|| format!("{file}: none for {}", example.id))?;
            let gold = scorer.gold(example)?;
            corpus.add(&scorer.score(&prediction.content, &gold)?.counts);
        }
        let metrics = metrics(&corpus)?;
        let line = json!({
            "kind": "full",
            "file": file,
            "unrounded": unrounded(&metrics),
            "metrics": rounded(&metrics),
        });
        lines.push(line.to_string());
    }
    Ok(lines)
}

struct Scored {
    plain: LabelCounts,
    best: LabelCounts,
    is_invalid: bool,
}

#[derive(Default)]
struct Group {
    plain: Corpus,
    best: Corpus,
    invalid: u64,
}

impl Group {
    fn add(&mut self, scored: &Scored) {
        self.plain.add(&scored.plain);
        self.best.add(&scored.best);
        self.invalid += u64::from(scored.is_invalid);
    }
}

fn metrics(corpus: &Corpus) -> Result<CorpusMetrics> {
    corpus.original_metrics().context("there is nothing to score")
}

fn rounded(metrics: &CorpusMetrics) -> Value {
    let figures = metrics.rounded_figures().into_iter();
    Value::Object(figures.map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
}

/// All figures as percentages, with the counts behind them.
fn unrounded(metrics: &CorpusMetrics) -> Value {
    let figures = metrics.figures().into_iter();
    let mut all: Map<String, Value> = figures.map(|(name, value)| (name.to_owned(), value.into())).collect();
    for (name, tally) in ["argname", "argvalue", "edge"].into_iter().zip(metrics.tallies) {
        all.insert(format!("{name}_tp"), tally.right.into());
        all.insert(format!("{name}_fp"), tally.extra.into());
        all.insert(format!("{name}_fn"), tally.missing.into());
    }
    all.into()
}
