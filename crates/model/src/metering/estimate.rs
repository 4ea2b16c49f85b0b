//! The most tokens that a request may take, from its size and from the costs of earlier requests.

use planproof_trace::{Arguments, Tool, Usage, WrittenObject};
use serde_json::{Map, Value};

use crate::{ChatRequest, CompletionRequest, Message, Settings};

/// The least that a reply is assumed to need if the request sets no limit, in tokens.
pub const OUTPUT_TOKENS_FLOOR: u64 = 1024;

/// The size of a message, a call or a tool in addition to its texts, in bytes: names of fields and roles, brackets,
/// marks.
const ITEM_BYTES: u64 = 32;

/// The size of a member of an object in addition to its name and its value: quotes, a colon, a comma.
const MEMBER_BYTES: u64 = 4;

/// The size that suffices for a number in most texts.
const NUMBER_BYTES: u64 = 20;

/// The safety factor over the ratio of earlier requests.
const MARGIN: f64 = 1.25;

/// How large a request is.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestSize {
    bytes: u64,
    /// Most tokens of the reply, if the request sets a limit.
    output_tokens_max: Option<u64>,
    /// The server inserts a conversation before it whose size is unknown here.
    goes_on: bool,
}

impl RequestSize {
    pub(super) fn of_chat(request: &ChatRequest) -> Self {
        Self { goes_on: request.previous.is_some(), ..Self::of(chat_bytes(request), &request.settings) }
    }

    pub(super) fn of_completion(request: &CompletionRequest) -> Self {
        Self::of(ITEM_BYTES + request.prompt.len() as u64, &request.settings)
    }

    fn of(bytes: u64, settings: &Settings) -> Self {
        Self { bytes, output_tokens_max: settings.output_tokens_max.map(u64::from), goes_on: false }
    }
}

/// The approximate size of a request's messages and tools as text.
pub(crate) fn chat_bytes(request: &ChatRequest) -> u64 {
    let messages: u64 = request.messages.iter().map(message_bytes).sum();
    ITEM_BYTES + messages + tools_bytes(&request.tools)
}

fn message_bytes(message: &Message) -> u64 {
    let content = match message {
        Message::System { text } | Message::User { text } => text.len() as u64,
        Message::Tool { id, text } => (id.as_str().len() + text.len()) as u64,
        Message::Assistant { text, calls, state } => {
            let calls = calls.iter().map(|call| {
                let arguments = match &call.arguments {
                    Arguments::Object(object) => object_bytes(object),
                    Arguments::Malformed(text) => text.len() as u64,
                };
                ITEM_BYTES + (call.id.as_str().len() + call.name.len()) as u64 + arguments
            });
            text.len() as u64 + calls.sum::<u64>() + state.bytes() as u64
        }
    };
    ITEM_BYTES + content
}

fn tools_bytes(tools: &[Tool]) -> u64 {
    let mut sum = 0;
    // Neighbours usually share their schema, and all tools are measured anew with every turn.
    let mut last: Option<(&WrittenObject, u64)> = None;
    for tool in tools {
        let same = last.filter(|(schema, _)| schema.is_copy_of(&tool.input_schema));
        let (_, schema) =
            *last.insert(same.unwrap_or_else(|| (&tool.input_schema, object_bytes(&tool.input_schema))));
        sum += ITEM_BYTES + (tool.name.len() + tool.description.len()) as u64 + schema;
    }
    sum
}

fn object_bytes(object: &Map<String, Value>) -> u64 {
    object.iter().map(|(name, value)| name.len() as u64 + MEMBER_BYTES + value_bytes(value)).sum::<u64>() + 2
}

/// The approximate size of a value as text. The parser limits its depth to 128 levels.
fn value_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => NUMBER_BYTES,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(values) => values.iter().map(|value| value_bytes(value) + 1).sum::<u64>() + 2,
        Value::Object(object) => object_bytes(object),
    }
}

/// What former requests teach.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Experience {
    /// Most tokens that a byte of a request took.
    tokens_per_byte: f64,
    /// Bytes of the largest request with that ratio.
    bytes: u64,
    /// Most tokens that a request took.
    input_tokens: u64,
    /// Most tokens of a reply.
    output_tokens: u64,
    /// Most tokens of a reply beyond its limit: some servers limit the words and not the thoughts before them.
    output_tokens_beyond: u64,
}

