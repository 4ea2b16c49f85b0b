//! `planproof read`: from English back to constraints.

use std::io::{BufWriter, Write as _};

use miette::{LabeledSpan, MietteDiagnostic};
use planproof_order::synth::Bound;
use planproof_order::synth::read::{Directions, ReadError, Reading, read, verify};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::terminal;
use serde_json::json;

use super::arguments::ReadArguments;
use super::files::read_cases;
use crate::Globals;

pub fn run(arguments: &ReadArguments, global: &Globals) -> Result<ExitCode, Failure> {
    match (&arguments.file, &arguments.text) {
        (Some(file), _) => read_file(file, arguments.verify, global),
        (None, text) => read_text(text.as_deref().unwrap_or_default(), &arguments.task, global),
    }
}

fn read_file(file: &std::path::Path, verified: bool, global: &Globals) -> Result<ExitCode, Failure> {
    let cases = read_cases(file)?;
    let mut out = BufWriter::new(terminal::results(global.json));
    let mut wrong = 0usize;
    let mut printed: Result<(), Failure> = Ok(());
    // All of them are read even if nobody reads the output any more, because each counts for the exit status.
    for case in &cases {
        if verified {
            let result = verify(case, Directions::shipped());
            wrong += usize::from(result.is_err());
            let fault = result.err().map(|error| error.to_string());
            let line = match (global.json, fault) {
                (true, fault) => {
                    json!({"case": case.id, "verified": fault.is_none(), "fault": fault}).to_string()
                }
                (false, Some(fault)) => terminal::inline(&format!("{}: {fault}", case.id)),
                (false, None) => continue,
            };
            printed = printed.and_then(|()| writeln!(out, "{line}").map_err(Failure::from));
            continue;
        }
        let texts: Vec<&str> = case.actions.iter().map(|action| action.text.as_str()).collect();
        match read(&case.paragraph, &texts, Directions::shipped()) {
            Ok(reading) => {
                printed = printed.and_then(|()| write_reading(&mut out, &case.id, &reading, &texts, global));
            }
            Err(error) => {
                // The readings so far come before the diagnosis, which goes to stderr.
                unless_closed(printed.and_then(|()| out.flush().map_err(Failure::from)))?;
                return Err(point_at(&case.paragraph, &error));
            }
        }
    }
    if verified && !global.json {
        let (right, all) = (cases.len() - wrong, cases.len());
        let what = "cases read back as one reading that says what their constraints say";
        printed = printed.and_then(|()| writeln!(out, "{right} of {all} {what}").map_err(Failure::from));
    }
    unless_closed(printed.and_then(|()| out.flush().map_err(Failure::from)))?;
    Ok(if wrong == 0 { ExitCode::Passed } else { ExitCode::Failed })
}

fn read_text(text: &str, tasks: &[String], global: &Globals) -> Result<ExitCode, Failure> {
    let texts: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let reading = read(text, &texts, Directions::shipped()).map_err(|error| point_at(text, &error))?;
    write_reading(&mut terminal::results(global.json), "text", &reading, &texts, global)?;
    Ok(ExitCode::Passed)
}

fn write_reading(
    out: &mut impl std::io::Write,
    id: &str,
    reading: &Reading,
    texts: &[&str],
    global: &Globals,
) -> Result<(), Failure> {
    if global.json {
        let pairs: Vec<_> = reading
            .pairs
            .iter()
            .map(|pair| json!({"first": texts[pair.first], "second": texts[pair.second], "start": pair.source.start, "end": pair.source.end}))
            .collect();
        let mut document = json!({"case": id, "readings": reading.readings, "pairs": pairs});
        // Only where there are any: texts without clock times read as they always did.
        if !reading.bounds.is_empty() {
            let bounds = reading.bounds.iter().map(|it| {
                let kind = match it.bound {
                    Bound::EndsBy(_) => "ends_by",
                    Bound::StartsFrom(_) => "starts_from",
                };
                json!({"kind": kind, "action": texts[it.action], "minute": it.bound.minute(), "start": it.source.start, "end": it.source.end})
            });
            document["bounds"] = bounds.collect();
        }
        writeln!(out, "{document}")?;
        return Ok(());
    }
    let plural = if reading.readings == 1 { "reading" } else { "readings" };
    writeln!(out, "{}: {} {plural}", terminal::inline(id), reading.readings)?;
    for pair in &reading.pairs {
        writeln!(out, "  {} before {}", texts[pair.first], texts[pair.second])?;
    }
    for bound in &reading.bounds {
        writeln!(out, "  {} {}", texts[bound.action], bound.bound)?;
    }
    Ok(())
}

/// The error with the text shown and the word at fault underlined.
fn point_at(text: &str, error: &ReadError) -> Failure {
    let ReadError::Unexpected { start, end, expected, .. } = error else {
        return Failure::usage(error.to_string());
    };
    // The reader counts characters, a label takes bytes.
    let byte = |character: usize| text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte);
    let expected = format!("expected {}", expected.join(" or "));
    let label = LabeledSpan::at(byte(*start)..byte(*end), terminal::before_wrapping(&expected).into_owned());
    let diagnosis = MietteDiagnostic::new(terminal::before_wrapping(&error.to_string()))
        .with_code("planproof::read::unexpected")
        .with_label(label)
        .with_help("the grammar is that of synthesised paragraphs; name every task of the text with --task");
    Failure::Diagnosis(miette::Report::new(diagnosis).with_source_code(text.to_owned()))
}
