//! Figures of a campaign's infeasible cases. They are scored separately: an agent that reports infeasibility has not
//! planned, so the success rate and its baselines count feasible cases alone.

use std::collections::{BTreeMap, BTreeSet};

use planproof_suite::statistics::{CaseRuns, Interval, Rate, success_rate};
use planproof_suite::{Card, Figure, Judged, Scored, Section, grouped};
use planproof_synth::{Naming, OrderClass};
use serde::Serialize;
use serde_json::Value;

use crate::case::{CONFLICT_IS_ALL, OFFERS_REPORT};

/// The score of a run of an infeasible case that compares the reported sentences with the conflict: see
/// [`naming_value`]. Absent if nothing was reported.
pub(crate) const NAMED: &str = "conflict_named";

/// The score of a run of an infeasible case for whether tasks were done: 1 or 0.
pub(crate) const ACTED: &str = "conflict_acted";

/// The value of [`NAMED`]: 1 for exactly the conflict, 2 for a superset, 3 for anything else.
pub(crate) fn naming_value(named: Naming) -> f64 {
    match named {
        Naming::Exact => 1.0,
        Naming::Superset => 2.0,
        Naming::Other => 3.0,
    }
}

fn naming_of(scored: &Scored) -> Option<Naming> {
    let value = scored.score(NAMED)?;
    Naming::ALL.into_iter().find(|named| naming_value(*named) == value)
}

/// The infeasible cases of a campaign, and the false alarms in the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InfeasibleReport {
    /// Infeasible cases with a finished run, scored or not.
    pub cases: u64,
    /// Their finished runs, scored or not.
    pub runs: u64,
    /// Runs in which a conflict was reported, right or wrong, and no task done: those that passed.
    pub detected: u64,
    pub failed: u64,
    /// Runs that say nothing about the agent, because something else failed.
    pub unscored: u64,
    /// Runs that were not begun or not finished.
    pub not_run: u64,
    /// Lower end of the 95 % interval of the detected share (Wilson if each case is run once).
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Of the detected ones, how many reported exactly the sentences of the conflict.
    pub exact: u64,
    /// Lower end of the 95 % interval of their share of all scored runs.
    pub exact_low: f64,
    /// Upper end.
    pub exact_high: f64,
    /// Share of scored runs in which all sentences would have been exactly the conflict: the result of an agent that
    /// always reports them all; null if no run has a score.
    pub all_exact: Option<f64>,
    /// Of the detected ones, how many reported more sentences than the conflict has.
    pub superset: u64,
    /// Of the detected ones, how many reported sentences that can hold together, or do not exist.
    pub other: u64,
    /// Runs in which a task was done, whether or not a conflict was reported.
    pub acted: u64,
    /// Failed runs by class.
    pub classes: BTreeMap<&'static str, u64>,
    /// Scored runs of feasible cases in which a conflict was reported anyway.
    pub false_alarms: u64,
    /// Lower end of the 95 % interval of their share of the scored runs of feasible cases.
    pub false_alarms_low: f64,
    /// Upper end.
    pub false_alarms_high: f64,
}

/// The classes that a run of an infeasible case may have.
const CLASSES: [OrderClass; 6] = [
    OrderClass::Timeout,
    OrderClass::ReplyLimit,
    OrderClass::UnparsedCall,
    OrderClass::ActError,
    OrderClass::Distractor,
    OrderClass::ConflictMissed,
];

