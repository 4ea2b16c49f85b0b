//! The smallest failing queries found by shrinking, each beside its original query.

use std::io;

use maud::{Markup, PreEscaped, html};
use planproof_engine::studies::{ShrinkReport, ShrunkCase};
use planproof_suite::Class;

use super::cases::{Budget, named, write_list};
use super::parts::{HtmlLimits, NAME_CHARACTERS_MAX, Page, command};
use super::run;
use super::text::{Foreign, count, counted, percent_range};
use crate::ReportedCampaign;

/// Maximum number of characters shown of why a case cannot be shrunk, and of a requirement.
const REASON_CHARACTERS_MAX: usize = 500;
/// Maximum number of actions shown of a plan.
const PLAN_MAX: usize = 100;

pub(super) fn write(
    report: &ShrinkReport,
    campaign: &ReportedCampaign<'_>,
    limits: &HtmlLimits,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let options = report.options;
    page.write(&html! {
        (PreEscaped("<section aria-labelledby=\"shrinking\">"))
        h2 #shrinking { "Smallest failing queries" }
        p.intro {
            @if report.taken == 0 {
                "No failure was chosen for reduction."
            } @else {
                (counted(report.taken, "failure was", "failures were"))
                " reduced piece by piece, as long as the agent failed in the same way in "
                (count(options.failures.into())) " of up to " (counted(options.runs.into(), "run", "runs"))
                ". That took " (counted(report.runs, "run", "runs")) " and left "
                (counted(report.distinct, "distinct failure", "distinct failures"))
                ". Failures of the same class are alike if they demand the same order of actions, whatever the \
                actions are called."
            }
        }
    })?;
    let shrunk: Vec<&ShrunkCase> = report.failures.iter().filter(|it| it.group.is_some()).collect();
    let mut budget = Budget::new(limits);
    let show = |failure: &&ShrunkCase| shown(failure, report, campaign);
    let left_out = write_list(&shrunk, false, show, &mut budget, page)?;
    let is_gone = |it: &&ShrunkCase| it.group.is_none() && !it.is_open;
    let gone: Vec<&str> = report.failures.iter().filter(is_gone).map(|it| it.case.as_str()).collect();
    page.write(&html! {
        @if !left_out.is_empty() {
            p { (counted(left_out.len() as u64, "more failure is", "more failures are")) " in the report as JSON." }
        }
        @if !gone.is_empty() {
            p { "Did not fail again often enough to be reduced: " (named(&gone)) "." }
        }
        @for (why, cases) in report.skipped_by_reason() {
            p { "Not reduced: " (named(&cases)) " (" (Foreign::short(why, REASON_CHARACTERS_MAX)) ")." }
        }
        @if report.unfinished > 0 {
            p {
                (counted(report.unfinished, "failure is", "failures are")) " not finished."
                @if let Some(resume) = campaign.command_to_resume() { " Go on: " (command(&resume)) }
            }
        }
        (PreEscaped("</section>"))
    })
}

/// One failure. The first of several similar ones is expanded.
fn shown(failure: &ShrunkCase, report: &ShrinkReport, campaign: &ReportedCampaign<'_>) -> Markup {
    let number = failure.group.unwrap_or_default();
    let alike: Vec<&str> =
        report.failures.iter().filter(|it| it.group == failure.group).map(|it| it.case.as_str()).collect();
    // One of several similar failures is enough to read; the others are folded.
    let is_first = alike.first() == Some(&failure.case.as_str());
    let others: Vec<&str> = alike.into_iter().filter(|case| *case != failure.case).collect();
    html! {
        details.case data-shrunk=(Foreign::short(&failure.case, NAME_CHARACTERS_MAX)) open[is_first] {
            summary {
                h3 {
                    span.finding { "Failure " (number) } " "
                    span.class { (failure.class) } " "
                    "case " (Foreign::short(&failure.case, NAME_CHARACTERS_MAX)) ", "
                    @if failure.from.actions > failure.to.actions { (count(failure.from.actions)) " to " }
                    (counted(failure.to.actions, "action", "actions"))
                } " "
                @if let Some(violated) = &failure.violated {
                    span.gist { "violated: " (Foreign::short(violated, REASON_CHARACTERS_MAX)) } " "
                }
                @if !others.is_empty() {
                    span.alike { (counted(others.len() as u64, "other case", "other cases")) " alike" }
                }
            }
            div.columns {
                div { h4 { "The query" } (original(failure, campaign)) }
                div { h4 { "The smallest query that fails" } (run::marked(&failure.paragraph, &failure.marks)) }
            }
            (facts(failure, &others, report, campaign))
        }
    }
}

/// The original paragraph of the failed case, marked as in the list of failing cases.
fn original(failure: &ShrunkCase, campaign: &ReportedCampaign<'_>) -> Markup {
    let failed = campaign.outcomes.iter().find_map(|outcome| {
        let case = campaign.cases.get(outcome.ordinal as usize)?;
        let is_it =
            case.card().id == failure.case && outcome.class().map(Class::as_str) == Some(failure.class);
        is_it.then_some(())?;
        Some(case.explain(outcome.verdict.as_ref().ok()?))
    });
    match failed {
        Some(explained) => run::text(&explained),
        None => run::marked(&failure.original, &[]),
    }
}

fn facts(
    failure: &ShrunkCase,
    others: &[&str],
    report: &ShrinkReport,
    campaign: &ReportedCampaign<'_>,
) -> Markup {
    html! {
        dl.facts {
            @if let Some(violated) = &failure.violated {
                dt { "Violated" }
                dd { (Foreign::short(violated, REASON_CHARACTERS_MAX)) }
            }
            @if !failure.plan.is_empty() {
                dt { "Right" }
                dd.right {
                    ol.plan {
                        @for action in failure.plan.iter().take(PLAN_MAX) {
                            li { (Foreign::short(action, NAME_CHARACTERS_MAX)) }
                        }
                    }
                }
            }
            dt { "Size" }
            dd {
                @for (place, (noun, from, to)) in failure.sizes().into_iter().enumerate() {
                    @if place > 0 { ", " }
                    (count(from)) "\u{a0}→\u{a0}" (count(to)) " " (noun)
                }
            }
            dt { "Certainty" }
            dd { (certainty(failure)) }
            @if !others.is_empty() {
                dt { "Alike" }
                dd { (named(others)) }
            }
            @if let (Some(example), Some(commands)) = (&failure.example, campaign.commands) {
                dt { "Example run" }
                dd { (command(&commands.see(&report.campaign, &example.case, Some(example.repeat)))) }
                dt { "Run it again" }
                dd { (command(&commands.run_again(&report.campaign, &example.case))) }
            }
        }
    }
}

fn certainty(failure: &ShrunkCase) -> Markup {
    html! {
        @match (failure.low, failure.high) {
            (Some(low), Some(high)) => {
                (count(failure.confirmed)) " of " (counted(failure.confirmations, "more run", "more runs"))
                " failed in the same way; of all runs, with 95 % confidence, it is "
                (percent_range(low, high))
            },
            _ => "it was not run again to confirm it",
        }
        ". The search took " (counted(failure.runs, "run", "runs")) " of "
        (counted(failure.tested, "different query", "different queries"))
        @match (failure.end, failure.is_open) {
            ("minimal", _) => "; no single piece can be removed.",
            (_, true) => "; it is not finished.",
            (_, false) => ", the most allowed; more might be removed.",
        }
    }
}
