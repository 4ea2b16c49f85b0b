//! Sessions as they were recorded: traces of ours, and transcripts as agents and servers log them.

use std::collections::BTreeMap;
use std::path::Path;

use planproof_guard::LoggedLine;
use planproof_scenario::listed_tools;
use planproof_spec::rules::{Phase, RecordedEvent, outcome_of, session_of};
use planproof_trace::wire::v1::read_traces;
use planproof_trace::{EventKind, Tool};
use serde_json::{Value, json};

use super::guard;
use crate::failure::Failure;
use crate::progress::tell;

/// A session as it was recorded.
pub(super) struct RecordedSession {
    /// The file and the place in it, or the case of a trace.
    pub(super) name: String,
    /// What the user asked first, if that was recorded.
    pub(super) query: Option<String>,
    /// The tools that the agent had, if they were recorded.
    pub(super) tools: Vec<Tool>,
    /// The calls and what came of them.
    pub(super) happened: Vec<RecordedEvent>,
}

/// The sessions of a file, recognised by its content.
pub(super) fn read(path: &Path) -> Result<Vec<RecordedSession>, Failure> {
    let text = guard::shared::text_of(path)?;
    let name = path.display().to_string();
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: Option<Value> = serde_json::from_str(first).ok();
    let has_schema =
        first.as_ref().and_then(|line| line.get("schema")?.as_str()).is_some_and(|it| it.contains("trace"));
    if has_schema {
        let traces = read_traces(&text).map(|trace| {
            let trace = trace.map_err(|error| Failure::usage(format!("{name} cannot be read: {error}")))?;
            let id = format!("{} #{}", trace.header.case, trace.header.repeat);
            let query = trace.events.iter().find_map(|event| match &event.kind {
                EventKind::Query { text } => Some(text.clone()),
                _ => None,
            });
            Ok(RecordedSession { name: id, query, tools: Vec::new(), happened: session_of(&trace.events) })
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
            "{name}{place}: no session is found here; a file holds traces (trace v1), the log of a guard (decision \
             v1), or transcripts of OpenAI or Anthropic: {{\"messages\": [...]}}, one a line, or a list of messages"
        ))
    };
    let mut strays = Strays::default();
    let mut conversation = |value: &Value, place: &str| {
        let list = messages(value).or_else(|| value.as_array().map(Vec::as_slice));
        let (happened, left_out) = list.and_then(of_messages).ok_or_else(|| unknown(place))?;
        strays.add(&format!("{name}{place}"), left_out);
        let query = list.and_then(query_of);
        // A list of tools in another form is of no use, and no reason to leave out the session.
        let tools = value.get("tools").and_then(|tools| listed_tools(tools).ok()).unwrap_or_default();
        Ok(RecordedSession { name: format!("{name}{place}"), query, tools, happened })
    };
    let sessions: Vec<RecordedSession> = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(items)) if items.iter().any(|item| messages(item).is_some()) => {
            let numbered = items.iter().enumerate();
            let sessions = numbered.map(|(number, item)| conversation(item, &format!(" #{}", number + 1)));
            sessions.collect::<Result<_, Failure>>()?
        }
        Ok(whole) => vec![conversation(&whole, "")?],
        Err(_) => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let sessions = lines.map(|(number, line)| {
                let place = format!(":{}", number + 1);
                let line: Value = serde_json::from_str(line).map_err(|_| unknown(&place))?;
                conversation(&line, &place)
            });
            sessions.collect::<Result<_, Failure>>()?
        }
    };
    strays.report();
    if sessions.is_empty() { Err(unknown("")) } else { Ok(sessions) }
}

/// Results in transcripts that belong to no call.
#[derive(Default)]
struct Strays {
    count: usize,
    /// The session with the first of them.
    first: String,
}

impl Strays {
    fn add(&mut self, session: &str, count: usize) {
        if self.count == 0 {
            session.clone_into(&mut self.first);
        }
        self.count += count;
    }

    fn report(&self) {
        let first = &self.first;
        match self.count {
            0 => {}
            1 => tell!("{first}: 1 result is left out: it belongs to no call"),
            count => tell!("{first}: {count} results, from here on, are left out: they belong to no call"),
        }
    }
}

