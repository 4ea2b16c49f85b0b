//! A message as a reply, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, ToolCall, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::partial::Join;
use super::state;
use crate::connection::calls::{NAMELESS, missing_id};
use crate::connection::ending::Ending;
use crate::connection::fault::Fault;
use crate::connection::left_over::tool_name;
use crate::http::Endpoint;
use crate::{ChatReply, ChatRequest, ModelError, lenient};

/// A message, whole or at the beginning of a stream.
#[derive(Deserialize)]
pub(super) struct WireReply<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Vec<WireBlock<'a>>>,
    #[serde(default, deserialize_with = "Ending::read")]
    pub(super) stop_reason: Option<Ending>,
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) usage: Option<WireUsage>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

/// One block of the content, with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
pub(super) struct WireBlock<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<BlockKind>,
    pub(super) text: Option<String>,
    #[serde(default, deserialize_with = "lenient::name")]
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// What a block is.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum BlockKind {
    Text,
    /// A call of one of our tools.
    ToolUse,
    /// Thoughts, readable or not.
    #[serde(alias = "redacted_thinking")]
    Thinking,
    /// The work of the server's own tools.
    #[serde(other)]
    Other,
}

/// Token counts. Tokens that the server reads from its cache or writes to it have been read nevertheless.
#[derive(Deserialize, Clone, Copy)]
pub(super) struct WireUsage {
    #[serde(default, deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
}

impl WireUsage {
    /// The counts here and in `earlier`. A stream reports its counts several times, each time as the sum so far, and
    /// some servers report a count only once.
    pub(super) fn over(self, earlier: Usage) -> Usage {
        let cached = self.cache_read_input_tokens.unwrap_or(0);
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let input = self.input_tokens.unwrap_or(0).saturating_add(cached).saturating_add(written);
        let output = self.output_tokens.unwrap_or(0);
        Usage {
            input_tokens: input.max(earlier.input_tokens),
            output_tokens: output.max(earlier.output_tokens),
            cached_tokens: cached.max(earlier.cached_tokens),
            cache_write_tokens: written.max(earlier.cache_write_tokens),
            // The protocol does not count thoughts apart.
            reasoning_tokens: 0,
        }
    }
}

/// Reads a whole reply to `request`.
pub(super) fn read(
    endpoint: &Endpoint,
    bytes: &[u8],
    request: &ChatRequest,
) -> Result<ChatReply, ModelError> {
    let reply: WireReply<'_> = endpoint.parse(bytes, "message")?;
    // Checked before `content`, because gateways also send an error object with status 200.
    if let Some(fault) = reply.error {
        return Err(fault.into_model_error(endpoint));
    }
    let Some(blocks) = reply.content else {
        return Err(endpoint.no_reply(bytes, "no `content`: does the base URL end before /v1/messages?"));
    };
    let (mut text, mut calls, mut has_thoughts) = (String::new(), Vec::new(), false);
    for block in blocks {
        match block.kind {
            Some(BlockKind::Text) => text.push_str(&block.text.unwrap_or_default()),
            Some(BlockKind::ToolUse) => {
                let id = match block.id {
                    Some(id) if !id.is_empty() => CallId::new(id),
                    _ => missing_id(request, calls.len()),
                };
                let arguments = match block.input {
                    None => Arguments::none(),
                    Some(raw) => Arguments::from_text(&endpoint.arguments(raw)?),
                };
                let Some(name) = block.name.filter(|name| !name.is_empty()) else {
                    return Err(endpoint.malformed(NAMELESS));
                };
                calls.push(ToolCall { id, name: tool_name(name, request), arguments });
            }
            Some(BlockKind::Thinking) => has_thoughts = true,
            Some(BlockKind::Other) | None => {}
        }
    }
    let text = Join::new(request).push(text);
    let usage = reply.usage.map(|usage| usage.over(Usage::default())).unwrap_or_default();
    let (text, thoughts, finish) =
        endpoint.ended(text, reply.stop_reason, !calls.is_empty(), has_thoughts, usage)?;
    let state = state::of_message(bytes).with_thoughts(&thoughts);
    Ok(ChatReply { text, calls, finish, usage, id: None, state })
}
