//! `planproof spec`: behaviour specifications, checked, walked through, printed, drawn and made into grammars.

mod walk;

use std::io::Write as _;
use std::path::Path;

use planproof_assembly::sources;
use planproof_assembly::specifications::SpecSource;
use planproof_doors::orders::cases_of;
use planproof_live::rules::rules_of;
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::layout::counted;
use planproof_output::{progress, secrets, tell, terminal};
use planproof_report::drawing;
use planproof_spec::export::{Scope, dot, gbnf, lark, mermaid, regex};
use planproof_spec::{Automaton, Compat, Diagnostic, Loaded, Severity};
use planproof_trace::Tool;
use serde_json::{Value, json};

use crate::arguments::{
    self, DialectArguments, Global, GrammarLanguage, GraphFormat, SpecArguments, SpecCommand,
};

pub(crate) fn run(arguments: &SpecArguments, global: &Global) -> Result<ExitCode, Failure> {
    match &arguments.command {
        SpecCommand::Check { files, deny_warnings, tools, case, dialect } => {
            let tools = known_tools(tools, case.as_deref(), global)?;
            check(files, *deny_warnings, tools.as_deref(), dialect, global)
        }
        SpecCommand::Step { file, states, dialect } => walk::step(file, states, compat(dialect)),
        SpecCommand::Print { file, dialect } => print(file, dialect, global),
        SpecCommand::Graph { file, format, dialect } => graph(file, *format, dialect, global),
        SpecCommand::Compile { file, to, tools, dialect } => compile(file, *to, tools, dialect, global),
    }
}

fn compat(dialect: &DialectArguments) -> Compat {
    match dialect.compat {
        arguments::Compat::Ours => Compat::Ours,
        arguments::Compat::Original => Compat::Original,
    }
}

/// The tools that the command line names, if it names any.
pub(crate) fn known_tools(
    sources: &[String],
    case: Option<&Path>,
    global: &Global,
) -> Result<Option<Vec<Tool>>, Failure> {
    if sources.is_empty() && case.is_none() {
        return Ok(None);
    }
    let mut tools = match case {
        Some(path) => planproof_assembly::tools_of_cases(&cases_of(path)?)?,
        None => Vec::new(),
    };
    if !sources.is_empty() {
        tools.extend(sources::listed(sources, global.quiet)?);
    }
    Ok(Some(tools))
}

fn check(
    files: &[String],
    deny_warnings: bool,
    tools: Option<&[Tool]>,
    dialect: &DialectArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let mut out = terminal::results(global.json);
    let (mut bad, mut printed) = (0, Ok(()));
    for file in files {
        let source = SpecSource::find(file)?;
        let (automaton, mut diagnostics) = match source.load(compat(dialect)) {
            Ok(Loaded { automaton, warnings }) => (Some(automaton), warnings),
            Err(faulty) => (None, faulty.diagnostics),
        };
        if let (Some(automaton), Some(tools)) = (&automaton, tools) {
            diagnostics.extend(automaton.check_tools(tools));
            // Faults about tools are shown among the others, in the order of the text.
            diagnostics.sort_by_key(Diagnostic::span);
        }
        // A specification that loads may still have errors about tools.
        let has_errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let rules = automaton.as_ref().map(|automaton| source.rules(automaton.spec()));
        let has_rules = match rules.map(|path| path?.map(|path| rules_of(&path)).transpose()) {
            Some(Err(failure)) => {
                tell!("{}", failure.describe());
                false
            }
            _ => true,
        };
        let is_good =
            automaton.is_some() && !has_errors && has_rules && (diagnostics.is_empty() || !deny_warnings);
        // One unusable file does not end the command, so that all of them are reported.
        bad += usize::from(!is_good);
        let line = if global.json {
            checked(&source.name, automaton.as_deref(), &diagnostics, is_good).to_string()
        } else {
            source.show(&diagnostics);
            match automaton {
                Some(automaton) if !has_errors => {
                    format!("{}: {}", source.name, summary(&automaton, diagnostics.len()))
                }
                _ => format!("{}: {}", source.name, counted(diagnostics.len(), "fault")),
            }
        };
        // Neither does a reader who has stopped, because every file counts for the exit status.
        printed = printed.and_then(|()| writeln!(out, "{line}"));
    }
    unless_closed(printed.map_err(Failure::from))?;
    match bad {
        0 => Ok(ExitCode::Passed),
        _ => {
            Err(Failure::usage(format!("{bad} of {} cannot be used", counted(files.len(), "specification"))))
        }
    }
}

