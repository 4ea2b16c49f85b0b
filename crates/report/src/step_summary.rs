//! The summary that GitHub shows for a step: Markdown for the file named by `$GITHUB_STEP_SUMMARY`.
//!
//! Texts from cases, agents and servers are escaped so that they are shown literally: they cannot create a link, a
//! picture, a mention, markup or a table row.

use std::fmt::Write as _;
use std::io;

use planproof_engine::{BaselineRates, Finding, Rate, Report, pick_findings};
use planproof_suite::runs::one_line;
use planproof_suite::{Baseline, Figure, Table};

use crate::campaign::{capitalised, metric_words, servers, without_temperature};
use crate::effort::{median_run, over_limits};
use crate::explanation::{ExplanationLine, lines, short, short_in_the_middle};
use crate::{DistinctFinding, ReportedCampaign, distinct};

/// Maximum size of a summary in bytes. GitHub rejects one above 1 MiB, and nobody reads one of nearly that size.
pub const SUMMARY_BYTES_MAX: usize = 128 * 1024;

/// Maximum number of findings shown.
pub const FINDINGS_MAX: usize = 5;

/// Maximum number of cases named that have the same finding.
const SAME_MAX: usize = 5;

/// Maximum number of characters of a standalone text, such as the agent's name or a reason.
const TEXT_CHARACTERS_MAX: usize = 500;

/// Writes the summary of the campaign. The same campaign gives the same bytes. Findings that would exceed
/// [`SUMMARY_BYTES_MAX`] are left out, with a note.
///
/// # Errors
/// `out` cannot be written.
pub fn write(campaign: &ReportedCampaign<'_>, out: &mut impl io::Write) -> io::Result<()> {
    let mut summary = headline(campaign);
    // The line above has all that there is to say of predictions.
    if !campaign.is_of_predictions() {
        summary += &key_figures(campaign.report);
    }
    summary += &repeated(campaign.report);
    summary += &by_size(campaign.report);
    summary += &sections(campaign.report);
    summary += &classes(campaign.report);
    summary += &unscored(campaign);
    // Written before the findings, which get the room that it leaves.
    let end = end(campaign);
    add_findings(&mut summary, campaign, SUMMARY_BYTES_MAX.saturating_sub(end.len()));
    out.write_all(summary.as_bytes())?;
    out.write_all(end.as_bytes())
}

fn headline(campaign: &ReportedCampaign<'_>) -> String {
    let report = campaign.report;
    let mut out = format!("## planproof: {}", escaped(&report.agent));
    match &report.model {
        // The names of our own agents contain the model, as in `tools@openai/gpt-5-mini`.
        Some(model) if !report.agent.contains(model.as_str()) => {
            let _ = write!(out, " with {}", escaped(model));
        }
        _ => {}
    }
    out += "\n\n";
    if let Some(gate) = campaign.gate {
        let _ = writeln!(out, "**{}**\n", escaped(&gate.headline));
        for line in gate.lines() {
            let _ = writeln!(out, "- {}", escaped(&line));
        }
        out += "\n";
    }
    if report.simulated {
        out += "> **SIMULATION**: a simulated model planned; these figures say nothing about any real model.\n\n";
    }
    let _ = match report.success().map(rate_with_interval) {
        Some(rate) => writeln!(
            out,
            "**{} of {} passed**: {rate} per cent, with the 95 % interval in brackets.\n",
            report.passed,
            counted(report.scored(), if campaign.is_of_predictions() { "prediction" } else { "scored run" })
        ),
        None => writeln!(out, "**No run was scored.**\n"),
    };
    let noun = if report.repeats > 1 { "run" } else { "case" };
    // Only the most specific reason is given: a broken set-up and a used-up budget also leave runs that were not run.
    if let Some(why) = &report.broken_setup {
        let _ = writeln!(
            out,
            "**The set-up is broken**, and nothing can be said about the agent: the campaign was stopped when {} Not run: {}.\n",
            escape(&short_in_the_middle(&one_line(why), TEXT_CHARACTERS_MAX)),
            counted(report.all_not_run(), noun)
        );
    } else if let Some(budget) = &report.ended_by {
        let _ = writeln!(
            out,
            "The campaign was ended by its budget of {}. Not run: {}.\n",
            escaped(budget),
            counted(report.all_not_run(), noun)
        );
    } else if report.all_not_run() > 0 {
        let _ = writeln!(out, "Not run: {}.\n", counted(report.all_not_run(), noun));
    }
    if let Some(over) = report.over() {
        let _ = writeln!(out, "**Over limit**: {}.\n", escaped(&over_limits(over)));
    }
    if let Some(effort) = &report.effort {
        let _ = writeln!(out, "Median run: {}.\n", escape(&median_run(effort)));
    }
    for advice in &report.advice {
        let _ = writeln!(out, "{}\n", escape(advice));
    }
    if let Some(isolation) = &report.isolation {
        let isolation = short_in_the_middle(&one_line(&isolation.to_string()), TEXT_CHARACTERS_MAX);
        let _ = writeln!(out, "Isolation: {}.\n", escape(&isolation));
    }
    for server in servers(report) {
        let _ = writeln!(out, "Server: {}.\n", escaped(&server));
    }
    if let Some(models) = without_temperature(report) {
        let _ = writeln!(out, "Asked without a temperature, which it refused: {}.\n", escaped(&models));
    }
    for change in &report.changed_requests {
        let change = short_in_the_middle(&one_line(change), TEXT_CHARACTERS_MAX);
        let _ = writeln!(out, "{}.\n", escape(&change));
    }
    out
}

