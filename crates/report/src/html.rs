//! Reports as self-contained HTML files: no network, no fonts, no other files. A policy in the page allows its own
//! style, its own script, pictures embedded in it, and nothing else. Everything can be read without the script;
//! with it, the failing cases can be filtered and paged through.
//!
//! All outside text (tasks, tool names, arguments, answers, command lines) is escaped, has its invisible characters
//! replaced by their names, and is cut at a named limit.

mod agents;
mod bars;
mod cases;
mod chart;
mod comparison;
mod dissection;
mod effort;
mod events;
mod failures;
pub mod fragments;
mod graph;
mod limit;
mod map;
mod matrix;
mod page;
mod parts;
mod passed;
mod pictures;
mod run;
mod shrinking;
mod summary;
pub(crate) mod text;
mod timeline;

use std::io;

use maud::{PreEscaped, html};
use planproof_engine::LimitReport;

use crate::ReportedCampaign;
use crate::compare::Comparison;
use crate::compare::agents::AgentTable;
use crate::compare::matrix::MatrixTable;
use parts::Page;

pub use parts::{HtmlLimits, took};

/// Writes the page of a campaign: what was tested, the figures, and each failing case with its violated words
/// marked beside its trace. The smallest failure of each class comes first; only the traces shown are fetched.
/// Takes a fraction of a millisecond per failing case.
///
/// If a trace cannot be fetched, a note replaces it.
///
/// # Errors
/// Errors of `out`; nothing else fails.
pub fn write(
    campaign: &ReportedCampaign<'_>,
    limits: &HtmlLimits,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut page = Page::new(out);
    let report = campaign.report;
    page.write(&page::begin(&format!("{}: {} of {} passed", report.agent, report.passed, report.scored())))?;
    page.write(&html! {
        (summary::head(campaign))
        // Closed below: the content in between is written piece by piece.
        (PreEscaped("<main>"))
        (summary::key_figures(campaign))
        (failures::in_short(campaign))
        (summary::repeated(report))
        (summary::by_size(report))
        (effort::figures(campaign))
        (summary::sections(&report.sections))
        (summary::classes_and_flags(campaign.suite, report))
    })?;
    if let Some(found) = &report.dissection {
        dissection::write(found, limits, &mut page)?;
    }
    if let Some(found) = &report.shrinking {
        shrinking::write(found, campaign, limits, &mut page)?;
    }
    // Runs that passed get the room that the failures leave.
    let mut budget = cases::Budget::new(limits);
    failures::write(campaign, &mut budget, &mut page)?;
    passed::write(campaign, &mut budget, &mut page)?;
    page.write(&html! {
        (failures::unscored(campaign))
        (PreEscaped("</main>"))
        (page::end())
    })
}

/// Writes the page of a comparison: the results of A and B on their common cases, and each changed case with both
/// runs side by side. `a` and `b` are the compared campaigns.
///
/// If a trace cannot be fetched, a note replaces it.
///
/// # Errors
/// Errors of `out`; nothing else fails.
pub fn write_comparison(
    comparison: &Comparison,
    a: &ReportedCampaign<'_>,
    b: &ReportedCampaign<'_>,
    limits: &HtmlLimits,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut page = Page::new(out);
    let title = format!("{} and {} compared", comparison.a.agent, comparison.b.agent);
    page.write(&page::begin(&title))?;
    page.write(&html! {
        (comparison::head(comparison, a, b))
        (PreEscaped("<main>"))
        (comparison::key_figures(comparison))
        (comparison::by_size(comparison))
        (comparison::classes(comparison))
    })?;
    comparison::write_changes(comparison, a, b, limits, &mut page)?;
    page.write(&html! {
        (PreEscaped("</main>"))
        (page::end())
    })
}

/// Writes the page of an agent table.
///
/// # Errors
/// Errors of `out`; nothing else fails.
pub fn write_agents(table: &AgentTable, out: &mut dyn io::Write) -> io::Result<()> {
    let mut page = Page::new(out);
    page.write(&page::begin(&format!("{} campaigns on the same cases", table.agents.len())))?;
    page.write(&html! {
        (agents::head(table))
        main { (agents::rows(table)) (agents::drawn(table)) (agents::cases(table)) }
        (page::end())
    })
}

/// Writes the page of a matrix.
///
/// # Errors
/// Errors of `out`; nothing else fails.
pub fn write_matrix(table: &MatrixTable, out: &mut dyn io::Write) -> io::Result<()> {
    let mut page = Page::new(out);
    page.write(&page::begin(&format!("{} combinations on the same cases", table.combinations.len())))?;
    page.write(&html! {
        (matrix::head(table))
        main { (matrix::rows(table)) (summary::sections(&table.sections)) }
        (page::end())
    })
}

/// Writes the page of a search for the capability limit: the limit, success by number of actions and by difficulty
/// as drawings and tables, and the failing cases as in [`write`]. `campaign` is the campaign of the search, with
/// the runs that count.
///
/// If a trace cannot be fetched, a note replaces it.
///
/// # Errors
/// Errors of `out`; nothing else fails.
pub fn write_limit(
    report: &LimitReport,
    campaign: &ReportedCampaign<'_>,
    limits: &HtmlLimits,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut page = Page::new(out);
    page.write(&page::begin(&format!("{}: capability limit", report.campaign.agent)))?;
    page.write(&html! {
        (summary::head_of_search(campaign))
        (PreEscaped("<main>"))
        (limit::key_figures(report, campaign))
        (failures::in_short(campaign))
        (limit::by_actions(report))
        (limit::by_bits(report))
        (summary::classes_and_flags(campaign.suite, &report.campaign))
    })?;
    failures::write(campaign, &mut cases::Budget::new(limits), &mut page)?;
    page.write(&html! {
        (failures::unscored(campaign))
        (PreEscaped("</main>"))
        (page::end())
    })
}
