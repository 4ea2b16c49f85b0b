//! Two campaigns side by side.

use std::collections::{BTreeSet, HashMap};
use std::io;

use maud::{Markup, PreEscaped, html};
use planproof_engine::Outcome;
use planproof_suite::{Case, Class, Explanation, Verdict};
use planproof_trace::Trace;

use super::cases::{Budget, filter, write_list};
use super::chart::{Point, Series, Style, success_by_size};
use super::page::{banner, top};
use super::parts::{HtmlLimits, NAME_CHARACTERS_MAX, Page};
use super::summary::{Bar, bars, figure, or_dash, origin, who};
use super::text::{Foreign, count, counted, percent_range};
use super::{events, run};
use crate::ReportedCampaign;
use crate::campaign::capitalised;
use crate::compare::{CaseChange, ComparedCampaign, ComparedCase, Comparison, Success, shown_runs};

/// Which campaigns are compared, and a banner if one of them is a simulation.
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

fn of_side(letter: &str, side: &ComparedCampaign, campaign: &ReportedCampaign<'_>) -> Markup {
    html! {
        div {
            h2 { span.letter.(letter) { (letter) } " " (Foreign::short(&side.agent, NAME_CHARACTERS_MAX)) }
            (who(campaign.suite, &side.agent, side.model.as_deref()))
            (origin(campaign))
            @if let Some(recalled) = side.recalled() { p { "Memory: " (recalled) "." } }
        }
    }
}

/// Success of both on the common cases, the difference, and the changes.
pub(super) fn key_figures(comparison: &Comparison) -> Markup {
    let success = |success: &Success| {
        html! {
            (count(success.passed)) " of " (count(success.runs)) " passed, 95 % interval "
            (percent_range(success.low, success.high))
        }
    };
    let [fixed, broken] = [CaseChange::Fixed, CaseChange::Broken].map(|change| comparison.count(change));
    let changes =
        CaseChange::ALL.map(|change| Bar::new(change.words(), meaning(change), comparison.count(change)));
    html! {
        section aria-labelledby="figures" {
            h2 #figures { "On the cases in both" }
            p.intro {
                (counted(comparison.common, "case is", "cases are")) " the same in both, and "
                (counted(comparison.scored, "has", "have")) " a score in both. "
                (others(comparison))
            }
            div.figures.pairs {
                (figure("A passed", &or_dash(comparison.a.success.rate), &success(&comparison.a.success)))
                (figure("B passed", &or_dash(comparison.b.success.rate), &success(&comparison.b.success)))
                @if comparison.is_lift {
                    (figure("Lift", &points(comparison.difference), &html! { "percentage points gained by the guard: B is A with it" }))
                } @else {
                    (figure("Difference", &points(comparison.difference), &html! { "percentage points, B minus A" }))
                }
                (figure("Fixed", &count(fixed), &html! { "failed in A, passed in B" }))
                (figure("Broken", &count(broken), &html! { "passed in A, failed in B" }))
            }
            @if let Some(p_value) = comparison.p_value {
                p.test {
                    @if fixed + broken == 0 {
                        "No case fared better in one than in the other."
                    } @else if comparison.is_repeated() {
                        "Of the " (counted(fixed + broken, "case", "cases")) " whose success differs, " (count(fixed))
                        " passed more often in B and " (count(broken))
                        " less often. If neither were better, a difference at least this large would occur with probability "
                        strong { (probability(p_value)) }
                        " (sign-flip test over cases, two-sided)."
                    } @else {
                        "Of the " (counted(fixed + broken, "case", "cases")) " that passed in only one of them, B fixed "
                        (count(fixed)) " and broke " (count(broken))
                        ". If neither were better, a split at least this uneven would occur with probability " strong { (probability(p_value)) }
                        " (exact McNemar test, two-sided)."
                    }
                }
            }
            (bars(changes, comparison.common))
            @if let Some(apart) = &comparison.apart {
                h3 { (capitalised(&apart.what)) " cases" }
                p.intro {
                    (counted(apart.common, "case that both have is", "cases that both have are"))
                    " " (apart.what) ", and in none of the other figures. "
                    (counted(apart.scored, "has", "have")) " a score in both."
                }
                div.figures.pairs {
                    (figure("A passed", &or_dash(apart.a.rate), &success(&apart.a)))
                    (figure("B passed", &or_dash(apart.b.rate), &success(&apart.b)))
                    (figure("Fixed", &count(apart.fixed), &html! { "failed in A, passed in B" }))
                    (figure("Broken", &count(apart.broken), &html! { "passed in A, failed in B" }))
                }
            }
        }
    }
}

