//! `planproof rules`: rules on the calls of a session, checked and shown by examples.

use std::io::{self, Write};
use std::path::Path;

use planproof_doors::scenarios::{tools_of, unknown};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::layout::counted;
use planproof_output::{tell, terminal, text_files};
use planproof_spec::rules::search::{Found, SampleCall};
use planproof_spec::rules::{
    CallRule, Fault, JSON_SCHEMA, Oddity, RuleMeaning, RuleSet, RulesReview, rules_tree, text_flags,
};
use serde_json::{Value, json};

use crate::arguments::{Global, RulesArguments, RulesCommand};

/// Columns of a sentence. Calls are not broken, so that they can be copied.
const WIDTH: usize = 80;
const INDENT: &str = "   ";

/// Most faults that are shown for one file; `--json` has all.
const SHOWN_MAX: usize = 50;

pub(crate) fn run(arguments: &RulesArguments, global: &Global) -> Result<ExitCode, Failure> {
    match &arguments.command {
        RulesCommand::Check { files, deny_warnings, tools } => check(files, *deny_warnings, tools, global),
        RulesCommand::Schema => {
            write!(terminal::document(), "{JSON_SCHEMA}")?;
            Ok(ExitCode::Passed)
        }
    }
}

fn check(
    files: &[String],
    deny_warnings: bool,
    tools: &[String],
    global: &Global,
) -> Result<ExitCode, Failure> {
    let known = match tools {
        [] => None,
        tools => Some(tools_of(tools, global.quiet)?),
    };
    let names: Vec<String> = known.iter().flatten().map(|tool| tool.name.clone()).collect();
    let mut out = terminal::results(global.json);
    let (mut bad, mut printed) = (0, Ok(()));
    for file in files {
        let text = text_files::read_text(Path::new(file))?;
        let read = RuleSet::read(&text).and_then(|rules| {
            let unknown = known.as_ref().map(|known| unknown(&rules, known)).unwrap_or_default();
            if unknown.is_empty() { Ok(rules) } else { Err(unknown) }
        });
        let reviewed = read.map(|rules| {
            let mut review = rules.review_with(&names);
            let flags = rules_tree(&text).map(|root| text_flags(&root, &text)).unwrap_or_default();
            review.oddities.splice(0..0, flags.into_iter().map(Oddity::Written));
            (rules, review)
        });
        // One unusable file does not end the command, so that all of them are reported.
        let is_good = reviewed
            .as_ref()
            .is_ok_and(|(_, review)| !deny_warnings || review.oddities.iter().all(Oddity::is_note));
        bad += usize::from(!is_good);
        let mut write = || match &reviewed {
            _ if global.json => writeln!(out, "{}", document(file, &reviewed, is_good)),
            Ok((rules, review)) => show(&mut out, file, rules, review),
            Err(faults) => {
                for fault in faults.iter().take(SHOWN_MAX) {
                    tell!("{file}:{fault}");
                }
                if let Some(more @ 1..) = faults.len().checked_sub(SHOWN_MAX) {
                    tell!("{file}: {} more; --json shows them", counted(more, "fault"));
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
        0 => Ok(ExitCode::Passed),
        _ => Err(Failure::usage(format!("{bad} of {} cannot be used", counted(files.len(), "rules file")))),
    }
}

fn show(out: &mut impl Write, file: &str, rules: &RuleSet, review: &RulesReview) -> io::Result<()> {
    let notes = review.oddities.iter().filter(|oddity| oddity.is_note()).count();
    let warnings = match review.oddities.len() - notes {
        0 => "no warnings".to_owned(),
        count => counted(count, "warning"),
    };
    let notes = if notes == 0 { String::new() } else { format!(", {}", counted(notes, "note")) };
    writeln!(out, "{file}: {}, {warnings}{notes}", counted(rules.rules().len(), "rule"))?;
    for (number, (rule, meaning)) in rules.rules().iter().zip(&review.meanings).enumerate() {
        writeln!(out, "\n{}", indented(&format!("{}. {}: {rule}.", number + 1, rule.id), ""))?;
        if let Some(why) = &rule.why {
            writeln!(out, "{}", indented(&format!("Why: {why}"), INDENT))?;
        }
        let RuleMeaning { violation, alone } = meaning;
        if alone == violation {
            example(out, "shortest session that violates it, and no other rule", violation)?;
        } else {
            example(out, "shortest session that violates it", violation)?;
            example(out, "shortest session that violates it, and no other rule", alone)?;
        }
    }
    if !review.oddities.is_empty() {
        writeln!(out)?;
    }
    for oddity in &review.oddities {
        writeln!(out, "{}: {oddity}", if oddity.is_note() { "note" } else { "warning" })?;
    }
    Ok(())
}

/// A paragraph of at most [`WIDTH`] columns, of which this begins the first line and blanks the others.
fn indented(text: &str, first: &str) -> String {
    let text = terminal::before_wrapping(text);
    textwrap::fill(&text, textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent(INDENT))
}

fn example(out: &mut impl Write, what: &str, found: &Found) -> io::Result<()> {
    match found {
        Found::Session(calls) if calls.is_empty() => writeln!(out, "   {what}: one without a call"),
        Found::Session(calls) => {
            writeln!(out, "   {what}:")?;
            calls.iter().try_for_each(|call| writeln!(out, "     {call}"))
        }
        Found::None => writeln!(out, "   {what}: none"),
        Found::TooMany => writeln!(out, "   {what}: none found among the values that were tried"),
    }
}

/// One line of `rules check --json`.
fn document(file: &str, reviewed: &Result<(RuleSet, RulesReview), Vec<Fault>>, is_good: bool) -> Value {
    let (rules, oddities, faults) = match reviewed {
        Ok((rules, review)) => {
            let rules =
                rules.rules().iter().zip(&review.meanings).map(|(rule, meaning)| of_rule(rule, meaning));
            (rules.collect(), review.oddities.as_slice(), Vec::new())
        }
        Err(faults) => (Vec::new(), &[][..], faults.iter().map(of_fault).collect::<Vec<Value>>()),
    };
    let rules: Vec<Value> = rules;
    let (notes, warnings): (Vec<&Oddity>, Vec<&Oddity>) =
        oddities.iter().partition(|oddity| oddity.is_note());
    let words = |oddities: &[&Oddity]| oddities.iter().map(ToString::to_string).collect::<Vec<String>>();
    json!({
        "file": file, "usable": is_good, "rules": rules, "warnings": words(&warnings), "notes": words(&notes),
        "faults": faults,
    })
}

fn of_fault(fault: &Fault) -> Value {
    let Fault { place, message, help } = fault;
    json!({ "line": place.line, "column": place.column, "message": message, "help": help })
}

fn of_rule(rule: &CallRule, meaning: &RuleMeaning) -> Value {
    let session = |found: &Found| found.session().map(SampleCall::all_to_json);
    json!({
        "id": rule.id,
        "words": rule.to_string(),
        "why": rule.why,
        "violated_by": session(&meaning.violation),
        "violated_alone_by": session(&meaning.alone),
    })
}