impl InfeasibleReport {
    /// Sums up these runs; `planned` are the cards of all cases, each of which is to be run `repeats` times. `None`
    /// if no case allows reporting a conflict.
    pub fn of(runs: &[Judged<'_>], planned: &[Card], repeats: u32) -> Option<Self> {
        if planned.iter().all(|card| card.marks & OFFERS_REPORT == 0) {
            return None;
        }
        let cases = planned.iter().filter(|card| card.is_apart()).count();
        let mut counts = Counts::default();
        for run in runs {
            counts.add(run);
        }
        Some(counts.sum_up(cases as u64 * u64::from(repeats)))
    }

    /// Scored runs of infeasible cases.
    pub fn scored(&self) -> u64 {
        self.detected + self.failed
    }

    /// The detected share of scored runs, with its 95 % interval; `None` if no run has a score.
    pub fn detection(&self) -> Option<Rate> {
        let (low, high) = (self.low, self.high);
        (self.scored() > 0).then(|| Rate { rate: self.detected as f64 / self.scored() as f64, low, high })
    }

    /// The share of scored runs in which exactly the conflict was reported, and no task done.
    pub fn exactness(&self) -> Option<Rate> {
        let (low, high) = (self.exact_low, self.exact_high);
        (self.scored() > 0).then(|| Rate { rate: self.exact as f64 / self.scored() as f64, low, high })
    }

    /// The share of false alarms among `feasible` scored runs of feasible cases.
    pub fn false_alarm_rate(&self, feasible: u64) -> Option<Rate> {
        let (low, high) = (self.false_alarms_low, self.false_alarms_high);
        (feasible > 0).then(|| Rate { rate: self.false_alarms as f64 / feasible as f64, low, high })
    }
}

/// Runs, being counted.
#[derive(Default)]
struct Counts {
    runs: u64,
    unscored: u64,
    /// By the index of the case: how often the conflict was detected, and how often it was named exactly.
    detected: BTreeMap<u32, CaseRuns>,
    exact: BTreeMap<u32, CaseRuns>,
    by_naming: BTreeMap<Naming, u64>,
    acted: u64,
    conflict_is_all: u64,
    classes: BTreeMap<&'static str, u64>,
    cases: BTreeSet<u32>,
    /// The scored runs of each feasible case, where a false alarm counts as passed.
    alarms: BTreeMap<u32, CaseRuns>,
}

impl Counts {
    fn add(&mut self, run: &Judged<'_>) {
        // Feasible cases count for false alarms alone.
        if !run.card.is_apart() {
            if let Some(scored) = run.scored {
                let is_alarm = scored.has(OrderClass::FalseAlarm.as_str());
                self.alarms.entry(run.ordinal).or_default().add(is_alarm);
            }
            return;
        }
        self.runs += 1;
        self.cases.insert(run.ordinal);
        let Some(scored) = run.scored else {
            self.unscored += 1;
            return;
        };
        let is_detected = scored.passed();
        // A report beside finished tasks is not a detection, so its sentences are not counted either.
        let named = naming_of(scored).filter(|_| is_detected);
        self.detected.entry(run.ordinal).or_default().add(is_detected);
        self.exact.entry(run.ordinal).or_default().add(named == Some(Naming::Exact));
        if let Some(named) = named {
            *self.by_naming.entry(named).or_default() += 1;
        }
        self.acted += u64::from(scored.score(ACTED) == Some(1.0));
        self.conflict_is_all += u64::from(run.card.marks & CONFLICT_IS_ALL != 0);
        if let Some(class) = scored.class {
            *self.classes.entry(class.as_str()).or_default() += 1;
        }
    }

