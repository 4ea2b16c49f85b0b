//! A row for each run, for spreadsheets and data frames: CSV according to RFC 4180, in UTF-8.
//!
//! | Column | Content |
//! |---|---|
//! | `case`, `repeat` | id of the case, and which repeat of it the run is, from 0 |
//! | suite's case columns | its [`Columns::of_case`](planproof_suite::Columns::of_case) |
//! | `passed` | `true` or `false`; empty if the run is unscored |
//! | `class`, `flags` | class of the failure, and all flags that apply, separated by blanks |
//! | suite's run columns | its [`Columns::of_run`](planproof_suite::Columns::of_run); empty if unscored |
//! | `wall_ms` | how long the agent took, in milliseconds; empty for predictions |
//! | `input_tokens`, `output_tokens` | as counted by servers; empty if nobody counted them |
//! | `tool_calls`, `rounds` | tool calls, and rounds in which they were made; empty for predictions |
//! | `needed_calls`, `needed_rounds` | what the case needs at the least; empty if that is unknown |
//! | `over` | what the run took more of than `--fail-over` allows; empty if nothing |
//! | `corrections`, `discarded_tokens`, `repeated_tokens` | cost of the specification; empty without one |
//! | `unscored` | why the run says nothing about the agent; empty if it is scored |
//! | `agent`, `model`, `simulated`, `campaign` | what was tested: the same in all rows, so that files can be joined; predictions have no campaign |
//!
//! A case that was not run has no row. All texts are quoted. A text that a spreadsheet would interpret as a
//! formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is prefixed with an apostrophe and so
//! stays a text.

use std::io;

use csv::{QuoteStyle, Terminator, WriterBuilder};
use planproof_engine::Outcome;
use planproof_suite::{Case, Class, Suite};

use crate::ReportedCampaign;
use crate::html::text::is_plain;
use crate::junit::{name_of, symbol_of};

/// The columns, in order.
pub fn columns(suite: &dyn Suite) -> Vec<&'static str> {
    let names = |columns: &'static [(&'static str, &'static str)]| columns.iter().map(|(name, _)| *name);
    let own = suite.columns();
    // `row` gives the values in the same order.
    ["case", "repeat"]
        .into_iter()
        .chain(names(own.of_case))
        .chain(["passed", "class", "flags"])
        .chain(names(own.of_run))
        .chain([
            "wall_ms",
            "input_tokens",
            "output_tokens",
            "tool_calls",
            "rounds",
            "needed_calls",
            "needed_rounds",
            "over",
            "corrections",
            "discarded_tokens",
            "repeated_tokens",
        ])
        .chain(["unscored", "agent", "model", "simulated", "campaign"])
        .collect()
}

/// Writes the campaign. The additional memory is bounded; the same campaign gives the same bytes.
///
/// # Errors
/// `out` cannot be written.
pub fn write(campaign: &ReportedCampaign<'_>, out: &mut impl io::Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        // In locales that use `;` as the separator, an unquoted `;` would begin a new cell, and with it a formula.
        .quote_style(QuoteStyle::NonNumeric)
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(columns(campaign.suite))?;
    for (case, _, outcome) in campaign.runs() {
        if let Some(outcome) = outcome {
            writer.write_record(row(campaign, case, outcome))?;
        }
    }
    writer.flush()
}

fn row(campaign: &ReportedCampaign<'_>, case: &dyn Case, outcome: &Outcome) -> Vec<String> {
    let report = campaign.report;
    let verdict = outcome.verdict.as_ref();
    let monitor = outcome.monitor.as_ref();
    let scored = verdict.ok().map(|verdict| &verdict.scored);
    let own = campaign.suite.columns();
    let made = (!campaign.is_of_predictions()).then_some(outcome.effort);
    let needed = case.card().needed;
    let mut row = vec![text(&case.card().id), outcome.repeat.to_string()];
    row.extend(cells(case.cells(), own.of_case.len()));
    row.extend([
        number(outcome.passed()),
        // Classes and flags are words of ours, so they need no protection from being read as formulas.
        outcome.class().map_or("", Class::as_str).to_owned(),
        scored.map_or_else(String::new, |scored| scored.flags.join(" ")),
    ]);
    row.extend(cells(
        verdict.map_or_else(|_| Vec::new(), |verdict| case.run_cells(verdict)),
        own.of_run.len(),
    ));
    row.extend([
        number((!campaign.is_of_predictions()).then_some(outcome.wall.as_millis())),
        number(report.tokens.map(|_| outcome.usage.input_tokens)),
        number(report.tokens.map(|_| outcome.usage.output_tokens)),
        number(made.map(|effort| effort.calls)),
        number(made.map(|effort| effort.rounds)),
        number(needed.map(|needed| needed.calls)),
        number(needed.and_then(|needed| needed.rounds)),
        campaign.over(case, outcome).unwrap_or_default(),
        number(monitor.map(|used| used.corrections)),
        number(monitor.map(|used| used.discarded_tokens)),
        number(monitor.map(|used| used.repeated_tokens)),
        verdict.err().map_or_else(String::new, |unscored| text(&unscored.to_string())),
        text(&report.agent),
        text(report.model.as_deref().unwrap_or_default()),
        report.simulated.to_string(),
        text(if campaign.is_of_predictions() { "" } else { campaign.id }),
    ]);
    row
}

/// A suite's own cells, padded or cut to its number of columns.
fn cells(mut cells: Vec<String>, columns: usize) -> impl Iterator<Item = String> {
    cells.resize(columns, String::new());
    cells.into_iter().map(|cell| text(&cell))
}

fn number(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// Protects the text from being interpreted as a formula, and a terminal that shows the file from what the text would
/// have it do: control characters become their symbols, and invisible ones their names.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        out.push('\'');
    }
    for character in text.chars() {
        match character {
            '\t' | '\r' | '\n' => out.push(character),
            '\0'..='\u{1f}' => out.extend(symbol_of(character)),
            hidden if !is_plain(hidden) => out += &name_of(hidden),
            _ => out.push(character),
        }
    }
    out
}
