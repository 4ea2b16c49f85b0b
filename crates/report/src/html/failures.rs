//! The failing cases, the smallest of each class first, and the runs without a score.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use maud::{Markup, PreEscaped, html};
use planproof_engine::{Finding, Outcome, Unit, pick_findings};
use planproof_suite::{Case, Class, Unscored, Verdict};

use super::cases::{Budget, filter, named, write_list};
use super::parts::{NAME_CHARACTERS_MAX, Page, command, foot};
use super::text::{Foreign, count, counted};
use super::{events, run};
use crate::{DistinctFinding, ReportedCampaign, distinct};
use planproof_tools::process::shell_word;

/// Maximum number of distinct reasons listed for unscored runs, the most frequent first.
const REASONS_MAX: usize = 20;
/// Maximum number of characters shown of such a reason.
const REASON_CHARACTERS_MAX: usize = 500;

/// A case that failed.
struct Failure<'a> {
    case: &'a dyn Case,
    outcome: &'a Outcome,
    verdict: &'a Verdict,
    class: Class,
    /// Number of runs of the case that failed in this class.
    alike: usize,
    /// The number of its finding, as on the terminal.
    number: usize,
    /// Its place among the failures as they were picked.
    place: usize,
    /// Further cases with the same finding, which stand below; `None` if there are none, or it is one of them.
    same: Option<String>,
    /// Whether it is open when the page is.
    is_shown: bool,
}

/// Fewest findings that are shown in full, as on the terminal.
const SHOWN_MIN: usize = 3;

/// Most cases named that have the same finding.
const SAME_MAX: usize = 20;

/// The failures of a campaign as a page shows them.
struct Failures<'a> {
    /// All failing cases, represented for each class by their first run that failed in it: first those that are shown
    /// in full, then the others, each in the order of their numbers.
    list: Vec<Failure<'a>>,
    /// How many are shown in full: the smallest of each class, and at least so many as the terminal shows.
    shown: usize,
    /// How many distinct findings there are.
    findings: usize,
}

fn failures<'a>(campaign: &ReportedCampaign<'a>) -> Failures<'a> {
    let cases = campaign.cases;
    let failure = |outcome: &'a Outcome| {
        let case = &**cases.get(outcome.ordinal as usize)?;
        let verdict = outcome.verdict.as_ref().ok()?;
        Some(Failure {
            case,
            outcome,
            verdict,
            class: verdict.class()?,
            alike: 1,
            number: 0,
            place: 0,
            same: None,
            is_shown: false,
        })
    };
    let mut failures: Vec<_> = campaign.outcomes.iter().filter_map(failure).collect();
    let classes: HashSet<Class> = failures.iter().map(|failure| failure.class).collect();
    // Puts the failures of a case in the same class side by side, so that `dedup_by` keeps the first repeat and counts
    // the others.
    failures.sort_by_key(|failure| (failure.outcome.ordinal, failure.class, failure.outcome.repeat));
    failures.dedup_by(|later, first| {
        let is_same = later.outcome.ordinal == first.outcome.ordinal && later.class == first.class;
        first.alike += usize::from(is_same);
        is_same
    });
    let picked = pick_findings(cases, campaign.outcomes, usize::MAX);
    let unit = |finding: &Finding<'_>| Unit { ordinal: finding.ordinal, repeat: finding.repeat };
    let places: HashMap<Unit, usize> =
        picked.iter().enumerate().map(|(place, finding)| (unit(finding), place)).collect();
    let found = distinct(picked);
    // One finding of each class comes before any second one, so these hold the smallest failure of each class.
    let shown = classes.len().max(SHOWN_MIN).min(found.len());
    let all_of = |finding: &DistinctFinding<'_>| {
        let first =
            (unit(&finding.finding), (finding.number, finding.more_cases(SAME_MAX), finding.number <= shown));
        let same = finding.same.iter().map(|same| (unit(same), (finding.number, None, false)));
        std::iter::once(first).chain(same).collect::<Vec<_>>()
    };
    let mut numbered: HashMap<Unit, _> = found.iter().flat_map(all_of).collect();
    for failure in &mut failures {
        let unit = failure.outcome.unit();
        (failure.number, failure.same, failure.is_shown) = numbered.remove(&unit).unwrap_or_default();
        failure.place = places.get(&unit).copied().unwrap_or_default();
    }
    failures.sort_by_key(|failure| (!failure.is_shown, failure.number, failure.place));
    Failures { list: failures, shown, findings: found.len() }
}

