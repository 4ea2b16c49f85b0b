//! Figures over many runs, beside published ones.

use std::collections::{BTreeMap, BTreeSet};

use planproof_suite::{Figure, Judged, Metric, Scored, Section, Table};
use serde_json::{Map, Value, json};

use super::classes::LOOP_STOPPED;
use super::fields::FIELDS;
use super::judge::{DELIVERED, PASSES_ORIGINAL, PASSES_RIGHT};
use super::marks::{self, Marks};
use super::published::{self, PublishedRates, RATE_NAMES, RECOMPUTED};
use super::task::QueryMode;
use super::{arms, parts};
use crate::evaluate::{PassShare, Rates, TripCheck};
use crate::query::Level;

/// Runs with a verdict, with the marks of their cards.
pub(super) fn scored<'a>(runs: &'a [Judged<'a>]) -> impl Iterator<Item = (Marks, &'a Scored)> {
    runs.iter().filter_map(|run| Some((marks::read(run.card.marks), run.scored?)))
}

/// Whether these are runs in which fields are read rather than plans made.
fn is_of_reading(runs: &[Judged<'_>]) -> bool {
    runs.iter().any(|run| marks::read(run.card.marks).options.mode == QueryMode::Reading)
}

/// The published kinds of rates, over runs.
fn rates<'a>(runs: impl IntoIterator<Item = &'a Scored>) -> Rates {
    rates_of(runs, |_| true)
}

/// The same, if only the plans of these runs count as delivered.
fn rates_of<'a>(runs: impl IntoIterator<Item = &'a Scored>, counts: impl Fn(&Scored) -> bool) -> Rates {
    let mut rates = Rates::default();
    let count = |share: &mut PassShare, passes: bool| {
        share.passed += usize::from(passes);
        share.of += 1;
    };
    for scored in runs {
        let counts = counts(scored);
        let is_delivered = counts && scored.score(DELIVERED) == Some(1.0);
        count(&mut rates.delivery, is_delivered);
        // Only the checks that the query asks for have scores, which are 1 or 0.
        let marks = |checks: &[TripCheck]| -> Vec<bool> {
            checks.iter().filter_map(|check| scored.score(check.key())).map(|it| counts && it > 0.5).collect()
        };
        let [commonsense, hard] = [marks(&TripCheck::COMMONSENSE), marks(&TripCheck::HARD)];
        commonsense.iter().for_each(|passes| count(&mut rates.commonsense_micro, *passes));
        hard.iter().for_each(|passes| count(&mut rates.hard_micro, *passes));
        count(&mut rates.commonsense_macro, is_delivered && commonsense.iter().all(|it| *it));
        count(&mut rates.hard_macro, is_delivered && hard.iter().all(|it| *it));
        count(&mut rates.final_pass, counts && scored.passed());
    }
    rates
}

/// The six rates in the order of [`RATE_NAMES`].
fn six(rates: &Rates) -> [PassShare; 6] {
    let Rates { delivery, commonsense_micro, commonsense_macro, hard_micro, hard_macro, final_pass } = *rates;
    [delivery, commonsense_micro, commonsense_macro, hard_micro, hard_macro, final_pass]
}

pub(super) fn per_cent(share: PassShare) -> String {
    match share.of {
        0 => "-".to_owned(),
        _ => format!("{:.2}", 100.0 * share.rate()),
    }
}

pub(super) fn share_of<'a>(runs: impl Iterator<Item = &'a Scored>, score: &str) -> PassShare {
    let mut share = PassShare::default();
    for value in runs.filter_map(|scored| scored.score(score)) {
        share.of += 1;
        share.passed += usize::from(value > 0.5);
    }
    share
}

