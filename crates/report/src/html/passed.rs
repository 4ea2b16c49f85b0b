//! Passed runs, if their suite says that they are worth showing.

use std::io;

use maud::{Markup, PreEscaped, html};
use planproof_engine::Outcome;
use planproof_suite::Case;

use super::cases::{Budget, write_list};
use super::parts::{NAME_CHARACTERS_MAX, Page, foot};
use super::text::{Foreign, count};
use super::{events, run};
use crate::ReportedCampaign;

/// Writes the first of them, collapsed, with their traces, as far as the budget left by the failures allows.
pub(super) fn write(
    campaign: &ReportedCampaign<'_>,
    budget: &mut Budget,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let passed = campaign.outcomes.iter().filter(|outcome| outcome.passed() == Some(true));
    let all = passed.clone().count() as u64;
    let shown: Vec<&Outcome> = passed.take(campaign.suite.passed_shown()).collect();
    // Without room for a case there are no headings either.
    if shown.is_empty() || !budget.is_left() {
        return Ok(());
    }
    page.write(&html! {
        (PreEscaped("<section aria-labelledby=\"passed\">"))
        h2 #passed { @if campaign.is_of_predictions() { "Predictions that passed" } @else { "Runs that passed" } }
        h3 {
            @if campaign.is_of_predictions() { "The first of them" } @else { "The first of them, with their traces" }
            span.quiet { " " (shown.len()) " of " (count(all)) }
        }
    })?;
    let show = |outcome: &&Outcome| match campaign.cases.get(outcome.ordinal as usize) {
        Some(case) => show(&**case, outcome, campaign),
        None => html! {},
    };
    write_list(&shown, false, show, budget, page)?;
    page.write(&PreEscaped("</section>".to_owned()))
}

fn show(case: &dyn Case, outcome: &Outcome, campaign: &ReportedCampaign<'_>) -> Markup {
    let Ok(verdict) = &outcome.verdict else { return html! {} };
    let trace = campaign.traces.trace(outcome.unit());
    let card = case.card();
    let (explained, notes) = events::explain(case, verdict, &trace);
    html! {
        details.passed-case {
            summary {
                h4 {
                    "case " (Foreign::short(&card.id, NAME_CHARACTERS_MAX)) ", "
                    (campaign.sized(card))
                } " "
                span.gist { (Foreign::short(&explained.text, NAME_CHARACTERS_MAX)) }
            }
            (run::whole(&explained, events::of_campaign(campaign, case, notes, &trace).as_ref()))
            (foot(campaign, case, outcome))
        }
    }
}
