//! A reply of `/api/chat`, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, ToolCall, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::connection::calls::{BegunCalls, NAMELESS, missing_id};
use crate::connection::ending::Ending;
use crate::connection::fault::{Fault, reported_error};
use crate::connection::left_over::tool_name;
use crate::connection::stream::{Decoder, Deltas};
use crate::http::Endpoint;
use crate::{ChatReply, ChatRequest, ModelError, TurnState, lenient};

#[derive(Deserialize)]
struct Reply {
    message: Option<ReplyMessage>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::count")]
    prompt_eval_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    eval_count: Option<u64>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

/// The error of a reply: mostly words alone, behind which the server has failed.
fn failure(fault: Fault, endpoint: &Endpoint) -> ModelError {
    match fault {
        Fault::Text(text) => endpoint.failed(&text),
        fault => fault.into_model_error(endpoint),
    }
}

#[derive(Deserialize)]
struct ReplyMessage {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<ReplyCall>>,
}

#[derive(Deserialize)]
struct ReplyCall {
    #[serde(default, deserialize_with = "lenient::name")]
    id: Option<String>,
    function: Option<ReplyFunction>,
}

#[derive(Deserialize)]
struct ReplyFunction {
    name: Option<String>,
    arguments: Option<Value>,
}

/// Reads a whole reply to `request`.
pub(super) fn read(
    endpoint: &Endpoint,
    bytes: &[u8],
    request: &ChatRequest,
) -> Result<ChatReply, ModelError> {
    let reply: Reply = endpoint.parse(bytes, "reply of /api/chat")?;
    if let Some(error) = reply.error {
        return Err(failure(error, endpoint));
    }
    let Some(message) = reply.message.filter(|_| reply.done) else {
        let what = "no whole `message`: is this Ollama, and does the base URL end before /api?";
        return Err(endpoint.no_reply(bytes, what));
    };
    // The server loads or unloads the model and says nothing else.
    if let Some(reason @ ("load" | "unload")) = reply.done_reason.as_deref() {
        return Err(endpoint.failed(&format!("the model was {reason}ed instead of asked")));
    }
    let mut calls = Vec::new();
    for (index, call) in message.tool_calls.into_iter().flatten().enumerate() {
        let id = match call.id {
            Some(id) if !id.is_empty() => CallId::new(id),
            _ => missing_id(request, index),
        };
        let (name, arguments) = match call.function {
            Some(function) => (function.name.unwrap_or_default(), function.arguments),
            None => (String::new(), None),
        };
        if name.is_empty() {
            return Err(endpoint.malformed(NAMELESS));
        }
        let arguments = arguments_of(arguments.unwrap_or(Value::Null));
        calls.push(ToolCall { id, name: tool_name(name, request), arguments });
    }
    let usage = Usage::new(reply.prompt_eval_count.unwrap_or(0), reply.eval_count.unwrap_or(0));
    let has_calls = !calls.is_empty();
    // It has no word of its own for calls.
    let ending = match reply.done_reason.as_deref().and_then(Ending::of) {
        Some(Ending::Stop) if has_calls => Some(Ending::Calls),
        ending => ending,
    };
    let thinking = message.thinking.unwrap_or_default();
    let text = message.content.unwrap_or_default();
    let (text, thoughts, finish) = endpoint.ended(text, ending, has_calls, !thinking.is_empty(), usage)?;
    let state = TurnState::default().with_thoughts(&thinking).with_thoughts(&thoughts);
    Ok(ChatReply { text, calls, finish, usage, id: None, state })
}

/// Reads the lines of a reply to `request` that comes in pieces, of which the last one says that it is done.
pub(super) struct LineDecoder<'a> {
    request: &'a ChatRequest,
    calls: BegunCalls,
    thinking: String,
}

impl<'a> LineDecoder<'a> {
    pub(super) fn new(request: &'a ChatRequest) -> Self {
        Self { request, calls: BegunCalls::default(), thinking: String::new() }
    }
}

impl Decoder for LineDecoder<'_> {
    fn take(&mut self, _: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        let part: Reply = out.endpoint.parse_part(data, "reply of /api/chat")?;
        if let Some(error) = part.error {
            return Err(failure(error, out.endpoint));
        }
        if part.message.is_none()
            && !part.done
            && let Some(fault) = reported_error(data.as_bytes())
        {
            return Err(fault.within_reply(out.endpoint));
        }
        if let Some(message) = part.message {
            if let Some(thinking) = message.thinking.filter(|thinking| !thinking.is_empty()) {
                self.thinking.push_str(&thinking);
                out.thought();
            }
            out.text(message.content.unwrap_or_default());
            // A call comes whole.
            for call in message.tool_calls.into_iter().flatten() {
                let index = self.calls.begin(None, call.id, self.request, out)?;
                let Some(function) = call.function else { continue };
                self.calls.name(index, function.name.unwrap_or_default(), self.request);
                let arguments = function.arguments.unwrap_or(Value::Null);
                self.calls.whole_arguments(index, &arguments_of(arguments).to_text(), out);
            }
        }
        if !part.done {
            return Ok(());
        }
        self.calls.finish(out)?;
        let usage = Usage::new(part.prompt_eval_count.unwrap_or(0), part.eval_count.unwrap_or(0));
        let ending = part.done_reason.as_deref().and_then(Ending::of);
        out.state = std::mem::take(&mut out.state).with_thoughts(&self.thinking);
        out.end(ending, self.calls.len() > 0, usage, None)
    }

    fn close(&mut self, _: &mut Deltas<'_>) -> Result<(), ModelError> {
        Ok(())
    }
}

/// The arguments of a call, which the protocol has as an object and older versions as a text.
fn arguments_of(value: Value) -> Arguments {
    match value {
        Value::Null => Arguments::none(),
        Value::String(text) => Arguments::from_text(&text),
        value => Arguments::from_text(&value.to_string()),
    }
}
