//! A timeline as a list of lists.

use maud::{Markup, html};
use planproof_suite::{Period, PeriodEntry};

use super::parts::NAME_CHARACTERS_MAX;
use super::text::{Foreign, count};

/// Maximum number of periods shown, of entries in one, and of remarks on either.
const PERIODS_MAX: usize = 40;
const ENTRIES_MAX: usize = 60;
const REMARKS_MAX: usize = 12;
/// Maximum number of characters shown of a remark.
const REMARK_CHARACTERS_MAX: usize = 300;

/// The periods one below the other, with each problem after what it concerns.
pub(super) fn list(periods: &[Period]) -> Markup {
    html! {
        ol.timeline {
            @for period in periods.iter().take(PERIODS_MAX) {
                li.period {
                    p.head {
                        b { (Foreign::short(&period.title, NAME_CHARACTERS_MAX)) } " "
                        span.sum { (Foreign::short(&period.note, NAME_CHARACTERS_MAX)) }
                    }
                    (remarks(&period.wrong))
                    ul {
                        @for entry in period.entries.iter().take(ENTRIES_MAX) { (show(entry)) }
                        @if let Some(more @ 1..) = period.entries.len().checked_sub(ENTRIES_MAX) {
                            li { "and " (count(more as u64)) " more" }
                        }
                    }
                }
            }
            @if let Some(more @ 1..) = periods.len().checked_sub(PERIODS_MAX) {
                li.period { "and " (count(more as u64)) " more" }
            }
        }
    }
}

fn show(entry: &PeriodEntry) -> Markup {
    html! {
        li.broken[!entry.wrong.is_empty()] {
            span.kind { (entry.kind) } " "
            span.said {
                @if !entry.when.is_empty() {
                    span.when { (Foreign::short(&entry.when, NAME_CHARACTERS_MAX)) } " "
                }
                (Foreign::short(&entry.text, REMARK_CHARACTERS_MAX))
            } " "
            span.sum { (Foreign::short(&entry.note, NAME_CHARACTERS_MAX)) }
            (remarks(&entry.wrong))
        }
    }
}

fn remarks(wrong: &[String]) -> Markup {
    html! {
        @for remark in wrong.iter().take(REMARKS_MAX) {
            p.remark { span aria-hidden="true" { "✗" } " " (Foreign::short(remark, REMARK_CHARACTERS_MAX)) }
        }
        @if let Some(more @ 1..) = wrong.len().checked_sub(REMARKS_MAX) {
            p.remark { "and " (count(more as u64)) " more" }
        }
    }
}
