//! Output for people: the report table, findings with marked words, transcripts.

mod dissection;
mod findings;
mod shrinking;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::CellAlignment;
use planproof_engine::{
    BaselineRate, BaselineRates, Finding, Likeness, MonitorUse, PassAll, Rate, Repeated, Report, Spread,
    Tokens,
};
use planproof_output::layout::{
    FACT_INDENT, WIDTH, capitalised, counted, folded, labelled_line, paragraph, percent, seconds, short,
    text, text_columns, wrapped,
};
use planproof_output::table::{TextTable, table};
use planproof_output::terminal;
use planproof_report::{
    CommandLines, ExplanationLine, guard_lines, lines, median_run, metric_words, over_limits,
    short_in_the_middle,
};
use planproof_suite::{Baseline, Check, EventNote, Explanation, MISSING, Mark, SizeUnit, grouped};

use dissection::dissection;
pub(crate) use findings::Findings;
use shrinking::shrinking;

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

/// The text of a case in its lines, with the words that matter marked.
pub(crate) fn marked(explained: &Explanation, marking: Marking) -> String {
    let shown = |text: &str| text.split('\n').map(terminal::inline).collect::<Vec<_>>().join("\n");
    let pieces = explained.pieces().into_iter().map(|(text, mark)| match mark {
        Some(_) => marking.around(&shown(text)),
        None => shown(text),
    });
    pieces.collect()
}

/// The same, set off from the left; lines without a text are left out. Of several lines each has a bar before it, so
/// that no text of others begins a line of ours. They are wrapped for a terminal, and have `elsewhere` columns where
/// there is none.
pub(crate) fn marked_within(explained: &Explanation, marking: Marking, elsewhere: usize) -> String {
    let (text, width) = (marked(explained, marking), text_columns(elsewhere));
    let lines: Vec<&str> = text.split('\n').filter(|line| !line.trim().is_empty()).collect();
    let (before, indent) = if lines.len() > 1 { ("  | ", 4) } else { ("  ", 2) };
    lines.iter().map(|line| wrapped(before, line, width, indent)).collect::<Vec<_>>().join("\n")
}

/// A text with these places to be marked, which do not overlap and come in order.
pub(crate) fn of_places(text: &str, places: &[[u32; 2]]) -> Explanation {
    let mark = |[start, end]: &[u32; 2]| {
        let (checks, title) = Default::default();
        Mark { start: *start, end: *end, checks, title }
    };
    let (text, marks) = (text.to_owned(), places.iter().map(mark).collect());
    Explanation { text, marks, ..Explanation::default() }
}

/// The whole verdict except its class and the text, a line for each fact.
pub(crate) fn explanation(explained: &Explanation) -> String {
    let line = |ExplanationLine { label, text, keeps_end, below }: ExplanationLine| {
        let text = if keeps_end { one_line_with_its_end(&text) } else { terminal::inline(&text) };
        let mut out = folded(&format!("  {:<9} ", format!("{label}:")), &text, FACT_INDENT) + "\n";
        for line in below {
            let begin = line.len() - line.trim_start().len();
            let begin = " ".repeat(FACT_INDENT + begin);
            out += &folded(&begin, &terminal::inline(line.trim_start()), begin.len() + 2);
            out.push('\n');
        }
        out
    };
    lines(explained).into_iter().map(line).collect()
}

/// What was demanded, a line each, with how it fared.
pub(crate) fn checks(explained: &Explanation) -> String {
    let line = |check: &Check| {
        let [sign, word] = check.state.words();
        let [subject, demand, id] =
            [&check.subject, &check.demand, &check.id].map(|text| terminal::inline(text));
        folded(&format!("  {sign} {word:<9} "), &format!("{subject} {demand} ({id})"), 4) + "\n"
    };
    let mut out: String = explained.checks.iter().take(CHECKS_MAX).map(line).collect();
    if let Some(more @ 1..) = explained.checks.len().checked_sub(CHECKS_MAX) {
        let _ = writeln!(out, "  and {more} more");
    }
    out
}

/// Most demands of one case that are shown.
const CHECKS_MAX: usize = 200;

/// What there is to say of an event beside itself: "#2: first wrong call. Expected A.", "#3: was done before".
pub(crate) fn event_note(note: &EventNote) -> Option<String> {
    let number = note.number.map(|number| format!("#{number}: ")).unwrap_or_default();
    let wrong = note.wrong.as_ref().map(|right| format!("first wrong call. {right}").trim_end().to_owned());
    let said: Vec<String> = note.remark.map(str::to_owned).into_iter().chain(wrong).collect();
    (!said.is_empty()).then(|| format!("{number}{}", terminal::inline(&said.join("; "))))
}

