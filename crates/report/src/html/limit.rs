//! The capability limit: success by number of actions and by difficulty (figures 8 and 9 of the paper).

use maud::{Markup, html};
use planproof_engine::{ByBits, LimitLevel, LimitOutcome, LimitReport};

use super::chart::{Chart, ONE_LOOK, Point, Series, Style, success};
use super::parts::{NAME_CHARACTERS_MAX, command};
use super::summary::{figure, or_dash, tokens};
use super::text::{Foreign, count, percent_range, seconds};
use crate::{ReportedCampaign, deciding_interval, limit_in_words, limit_is_decided, limit_lines};

/// The result of the search.
pub(super) fn key_figures(report: &LimitReport, campaign: &ReportedCampaign<'_>) -> Markup {
    let totals = &report.campaign;
    html! {
        section aria-labelledby="figures" {
            h2 #figures.unseen { "Key figures" }
            @if totals.not_run > 0 {
                p.banner role="note" {
                    @match &totals.ended_by {
                        Some(budget) => {
                            strong { "Ended early:" } " the budget of " (Foreign::short(budget, NAME_CHARACTERS_MAX))
                            " was used up. "
                        },
                        None => { strong { "Not finished." } " " },
                    }
                    @if let Some(resume) = campaign.command_to_resume() { "Resume with " (command(&resume)) }
                }
            }
            div.figures {
                div.figure.lead {
                    p.name { "Capability limit" }
                    p.value { (limit(report)) }
                    @if report.outcome != LimitOutcome::NotFinished && !limit_is_decided(report) {
                        p { "by the measured rates alone" }
                    }
                    // The first line is the limit itself.
                    @for (label, text) in limit_lines(report).iter().skip(1) {
                        p { strong { (label) ":" } " " (text) }
                    }
                }
                (figure("Runs", &count(totals.runs), &html! {
                    (count(totals.passed)) " passed, " (count(totals.unscored)) " unscored"
                }))
                (tokens(totals.tokens))
                @if let Some(cost) = totals.cost {
                    (figure("Cost", &format!("{cost:.2}\u{a0}USD"), &html! { "at known prices" }))
                }
                (figure("Agent time", &seconds(totals.agent_seconds), &html! {
                    "summed over runs"
                    @if let Some(made) = totals.synthesis_seconds { "; synthesis took " (seconds(made)) }
                }))
            }
        }
    }
}

fn limit(report: &LimitReport) -> String {
    match report.outcome {
        LimitOutcome::NotFinished => "–".to_owned(),
        _ => limit_in_words(report),
    }
}

/// A column of a drawing.
struct Column {
    runs: u64,
    passed: u64,
    interval: (f64, f64),
    chance: Option<f64>,
    in_order: Option<f64>,
    one_look: Option<f64>,
}

impl From<&LimitLevel> for Column {
    fn from(level: &LimitLevel) -> Self {
        let LimitLevel { runs, passed, low, high, chance, in_order, one_look, .. } = *level;
        Self { runs, passed, interval: (low, high), chance, in_order, one_look }
    }
}

impl From<&ByBits> for Column {
    fn from(column: &ByBits) -> Self {
        let ByBits { runs, passed, low, high, chance, in_order, one_look, .. } = *column;
        // A column consists of cases whose chance is known; the other baselines of orders always are.
        let [chance, in_order, one_look] = [chance, in_order, one_look].map(Some);
        Self { runs, passed, interval: (low, high), chance, in_order, one_look }
    }
}

fn series(columns: &[Column]) -> [Series<'static>; 4] {
    let baseline = |rate: Option<f64>| rate.map(|rate| Point { rate, interval: None });
    let measured = |column: &Column| {
        // Without runs this is not a number, and is discarded below.
        let rate = column.passed as f64 / column.runs as f64;
        (column.runs > 0).then_some(Point { rate, interval: Some(column.interval) })
    };
    [
        Series {
            name: "passed, with 95 % interval",
            style: Style::Measured,
            points: columns.iter().map(measured).collect(),
        },
        Series {
            name: "chance: a random order",
            style: Style::Chance,
            points: columns.iter().map(|column| baseline(column.chance)).collect(),
        },
        Series {
            name: "order of mention",
            style: Style::InOrder,
            points: columns.iter().map(|column| baseline(column.in_order)).collect(),
        },
        Series {
            name: ONE_LOOK,
            style: Style::OneLook,
            points: columns.iter().map(|column| baseline(column.one_look)).collect(),
        },
    ]
}

