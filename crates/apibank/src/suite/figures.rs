//! Figures over many runs, and published figures.

use std::collections::BTreeMap;

use planproof_suite::{Figure, Judged, Metric, Scored, Section, Table};
use serde_json::{Value as Json, json};

use super::classes::OF_LEVEL;
use super::judge::{ALL_CALLED, MADE, PREDICTED, REPEATS, REQUIRED, RIGHT, ROUGE, SEARCH_ERRORS, UNIQUE};
use crate::level3::original::PUBLISHED_KIND;
use crate::level3::published::{FIGURES, PublishedRow};

/// Sums over runs. Runs without a verdict do not contribute.
#[derive(Default)]
struct Sums {
    runs: u64,
    made: f64,
    required: f64,
    unique: f64,
    repeats: f64,
    replies: u64,
    rouge: f64,
    all_called: f64,
}

impl Sums {
    fn of<'a>(runs: impl IntoIterator<Item = &'a Judged<'a>>) -> Self {
        let mut sums = Self::default();
        runs.into_iter().filter_map(|run| run.scored).for_each(|scored| sums.add(scored));
        sums
    }

    fn add(&mut self, scored: &Scored) {
        let value = |name: &str| scored.score(name).unwrap_or_default();
        self.runs += 1;
        self.made += value(MADE);
        self.required += value(REQUIRED);
        self.unique += value(UNIQUE);
        self.repeats += value(REPEATS);
        self.all_called += value(ALL_CALLED);
        if let Some(rouge) = scored.score(ROUGE) {
            self.replies += 1;
            self.rouge += rouge;
        }
    }

    /// The share of runs with all needed calls and an answer, whatever their order and whatever it says.
    fn all_called(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.all_called / self.runs as f64)
    }

    fn correctness(&self) -> Option<f64> {
        (self.made > 0.0).then(|| self.unique / self.made)
    }

    fn completeness(&self) -> Option<f64> {
        (self.required > 0.0).then(|| self.unique / self.required)
    }

    fn rouge(&self) -> Option<f64> {
        (self.replies > 0).then(|| self.rouge / self.replies as f64)
    }
}

