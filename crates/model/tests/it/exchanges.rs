//! Exchanges in the shape that the providers document: what is sent, to the letter, and what is made of the answer.

mod anthropic;
mod chat;
mod completions;
mod responses;

use std::sync::Arc;

use planproof_model::{ChatReply, ChatRequest, Message, ModelError, Settings, TurnState};
use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall, Usage};
use serde_json::{Value, json};

use crate::stand_in::{Answer, StandIn, reply, taken_apart};

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn assistant(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::assistant(text.into(), calls)
}

fn answer(id: &str, text: &str) -> Message {
    Message::Tool { id: CallId::new(id), text: text.into() }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: name.into(), arguments: Arguments::from_text(arguments) }
}

fn conversation(messages: Vec<Message>) -> ChatRequest {
    ChatRequest { messages, previous: None, tools: Arc::from([]), settings: Settings::default() }
}

/// A tool that takes a city.
fn weather() -> Tool {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let Value::Object(schema) = schema else { panic!("an object") };
    Tool { name: "get_weather".into(), description: "Tells the weather.".into(), input_schema: schema.into() }
}

/// The tool's schema as it is sent.
fn weather_schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

/// The reply without what only its server understands.
pub(crate) fn plain(reply: ChatReply) -> ChatReply {
    let usage = Usage::new(reply.usage.input_tokens, reply.usage.output_tokens);
    ChatReply { usage, state: TurnState::default(), ..reply }
}

fn says(text: &str, calls: Vec<ToolCall>, finish: FinishReason, usage: (u64, u64)) -> ChatReply {
    let usage = Usage::new(usage.0, usage.1);
    ChatReply { text: text.into(), calls, finish, usage, id: None, state: TurnState::default() }
}

/// A successful answer.
fn ok(body: &Value) -> Answer {
    reply("200 OK", "content-type: application/json\r\n", &body.to_string())
}

/// The bodies of the requests so far.
fn bodies(server: &StandIn) -> Vec<Value> {
    let bodies = server.requests().into_iter().map(|request| {
        let mut body = taken_apart(&request).1;
        // Each request says whether it wants a stream. Here only a wish for one is shown.
        let stream = body.as_object_mut().and_then(|body| body.remove("stream")).expect("it is said");
        if stream != false {
            body["stream"] = stream;
        }
        body
    });
    bodies.collect()
}

#[track_caller]
fn assert_unsupported<T: std::fmt::Debug>(result: Result<T, ModelError>, text: &str) {
    let error = result.expect_err("this must be refused");
    assert!(matches!(error, ModelError::Unsupported { .. }), "{error:?}");
    assert_eq!(error.to_string(), text);
}