/// `7 states, 9 positions, no warnings`.
fn summary(automaton: &Automaton, warnings: usize) -> String {
    let states = counted(automaton.spec().states.len(), "state");
    let requirements = match automaton.spec().requirements.len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "requirement")),
    };
    let positions = counted(automaton.positions(), "position");
    let warnings = if warnings == 0 { "no warnings".to_owned() } else { counted(warnings, "warning") };
    format!("{states}{requirements}, {positions}, {warnings}")
}

/// One line of `spec check --json`.
fn checked(name: &str, automaton: Option<&Automaton>, diagnostics: &[Diagnostic], is_good: bool) -> Value {
    let diagnostics: Vec<Value> = diagnostics
        .iter()
        .map(|diagnostic| {
            let labels: Vec<Value> = diagnostic
                .labels
                .iter()
                .map(|label| {
                    let span = label.span;
                    json!({"start": span.start, "end": span.end, "line": span.line, "text": label.text})
                })
                .collect();
            json!({
                "code": diagnostic.code.as_str(),
                "severity": if diagnostic.severity == Severity::Error { "error" } else { "warning" },
                "message": diagnostic.message,
                "labels": labels,
                "help": diagnostic.help,
            })
        })
        .collect();
    json!({
        "spec": name,
        "usable": is_good,
        "states": automaton.map(|automaton| automaton.spec().states.len()),
        "positions": automaton.map(Automaton::positions),
        "diagnostics": diagnostics,
    })
}

fn print(file: &str, dialect: &DialectArguments, global: &Global) -> Result<ExitCode, Failure> {
    let source = SpecSource::find(file)?;
    let loaded = source.load_or_explain(compat(dialect), !global.quiet)?;
    let text = loaded.automaton.spec().to_string();
    writeln!(terminal::document(), "{}", text.trim_end())?;
    progress::say(global.quiet, &summary(&loaded.automaton, loaded.warnings.len()));
    Ok(ExitCode::Passed)
}

fn graph(
    file: &str,
    format: GraphFormat,
    dialect: &DialectArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let source = SpecSource::find(file)?;
    let Loaded { automaton, .. } = source.load_or_explain(compat(dialect), !global.quiet)?;
    let graph = match format {
        GraphFormat::Dot => dot(&automaton),
        GraphFormat::Mermaid => mermaid(&automaton),
        GraphFormat::Svg => drawing::svg(&automaton)
            .map_err(|error| Failure::usage(format!("{} cannot be drawn: {error}", source.name)))?,
    };
    write!(terminal::document(), "{graph}")?;
    Ok(ExitCode::Passed)
}

fn compile(
    file: &str,
    language: GrammarLanguage,
    tools: &[String],
    dialect: &DialectArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let source = SpecSource::find(file)?;
    let Loaded { automaton, .. } = source.load_or_explain(compat(dialect), !global.quiet)?;
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let scope = Scope { tools: (!tools.is_empty()).then_some(tools.as_slice()), ..Scope::run(&automaton) };
    let grammar = match language {
        GrammarLanguage::Regex => regex(&automaton, scope),
        GrammarLanguage::Gbnf => gbnf(&automaton, scope),
        GrammarLanguage::Lark => lark(&automaton, scope),
    };
    let grammar = grammar.map_err(|error| Failure::usage(format!("{}: {error}", source.name)))?;
    // With a mark in place of a key, it would be the grammar of another text.
    secrets::refuse_keys_in_text("the grammar", &grammar)?;
    writeln!(terminal::document(), "{}", grammar.trim_end())?;
    Ok(ExitCode::Passed)
}