/// The name of a campaign in a table of several: its agent, after the label if there is one.
pub(crate) fn labelled(label: Option<&str>, agent: &str) -> String {
    match label {
        Some(label) => format!("{}: {}", short(label, 40), short(agent, 40)),
        None => short(agent, 40),
    }
}

/// The beginning of a report: the agent, the seed of its cases if there is one, passes and failures.
pub(crate) fn result(report: &Report, seed: Option<u64>) -> String {
    let mut out = String::new();
    let model = match &report.model {
        // The names of our own agents contain their model, so it is only named for the others.
        Some(model) if !report.agent.contains(model.as_str()) => format!(" with {}", terminal::inline(model)),
        _ => String::new(),
    };
    let times = if report.repeats > 1 { format!(", each {} times", report.repeats) } else { String::new() };
    let apart = report
        .apart
        .as_ref()
        .map_or_else(String::new, |it| format!(" and {}", counted(it.cases, &format!("{} one", it.word))));
    let agent = terminal::inline(&report.agent);
    let seed = seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let _ = writeln!(
        out,
        "{}",
        text(&format!("{agent}{model}, {}{apart}{times}{seed}", counted(report.cases, "case")))
    );
    if let Some(label) = &report.label {
        let _ = writeln!(out, "{}", folded("label: ", &terminal::inline(label), 2));
    }
    // Above all figures, so that nobody takes them for those of a real model.
    if report.simulated {
        let _ = writeln!(out, "{}", simulation());
    }
    for server in planproof_report::servers(report) {
        let _ = writeln!(out, "{}", folded("server: ", &terminal::inline(&server), 2));
    }
    if let Some(isolation) = &report.isolation {
        let _ = writeln!(out, "{}", folded("isolation: ", &terminal::inline(&isolation.to_string()), 2));
    }
    let _ = write!(out, "\n{}", came_to(report));
    out
}

/// The sections of a report, which only its details show. They may be about cases that are scored apart, so they are
/// shown even if there are no others.
fn sections(report: &Report) -> impl Iterator<Item = &planproof_suite::Section> {
    let is_shown = report.all_scored() > 0;
    report.sections.0.iter().filter(move |section| is_shown && !section.is_for_programs())
}

/// Whether a report has figures that only its details show.
pub(crate) fn has_details(report: &Report) -> bool {
    report.monitor.is_some() || sections(report).next().is_some()
}

/// The rest of a report, with an empty line after each part: success by size and what was asked for; with `details`
/// also the suite's own tables, published figures and the cost of corrections. Without scored runs there are no tables.
pub(crate) fn figures(report: &Report, commands: &CommandLines, details: bool) -> String {
    let mut out = String::new();
    if report.scored() > 0 {
        // In the form with `#`, because the legend follows directly.
        let _ = writeln!(out, "{:#}", size_table(report));
        let _ = writeln!(out, "{}\n", legend(&report.baselines(), &known_baselines(report)));
        if report.metrics.0.iter().any(|metric| metric.value.is_some()) {
            let _ = writeln!(out, "{}\n", metrics_table(report));
        }
    }
    // The section about cases that are scored apart is asked for with these cases.
    let apart = report.apart.as_ref().map(|apart| apart.word.as_str());
    for section in sections(report).filter(|section| details || Some(section.key) == apart) {
        let _ = writeln!(out, "{}\n", section_lines(section));
    }
    if let Some(used) = report.monitor.as_ref().filter(|_| details) {
        let _ = writeln!(out, "{}\n", monitor_table(used));
    }
    if let Some(repeated) = &report.repeated {
        let _ = writeln!(out, "{:#}", repeats_table(repeated));
        let what = "pass^k: all of k runs of a case pass. Intervals allow for runs of one case being alike.";
        let counts = format!(
            "Cases: {} passed every time, {} never, {} sometimes (flaky).",
            repeated.always, repeated.never, repeated.flaky
        );
        let _ = writeln!(out, "{}\n{}", text(what), text(&counts));
        if let Some(what) = repeated.what_is_no_repeat() {
            let _ = writeln!(out, "{}", text(&what));
        }
        out.push('\n');
    }
    // Denied calls are called so in files and traces, and a published format keeps its words.
    if let Some(guard) = &report.guard {
        for (label, what) in guard_lines(guard) {
            let _ = writeln!(out, "{}", folded(&format!("{label}: "), &terminal::inline(&what), 2));
        }
        out.push('\n');
    } else if let Some(denied @ 1..) = report.flags.get(DENIED) {
        let _ = writeln!(out, "Denied by the guard: calls of {denied} of {} runs.\n", report.scored());
    }
    if let Some(found) = &report.dissection {
        let _ = writeln!(out, "{}", dissection(found, commands));
        if let Some(apart) = report.apart.as_ref().filter(|apart| apart.failed > 0) {
            let left = format!(
                "Not dissected: {} of {} cases, which are not errors of a plan.",
                counted(apart.failed, "failure"),
                apart.word
            );
            let _ = writeln!(out, "{}", text(&left));
        }
        out.push('\n');
    }
    if let Some(found) = &report.shrinking {
        let _ = writeln!(out, "{}\n", shrinking(found, commands, Marking::for_stdout()));
    }
    out
}