fn key_figures(report: &Report) -> String {
    let mut out =
        String::from("| Runs | Passed | Failed | Unscored | Agent time | Tokens in | Tokens out | Cost |\n");
    out += "|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
        report.runs,
        report.passed,
        report.failed,
        report.unscored,
        seconds(report.agent_seconds),
        report.tokens.map_or("unknown".to_owned(), |tokens| tokens.input.to_string()),
        report.tokens.map_or("unknown".to_owned(), |tokens| tokens.output.to_string()),
        report.cost.map_or("-".to_owned(), |dollars| format!("{dollars:.4} USD")),
    );
    out
}

/// How often all of `k` runs of a case pass.
fn repeated(report: &Report) -> String {
    let Some(repeated) = &report.repeated else { return String::new() };
    let mut out = format!(
        "### Repeats\n\nEach case is run {} times: {} passed every time, {} never, {} sometimes (flaky).\n\n",
        report.repeats, repeated.always, repeated.never, repeated.flaky
    );
    out += "| Runs (k) | Cases | All k pass, % [95 %] |\n|---:|---:|---:|\n";
    for pass in &repeated.pass_all {
        let (low, high) = (pass.low, pass.high);
        let rate =
            pass.rate.map_or_else(|| "-".to_owned(), |rate| rate_with_interval(Rate { rate, low, high }));
        let _ = writeln!(out, "| {} | {} | {rate} |", pass.k, pass.cases);
    }
    if let Some(what) = repeated.what_is_no_repeat() {
        let _ = writeln!(out, "\n{what}");
    }
    out + "\n"
}

fn by_size(report: &Report) -> String {
    if report.by_size.is_empty() {
        return String::new();
    }
    let (unit, overall) = (report.unit, report.baselines());
    let baselines: Vec<&Baseline> = overall.iter().map(|rate| rate.baseline).collect();
    let mut out = format!("### Success by number of {}\n\n", unit.many);
    let _ = write!(out, "| {} | Runs | Passed | % [95 %] |", capitalised(unit.many));
    for baseline in &baselines {
        let _ = write!(out, " {} % |", baseline.title);
    }
    let _ = writeln!(out, "\n|{}", "---:|".repeat(4 + baselines.len()));
    let mut row = |name: &str, [runs, passed]: [u64; 2], success: Option<Rate>, rates: &BaselineRates| {
        let success = success.map_or_else(|| "-".to_owned(), rate_with_interval);
        let _ = write!(out, "| {name} | {runs} | {passed} | {success} |");
        for rate in rates.iter() {
            let _ = write!(out, " {} |", rate.best().map_or("-".to_owned(), percent));
        }
        out.push('\n');
    };
    for group in &report.by_size {
        row(&group.size.to_string(), [group.runs, group.passed], group.success(), &group.baselines);
    }
    // With one size, this row would repeat the one above it.
    if report.by_size.len() > 1 {
        row("all", [report.scored(), report.passed], report.success(), &overall);
    }
    out.push('\n');
    out + &baseline_words(&baselines) + "\n"
}

/// A sentence for each baseline on how often it would pass.
fn baseline_words(baselines: &[&Baseline]) -> String {
    let words: Vec<String> =
        baselines.iter().map(|baseline| format!("{}: {}.", baseline.title, baseline.who)).collect();
    if words.is_empty() { String::new() } else { words.join(" ") + "\n" }
}

