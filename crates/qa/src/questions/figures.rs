//! Figures of many runs, and published ones.

use std::collections::BTreeMap;

use planproof_suite::statistics::share_interval;
use planproof_suite::{Figure, Judged, Metric, Scored, Section, Table};
use serde_json::{Map, Value, json};

use super::benchmark::Benchmark;
use super::facts;
use super::judge::{CALLS_SCORE, F1_SCORE, OFFICIAL_SCORE, PAPER_SCORE};

/// Accuracy in per cent that the paper on agents by specification reports for HotpotQA and for TriviaQA (Crouse et
/// al. 2024, tables 1 and 2), in its order.
const PUBLISHED: [(&str, [f64; 2]); 12] = [
    ("Direct", [29.3, 74.4]),
    ("CoT", [35.0, 69.4]),
    ("ReACT", [28.7, 44.1]),
    ("ReWOO", [27.0, 52.4]),
    ("PASS", [34.7, 57.8]),
    ("Direct → ReACT", [33.1, 75.3]),
    ("Direct → ReWOO", [31.3, 75.4]),
    ("Direct → PASS", [33.3, 75.9]),
    ("CoT → ReACT", [37.8, 71.4]),
    ("CoT → ReWOO", [37.0, 71.6]),
    ("CoT → PASS", [38.5, 72.6]),
    ("PASS without summariser", [25.7, 45.2]),
];

/// What is counted of some runs.
#[derive(Default)]
struct Counts {
    runs: u64,
    official: u64,
    paper: u64,
    f1: f64,
    calls: f64,
}

impl Counts {
    fn add(&mut self, scored: &Scored) {
        self.runs += 1;
        self.official += u64::from(holds(scored, OFFICIAL_SCORE));
        self.paper += u64::from(holds(scored, PAPER_SCORE));
        self.f1 += scored.score(F1_SCORE).unwrap_or_default();
        self.calls += scored.score(CALLS_SCORE).unwrap_or_default();
    }