/// The flag of runs in which a guard denied a call.
const DENIED: &str = "denied";

/// Which of the suite's baselines have a value anywhere: no case with tools that fail has one.
fn known_baselines(report: &Report) -> Vec<bool> {
    let has_value =
        |rates: &BaselineRates| rates.iter().map(|rate| rate.best().is_some()).collect::<Vec<_>>();
    let mut known = has_value(&report.baselines());
    for group in &report.by_size {
        for (known, in_group) in known.iter_mut().zip(has_value(&group.baselines)) {
            *known |= in_group;
        }
    }
    known
}

/// The baselines that have a value anywhere.
fn shown<'a>(rates: &'a BaselineRates, known: &'a [bool]) -> impl Iterator<Item = &'a BaselineRate> {
    rates.iter().zip(known).filter(|(_, is_known)| **is_known).map(|(rate, _)| rate)
}

/// What the columns of success mean.
fn legend(baselines: &BaselineRates, known: &[bool]) -> String {
    let words = |baseline: &Baseline| format!(" {}: {}.", baseline.title, baseline.who);
    let baselines: String = shown(baselines, known).map(|rate| words(rate.baseline)).collect();
    paragraph(&format!("Success in per cent, with 95 % intervals.{baselines}"))
}

/// A part of the report that only this kind of case has.
pub(crate) fn section_lines(section: &planproof_suite::Section) -> String {
    // A suite writes lines where figures and tables would be less clear on a terminal.
    if !section.lines.is_empty() {
        return section.lines.join("\n");
    }
    let mut out = format!("{}\n{}", text(section.title), paragraph(&terminal::inline(&section.intro)));
    for figure in section.figures.iter().filter(|figure| figure.has_value()) {
        let (value, note) = (terminal::inline(&figure.value), terminal::inline(&figure.note));
        let note = if note.is_empty() { note } else { format!(" ({note})") };
        let _ = write!(out, "\n{}", folded(&format!("  {}: ", figure.name), &format!("{value}{note}"), 4));
    }
    for found in section.tables.iter().filter_map(planproof_suite::Table::shown) {
        let columns: Vec<&str> = found.columns.iter().map(String::as_str).collect();
        let mut table = table(&columns);
        for (place, column) in table.column_iter_mut().enumerate() {
            if found.has_words(place) {
                column.set_cell_alignment(CellAlignment::Left);
            }
        }
        for row in &found.rows {
            table.add_row(row.iter().map(|cell| terminal::inline(cell)));
        }
        out.push('\n');
        if !found.caption.is_empty() {
            let _ = write!(out, "\n{}", paragraph(&terminal::inline(&found.caption)));
        }
        let _ = write!(out, "\n{table}");
    }
    out
}

/// Figures that only this kind of case has.
fn metrics_table(report: &Report) -> TextTable {
    let mut table = table(&["Figure", "Value", "95 %"]);
    for metric in report.metrics.0.iter().filter(|metric| metric.value.is_some()) {
        let [value, interval] = metric_words(metric);
        table.add_row([metric.title.to_owned(), value, interval]);
    }
    table
}