/// The suite's own sections.
fn sections(report: &Report) -> String {
    let mut out = String::new();
    if report.metrics.0.iter().any(|metric| metric.value.is_some()) {
        out += "### Figures of this kind of case\n\n| | Value | 95 % |\n|---|---:|---:|\n";
        for metric in report.metrics.0.iter().filter(|metric| metric.value.is_some()) {
            let [value, interval] = metric_words(metric);
            let _ = writeln!(out, "| {} | {value} | {interval} |", escaped(metric.title));
        }
        out.push('\n');
    }
    for section in report.sections.0.iter().filter(|section| !section.is_for_programs()) {
        let _ = writeln!(out, "### {}\n\n{}\n", escaped(section.title), escape(&section.intro));
        if !section.figures.is_empty() {
            // A Markdown table must have a header row; figures need no headings, so it is empty.
            out += "| | | |\n|---|---:|---|\n";
            for Figure { name, value, note } in section.figures.iter().filter(|it| it.has_value()) {
                let _ = writeln!(out, "| {} | {} | {} |", escaped(name), escaped(value), escaped(note));
            }
            out.push('\n');
        }
        for table in section.tables.iter().filter_map(Table::shown) {
            let line = |cells: &[String]| {
                cells.iter().map(|cell| format!(" {} |", escaped(cell))).collect::<String>()
            };
            let _ = writeln!(out, "|{}", line(&table.columns));
            let align = |place| if table.has_words(place) { "---|" } else { "---:|" };
            let _ = writeln!(out, "|{}", (0..table.columns.len()).map(align).collect::<String>());
            for row in &table.rows {
                let _ = writeln!(out, "|{}", line(row));
            }
            out.push('\n');
        }
    }
    out
}

fn classes(report: &Report) -> String {
    if report.failed == 0 {
        return String::new();
    }
    let mut classes: Vec<_> = report.classes.iter().filter(|(_, count)| **count > 0).collect();
    classes.sort_by_key(|(class, count)| (std::cmp::Reverse(**count), **class));
    let mut out = String::from("### Failures by class\n\n| Class | Runs |\n|---|---:|\n");
    for (class, count) in classes {
        let _ = writeln!(out, "| `{class}` | {count} |");
    }
    out + "\n"
}

/// Reasons for unscored runs, with examples.
fn unscored(campaign: &ReportedCampaign<'_>) -> String {
    let reason = campaign.outcomes.iter().find_map(|outcome| outcome.verdict.as_ref().err());
    let Some(reason) = reason else { return String::new() };
    let again = campaign.command_to_resume().map(|command| format!("Try again: {}\n\n", code(&command)));
    format!(
        "Unscored, because something other than the agent failed: {}, for example because of this: {}\n\n{}",
        counted(campaign.report.all_unscored(), "run"),
        escape(&short_in_the_middle(&one_line(&reason.to_string()), TEXT_CHARACTERS_MAX)),
        again.unwrap_or_default(),
    )
}

/// Adds the findings that fit.
fn add_findings(summary: &mut String, campaign: &ReportedCampaign<'_>, bytes_max: usize) {
    let findings = distinct(pick_findings(campaign.cases, campaign.outcomes, usize::MAX));
    if findings.is_empty() {
        return;
    }
    *summary += "### Findings\n\nThe smallest failures; the words that state what was violated are bold.\n\n";
    let mut left_out = 0;
    for finding in findings.iter().take(FINDINGS_MAX) {
        let text = describe(campaign, finding);
        // A shorter finding may still fit after one that does not.
        if summary.len() + text.len() + NOTE_BYTES_MAX <= bytes_max {
            *summary += &text;
        } else {
            left_out += 1;
        }
    }
    if let Some(more @ 1..) = findings.len().checked_sub(FINDINGS_MAX) {
        let _ = writeln!(
            summary,
            "*Findings 1 to {FINDINGS_MAX} of {}; {more} are not shown.*\n",
            findings.len()
        );
    }
    if left_out > 0 {
        let _ = writeln!(summary, "*Findings that are too long for this page: {left_out}.*\n");
    }
}

/// Room reserved for the notes about omitted findings.
const NOTE_BYTES_MAX: usize = 200;

fn describe(campaign: &ReportedCampaign<'_>, distinct: &DistinctFinding<'_>) -> String {
    let DistinctFinding { number, finding: Finding { case, class, verdict, alike, .. }, .. } = distinct;
    let mut out = format!(
        "#### {number}. `{}`: case {} with {}\n\n> ",
        class.as_str(),
        escaped(&case.card().id),
        campaign.sized(case.card())
    );
    let explained = case.explain(verdict);
    let paragraph: String = explained
        .pieces()
        .into_iter()
        .map(|(words, mark)| if mark.is_some() { bold(words) } else { escape(words) })
        .collect();
    // Four leading blanks would make it a code block.
    out += paragraph.trim_start();
    out += "\n\n";
    for ExplanationLine { label, text, below, .. } in lines(&explained) {
        let _ = writeln!(out, "- {label}: {}", escape(&text));
        for line in below {
            let _ = writeln!(out, "  - {}", escape(&line));
        }
    }
    if let Some(command) = campaign.command_to_see(*case, distinct.finding.repeat) {
        let _ = writeln!(out, "- see it: {}", code(&command));
    }
    if let Some(same) = distinct.more_cases(SAME_MAX) {
        let _ = writeln!(out, "- the same: {}", escape(&short_in_the_middle(&same, TEXT_CHARACTERS_MAX)));
    }
    if *alike > 1 {
        let _ = writeln!(out, "- cases that failed in this class: {alike}");
    }
    out + "\n"
}

