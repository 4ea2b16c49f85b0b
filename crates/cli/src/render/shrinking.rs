//! Failures with the smallest cases that have them.

use std::fmt::Write as _;

use planproof_bench::{ShrinkReport, ShrunkCase};

use super::percent;

pub(super) fn shrinking(report: &ShrinkReport) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "Shrunk {} failures in {} runs: {} distinct (a case fails if {} of {} runs do, in the same way)",
        report.reproduced, report.runs, report.distinct, report.options.failures, report.options.runs
    );
    for number in 1..=report.distinct {
        let alike = || report.failures.iter().filter(|failure| failure.group == Some(number));
        let smallest =
            alike().min_by_key(|failure| (failure.to.actions, failure.to.constraints, failure.to.words));
        if let Some(failure) = smallest {
            let more = alike().count() - 1;
            let more = if more > 0 { format!(", and {more} alike") } else { String::new() };
            let _ = writeln!(out, "\n{number}. {}{more}", shrunk(failure));
        }
    }
    let gone: Vec<&str> =
        report.failures.iter().filter(|it| it.group.is_none()).map(|it| it.case.as_str()).collect();
    if !gone.is_empty() {
        let _ = writeln!(out, "\nDid not fail again often enough to be shrunk: {}.", gone.join(", "));
    }
    for skipped in &report.skipped {
        let _ = writeln!(out, "\nCase {} cannot be shrunk: {}.", skipped.case, skipped.why);
    }
    out
}

fn shrunk(failure: &ShrunkCase) -> String {
    let ShrunkCase { from, to, .. } = failure;
    let mut out = format!(
        "{} of case {}: from {} actions to {}, from {} requirements to {}, from {} words to {}",
        failure.class,
        failure.case,
        from.actions,
        to.actions,
        from.constraints,
        to.constraints,
        from.words,
        to.words
    );
    let _ = write!(out, " ({} runs", failure.runs);
    let _ = write!(out, "{})", if failure.end == "minimal" { "" } else { ", not finished" });
    let _ = write!(out, "\n   {}", failure.paragraph);
    if let Some(violated) = &failure.violated {
        let _ = write!(out, "\n   Violated: {violated}.");
    }
    if let (Some(low), Some(high)) = (failure.low, failure.high) {
        let (confirmed, runs) = (failure.confirmed, failure.confirmations);
        let (low, high) = (percent(low), percent(high));
        let _ = write!(
            out,
            "\n   Of {runs} more runs {confirmed} failed so: {low} to {high} % of all, with 95 % confidence."
        );
    }
    out
}