fn others(comparison: &Comparison) -> Markup {
    html! {
        @if comparison.only_a + comparison.only_b > 0 {
            "Left out: " (counted(comparison.only_a, "case", "cases")) " only in A and " (count(comparison.only_b))
            " only in B"
            @if comparison.differing > 0 {
                ", among them " (counted(comparison.differing, "id", "ids")) " that stand for different texts"
            }
            "."
        }
    }
}

fn meaning(change: CaseChange) -> &'static str {
    match change {
        CaseChange::Broken => "Passed in A, failed in B.",
        CaseChange::Fixed => "Failed in A, passed in B.",
        CaseChange::OtherClass => "Failed in both, in different classes.",
        CaseChange::SameClass => "Failed in both, in the same class.",
        CaseChange::BothPassed => "Passed in both.",
        CaseChange::Unscored => "One or both of the runs say nothing about the agent.",
        CaseChange::NotRun => "One or both of the runs are not finished.",
    }
}

/// A cross table of how the cases ended in A and in B; empty if no case failed in either.
pub(super) fn classes(comparison: &Comparison) -> Markup {
    let scored: Vec<&ComparedCase> = comparison.cases.iter().filter(|case| case.change.is_scored()).collect();
    let failed = scored.iter().flat_map(|case| [case.class_a, case.class_b]);
    // Cases that passed in both are counted but not listed.
    let both = comparison.count(CaseChange::BothPassed);
    // `None` sorts first, so that passed cases are the first row and the first column.
    let ends: BTreeSet<Option<&str>> = failed.chain((both > 0).then_some(None)).collect();
    if ends.iter().all(Option::is_none) {
        return Markup::default();
    }
    let name = |end: &Option<&str>| end.unwrap_or("passed").to_owned();
    // The outer `None` stands for any end, for the sums of rows and columns.
    let how_often = |a: Option<Option<&str>>, b: Option<Option<&str>>| {
        let is_of = |case: &&&ComparedCase| {
            a.is_none_or(|a| a == case.class_a) && b.is_none_or(|b| b == case.class_b)
        };
        let is_passed = |end: Option<Option<&str>>| end.is_none_or(|end| end.is_none());
        let more = if is_passed(a) && is_passed(b) { both } else { 0 };
        scored.iter().filter(is_of).count() as u64 + more
    };
    let cell = |cases: u64| if cases == 0 { "·".to_owned() } else { count(cases) };
    html! {
        section aria-labelledby="classes" {
            h2 #classes { "Classes of A against B" }
            p.intro {
                "How the cases with a score in both ended: in A by row, in B by column. "
                @if comparison.is_repeated() { "If a case has several runs, the first failure counts." }
            }
            div.scroll tabindex="0" role="region" aria-label="Table of classes of A against B" {
                table {
                    thead {
                        tr {
                            th scope="col" { "A, by row; B, by column" }
                            @for end in &ends { th scope="col" { (name(end)) } }
                            th scope="col" { "A" }
                        }
                    }
                    tbody {
                        @for a in &ends {
                            tr {
                                th scope="row" { (name(a)) }
                                @for b in &ends { td { (cell(how_often(Some(*a), Some(*b)))) } }
                                td { (cell(how_often(Some(*a), None))) }
                            }
                        }
                    }
                    tfoot {
                        tr {
                            th scope="row" { "B" }
                            @for b in &ends { td { (cell(how_often(None, Some(*b)))) } }
                            td { (count(comparison.scored)) }
                        }
                    }
                }
            }
        }
    }
}

/// A difference of rates in percentage points, with its sign.
pub(super) fn points(difference: Option<f64>) -> String {
    // Adding zero turns a negative zero into a positive one.
    difference
        .map_or("–".to_owned(), |difference| format!("{:+.1}", difference * 100.0 + 0.0).replace('-', "−"))
}

pub(super) fn probability(p_value: f64) -> String {
    if p_value < 0.0001 { "below 0.0001".to_owned() } else { format!("{p_value:.4}") }
}

