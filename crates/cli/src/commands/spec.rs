//! `planproof spec`: behaviour specifications, checked, walked through, printed, drawn and made into grammars.

use std::io::Write as _;

use planproof_report::drawing;
use planproof_spec::export::{Scope, dot, gbnf, lark, mermaid, regex};
use planproof_spec::{Automaton, Compat, Diagnostic, Entered, Loaded, Severity, StateId, Walk};
use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::{Value, json};

use super::print_json;
use crate::arguments::{
    self, DialectArguments, Global, GrammarLanguage, GraphFormat, SpecArguments, SpecCommand,
};
use crate::failure::{ExitCode, Failure};
use crate::progress;
use crate::spec_source::Source;

pub(crate) fn run(arguments: &SpecArguments, global: &Global) -> Result<ExitCode, Failure> {
    match &arguments.command {
        SpecCommand::Check { files, deny_warnings, dialect } => check(files, *deny_warnings, dialect, global),
        SpecCommand::Step { file, states, dialect } => step(file, states, dialect),
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

fn check(
    files: &[String],
    deny_warnings: bool,
    dialect: &DialectArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let mut out = std::io::stdout().lock();
    let mut bad = 0;
    for file in files {
        let source = Source::find(file)?;
        let (automaton, diagnostics) = match source.load(compat(dialect)) {
            Ok(Loaded { automaton, warnings }) => (Some(automaton), warnings),
            Err(faulty) => (None, faulty.diagnostics),
        };
        let is_good = automaton.is_some() && (diagnostics.is_empty() || !deny_warnings);
        bad += usize::from(!is_good);
        if global.json {
            writeln!(out, "{}", checked(&source.name, automaton.as_deref(), &diagnostics, is_good))?;
            continue;
        }
        source.show(&diagnostics);
        match automaton {
            Some(automaton) => writeln!(out, "{}: {}", source.name, summary(&automaton, diagnostics.len()))?,
            None => writeln!(out, "{}: {}", source.name, counted(diagnostics.len(), "fault"))?,
        }
    }
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

fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
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

fn step(file: &str, states: &[String], dialect: &DialectArguments) -> Result<ExitCode, Failure> {
    let source = Source::find(file)?;
    let compat = compat(dialect);
    let Loaded { automaton, .. } = source.load_or_explain(compat, false)?;
    let proposed = states.iter().map(|text| proposal(&automaton, text)).collect::<Result<Vec<_>, _>>()?;
    let mut walk = Walk::new(&automaton, compat);
    for (text, (state, call)) in states.iter().zip(&proposed) {
        let mut line = position(&automaton, &walk);
        let accepted = walk.enter(Entered { state: *state, call: call.as_ref() });
        line["proposed"] = json!(text);
        line["accepted"] = json!(accepted);
        print_json(&line)?;
    }
    print_json(&position(&automaton, &walk))?;
    Ok(ExitCode::Passed)
}

/// Where a walk is: what may come next, and whether it may end.
fn position(automaton: &Automaton, walk: &Walk<'_>) -> Value {
    let valid: Vec<&str> =
        walk.valid().iter().map(|state| automaton.state(*state).name.value.as_str()).collect();
    json!({ "valid": valid, "may_end": walk.may_end() })
}

/// `STATE` or `STATE=TOOL`.
fn proposal(automaton: &Automaton, text: &str) -> Result<(StateId, Option<ToolCall>), Failure> {
    let (name, tool) = match text.split_once('=') {
        Some((name, tool)) => (name.trim(), Some(tool.trim())),
        None => (text.trim(), None),
    };
    let state = automaton.state_named(name).ok_or_else(|| {
        let names: Vec<&str> =
            automaton.spec().states.iter().map(|state| state.name.value.as_str()).collect();
        Failure::usage(format!("there is no state \"{name}\"; there are {}", names.join(", ")))
    })?;
    let call = tool.map(|tool| ToolCall {
        id: CallId::new("1"),
        name: tool.to_owned(),
        arguments: Arguments::none(),
    });
    Ok((state, call))
}

fn print(file: &str, dialect: &DialectArguments, global: &Global) -> Result<ExitCode, Failure> {
    let source = Source::find(file)?;
    let loaded = source.load_or_explain(compat(dialect), !global.quiet)?;
    let text = loaded.automaton.spec().to_string();
    write!(std::io::stdout(), "{}", text.trim_end())?;
    writeln!(std::io::stdout())?;
    progress::say(global, &summary(&loaded.automaton, loaded.warnings.len()));
    Ok(ExitCode::Passed)
}

fn graph(
    file: &str,
    format: GraphFormat,
    dialect: &DialectArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let source = Source::find(file)?;
    let Loaded { automaton, .. } = source.load_or_explain(compat(dialect), !global.quiet)?;
    let graph = match format {
        GraphFormat::Dot => dot(&automaton),
        GraphFormat::Mermaid => mermaid(&automaton),
        GraphFormat::Svg => drawing::svg(&automaton)
            .map_err(|error| Failure::usage(format!("{} cannot be drawn: {error}", source.name)))?,
    };
    write!(std::io::stdout(), "{graph}")?;
    Ok(ExitCode::Passed)
}

fn compile(
    file: &str,
    language: GrammarLanguage,
    tools: &[String],
    dialect: &DialectArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let source = Source::find(file)?;
    let Loaded { automaton, .. } = source.load_or_explain(compat(dialect), !global.quiet)?;
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let scope = Scope { tools: (!tools.is_empty()).then_some(tools.as_slice()), ..Scope::run(&automaton) };
    let grammar = match language {
        GrammarLanguage::Regex => regex(&automaton, scope),
        GrammarLanguage::Gbnf => gbnf(&automaton, scope),
        GrammarLanguage::Lark => lark(&automaton, scope),
    };
    let grammar = grammar.map_err(|error| Failure::usage(format!("{}: {error}", source.name)))?;
    writeln!(std::io::stdout(), "{}", grammar.trim_end())?;
    Ok(ExitCode::Passed)
}
