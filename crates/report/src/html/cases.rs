//! The common parts of all lists of cases: limits on their size, and filters.

use std::collections::BTreeMap;
use std::io;

use maud::{Markup, PreEscaped, html};

use super::parts::{HtmlLimits, NAME_CHARACTERS_MAX, Page};
use super::text::{Foreign, count};
use crate::campaign::capitalised;

/// Maximum number of cases listed that share a property.
const CASES_NAMED_MAX: usize = 50;

/// The remaining room for cases.
pub(super) struct Budget {
    cases: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn new(limits: &HtmlLimits) -> Self {
        Self { cases: limits.cases_max, bytes: limits.bytes_max }
    }

    /// Whether there is room for one more case at all.
    pub(super) fn is_left(&self) -> bool {
        self.cases > 0
    }

    /// Takes one more case of this size if there is room for it. After the first that does not fit, nothing more is
    /// taken, however short, so that the cases shown are a prefix without gaps.
    fn take(&mut self, bytes: usize) -> bool {
        match (self.cases.checked_sub(1), self.bytes.checked_sub(bytes)) {
            (Some(cases), Some(bytes)) => {
                (self.cases, self.bytes) = (cases, bytes);
                true
            }
            _ => {
                self.cases = 0;
                false
            }
        }
    }
}

/// Writes a list of cases as far as the budget allows, and returns the rest. Nothing is rendered that cannot be
/// shown, except for one case that turns out too large. The script divides a list that `is_paged` into pages.
pub(super) fn write_list<'a, T>(
    cases: &'a [T],
    is_paged: bool,
    show: impl Fn(&T) -> Markup,
    budget: &mut Budget,
    page: &mut Page<'_>,
) -> io::Result<&'a [T]> {
    let mut rest = cases;
    page.write(&PreEscaped(
        if is_paged { "<div class=\"cases\" data-paged>" } else { "<div class=\"cases\">" }.to_owned(),
    ))?;
    // Rendering a case can read its trace from the store, so the budget is checked before it.
    while let Some((first, others)) = rest.split_first().filter(|_| budget.cases > 0) {
        let shown = show(first);
        if !budget.take(shown.0.len()) {
            break;
        }
        page.write(&shown)?;
        rest = others;
    }
    page.write(&PreEscaped("</div>".to_owned()))?;
    Ok(rest)
}

/// Filters for cases by kind (the `data-class` of each), size (`data-actions`, in this unit) and text. Shown only
/// if the script runs.
pub(super) fn filter(label: &str, unit: &str, cases: impl Iterator<Item = (&'static str, u32)>) -> Markup {
    let mut by_kind: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_size: BTreeMap<u32, u64> = BTreeMap::new();
    for (kind, size) in cases {
        *by_kind.entry(kind).or_default() += 1;
        *by_size.entry(size).or_default() += 1;
    }
    html! {
        form #filter role="search" aria-label="Cases" hidden {
            label {
                (label) " "
                select name="class" {
                    option value="" { "all" }
                    @for (kind, cases) in by_kind {
                        option value=(kind) { (kind) " (" (count(cases)) ")" }
                    }
                }
            }
            label {
                (capitalised(unit)) " "
                select name="actions" {
                    option value="" { "all" }
                    @for (size, cases) in by_size {
                        option value=(size) { (size) " (" (count(cases)) ")" }
                    }
                }
            }
            label.words { "Text " input type="search" name="text" placeholder="words of a query, a tool, an answer"; }
            output name="found" {}
        }
    }
}

/// Ids of cases, at most [`CASES_NAMED_MAX`] of them.
pub(super) fn named(cases: &[&str]) -> Markup {
    html! {
        @for (place, case) in cases.iter().enumerate().take(CASES_NAMED_MAX) {
            @if place > 0 { ", " }
            (Foreign::short(case, NAME_CHARACTERS_MAX))
        }
        @if let Some(more @ 1..) = cases.len().checked_sub(CASES_NAMED_MAX) { " and " (count(more as u64)) " more" }
    }
}
