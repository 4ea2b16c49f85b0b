//! What the runs of a campaign took, and those over its limits.

use maud::{Markup, html};
use planproof_engine::{EffortFigures, OverLimits, RunOver, Spread, over_in_words};

use super::parts::NAME_CHARACTERS_MAX;
use super::text::{Foreign, count, counted, seconds};
use crate::ReportedCampaign;

/// The figures of what runs took, and the runs that passed and took too much; nothing without scored runs.
pub(super) fn figures(campaign: &ReportedCampaign<'_>) -> Markup {
    let Some(effort) = &campaign.report.effort else { return html! {} };
    let EffortFigures { calls, rounds, tokens, needed, over } = effort;
    let row = |name: &str, spread: &Spread<u64>, least: Option<u64>| {
        let [median, p95] = [spread.median, spread.p95].map(count);
        html! {
            tr {
                th scope="row" { (name) }
                td { (median) }
                td { (p95) }
                td { (least.map_or_else(|| "–".to_owned(), count)) }
            }
        }
    };
    html! {
        section aria-labelledby="effort" {
            h2 #effort { "What a run took" }
            p.intro {
                "Over scored runs. Calls that were made together are one round. Needed: the median of what the cases need \
                 at the least."
            }
            div.scroll tabindex="0" role="region" aria-label="Table of what a run took" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Per run" }
                            th scope="col" { "Median" }
                            th scope="col" { "95th percentile" }
                            th scope="col" { "Needed" }
                        }
                    }
                    tbody {
                        (row("Calls", calls, needed.map(|it| it.calls)))
                        (row("Rounds", rounds, needed.and_then(|it| it.rounds)))
                        @if let Some(tokens) = tokens { (row("Tokens", tokens, None)) }
                        @if let Some(Spread { median, p95 }) = campaign.report.run_seconds {
                            tr {
                                th scope="row" { "Time" }
                                td { (seconds(median)) }
                                td { (seconds(p95)) }
                                td { "–" }
                            }
                        }
                    }
                }
            }
            @if let Some(over) = over { (over_limits(over, campaign)) }
        }
    }
}

fn over_limits(over: &OverLimits, campaign: &ReportedCampaign<'_>) -> Markup {
    let limits = over.limits.to_string();
    let by_limit = over.by_limit();
    html! {
        h3 { "Held to --fail-over " (limits) }
        p {
            (counted(over.right, "run is", "runs are")) " right, but over a limit; "
            (counted(over.wrong, "run is", "runs are")) " wrong and over one."
            @if !by_limit.is_empty() { " By limit: " (by_limit) "." }
            @if over.tokens_unknown { " Nobody counted tokens, so nothing is known of their limit." }
        }
        @if !over.runs.is_empty() {
            ul {
                @for RunOver { case, repeat, over } in &over.runs {
                    li {
                        "case " (Foreign::short(case, NAME_CHARACTERS_MAX)) (campaign.repeat_name(*repeat))
                        ": right, but over: " (over_in_words(over))
                    }
                }
            }
            @if let Some(more @ 1..) = over.right.checked_sub(over.runs.len() as u64) {
                p.quiet { "And " (count(more)) " more." }
            }
        }
    }
}
