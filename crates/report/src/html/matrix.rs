//! The combinations of a matrix, one row each.

use maud::{Markup, html};
use planproof_suite::Metric;

use super::comparison::{points, probability};
use super::page::{banner, top};
use super::parts::NAME_CHARACTERS_MAX;
use super::summary::{REASON_CHARACTERS_MAX, damaged, or_dash};
use super::text::{Foreign, count, counted, percent_range, seconds};
use crate::campaign::metric_words;
use crate::compare::matrix::{Against, Combination, MatrixTable};

const BEFORE: [&str; 3] = ["Agent", "Model", "Campaign"];
const BEHIND: [&str; 7] = ["Passed", "Success", "vs the first", "Fixed, broken", "p", "Tokens", "Cost"];

pub(super) fn head(table: &MatrixTable) -> Markup {
    let simulated = table.combinations.iter().filter(|row| row.simulated).count();
    html! {
        header.page {
            (top("matrix"))
            h1 { (counted(table.combinations.len() as u64, "combination", "combinations")) " on the same cases" }
        }
        @if simulated == table.combinations.len() {
            (banner("simulated models planned"))
        } @else if simulated > 0 {
            (banner("simulated models planned in some of the combinations"))
        }
    }
}

pub(super) fn rows(table: &MatrixTable) -> Markup {
    let (keys, metrics) = (table.keys(), table.metrics());
    html! {
        section aria-labelledby="matrix" {
            h2 #matrix { "Agents, models and settings" }
            p.intro {
                "Suite " code { (table.suite) } ", " (counted(table.cases, "case", "cases"))
                @if table.repeats > 1 { ", each run " (count(table.repeats.into())) " times" }
                ". Success is in per cent with its 95 % interval, over all scored runs of the row. The difference to the first \
                 row is in percentage points with its 95 % interval, over the cases that have a score in both, paired by \
                 case. Fixed are cases that failed there and passed here, broken the reverse; p is how likely a split at \
                 least this uneven would be if neither were better, for each row by itself."
            }
            @if let Some(label) = &table.label { p.note { "Label: " (Foreign::short(label, NAME_CHARACTERS_MAX)) } }
            @if let Some(budget) = &table.ended_by {
                p.note {
                    "Ended by the budget of " (Foreign::short(budget, NAME_CHARACTERS_MAX)) ": "
                    (counted(table.not_run(), "run is", "runs are")) " not finished."
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Table of combinations" {
                table.stacked {
                    thead {
                        tr {
                            th scope="col" { "No." }
                            @for name in BEFORE { th.words scope="col" { (name) } }
                            @for key in &keys { th.words scope="col" { (Foreign::short(key, NAME_CHARACTERS_MAX)) } }
                            @for name in BEHIND { th scope="col" { (name) } }
                            @for metric in &metrics { th scope="col" { (metric.title) } }
                            th scope="col" { "Time" }
                            th.words scope="col" { "Failures" }
                        }
                    }
                    tbody { @for row in &table.combinations { (combination(row, &keys, &metrics)) } }
                }
            }
            @for row in table.combinations.iter().filter(|row| row.unscored + row.not_run > 0) {
                p.note {
                    "Row " (row.number) ": " (count(row.unscored)) " unscored, " (count(row.not_run)) " not finished."
                }
            }
            @for row in &table.combinations {
                (damaged(&row.damaged, &format!(" of row {}", row.number)))
                @if let Some(isolation) = &row.isolation {
                    p.note {
                        "Row " (row.number) ", isolation: " (Foreign::short(&isolation.to_string(), REASON_CHARACTERS_MAX))
                    }
                }
                @if let Some(seal) = &row.seal { p.note { "Row " (row.number) ": seal " code { (seal) } } }
            }
        }
    }
}

fn combination(row: &Combination, keys: &[&str], metrics: &[&Metric]) -> Markup {
    html! {
        tr {
            th scope="row" { (row.number) }
            td.words { (Foreign::short(&row.parts.kind, NAME_CHARACTERS_MAX)) }
            td.words { (Foreign::short(row.parts.model.as_deref().unwrap_or("–"), NAME_CHARACTERS_MAX)) }
            td.words { code { (Foreign::short(&row.campaign, NAME_CHARACTERS_MAX)) } }
            @for key in keys {
                td.words {
                    (Foreign::short(row.parts.settings.get(*key).map_or("–", String::as_str), NAME_CHARACTERS_MAX))
                }
            }
            td.fixed { (count(row.passed)) " of " (count(row.passed + row.failed)) }
            td { (or_dash(row.rate)) " " span.interval { (percent_range(row.low, row.high)) } }
            (against(row.against_first.as_ref()))
            td { (row.tokens.map_or("unknown".to_owned(), |tokens| count(tokens.total()))) }
            td { (cost(row)) }
            @for metric in metrics { (figure(row.metric(metric.name))) }
            td { (seconds(row.agent_seconds)) }
            td.words {
                @if row.classes.is_empty() { "–" }
                @for (place, (class, failed)) in row.classes.iter().enumerate() {
                    @if place > 0 { ", " } (class) " " (count(*failed))
                }
            }
        }
    }
}

fn against(first: Option<&Against>) -> Markup {
    html! {
        @if let Some(against) = first {
            td {
                (points(against.difference))
                @if let (Some(low), Some(high)) = (against.low, against.high) {
                    " " span.interval { (points(Some(low))) " to " (points(Some(high))) }
                }
            }
            td { (count(against.fixed)) ", " (count(against.broken)) }
            td { (against.p_value.map_or("–".to_owned(), probability)) }
        } @else {
            td { "–" } td { "–" } td { "–" }
        }
    }
}

fn figure(metric: Option<&Metric>) -> Markup {
    let Some(metric) = metric else { return html! { td { "–" } } };
    let [value, interval] = metric_words(metric);
    html! {
        td { (value) @if metric.interval.is_some() { " " span.interval { (interval) } } }
    }
}

fn cost(row: &Combination) -> String {
    let about = if row.cost_is_estimate { "at most " } else { "" };
    row.cost.map_or("–".to_owned(), |cost| format!("{about}${cost:.4}"))
}
