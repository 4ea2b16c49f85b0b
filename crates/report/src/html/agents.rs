//! Several campaigns over the same cases, one row each.

use maud::{Markup, html};

use super::chart::{Chart, Point, Series, Style, success};
use super::comparison::{points, probability};
use super::page::{banner, top};
use super::parts::NAME_CHARACTERS_MAX;
use super::summary::or_dash;
use super::text::{Foreign, count, counted, percent_range, seconds};
use crate::compare::agents::{AgentRow, AgentTable, CaseOfAll};

const COLUMNS: [&str; 8] =
    ["Agent", "Passed", "Success", "vs the first", "Fixed, broken", "p", "Tokens", "Time"];
/// Maximum number of campaigns in the drawing; for more, there is no room for their numbers below the axis.
const CHARTED_MAX: usize = 14;

/// The column shown if an agent is made from a specification.
const MONITOR_COLUMN: &str = "Corrections";

pub(super) fn head(table: &AgentTable) -> Markup {
    let simulated = table.agents.iter().filter(|row| row.simulated).count();
    html! {
        header.page {
            (top("agents"))
            h1 { (counted(table.agents.len() as u64, "campaign", "campaigns")) " on the same cases" }
        }
        @if simulated == table.agents.len() {
            (banner("simulated models planned"))
        } @else if simulated > 0 {
            (banner("simulated models planned in some of the campaigns"))
        }
    }
}

pub(super) fn rows(table: &AgentTable) -> Markup {
    let is_monitored = table.agents.iter().any(|row| row.monitor.is_some());
    html! {
        section aria-labelledby="agents" {
            h2 #agents { "On the cases in all campaigns" }
            p.intro {
                (counted(table.common, "case is", "cases are")) " the same in all, and "
                (counted(table.scored, "has", "have"))
                " a score in all; the figures cover these. Success is in per cent with its 95 % interval, the difference \
                 to the first campaign in percentage points. Fixed are cases that failed there and passed here, broken the \
                 reverse; p is how likely a split at least this uneven would be if neither were better (exact McNemar test, \
                 two-sided, for each row by itself)."
            }
            div.scroll tabindex="0" role="region" aria-label="Table of agents" {
                table.stacked {
                    thead {
                        tr {
                            @for name in COLUMNS { th scope="col" { (name) } }
                            @if is_monitored { th scope="col" { (MONITOR_COLUMN) } }
                            th.words scope="col" { "Failures" }
                        }
                    }
                    tbody { @for row in &table.agents { (agent(row, table.scored, is_monitored)) } }
                }
            }
            @for row in &table.agents { (aside(row)) }
        }
    }
}

fn agent(row: &AgentRow, scored: u64, is_monitored: bool) -> Markup {
    let success = &row.success;
    let tokens = row.tokens.map_or("unknown".to_owned(), |tokens| count(tokens.total()));
    html! {
        tr {
            th scope="row" {
                (Foreign::short(&row.agent, NAME_CHARACTERS_MAX))
                @if let Some(label) = &row.label { br; (Foreign::short(label, NAME_CHARACTERS_MAX)) }
                code.under { (Foreign::short(&row.campaign, NAME_CHARACTERS_MAX)) }
            }
            td.fixed { (count(success.passed)) " of " (count(scored)) }
            td {
                (or_dash(success.rate)) " "
                span.interval { (percent_range(success.low, success.high)) }
            }
            @match &row.against_first {
                Some(difference) => {
                    td { (points(difference.difference)) }
                    td { (count(difference.fixed)) ", " (count(difference.broken)) }
                    td { (difference.p_value.map_or("–".to_owned(), probability)) }
                },
                None => { td { "–" } td { "–" } td { "–" } },
            }
            td { (tokens) }
            td { (seconds(row.agent_seconds)) }
            @if let Some(used) = &row.monitor {
                td {
                    (count(used.corrections)) " "
                    span.interval { (counted(used.discarded_tokens, "token", "tokens")) " discarded," br; (count(used.repeated_tokens)) " read again" }
                }
            } @else if is_monitored {
                td { "–" }
            }
            td.words {
                @if row.classes.is_empty() { "–" }
                @for (place, (class, failed)) in row.classes.iter().enumerate() {
                    @if place > 0 { ", " } (class) " " (count(*failed))
                }
            }
        }
    }
}