/// The result, in a few lines: the most important figures first.
fn came_to(report: &Report) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| out += &labelled_line(name, text);
    if let Some(success) = report.success() {
        let (passed, scored) = (report.passed, report.scored());
        line("Passed:", &format!("{passed} of {scored}, {} %", rate_with_interval(success)));
    }
    if report.failed > 0 {
        line("Failed:", &format!("{} ({})", report.failed, classes_in_words(&report.classes)));
    }
    if let Some(over) = report.over() {
        line("Over limit:", &terminal::inline(&over_limits(over)));
    }
    for advice in &report.advice {
        line("Advice:", advice);
    }
    if let Some(like) = &report.behaves_like {
        line("Behaves like", &likeness(like));
    }
    // Unlike the lines above, this one and the next include cases that are scored separately, because they say what is
    // missing from the whole campaign.
    let unscored = report.all_unscored();
    if unscored > 0 {
        let runs = if unscored == 1 { "run says" } else { "runs say" };
        line("Unscored:", &format!("{unscored} {runs} nothing about the agent"));
    }
    if report.all_not_run() > 0 {
        line("Not run:", &report.all_not_run().to_string());
    }
    let wall =
        report.wall.map_or_else(String::new, |wall| format!("; wall time: {}", seconds(wall.as_secs_f64())));
    // Finished predictions took no time here.
    if report.wall.is_some() || report.agent_seconds > 0.0 {
        let per_run = report.run_seconds.map_or_else(String::new, |Spread { median, p95 }| {
            // They are known in milliseconds.
            let [median, p95] =
                [median, p95].map(|it| if it > 0.0 { seconds(it) } else { "under 1 ms".to_owned() });
            format!("; median {median}, 95th percentile {p95}")
        });
        line(
            "Agent time:",
            &format!("{}, summed over all runs{per_run}{wall}", seconds(report.agent_seconds)),
        );
    }
    if let Some(effort) = &report.effort {
        line("Median run:", &median_run(effort));
    }
    out
}

/// "calling tools in the order of mention: 30 of 30 cases agree, 100.0 [88.6, 100.0] %".
fn likeness(like: &Likeness) -> String {
    let Likeness { does, cases, alike, low, high, .. } = *like;
    let rate = alike as f64 / cases.max(1) as f64;
    format!("{does}: {alike} of {cases} cases agree, {} %", rate_with_interval(Rate { rate, low, high }))
}

/// The cost of holding a model to its specification.
fn monitor_table(used: &MonitorUse) -> TextTable {
    let mut table =
        table(&["Continuation", "Corrections", "Tokens\ndiscarded", "Tokens\nread again", "Judged by"]);
    let judges: Vec<&str> = used.judged_by.iter().map(String::as_str).collect();
    table.add_row([
        used.continuations.iter().copied().collect::<Vec<_>>().join(", "),
        grouped(used.corrections),
        grouped(used.discarded_tokens),
        grouped(used.repeated_tokens),
        if judges.is_empty() { "-".to_owned() } else { short(&judges.join(", "), 60) },
    ]);
    table
}

fn repeats_table(repeated: &Repeated) -> TextTable {
    let mut table = table(&["k", "Cases", "pass^k (% [95 %])"]);
    for PassAll { k, cases, rate, low, high } in repeated.pass_all.iter().copied() {
        let rate = rate.map(|rate| rate_with_interval(Rate { rate, low, high }));
        table.add_row([k.to_string(), cases.to_string(), rate.unwrap_or("-".to_owned())]);
    }
    table
}

fn size_table(report: &Report) -> TextTable {
    let runs = if report.repeats > 1 { "Runs" } else { "Cases" };
    let (overall, unit) = (report.baselines(), capitalised(report.unit.many));
    let mut head = vec![unit.as_str(), runs, "Passed", "% [95 %]"];
    let known = known_baselines(report);
    head.extend(shown(&overall, &known).map(|rate| rate.baseline.title));
    let mut table = table(&head);
    let mut row =
        |name: String, [runs, passed]: [u64; 2], success: Option<Rate>, baselines: &BaselineRates| {
            let success = success.map_or("-".to_owned(), rate_with_interval);
            let mut cells = vec![name, runs.to_string(), passed.to_string(), success];
            cells.extend(shown(baselines, &known).map(|rate| rate.best().map_or("-".to_owned(), percent)));
            table.add_row(cells);
        };
    for group in &report.by_size {
        row(group.size.to_string(), [group.runs, group.passed], group.success(), &group.baselines);
    }
    // With a single size its row is the sum already.
    if report.by_size.len() > 1 {
        row("all".to_owned(), [report.scored(), report.passed], report.success(), &overall);
    }
    table
}

/// All tokens of a campaign.
pub(crate) fn tokens(tokens: Option<Tokens>) -> String {
    tokens.map_or("unknown".to_owned(), |tokens| grouped(tokens.total()))
}