/// The findings that the page shows in full, a line each with a link to it, so that they are seen without scrolling.
pub(super) fn in_short(campaign: &ReportedCampaign<'_>) -> Markup {
    let Failures { list, shown, findings } = failures(campaign);
    html! {
        @if shown > 0 {
            section aria-labelledby="findings" {
                h2 #findings { "Findings" }
                ol.findings {
                    @for Failure { case, outcome, verdict, class, number, same, .. } in list.iter().take(shown) {
                        li {
                            a href=(format!("#{}", anchor(outcome))) { "Finding " (number) } " "
                            span.class { (class.as_str()) } " "
                            "case " (Foreign::short(&case.card().id, NAME_CHARACTERS_MAX)) ", "
                            (campaign.sized(case.card())) ": "
                            (run::gist(&case.explain(verdict)))
                            @if let Some(same) = same {
                                span.quiet { " The same in " (Foreign::short(same, NAME_CHARACTERS_MAX)) "." }
                            }
                        }
                    }
                }
                @if findings > shown {
                    p.quiet {
                        "Findings 1 to " (shown) " of " (count(findings as u64))
                        "; the others are among the failing cases below."
                    }
                }
            }
        }
    }
}

/// The anchor of a failure on the page.
fn anchor(outcome: &Outcome) -> String {
    match outcome.repeat {
        0 => format!("case-{}", outcome.ordinal),
        repeat => format!("case-{}-{repeat}", outcome.ordinal),
    }
}

/// Writes the findings and all further failures as far as the limits allow, then a summary of the rest.
pub(super) fn write(
    campaign: &ReportedCampaign<'_>,
    budget: &mut Budget,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let Failures { list: failures, shown, .. } = failures(campaign);
    if failures.is_empty() {
        return page.write(&nothing_failed(campaign));
    }
    let (findings, further) = failures.split_at(shown);
    let kinds = failures.iter().map(|failure| (failure.class.as_str(), failure.case.card().size));
    page.write(&html! {
        (PreEscaped("<section aria-labelledby=\"failures\">"))
        h2 #failures { "Failing cases" }
        p.intro {
            "The words of a case that matter to its verdict are marked."
            @if let Some(commands) = campaign.commands {
                " To see one on the terminal, use the command below it. To run the agent on it again, write the id of the \
                 case instead of CASE: "
                (command(&commands.run_again(campaign.id, "CASE")))
            }
        }
        (filter("Class", campaign.suite.unit().many, kinds))
        h3 { "Findings: the smallest cases, one of each class first" }
    })?;
    let show = |failure: &Failure<'_>| show(failure, campaign);
    let mut left_out = Vec::new();
    left_out.extend(write_list(findings, false, show, budget, page)?);
    if !further.is_empty() {
        page.write(
            &html! { h3 { "All further failures" span.quiet { " " (count(further.len() as u64)) } } },
        )?;
        left_out.extend(write_list(further, true, show, budget, page)?);
    }
    page.write(&html! {
        (summed_up(campaign, &left_out))
        (PreEscaped("</section>"))
    })
}

fn nothing_failed(campaign: &ReportedCampaign<'_>) -> Markup {
    let what = match (campaign.report.all_scored(), campaign.report.all_not_run()) {
        (0, _) => "No run has a score yet, so there is nothing to show.",
        (_, 0) => "No case failed.",
        _ => "No case has failed so far.",
    };
    html! {
        section aria-labelledby="failures" {
            h2 #failures { "Failing cases" }
            p { (what) }
        }
    }
}

