//! Figures of many runs, beside published ones.

use std::collections::BTreeMap;

use planproof_suite::statistics::{CaseRuns, success_rate};
use planproof_suite::{Judged, Metric, Scored, Section, Table};
use serde_json::{Map, Value, json};

use crate::evaluation::PaperEvaluation;
use crate::fault::CLASSES;
use crate::judge::{BY_WORDS, CALLS_SCORE, ONE_STEP, SEQUENTIAL, SHARE_SCORE};

/// The models of the published figures.
const MODELS: [&str; 6] = ["ChatGPT", "Claude", "Ziya", "ChatGLM", "Chinese-Alpaca-Plus", "InternLM"];

/// A row of the paper's tables.
struct Published {
    /// What is measured, in words.
    title: &'static str,
    /// The evaluation of ours that it is comparable with.
    evaluation: PaperEvaluation,
    /// The agents whose runs it is comparable with.
    agents: Agents,
    /// The number of the table.
    table: u8,
    /// Accuracy in per cent of each model, in the order of [`MODELS`]; `None` if it was not measured.
    accuracy: [Option<u8>; 6],
}

/// Agents, by the flags of their runs.
#[derive(Clone, Copy)]
enum Agents {
    All,
    /// The one of this flag.
    Of(&'static str),
    /// None of the paper's two.
    Others,
}

impl Agents {
    fn has(self, scored: &Scored) -> bool {
        match self {
            Self::All => true,
            Self::Of(flag) => scored.has(flag),
            Self::Others => ![ONE_STEP, SEQUENTIAL].into_iter().any(|flag| scored.has(flag)),
        }
    }

    /// The suffix of the evaluation's name.
    fn suffix(self) -> String {
        match self {
            Self::All => String::new(),
            Self::Of(flag) => format!(".{flag}"),
            Self::Others => ".others".to_owned(),
        }
    }
}

const fn all(accuracy: [u8; 6]) -> [Option<u8>; 6] {
    let [a, b, c, d, e, f] = accuracy;
    [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f)]
}

/// Accuracy that the paper reports (Ruan et al. 2023, tables 3 to 11).
const PUBLISHED: [Published; 12] = {
    use PaperEvaluation as E;
    const fn row(
        title: &'static str,
        evaluation: PaperEvaluation,
        table: u8,
        accuracy: [Option<u8>; 6],
    ) -> Published {
        Published { title, evaluation, agents: Agents::All, table, accuracy }
    }
    [
        row("tool order", E::ToolOrder, 3, all([100, 100, 45, 45, 20, 80])),
        row("tools and sub-tasks as two lists", E::ToolSubtaskLists, 4, all([55, 15, 10, 10, 0, 45])),
        row("pairs of tool and sub-task", E::Pairs, 5, all([75, 90, 20, 0, 5, 55])),
        row("pairs, among unrelated tools", E::PairsUnrelated, 6, all([70, 90, 10, 0, 5, 50])),
        row("pairs, one a turn", E::SequentialPairs, 7, all([80, 100, 10, 0, 0, 65])),
        row("simple SQL", E::SimpleSql, 8, all([90, 100, 50, 30, 20, 90])),
        row("nested SQL, direct", E::NestedSqlDirect, 9, all([80, 100, 50, 60, 0, 60])),
        row("nested SQL, step by step", E::NestedSqlCot, 9, all([80, 100, 40, 70, 0, 50])),
        row("mathematical code", E::MathCode, 10, all([90, 85, 50, 0, 55, 95])),
        Published {
            title: "end to end, one-step agent",
            evaluation: E::EndToEnd,
            agents: Agents::Of(ONE_STEP),
            table: 11,
            accuracy: [Some(50), None, Some(0), None, Some(0), Some(15)],
        },
        Published {
            title: "end to end, sequential agent",
            evaluation: E::EndToEnd,
            agents: Agents::Of(SEQUENTIAL),
            table: 11,
            accuracy: [Some(55), None, Some(0), None, Some(0), Some(20)],
        },
        Published {
            title: "end to end, another agent",
            evaluation: E::EndToEnd,
            agents: Agents::Others,
            table: 11,
            accuracy: [None; 6],
        },
    ]
};

/// Name of the metric of plans.
const PLANNING: &str = "planning";

/// How many runs have a sub-task that was judged by its words alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByWords {
    None,
    Some,
    All,
}

