//! `planproof guard replay`: the decisions of a log under other rules.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use planproof_guard::{GuardAction, LoggedLine, replay};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::layout::counted;
use planproof_output::terminal::inline;
use planproof_output::{layout, tell, terminal};
use planproof_spec::rules::RuleVerdict;
use serde_json::json;

use super::shared;
use crate::recorded;
use crate::rules::rules_of;
use planproof_output::print::Printing;

/// Characters of arguments that are shown.
const SHOWN_MAX: usize = 200;

pub(super) fn run(logs: &[PathBuf], rules: &Path, printing: Printing) -> Result<ExitCode, Failure> {
    let rules = rules_of(rules)?;
    let mut lines = Vec::new();
    let used = recorded::with_each(&recorded::files_in(logs)?, |log| {
        lines.extend(read(&shared::text_of(log)?, &log.display().to_string())?);
        Ok(())
    });
    if lines.is_empty() {
        used?;
        return Err(Failure::usage(
            "no decision is found, so nothing was decided again: check what was logged",
        ));
    }
    let by_rule = by_rule(&lines);
    let mut sessions = BTreeSet::new();
    let (mut calls, mut changed, mut printed) = (0, 0, Ok(()));
    let mut out = terminal::results(printing.json);
    for again in replay(&rules, lines.iter().cloned()) {
        calls += 1;
        sessions.insert(again.session.clone());
        if !again.is_changed() {
            continue;
        }
        changed += 1;
        let call = &again.call;
        let mut write = || {
            if printing.json {
                let line = json!({
                    "session": again.session, "call": call.number, "tool": call.tool, "arguments": call.arguments,
                    "was_rejected": again.was_rejected, "was_noted": again.was_noted,
                    "is_rejected": again.reason.is_some(),
                    "was_reason": again.was_reason, "reason": again.reason,
                });
                return writeln!(out, "{line}");
            }
            let arguments: String = call.arguments.to_string().chars().take(SHOWN_MAX).collect();
            let (session, tool) = (inline(&again.session), inline(&call.tool));
            writeln!(out, "session {session}, call {}: {tool} {}", call.number, inline(&arguments))?;
            let was_reason = again.was_reason.as_deref().unwrap_or_default();
            let (what, reason) = match &again.reason {
                Some(reason) => ("was approved, would be rejected", reason.as_str()),
                None if again.was_noted => ("was only noted, would be approved", was_reason),
                None => ("was rejected, would be approved", was_reason),
            };
            writeln!(out, "  {what}")?;
            writeln!(out, "{}", layout::folded("    ", &inline(reason), 4))
        };
        // Every decision counts for the exit status, also if nobody reads on.
        if printed.is_ok() {
            printed = write();
        }
    }
    if printed.is_ok() && printing.json {
        printed = by_rule.iter().try_for_each(|(rule, logged)| {
            let RuleInLog { noted, rejected, sessions } = logged;
            let line = json!({
                "rule": rule, "noted": noted, "rejected": rejected, "sessions": sessions.len(),
            });
            writeln!(out, "{line}")
        });
    }
    if printed.is_ok() && !printing.json {
        printed = by_rule.iter().try_for_each(|(rule, logged)| {
            let RuleInLog { noted, rejected, sessions } = logged;
            let sessions = counted(sessions.len(), "session");
            writeln!(out, "in the log, {}: {noted} noted, {rejected} rejected, in {sessions}", inline(rule))
        });
    }
    if printed.is_ok() && !printing.json {
        let differently = match changed {
            0 => "none would be decided differently".to_owned(),
            count => format!("{count} would be decided differently"),
        };
        let (calls, sessions) = (counted(calls, "call"), counted(sessions.len(), "session"));
        printed = writeln!(out, "{calls} in {sessions}, {differently}");
    }
    unless_closed(printed.map_err(Failure::from))?;
    used?;
    Ok(if changed == 0 { ExitCode::Passed } else { ExitCode::Failed })
}

/// What a log says of a rule.
#[derive(Default)]
struct RuleInLog<'l> {
    /// Calls that it would have rejected, and that were made.
    noted: usize,
    rejected: usize,
    /// Those in which it was either.
    sessions: BTreeSet<&'l str>,
}

/// What logs say of each rule that objected to a call.
fn by_rule(lines: &[LoggedLine]) -> BTreeMap<String, RuleInLog<'_>> {
    let mut found: BTreeMap<String, RuleInLog<'_>> = BTreeMap::new();
    for line in lines {
        let LoggedLine::Decision { session, call: Some(_), rules, action, .. } = line else { continue };
        if !matches!(action, GuardAction::Noted | GuardAction::Blocked) {
            continue;
        }
        for rule in rules.iter().filter(|rule| rule.after == RuleVerdict::Violated.words()) {
            let of_rule = found.entry(rule.id.clone()).or_default();
            match action {
                GuardAction::Noted => of_rule.noted += 1,
                _ => of_rule.rejected += 1,
            }
            of_rule.sessions.insert(session);
        }
    }
    found
}

/// The lines of a log of decisions. Lines that are cut off, as of a guard that was killed or had a full disk, are left
/// out and named.
///
/// # Errors
/// Another line is not of the format.
fn read(text: &str, name: &str) -> Result<Vec<LoggedLine>, Failure> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match LoggedLine::read(line) {
            Ok(line) => lines.push(line),
            Err(fault) if fault.is_cut => {
                tell!("warning: {name}:{}: left out: {fault}", number + 1);
                lines.extend(fault.behind.map(|behind| *behind));
            }
            Err(fault) => return Err(Failure::usage(format!("{}:{}: {fault}", inline(name), number + 1))),
        }
    }
    Ok(lines)
}