    /// Sums up `planned` runs of infeasible cases.
    fn sum_up(mut self, planned: u64) -> InfeasibleReport {
        let interval = |runs: Vec<CaseRuns>| {
            let rate = success_rate(&runs).map(Rate::interval);
            // Without a scored run the rate can be anything.
            rate.unwrap_or(Interval { low: 0.0, high: 1.0 })
        };
        let by_naming = |named| self.by_naming.get(&named).copied().unwrap_or_default();
        // Whoever passed has reported, so each detected run has a naming.
        let detected = self.by_naming.values().sum();
        // Classes that did not occur are listed with 0, so that every report has the same fields.
        for class in CLASSES {
            self.classes.entry(class.as_str()).or_default();
        }
        let false_alarms = self.alarms.values().map(|case| u64::from(case.passed)).sum();
        let found = interval(self.detected.into_values().collect());
        let exact = interval(self.exact.into_values().collect());
        let alarmed = interval(self.alarms.into_values().collect());
        let scored = self.runs - self.unscored;
        InfeasibleReport {
            cases: self.cases.len() as u64,
            runs: self.runs,
            detected,
            failed: scored - detected,
            unscored: self.unscored,
            not_run: planned.saturating_sub(self.runs),
            low: found.low,
            high: found.high,
            exact: by_naming(Naming::Exact),
            exact_low: exact.low,
            exact_high: exact.high,
            all_exact: (scored > 0).then(|| self.conflict_is_all as f64 / scored as f64),
            superset: by_naming(Naming::Superset),
            other: by_naming(Naming::Other),
            acted: self.acted,
            classes: self.classes,
            false_alarms,
            false_alarms_low: alarmed.low,
            false_alarms_high: alarmed.high,
        }
    }
}

/// The figures as a part of a report.
pub(crate) fn section(found: &InfeasibleReport, runs: &[Judged<'_>], repeats: u32) -> Section {
    let feasible = runs.iter().filter(|run| !run.card.is_apart() && run.scored.is_some()).count() as u64;
    Section {
        key: "infeasible",
        title: "Infeasible cases",
        intro: format!(
            "{} on purpose: the right answer is to do no task and to report which sentences cannot hold together. They \
             are scored separately and are in no other rate of this page.",
            counted(found.cases, "case contradicts itself", "cases contradict themselves")
        ),
        figures: figures(found, feasible),
        tables: Vec::new(),
        lines: lines(found, feasible, repeats),
        json: serde_json::to_value(found).unwrap_or(Value::Null),
    }
}

fn figures(found: &InfeasibleReport, feasible: u64) -> Vec<Figure> {
    let of_scored = |runs: u64| {
        let share = (found.scored() > 0).then(|| runs as f64 / found.scored() as f64);
        format!("{} of scored runs", or_dash(share))
    };
    let interval = |rate: Option<Rate>| match rate {
        Some(Rate { rate, low, high }) => {
            let (low, high) = (low * 100.0, high * 100.0);
            format!("{}, 95 % interval {low:.1} to {high:.1}\u{a0}%", percent(rate))
        }
        None => "no run has a score".to_owned(),
    };
    let of = |runs: u64, all: u64| format!("{} of {}", grouped(runs), grouped(all));
    let mut figures = vec![
        Figure {
            name: "Detected",
            value: of(found.detected, found.scored()),
            note: interval(found.detection()),
        },
        // Beside it stands what an agent would reach that always reports all sentences.
        Figure {
            name: "Named exactly",
            value: grouped(found.exact),
            note: format!(
                "{}; naming all sentences: {}",
                interval(found.exactness()),
                or_dash(found.all_exact)
            ),
        },
        Figure { name: "Named with more", value: grouped(found.superset), note: of_scored(found.superset) },
        Figure { name: "Named otherwise", value: grouped(found.other), note: of_scored(found.other) },
        Figure { name: "Did tasks", value: grouped(found.acted), note: of_scored(found.acted) },
        // Of feasible cases alone: in the others a report is not a false alarm.
        Figure {
            name: "False alarms",
            value: of(found.false_alarms, feasible),
            note: format!("{}; feasible cases", interval(found.false_alarm_rate(feasible))),
        },
    ];
    if found.unscored + found.not_run > 0 {
        figures.push(Figure {
            name: "Without a score",
            value: grouped(found.unscored + found.not_run),
            note: format!("{} unscored, {} not run", grouped(found.unscored), grouped(found.not_run)),
        });
    }
    figures
}

/// The same for a terminal: a table, the meaning of its rows, and remarks.
fn lines(found: &InfeasibleReport, feasible: u64, repeats: u32) -> Vec<String> {
    let runs = if repeats > 1 { "Runs" } else { "Cases" };
    let row = |name: &str, count: u64, all: u64, rate: Option<Rate>, baseline: Option<f64>| {
        let rate = rate.map_or("-".to_owned(), |Rate { rate, low, high }| {
            let [rate, low, high] = [rate, low, high].map(plain_percent);
            format!("{rate} [{low}, {high}]")
        });
        let baseline = baseline.map_or(String::new(), plain_percent);
        [name.to_owned(), count.to_string(), all.to_string(), rate, baseline]
    };
    let scored = found.scored();
    let head = ["Infeasible", runs, "of", "% [95 %]", "All named"].map(str::to_owned);
    // An agent that always reports all sentences detects every conflict and raises every false alarm, so that only
    // exactness needs it as a baseline.
    let rows = [
        row("detected", found.detected, scored, found.detection(), None),
        row("named exactly", found.exact, scored, found.exactness(), found.all_exact),
        row("false alarms", found.false_alarms, feasible, found.false_alarm_rate(feasible), None),
    ];
    let mut lines = aligned(&head, &rows);
    lines.push(
        "Detected: a conflict was reported and no task done. All named: whoever reports all sentences. False alarms:"
            .to_owned(),
    );
    lines.push(
        "reports in feasible cases. Infeasible cases are scored separately: they are in no other rate."
            .to_owned(),
    );
    if found.acted > 0 {
        let runs = if found.acted == 1 { "run" } else { "runs" };
        lines.push(format!("Tasks were done in {} {runs} of infeasible cases.", found.acted));
    }
    if found.failed > 0 {
        // Classes that did not occur are there for programs, which expect every field.
        let mut classes: Vec<_> = found.classes.iter().filter(|(_, count)| **count > 0).collect();
        classes.sort_by_key(|(class, count)| (std::cmp::Reverse(**count), **class));
        let classes: Vec<String> = classes.iter().map(|(class, count)| format!("{class} {count}")).collect();
        lines.push(format!("Failures of infeasible cases: {}", classes.join(", ")));
    }
    lines
}

/// A table whose columns but the first are aligned to the right, with a line below its head.
pub(crate) fn aligned<const COLUMNS: usize>(
    head: &[String; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> Vec<String> {
    let mut widths = [0; COLUMNS];
    for row in std::iter::once(head).chain(rows) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!(" {cell:<width$} "),
            _ => format!(" {cell:>width$} "),
        });
        cells.collect::<Vec<_>>().join(" ").trim_end().to_owned()
    };
    let rule = "─".repeat(widths.iter().map(|width| width + 2).sum::<usize>() + COLUMNS.saturating_sub(1));
    [line(head), rule].into_iter().chain(rows.iter().map(line)).collect()
}

fn or_dash(rate: Option<f64>) -> String {
    rate.map_or("–".to_owned(), percent)
}

/// A rate in per cent.
fn percent(rate: f64) -> String {
    format!("{:.1}\u{a0}%", rate * 100.0)
}

/// The same without the sign.
fn plain_percent(rate: f64) -> String {
    format!("{:.1}", rate * 100.0)
}

/// A count with its noun: "1 case", "2 cases".
fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { several })
}
