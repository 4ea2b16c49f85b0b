//! Transcripts: chat completions and responses of OpenAI, messages of Anthropic.

use std::collections::HashSet;

use planproof_spec::rules::{Phase, RecordedEvent, result_of};
use planproof_trace::json;
use serde_json::Value;

use crate::source::Document;
use crate::{Gather, RecordedDoubts, RecordedSession, SessionError, SessionSink, unknown};

/// Conversations, of which each value of a file is one, or a list of them.
pub(crate) struct Conversations {
    name: String,
    strays: Strays,
    /// The text, where a value has several lines.
    document: Option<Document>,
}

impl Conversations {
    pub(crate) fn new(name: &str, document: Option<Document>) -> Self {
        Self { name: name.to_owned(), strays: Strays::default(), document }
    }

    fn conversation(
        &mut self,
        value: &Value,
        line: u64,
        place: &str,
    ) -> Result<RecordedSession, SessionError> {
        let list = messages(value).or_else(|| value.as_array().map(Vec::as_slice));
        let mut calls = Calls { marks: self.document.as_ref().map(|_| Vec::new()), ..Calls::default() };
        let list = list.filter(|list| calls.messages(list)).ok_or_else(|| unknown(&self.name, place))?;
        let name = format!("{}{place}", self.name);
        self.strays.add(&name, calls.strays);
        let tools = value.get("tools").cloned();
        // Where nothing says where a call stands, it stands where the one before does.
        let mut last = line;
        let call_lines = self.document.as_mut().map(|document| {
            let lines = calls.marks.iter().flatten().map(|mark| {
                last = document.line_of(mark).unwrap_or(last);
                last
            });
            lines.collect()
        });
        Ok(RecordedSession {
            name,
            line,
            query: query_of(list),
            tools,
            happened: calls.happened,
            call_lines: call_lines.unwrap_or_default(),
            doubts: RecordedDoubts::default(),
        })
    }
}

impl Gather for Conversations {
    fn value(
        &mut self,
        value: Value,
        line: u64,
        place: &str,
        sink: &mut dyn SessionSink,
    ) -> Result<(), SessionError> {
        match &value {
            // Neither a conversation nor several.
            Value::Array(items) if items.is_empty() => Ok(()),
            Value::Array(items) if items.iter().any(|item| messages(item).is_some()) => {
                for (number, item) in items.iter().enumerate() {
                    sink.session(self.conversation(item, line, &format!("{place} #{}", number + 1))?)?;
                }
                Ok(())
            }
            value => sink.session(self.conversation(value, line, place)?),
        }
    }

    fn end(&mut self, sink: &mut dyn SessionSink) -> Result<(), SessionError> {
        self.strays.report(sink);
        Ok(())
    }

    fn may_leave_out(&self) -> bool {
        false
    }
}

/// Results that belong to no call.
#[derive(Default)]
pub(crate) struct Strays {
    count: usize,
    /// The session with the first of them.
    first: String,
}

impl Strays {
    pub(crate) fn add(&mut self, session: &str, count: usize) {
        if self.count == 0 {
            session.clone_into(&mut self.first);
        }
        self.count += count;
    }

    pub(crate) fn report(&self, sink: &mut dyn SessionSink) {
        let first = &self.first;
        match self.count {
            0 => {}
            1 => sink.note(&format!("{first}: 1 result is left out: it belongs to no call")),
            count => sink.note(&format!(
                "{first}: {count} results, from here on, are left out: they belong to no call"
            )),
        }
    }
}

/// What the user asked first.
fn query_of(messages: &[Value]) -> Option<String> {
    let first =
        messages.iter().find(|message| message.get("role").and_then(Value::as_str) == Some("user"))?;
    let text = text_of(first.get("content")?)?;
    (!text.trim().is_empty()).then_some(text)
}

/// A text, or the texts among blocks.
pub(crate) fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => Some(texts_of(blocks)),
        _ => None,
    }
}

/// The texts among the blocks of a message, a line each.
fn texts_of(blocks: &[Value]) -> String {
    let texts: Vec<&str> =
        blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    texts.join("\n")
}

/// The messages of a conversation, under the name that requests, replies and logs have for them.
fn messages(value: &Value) -> Option<&[Value]> {
    let list = ["messages", "input", "items", "output"].iter().find_map(|key| value.get(key)?.as_array());
    list.map(Vec::as_slice)
}

/// The calls of a session and their outcomes, in the order in which they are written.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) happened: Vec<RecordedEvent>,
    /// The line of each call.
    pub(crate) lines: Vec<u64>,
    /// The line that is read.
    pub(crate) line: u64,
    /// What each call can be found by in the text, where that matters: its id or, without one, its tool.
    marks: Option<Vec<String>>,
    /// Results that belong to no call.
    pub(crate) strays: usize,
    /// In the order in which they were made.
    open: Vec<OpenCall>,
    /// Ids of calls and of results, where the record may have an item twice.
    once: Option<HashSet<String>>,
}

struct OpenCall {
    /// Empty where the transcript has none.
    id: String,
    /// Its place among what happened.
    place: usize,
}

impl Calls {
    /// For a record that may repeat items of a session, as after it is resumed.
    pub(crate) fn with_repeats() -> Self {
        Self { once: Some(HashSet::new()), ..Self::default() }
    }

