//! Failures with the smallest cases that have them.

use std::fmt::Write as _;

use planproof_engine::studies::{ShrinkReport, ShrunkCase};
use planproof_output::layout::{counted, folded, percent, text};
use planproof_output::terminal;
use planproof_report::CommandLines;

use super::{Marking, marked, of_places};

/// Most cases named that cannot be shrunk for the same reason.
const SKIPPED_SHOWN_MAX: usize = 10;

pub(super) fn shrinking(report: &ShrinkReport, commands: &CommandLines, marking: Marking) -> String {
    let mut out = String::new();
    let what = format!(
        "Shrunk {} in {}: {} distinct (a case fails if {} of {} do, in the same way)",
        counted(report.reproduced, "failure"),
        counted(report.runs, "run"),
        report.distinct,
        report.options.failures,
        counted(report.options.runs, "run")
    );
    let _ = writeln!(out, "{}", text(&what));
    for number in 1..=report.distinct {
        let alike = || report.failures.iter().filter(|failure| failure.group == Some(number));
        // Failures of one group have the same shape; the one with the fewest words is the easiest to read.
        let smallest =
            alike().min_by_key(|failure| (failure.to.actions, failure.to.constraints, failure.to.words));
        let Some(smallest) = smallest else { continue };
        let _ = writeln!(out, "\n{}", shrunk(number, smallest, &report.campaign, commands, marking));
        let others: Vec<String> =
            alike().filter(|it| it.case != smallest.case).map(|it| terminal::inline(&it.case)).collect();
        if !others.is_empty() {
            let noun = if others.len() == 1 { "case" } else { "cases" };
            let same = format!("The same shape is left of {noun} {}.", others.join(", "));
            let _ = writeln!(out, "{}", folded("   ", &same, 3));
        }
    }
    let is_gone = |it: &&ShrunkCase| it.group.is_none() && !it.is_open;
    let gone: Vec<String> =
        report.failures.iter().filter(is_gone).map(|it| terminal::inline(&it.case)).collect();
    if !gone.is_empty() {
        let gone = format!("Did not fail again often enough to be shrunk: {}.", gone.join(", "));
        let _ = writeln!(out, "\n{}", text(&gone));
    }
    for (why, cases) in report.skipped_by_reason() {
        let more = cases.len().saturating_sub(SKIPPED_SHOWN_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown: Vec<String> =
            cases.iter().take(SKIPPED_SHOWN_MAX).map(|case| terminal::inline(case)).collect();
        let _ = writeln!(out, "\n{}", text(&format!("Not shrunk: {}{more} ({why}).", shown.join(", "))));
    }
    if report.unfinished > 0 {
        let _ = writeln!(out, "\nNot finished: {}.", report.unfinished);
    }
    out
}

fn shrunk(
    number: u64,
    failure: &ShrunkCase,
    campaign: &str,
    commands: &CommandLines,
    marking: Marking,
) -> String {
    let mut out = format!("{} of case {}", failure.class, terminal::inline(&failure.case));
    for (place, (noun, from, to)) in failure.sizes().into_iter().enumerate() {
        let _ = write!(out, "{} {noun} {from} to {to}", if place == 0 { ":" } else { "," });
    }
    // A minimal case is what shrinking aims at, so only another end is worth a word.
    let end = match (failure.end, failure.is_open) {
        ("minimal", _) => "",
        (_, true) => ", not finished",
        (_, false) => ", cut short by --shrink-runs",
    };
    let _ = write!(out, " ({}{end})", counted(failure.runs, "run"));
    out = folded(&format!("{number}. "), &out, 3);
    let mut line = |name: &str, text: &str| {
        out.push('\n');
        out += &folded(&format!("   {name}"), text, 3 + name.len());
    };
    let smallest = of_places(&failure.paragraph, &failure.marks);
    line("", &marked(&smallest, marking).replace('\n', " "));
    if let Some(violated) = &failure.violated {
        line("Violated: ", &format!("{}.", terminal::inline(violated)));
    }
    if !failure.plan.is_empty() {
        line("Right:    ", &format!("{}.", terminal::inline(&failure.plan.join(", "))));
    }
    if let (Some(low), Some(high)) = (failure.low, failure.high) {
        let (confirmed, runs) = (failure.confirmed, failure.confirmations);
        let (low, high) = (percent(low), percent(high));
        let share = format!("{low} to {high} % of all, with 95 % confidence");
        line("", &format!("Of {runs} more runs {confirmed} failed so: {share}."));
    }
    if let Some(example) = &failure.example {
        // `runs show` takes the first run by default.
        let repeat = (example.repeat > 0).then_some(example.repeat);
        let _ = write!(out, "\n   See it:   {}", commands.see(campaign, &example.case, repeat));
        let _ = write!(out, "\n   Again:    {}", commands.run_again(campaign, &example.case));
    }
    out
}
