//! A row for each run, for spreadsheets and data frames: CSV by RFC 4180, in UTF-8.
//!
//! | Column | Holds |
//! |---|---|
//! | `case`, `repeat` | id of the case, and which repeat of it the run is, from 0 |
//! | what the suite says of a case | its [`Columns::of_case`](planproof_suite::Columns::of_case) |
//! | `passed` | `true` or `false`; empty if the run is unscored |
//! | `class`, `flags` | how it failed, and all that applies; flags are separated by blanks |
//! | what the suite says of a run | its [`Columns::of_run`](planproof_suite::Columns::of_run); empty if the run is unscored |
//! | `wall_ms` | how long the agent took, in milliseconds |
//! | `input_tokens`, `output_tokens` | as servers counted them; 0 for external agents |
//! | `corrections`, `discarded_tokens`, `repeated_tokens` | what it took to hold the model to its specification; empty where the agent is not made from one |
//! | `unscored` | why the run says nothing of the agent; empty if it is scored |
//! | `agent`, `model`, `simulated`, `campaign` | whom the row is of: the same in all rows, so that files can be joined |
//!
//! What was not run has no row. All texts are quoted. A text that a spreadsheet would take for a formula,
//! because it begins with `=`, `+`, `-`, `@`, a tabulator or a line break, has an apostrophe put in front of it, and so
//! stays a text.

use std::io;

use csv::{QuoteStyle, Terminator, WriterBuilder};
use planproof_bench::Outcome;
use planproof_suite::{Case, Class, Suite};

use crate::ReportedCampaign;

/// The columns, in order.
pub fn columns(suite: &dyn Suite) -> Vec<&'static str> {
    let names = |columns: &'static [(&'static str, &'static str)]| columns.iter().map(|(name, _)| *name);
    let own = suite.columns();
    ["case", "repeat"]
        .into_iter()
        .chain(names(own.of_case))
        .chain(["passed", "class", "flags"])
        .chain(names(own.of_run))
        .chain([
            "wall_ms",
            "input_tokens",
            "output_tokens",
            "corrections",
            "discarded_tokens",
            "repeated_tokens",
        ])
        .chain(["unscored", "agent", "model", "simulated", "campaign"])
        .collect()
}

/// Writes the campaign. Memory beside it is bounded; the same campaign gives the same bytes.
///
/// # Errors
/// `out` cannot be written.
pub fn write(campaign: &ReportedCampaign<'_>, out: &mut impl io::Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        // A bare `;` would begin a new cell where that is the separator of the place, and with it a formula.
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
    let mut row = vec![text(&case.card().id), outcome.repeat.to_string()];
    row.extend(cells(case.cells(), own.of_case.len()));
    row.extend([
        number(outcome.passed()),
        outcome.class().map_or("", Class::as_str).to_owned(),
        scored.map_or_else(String::new, |scored| scored.flags.join(" ")),
    ]);
    row.extend(cells(
        verdict.map_or_else(|_| Vec::new(), |verdict| case.run_cells(verdict)),
        own.of_run.len(),
    ));
    row.extend([
        outcome.wall.as_millis().to_string(),
        outcome.usage.input_tokens.to_string(),
        outcome.usage.output_tokens.to_string(),
        number(monitor.map(|used| used.corrections)),
        number(monitor.map(|used| used.discarded_tokens)),
        number(monitor.map(|used| used.repeated_tokens)),
        verdict.err().map_or_else(String::new, |unscored| text(&unscored.to_string())),
        text(&report.agent),
        text(report.model.as_deref().unwrap_or_default()),
        report.simulated.to_string(),
        text(campaign.id),
    ]);
    row
}

/// A suite's own cells, as many as it has columns.
fn cells(mut cells: Vec<String>, columns: usize) -> impl Iterator<Item = String> {
    cells.resize(columns, String::new());
    cells.into_iter().map(|cell| text(&cell))
}

fn number(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// The text, so that no spreadsheet takes it for a formula.
fn text(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}