    /// Whether an item of this id was read before.
    fn is_repeated(&mut self, kind: &str, id: &str) -> bool {
        let once = self.once.as_mut().filter(|_| !id.is_empty());
        once.is_some_and(|once| !once.insert(format!("{kind} {id}")))
    }

    /// Takes a call.
    pub(crate) fn call(&mut self, id: &str, server: Option<&str>, tool: &str, arguments: Value) {
        if self.is_repeated("call", id) {
            return;
        }
        let (server, tool) = (server.map(str::to_owned), tool.to_owned());
        self.lines.push(self.line);
        if let Some(marks) = &mut self.marks {
            marks.push(if id.is_empty() { tool.clone() } else { id.to_owned() });
        }
        self.open.push(OpenCall { id: id.to_owned(), place: self.happened.len() });
        self.happened.push(RecordedEvent { phase: Phase::Call, server, tool, arguments, outcome: None });
    }

    /// Takes an outcome. One of a call that was never made is not an event of the session. Of several calls with one
    /// id, or without any, the first that is open has it: results come in the order of the calls. A result that names
    /// its tool is one of that tool, if there is such a call.
    pub(crate) fn outcome(&mut self, id: &str, tool: Option<&str>, is_error: bool, outcome: Value) {
        let fits = |open: &OpenCall| open.id == id;
        let of_tool = |open: &OpenCall| fits(open) && tool == Some(self.happened[open.place].tool.as_str());
        let place = self.open.iter().position(of_tool).or_else(|| self.open.iter().position(fits));
        let is_repeated = self.is_repeated("outcome", id);
        let Some(place) = place else {
            self.strays += usize::from(!is_repeated);
            return;
        };
        let call = &self.happened[self.open.remove(place).place];
        let (server, tool, arguments) = (call.server.clone(), call.tool.clone(), call.arguments.clone());
        let phase = if is_error { Phase::Failed } else { Phase::Done };
        self.happened.push(RecordedEvent { phase, server, tool, arguments, outcome: Some(outcome) });
    }

    /// Takes messages, and gives whether they are some.
    fn messages(&mut self, messages: &[Value]) -> bool {
        let mut is_conversation = messages.is_empty();
        for message in messages {
            is_conversation |= message.get("role").is_some() || message.get("type").is_some();
            self.message(message);
        }
        is_conversation
    }

    /// Takes a message, or an item of a response.
    pub(crate) fn message(&mut self, message: &Value) {
        let is_error = message.get("is_error") == Some(&Value::Bool(true));
        // Chat completions.
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function").or_else(|| call.get("custom")).unwrap_or(call);
            let arguments = function.get("arguments").or_else(|| function.get("input"));
            self.call(text(call, "id"), None, text(function, "name"), arguments_of(arguments));
        }
        if message.get("role").and_then(Value::as_str) == Some("tool") {
            let content = content_of(message.get("content"));
            let tool = message.get("name").and_then(Value::as_str);
            self.outcome(text(message, "tool_call_id"), tool, is_error, content);
        }
        // Responses: the items themselves; messages of Anthropic: blocks of their content.
        let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
        for block in std::iter::once(message).chain(blocks) {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Value) {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_error = block.get("is_error") == Some(&Value::Bool(true));
        let arguments = |key: &str| arguments_of(block.get(key));
        match kind {
            "function_call" => {
                self.call(text(block, "call_id"), None, text(block, "name"), arguments("arguments"));
            }
            "custom_tool_call" => {
                self.call(text(block, "call_id"), None, text(block, "name"), arguments("input"));
            }
            "function_call_output" | "custom_tool_call_output" => {
                // Some say so in the output itself.
                let output = block.get("output");
                let has_failed = output.and_then(|output| output.get("success")) == Some(&Value::Bool(false));
                let content = content_of(output.and_then(|it| it.get("content")).or(output));
                self.outcome(text(block, "call_id"), None, is_error || has_failed, content);
            }
            // A call that the provider made, with what came of it.
            "mcp_call" => {
                let id = text(block, "id");
                let server = block.get("server_label").and_then(Value::as_str);
                self.call(id, server, text(block, "name"), arguments("arguments"));
                match (block.get("error").filter(|error| !error.is_null()), block.get("output")) {
                    (Some(error), _) => self.outcome(id, None, true, content_of(Some(error))),
                    (None, Some(output)) if !output.is_null() => {
                        self.outcome(id, None, false, content_of(Some(output)));
                    }
                    _ => {}
                }
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let server = block.get("server_name").and_then(Value::as_str);
                self.call(text(block, "id"), server, text(block, "name"), arguments("input"));
            }
            _ if kind == "tool_result" || kind.ends_with("_tool_result") => {
                let content = content_of(block.get("content"));
                self.outcome(text(block, "tool_use_id"), None, is_error, content);
            }
            _ => {}
        }
    }
}

pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Arguments are an object, or the text of one.
pub(crate) fn arguments_of(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => {
            json::value(text.as_bytes()).unwrap_or_else(|_| Value::from(text.as_str()))
        }
        Some(Value::Null) | None => Value::Object(serde_json::Map::new()),
        Some(value) => value.clone(),
    }
}

/// The content of a result: a text, or blocks of text, which are JSON or not.
pub(crate) fn content_of(value: Option<&Value>) -> Value {
    match value {
        Some(value) => result_of(value).value,
        None => Value::Null,
    }
}
