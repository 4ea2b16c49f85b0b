//! What people read: the report table, findings with marked words, transcripts.

mod dissection;
mod explanation;
mod shrinking;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use planproof_bench::{Finding, InfeasibleReport, MonitorUse, PassAll, Rate, Repeated, Report};
use planproof_report::{CommandLines, short_in_the_middle};
use planproof_synth::Source;

use dissection::dissection;
pub(crate) use explanation::explanation;
use shrinking::shrinking;

use crate::terminal;

/// How marked words are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marking {
    /// In colour, for a terminal.
    Colour,
    /// Between « and », for files and pipes.
    Quotes,
}

impl Marking {
    /// Colour where stdout is a terminal and `NO_COLOR` is not set.
    pub(crate) fn for_stdout() -> Self {
        if terminal::stdout_is_coloured() { Self::Colour } else { Self::Quotes }
    }

    fn around(self, text: &str) -> String {
        match self {
            Self::Colour => terminal::styled("1;31", text),
            Self::Quotes => format!("«{text}»"),
        }
    }
}

/// The paragraph in one line, with the words at `marks` marked. Marks do not overlap and come in order.
pub(crate) fn marked(paragraph: &str, marks: &[Source], marking: Marking) -> String {
    let characters: Vec<char> = paragraph.chars().collect();
    let part = |from: u32, to: u32| -> String {
        terminal::inline(
            &characters.get(from as usize..to as usize).unwrap_or_default().iter().collect::<String>(),
        )
    };
    let mut out = String::new();
    let mut at = 0;
    for mark in marks {
        out += &part(at, mark.start);
        out += &marking.around(&part(mark.start, mark.end));
        at = mark.end;
    }
    out + &part(at, characters.len() as u32)
}

/// The whole report: who, the table in the shape of the paper's Table 2, success by number of actions, classes.
pub(crate) fn report(report: &Report, commands: &CommandLines) -> String {
    let mut out = String::new();
    let model = match &report.model {
        Some(model) if !report.agent.contains(model.as_str()) => format!(" with {}", terminal::inline(model)),
        _ => String::new(),
    };
    let times = if report.repeats > 1 { format!(", each {} times", report.repeats) } else { String::new() };
    let apart = report
        .infeasible
        .as_ref()
        .map_or_else(String::new, |it| format!(" and {} infeasible ones", it.cases));
    let agent = terminal::inline(&report.agent);
    let _ = writeln!(out, "{agent}{model}, {} cases{apart}{times}", report.cases);
    if report.simulated {
        let _ = writeln!(
            out,
            "SIMULATION: a simulated model planned; these figures say nothing of any real model."
        );
    }
    let _ = writeln!(out, "\n{}", summary_table(report));
    let _ = writeln!(out, "\n{}", actions_table(report));
    let _ = writeln!(out, "{LEGEND}");
    if let Some(found) = &report.infeasible {
        let _ = writeln!(out, "\n{}\n{}", infeasible_table(report, found), INFEASIBLE_LEGEND);
        if found.acted > 0 {
            let runs = if found.acted == 1 { "run" } else { "runs" };
            let _ = writeln!(out, "Tasks were done in {} {runs} of infeasible cases.", found.acted);
        }
    }
    if let Some(used) = &report.monitor {
        let _ = writeln!(out, "\n{}", monitor_table(used));
    }
    if let Some(repeated) = &report.repeated {
        let _ = writeln!(out, "\n{}", repeats_table(repeated));
        let _ = writeln!(
            out,
            "pass^k: all of k runs of a case pass. Intervals allow for runs of one case being alike.\n\
             Cases: {} passed every time, {} never, {} sometimes (flaky).",
            repeated.always, repeated.never, repeated.flaky
        );
        if let Some(what) = repeated.what_is_no_repeat() {
            let _ = writeln!(out, "{what}");
        }
    }
    if let Some(held_back @ 1..) = report.flags.get(planproof_synth::Flag::HeldBack.as_str()) {
        let _ = writeln!(out, "\nHeld back by the guard: calls of {held_back} of {} runs.", report.scored());
    }
    if report.failed > 0 {
        let _ = writeln!(out, "\nFailures by class: {}", classes_in_words(&report.classes));
    }
    if let Some(infeasible) = report.infeasible.as_ref().filter(|infeasible| infeasible.failed > 0) {
        let _ = writeln!(out, "\nFailures of infeasible cases: {}", classes_in_words(&infeasible.classes));
    }
    if report.all_unscored() > 0 {
        let _ = writeln!(
            out,
            "\nUnscored: {} runs say nothing of the agent, because something else failed.",
            report.all_unscored()
        );
    }
    if let Some(found) = &report.dissection {
        let _ = writeln!(out, "\n{}", dissection(found, commands));
        if let Some(failed @ 1..) = report.infeasible.as_ref().map(|infeasible| infeasible.failed) {
            let _ = writeln!(
                out,
                "Not dissected: {failed} failures of infeasible cases, which are no errors of a plan."
            );
        }
    }
    if let Some(found) = &report.shrinking {
        let _ = writeln!(out, "\n{}", shrinking(found, commands, Marking::for_stdout()));
    }
    out
}