fn end(campaign: &ReportedCampaign<'_>) -> String {
    if campaign.is_of_predictions() {
        return format!("planproof {}.\n", escape(env!("CARGO_PKG_VERSION")));
    }
    format!(
        "Seed {}, campaign {}, planproof {}.\n",
        campaign.seed,
        escaped(campaign.id),
        escape(env!("CARGO_PKG_VERSION"))
    )
}

/// A rate in per cent with its 95 % interval: "12.0 [8.8, 16.2]".
fn rate_with_interval(Rate { rate, low, high }: Rate) -> String {
    format!("{} [{}, {}]", percent(rate), percent(low), percent(high))
}

/// "1 run", "2 runs".
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn percent(rate: f64) -> String {
    format!("{:.1}", rate * 100.0)
}

fn seconds(seconds: f64) -> String {
    // From 59.95 on it would be rounded to "60.0 s".
    if seconds < 59.95 { format!("{seconds:.1} s") } else { format!("{:.1} min", seconds / 60.0) }
}

/// Escaped and of bounded length.
fn escaped(text: &str) -> String {
    escape(&short(&one_line(text), TEXT_CHARACTERS_MAX))
}

/// Bold text as an HTML element, because Markdown's own markers depend on adjacent characters.
fn bold(words: &str) -> String {
    if words.trim().is_empty() { escape(words) } else { format!("<strong>{}</strong>", escape(words)) }
}

/// A command in a code span, delimited by one backtick more than its longest run of backticks.
fn code(command: &str) -> String {
    let command: String = short(&one_line(command), TEXT_CHARACTERS_MAX).chars().map(visible).collect();
    // What lies between all other characters are the runs of backticks.
    let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Keeps a backtick at either end apart from the fence; Markdown removes one blank on each side.
    let blank = if longest > 0 { " " } else { "" };
    format!("{fence}{blank}{command}{blank}{fence}")
}

/// The replacement for a character that would break the line, or change the writing direction and so disguise the
/// text.
fn visible(character: char) -> char {
    match character {
        '\u{2028}' | '\u{2029}' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        character if character.is_control() => ' ',
        character => character,
    }
}

/// The text as GitHub shows it literally in a paragraph, a heading, a list or a table cell: on one line, with all
/// punctuation escaped.
///
/// GitHub creates links, mentions and emoji from text after Markdown parsing (`www.x`, `https://x`, `@x`, `#1`,
/// `:x:`), when the escapes are gone; an invisible word joiner breaks these patterns.
fn escape(text: &str) -> String {
    const WORD_JOINER: char = '\u{2060}';
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut last_three = ['\0'; 3];
    for character in text.chars().map(visible) {
        if character == '.' && last_three.iter().all(|c| c.eq_ignore_ascii_case(&'w')) {
            out.push(WORD_JOINER);
        }
        // CommonMark allows a backslash before any ASCII punctuation, whether it is needed there or not.
        if character.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(character);
        if matches!(character, '@' | '#' | ':') {
            out.push(WORD_JOINER);
        }
        last_three = [last_three[1], last_three[2], character];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_show_as_they_are() {
        assert_eq!(escape("a|b <i>*c*</i>\n# d"), r"a\|b \<i\>\*c\*\<\/i\> \#".to_owned() + "\u{2060} d");
        assert_eq!(escape("@x WWW.y"), "\\@\u{2060}x WWW\u{2060}\\.y");
        assert_eq!(escape("a\u{202e}b"), "a\u{fffd}b");
    }

    #[test]
    fn code_spans_hold_backticks() {
        assert_eq!(code("a b"), "`a b`");
        assert_eq!(code("a `` b"), "``` a `` b ```");
    }

    #[test]
    fn words_in_bold_are_escaped() {
        assert_eq!(bold("a*</strong>"), r"<strong>a\*\<\/strong\></strong>");
        assert_eq!(bold("  "), "  ");
    }
}
