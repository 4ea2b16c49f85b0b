//! Runs that passed, where their suite says that they are worth being shown.

use std::io;

use maud::{Markup, PreEscaped, html};
use planproof_bench::Outcome;
use planproof_suite::Case;

use super::text::Foreign;
use super::{NAME_CHARACTERS_MAX, Page, command, events, run};
use crate::ReportedCampaign;

/// Writes the first of them, with their traces.
pub(super) fn write(campaign: &ReportedCampaign<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let passed = campaign.outcomes.iter().filter(|outcome| outcome.passed() == Some(true));
    let shown: Vec<&Outcome> = passed.take(campaign.suite.passed_shown()).collect();
    if shown.is_empty() {
        return Ok(());
    }
    page.write(&html! {
        (PreEscaped("<section aria-labelledby=\"passed\">"))
        h2 #passed { "Runs that passed" }
        p.intro { "The first of them, with what they have made." }
        (PreEscaped("<div class=\"cases\">"))
    })?;
    for outcome in shown {
        if let Some(case) = campaign.cases.get(outcome.ordinal as usize) {
            page.write(&show(&**case, outcome, campaign))?;
        }
    }
    page.write(&PreEscaped("</div></section>".to_owned()))
}

fn show(case: &dyn Case, outcome: &Outcome, campaign: &ReportedCampaign<'_>) -> Markup {
    let Ok(verdict) = &outcome.verdict else { return html! {} };
    let trace = campaign.traces.trace(outcome.unit());
    let card = case.card();
    let (explained, notes) = events::explain(case, verdict, &trace);
    html! {
        details.case {
            summary {
                h4 {
                    "case " (Foreign::short(&card.id, NAME_CHARACTERS_MAX)) ", "
                    (campaign.sized(card))
                } " "
                span.gist { (Foreign::short(&explained.text, NAME_CHARACTERS_MAX)) }
            }
            (run::text(&explained))
            (run::facts(&explained))
            (run::pictures(&explained))
            h5 { "Trace" }
            (events::noted_trace(case, notes, &trace))
            p.foot {
                (run::took(outcome)) ". "
                (command(&campaign.command_to_see(case, outcome.repeat)))
            }
        }
    }
}
