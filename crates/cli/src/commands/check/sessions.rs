//! Recorded sessions held against rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use planproof_guard::LoggedLine;
use planproof_spec::rules::{Phase, RecordedEvent, RuleEnd, RuleSet, outcome_of, session_of};
use planproof_trace::wire::v1::read_traces;
use serde_json::{Value, json};

use crate::arguments::{CheckArguments, Global};
use crate::commands::guard;
use crate::commands::rules::rules_of;
use crate::failure::{ExitCode, Failure, unless_closed};
use crate::render::{self, counted};
use crate::select;
use crate::terminal::{self, inline};

/// Characters of arguments that are shown.
const SHOWN_MAX: usize = 200;

/// A session as it was recorded.
struct Recorded {
    name: String,
    happened: Vec<RecordedEvent>,
}

pub(super) fn run(arguments: &CheckArguments, rules: &Path, global: &Global) -> Result<ExitCode, Failure> {
    let set = rules_of(rules)?;
    let (mut text, mut sessions, mut violating) = (String::new(), 0, 0);
    let mut by_rule: BTreeMap<usize, usize> = BTreeMap::new();
    for file in &arguments.sessions {
        for session in read(file)? {
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
    recorded: &Recorded,
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

/// The sessions of a file, recognised by its content.
fn read(path: &Path) -> Result<Vec<Recorded>, Failure> {
    let text = select::read_json(path)?;
    let name = path.display().to_string();
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: Option<Value> = serde_json::from_str(first).ok();
    let has_schema =
        first.as_ref().and_then(|line| line.get("schema")?.as_str()).is_some_and(|it| it.contains("trace"));
    if has_schema {
        let traces = read_traces(&text).map(|trace| {
            let trace = trace.map_err(|error| Failure::usage(format!("{name} cannot be read: {error}")))?;
            let id = format!("{} #{}", trace.header.case, trace.header.repeat);
            Ok(Recorded { name: id, happened: session_of(&trace.events) })
        });
        return traces.collect();
    }
    let is_log =
        first.as_ref().and_then(|line| line.get("schema")).is_some_and(|it| it == planproof_guard::SCHEMA);
    if is_log {
        return Ok(of_guards(&guard::read_log(&text, &name)?, &name));
    }
    let unknown = |place: &str| {
        Failure::usage(format!(
            "{name}{place}: no session is found here; a file holds traces (trace v1), the log of a guard (decision v1), or transcripts of OpenAI or \
             Anthropic: {{\"messages\": [...]}}, one a line, or a list of messages"
        ))
    };
    if let Ok(whole) = serde_json::from_str::<Value>(&text) {
        return match &whole {
            Value::Array(items) if items.iter().any(|item| messages(item).is_some()) => {
                let sessions = items.iter().enumerate().map(|(number, item)| {
                    let place = format!(" #{}", number + 1);
                    let happened = messages(item).and_then(of_messages).ok_or_else(|| unknown(&place))?;
                    Ok(Recorded { name: format!("{name}{place}"), happened })
                });
                sessions.collect()
            }
            _ => {
                let list = messages(&whole).or_else(|| whole.as_array().map(Vec::as_slice));
                let happened = list.and_then(of_messages).ok_or_else(|| unknown(""))?;
                Ok(vec![Recorded { name, happened }])
            }
        };
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let sessions = lines.map(|(number, line)| {
        let place = format!(":{}", number + 1);
        let line: Value = serde_json::from_str(line).map_err(|_| unknown(&place))?;
        let list = messages(&line).or_else(|| line.as_array().map(Vec::as_slice));
        let happened = list.and_then(of_messages).ok_or_else(|| unknown(&place))?;
        Ok(Recorded { name: format!("{name}{place}"), happened })
    });
    let sessions: Vec<Recorded> = sessions.collect::<Result<_, Failure>>()?;
    if sessions.is_empty() { Err(unknown("")) } else { Ok(sessions) }
}

/// The sessions in the log of a guard, in the order in which they began.
fn of_guards(lines: &[LoggedLine], file: &str) -> Vec<Recorded> {
    let mut sessions: Vec<(&str, Vec<&LoggedLine>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        let place = *places.entry(line.session()).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push((line.session(), Vec::new()));
        }
        sessions[place].1.push(line);
    }
    let recorded = sessions.into_iter().map(|(session, lines)| Recorded {
        name: format!("{file} session {session}"),
        happened: planproof_guard::happened(lines.into_iter()),
    });
    recorded.collect()
}

/// The messages of a conversation, under the name that requests and logs have for them.
fn messages(value: &Value) -> Option<&[Value]> {
    let list = ["messages", "input", "items"].iter().find_map(|key| value.get(key)?.as_array());
    list.map(Vec::as_slice)
}

/// Calls by id, so that an outcome finds its call.
#[derive(Default)]
struct Calls {
    happened: Vec<RecordedEvent>,
    open: BTreeMap<String, (String, Value)>,
}

impl Calls {
    fn call(&mut self, id: &str, tool: &str, arguments: Value) {
        self.open.insert(id.to_owned(), (tool.to_owned(), arguments.clone()));
        self.happened.push(RecordedEvent {
            phase: Phase::Call,
            tool: tool.to_owned(),
            arguments,
            outcome: None,
        });
    }

    /// A result for a call that was never made is no event of the session.
    fn outcome(&mut self, id: &str, is_error: bool, outcome: Value) {
        if let Some((tool, arguments)) = self.open.remove(id) {
            let phase = if is_error { Phase::Failed } else { Phase::Done };
            self.happened.push(RecordedEvent { phase, tool, arguments, outcome: Some(outcome) });
        }
    }
}

/// The events of a conversation: chat completions and responses of OpenAI, messages of Anthropic. `None` if these are
/// no messages.
fn of_messages(messages: &[Value]) -> Option<Vec<RecordedEvent>> {
    let mut seen = Calls::default();
    let mut is_conversation = messages.is_empty();
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    for message in messages {
        is_conversation |= message.get("role").is_some() || message.get("type").is_some();
        let is_error = message.get("is_error") == Some(&Value::Bool(true));
        // Chat completions.
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function").unwrap_or(call);
            seen.call(&text(call, "id"), &text(function, "name"), arguments_of(function.get("arguments")));
        }
        if message.get("role").and_then(Value::as_str) == Some("tool") {
            let content = content_of(message.get("content"));
            seen.outcome(&text(message, "tool_call_id"), is_error, content);
        }
        // Responses: the items themselves; messages of Anthropic: blocks of their content.
        let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
        for block in std::iter::once(message).chain(blocks) {
            match block.get("type").and_then(Value::as_str) {
                Some("function_call") => {
                    let arguments = arguments_of(block.get("arguments"));
                    seen.call(&text(block, "call_id"), &text(block, "name"), arguments);
                }
                Some("function_call_output") => {
                    seen.outcome(&text(block, "call_id"), is_error, content_of(block.get("output")));
                }
                Some("tool_use") => {
                    let arguments = arguments_of(block.get("input"));
                    seen.call(&text(block, "id"), &text(block, "name"), arguments);
                }
                Some("tool_result") => {
                    let is_error = block.get("is_error") == Some(&Value::Bool(true));
                    seen.outcome(&text(block, "tool_use_id"), is_error, content_of(block.get("content")));
                }
                _ => {}
            }
        }
    }
    is_conversation.then_some(seen.happened)
}

/// Arguments are an object, or the text of one.
fn arguments_of(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()))
        }
        Some(value) => value.clone(),
        None => json!({}),
    }
}

/// The content of a result: a text, or blocks of text, which are JSON or not.
fn content_of(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => outcome_of(text),
        Some(Value::Array(blocks)) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
            outcome_of(&texts.join("\n"))
        }
        Some(value) => value.clone(),
        None => Value::Null,
    }
}