/// What the columns of success mean.
const LEGEND: &str = "Success in per cent, with 95 % intervals. Chance: a random order. In order: the order of mention. One look: the best\n\
     of five orders that one reads off the text without planning.";

/// The infeasible cases, which are in no other table.
fn infeasible_table(report: &Report, found: &InfeasibleReport) -> Table {
    let runs = if report.repeats > 1 { "Runs" } else { "Cases" };
    let mut table = table(&["Infeasible", runs, "of", "% [95 %]", "All named"]);
    let mut row = |name: &str, count: u64, all: u64, rate: Option<Rate>, baseline: Option<f64>| {
        let rate = rate.map_or("-".to_owned(), rate_with_interval);
        let baseline = baseline.map_or(String::new(), percent);
        table.add_row([name.to_owned(), count.to_string(), all.to_string(), rate, baseline]);
    };
    row("detected", found.detected, found.scored(), found.detection(), None);
    row("named exactly", found.exact, found.scored(), found.exactness(), found.all_exact);
    let alarms = found.false_alarm_rate(report.scored());
    row("false alarms", found.false_alarms, report.scored(), alarms, None);
    table
}

/// What the rows of infeasible cases mean.
const INFEASIBLE_LEGEND: &str = "Detected: a conflict was reported and no task done. All named: whoever reports all sentences. False alarms:\n\
                                 reports in feasible cases. Infeasible cases are scored apart: they are in no other rate.";

/// A line under the head and nothing else.
const HEAD_LINE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table whose columns but the first are aligned to the right.
pub(crate) fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(HEAD_LINE).set_content_arrangement(ContentArrangement::Disabled).set_header(head);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn summary_table(report: &Report) -> Table {
    let mut table = table(&[
        "Agent",
        "Generated",
        "Errors (% [95 %])",
        "Solver\ncalls",
        "Solver\ntime",
        "Synthesis\ntime",
        "Agent\ntime",
    ]);
    let errors = match report.success() {
        Some(Rate { rate, low, high }) => {
            let errors = Rate { rate: 1.0 - rate, low: 1.0 - high, high: 1.0 - low };
            format!("{} ({})", report.failed, rate_with_interval(errors))
        }
        None => "-".to_owned(),
    };
    table.add_row(vec![
        short(&report.agent, 24),
        report.runs.to_string(),
        errors,
        report.solver.calls.to_string(),
        seconds(report.solver.seconds),
        seconds(report.synthesis_seconds),
        seconds(report.agent_seconds),
    ]);
    table
}

/// What it took to hold a model to its specification.
fn monitor_table(used: &MonitorUse) -> Table {
    let mut table =
        table(&["Continuation", "Corrections", "Tokens\ndiscarded", "Tokens\nread again", "Judged by"]);
    let judges: Vec<&str> = used.judged_by.iter().map(String::as_str).collect();
    table.add_row([
        used.continuations.iter().copied().collect::<Vec<_>>().join(", "),
        used.corrections.to_string(),
        used.discarded_tokens.to_string(),
        used.repeated_tokens.to_string(),
        if judges.is_empty() { "-".to_owned() } else { short(&judges.join(", "), 60) },
    ]);
    table
}

fn repeats_table(repeated: &Repeated) -> Table {
    let mut table = table(&["k", "Cases", "pass^k (% [95 %])"]);
    for PassAll { k, cases, rate, low, high } in repeated.pass_all.iter().copied() {
        let rate = rate.map(|rate| rate_with_interval(Rate { rate, low, high }));
        table.add_row([k.to_string(), cases.to_string(), rate.unwrap_or("-".to_owned())]);
    }
    table
}

fn actions_table(report: &Report) -> Table {
    let runs = if report.repeats > 1 { "Runs" } else { "Cases" };
    let mut table = table(&["Actions", runs, "Passed", "% [95 %]", "Chance", "In order", "One look"]);
    let mut row =
        |name: String, [runs, passed]: [u64; 2], success: Option<Rate>, baselines: [Option<f64>; 3]| {
            let success = success.map_or("-".to_owned(), rate_with_interval);
            let mut cells = vec![name, runs.to_string(), passed.to_string(), success];
            cells.extend(baselines.map(|rate| rate.map_or("-".to_owned(), percent)));
            table.add_row(cells);
        };
    for group in &report.by_actions {
        let baselines = [group.chance, Some(group.in_order), group.one_look.best()];
        row(group.actions.to_string(), [group.runs, group.passed], group.success(), baselines);
    }
    if report.by_actions.len() > 1 {
        let baselines = [report.chance(), report.in_order(), report.one_look()];
        row("all".to_owned(), [report.scored(), report.passed], report.success(), baselines);
    }
    table
}