    fn of(runs: &[Judged<'_>]) -> Self {
        let mut counts = Self::default();
        runs.iter().filter_map(|run| run.scored).for_each(|scored| counts.add(scored));
        counts
    }

    /// `3 of 4 (75.0 %)`.
    fn share(&self, count: u64) -> String {
        format!("{count} of {} ({:.1} %)", self.runs, self.per_cent(count as f64))
    }

    fn per_cent(&self, sum: f64) -> f64 {
        100.0 * sum / self.runs.max(1) as f64
    }
}

fn holds(scored: &Scored, score: &str) -> bool {
    scored.score(score).is_some_and(|value| value > 0.5)
}

/// Exact match by each rule, F1, and how often tools were called.
pub(super) fn metrics(runs: &[Judged<'_>]) -> Vec<Metric> {
    let counts = Counts::of(runs);
    let per_run = |value: f64| (counts.runs > 0).then(|| value / counts.runs as f64);
    let exact = |name, title, count: u64| Metric {
        name,
        title,
        value: per_run(count as f64),
        interval: share_interval(runs, |scored| Some(holds(scored, name))),
        is_share: true,
    };
    let plain =
        |name, title, sum, is_share| Metric { name, title, value: per_run(sum), interval: None, is_share };
    let mut metrics = vec![
        exact(OFFICIAL_SCORE, "exact match, official rule", counts.official),
        exact(PAPER_SCORE, "exact match, the paper's rule", counts.paper),
        plain(F1_SCORE, "F1", counts.f1, true),
        plain(CALLS_SCORE, "tool calls per run", counts.calls, false),
    ];
    metrics.extend(facts::metrics(runs));
    metrics
}

/// Both rules and the kinds of questions, if there are runs, and the published figures.
pub(super) fn sections(benchmark: Benchmark, runs: &[Judged<'_>]) -> Vec<Section> {
    let counts = Counts::of(runs);
    let ours = (counts.runs > 0).then(|| rules_section(&counts, runs));
    ours.into_iter().chain(facts::section(runs)).chain([published_section(benchmark)]).collect()
}

fn rules_section(counts: &Counts, runs: &[Judged<'_>]) -> Section {
    let figure =
        |name: &'static str, value: String, note: &str| Figure { name, value, note: note.to_owned() };
    let mut kinds: BTreeMap<&str, Counts> = BTreeMap::new();
    for run in runs {
        // The published questions of TriviaQA have no kind, and get no row for a kind without a name.
        if let Some(scored) = run.scored.filter(|_| !run.card.label.is_empty()) {
            kinds.entry(&run.card.label).or_default().add(scored);
        }
    }
    let row = |(kind, counts): (&&str, &Counts)| {
        let per_cent = |sum: f64| format!("{:.1}", counts.per_cent(sum));
        let figures = [per_cent(counts.official as f64), per_cent(counts.paper as f64), per_cent(counts.f1)];
        [(*kind).to_owned(), counts.runs.to_string()].into_iter().chain(figures).collect()
    };
    let table = Table {
        caption: "By kind of question".to_owned(),
        columns: ["kind", "runs", "official in %", "paper in %", "F1 in %"].map(str::to_owned).to_vec(),
        rows: kinds.iter().map(row).collect(),
    };
    Section {
        key: "rules",
        title: "Both rules",
        intro: "An answer is right if it equals a right one once case, punctuation and articles are removed. The \
                official rule accepts every spelling that the data names; the code of the paper on agents by \
                specification accepts only one right answer."
            .to_owned(),
        figures: vec![
            figure("right by the official rule", counts.share(counts.official), ""),
            figure("right by the paper's rule", counts.share(counts.paper), ""),
            figure("F1", format!("{:.1} %", counts.per_cent(counts.f1)), "mean over all runs"),
        ],
        tables: if kinds.is_empty() { Vec::new() } else { vec![table] },
        lines: Vec::new(),
        json: json!({
            "runs": counts.runs,
            "official": counts.official,
            "paper": counts.paper,
            "f1": counts.f1 / counts.runs.max(1) as f64,
        }),
    }
}

fn published_section(benchmark: Benchmark) -> Section {
    let (place, data) = match benchmark {
        Benchmark::HotpotQa => (0, "HotpotQA"),
        Benchmark::TriviaQa => (1, "TriviaQA"),
    };
    let rows =
        PUBLISHED.iter().map(|(method, shares)| vec![(*method).to_owned(), format!("{:.1}", shares[place])]);
    let accuracy: Map<String, Value> =
        PUBLISHED.iter().map(|(method, shares)| ((*method).to_owned(), json!(shares[place]))).collect();
    Section {
        key: "published",
        title: "Published figures",
        intro: "These are figures that a paper has published (Crouse et al. 2024: Llama-2-70b, 1,000 questions drawn from \
                the development set, by the paper's rule). They are not results of this run, and were made with another \
                model and other prompts; Direct and CoT take a vote over 5 samples."
            .to_owned(),
        tables: vec![Table {
            caption: format!("Published accuracy on {data}; not of this run"),
            columns: vec!["method".to_owned(), "accuracy in %".to_owned()],
            rows: rows.collect(),
        }],
        json: json!({ "source": "Crouse et al. 2024, tables 1 and 2", "accuracy_in_per_cent": accuracy }),
        ..Section::default()
    }
}

#[cfg(test)]
mod tests {
    use planproof_suite::{Case, Suite};
    use planproof_trace::notation::parse;

    use super::*;
    use crate::questions::{Questions, own};

    #[test]
    fn figures_are_those_of_the_runs() {
        let questions = own(Benchmark::HotpotQa).unwrap();
        let right = format!("answer \"{}\"", questions[0].right());
        let verdicts = [
            questions[0].judge(&parse(&right).unwrap()).unwrap(),
            questions[1].judge(&parse("answer \"nobody\"").unwrap()).unwrap(),
        ];
        let judged = |at: usize| Judged {
            ordinal: at as u32,
            repeat: 0,
            card: questions[at].card(),
            scored: Some(&verdicts[at].scored),
        };
        let runs = [judged(0), judged(1)];
        let suite = Questions::new(Benchmark::HotpotQa);
        let metrics = suite.metrics(&runs);
        assert_eq!(metrics[0].value, Some(0.5));
        assert!(metrics[0].interval.is_some());
        let sections = suite.sections(&runs, &[], 1);
        assert_eq!(sections.iter().map(|it| it.key).collect::<Vec<_>>(), ["rules", "published"]);
        assert_eq!(sections[0].figures[0].value, "1 of 2 (50.0 %)");
        assert!(sections[0].tables[0].rows.iter().all(|row| row.len() == 5));
    }

    #[test]
    fn without_runs_nothing_is_known() {
        let suite = Questions::new(Benchmark::TriviaQa);
        assert!(suite.metrics(&[]).iter().all(|metric| metric.value.is_none() && metric.interval.is_none()));
        let [published] = suite.sections(&[], &[], 1).try_into().unwrap();
        assert!(published.intro.contains("not results of this run"));
        assert_eq!(published.json["accuracy_in_per_cent"]["PASS"], 57.8);
    }
}
