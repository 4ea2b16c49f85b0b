//! The causes that dissection found, in the shape of the paper's Tables 4, 5 and 7.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use comfy_table::CellAlignment;
use planproof_engine::studies::DissectionReport;
use planproof_output::layout::{counted, percent, text};
use planproof_output::table::table;
use planproof_output::terminal;
use planproof_report::CommandLines;

/// Errors listed with their causes.
const CASES_SHOWN_MAX: usize = 10;
/// Reasons for undecided failures that are listed.
const REASONS_SHOWN_MAX: usize = 5;

/// Why variants of undecided failures could not be made, with the number of these failures; most frequent first.
fn reasons(report: &DissectionReport) -> Vec<(String, u64)> {
    let undecided = report.cases.iter().filter(|case| case.cause.is_none() && !case.is_open);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for case in undecided {
        let of_case: BTreeSet<String> =
            case.impossible.iter().map(|skipped| terminal::inline(&skipped.why)).collect();
        of_case.into_iter().for_each(|why| *reasons.entry(why).or_default() += 1);
    }
    let mut reasons: Vec<(String, u64)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, failures)| Reverse(*failures));
    reasons.truncate(REASONS_SHOWN_MAX);
    reasons
}

pub(super) fn dissection(report: &DissectionReport, commands: &CommandLines) -> String {
    let mut out = String::new();
    let how = if report.original { ", as the published algorithm is printed" } else { "" };
    let what = format!(
        "Dissection of {} of {} in {} (K = {}, {}{how})",
        report.taken,
        counted(report.errors, "failure"),
        counted(report.runs, "run"),
        report.variants,
        counted(report.reruns, "rerun")
    );
    let _ = writeln!(out, "{}", text(&what));
    let mut causes = table(&["Cause", "Failures", "Share (% [95 %])", "Meaning"]);
    if let Some(meaning) = causes.column_mut(3) {
        meaning.set_cell_alignment(CellAlignment::Left);
    }
    for cause in &report.causes {
        let share = cause.share.map_or("-".to_owned(), |share| {
            format!("{} [{}, {}]", percent(share), percent(cause.low), percent(cause.high))
        });
        causes.add_row([cause.cause.to_owned(), cause.errors.to_string(), share, cause.meaning.to_owned()]);
    }
    let _ = writeln!(out, "\n{causes:#}");
    let enough = report.enough;
    // Only failures by wording are divided further.
    if enough.wordings + enough.actions + enough.either + enough.both > 0 {
        let terminal = format!(
            "Wording: other wordings alone were enough for {}, other tasks alone for {}, either for {}; {} needed both.",
            enough.wordings, enough.actions, enough.either, enough.both
        );
        let _ = writeln!(out, "{}", text(&terminal));
    }
    if report.undecided > 0 {
        let why = "For these, some kind of variant could not be made, and none of the others passed.";
        let _ = writeln!(out, "{}", text(&format!("Undecided: {}. {why}", report.undecided)));
        for (reason, failures) in reasons(report) {
            let _ = writeln!(out, "{}", text(&format!("{}: {reason}.", counted(failures, "failure"))));
        }
    }
    if report.unfinished > 0 {
        let _ = writeln!(out, "Not finished: {}.", report.unfinished);
    }
    if !report.topics.is_empty() {
        let mut topics = table(&["Topic", "Failures", "Cases"]);
        for topic in &report.topics {
            topics.add_row([
                terminal::inline(&topic.topic),
                topic.errors.to_string(),
                topic.cases.to_string(),
            ]);
        }
        let others = match report.topics_without_errors {
            0 => String::new(),
            1 => " (1 other has none)".to_owned(),
            several => format!(" ({several} others have none)"),
        };
        let _ = writeln!(out, "\nTopics with the most failures{others}\n\n{topics}");
    }
    let found: Vec<String> = report
        .cases
        .iter()
        .take(CASES_SHOWN_MAX)
        .map(|case| {
            let cause = case.cause.unwrap_or(if case.is_open { "not finished" } else { "undecided" });
            let enough = case.enough.map(|enough| format!(" ({enough})")).unwrap_or_default();
            format!("{} {cause}{enough}", terminal::inline(&case.case))
        })
        .collect();
    if !found.is_empty() {
        let more = report.cases.len() - found.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let _ = writeln!(out, "\n{}", text(&format!("By case: {}{more}.", found.join(", "))));
    }
    // A trial that passed is the evidence for a cause, so one of these serves as the example.
    if let Some(trial) = report.cases.iter().flat_map(|case| &case.trials).find(|it| it.passed == Some(true))
    {
        let _ = writeln!(
            out,
            "See a trial: {}\nAll variants with what changed: --html, --json.",
            commands.see(&report.campaign, &trial.id, None)
        );
    }
    out
}
