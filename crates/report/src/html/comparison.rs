//! Two campaigns side by side.

use std::collections::HashMap;
use std::io;

use maud::{Markup, PreEscaped, html};
use planproof_bench::Outcome;
use planproof_synth::{Case, Verdict};
use planproof_trace::Trace;

use super::cases::{Budget, filter, write_list};
use super::chart::{Point, Series, Style, success_by_actions};
use super::page::{banner, top};
use super::summary::{Bar, bars, figure, or_dash, origin, who};
use super::text::{Foreign, count, counted, percent_range};
use super::{HtmlLimits, NAME_CHARACTERS_MAX, Page, command, events, run};
use crate::ReportedCampaign;
use crate::compare::{Change, ComparedCase, Comparison, Side, Success, shown_runs};

/// Who is compared with whom, and a banner if there is a simulation among them.
pub(super) fn head(comparison: &Comparison, a: &ReportedCampaign<'_>, b: &ReportedCampaign<'_>) -> Markup {
    let simulated = match (comparison.a.simulated, comparison.b.simulated) {
        (true, true) => Some("simulated models planned"),
        (true, false) => Some("in A a simulated model planned"),
        (false, true) => Some("in B a simulated model planned"),
        (false, false) => None,
    };
    html! {
        header.page {
            (top("comparison"))
            h1 { "Two campaigns on the same cases" }
            div.columns {
                (of_side("A", &comparison.a, a))
                (of_side("B", &comparison.b, b))
            }
        }
        @if let Some(simulated) = simulated { (banner(simulated)) }
    }
}

fn of_side(letter: &str, side: &Side, campaign: &ReportedCampaign<'_>) -> Markup {
    html! {
        div {
            h2 { span.letter.(letter) { (letter) } " " (Foreign::short(&side.agent, NAME_CHARACTERS_MAX)) }
            (who(side.model.as_deref()))
            (origin(campaign))
        }
    }
}

/// Success of both on the common cases, the difference, and what became of the cases.
pub(super) fn key_figures(comparison: &Comparison) -> Markup {
    let success = |success: &Success| {
        html! {
            (count(success.passed)) " of " (count(success.runs)) " passed, 95 % interval "
            (percent_range(success.low, success.high))
        }
    };
    let [fixed, broken] = [Change::Fixed, Change::Broken].map(|change| comparison.count(change));
    let changes = Change::ALL.map(|change| Bar::new(change.as_str(), meaning(change), &comparison.changes));
    html! {
        section aria-labelledby="figures" {
            h2 #figures { "On the cases that both have" }
            p.intro {
                (counted(comparison.common, "case is", "cases are")) " the same in both, and "
                (counted(comparison.scored, "has", "have")) " a score in both. "
                (others(comparison))
            }
            div.figures.pairs {
                (figure("A passed", &or_dash(comparison.a.success.rate), &success(&comparison.a.success)))
                (figure("B passed", &or_dash(comparison.b.success.rate), &success(&comparison.b.success)))
                @if comparison.is_lift {
                    (figure("Lift", &points(comparison.difference), &html! { "percentage points that the guard gains: B is A behind it" }))
                } @else {
                    (figure("Difference", &points(comparison.difference), &html! { "percentage points, B less A" }))
                }
                (figure("Fixed", &count(fixed), &html! { "failed in A, passed in B" }))
                (figure("Broken", &count(broken), &html! { "passed in A, failed in B" }))
            }
            @if let Some(p_value) = comparison.p_value {
                p.test {
                    @if fixed + broken == 0 {
                        "No case fared otherwise in one than in the other."
                    } @else if comparison.is_repeated() {
                        "Of the " (counted(fixed + broken, "case", "cases")) " whose success differs, " (count(fixed))
                        " passed more often in B and " (count(broken))
                        " less often. If neither were better, a difference at least this large would come about with probability "
                        strong { (probability(p_value)) }
                        " (sign-flip test over cases, two-sided)."
                    } @else {
                        "Of the " (counted(fixed + broken, "case", "cases")) " that passed in only one of them, B fixed "
                        (count(fixed)) " and broke " (count(broken))
                        ". If neither were better, a split at least this uneven would come about with probability " strong { (probability(p_value)) }
                        " (exact McNemar test, two-sided)."
                    }
                }
            }
            (bars(changes, comparison.common))
            @if let Some(infeasible) = &comparison.infeasible {
                h3 { "Infeasible cases" }
                p.intro {
                    (counted(infeasible.common, "case that both have is", "cases that both have are"))
                    " infeasible, and in none of the other figures: to pass is to report a conflict and to do no task. "
                    (counted(infeasible.scored, "has", "have")) " a score in both."
                }
                div.figures.pairs {
                    (figure("A passed", &or_dash(infeasible.a.rate), &success(&infeasible.a)))
                    (figure("B passed", &or_dash(infeasible.b.rate), &success(&infeasible.b)))
                    (figure("Fixed", &count(infeasible.fixed), &html! { "failed in A, passed in B" }))
                    (figure("Broken", &count(infeasible.broken), &html! { "passed in A, failed in B" }))
                }
            }
        }
    }
}