/// The published rates, or the shares of right fields.
pub(super) fn metrics(runs: &[Judged<'_>]) -> Vec<Metric> {
    let share = |name, title, share: PassShare| Metric {
        name,
        title,
        value: (share.of > 0).then(|| share.rate()),
        interval: None,
        is_share: true,
    };
    if is_of_reading(runs) {
        let of_field =
            |field: &'static str| share(field, field, share_of(scored(runs).map(|(_, it)| it), field));
        return FIELDS.into_iter().map(of_field).collect();
    }
    const NAMES: [&str; 6] =
        ["delivery", "commonsense_micro", "commonsense_macro", "hard_micro", "hard_macro", "final"];
    let rates = rates(scored(runs).map(|(_, it)| it));
    let mut metrics: Vec<Metric> = NAMES
        .into_iter()
        .zip(RATE_NAMES)
        .zip(six(&rates))
        .map(|((name, title), it)| share(name, title, it))
        .collect();
    let passes = |score: &str| share_of(scored(runs).map(|(_, it)| it), score);
    metrics.push(share(PASSES_ORIGINAL, "final, by the published evaluator", passes(PASSES_ORIGINAL)));
    metrics.push(share(PASSES_RIGHT, "final, with its gaps closed", passes(PASSES_RIGHT)));
    metrics
}

/// What was run, the rates beside the published ones, each check, the gaps, and who sees what.
pub(super) fn sections(runs: &[Judged<'_>]) -> Vec<Section> {
    if is_of_reading(runs) {
        return vec![parts::fields_section(runs), arms::section(runs)];
    }
    let has_runs = scored(runs).next().is_some();
    let ours = has_runs.then(|| [rates_section(runs), checks_section(runs), parts::gaps_section(runs)]);
    let ours = ours.into_iter().flatten().chain(parts::stated_section(runs));
    ours.chain([published_section(has_runs), arms::section(runs)]).collect()
}

/// A row of our figures.
fn our_row(name: String, rates: &Rates) -> Vec<String> {
    [name, "this run".to_owned(), rates.delivery.of.to_string()]
        .into_iter()
        .chain(six(rates).map(per_cent))
        .collect()
}

fn published_row(row: &PublishedRates) -> Vec<String> {
    let hints = if row.hints { "with hints" } else { "without hints" };
    let source = format!("published, table {}: {} set, {hints}", row.table, row.set);
    [row.system.to_owned(), source, row.queries.to_string()]
        .into_iter()
        .chain(row.rates.map(|rate| format!("{rate:.2}")))
        .collect()
}

fn recomputed_row() -> Vec<String> {
    [
        "GPT-4 + PMC".to_owned(),
        "from published tables 5 to 7: test set, with hints".to_owned(),
        "308".to_owned(),
    ]
    .into_iter()
    .chain(RECOMPUTED.map(|rate| format!("{rate:.2}")))
    .collect()
}

fn columns() -> Vec<String> {
    ["who", "source", "queries"].into_iter().chain(RATE_NAMES).map(str::to_owned).collect()
}

/// The published rates over all queries of a set, and those recomputed from the tables by level.
fn published_overall(published: &[PublishedRates]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for row in published.iter().filter(|row| row.level == "all") {
        rows.push(published_row(row));
        if row.table == 1 && row.set == "test" && row.system == "GPT-4 + PMC" {
            rows.push(recomputed_row());
        }
    }
    rows
}

fn table(caption: &str, rows: Vec<Vec<String>>) -> Table {
    Table { caption: caption.to_owned(), columns: columns(), rows }
}

fn rates_section(runs: &[Judged<'_>]) -> Section {
    let all = rates(scored(runs).map(|(_, it)| it));
    let published = published::rates();
    let mut overall = vec![our_row("all queries".to_owned(), &all)];
    let is_stopped = |scored: &Scored| scored.has(LOOP_STOPPED);
    let stopped = scored(runs).filter(|(_, it)| is_stopped(it)).count();
    if stopped > 0 {
        let within = rates_of(scored(runs).map(|(_, it)| it), |it| !is_stopped(it));
        overall.push(our_row("all queries, within the steps of the published loop".to_owned(), &within));
    }
    overall.extend(published_overall(&published));
    let mut by_level = Vec::new();
    for level in Level::ALL {
        let ours: Vec<&Scored> = scored(runs).filter(|(it, _)| it.level == level).map(|(_, it)| it).collect();
        if ours.is_empty() {
            continue;
        }
        by_level.push(our_row(level.name().to_owned(), &rates(ours.iter().copied())));
        by_level.extend(published.iter().filter(|row| row.level == level.name()).map(published_row));
    }
    let rate = |(name, share): (&'static str, PassShare)| Figure {
        name,
        value: format!("{} %", per_cent(share)),
        note: format!("{} of {}", share.passed, share.of),
    };
    let mut json: Map<String, Value> = RATE_NAMES
        .into_iter()
        .zip(six(&all))
        .map(|(name, share)| (name.replace(' ', "_"), json!({"passed": share.passed, "of": share.of})))
        .collect();
    json.insert(LOOP_STOPPED.to_owned(), json!(stopped));
    Section {
        key: "travelplanner",
        title: "Rates of TravelPlanner",
        intro: "Micro rates count checks and macro rates plans; final plans are those of which all checks hold. \
                Denominators count the queries that were run. The published loop stops after 30 steps, those of all \
                members of a team together; the row within its steps counts the plans of runs that it would have stopped \
                as not delivered, as the published rows do. Rows marked as published are not results of this run: \
                they are for queries of 3 days, other models and the published evaluator (Zhang et al., PMC). The \
                published overall test column of GPT-4 + PMC repeats its hard level, so the row below it gives the \
                rates recomputed from the tables by level."
            .to_owned(),
        figures: RATE_NAMES.into_iter().zip(six(&all)).map(rate).collect(),
        tables: vec![
            table("All queries, in %", overall),
            table("By level, in %", by_level),
        ],
        lines: Vec::new(),
        json: Value::Object(json),
    }
}

fn checks_section(runs: &[Judged<'_>]) -> Section {
    let cells: BTreeSet<(Level, usize)> = scored(runs).map(|(it, _)| (it.level, it.days)).collect();
    let of = |level: Level, days: Option<usize>, check: TripCheck| {
        let runs =
            scored(runs).filter(|(it, _)| it.level == level && days.is_none_or(|days| it.days == days));
        share_of(runs.map(|(_, it)| it), check.key())
    };
    let row = |check: TripCheck| {
        let cell = |&(level, days): &(Level, usize)| {
            let share = of(level, Some(days), check);
            if share.of > 0 { format!("{} of {}", share.passed, share.of) } else { "-".to_owned() }
        };
        [check.label().to_owned()].into_iter().chain(cells.iter().map(cell)).collect()
    };
    let heading = |(level, days): &(Level, usize)| format!("{}, {days} days", level.name());
    let detail = Table {
        caption: "Queries of which a check holds, by level and days".to_owned(),
        columns: ["check".to_owned()].into_iter().chain(cells.iter().map(heading)).collect(),
        rows: TripCheck::all().map(row).collect(),
    };
    let json: BTreeMap<String, BTreeMap<&str, Value>> = cells
        .iter()
        .map(|&(level, days)| {
            let check = |check: TripCheck| {
                let share = of(level, Some(days), check);
                (check.key(), json!({"passed": share.passed, "of": share.of}))
            };
            (heading(&(level, days)), TripCheck::all().map(check).collect())
        })
        .collect();
    Section {
        key: "checks",
        title: "Checks",
        intro: "How often each check holds. The five checks of what was asked for count where a query asks for them, and \
                hold only for plans that are complete and within the sandbox. A plan that was not delivered passes \
                no check. Table 3 is of the 3-day test set, with hints; its row of final rates, which is left out here, has 4.10 \
                for GPT-4 + ReAct at the medium level, where table 6 has 1.92."
            .to_owned(),
        tables: vec![detail, checks_beside_published(&of)],
        json: json!(json),
        ..Section::default()
    }
}

/// Our shares by level, beside table 3.
fn checks_beside_published(of: &dyn Fn(Level, Option<usize>, TripCheck) -> PassShare) -> Table {
    let (columns, rows) = published::checks();
    let ours = |label: &str| {
        let check = TripCheck::all().find(|check| check.label() == label);
        Level::ALL.map(|level| check.map_or_else(|| "-".to_owned(), |check| per_cent(of(level, None, check))))
    };
    let row = |row: &Vec<&str>| {
        let label = row.first().copied().unwrap_or_default();
        let published = row.iter().skip(1).map(|cell| (*cell).to_owned());
        [label.to_owned()].into_iter().chain(ours(label)).chain(published).collect()
    };
    let ours = Level::ALL.map(|level| format!("this run, {}", level.name()));
    let published = columns.iter().skip(1).map(|column| format!("published: {column}"));
    Table {
        caption: "By level in %, beside table 3".to_owned(),
        columns: ["check".to_owned()].into_iter().chain(ours).chain(published).collect(),
        rows: rows.iter().filter(|it| it.first() != Some(&"Final Pass Rate")).map(row).collect(),
    }
}

/// The published figures. If there are runs, they are already shown beside ours, and this section is only for
/// programs.
fn published_section(has_runs: bool) -> Section {
    let published = published::rates();
    let tables = match has_runs {
        true => Vec::new(),
        false => vec![table("All queries, in %", published_overall(&published))],
    };
    let entry = |row: PublishedRates| {
        let rates: Map<String, Value> = RATE_NAMES
            .into_iter()
            .zip(row.rates)
            .map(|(name, rate)| (name.replace(' ', "_"), json!(rate)))
            .collect();
        json!({
            "system": row.system, "table": row.table, "set": row.set, "level": row.level, "hints": row.hints,
            "queries": row.queries, "in_per_cent": rates,
        })
    };
    let entries: Vec<Value> = published.into_iter().map(entry).collect();
    Section {
        key: "published",
        title: "Published figures",
        intro: "What was published of other models on queries of 3 days, by the published evaluator (Zhang et al., PMC). \
                These are no results of planproof."
            .to_owned(),
        tables,
        json: json!({
            "source": "Zhang et al., PMC, tables 1, 2 and 5 to 7", "figures": entries,
            "recomputed": {"system": "GPT-4 + PMC", "set": "test", "in_per_cent": RECOMPUTED},
        }),
        ..Section::default()
    }
}