/// Success by number of actions.
pub(super) fn by_actions(report: &LimitReport) -> Markup {
    if report.levels.is_empty() {
        return Markup::default();
    }
    let column = |level| Column { interval: deciding_interval(report, level), ..Column::from(level) };
    let columns: Vec<Column> = report.levels.iter().map(column).collect();
    let chart = Chart {
        id: "chart-actions",
        title: "Success rate by number of actions, with 95 % intervals. The table has the same figures.",
        axis: "actions in the case; dashed: the threshold",
        labels: report.levels.iter().map(|level| level.actions.to_string()).collect(),
        unit: "actions",
        threshold: Some(report.plan.threshold),
    };
    html! {
        section aria-labelledby="by-actions" {
            h2 #by-actions { "Success by number of actions" }
            p.intro {
                @if report.plan.early_stop {
                    "With 95 % intervals that are valid at every look: a number of actions is decided as soon as its \
                     interval lies on one side of the threshold."
                } @else { "With Wilson's 95 % intervals. All cases of each number of actions are run." }
            }
            div.beside {
                (success(&chart, &series(&columns)))
                (levels_table(report))
            }
        }
    }
}

fn levels_table(report: &LimitReport) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of success by number of actions" {
            table.stacked {
                thead {
                    tr {
                        @for name in ["Actions", "Passed", "Rate", "Threshold", "Chance", "In order", "One look"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for level in &report.levels {
                        tr {
                            th scope="row" { (level.actions) }
                            @let (low, high) = deciding_interval(report, level);
                            td.fixed { (count(level.passed)) " of " (count(level.runs)) }
                            td { (or_dash(level.rate)) " " span.interval { (percent_range(low, high)) } }
                            td { (level.side.as_str().replace('_', " ")) }
                            td { (or_dash(level.chance)) }
                            td { (or_dash(level.in_order)) }
                            td { (or_dash(level.one_look)) }
                        }
                    }
                }
            }
        }
    }
}

/// Success by bits of constraint.
pub(super) fn by_bits(report: &LimitReport) -> Markup {
    if report.by_bits.is_empty() {
        return Markup::default();
    }
    let columns: Vec<Column> = report.by_bits.iter().map(Column::from).collect();
    let labels: Vec<String> =
        report.by_bits.iter().map(|column| format!("{}–{}", column.bits_from, column.bits_to)).collect();
    let chart = Chart {
        id: "chart-bits",
        title: "Success rate by difficulty in bits, with 95 % intervals. The table has the same figures.",
        axis: "difficulty in bits",
        labels: labels.clone(),
        unit: "bits",
        threshold: Some(report.plan.threshold),
    };
    html! {
        section aria-labelledby="by-bits" {
            h2 #by-bits { "Success by difficulty" }
            p.intro {
                "The difficulty of a case is log2(n! / correct plans): how many bits of the order its text determines."
            }
            div.beside {
                (success(&chart, &series(&columns)))
                div.scroll tabindex="0" role="region" aria-label="Table of success by difficulty" {
                    table {
                        thead {
                            tr {
                                @for name in ["Bits", "Runs", "Passed", "Rate", "Chance", "In order", "One look"] {
                                    th scope="col" { (name) }
                                }
                            }
                        }
                        tbody {
                            @for (column, label) in report.by_bits.iter().zip(&labels) {
                                tr {
                                    th scope="row" { (label) }
                                    td { (count(column.runs)) }
                                    td { (count(column.passed)) }
                                    td {
                                        // A column exists only if a run falls into it, so this divides by 1 or more.
                                        (or_dash(Some(column.passed as f64 / column.runs as f64))) " "
                                        span.interval { (percent_range(column.low, column.high)) }
                                    }
                                    td { (or_dash(Some(column.chance))) }
                                    td { (or_dash(Some(column.in_order))) }
                                    td { (or_dash(Some(column.one_look))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