impl Experience {
    /// The most tokens that the request may take. Without experience each byte may be a token, which no tokenizer
    /// exceeds; with experience the highest ratio so far applies, for as many bytes as it was observed with. A small
    /// request says little about a large one, most of whose bytes are text instead of names and marks. A reply is
    /// assumed to be as long as its limit, or as the longest so far: without a limit a longer one may come, and is
    /// then booked anyway.
    pub(super) fn usage_max(&self, size: &RequestSize) -> Usage {
        let known = size.bytes.min(self.bytes);
        let of_known = (known as f64 * self.tokens_per_byte * MARGIN).ceil() as u64;
        let own = of_known.saturating_add(size.bytes - known);
        // The conversation that the server inserts is taken to be as long as the longest request and the longest reply
        // so far.
        let before = if size.goes_on { self.input_tokens.saturating_add(self.output_tokens) } else { 0 };
        let output = match size.output_tokens_max {
            Some(limit) => limit.saturating_add(self.output_tokens_beyond),
            None => self.output_tokens.max(OUTPUT_TOKENS_FLOOR),
        };
        Usage::new(own.saturating_add(before), output)
    }

    /// Takes note of what a request took.
    pub(super) fn learn(&mut self, size: &RequestSize, usage: Usage) {
        // If the server inserts a conversation, its count is for more text than these bytes. Otherwise the divisor is
        // not 0, because every request counts at least `ITEM_BYTES`.
        if !size.goes_on {
            let ratio = usage.input_tokens as f64 / size.bytes as f64;
            self.tokens_per_byte = self.tokens_per_byte.max(ratio);
            // A missing count says nothing about requests of this size.
            if usage.input_tokens > 0 {
                self.bytes = self.bytes.max(size.bytes);
            }
        }
        self.input_tokens = self.input_tokens.max(usage.input_tokens);
        self.output_tokens = self.output_tokens.max(usage.output_tokens);
        let beyond = size.output_tokens_max.map_or(0, |limit| usage.output_tokens.saturating_sub(limit));
        self.output_tokens_beyond = self.output_tokens_beyond.max(beyond);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64, output_tokens_max: Option<u64>, goes_on: bool) -> RequestSize {
        RequestSize { bytes, output_tokens_max, goes_on }
    }

    #[test]
    fn estimates_learn_from_what_was_taken() {
        let mut experience = Experience::default();
        let usage = |experience: &Experience, size| {
            let Usage { input_tokens, output_tokens, .. } = experience.usage_max(&size);
            (input_tokens, output_tokens)
        };
        assert_eq!(usage(&experience, size(4000, None, false)), (4000, OUTPUT_TOKENS_FLOOR));
        assert_eq!(usage(&experience, size(4000, Some(7), false)), (4000, 7));
        experience.learn(&size(4000, None, false), Usage::new(1000, 3000));
        experience.learn(&size(4000, None, false), Usage::new(800, 10));
        assert_eq!(usage(&experience, size(2000, None, false)), (625, 3000));
        // Bytes beyond the largest request so far may take a token each.
        assert_eq!(usage(&experience, size(8000, None, false)), (1250 + 4000, 3000));
        // The conversation stored by the server is assumed to be as large as the largest so far.
        assert_eq!(usage(&experience, size(80, None, true)), (25 + 4000, 3000));
        experience.learn(&size(80, None, true), Usage::new(5000, 1));
        assert_eq!(usage(&experience, size(2000, None, false)), (625, 3000));
        // Who exceeded a limit once may do so again.
        experience.learn(&size(4000, Some(100), false), Usage::new(800, 1100));
        assert_eq!(usage(&experience, size(2000, Some(7), false)).1, 1007);
        // A failed request teaches nothing.
        let mut fresh = Experience::default();
        fresh.learn(&size(4000, None, false), Usage::default());
        assert_eq!(usage(&fresh, size(4000, None, false)), (4000, OUTPUT_TOKENS_FLOOR));
    }
}