fn others(comparison: &Comparison) -> Markup {
    html! {
        @if comparison.only_a + comparison.only_b > 0 {
            "Left aside: " (counted(comparison.only_a, "case", "cases")) " only in A and " (count(comparison.only_b))
            " only in B"
            @if comparison.differing > 0 {
                ", among them " (counted(comparison.differing, "id", "ids")) " with different texts behind them"
            }
            "."
        }
    }
}

fn meaning(change: Change) -> &'static str {
    match change {
        Change::Broken => "Passed in A, failed in B.",
        Change::Fixed => "Failed in A, passed in B.",
        Change::OtherClass => "Failed in both, in different classes.",
        Change::SameClass => "Failed in both, in the same class.",
        Change::BothPassed => "Passed in both.",
        Change::Unscored => "One of the runs says nothing of its agent, or both.",
        Change::NotRun => "One of the runs is not finished, or both.",
    }
}

/// A difference of rates in percentage points, with its sign.
pub(super) fn points(difference: Option<f64>) -> String {
    // Adding nothing turns a negative zero into a positive one.
    difference
        .map_or("–".to_owned(), |difference| format!("{:+.1}", difference * 100.0 + 0.0).replace('-', "−"))
}

pub(super) fn probability(p_value: f64) -> String {
    if p_value < 0.0001 { "below 0.0001".to_owned() } else { format!("{p_value:.4}") }
}