/// Several agents on the same cases, one per line, followed by the results of agents without a plan.
pub(crate) fn comparison(reports: &[Report]) -> String {
    // All agents had the same cases, so the baselines of one report hold for all.
    let baselines = reports.first().map(Report::baselines).unwrap_or_default();
    let mut table = table(&["Agent", "Passed", "% [95 %]", "Fails mostly by"]);
    for report in reports {
        let most = report.classes.iter().filter(|(_, count)| **count > 0).max_by_key(|(_, count)| **count);
        table.add_row([
            terminal::inline(&report.agent),
            format!("{} of {}", report.passed, report.scored()),
            report.success().map_or("-".to_owned(), rate_with_interval),
            most.map_or("-".to_owned(), |(class, _)| (*class).to_owned()),
        ]);
    }
    let mut out = format!("{table:#}\nWithout planning, on the same cases:");
    for rate in baselines.iter() {
        let Baseline { title, who, .. } = rate.baseline;
        let best = rate.best().map_or("-".to_owned(), |rate| format!("{} %", percent(rate)));
        let begin = format!("  {best:>6}  ");
        let _ = write!(out, "\n{}", wrapped(&begin, &format!("{title}: {who}."), text_columns(WIDTH), 10));
    }
    out
}

/// A rate in per cent with its 95 % interval: "12.0 [8.8, 16.2]".
pub(crate) fn rate_with_interval(Rate { rate, low, high }: Rate) -> String {
    format!("{} [{}, {}]", percent(rate), percent(low), percent(high))
}

/// Where the run of a finding is.
#[derive(Debug, Clone)]
pub(crate) enum Seen<'a> {
    /// This command shows it.
    Command(String),
    /// It is a prediction in this file.
    File(&'a str),
}

/// One finding: the marked paragraph, the calls, the right ones, and where to see it.
pub(crate) fn finding(
    number: usize,
    finding: &Finding<'_>,
    unit: SizeUnit,
    seen: Seen<'_>,
    marking: Marking,
) -> String {
    let mut out = String::new();
    let Finding { case, class, verdict, .. } = finding;
    let (card, explained) = (case.card(), case.explain(verdict));
    let what =
        format!("{}, case {} with {}", class.as_str(), terminal::inline(&card.id), sized(card.size, unit));
    let _ = writeln!(out, "{}", folded(&format!("Finding {number}: "), &what, 2));
    let _ = writeln!(out, "{}", marked_within(&explained, marking, TASK_WIDTH));
    out += &explanation(&explained);
    let _ = match seen {
        // Not wrapped, so that the command can be copied as a whole.
        Seen::Command(again) => writeln!(out, "  see it:   {again}"),
        Seen::File(file) => {
            let place = match class.as_str() {
                MISSING => format!("{file} has no prediction for it"),
                _ => format!("the prediction for {} in {file}", card.id),
            };
            writeln!(out, "{}", folded("  see it:   ", &terminal::inline(&place), FACT_INDENT))
        }
    };
    out
}

/// "5 actions".
pub(crate) fn sized(size: u32, unit: SizeUnit) -> String {
    format!("{size} {}", if size == 1 { unit.one } else { unit.many })
}

/// The text on one line of bounded length, keeping its end; texts of agents and tools can be anything.
fn one_line_with_its_end(text: &str) -> String {
    // `inline` would turn each line break into `\n`, of which the output of a program has many.
    let text = text.trim().replace(|c: char| c.is_whitespace() && c.is_control(), " ");
    short_in_the_middle(&terminal::inline(&text), 300)
}

/// Characters of a task with its indentation where stdout is not a terminal.
const TASK_WIDTH: usize = 102;

/// Stands above the figures of a simulation.
pub(crate) fn simulation() -> String {
    text("SIMULATION: a simulated model planned; this says nothing about any real model.")
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
        assert_eq!(marked(&of_places("Ünser Text hier.", &[[6, 10]]), Marking::Quotes), "Ünser «Text» hier.");
        assert_eq!(marked(&of_places("ab", &[[0, 1], [1, 2]]), Marking::Quotes), "«a»«b»");
        assert_eq!(marked(&of_places("ab", &[[1, 99]]), Marking::Quotes), "a«b»");
        let policy = of_places("Be kind.\n\nRefund \u{1b}17.", &[[10, 16]]);
        assert_eq!(marked(&policy, Marking::Quotes), "Be kind.\n\n«Refund» \\u{1b}17.");
        assert_eq!(marked_within(&policy, Marking::Quotes, 80), "  | Be kind.\n  | «Refund» \\u{1b}17.");
    }
}
