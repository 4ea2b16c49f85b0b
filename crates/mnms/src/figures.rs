//! Figures over many runs.

use planproof_suite::statistics::share_interval;
use planproof_suite::{Judged, Metric, Scored, Section, Table};
use serde_json::{Map, Value, json};

use crate::compared::counts;
use crate::evaluation::{Corpus, CorpusMetrics, LabelCounts, LabelTally, ScoringRules, Shares};
use crate::judge::{CODE_NAMES, ENTAILED_NAMES, GAIN_NAMES, PREDICTION_NAMES, WAY_NAMES};
use crate::paper_tables;
use crate::results::{KIND_TITLES, RESULT_NAMES};

/// Sums over runs.
#[derive(Default)]
struct Sums {
    runs: u64,
    corpus: Corpus,
    /// The same, with values counted as right if a judge model says that they mean the same, for runs in which it
    /// was asked.
    entailed: EntailedSums,
    executed: u64,
    unsupported: u64,
    gains: [f64; 2],
    turns: f64,
    tokens: [f64; 2],
    faults: [f64; 3],
}

/// Figures that include the answers of a judge model.
#[derive(Default)]
struct EntailedSums {
    was_asked: bool,
    argvalue: LabelTally,
    plans: u64,
}

impl EntailedSums {
    /// Adds a run. If the run has no answers, the judge had nothing to decide, and the run counts as it is.
    fn add(&mut self, scored: &Scored, counts: &LabelCounts) {
        let [values, right, extra, missing, plan] = ENTAILED_NAMES.map(|name| scored.score(name));
        // They were whole numbers when written.
        let whole = |value: Option<f64>| value.unwrap_or_default() as u64;
        self.was_asked |= values.is_some();
        let tally = match right {
            Some(_) => LabelTally { right: whole(right), extra: whole(extra), missing: whole(missing) },
            None => counts.argvalue,
        };
        self.argvalue.add(tally);
        self.plans += u64::from(is_right_in_other_words(scored, plan));
    }
}

/// Whether a plan is right, including the answers of a judge model if there are any.
fn is_right_in_other_words(scored: &Scored, entailed: Option<f64>) -> bool {
    entailed.or_else(|| scored.score("plan_argvalue")).unwrap_or_default() > 0.5
}

