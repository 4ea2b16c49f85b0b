//! The failing cases, the smallest of each class first, and the runs without a score.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use maud::{Markup, html};
use planproof_bench::{Outcome, pick_findings};
use planproof_synth::{Case, Class, Verdict};

use super::text::{Foreign, count, counted};
use super::{HtmlLimits, NAME_CHARACTERS_MAX, Page, command, events, run, see_it};
use crate::ReportedCampaign;

/// Most different reasons for unscored runs that are listed, the most frequent first.
const REASONS_MAX: usize = 20;
/// Most characters shown of such a reason.
const REASON_CHARACTERS_MAX: usize = 500;
/// Most cases named for one reason.
const CASES_NAMED_MAX: usize = 50;

/// A case that failed.
#[derive(Clone, Copy)]
struct Failure<'a> {
    case: &'a Case,
    outcome: &'a Outcome,
    verdict: &'a Verdict,
    class: Class,
}

/// What a finding has beyond other failures.
#[derive(Clone, Copy)]
struct FindingMark {
    number: usize,
    alike: usize,
}

/// All failing cases, in the order of the campaign.
fn failures<'a>(campaign: &ReportedCampaign<'a>) -> Vec<Failure<'a>> {
    let cases = campaign.cases;
    let failure = |outcome: &'a Outcome| {
        let case = cases.get(outcome.ordinal as usize)?;
        let verdict = outcome.verdict.as_ref().ok()?;
        Some(Failure { case, outcome, verdict, class: verdict.class? })
    };
    let mut failures: Vec<_> = campaign.outcomes.iter().filter_map(failure).collect();
    failures.sort_by_key(|failure| failure.outcome.ordinal);
    failures
}

/// Writes the findings and all further failures, as far as the limits allow; then what was left out.
pub(super) fn write(
    campaign: &ReportedCampaign<'_>,
    limits: &HtmlLimits,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let failures = failures(campaign);
    if failures.is_empty() {
        return page.write(nothing_failed(campaign));
    }
    let classes: HashSet<Class> = failures.iter().map(|failure| failure.class).collect();
    let findings: HashMap<u32, FindingMark> = pick_findings(campaign.cases, campaign.outcomes, classes.len())
        .iter()
        .enumerate()
        .map(|(place, finding)| (finding.ordinal, FindingMark { number: place + 1, alike: finding.alike }))
        .collect();
    let (mut first, further): (Vec<&Failure<'_>>, Vec<&Failure<'_>>) =
        failures.iter().partition(|failure| findings.contains_key(&failure.outcome.ordinal));
    first.sort_by_key(|failure| findings.get(&failure.outcome.ordinal).map(|mark| mark.number));

    page.write(html! {
        (maud::PreEscaped("<section aria-labelledby=\"failures\">"))
        h2 #failures { "Failing cases" }
        p.intro {
            "In each paragraph the words that state a violated constraint are marked. To see one on the terminal, use the \
             command below it. To run the agent on it again, write the cases to a file with "
            code.command { (command("runs export", &format!("{} --format cases", campaign.id), campaign.store_option)) }
            " and give the agent the line of that case with " code { "planproof test AGENT --from FILE" } "."
        }
        (filter(&failures))
        h3 { "Findings: the smallest case of each class" }
    })?;
    let mut budget = Budget::new(limits);
    let mut left_out = Vec::new();
    write_list(false, &first, &findings, campaign, &mut budget, &mut left_out, page)?;
    if !further.is_empty() {
        page.write(html! { h3 { "All further failures" span.quiet { " " (count(further.len() as u64)) } } })?;
        write_list(true, &further, &findings, campaign, &mut budget, &mut left_out, page)?;
    }
    page.write(html! {
        (summed_up(campaign, &left_out))
        (maud::PreEscaped("</section>"))
    })
}