impl ByWords {
    fn of<'r>(runs: impl Iterator<Item = &'r Scored>) -> Self {
        let (mut all, mut by_words) = (0, 0);
        for scored in runs {
            all += 1;
            by_words += usize::from(scored.has(BY_WORDS));
        }
        match by_words {
            0 => Self::None,
            _ if by_words == all => Self::All,
            _ => Self::Some,
        }
    }

    /// What is added to the name of what was judged so.
    const fn mark(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Some => " (sub-tasks partly by words alone)",
            Self::All => " (sub-tasks by words alone)",
        }
    }
}

/// What a metric is made of.
struct Group {
    name: &'static str,
    title: &'static str,
    has: fn(PaperEvaluation) -> bool,
}

const GROUPS: [Group; 4] = [
    Group { name: PLANNING, title: "plans that are right", has: PaperEvaluation::is_planning },
    Group { name: "sql", title: "statements that are right", has: PaperEvaluation::is_sql },
    Group { name: "math", title: "code that is right", has: |it| matches!(it, PaperEvaluation::MathCode) },
    Group {
        name: "end_to_end",
        title: "answers that are right",
        has: |it| matches!(it, PaperEvaluation::EndToEnd),
    },
];

fn evaluation(run: &Judged<'_>) -> Option<PaperEvaluation> {
    PaperEvaluation::find(&run.card.label)
}