impl Sums {
    fn of(runs: &[Judged<'_>]) -> Self {
        let mut sums = Self::default();
        for scored in runs.iter().filter_map(|run| run.scored) {
            let score = |name: &str| scored.score(name).unwrap_or_default();
            sums.runs += 1;
            let counts = counts(scored);
            sums.corpus.add(&counts);
            sums.entailed.add(scored, &counts);
            sums.executed += u64::from(is_executed(scored));
            sums.unsupported += u64::from(score("unsupported") > 0.5);
            sums.turns += score("turns");
            for (sum, name) in sums.gains.iter_mut().zip(GAIN_NAMES) {
                *sum += score(name);
            }
            for (sum, name) in sums.tokens.iter_mut().zip(["input_tokens", "output_tokens"]) {
                *sum += score(name);
            }
            let faults = ["parsing_faults", "verification_faults", "execution_faults"];
            for (sum, name) in sums.faults.iter_mut().zip(faults) {
                *sum += score(name);
            }
        }
        sums
    }

    fn per_run(&self, sum: f64) -> Option<f64> {
        (self.runs > 0).then(|| sum / self.runs as f64)
    }

    /// The share of fully executed plans among those whose execution has a known result.
    fn pass_rate(&self) -> Option<f64> {
        let known = self.runs - self.unsupported;
        (known > 0).then(|| self.executed as f64 / known as f64)
    }
}

fn is_executed(scored: &Scored) -> bool {
    scored.score("executed").unwrap_or_default() > 0.5
}

/// The metrics of the paper, with nonexistent tools counted as wrong.
pub(crate) fn metrics(runs: &[Judged<'_>], mode: ScoringRules) -> Vec<Metric> {
    let sums = Sums::of(runs);
    let metrics = by(&sums.corpus, mode);
    let of = |value: fn(&CorpusMetrics) -> Option<f64>| metrics.as_ref().and_then(value);
    let share = |name, title, value| Metric { name, title, value, interval: None, is_share: true };
    let count = |name, title, value| Metric { name, title, value, interval: None, is_share: false };
    // Only shares of runs have an interval: an F1 pools the labels of all runs.
    let of_runs = |name, title, value, score: &'static str| Metric {
        interval: share_interval(runs, |scored| Some(scored.score(score).unwrap_or_default() > 0.5)),
        ..share(name, title, value)
    };
    let mut metrics = vec![
        share("tool_f1", "tool-F1", of(|it| it.tool_macro.f1)),
        share("argname_f1", "argname-F1", of(|it| it.argname.f1)),
        share("argvalue_f1", "argvalue-F1", of(|it| it.argvalue.f1)),
        share("edge_f1", "edge-F1", of(|it| it.edge.f1)),
        share("edit_distance", "normalised edit distance", of(|it| Some(it.tool_normalized_edit_distance))),
        of_runs("plan_tool", "plan accuracy, tools", of(|it| Some(it.plan_tool_accuracy)), "plan_tool"),
        of_runs(
            "plan_argname",
            "plan accuracy, tools and arguments",
            of(|it| Some(it.plan_argname_accuracy)),
            "plan_argname",
        ),
        of_runs(
            "plan_argvalue",
            "plan accuracy, with values",
            of(|it| Some(it.plan_argvalue_accuracy)),
            "plan_argvalue",
        ),
        share(GAIN_NAMES[0], "plans right in tools by an alternative alone", sums.per_run(sums.gains[0])),
        share(
            GAIN_NAMES[1],
            "plans right in tools and arguments by an alternative alone",
            sums.per_run(sums.gains[1]),
        ),
        Metric {
            interval: share_interval(runs, |scored| {
                let is_known = scored.score("unsupported").unwrap_or_default() < 0.5;
                is_known.then(|| is_executed(scored))
            }),
            ..share("executed", "carried out to the end", sums.pass_rate())
        },
        count("turns", "turns per run", sums.per_run(sums.turns)),
        count("input_tokens", "input tokens per run", sums.per_run(sums.tokens[0])),
        count("output_tokens", "output tokens per run", sums.per_run(sums.tokens[1])),
    ];
    // Without a judge, both figures would only repeat the exact ones.
    if sums.entailed.was_asked {
        let [.., plan] = ENTAILED_NAMES;
        let plans = sums.per_run(sums.entailed.plans as f64);
        metrics.push(share(
            "argvalue_entailed_f1",
            "argvalue-F1, according to the judge",
            Shares::of(sums.entailed.argvalue).f1,
        ));
        metrics.push(Metric {
            interval: share_interval(runs, |scored| {
                Some(is_right_in_other_words(scored, scored.score(plan)))
            }),
            ..share(plan, "plan accuracy, with values according to the judge", plans)
        });
    }
    // Only for programs, if the data has right ones.
    for (name, title) in CODE_NAMES.into_iter().zip(["AST accuracy", "CodeBLEU (ours), mean"]) {
        let values = runs.iter().filter_map(|run| run.scored?.score(name));
        let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
        if count > 0 {
            metrics.push(share(name, title, Some(sum / count as f64)));
        }
    }
    metrics
}

/// The metrics of a corpus under these rules.
fn by(corpus: &Corpus, mode: ScoringRules) -> Option<CorpusMetrics> {
    match mode {
        ScoringRules::Ours => corpus.metrics(),
        ScoringRules::Original => corpus.original_metrics(),
    }
}

/// Precision and recall, and the faults found.
pub(crate) fn sections(runs: &[Judged<'_>], mode: ScoringRules) -> Vec<Section> {
    let sums = Sums::of(runs);
    let Some(metrics) = by(&sums.corpus, mode) else { return Vec::new() };
    match mode {
        ScoringRules::Ours => vec![shares(&metrics), feedback(&sums), paper_tables::published()],
        ScoringRules::Original => vec![published(&metrics), paper_tables::published()],
    }
}

/// The forms of finished predictions; `None` if all are whole plans.
pub(crate) fn written(runs: &[Judged<'_>]) -> Option<Section> {
    let count = |name: &str| {
        let has =
            |run: &&Judged<'_>| run.scored.and_then(|scored| scored.score(name)).unwrap_or_default() > 0.5;
        runs.iter().filter(has).count()
    };
    let [missing, unreadable, malformed, _] = PREDICTION_NAMES.map(count);
    let counts = [missing, unreadable, malformed];
    let names = ["missing", "no plan can be read", "some steps cannot be read"];
    if counts.iter().all(|count| *count == 0) {
        return None;
    }
    Some(Section {
        key: "predictions",
        title: "Incomplete predictions",
        intro: "A prediction that is missing or cannot be read counts as no plan; if only some of its steps can be read, \
                the others count as wrong steps, or not at all."
            .to_owned(),
        tables: vec![Table {
            caption: String::new(),
            columns: ["", "predictions"].map(str::to_owned).into(),
            rows: names.into_iter().zip(counts).map(|(name, count)| vec![name.to_owned(), count.to_string()]).collect(),
        }],
        json: json!({"missing": missing, "unreadable": unreadable, "malformed": malformed}),
        ..Section::default()
    })
}

/// How the steps of programs were found; `None` without programs.
pub(crate) fn ways(runs: &[Judged<'_>]) -> Option<Section> {
    let count = |name: &str| {
        let has = |run: &&Judged<'_>| run.scored.is_some_and(|scored| scored.score(name).is_some());
        runs.iter().filter(has).count()
    };
    let counts = WAY_NAMES.map(count);
    if counts.iter().all(|count| *count == 0) {
        return None;
    }
    let [listed, carried_out, read] = counts;
    let names = [
        "lists of calls, as they are written",
        "carried out, by the calls that were made",
        "read as far as they are written out, for they did not come to their end",
    ];
    Some(Section {
        key: "programs",
        title: "How the steps of programs were found",
        intro: "A program that is more than a list of calls is judged by what it does: by its calls in the run, and as a \
                finished prediction by those of a run with simulated tools."
            .to_owned(),
        tables: vec![Table {
            caption: String::new(),
            columns: ["", "programs"].map(str::to_owned).into(),
            rows: names.into_iter().zip(counts).map(|(name, count)| vec![name.to_owned(), count.to_string()]).collect(),
        }],
        json: json!({"listed": listed, "carried_out": carried_out, "read": read}),
        ..Section::default()
    })
}

/// How well the results of runs agree with those of the right plans; `None` if no right plan was carried out.
pub(crate) fn results(runs: &[Judged<'_>]) -> Option<Section> {
    let scored = || runs.iter().filter_map(|run| run.scored);
    let means = RESULT_NAMES.map(|name| {
        let values: Vec<f64> = scored().filter_map(|scored| scored.score(name)).collect();
        (values.len(), (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64))
    });
    let [(compared, _), ..] = means;
    if compared == 0 {
        return None;
    }
    let titles = [&["all results"], &KIND_TITLES[..]].concat();
    let row = |(title, (count, mean)): (&&str, &(usize, Option<f64>))| {
        mean.map(|mean| vec![(*title).to_owned(), count.to_string(), format!("{mean:.3}")])
    };
    let json: Map<String, Value> = RESULT_NAMES
        .into_iter()
        .zip(means)
        .map(|(name, (count, mean))| (name.to_owned(), json!({"runs": count, "mean": mean})))
        .collect();
    let all = scored().count();
    let left = match compared {
        _ if compared == all => String::new(),
        1 => format!(
            "1 run of {all} has been compared: the right plans of the others could not be carried out. "
        ),
        _ => format!(
            "{compared} runs of {all} have been compared: the right plans of the others could not be carried out. "
        ),
    };
    Some(Section {
        key: "results",
        title: "Results beside those of the right plans",
        intro: format!(
            "From 0 to 1; a result that is missing counts 0. {left}Models behind tools may answer the same call in other \
             words, so a right plan need not reach 1."
        ),
        tables: vec![Table {
            caption: String::new(),
            columns: ["", "runs", "mean"].map(str::to_owned).into(),
            rows: titles.iter().zip(&means).filter_map(row).collect(),
        }],
        json: Value::Object(json),
        ..Section::default()
    })
}

/// The figures that the published evaluator prints, under the names that it uses.
fn published(metrics: &CorpusMetrics) -> Section {
    let of = |figures: [(&'static str, Option<f64>); 16]| -> Map<String, Value> {
        figures.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
    };
    let row = |(name, value): (&str, Option<f64>)| {
        vec![name.to_owned(), value.map_or_else(String::new, |value| format!("{value:.2}"))]
    };
    Section {
        key: "published_metrics",
        title: "As counted by the published evaluator",
        intro: "In per cent, including its faults, which docs/mnms-metrics.md lists.".to_owned(),
        tables: vec![Table {
            caption: String::new(),
            columns: ["metric", "value"].map(str::to_owned).into(),
            rows: metrics.rounded_figures().into_iter().map(row).collect(),
        }],
        json: json!({"metrics": of(metrics.rounded_figures()), "unrounded": of(metrics.figures())}),
        ..Section::default()
    }
}

fn shares(metrics: &CorpusMetrics) -> Section {
    let rows = [
        ("tools, mean over tools", metrics.tool_macro),
        ("tools, pooled", metrics.tool),
        ("tools with their arguments", metrics.argname),
        ("and with their values", metrics.argvalue),
        ("pairs of tools", metrics.edge),
    ];
    let cell =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{:.2}", 100.0 * value));
    let row = |(name, it): &(&str, Shares)| {
        vec![(*name).to_owned(), cell(it.precision), cell(it.recall), cell(it.f1)]
    };
    let json: Map<String, Value> = rows
        .iter()
        .zip(["tool_macro", "tool", "argname", "argvalue", "edge"])
        .map(|((_, it), key)| {
            (key.to_owned(), json!({"precision": it.precision, "recall": it.recall, "f1": it.f1}))
        })
        .collect();
    Section {
        key: "labels",
        title: "Parts of the right plans that were found",
        intro: "In per cent. docs/mnms-metrics.md says what each figure counts, and how the published ones differ."
            .to_owned(),
        tables: vec![Table {
            caption: String::new(),
            columns: ["", "precision", "recall", "F1"].map(str::to_owned).into(),
            rows: rows.iter().map(row).collect(),
        }],
        json: Value::Object(json),
        ..Section::default()
    }
}

fn feedback(sums: &Sums) -> Section {
    let names =
        ["replies that could not be read", "plans that did not fit the tools", "attempts that went wrong"];
    let row = |(name, count): (&str, f64)| {
        vec![
            name.to_owned(),
            format!("{count:.0}"),
            sums.per_run(count).map_or_else(String::new, |it| format!("{it:.2}")),
        ]
    };
    let [parsing, verification, execution] = sums.faults;
    Section {
        key: "feedback",
        title: "Faults found while planning",
        intro: "Each is fed back to the model where the agent's feedback says so. Programs that use what the sandbox \
                lacks do not count as attempts that went wrong."
            .to_owned(),
        tables: vec![Table {
            caption: String::new(),
            columns: ["", "count", "per run"].map(str::to_owned).into(),
            rows: names.into_iter().zip(sums.faults).map(row).collect(),
        }],
        json: json!({
            "parsing": parsing,
            "verification": verification,
            "execution": execution,
            "unsupported": sums.unsupported,
        }),
        ..Section::default()
    }
}
