//! The findings of a report, and how to see those that it does not show.

use std::fmt::Write as _;
use std::sync::Arc;

use planproof_engine::{Finding, Outcome, pick_findings};
use planproof_output::layout::{FACT_INDENT, folded};
use planproof_output::terminal;
use planproof_report::{DistinctFinding, distinct};
use planproof_suite::{Case, SizeUnit};

use super::{Marking, Seen, finding};

/// Most cases named that have the same finding.
const SAME_MAX: usize = 5;

/// Distinct findings, as far as they are shown.
pub(crate) struct Findings<'a> {
    shown: Vec<DistinctFinding<'a>>,
    /// How many there are.
    all: usize,
}

impl<'a> Findings<'a> {
    /// The first `most` of a campaign.
    pub(crate) fn of(cases: &'a [Arc<dyn Case>], outcomes: &'a [Outcome], most: usize) -> Self {
        let found = distinct(pick_findings(cases, outcomes, usize::MAX));
        let all = found.len();
        Self::new(found, all, most)
    }

    /// The first `most` of these; there are `all`.
    pub(crate) fn new(mut found: Vec<DistinctFinding<'a>>, all: usize, most: usize) -> Self {
        found.truncate(most);
        Self { shown: found, all }
    }

    /// Whether there is none to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// All of them, with an empty line after each. `see` returns how to see one, and `more` the command that shows so
    /// many findings.
    pub(crate) fn text<'s>(
        &self,
        unit: SizeUnit,
        see: impl Fn(&Finding<'_>) -> Seen<'s>,
        more: impl FnOnce(usize) -> String,
    ) -> String {
        let mut out = String::new();
        for found in &self.shown {
            out += &finding(found.number, &found.finding, unit, see(&found.finding), Marking::for_stdout());
            if let Some(same) = found.more_cases(SAME_MAX) {
                out += &(folded("  the same: ", &terminal::inline(&same), FACT_INDENT) + "\n");
            }
            out.push('\n');
        }
        let shown = self.shown.len();
        if shown > 0 && shown < self.all {
            let which = if shown == 1 { "Finding 1" } else { &format!("Findings 1 to {shown}") };
            // The command stays whole.
            let _ = writeln!(out, "{which} of {}. All of them:\n  {}\n", self.all, more(self.all));
        }
        out
    }
}