/// Several agents on the same cases, a line each.
pub(crate) fn comparison(reports: &[Report]) -> String {
    let mut table =
        table(&["Agent", "Passed", "% [95 %]", "Chance", "In order", "One look", "Fails mostly by"]);
    for report in reports {
        let most = report.classes.iter().filter(|(_, count)| **count > 0).max_by_key(|(_, count)| **count);
        table.add_row(vec![
            terminal::inline(&report.agent),
            format!("{} of {}", report.passed, report.scored()),
            report.success().map_or("-".to_owned(), rate_with_interval),
            report.chance().map_or("-".to_owned(), percent),
            report.in_order().map_or("-".to_owned(), percent),
            report.one_look().map_or("-".to_owned(), percent),
            most.map_or("-".to_owned(), |(class, _)| (*class).to_owned()),
        ]);
    }
    format!("{table}\n{LEGEND}")
}

/// A rate in per cent with its 95 % interval: "12.0 [8.8, 16.2]".
pub(crate) fn rate_with_interval(Rate { rate, low, high }: Rate) -> String {
    format!("{} [{}, {}]", percent(rate), percent(low), percent(high))
}

pub(crate) fn percent(rate: f64) -> String {
    format!("{:.1}", rate * 100.0)
}

/// A time as people read it.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{}:{:04.1}", (seconds / 60.0) as u64, seconds % 60.0)
    }
}

/// At most `most` characters, in one line, with a mark where something was left out.
pub(crate) fn short(text: &str, most: usize) -> String {
    // No more than is shown: a text from outside can be long.
    let text = terminal::inline(&text.chars().take(most + 1).collect::<String>());
    if text.chars().count() <= most {
        return text;
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// One finding: the marked paragraph, what was done, what would have been right, how to see it again.
pub(crate) fn finding(number: usize, finding: &Finding<'_>, again: &str, marking: Marking) -> String {
    let mut out = String::new();
    let Finding { case, class, verdict, marks, alike, .. } = finding;
    let plural = if *alike == 1 { "case" } else { "cases" };
    let _ = writeln!(
        out,
        "Finding {number}: {} ({alike} {plural} of this class), case {} with {} actions",
        class.as_str(),
        case.id,
        case.actions.len()
    );
    let _ = writeln!(out, "{}", indent(&wrap(&marked(&case.paragraph, marks, marking), 100)));
    out += &explanation(case, verdict);
    let _ = writeln!(out, "  see it:   {again}");
    out
}

/// The text in one line of bounded length; what an agent or a tool writes can be anything.
fn one_line(text: &str) -> String {
    short(&text.trim().replace(|c: char| c.is_whitespace() && c.is_control(), " "), 300)
}

/// The same, where the end of the text says most.
fn one_line_with_its_end(text: &str) -> String {
    let text = text.trim().replace(|c: char| c.is_whitespace() && c.is_control(), " ");
    short_in_the_middle(&terminal::inline(&text), 300)
}

/// Breaks lines at blanks so that they have at most `width` characters where words allow; styles count as none.
fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = terminal::width(word);
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// How many runs each class has, those with most first; classes without any are left out.
fn classes_in_words(classes: &BTreeMap<&'static str, u64>) -> String {
    let mut counted: Vec<_> = classes.iter().filter(|(_, count)| **count > 0).collect();
    counted.sort_by_key(|(class, count)| (std::cmp::Reverse(**count), **class));
    counted.iter().map(|(class, count)| format!("{class} {count}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_places_in_characters() {
        let mark = |start, end| Source { sentence: 0, sub_sentence: 0, start, end };
        assert_eq!(marked("Ünser Text hier.", &[mark(6, 10)], Marking::Quotes), "Ünser «Text» hier.");
        assert_eq!(marked("ab", &[mark(0, 1), mark(1, 2)], Marking::Quotes), "«a»«b»");
        assert_eq!(marked("ab", &[mark(1, 99)], Marking::Quotes), "a«»");
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrap("aa bb cc", 5), "aa bb\ncc");
        assert_eq!(wrap("aaaaaaaa b", 5), "aaaaaaaa\nb");
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(seconds(0.000_25), "250 µs");
        assert_eq!(seconds(0.25), "250.0 ms");
        assert_eq!(seconds(75.25), "1:15.2");
    }
}
