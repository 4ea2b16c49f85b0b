//! `planproof scenario`: cases of one's own, looked at before anything runs, and first files of them.

mod draft;

use std::io::{self, Write};
use std::path::Path;

use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::layout::{counted, folded};
use planproof_output::terminal::inline;
use planproof_output::{tell, terminal, text_files};
use planproof_scenario::{CaseBlameReason, CaseDemand, CaseReview, JSON_SCHEMA};
use planproof_spec::rules::search::SampleCall;
use planproof_suite::{CaseError, Data};
use serde_json::{Value, json};

use super::arguments::{ScenarioArguments, ScenarioCommand};
use crate::{Globals, scenarios};

pub fn run(arguments: &ScenarioArguments, global: &Globals) -> Result<ExitCode, Failure> {
    match &arguments.command {
        ScenarioCommand::Check { files, deny_warnings } => check(files, *deny_warnings, global),
        ScenarioCommand::Init { tools, out } => draft::of_tools(tools, out, global),
        ScenarioCommand::FromTrace { file, accept, out } => draft::of_sessions(file, *accept, out, global),
        ScenarioCommand::FromCases { file, id, out } => draft::of_cases(file, id.as_deref(), out, global),
        ScenarioCommand::FromRules { rules, tools, cases, out } => {
            draft::of_rules(rules.as_deref(), tools, *cases, out, global)
        }
        ScenarioCommand::Schema => {
            write!(terminal::document(), "{JSON_SCHEMA}")?;
            Ok(ExitCode::Passed)
        }
    }
}

fn check(files: &[String], deny_warnings: bool, global: &Globals) -> Result<ExitCode, Failure> {
    let suite = scenarios::suite();
    let mut out = terminal::results(global.json);
    let (mut bad, mut failed, mut printed) = (0, false, Ok(()));
    for file in files {
        let text = text_files::read_text(Path::new(file))?;
        // One unusable file does not end the command, so that all of them are reported.
        let reviewed = suite.review(Data { text: &text, file });
        bad += usize::from(reviewed.is_err());
        failed |= reviewed.iter().flatten().any(|case| !is_good(case, deny_warnings));
        let mut write = || match &reviewed {
            _ if global.json => {
                let reviewed = reviewed.as_ref().map_err(Vec::as_slice);
                writeln!(out, "{}", document(file, reviewed, deny_warnings))
            }
            Ok(cases) => show(&mut out, file, cases),
            Err(faults) => {
                for fault in faults {
                    tell!("{fault}");
                }
                writeln!(out, "{file}: {}", counted(faults.len(), "fault"))
            }
        };
        // Neither does a reader who has stopped, because every file counts for the exit status.
        if printed.is_ok() {
            printed = write();
        }
    }
    unless_closed(printed.map_err(Failure::from))?;
    match bad {
        0 if failed => Ok(ExitCode::Failed),
        0 => Ok(ExitCode::Passed),
        _ => {
            Err(Failure::usage(format!("{bad} of {} cannot be used", counted(files.len(), "scenario file"))))
        }
    }
}

fn is_good(case: &CaseReview, deny_warnings: bool) -> bool {
    case.blame.is_none() && (case.oddities.is_empty() || !deny_warnings)
}

/// An expectation as people find it: its name, the words that say it, and its line.
fn named(demand: &CaseDemand) -> String {
    let words = demand.words.as_ref().map(|words| format!(" (\"{words}\")")).unwrap_or_default();
    let line = demand.place.map(|place| format!(" in line {}", place.line)).unwrap_or_default();
    format!("`{}`{words}{line}", demand.of)
}

fn show(out: &mut impl Write, file: &str, cases: &[CaseReview]) -> io::Result<()> {
    let refused = cases.iter().filter(|case| case.blame.is_some()).count();
    let warnings = cases.iter().map(|case| case.oddities.len()).sum::<usize>();
    let verdict = match refused {
        0 => String::new(),
        count => format!("{count} cannot be satisfied, "),
    };
    let warned = if warnings == 0 { "no warnings".to_owned() } else { counted(warnings, "warning") };
    let file = inline(file);
    writeln!(out, "{file}: {}, {verdict}{warned}", counted(cases.len(), "case"))?;
    for case in cases {
        writeln!(out)?;
        show_case(out, &file, case)?;
    }
    Ok(())
}