/// What the user asked first.
fn query_of(messages: &[Value]) -> Option<String> {
    let first =
        messages.iter().find(|message| message.get("role").and_then(Value::as_str) == Some("user"))?;
    let text = match first.get("content")? {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => texts_of(blocks),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The texts among the blocks of a message, a line each.
fn texts_of(blocks: &[Value]) -> String {
    let texts: Vec<&str> =
        blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    texts.join("\n")
}

/// The sessions in the log of a guard, in the order in which they began.
fn of_guards(lines: &[LoggedLine], file: &str) -> Vec<RecordedSession> {
    let mut sessions: Vec<(&str, Vec<&LoggedLine>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        let place = *places.entry(line.session()).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push((line.session(), Vec::new()));
        }
        sessions[place].1.push(line);
    }
    let recorded = sessions.into_iter().map(|(session, lines)| RecordedSession {
        name: format!("{file} session {session}"),
        query: None,
        tools: Vec::new(),
        happened: planproof_guard::happened(lines.into_iter()),
    });
    recorded.collect()
}

/// The messages of a conversation, under the name that requests and logs have for them.
fn messages(value: &Value) -> Option<&[Value]> {
    let list = ["messages", "input", "items"].iter().find_map(|key| value.get(key)?.as_array());
    list.map(Vec::as_slice)
}

/// The calls of a conversation whose outcomes have not come, so that an outcome finds its call.
#[derive(Default)]
struct Calls {
    happened: Vec<RecordedEvent>,
    /// In the order in which they were made.
    open: Vec<OpenCall>,
    /// Results that belong to no call.
    strays: usize,
}

struct OpenCall {
    /// Empty where the transcript has none.
    id: String,
    tool: String,
    arguments: Value,
}

impl Calls {
    fn call(&mut self, id: &str, tool: &str, arguments: Value) {
        self.open.push(OpenCall { id: id.to_owned(), tool: tool.to_owned(), arguments: arguments.clone() });
        self.happened.push(RecordedEvent {
            phase: Phase::Call,
            tool: tool.to_owned(),
            arguments,
            outcome: None,
        });
    }

    /// A result for a call that was never made is not an event of the session. Of several calls with one id, or without
    /// any, the first that is open has it: results come in the order of the calls. A result that names its tool is one
    /// of that tool, if there is such a call.
    fn outcome(&mut self, id: &str, tool: Option<&str>, is_error: bool, outcome: Value) {
        let fits = |open: &OpenCall| open.id == id;
        let of_tool = |open: &OpenCall| fits(open) && tool == Some(open.tool.as_str());
        let place = self.open.iter().position(of_tool).or_else(|| self.open.iter().position(fits));
        let Some(place) = place else {
            self.strays += 1;
            return;
        };
        let OpenCall { tool, arguments, .. } = self.open.remove(place);
        let phase = if is_error { Phase::Failed } else { Phase::Done };
        self.happened.push(RecordedEvent { phase, tool, arguments, outcome: Some(outcome) });
    }
}

/// The events of a conversation, and how many results belong to no call: chat completions and responses of OpenAI,
/// messages of Anthropic. `None` if these are not messages.
fn of_messages(messages: &[Value]) -> Option<(Vec<RecordedEvent>, usize)> {
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
            let tool = message.get("name").and_then(Value::as_str);
            seen.outcome(&text(message, "tool_call_id"), tool, is_error, content);
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
                    seen.outcome(&text(block, "call_id"), None, is_error, content_of(block.get("output")));
                }
                Some("tool_use") => {
                    let arguments = arguments_of(block.get("input"));
                    seen.call(&text(block, "id"), &text(block, "name"), arguments);
                }
                Some("tool_result") => {
                    let is_error = block.get("is_error") == Some(&Value::Bool(true));
                    seen.outcome(
                        &text(block, "tool_use_id"),
                        None,
                        is_error,
                        content_of(block.get("content")),
                    );
                }
                _ => {}
            }
        }
    }
    is_conversation.then_some((seen.happened, seen.strays))
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
        Some(Value::Array(blocks)) => outcome_of(&texts_of(blocks)),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}