/// One failing case.
fn show(failure: &Failure<'_>, campaign: &ReportedCampaign<'_>) -> Markup {
    let Failure { case, outcome, verdict, class, alike, number, same, is_shown, .. } = failure;
    let trace = campaign.traces.trace(outcome.unit());
    let card = case.card();
    let (explained, notes) = events::explain(*case, verdict, &trace);
    let trace = events::of_campaign(campaign, *case, notes, &trace);
    let anchor = anchor(outcome);
    html! {
        details.case #(anchor) open[*is_shown]
            data-case=(Foreign::short(&card.id, NAME_CHARACTERS_MAX))
            data-class=(class.as_str())
            data-actions=(card.size)
        {
            summary {
                h4 {
                    span.finding { "Finding " (number) } " "
                    span.class { (class.as_str()) } " "
                    "case " (Foreign::short(&card.id, NAME_CHARACTERS_MAX)) ", "
                    (campaign.sized(card))
                } " "
                span.gist { (run::gist(&explained)) } " "
                @if campaign.repeats > 1 {
                    span.quiet { (alike) " of " (campaign.repeats) " runs; repeat " (outcome.repeat) " is shown" } " "
                }
            }
            @if let Some(same) = same {
                p.quiet { "The same in " (Foreign::short(same, REASON_CHARACTERS_MAX)) "." }
            }
            (run::whole(&explained, trace.as_ref()))
            (foot(campaign, *case, outcome))
        }
    }
}

/// A summary of the failures that the limits left no room for.
fn summed_up(campaign: &ReportedCampaign<'_>, left_out: &[&Failure<'_>]) -> Markup {
    let mut by_class: BTreeMap<Class, u64> = BTreeMap::new();
    for failure in left_out {
        *by_class.entry(failure.class).or_default() += 1;
    }
    html! {
        @if !left_out.is_empty() {
            h3 #left-out { "Not shown" }
            p {
                "This page has no room for " (counted(left_out.len() as u64, "further failure", "further failures")) "."
            }
            ul {
                @for (class, cases) in by_class { li { (class.as_str()) ": " (count(cases)) } }
            }
            p {
                @match campaign.commands {
                    Some(commands) => {
                        "To see them all: "
                        (command(&commands.line(&format!(
                            "runs show {} --findings {}", shell_word(campaign.id), campaign.report.all_failed()
                        ))))
                    },
                    None => { "The file of " code { "--csv" } " and the document of " code { "--json" } " have them all." },
                }
            }
        }
    }
}

/// The runs without a score, by reason.
pub(super) fn unscored(campaign: &ReportedCampaign<'_>) -> Markup {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    // Without a key to judge by, another try has no score either.
    let mut may_differ = false;
    for outcome in campaign.outcomes {
        if let (Err(reason), Some(case)) = (&outcome.verdict, campaign.cases.get(outcome.ordinal as usize)) {
            may_differ |= !matches!(reason, Unscored::NoKey { .. });
            by_reason.entry(reason.to_string()).or_default().push(&case.card().id);
        }
    }
    let mut reasons: Vec<_> = by_reason.into_iter().collect();
    // The sort is stable, so equally frequent reasons stay in alphabetical order.
    reasons.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    html! {
        @if !reasons.is_empty() {
            section aria-labelledby="unscored" {
                h2 #unscored { "Unscored runs" }
                p.intro {
                    "They say nothing about the agent, and are in no rate."
                    @if let Some(resume) = campaign.command_to_resume().filter(|_| may_differ) {
                        " Try them again: " (command(&resume))
                    }
                }
                ul.reasons {
                    @for (reason, cases) in reasons.iter().take(REASONS_MAX) {
                        li {
                            b { (counted(cases.len() as u64, "run", "runs")) } ": "
                            (Foreign::short(reason, REASON_CHARACTERS_MAX))
                            p.quiet { "cases " (named(cases)) }
                        }
                    }
                }
                @if let Some(more @ 1..) = reasons.len().checked_sub(REASONS_MAX) {
                    p.note { (counted(more as u64, "rarer reason is", "rarer reasons are")) " left out here." }
                }
            }
        }
    }
}