fn show_case(out: &mut impl Write, file: &str, case: &CaseReview) -> io::Result<()> {
    let id = inline(&case.id);
    if let Some(blame) = &case.blame {
        writeln!(out, "{id}: cannot be satisfied")?;
        for demand in blame.demands.iter().map(|number| &case.demands[*number]) {
            let place =
                demand.place.map_or_else(|| format!("{file}, rules"), |place| format!("{file}:{place}"));
            let words =
                demand.words.as_ref().map(|words| format!(" (\"{}\")", inline(words))).unwrap_or_default();
            let text = format!("{place}: {}: {}{words}", inline(&demand.id), inline(&demand.sentence));
            writeln!(out, "{}", folded("  ", &text, 4))?;
        }
        let (one, several) = match blame.reason {
            CaseBlameReason::World => {
                ("the world has no result that it needs", "the world has no result that they need together")
            }
            CaseBlameReason::Contradiction => {
                ("no calls that its tools take fulfil it", "they contradict one another")
            }
            CaseBlameReason::Unknown => ("no session fulfils it", "no session fulfils them together"),
        };
        return writeln!(out, "  {}", if blame.demands.len() == 1 { one } else { several });
    }
    match case.right.session() {
        Some([]) => writeln!(out, "{id}: can be satisfied, without a call")?,
        Some(calls) => {
            let fewer = if case.is_shortest { "" } else { ", perhaps with fewer" };
            let unless = if case.with_faults.is_some() { ", if no tool fails" } else { "" };
            writeln!(out, "{id}: can be satisfied, with {}{fewer}{unless}", counted(calls.len(), "call"))?;
            let has_several = case.messages.iter().any(|message| *message > 1);
            let mut before = 0;
            for (call, message) in calls.iter().zip(&case.messages) {
                if has_several && *message != before {
                    writeln!(out, "  after message {message}:")?;
                    before = *message;
                }
                writeln!(out, "  {call}")?;
            }
        }
        None => writeln!(out, "{id}: not decided")?,
    }
    if let Some(calls) = &case.with_faults {
        writeln!(out, "  with its faults, a right agent makes {}:", counted(calls.len(), "call"))?;
        for call in calls {
            writeln!(out, "    {call}")?;
        }
    }
    for oddity in &case.oddities {
        let text = case.in_words(oddity, named);
        writeln!(out, "{}", folded("  ", &format!("warning: {}", inline(&text)), 4))?;
    }
    if let Some(text) = &case.unrelated {
        writeln!(out, "{}", folded("  ", &format!("note: {}", inline(text)), 4))?;
    }
    Ok(())
}

/// One line of `scenario check --json`.
fn document(file: &str, reviewed: Result<&Vec<CaseReview>, &[CaseError]>, deny_warnings: bool) -> Value {
    match reviewed {
        Ok(cases) => {
            let usable = cases.iter().all(|case| is_good(case, deny_warnings));
            let cases: Vec<Value> = cases.iter().map(of_case).collect();
            json!({ "file": file, "usable": usable, "cases": cases, "faults": [] })
        }
        Err(faults) => {
            let faults: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
            json!({ "file": file, "usable": false, "cases": [], "faults": faults })
        }
    }
}

/// The calls of a session, each with the message that it follows if there is more than one.
fn calls_after_messages(calls: &[SampleCall], messages: &[u32]) -> Value {
    let mut listed = SampleCall::all_to_json(calls);
    if messages.iter().any(|message| *message > 1) {
        for (call, message) in listed.iter_mut().zip(messages) {
            call["message"] = (*message).into();
        }
    }
    listed.into()
}

fn of_case(case: &CaseReview) -> Value {
    let blamed = |numbers: &[usize]| -> Vec<Value> {
        let demands = numbers.iter().map(|number| &case.demands[*number]);
        demands
            .map(|demand| {
                json!({
                    "id": demand.id,
                    "demand": demand.sentence,
                    "words": demand.words,
                    "line": demand.place.map(|place| place.line),
                    "column": demand.place.map(|place| place.column),
                })
            })
            .collect()
    };
    let warnings: Vec<String> = case.oddities.iter().map(|oddity| case.in_words(oddity, named)).collect();
    json!({
        "id": case.id,
        "line": case.place.line,
        "column": case.place.column,
        // `null` where there are too many sessions to know.
        "satisfiable": match (&case.right.session(), &case.blame) {
            (Some(_), _) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        },
        "session": case.right.session().map(|calls| calls_after_messages(calls, &case.messages)),
        "is_shortest": case.right.session().map(|_| case.is_shortest),
        "session_with_faults": case.with_faults.as_deref().map(SampleCall::all_to_json),
        "to_blame": case.blame.as_ref().map(|blame| blamed(&blame.demands)),
        "world_lacks": case.blame.as_ref().and_then(|blame| match blame.reason {
            CaseBlameReason::World => Some(true),
            CaseBlameReason::Contradiction => Some(false),
            CaseBlameReason::Unknown => None,
        }),
        "warnings": warnings,
        "notes": case.unrelated.iter().collect::<Vec<_>>(),
    })
}