fn nothing_failed(campaign: &ReportedCampaign<'_>) -> Markup {
    let what = match (campaign.report.scored(), campaign.report.not_run) {
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

/// What may still be written of failures.
struct Budget {
    failures: usize,
    bytes: usize,
    is_used_up: bool,
}

impl Budget {
    fn new(limits: &HtmlLimits) -> Self {
        Self { failures: limits.failures_max, bytes: limits.bytes_max, is_used_up: false }
    }

    /// Whether there is room for one more failure of so many bytes. Once there is not, nothing more is taken, however
    /// short: what is shown is a beginning without gaps.
    fn take(&mut self, bytes: usize) -> bool {
        match (self.failures.checked_sub(1), self.bytes.checked_sub(bytes)) {
            (Some(failures), Some(bytes)) => (self.failures, self.bytes) = (failures, bytes),
            _ => self.is_used_up = true,
        }
        !self.is_used_up
    }
}

fn write_list<'a>(
    is_paged: bool,
    failures: &[&Failure<'a>],
    findings: &HashMap<u32, FindingMark>,
    campaign: &ReportedCampaign<'_>,
    budget: &mut Budget,
    left_out: &mut Vec<Failure<'a>>,
    page: &mut Page<'_>,
) -> io::Result<()> {
    page.write(maud::PreEscaped(format!(
        "<div class=\"cases\"{}>",
        if is_paged { " data-paged" } else { "" }
    )))?;
    for &failure in failures {
        // Nothing is fetched that cannot be shown any more.
        if budget.is_used_up || budget.failures == 0 {
            left_out.push(*failure);
            continue;
        }
        let shown = show(failure, findings.get(&failure.outcome.ordinal).copied(), campaign);
        if budget.take(shown.0.len()) {
            page.write(shown)?;
        } else {
            left_out.push(*failure);
        }
    }
    page.write(maud::PreEscaped("</div>".to_owned()))
}

/// One failing case.
fn show(failure: &Failure<'_>, finding: Option<FindingMark>, campaign: &ReportedCampaign<'_>) -> Markup {
    let Failure { case, outcome, verdict, class } = failure;
    let trace = campaign.traces.trace(outcome.ordinal);
    html! {
        details.case #(format!("case-{}", outcome.ordinal)) open[finding.is_some()]
            data-case=(Foreign::short(&case.id, NAME_CHARACTERS_MAX)) data-class=(class.as_str()) data-actions=(case.actions.len()) {
            summary {
                h4 {
                    @if let Some(mark) = finding { span.finding { "Finding " (mark.number) } " " }
                    span.class { (class.as_str()) } " "
                    "case " (Foreign::short(&case.id, NAME_CHARACTERS_MAX)) ", "
                    (counted(case.actions.len() as u64, "action", "actions"))
                } " "
                span.gist { (run::gist(case, verdict)) } " "
                @if let Some(mark) = finding {
                    span.alike { (counted(mark.alike as u64, "case", "cases")) " of this class" }
                }
            }
            (run::paragraph(case, verdict))
            (run::findings(case, verdict))
            div.columns {
                div { h5 { "Constraints" } (run::constraints(case, verdict)) }
                div { h5 { "Trace" } (events::trace(case, verdict, &trace)) }
            }
            p.foot {
                (run::took(outcome)) ". "
                code.command { (see_it(campaign, case)) }
            }
        }
    }
}

/// Choosing among the failures; there only where the script runs.
fn filter(failures: &[Failure<'_>]) -> Markup {
    let mut by_class: BTreeMap<Class, u64> = BTreeMap::new();
    let mut by_actions: BTreeMap<usize, u64> = BTreeMap::new();
    for failure in failures {
        *by_class.entry(failure.class).or_default() += 1;
        *by_actions.entry(failure.case.actions.len()).or_default() += 1;
    }
    html! {
        form #filter role="search" aria-label="Failing cases" hidden {
            label {
                "Class "
                select name="class" {
                    option value="" { "all" }
                    @for (class, cases) in by_class {
                        option value=(class.as_str()) { (class.as_str()) " (" (count(cases)) ")" }
                    }
                }
            }
            label {
                "Actions "
                select name="actions" {
                    option value="" { "all" }
                    @for (actions, cases) in by_actions {
                        option value=(actions) { (actions) " (" (count(cases)) ")" }
                    }
                }
            }
            label.words { "Text " input type="search" name="text" placeholder="words of a query, a tool, an answer"; }
            output name="found" {}
        }
    }
}

/// What the limits left no room for.
fn summed_up(campaign: &ReportedCampaign<'_>, left_out: &[Failure<'_>]) -> Markup {
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
                "To see them all: "
                code.command {
                    (command("runs show", &format!("{} --findings {}", campaign.id, campaign.report.failed), campaign.store_option))
                }
            }
        }
    }
}

/// The runs without a score, by reason.
pub(super) fn unscored(campaign: &ReportedCampaign<'_>) -> Markup {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for outcome in campaign.outcomes {
        if let (Err(reason), Some(case)) = (&outcome.verdict, campaign.cases.get(outcome.ordinal as usize)) {
            by_reason.entry(reason.to_string()).or_default().push(&case.id);
        }
    }
    let mut reasons: Vec<_> = by_reason.into_iter().collect();
    reasons.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    html! {
        @if !reasons.is_empty() {
            section aria-labelledby="unscored" {
                h2 #unscored { "Unscored runs" }
                p.intro {
                    "They say nothing of the agent, because something else failed, and are in no rate. Try them again: "
                    code.command { (command("test", &format!("--resume {}", campaign.id), campaign.store_option)) }
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

fn named(cases: &[&str]) -> Markup {
    html! {
        @for (place, id) in cases.iter().enumerate().take(CASES_NAMED_MAX) {
            @if place > 0 { ", " }
            (Foreign::short(id, NAME_CHARACTERS_MAX))
        }
        @if let Some(more @ 1..) = cases.len().checked_sub(CASES_NAMED_MAX) { " and " (count(more as u64)) " more" }
    }
}
