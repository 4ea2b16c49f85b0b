//! Recorded sessions held against rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use planproof_guard::AgentNames;
use planproof_live::recorded;
use planproof_live::rules::rules_of;
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::layout::counted;
use planproof_output::report_files::{ReportFile, must_differ};
use planproof_output::terminal::inline;
use planproof_output::{layout, tell, terminal};
use planproof_report::held::{self, HeldSession, SessionViolation, ViolatingCall};
use planproof_sessions::{RecordedDoubts, RecordedSession, SessionError};
use planproof_spec::rules::{Phase, RecordedEvent, RuleEnd, RuleSet};
use serde::Serialize;

use crate::arguments::{CheckArguments, Global};

/// Characters of arguments that are shown.
const SHOWN_MAX: usize = 200;

pub(super) fn run(arguments: &CheckArguments, rules: &Path, global: &Global) -> Result<ExitCode, Failure> {
    let reports = HeldReports::open(arguments, rules, global)?;
    let set = rules_of(rules)?;
    let names = AgentNames::of(&set);
    let mut kept: Vec<HeldSession> = Vec::new();
    let (mut sessions, mut violating, mut calls) = (0, 0, 0);
    let mut without_session: Vec<String> = Vec::new();
    let mut by_rule: BTreeMap<usize, usize> = BTreeMap::new();
    // Every session counts for the exit status, also if the reader of stdout has stopped.
    let mut printed = Ok(());
    let records = recorded::records_in(&arguments.sessions)?;
    let used = recorded::with_each(&records, |record| {
        let (before, file) = (sessions, record.path.as_path());
        recorded::each(record, &mut |mut session| {
            sessions += 1;
            session.doubts.ambiguous = names.apply(&mut session.happened);
            calls += session.happened.iter().filter(|event| event.phase == Phase::Call).count();
            let mut text = String::new();
            let violated = hold(&set, &session, &mut text, global)?;
            violating += usize::from(!violated.is_empty());
            violated.iter().for_each(|it| *by_rule.entry(it.rule).or_default() += 1);
            if reports.need(&violated) {
                kept.push(kept_session(file, &session, violated));
            }
            if printed.is_ok() && !reports.take_stdout() {
                printed = terminal::results(global.json).write_all(text.as_bytes());
            }
            Ok(())
        })?;
        if sessions == before {
            without_session.push(inline(&file.display().to_string()));
        }
        Ok(())
    });
    if sessions == 0 {
        used?;
        return Err(Failure::usage(format!(
            "no session is found in {}, so nothing was held against the rules: check what was recorded",
            without_session.join(", ")
        )));
    }
    without_session.iter().for_each(|file| tell!("warning: no session is found in {file}"));
    if !global.json && printed.is_ok() && !reports.take_stdout() {
        let listed: Vec<String> = by_rule
            .iter()
            .map(|(rule, count)| format!("{} {count}", inline(&set.rules()[*rule].id)))
            .collect();
        let listed = if listed.is_empty() { String::new() } else { format!(": {}", listed.join(", ")) };
        let mut out = terminal::text();
        let read = counted(sessions, "session");
        printed = match violating {
            // Nothing was seen that a rule could forbid.
            0 if calls == 0 => writeln!(out, "{read} without a call, none violates a rule"),
            0 => writeln!(out, "{read}, none violates a rule"),
            1 => writeln!(out, "{read}, 1 violates rules{listed}"),
            _ => writeln!(out, "{read}, {violating} violate rules{listed}"),
        };
    }
    unless_closed(printed.map_err(Failure::from))?;
    reports.write(&set, &kept, global)?;
    used?;
    Ok(if violating == 0 { ExitCode::Passed } else { ExitCode::Failed })
}

/// The files that are asked for.
struct HeldReports {
    junit: Option<ReportFile>,
    sarif: Option<ReportFile>,
}

impl HeldReports {
    fn open(arguments: &CheckArguments, rules: &Path, global: &Global) -> Result<Self, Failure> {
        let mut taken: Vec<(&str, &Path)> = vec![("--rules", rules)];
        taken.extend(arguments.sessions.iter().map(|file| ("TRACE", file.as_path())));
        let open = |option: &'static str, path: Option<&'_ PathBuf>| -> Result<Option<ReportFile>, Failure> {
            let Some(path) = path else { return Ok(None) };
            if path.as_os_str() != "-" {
                must_differ(path, &taken)?;
            } else if global.json {
                return Err(Failure::usage(format!(
                    "{option} - and --json both write to stdout: name a file"
                )));
            }
            ReportFile::open(option, path).map(Some)
        };
        let junit = open("--junit", arguments.junit.as_ref())?;
        if let (Some(junit), Some(sarif)) = (&arguments.junit, &arguments.sarif) {
            must_differ(sarif, &[("--junit", junit)])?;
        }
        Ok(Self { junit, sarif: open("--sarif", arguments.sarif.as_ref())?.map(ReportFile::of_json) })
    }

    /// Whether a session is in one of them. Only JUnit has those that violate nothing.
    fn need(&self, violated: &[SessionViolation]) -> bool {
        self.junit.is_some() || self.sarif.is_some() && !violated.is_empty()
    }

    fn take_stdout(&self) -> bool {
        [&self.junit, &self.sarif].into_iter().flatten().any(ReportFile::is_stdout)
    }

