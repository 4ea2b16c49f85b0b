//! Recorded sessions held against rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use planproof_spec::rules::{Phase, RecordedEvent, RuleEnd, RuleSet};
use serde_json::{Value, json};

use crate::arguments::{CheckArguments, Global};
use crate::commands::recorded::{self, RecordedSession};
use crate::commands::rules::rules_of;
use crate::failure::{ExitCode, Failure, unless_closed};
use crate::render::{self, counted};
use crate::terminal::{self, inline};

/// Characters of arguments that are shown.
const SHOWN_MAX: usize = 200;

pub(super) fn run(arguments: &CheckArguments, rules: &Path, global: &Global) -> Result<ExitCode, Failure> {
    let set = rules_of(rules)?;
    let (mut text, mut sessions, mut violating) = (String::new(), 0, 0);
    let mut by_rule: BTreeMap<usize, usize> = BTreeMap::new();
    for file in &arguments.sessions {
        for session in recorded::read(file)? {
            sessions += 1;
            let violated = hold(&set, &session, &mut text, global)?;
            violating += usize::from(!violated.is_empty());
            violated.into_iter().for_each(|rule| *by_rule.entry(rule).or_default() += 1);
        }
    }
    if !global.json {
        let listed: Vec<String> = by_rule
            .iter()
            .map(|(rule, count)| format!("{} {count}", inline(&set.rules()[*rule].id)))
            .collect();
        let listed = if listed.is_empty() { String::new() } else { format!(": {}", listed.join(", ")) };
        let _ = match violating {
            0 => writeln!(text, "{}, none violates a rule", counted(sessions, "session")),
            1 => writeln!(text, "{}, 1 violates rules{listed}", counted(sessions, "session")),
            _ => writeln!(text, "{}, {violating} violate rules{listed}", counted(sessions, "session")),
        };
    }
    unless_closed(terminal::results(global.json).write_all(text.as_bytes()).map_err(Failure::from))?;
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
        .map_err(|error| Failure::usage(format!("{}: {error}", recorded.name)))?;
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
        let _ =
            writeln!(text, "{}", json!({ "session": recorded.name, "calls": calls.len(), "rules": rules }));
        return Ok(violated);
    }
    let name = inline(&recorded.name);
    if violated.is_empty() {
        let _ = writeln!(text, "{name}: {}, all rules held", counted(calls.len(), "call"));
        return Ok(violated);
    }
    let _ = writeln!(
        text,
        "{name}: {}, {} of {} violated",
        counted(calls.len(), "call"),
        violated.len(),
        counted(set.rules().len(), "rule")
    );
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
