//! A message as the events of a stream.
//!
//! The protocol sends one block after the other, with arguments that form an object, while a model may write several
//! calls in parallel and invalid JSON. So text is passed on as it comes, and calls once they are complete.

use planproof_trace::{FinishReason, ToolCall, Usage};
use serde::Serialize;
use serde_json::{Value, json};

use super::reply::{Envelope, WireUsage, stop_reason};
use crate::chat::text_and_calls;
use crate::content::ArgumentsObject;
use crate::server::error::ApiError;
use crate::server::shared::Shared;
use crate::server::sse::{Events, Narrator};
use crate::server::target::Protocol;
use crate::{ChatDelta, ChatRequest, TurnState};

/// Sends one message.
pub(super) struct BlockNarrator {
    envelope: Envelope,
    has_text: bool,
    /// The pieces of calls so far.
    calls: Vec<ChatDelta>,
    /// What the model's server wants back with the reply.
    state: TurnState,
}

impl BlockNarrator {
    pub(super) fn new(envelope: Envelope) -> Self {
        Self { envelope, has_text: false, calls: Vec::new(), state: TurnState::default() }
    }
}

/// An event, which repeats its name.
fn send(kind: &str, fields: impl Serialize, out: &mut Events) {
    #[derive(Serialize)]
    struct Event<'a, T> {
        r#type: &'a str,
        #[serde(flatten)]
        fields: T,
    }
    out.named(kind, &Event { r#type: kind, fields });
}

fn begin_block(index: usize, block: &Value, out: &mut Events) {
    send("content_block_start", json!({"index": index, "content_block": block}), out);
}

fn more_of_block(index: usize, delta: &Value, out: &mut Events) {
    send("content_block_delta", json!({"index": index, "delta": delta}), out);
}

fn end_block(index: usize, out: &mut Events) {
    send("content_block_stop", json!({"index": index}), out);
}

fn whole_call(index: usize, call: &ToolCall, out: &mut Events) {
    let ToolCall { id, name, arguments } = call;
    let block = json!({"type": "tool_use", "id": id.as_str(), "name": name, "input": {}});
    begin_block(index, &block, out);
    // An object of JSON values always serialises.
    let input = serde_json::to_string(&ArgumentsObject(arguments)).unwrap_or_default();
    more_of_block(index, &json!({"type": "input_json_delta", "partial_json": input}), out);
    end_block(index, out);
}

impl Narrator for BlockNarrator {
    type Request = ChatRequest;

    fn begin(&mut self, out: &mut Events) {
        #[derive(Serialize)]
        struct Begun<T> {
            message: T,
        }
        send("message_start", Begun { message: self.envelope.begun() }, out);
    }

    fn tell(&mut self, delta: ChatDelta, out: &mut Events) {
        match delta {
            ChatDelta::Text(text) if text.is_empty() => {}
            ChatDelta::Text(text) => {
                if !self.has_text {
                    self.has_text = true;
                    begin_block(0, &json!({"type": "text", "text": ""}), out);
                }
                more_of_block(0, &json!({"type": "text_delta", "text": text}), out);
            }
            ChatDelta::State(state) => self.state = state,
            call => self.calls.push(call),
        }
    }

    fn end(self, finish: FinishReason, usage: Usage, _: ChatRequest, _: &Shared, out: &mut Events) {
        if self.has_text {
            end_block(0, out);
        }
        let mut begun = usize::from(self.has_text);
        // It comes after the text, so it holds the order of the whole turn.
        if let Some(data) = self.state.sealed(|_| false) {
            begin_block(begun, &json!({"type": "redacted_thinking", "data": data}), out);
            end_block(begun, out);
            begun += 1;
        }
        let (_, calls) = text_and_calls(&self.calls);
        for (index, call) in (begun..).zip(&calls) {
            whole_call(index, call, out);
        }
        #[derive(Serialize)]
        struct Ended {
            delta: Value,
            usage: WireUsage,
        }
        let stop_reason = stop_reason(finish, !calls.is_empty());
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
        send("message_delta", Ended { delta, usage: usage.into() }, out);
        send("message_stop", json!({}), out);
    }

    fn fail(self, error: &ApiError, out: &mut Events) {
        out.named("error", &error.body(Protocol::Anthropic));
    }
}