/// The runs of some evaluations, by case.
fn cases(runs: &[Judged<'_>], of: impl Fn(PaperEvaluation) -> bool, agents: Agents) -> Vec<CaseRuns> {
    let mut cases: BTreeMap<u32, CaseRuns> = BTreeMap::new();
    for run in runs.iter().filter(|run| evaluation(run).is_some_and(&of)) {
        if let Some(scored) = run.scored.filter(|scored| agents.has(scored)) {
            cases.entry(run.ordinal).or_default().add(scored.passed());
        }
    }
    cases.into_values().collect()
}

/// The share of each group of evaluations, the right share of an output, and how often tools were called.
pub(crate) fn metrics(runs: &[Judged<'_>]) -> Vec<Metric> {
    let group = |group: &Group| {
        let rate = success_rate(&cases(runs, group.has, Agents::All));
        let is_of_group = |run: &&Judged<'_>| evaluation(run).is_some_and(group.has);
        let by_words = ByWords::of(runs.iter().filter(is_of_group).filter_map(|run| run.scored));
        Metric {
            name: group.name,
            // Only plans have sub-tasks; of other outputs, words are only a cause.
            title: match (group.name, by_words) {
                (PLANNING, ByWords::All) => "plans that are right, their sub-tasks by words alone",
                (PLANNING, ByWords::Some) => "plans that are right, their sub-tasks partly by words alone",
                _ => group.title,
            },
            value: rate.map(|rate| rate.rate),
            interval: rate.map(|rate| (rate.low, rate.high)),
            is_share: true,
        }
    };
    let scored = || runs.iter().filter_map(|run| run.scored);
    let mean = |name, title, is_share| {
        let count = scored().count();
        let sum: f64 = scored().filter_map(|scored| scored.score(name)).sum();
        Metric { name, title, value: (count > 0).then(|| sum / count as f64), interval: None, is_share }
    };
    let means = [
        mean(SHARE_SCORE, "steps and parts that are right", true),
        mean(CALLS_SCORE, "tool calls per run", false),
    ];
    GROUPS.iter().map(group).chain(means).collect()
}

/// The evaluations beside the published figures, and the classes of failures if there are any.
pub(crate) fn sections(runs: &[Judged<'_>]) -> Vec<Section> {
    [Some(evaluations_section(runs)), failures_section(runs)].into_iter().flatten().collect()
}

fn evaluations_section(runs: &[Judged<'_>]) -> Section {
    let mut ours: Map<String, Value> = Map::new();
    let mut rows = Vec::new();
    for published in &PUBLISHED {
        let of_row = cases(runs, |it| it == published.evaluation, published.agents);
        let is_of_row = |run: &&Judged<'_>| evaluation(run) == Some(published.evaluation);
        let scored = || {
            let scored = runs.iter().filter(is_of_row).filter_map(|run| run.scored);
            scored.filter(|scored| published.agents.has(scored))
        };
        let by_words = ByWords::of(scored());
        let count: u32 = of_row.iter().map(|case| case.runs).sum();
        let rate = success_rate(&of_row);
        let accuracy = rate.map_or("–".to_owned(), |rate| format!("{:.1}", 100.0 * rate.rate));
        // Programs get only the evaluations that were run; the table has a row for each of the paper's.
        if let Some(rate) = rate {
            let mut value = json!({"runs": count, "accuracy": rate.rate, "low": rate.low, "high": rate.high});
            if by_words != ByWords::None {
                value["by_words_alone"] = json!(scored().filter(|scored| scored.has(BY_WORDS)).count());
            }
            let name = published.evaluation.name().to_owned() + &published.agents.suffix();
            ours.insert(name, value);
        }
        let others =
            published.accuracy.iter().map(|it| it.map_or("–".to_owned(), |share| share.to_string()));
        let title = format!("{}{}", published.title, by_words.mark());
        let ours = [title, published.table.to_string(), count.to_string(), accuracy];
        rows.push(ours.into_iter().chain(others).collect());
    }
    let columns = ["evaluation", "table", "runs", "accuracy in %"].into_iter().chain(MODELS);
    Section {
        key: "evaluations",
        title: "Evaluations",
        intro: "Accuracy of this run by evaluation, beside the figures that the paper has published for other models \
                (Ruan et al. 2023, tables 3 to 11). Those were made with other questions, other rows and other prompts, \
                which the paper shows as pictures. If an agent carries out its plan, the plan is the one in its trace, \
                and a sub-task is judged by what its call returned. Where no call did, or nothing was carried out, it is \
                judged by its words alone, which is said beside the evaluation."
            .to_owned(),
        tables: vec![Table {
            caption: "This run, and published accuracy in %".to_owned(),
            columns: columns.map(str::to_owned).collect(),
            rows,
        }],
        json: json!({ "ours": ours, "published": published(), "source": "Ruan et al. 2023, tables 3 to 11" }),
        ..Section::default()
    }
}

/// The published figures for programs.
fn published() -> Value {
    let row = |row: &Published| {
        let models =
            MODELS.iter().zip(row.accuracy).filter_map(|(model, share)| Some(((*model).to_owned(), share?)));
        let accuracy: BTreeMap<String, u8> = models.collect();
        json!({
            "title": row.title,
            "evaluation": row.evaluation.name().to_owned() + &row.agents.suffix(),
            "table": row.table,
            "accuracy_in_per_cent": accuracy,
        })
    };
    // The row for other agents has no published figures.
    PUBLISHED.iter().filter(|row| row.accuracy.iter().any(Option::is_some)).map(row).collect()
}

fn failures_section(runs: &[Judged<'_>]) -> Option<Section> {
    let mut counts: BTreeMap<PaperEvaluation, [u64; CLASSES.len()]> = BTreeMap::new();
    for run in runs {
        // Runs that passed have no class. A name of another version, which this one does not know, is left out.
        if let (Some(evaluation), Some(class)) = (evaluation(run), run.scored.and_then(|scored| scored.class))
            && let Some(place) = CLASSES.iter().position(|info| info.name == class.as_str())
        {
            counts.entry(evaluation).or_default()[place] += 1;
        }
    }
    if counts.is_empty() {
        return None;
    }
    let row = |(evaluation, counts): (&PaperEvaluation, &[u64; CLASSES.len()])| {
        [evaluation.name().to_owned()].into_iter().chain(counts.iter().map(ToString::to_string)).collect()
    };
    let named = |counts: &[u64; CLASSES.len()]| -> Map<String, Value> {
        CLASSES.iter().zip(counts).map(|(class, count)| (class.name.to_owned(), json!(count))).collect()
    };
    let columns = ["evaluation"].into_iter().chain(CLASSES.iter().map(|class| class.name));
    let json: Map<String, Value> = counts
        .iter()
        .map(|(evaluation, counts)| (evaluation.name().to_owned(), named(counts).into()))
        .collect();
    Some(Section {
        key: "failures",
        title: "Failures",
        intro: "How many runs failed in each class. Four of them are those that the paper describes (section 3.4): a \
                sub-task solved again and again, an output in another form, a task not understood, and an answer that \
                leaves out what was asked or what the tools gave."
            .to_owned(),
        tables: vec![Table {
            caption: "Failed runs by class".to_owned(),
            columns: columns.map(str::to_owned).collect(),
            rows: counts.iter().map(row).collect(),
        }],
        json: Value::Object(json),
        ..Section::default()
    })
}