/// Success by size, as a drawing and as a table.
pub(super) fn by_size(comparison: &Comparison) -> Markup {
    let (groups, unit) = (&comparison.by_size, comparison.unit);
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
    let sizes: Vec<u32> = groups.iter().map(|group| group.size).collect();
    let rate = |success: &Success| {
        html! { (or_dash(success.rate)) " " span.interval { (percent_range(success.low, success.high)) } }
    };
    html! {
        section aria-labelledby="by-size" {
            h2 #by-size { "Success by number of " (unit) }
            p.intro { "With 95 % intervals, on the cases with a score in both." }
            div.beside {
                (success_by_size(unit, &sizes, &series))
                div.scroll tabindex="0" role="region" aria-label=(format!("Table of success by number of {unit}")) {
                    table.stacked {
                        thead {
                            tr {
                                @for name in [capitalised(unit).as_str(), "Cases", "A", "B", "Fixed", "Broken"] {
                                    th scope="col" { (name) }
                                }
                            }
                        }
                        tbody {
                            @for group in groups {
                                tr {
                                    th scope="row" { (group.size) }
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
    case: &'a dyn Case,
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
    let kinds = changed.iter().map(|changed| (changed.compared.change.as_str(), changed.compared.size));
    page.write(&html! {
        (PreEscaped("<section aria-labelledby=\"changes\">"))
        h2 #changes { "Changed cases" }
        @if changed.is_empty() {
            p { "No case was fixed or broken, or failed in another class." }
        } @else {
            p.intro {
                "Broken cases come first, then fixed ones, then those that fail in another class. Where one run \
                 violates constraints, the words that state them are marked in the paragraph; where the runs violate different \
                 ones, each has its own."
            }
            (filter("Change", comparison.unit, kinds))
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
    let is_change = |case: &&ComparedCase| {
        matches!(case.change, CaseChange::Broken | CaseChange::Fixed | CaseChange::OtherClass)
    };
    let apart = comparison.apart.iter().flat_map(|apart| &apart.cases);
    let mut changed: Vec<Changed<'_>> = comparison
        .cases
        .iter()
        .chain(apart)
        .filter(is_change)
        .filter_map(|compared| {
            Some(Changed {
                compared,
                case: &**a.cases.get(compared.ordinal_a as usize)?,
                a: run("A", a, outcomes_a.get(&compared.ordinal_a))?,
                b: run("B", b, outcomes_b.get(&compared.ordinal_b))?,
            })
        })
        .collect();
    // The variants of `CaseChange` are in the order of the page, broken cases first.
    changed.sort_by_key(|changed| (changed.compared.change, changed.compared.ordinal_a));
    changed
}

fn show(changed: &Changed<'_>) -> Markup {
    let Changed { compared, case, a, b } = changed;
    let change = compared.change;
    let [of_a, of_b] = [a, b].map(|run| case.explain(run.verdict));
    // One text is enough if only one run has something to mark.
    let are_both_marked = of_a.marks != of_b.marks && !of_a.marks.is_empty() && !of_b.marks.is_empty();
    let marked = if of_a.marks.is_empty() { &of_b } else { &of_a };
    html! {
        details.case #(format!("case-{}", compared.ordinal_a))
            data-case=(Foreign::short(&case.card().id, NAME_CHARACTERS_MAX))
            data-class=(change.as_str())
            data-actions=(compared.size)
        {
            summary {
                h3 {
                    span.class.passed[change == CaseChange::Fixed] { (change.words()) } " "
                    "case " (Foreign::short(&case.card().id, NAME_CHARACTERS_MAX)) ", "
                    (a.campaign.sized(case.card()))
                } " "
                span.gist {
                    @for (run, explained) in [(a, &of_a), (b, &of_b)] {
                        @if !run.verdict.passed() { (run.letter) ": " (run::gist(explained)) ". " }
                    }
                }
            }
            @if !are_both_marked { (run::text(marked)) }
            div.columns {
                (side(*case, a, &of_a, [compared.passed_a, compared.runs_a], are_both_marked))
                (side(*case, b, &of_b, [compared.passed_b, compared.runs_b], are_both_marked))
            }
        }
    }
}

/// `of_runs` contains the numbers of passed runs and of scored runs of the case.
fn side(
    case: &dyn Case,
    run: &Run<'_>,
    explained: &Explanation,
    of_runs: [u32; 2],
    has_text: bool,
) -> Markup {
    let trace: Result<Option<Trace>, String> = run.campaign.traces.trace(run.outcome.unit());
    let verdict = run.verdict;
    html! {
        div {
            h4.side {
                span.letter.(run.letter) { (run.letter) } " "
                span.class.passed[verdict.passed()] { (verdict.class().map_or("passed", Class::as_str)) }
                @if run.campaign.repeats > 1 {
                    " " span.quiet { (of_runs[0]) " of " (of_runs[1]) " runs passed; repeat " (run.outcome.repeat) }
                }
            }
            @if has_text { (run::text(explained)) }
            (run::facts(explained))
            @if explained.checks.iter().any(|check| check.state.is_broken()) { (run::broken_checks(explained)) }
            h5 { "Trace" }
            (events::trace(case, verdict, &trace))
            (super::parts::foot(&run.campaign, case, run.outcome))
        }
    }
}
