//! Failures with the smallest cases that have them.

use std::fmt::Write as _;

use planproof_bench::studies::{ShrinkReport, ShrunkCase};
use planproof_report::CommandLines;

use super::{Marking, marked, of_places, percent};

/// Most cases named that cannot be shrunk for the same reason.
const SKIPPED_SHOWN_MAX: usize = 10;

pub(super) fn shrinking(report: &ShrinkReport, commands: &CommandLines, marking: Marking) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "Shrunk {} failures in {} runs: {} distinct (a case fails if {} of {} runs do, in the same way)",
        report.reproduced, report.runs, report.distinct, report.options.failures, report.options.runs
    );
    for number in 1..=report.distinct {
        let alike = || report.failures.iter().filter(|failure| failure.group == Some(number));
        // Failures of one group have the same shape; the one with the fewest words is the easiest to read.
        let smallest =
            alike().min_by_key(|failure| (failure.to.actions, failure.to.constraints, failure.to.words));
        let Some(smallest) = smallest else { continue };
        let _ = writeln!(out, "\n{number}. {}", shrunk(smallest, &report.campaign, commands, marking));
        let others: Vec<&str> =
            alike().map(|it| it.case.as_str()).filter(|case| *case != smallest.case).collect();
        if !others.is_empty() {
            let noun = if others.len() == 1 { "case" } else { "cases" };
            let _ = writeln!(out, "   The same shape is left of {noun} {}.", others.join(", "));
        }
    }
    let is_gone = |it: &&ShrunkCase| it.group.is_none() && !it.is_open;
    let gone: Vec<&str> = report.failures.iter().filter(is_gone).map(|it| it.case.as_str()).collect();
    if !gone.is_empty() {
        let _ = writeln!(out, "\nDid not fail again often enough to be shrunk: {}.", gone.join(", "));
    }
    for (why, cases) in report.skipped_by_reason() {
        let more = cases.len().saturating_sub(SKIPPED_SHOWN_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = &cases[..cases.len().min(SKIPPED_SHOWN_MAX)];
        let _ = writeln!(out, "\nNot shrunk: {}{more} ({why}).", shown.join(", "));
    }
    if report.unfinished > 0 {
        let _ = writeln!(out, "\nNot finished: {}.", report.unfinished);
    }
    out
}

fn shrunk(failure: &ShrunkCase, campaign: &str, commands: &CommandLines, marking: Marking) -> String {
    let mut out = format!("{} of case {}", failure.class, failure.case);
    for (place, (noun, from, to)) in failure.sizes().into_iter().enumerate() {
        let _ = write!(out, "{} {noun} {from} to {to}", if place == 0 { ":" } else { "," });
    }
    let end = match (failure.end, failure.is_open) {
        ("minimal", _) => "",
        (_, true) => ", not finished",
        (_, false) => ", cut short by --shrink-runs",
    };
    let _ = write!(out, " ({} runs{end})", failure.runs);
    let smallest = of_places(&failure.paragraph, &failure.marks);
    let _ = write!(out, "\n   {}", marked(&smallest, marking));
    if let Some(violated) = &failure.violated {
        let _ = write!(out, "\n   Violated: {violated}.");
    }
    if !failure.plan.is_empty() {
        let _ = write!(out, "\n   Right:    {}.", failure.plan.join(", "));
    }
    if let (Some(low), Some(high)) = (failure.low, failure.high) {
        let (confirmed, runs) = (failure.confirmed, failure.confirmations);
        let (low, high) = (percent(low), percent(high));
        let _ = write!(
            out,
            "\n   Of {runs} more runs {confirmed} failed so: {low} to {high} % of all, with 95 % confidence."
        );
    }
    if let Some(example) = &failure.example {
        let repeat = (example.repeat > 0).then_some(example.repeat);
        let _ = write!(out, "\n   See it:   {}", commands.see(campaign, &example.case, repeat));
        let _ = write!(out, "\n   Again:    {}", commands.run_again(campaign, &example.case));
    }
    out
}
