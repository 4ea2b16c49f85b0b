//! Figures of many runs, and published ones.

use planproof_suite::statistics::share_interval;
use planproof_suite::{Figure, Judged, Metric, Scored, Section, Table};
use serde_json::{Map, Value, json};

use super::judge::{CALLS_SCORE, STRICT_SCORE};

/// Accuracy in per cent that the paper on agents by specification reports for GSM8K (Crouse et al. 2024, tables 1 and
/// 2), in its order.
const PUBLISHED: [(&str, f64); 12] = [
    ("Direct", 15.8),
    ("CoT", 64.6),
    ("ReACT", 53.8),
    ("ReWOO", 51.9),
    ("PASS", 53.2),
    ("Direct → ReACT", 33.3),
    ("Direct → ReWOO", 32.6),
    ("Direct → PASS", 33.1),
    ("CoT → ReACT", 65.3),
    ("CoT → ReWOO", 65.6),
    ("CoT → PASS", 64.7),
    ("PASS without summariser", 53.8),
];

/// How many runs are right by each rule.
#[derive(Default)]
struct Counts {
    runs: u64,
    passed: u64,
    paper: u64,
    strict: u64,
    paper_only: u64,
    strict_only: u64,
    calls: f64,
}

impl Counts {
    fn of(runs: &[Judged<'_>]) -> Self {
        let mut counts = Self::default();
        for scored in runs.iter().filter_map(|run| run.scored) {
            let add = |count: &mut u64, holds: bool| *count += u64::from(holds);
            add(&mut counts.runs, true);
            // A verdict contains the strict rule's result and the other one if it differs.
            add(
                &mut counts.paper,
                scored.has("paper_only") || (is_strict(scored) && !scored.has("strict_only")),
            );
            add(&mut counts.passed, scored.passed());
            add(&mut counts.strict, is_strict(scored));
            add(&mut counts.paper_only, scored.has("paper_only"));
            add(&mut counts.strict_only, scored.has("strict_only"));
            counts.calls += scored.score(CALLS_SCORE).unwrap_or_default();
        }
        counts
    }

    /// `3 of 4 (75.0 %)`.
    fn share(&self, count: u64) -> String {
        format!("{count} of {} ({:.1} %)", self.runs, 100.0 * count as f64 / self.runs.max(1) as f64)
    }
}

fn is_strict(scored: &Scored) -> bool {
    scored.score(STRICT_SCORE).is_some_and(|value| value > 0.5)
}

/// The 95 % interval of the share by the strict rule; `None` without runs.
fn strict_interval(runs: &[Judged<'_>]) -> Option<(f64, f64)> {
    share_interval(runs, |scored| Some(is_strict(scored)))
}

/// The share by the strict rule, and how often the calculator was called.
pub(super) fn metrics(runs: &[Judged<'_>]) -> Vec<Metric> {
    let counts = Counts::of(runs);
    let per_run = |value: f64| (counts.runs > 0).then(|| value / counts.runs as f64);
    vec![
        Metric {
            name: STRICT_SCORE,
            title: "right by the strict rule",
            value: per_run(counts.strict as f64),
            interval: strict_interval(runs),
            is_share: true,
        },
        Metric {
            name: CALLS_SCORE,
            title: "calculator calls per run",
            value: per_run(counts.calls),
            interval: None,
            is_share: false,
        },
    ]
}

/// The strict rule beside the paper's, if there are runs, and the published figures.
pub(super) fn sections(runs: &[Judged<'_>]) -> Vec<Section> {
    let counts = Counts::of(runs);
    let strict = (counts.runs > 0).then(|| strict_section(&counts, strict_interval(runs)));
    strict.into_iter().chain([published_section()]).collect()
}

fn strict_section(counts: &Counts, interval: Option<(f64, f64)>) -> Section {
    // If both rules pass the same number, either is the pass rate.
    let by_paper = if counts.passed == counts.paper { "the pass rate" } else { "" };
    let figure = |name: &'static str, count: u64, note: &str| Figure {
        name,
        value: counts.share(count),
        note: note.to_owned(),
    };
    let interval = match interval {
        Some((low, high)) => format!("95 % interval {:.1} to {:.1} %", 100.0 * low, 100.0 * high),
        None => String::new(),
    };
    Section {
        key: "strict_rule",
        title: "The strict rule",
        intro: "Runs pass by the rule of the paper, which takes the last number of an answer, or with \
                `--scoring official` by that of the authors of GSM8K, which requires the number after `####` and compares \
                it as text."
            .to_owned(),
        figures: vec![
            figure("right by the strict rule", counts.strict, &interval),
            figure("right by the paper's rule", counts.paper, by_paper),
            figure("by the paper's rule alone", counts.paper_only, "mostly a matter of form"),
            figure("by the strict rule alone", counts.strict_only, "another number follows the right one"),
        ],
        json: json!({
            "runs": counts.runs,
            "strict": counts.strict,
            "paper": counts.paper,
            "paper_only": counts.paper_only,
            "strict_only": counts.strict_only,
        }),
        ..Section::default()
    }
}

fn published_section() -> Section {
    let intro = "These are figures that a paper has published (Crouse et al. 2024: Llama-2-70b, all 1,319 problems of \
                 the test set). They are not results of this run, and were made with another model and other prompts; Direct and CoT take a vote over 5 samples.";
    let rows = PUBLISHED.iter().map(|(method, share)| vec![(*method).to_owned(), format!("{share:.1}")]);
    let accuracy: Map<String, Value> =
        PUBLISHED.iter().map(|(method, share)| ((*method).to_owned(), json!(share))).collect();
    Section {
        key: "published",
        title: "Published figures",
        intro: intro.to_owned(),
        tables: vec![Table {
            caption: "Published accuracy on GSM8K; not of this run".to_owned(),
            columns: vec!["method".to_owned(), "accuracy in %".to_owned()],
            rows: rows.collect(),
        }],
        json: json!({
            "source": "Crouse et al. 2024, arXiv 2310.08535, tables 1 and 2",
            "model": "Llama-2-70b",
            "problems": 1319,
            "is_of_this_run": false,
            "accuracy_in_per_cent": accuracy,
        }),
        ..Section::default()
    }
}

#[cfg(test)]
mod tests {
    use planproof_suite::{Card, Case, Suite, Verdict};
    use planproof_trace::notation::parse;

    use super::*;
    use crate::gsm8k::{Gsm8k, WordProblem};

    fn with_runs<T>(answers: &[&str], look: impl FnOnce(&[Judged<'_>]) -> T) -> T {
        let problem = WordProblem::new("p", "What is 3 times 6?", "", "18").unwrap();
        let card: &Card = problem.card();
        let judge = |events: &&str| problem.judge(&parse(events).unwrap()).ok();
        let verdicts: Vec<Option<Verdict>> = answers.iter().map(judge).collect();
        let judged = |(ordinal, verdict)| Judged { ordinal, repeat: 0, card, scored: verdict };
        let runs: Vec<_> = (0..)
            .zip(verdicts.iter().map(|verdict| verdict.as_ref().map(|it| &it.scored)))
            .map(judged)
            .collect();
        look(&runs)
    }

    #[test]
    fn figures_count_scored_runs_alone() {
        let runs = [
            r#####"answer "#### 18""#####,
            r#"answer "18""#,
            r#####"call calculator {"expression":"1"} | ok "1" | call calculator | err | answer "#### 17""#####,
            r#"unscored "gone""#,
        ];
        with_runs(&runs, |runs| {
            let [strict, calls] = Gsm8k::default().metrics(runs).try_into().unwrap();
            assert_eq!((strict.value, calls.value), (Some(1.0 / 3.0), Some(2.0 / 3.0)));
            let (low, high) = strict.interval.unwrap();
            assert!((low - 0.061_49).abs() < 1e-5 && (high - 0.792_34).abs() < 1e-5, "{low} {high}");
            let sections = Gsm8k::default().sections(runs, &[], 1);
            assert_eq!(sections.iter().map(|it| it.key).collect::<Vec<_>>(), ["strict_rule", "published"]);
            assert_eq!(sections[0].figures[1].value, "2 of 3 (66.7 %)");
            assert_eq!(sections[0].json["paper_only"], 1);
        });
    }

    #[test]
    fn without_runs_nothing_is_known() {
        let metrics = Gsm8k::default().metrics(&[]);
        assert!(metrics.iter().all(|metric| metric.value.is_none() && metric.interval.is_none()));
        let [published] = Gsm8k::default().sections(&[], &[], 1).try_into().unwrap();
        assert!(published.intro.contains("not results of this run"));
        assert!(published.tables[0].rows.iter().all(|row| row.len() == published.tables[0].columns.len()));
        assert_eq!(published.json["accuracy_in_per_cent"]["CoT"], 64.6);
    }
}
