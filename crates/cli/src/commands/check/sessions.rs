//! Recorded sessions held against rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use planproof_spec::rules::{Phase, RecordedEvent, RuleEnd, RuleSet};
use serde_json::{Value, json};

use crate::arguments::{CheckArguments, Global};
use crate::commands::recorded::{self, RecordedDoubts, RecordedSession};
use crate::commands::rules::rules_of;
use crate::failure::{ExitCode, Failure, unless_closed};
use crate::render::{self, counted};
use crate::terminal::{self, inline};

/// Characters of arguments that are shown.
const SHOWN_MAX: usize = 200;

pub(super) fn run(arguments: &CheckArguments, rules: &Path, global: &Global) -> Result<ExitCode, Failure> {
    let set = rules_of(rules)?;
    let (mut sessions, mut violating) = (0, 0);
    let mut by_rule: BTreeMap<usize, usize> = BTreeMap::new();
    // Every session counts for the exit status, also if the reader of stdout has stopped.
    let mut printed = Ok(());
    for file in &arguments.sessions {
        recorded::each(file, &mut |session| {
            sessions += 1;
            let mut text = String::new();
            let violated = hold(&set, &session, &mut text, global)?;
            violating += usize::from(!violated.is_empty());
            violated.into_iter().for_each(|rule| *by_rule.entry(rule).or_default() += 1);
            if printed.is_ok() {
                printed = terminal::results(global.json).write_all(text.as_bytes());
            }
            Ok(())
        })?;
    }
    if !global.json && printed.is_ok() {
        let listed: Vec<String> = by_rule
            .iter()
            .map(|(rule, count)| format!("{} {count}", inline(&set.rules()[*rule].id)))
            .collect();
        let listed = if listed.is_empty() { String::new() } else { format!(": {}", listed.join(", ")) };
        let mut out = terminal::text();
        printed = match violating {
            0 => writeln!(out, "{}, none violates a rule", counted(sessions, "session")),
            1 => writeln!(out, "{}, 1 violates rules{listed}", counted(sessions, "session")),
            _ => writeln!(out, "{}, {violating} violate rules{listed}", counted(sessions, "session")),
        };
    }
    unless_closed(printed.map_err(Failure::from))?;
    Ok(if violating == 0 { ExitCode::Passed } else { ExitCode::Failed })
}

/// Holds a session against the rules, and writes what came of it. Gives the numbers of the rules that are violated.
fn hold(
    set: &Arc<RuleSet>,
    recorded: &RecordedSession,
    text: &mut String,
    global: &Global,
) -> Result<Vec<usize>, Failure> {
    let outcomes = set
        .hold(&recorded.happened)
        .map_err(|error| Failure::usage(format!("{}: {error}", inline(&recorded.name))))?;
    let calls: Vec<&RecordedEvent> =
        recorded.happened.iter().filter(|event| event.phase == Phase::Call).collect();
    let is_held = |rule: usize| outcomes[rule].verdict.is_held_at_end();
    let violated: Vec<usize> = (0..outcomes.len()).filter(|rule| !is_held(*rule)).collect();
    if global.json {
        let rules = set.rules().iter().enumerate().map(|(number, rule)| {
            let RuleEnd { verdict, call } = outcomes[number];
            json!({ "id": rule.id, "held": is_held(number), "verdict": verdict.words(), "call": call })
        });
        let rules: Vec<Value> = rules.collect();
        let mut line = json!({ "session": recorded.name, "calls": calls.len(), "rules": rules });
        for (key, count) in doubts(&recorded.doubts).filter(|(_, count)| *count > 0) {
            line[key] = Value::from(count);
        }
        let _ = writeln!(text, "{line}");
        return Ok(violated);
    }
    let name = inline(&recorded.name);
    if violated.is_empty() {
        let _ = writeln!(text, "{name}: {}, all rules held", counted(calls.len(), "call"));
        doubts_in_words(&recorded.doubts, text);
        return Ok(violated);
    }
    let _ = writeln!(
        text,
        "{name}: {}, {} of {} violated",
        counted(calls.len(), "call"),
        violated.len(),
        counted(set.rules().len(), "rule")
    );
    doubts_in_words(&recorded.doubts, text);
    for number in &violated {
        let rule = &set.rules()[*number];
        let _ = writeln!(text, "{}", render::folded("  ", &inline(&format!("{}: {rule}", rule.id)), 4));
        match outcomes[*number].call.and_then(|at| Some((at, calls.get(at.checked_sub(1)?)?))) {
            Some((at, call)) => {
                let arguments: String = call.arguments.to_string().chars().take(SHOWN_MAX).collect();
                let _ = writeln!(
                    text,
                    "    violated at call {at}: {} {}",
                    inline(&call.tool),
                    inline(&arguments)
                );
            }
            None => {
                let _ = writeln!(text, "    not fulfilled when the session ended");
            }
        }
        if let Some(why) = &rule.why {
            let _ = writeln!(text, "{}", render::folded("    ", &inline(&format!("why: {why}")), 4));
        }
    }
    Ok(violated)
}

/// What a record leaves open, by the keys of the JSON.
fn doubts(doubts: &RecordedDoubts) -> impl Iterator<Item = (&'static str, usize)> + use<> {
    let RecordedDoubts { overlapping, unordered, without_arguments } = *doubts;
    [("overlapping", overlapping), ("unordered", unordered), ("without_arguments", without_arguments)]
        .into_iter()
}

fn doubts_in_words(doubts: &RecordedDoubts, text: &mut String) {
    let RecordedDoubts { overlapping, unordered, without_arguments } = *doubts;
    let calls = |count| counted(count, "call");
    if overlapping > 0 {
        let _ = writeln!(text, "  {} ran at the same time as others", calls(overlapping));
    }
    if unordered > 0 {
        let _ = writeln!(text, "  {} cannot be ordered: their times are equal or missing", calls(unordered));
    }
    if without_arguments > 0 {
        let _ = writeln!(
            text,
            "  {} recorded without arguments, so rules on arguments see none",
            calls(without_arguments)
        );
    }
}