    fn write(self, rules: &RuleSet, sessions: &[HeldSession], global: &Global) -> Result<(), Failure> {
        let junit = self.junit.map_or(Ok(()), |file| {
            file.write(global.quiet, |mut out| {
                held::write_junit(rules, sessions, SystemTime::now(), &mut out)
            })
        });
        let sarif = self.sarif.map_or(Ok(()), |file| {
            file.write(global.quiet, |mut out| held::write_sarif(rules, sessions, &mut out))
        });
        junit.and(sarif)
    }
}

fn kept_session(file: &Path, session: &RecordedSession, violations: Vec<SessionViolation>) -> HeldSession {
    HeldSession {
        name: session.name.clone(),
        file: file.display().to_string(),
        line: session.line,
        violations,
    }
}

/// A session, as `--json` has it.
#[derive(Serialize)]
struct HeldLine<'a> {
    #[serde(skip_serializing_if = "is_zero")]
    ambiguous: usize,
    calls: usize,
    #[serde(skip_serializing_if = "is_zero")]
    overlapping: usize,
    rules: Vec<HeldRule<'a>>,
    session: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    unordered: usize,
    #[serde(skip_serializing_if = "is_zero")]
    without_arguments: usize,
}

/// What became of a rule in it.
#[derive(Serialize)]
struct HeldRule<'a> {
    call: Option<usize>,
    calls: &'a [usize],
    held: bool,
    id: &'a str,
    verdict: &'static str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Holds a session against the rules, and writes what came of it. Gives the rules that are violated.
fn hold(
    set: &Arc<RuleSet>,
    recorded: &RecordedSession,
    text: &mut String,
    global: &Global,
) -> Result<Vec<SessionViolation>, SessionError> {
    let outcomes = set
        .hold(&recorded.happened)
        .map_err(|error| SessionError::new(format!("{}: {error}", recorded.name)))?;
    let calls: Vec<&RecordedEvent> =
        recorded.happened.iter().filter(|event| event.phase == Phase::Call).collect();
    let is_held = |rule: usize| outcomes[rule].verdict.is_held_at_end();
    // Rules of sessions that violate none need not be looked at again.
    let is_good = (0..outcomes.len()).all(is_held);
    let calls_of = match is_good {
        true => vec![Vec::new(); outcomes.len()],
        false => set
            .violating_calls(&recorded.happened)
            .map_err(|error| SessionError::new(format!("{}: {error}", recorded.name)))?,
    };
    let violation = |rule: usize| {
        let violating = |number: usize| {
            let call = calls.get(number.checked_sub(1)?)?;
            let arguments: String = call.arguments.to_string().chars().take(SHOWN_MAX).collect();
            let line = recorded.call_lines.get(number - 1).copied().unwrap_or(recorded.line);
            let file = recorded.call_files.get(number - 1).map(ToString::to_string);
            Some(ViolatingCall { number, file, line, text: format!("{} {arguments}", call.tool) })
        };
        let first = outcomes[rule].call;
        let others =
            calls_of[rule].iter().copied().filter(|number| first.is_some_and(|first| *number > first));
        SessionViolation {
            rule,
            call: first.and_then(violating),
            more: others.filter_map(violating).collect(),
        }
    };
    let violated: Vec<SessionViolation> =
        (0..outcomes.len()).filter(|rule| !is_held(*rule)).map(violation).collect();
    if global.json {
        let rules = set.rules().iter().enumerate().map(|(number, rule)| {
            let RuleEnd { verdict, call } = outcomes[number];
            let (held, verdict) = (is_held(number), verdict.words());
            HeldRule { call, calls: &calls_of[number], held, id: &rule.id, verdict }
        });
        let RecordedDoubts { ambiguous, overlapping, unordered, without_arguments } = recorded.doubts;
        let line = HeldLine {
            ambiguous,
            calls: calls.len(),
            overlapping,
            rules: rules.collect(),
            session: &recorded.name,
            unordered,
            without_arguments,
        };
        // Nothing in it can fail to be written.
        let _ = writeln!(text, "{}", serde_json::to_string(&line).unwrap_or_default());
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
    for violation in &violated {
        let rule = &set.rules()[violation.rule];
        let _ = writeln!(text, "{}", layout::folded("  ", &inline(&format!("{}: {rule}", rule.id)), 4));
        match &violation.call {
            Some(call) => {
                let _ = writeln!(text, "    violated at call {}: {}", call.number, inline(&call.text));
                if !violation.more.is_empty() {
                    let more = counted(violation.more.len(), "time");
                    let _ = writeln!(text, "    and {more} more; --json names them");
                }
            }
            None => {
                let _ = writeln!(text, "    not fulfilled when the session ended");
            }
        }
        if let Some(why) = &rule.why {
            let _ = writeln!(text, "{}", layout::folded("    ", &inline(&format!("why: {why}")), 4));
        }
    }
    Ok(violated)
}

fn doubts_in_words(doubts: &RecordedDoubts, text: &mut String) {
    let RecordedDoubts { ambiguous, overlapping, unordered, without_arguments } = *doubts;
    let calls = |count| counted(count, "call");
    if ambiguous > 0 {
        let _ = writeln!(
            text,
            "  {} can be of several tools that the rules name, and the first is assumed: rename the server",
            calls(ambiguous)
        );
    }
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
