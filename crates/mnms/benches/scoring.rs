//! How long whole files of predictions take to be read and scored, and how much memory that takes.
//!
//! `cargo bench -p planproof-mnms --bench scoring -- [ROUNDS] [DIRECTORY]`, where the directory has the files of the
//! kit's
//! folder `full`. Without it nothing is measured. What is timed is scoring, from what was read to the metrics,
//! and all from the texts of the files on.

#![expect(clippy::unwrap_used, reason = "what cannot be read ends a benchmark")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use planproof_mnms::evaluation::original::PredictionFormat;
use planproof_mnms::evaluation::{Corpus, Scorer, ScoringRules, ScoringSettings};
use planproof_mnms::{pair, read_examples, read_predictions};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits/mnms/full");

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let rounds: usize = arguments.next().map_or(15, |text| text.parse().unwrap());
    let directory = arguments.next().map_or_else(|| PathBuf::from(DIRECTORY), PathBuf::from);
    let Ok(gold) = std::fs::read_to_string(directory.join("gold_synth_882.jsonl")) else {
        println!("nothing is measured: there is no {}", directory.join("gold_synth_882.jsonl").display());
        return;
    };
    println!("file, rules, alternatives, milliseconds to score and to read and score (medians of {rounds})");
    for (file, format) in [
        ("preds_json_identity.jsonl", PredictionFormat::Json),
        ("preds_json_noisy.jsonl", PredictionFormat::Json),
        ("preds_code_program_identity.jsonl", PredictionFormat::Code),
        ("preds_code_noisy.jsonl", PredictionFormat::Code),
    ] {
        let predictions = std::fs::read_to_string(directory.join(file)).unwrap();
        for mode in [ScoringRules::Original, ScoringRules::Ours] {
            for with_alternatives in [false, true] {
                let settings = ScoringSettings { mode, format, with_alternatives };
                let times: Vec<[Duration; 2]> =
                    (0..rounds).map(|_| time(&gold, &predictions, settings)).collect();
                let median = |place: usize| {
                    let mut times: Vec<Duration> = times.iter().map(|times| times[place]).collect();
                    times.sort_unstable();
                    format!("{:.1}", times[rounds / 2].as_secs_f64() * 1000.0)
                };
                let alternatives = if with_alternatives { "yes" } else { "no" };
                println!("{file}, {mode:?}, {alternatives}, {}, {}", median(0), median(1));
            }
        }
    }
    if let Some(peak) = peak_memory() {
        println!("most memory held: {peak}");
    }
}

fn time(gold: &str, predictions: &str, settings: ScoringSettings) -> [Duration; 2] {
    let start = Instant::now();
    let examples = read_examples(gold, "gold").unwrap();
    let paired =
        pair(&examples, read_predictions(predictions, "predictions").unwrap(), "predictions").unwrap();
    let read = Instant::now();
    let mut scorer = Scorer::new(settings);
    let mut corpus = Corpus::default();
    for (example, prediction) in examples.iter().zip(&paired.predictions) {
        let gold = scorer.gold(example).unwrap();
        let prediction = prediction.as_ref().unwrap();
        corpus.add(&scorer.score(&prediction.content, &gold).unwrap().counts);
    }
    std::hint::black_box((corpus.metrics(), corpus.original_metrics()));
    [read.elapsed(), start.elapsed()]
}

/// The most memory that this process held, as Linux says it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|size| size.trim().to_owned())
}