/// Success by number of actions: the drawing and the same as a table.
pub(super) fn by_actions(comparison: &Comparison) -> Markup {
    let groups = &comparison.by_actions;
    if groups.is_empty() {
        return Markup::default();
    }
    let point = |success: &Success| {
        success.rate.map(|rate| Point { rate, interval: Some((success.low, success.high)) })
    };
    let [name_a, name_b] = [("A", &comparison.a), ("B", &comparison.b)]
        .map(|(letter, side)| format!("{letter}: {}", side.agent));
    let series = [
        Series {
            name: &name_a,
            style: Style::Measured,
            points: groups.iter().map(|group| point(&group.a)).collect(),
        },
        Series {
            name: &name_b,
            style: Style::MeasuredToo,
            points: groups.iter().map(|group| point(&group.b)).collect(),
        },
    ];
    let actions: Vec<usize> = groups.iter().map(|group| group.actions).collect();
    let rate = |success: &Success| {
        html! { (or_dash(success.rate)) " " span.interval { (percent_range(success.low, success.high)) } }
    };
    html! {
        section aria-labelledby="by-actions" {
            h2 #by-actions { "Success by number of actions" }
            p.intro { "With 95 % intervals, on the cases with a score in both." }
            div.beside {
                (success_by_actions(&actions, &series))
                div.scroll tabindex="0" role="region" aria-label="Table of success by number of actions" {
                    table.stacked {
                        thead {
                            tr {
                                @for name in ["Actions", "Cases", "A", "B", "Fixed", "Broken"] {
                                    th scope="col" { (name) }
                                }
                            }
                        }
                        tbody {
                            @for group in groups {
                                tr {
                                    th scope="row" { (group.actions) }
                                    td { (count(group.cases)) }
                                    td { (rate(&group.a)) }
                                    td { (rate(&group.b)) }
                                    td { (count(group.fixed)) }
                                    td { (count(group.broken)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A case that changed, with both runs.
struct Changed<'a> {
    compared: &'a ComparedCase,
    case: &'a Case,
    a: Run<'a>,
    b: Run<'a>,
}

/// The run of a case in one of the campaigns.
struct Run<'a> {
    letter: &'static str,
    campaign: ReportedCampaign<'a>,
    outcome: &'a Outcome,
    verdict: &'a Verdict,
}

/// Writes the cases that changed, the broken ones first, as far as the limits allow.
pub(super) fn write_changes(
    comparison: &Comparison,
    a: &ReportedCampaign<'_>,
    b: &ReportedCampaign<'_>,
    limits: &HtmlLimits,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let changed = changed(comparison, a, b);
    let kinds = changed.iter().map(|changed| (changed.compared.change.as_str(), changed.compared.actions));
    page.write(&html! {
        (PreEscaped("<section aria-labelledby=\"changes\">"))
        h2 #changes { "Changed cases" }
        @if changed.is_empty() {
            p { "No case was fixed or broken, or failed in another class." }
        } @else {
            p.intro {
                "Broken ones first, then those that were fixed, then those that fail in another class. Where one run \
                 violates constraints, the words that state them are marked in the paragraph; where both do, each has its own."
            }
            (filter("Change", kinds))
        }
    })?;
    if !changed.is_empty() {
        let left_out = write_list(&changed, true, show, &mut Budget::new(limits), page)?;
        page.write(&html! {
            @if !left_out.is_empty() {
                p.note {
                    "This page has no room for " (counted(left_out.len() as u64, "further case", "further cases")) "."
                }
            }
        })?;
    }
    page.write(&PreEscaped("</section>".to_owned()))
}

fn changed<'a>(
    comparison: &'a Comparison,
    a: &ReportedCampaign<'a>,
    b: &ReportedCampaign<'a>,
) -> Vec<Changed<'a>> {
    let [outcomes_a, outcomes_b]: [HashMap<u32, &Outcome>; 2] = [a, b].map(|campaign| shown_runs(campaign));
    let run = |letter, campaign: &ReportedCampaign<'a>, outcome: Option<&&'a Outcome>| {
        let outcome = *outcome?;
        Some(Run { letter, campaign: *campaign, outcome, verdict: outcome.verdict.as_ref().ok()? })
    };
    let is_change =
        |case: &&ComparedCase| matches!(case.change, Change::Broken | Change::Fixed | Change::OtherClass);
    let infeasible = comparison.infeasible.iter().flat_map(|infeasible| &infeasible.cases);
    let mut changed: Vec<Changed<'_>> = comparison
        .cases
        .iter()
        .chain(infeasible)
        .filter(is_change)
        .filter_map(|compared| {
            Some(Changed {
                compared,
                case: a.cases.get(compared.ordinal_a as usize)?,
                a: run("A", a, outcomes_a.get(&compared.ordinal_a))?,
                b: run("B", b, outcomes_b.get(&compared.ordinal_b))?,
            })
        })
        .collect();
    changed.sort_by_key(|changed| (changed.compared.change, changed.compared.ordinal_a));
    changed
}

fn show(changed: &Changed<'_>) -> Markup {
    let Changed { compared, case, a, b } = changed;
    let change = compared.change;
    // One paragraph is enough where only one run has something to mark.
    let are_both_marked = !a.verdict.violated.is_empty() && !b.verdict.violated.is_empty();
    let marked = if a.verdict.violated.is_empty() { b } else { a };
    html! {
        details.case #(format!("case-{}", compared.ordinal_a))
            data-case=(Foreign::short(&case.id, NAME_CHARACTERS_MAX))
            data-class=(change.as_str())
            data-actions=(compared.actions)
        {
            summary {
                h3 {
                    span.class.passed[change == Change::Fixed] { (change.as_str()) } " "
                    "case " (Foreign::short(&case.id, NAME_CHARACTERS_MAX)) ", "
                    (counted(compared.actions as u64, "action", "actions"))
                } " "
                span.gist {
                    @for run in [a, b] {
                        @if !run.verdict.passed { (run.letter) ": " (run::gist(case, run.verdict)) ". " }
                    }
                }
            }
            @if !are_both_marked { (run::paragraph(case, marked.verdict)) }
            div.columns {
                (side(case, a, [compared.passed_a, compared.runs_a], are_both_marked))
                (side(case, b, [compared.passed_b, compared.runs_b], are_both_marked))
            }
        }
    }
}

/// `of_runs` is how many of the case's runs passed, and how many have a score.
fn side(case: &Case, run: &Run<'_>, of_runs: [u32; 2], has_paragraph: bool) -> Markup {
    let trace: Result<Option<Trace>, String> = run.campaign.traces.trace(run.outcome.unit());
    let verdict = run.verdict;
    html! {
        div {
            h4.side {
                span.letter.(run.letter) { (run.letter) } " "
                span.class.passed[verdict.passed] { (verdict.class.map_or("passed", planproof_synth::Class::as_str)) }
                @if run.campaign.repeats > 1 {
                    " " span.quiet { (of_runs[0]) " of " (of_runs[1]) " runs passed; repeat " (run.outcome.repeat) }
                }
            }
            @if has_paragraph { (run::paragraph(case, verdict)) }
            (run::findings(case, verdict))
            @if !verdict.violated.is_empty() { (run::violated_constraints(case, verdict)) }
            h5 { "Trace" }
            (events::trace(case, verdict, &trace))
            p.foot { (run::took(run.outcome)) ". " (command(&run.campaign.command_to_see(case, run.outcome.repeat))) }
        }
    }
}
