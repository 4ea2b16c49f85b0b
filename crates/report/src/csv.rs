//! A row for each run, for spreadsheets and data frames: CSV by RFC 4180, in UTF-8.
//!
//! | Column | Holds |
//! |---|---|
//! | `case`, `repeat` | id of the case, and which repeat of it the run is, from 0 |
//! | `topic` | the job that the case is about |
//! | `actions`, `constraints` | numbers of tasks and of distinct constraints |
//! | `correct_plans`, `bits` | how many of the `n!` orders are right, and `log2(n!/correct_plans)`; empty above 20 actions; 0 and empty in infeasible cases |
//! | `one_look` | the one-look heuristics that pass the case, separated by blanks: `mention`, `reverse`, `first_word`, `most_words`, `each_sentence` |
//! | `passed` | `true` or `false`; empty if the run is unscored |
//! | `class`, `flags` | how it failed, and all that applies, as in verdict v1; flags are separated by blanks |
//! | `calls` | the tasks done, in order, separated by `; ` |
//! | `start_times` | time form only: the starts of `calls`, as `HH:MM`, separated by `; ` |
//! | `violated` | the words that state what was violated, separated by `; ` |
//! | `first_wrong_call` | place in `calls`, from 0, after which no correct plan was possible; empty if there is none |
//! | `repair` | the nearest correct plan, separated by `; `; empty where `calls` is one |
//! | `repair_start_times` | time form only: the starts of `repair` |
//! | `conflict` | infeasible cases only: the numbers of the sentences that cannot hold together, separated by `; ` |
//! | `reported`, `named` | the numbers of the sentences that the agent reported to be in conflict, and what they are beside `conflict`, as in verdict v1; empty where nothing was reported, `named` in feasible cases too |
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
use planproof_synth::{Case, Class, ConflictVerdict, Flag, OneLook, Verdict, clock_time};

use crate::ReportedCampaign;
use crate::explanation::plan;

/// The columns, in order.
pub const COLUMNS: [&str; 31] = [
    "case",
    "repeat",
    "topic",
    "actions",
    "constraints",
    "correct_plans",
    "bits",
    "one_look",
    "passed",
    "class",
    "flags",
    "calls",
    "start_times",
    "violated",
    "first_wrong_call",
    "repair",
    "repair_start_times",
    "conflict",
    "reported",
    "named",
    "wall_ms",
    "input_tokens",
    "output_tokens",
    "corrections",
    "discarded_tokens",
    "repeated_tokens",
    "unscored",
    "agent",
    "model",
    "simulated",
    "campaign",
];

/// What separates the members of a list in a cell.
const SEPARATOR: &str = "; ";

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
    writer.write_record(COLUMNS)?;
    for (case, _, outcome) in campaign.runs() {
        if let Some(outcome) = outcome {
            writer.write_record(row(campaign, case, outcome))?;
        }
    }
    writer.flush()
}

fn row(campaign: &ReportedCampaign<'_>, case: &Case, outcome: &Outcome) -> [String; COLUMNS.len()] {
    let report = campaign.report;
    let difficulty = &case.difficulty;
    let verdict = outcome.verdict.as_ref();
    let monitor = outcome.monitor.as_ref();
    let conflict = verdict.ok().and_then(|verdict| verdict.conflict.as_ref());
    let told = |tell: &dyn Fn(&Verdict) -> String| verdict.map_or(String::new(), tell);
    [
        text(&case.id),
        outcome.repeat.to_string(),
        text(&case.topic),
        difficulty.actions.to_string(),
        difficulty.constraints.to_string(),
        number(difficulty.correct_plans),
        number(difficulty.bits),
        OneLook::passing(case).map(OneLook::as_str).collect::<Vec<_>>().join(" "),
        number(outcome.passed()),
        told(&|verdict| verdict.class.map(Class::as_str).unwrap_or_default().to_owned()),
        told(&|verdict| verdict.flags.iter().map(|flag| Flag::as_str(*flag)).collect::<Vec<_>>().join(" ")),
        told(&|verdict| text(&plan(case, &verdict.calls, SEPARATOR))),
        told(&|verdict| verdict.time.as_ref().map_or(String::new(), |time| times(&time.starts))),
        told(&|verdict| text(&violated_words(verdict).join(SEPARATOR))),
        told(&|verdict| number(verdict.first_wrong_call)),
        told(&|verdict| text(&plan(case, &verdict.repair, SEPARATOR))),
        told(&|verdict| verdict.time.as_ref().map_or(String::new(), |time| times(&time.repair_starts))),
        numbers(case.conflict.as_deref().unwrap_or_default()),
        conflict.and_then(|conflict| conflict.reported.as_deref()).map_or(String::new(), numbers),
        conflict.and_then(ConflictVerdict::named).map_or(String::new(), |named| named.as_str().to_owned()),
        outcome.wall.as_millis().to_string(),
        outcome.usage.input_tokens.to_string(),
        outcome.usage.output_tokens.to_string(),
        number(monitor.map(|used| used.corrections)),
        number(monitor.map(|used| used.discarded_tokens)),
        number(monitor.map(|used| used.repeated_tokens)),
        verdict.err().map_or(String::new(), |unscored| text(&unscored.to_string())),
        text(&report.agent),
        text(report.model.as_deref().unwrap_or_default()),
        report.simulated.to_string(),
        text(campaign.id),
    ]
}

/// Times of the day, given in minutes from midnight.
fn times(minutes: &[u16]) -> String {
    minutes.iter().map(|minute| clock_time(*minute)).collect::<Vec<_>>().join(SEPARATOR)
}

fn numbers(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(SEPARATOR)
}

/// Each once: several constraints can be stated by the same words.
fn violated_words(verdict: &Verdict) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for violated in &verdict.violated {
        if !words.contains(&violated.words.as_str()) {
            words.push(&violated.words);
        }
    }
    words
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