/// Whether these are runs of calls of levels 1 and 2, rather than of tasks.
fn is_of_calls(runs: &[Judged<'_>]) -> bool {
    runs.iter().any(|run| run.card.marks > 0)
}

/// Sums over predictions of single calls of tasks.
struct Counted {
    predicted: f64,
    right: f64,
    search_errors: f64,
}

impl Counted {
    /// `None` if these are not such predictions.
    fn of(runs: &[Judged<'_>]) -> Option<Self> {
        let sum = |name: &str| {
            runs.iter()
                .filter_map(|run| run.scored?.score(name))
                .fold(None, |sum, it| Some(sum.unwrap_or(0.0) + it))
        };
        Some(Self { predicted: sum(PREDICTED)?, right: sum(RIGHT)?, search_errors: sum(SEARCH_ERRORS)? })
    }

    fn share(&self) -> Option<f64> {
        (self.predicted > 0.0).then(|| self.right / self.predicted)
    }
}

/// Whether these are predictions of replies, without calls.
fn has_replies_alone(runs: &[Judged<'_>]) -> bool {
    let has = |name: &str| runs.iter().any(|run| run.scored.is_some_and(|it| it.score(name).is_some()));
    has(ROUGE) && !has(REQUIRED)
}

/// The share of right calls at a level; `None` where there are none.
fn share_of_level(runs: &[Judged<'_>], level: &str) -> Option<f64> {
    let right = runs.iter().filter_map(|run| run.scored?.score(level));
    let (sum, count) = right.fold((0.0, 0u32), |(sum, count), right| (sum + right, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// The figures of the paper, over all calls together.
pub(super) fn metrics(runs: &[Judged<'_>]) -> Vec<Metric> {
    let sums = Sums::of(runs);
    let plain = |name, title, value, is_share| Metric { name, title, value, interval: None, is_share };
    if is_of_calls(runs) {
        let titles = ["level 1", "level 2"];
        let level = |(name, title)| plain(name, title, share_of_level(runs, name), true);
        return OF_LEVEL.into_iter().zip(titles).map(level).collect();
    }
    if let Some(counted) = Counted::of(runs) {
        return vec![
            plain("call_accuracy", "right calls of those predicted", counted.share(), true),
            plain("search_errors", "searches that found another tool", Some(counted.search_errors), false),
        ];
    }
    if has_replies_alone(runs) {
        return vec![plain("rouge_l", "ROUGE-L", sums.rouge(), false)];
    }
    vec![
        plain("correctness", "Correctness", sums.correctness(), true),
        plain("completeness", "Completeness", sums.completeness(), true),
        plain("rouge_l", "ROUGE-L", sums.rouge(), false),
        plain("tool_repeats", "Tool Repeats", (sums.runs > 0).then_some(sums.repeats), false),
        plain("all_called", "all needed calls made, and an answer", sums.all_called(), true),
    ]
}

/// How the figures are composed and how the kinds of tasks compare, if there are runs, and the published figures.
pub(super) fn sections(runs: &[Judged<'_>]) -> Vec<Section> {
    if is_of_calls(runs) || Counted::of(runs).is_some() || has_replies_alone(runs) {
        return Vec::new();
    }
    let sums = Sums::of(runs);
    let ours = (sums.runs > 0).then(|| counted_section(&sums, runs));
    ours.into_iter().chain([published_section(runs)]).collect()
}

fn counted_section(sums: &Sums, runs: &[Judged<'_>]) -> Section {
    let mut kinds: BTreeMap<&str, Vec<&Judged<'_>>> = BTreeMap::new();
    // Only runs with a verdict, as in the sums, so that the numbers of runs fit the other figures.
    for run in runs.iter().filter(|run| run.scored.is_some()) {
        kinds.entry(&run.card.label).or_default().push(run);
    }
    let per_cent =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| format!("{:.2}", 100.0 * it));
    let row = |(kind, runs): (&&str, &Vec<&Judged<'_>>)| {
        let sums = Sums::of(runs.iter().copied());
        vec![
            (*kind).to_owned(),
            runs.len().to_string(),
            per_cent(sums.correctness()),
            per_cent(sums.completeness()),
            sums.rouge().map_or_else(|| "-".to_owned(), |it| format!("{it:.4}")),
            format!("{:.0}", sums.repeats),
        ]
    };
    // Scores are floats, and these are numbers of calls.
    let figure =
        |name: &'static str, value: f64| Figure { name, value: format!("{value:.0}"), note: String::new() };
    let columns = ["kind", "runs", "Correctness in %", "Completeness in %", "ROUGE-L", "Tool Repeats"]
        .map(str::to_owned);
    Section {
        key: "calls",
        title: "The calls",
        intro: "Correctness is the share of all calls that were needed and made for the first time, Completeness the \
                share of needed calls that were made. A right call made again is a repeat, and counts as \
                made. Searches for tools count as calls."
            .to_owned(),
        figures: vec![
            figure("calls made", sums.made),
            figure("calls needed", sums.required),
            figure("needed calls made", sums.unique),
            figure("repeated calls", sums.repeats),
        ],
        tables: vec![Table {
            caption: "By kind of task".to_owned(),
            columns: columns.to_vec(),
            rows: kinds.iter().map(row).collect(),
        }],
        lines: Vec::new(),
        json: json!({
            "made": sums.made as u64, "required": sums.required as u64, "unique": sums.unique as u64,
            "repeats": sums.repeats as u64,
            "correctness": sums.correctness(), "completeness": sums.completeness(), "rouge_l": sums.rouge(),
        }),
    }
}

fn published_section(runs: &[Judged<'_>]) -> Section {
    let is_published = !runs.is_empty() && runs.iter().all(|run| run.card.label == PUBLISHED_KIND);
    let row = |row: &PublishedRow| {
        vec![
            row.system.to_owned(),
            format!("{:.2}", row.correctness),
            format!("{:.2}", row.completeness),
            format!("{:.4}", row.rouge),
            row.repeats.to_string(),
        ]
    };
    // The names contain the unit, because the figures of this run in the same document are fractions.
    let entry = |row: &PublishedRow| -> Json {
        json!({
            "system": row.system, "correctness_in_per_cent": row.correctness,
            "completeness_in_per_cent": row.completeness, "rouge_l": row.rouge, "tool_repeats": row.repeats,
        })
    };
    let columns =
        ["system", "Correctness in %", "Completeness in %", "ROUGE-L", "Tool Repeats"].map(str::to_owned);
    Section {
        key: "published",
        title: "Published figures",
        intro: format!(
            "These are figures that a paper has published (Zhang et al., PMC, table 4: the 50 tasks of level 3). They \
             are not results of this run, and were made with other {}models and prompts.",
            if is_published { "" } else { "tasks, " }
        ),
        tables: vec![Table {
            caption: "Published figures on level 3 of API-Bank; not of this run".to_owned(),
            columns: columns.to_vec(),
            rows: FIGURES.iter().map(row).collect(),
        }],
        json: json!({
            "source": "Zhang et al., PMC, table 4", "figures": FIGURES.iter().map(entry).collect::<Vec<_>>(),
        }),
        ..Section::default()
    }
}