/// The results of a campaign outside the cases of the table.
fn aside(row: &AgentRow) -> Markup {
    html! {
        @if let Some(apart) = &row.apart {
            p.note {
                (Foreign::short(&row.agent, NAME_CHARACTERS_MAX)) " (" (Foreign::short(&row.campaign, NAME_CHARACTERS_MAX)) "): "
                "of the separately scored cases in all campaigns, " (count(apart.passed)) " of "
                (counted(apart.runs, "run", "runs")) " passed ("
                (or_dash(apart.rate)) ", 95 % interval " (percent_range(apart.low, apart.high)) ")."
            }
        }
        (others(row))
    }
}

fn others(row: &AgentRow) -> Markup {
    let [unscored, not_run, left_out] = [row.unscored, row.not_run, row.left_out];
    html! {
        @if unscored + not_run + left_out > 0 {
            p.note {
                (Foreign::short(&row.agent, NAME_CHARACTERS_MAX)) " (" (Foreign::short(&row.campaign, NAME_CHARACTERS_MAX)) "): "
                (count(unscored)) " unscored, " (count(not_run)) " not finished, "
                (counted(left_out, "case", "cases")) " not in all campaigns."
            }
        }
    }
}

/// A drawing of the success of each campaign.
pub(super) fn drawn(table: &AgentTable) -> Markup {
    if table.agents.len() > CHARTED_MAX || table.scored == 0 {
        return Markup::default();
    }
    // An empty column between campaigns keeps the points from being joined, since campaigns have no order.
    let mut points = Vec::new();
    let mut labels = Vec::new();
    for (place, row) in table.agents.iter().enumerate() {
        if place > 0 {
            points.push(None);
            labels.push(String::new());
        }
        let interval = Some((row.success.low, row.success.high));
        points.push(row.success.rate.map(|rate| Point { rate, interval }));
        labels.push(format!("{}", place + 1));
    }
    let chart = Chart {
        id: "agents-chart",
        title: "Success rate of each campaign, with 95 % intervals. The table has the same figures.",
        axis: "campaign number",
        labels,
        unit: "",
        threshold: None,
    };
    let series = [Series { name: "passed", style: Style::Measured, points }];
    html! {
        section aria-labelledby="agents-drawn" {
            h2 #agents-drawn { "Success" }
            div.beside.even {
                (success(&chart, &series))
                (numbered(table))
            }
        }
    }
}

/// The legend of campaign numbers.
fn numbered(table: &AgentTable) -> Markup {
    html! {
        ol {
            @for row in &table.agents {
                li {
                    @if let Some(label) = &row.label { (Foreign::short(label, NAME_CHARACTERS_MAX)) ": " }
                    (Foreign::short(&row.agent, NAME_CHARACTERS_MAX)) " "
                    code { (Foreign::short(&row.campaign, NAME_CHARACTERS_MAX)) }
                }
            }
        }
    }
}

/// Which campaign passed which case.
pub(super) fn cases(table: &AgentTable) -> Markup {
    if table.cases.is_empty() {
        return Markup::default();
    }
    let differing = table.cases.iter().filter(|case| !case.is_alike()).count() as u64;
    let is_repeated = table.agents.iter().any(|row| row.repeats > 1);
    html! {
        section aria-labelledby="cases" {
            h2 #cases { "Who passed which case" }
            p.intro {
                "Cases with a score in all campaigns; the " (count(differing)) " of "
                (count(table.cases.len() as u64)) " shown on which the campaigns differ come first. "
                @if is_repeated { "Where a case has several runs, the table says how many passed. " }
                @if table.cases_left_out > 0 { (counted(table.cases_left_out, "more case is", "more cases are")) " not shown. " }
                "Columns are campaigns, by number."
            }
            @if table.agents.len() > CHARTED_MAX { (numbered(table)) }
            div.scroll tabindex="0" role="region" aria-label="Table of cases and campaigns" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Case" }
                            th scope="col" { "Size" }
                            @for (place, row) in table.agents.iter().enumerate() {
                                th scope="col" title=(Foreign::short(&row.agent, NAME_CHARACTERS_MAX)) { (place + 1) }
                            }
                        }
                    }
                    tbody { @for case in &table.cases { (passed_by(case)) } }
                }
            }
        }
    }
}

fn passed_by(case: &CaseOfAll) -> Markup {
    html! {
        tr {
            th scope="row" { (Foreign::short(&case.case, NAME_CHARACTERS_MAX)) }
            td { (case.size) }
            @for (passed, runs) in case.passed.iter().zip(&case.runs) {
                @match (passed, runs) {
                    // The result of a single run is a word, that of several a count.
                    (0, 1) => { td.bad { "failed" } },
                    (1, 1) => { td.good { "passed" } },
                    (passed, runs) => {
                        td.good[passed == runs].bad[*passed == 0] { (passed) " of " (runs) }
                    },
                }
            }
        }
    }
}
