//! How long it takes to compare one answer with right ones, by each published rule.
//!
//! `cargo bench -p planproof-measure` times it with criterion. The texts are those of
//! `benches/peers/qa_scoring.py`, which does the same in Python as the published scripts do it.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use planproof_measure::answers::Normalisation;
use planproof_measure::numbers::{RightNumber, by_paper, by_strict};
use planproof_measure::rouge::rouge_l;
use planproof_measure::supporting::{SupportingFact, facts, joint};

const ANSWER: &str = "The Aune Bridge, which was designed in 1887 by the engineer Oskar Telling of Karsholt.";
const RIGHT: &str = "Aune Bridge of Oskar Telling";
const SOLUTION: &str = "They have 3 crates of 28 jars, so 3 * 28 = 84 jars. Of these 7 break and 1,200 are bought, so that \
                        84 - 7 + 1,200 = 1,277 jars are left.\n#### 1277";

/// Spellings of an answer, as TriviaQA accepts some ten of each.
fn spellings() -> Vec<String> {
    let words = ["Aune", "Bridge", "of", "the", "Oskar", "Telling", "(1887)", "at", "Karsholt's", "crossing"];
    (1..=words.len()).map(|count| words[..count].join(" ")).collect()
}

/// Two texts of about 40 words that share most of them.
fn texts() -> [String; 2] {
    let words: Vec<String> = (0..40).map(|number| format!("word{}", number * 7 % 31)).collect();
    let others: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "word7").collect();
    [words.join(" "), others.join(" ")]
}

fn scoring(criterion: &mut Criterion) {
    criterion.bench_function("HotpotQA: exact match and F1", |bencher| {
        bencher.iter(|| Normalisation::Hotpot.compare(black_box(ANSWER), black_box(RIGHT)));
    });
    let spellings = spellings();
    criterion.bench_function("TriviaQA: the best of 10 spellings", |bencher| {
        bencher.iter(|| Normalisation::Trivia.best(black_box(ANSWER), spellings.iter().map(String::as_str)));
    });
    let right = RightNumber::read("1,277").expect("it is a number");
    criterion.bench_function("GSM8K: the paper's rule", |bencher| {
        bencher.iter(|| by_paper(black_box(SOLUTION)).is_some_and(|number| right.is_by_paper(&number)));
    });
    criterion.bench_function("GSM8K: the strict rule", |bencher| {
        bencher.iter(|| by_strict(black_box(SOLUTION)).is_some_and(|number| right.is_by_strict(&number)));
    });
    let [one, other] = texts();
    criterion.bench_function("ROUGE-L: 40 words", |bencher| {
        bencher.iter(|| rouge_l(black_box(&one), black_box(&other)).map(|found| found.f));
    });
    let fact = |title: &str, place| -> SupportingFact { (title.to_owned(), place) };
    let named = [fact("Aune Bridge", 0), fact("Oskar Telling", 2), fact("Karsholt", 1)];
    let needed = [fact("Aune Bridge", 0), fact("Oskar Telling", 1)];
    let answer = Normalisation::Hotpot.compare(ANSWER, RIGHT);
    criterion.bench_function("HotpotQA: supporting facts, and both", |bencher| {
        bencher.iter(|| joint(answer, facts(black_box(&named), black_box(&needed))));
    });
}

criterion_group!(benches, scoring);
criterion_main!(benches);
