//! A message as it stands on the wire.

use planproof_trace::{FinishReason, ToolCall, Usage};
use serde::Serialize;

use crate::ChatReply;
use crate::content::ArgumentsObject;
use crate::turn_state::{Placed, StateFields, StateForm};

/// The fields that all objects of one answer share.
pub(super) struct Envelope {
    pub(super) id: String,
    pub(super) model: String,
}

/// A message, whole or just begun.
#[derive(Serialize)]
pub(super) struct MessageBody<'a> {
    id: &'a str,
    r#type: &'static str,
    role: &'static str,
    model: &'a str,
    content: Vec<AnyBlock<'a>>,
    stop_reason: Option<&'static str>,
    stop_sequence: Option<()>,
    usage: WireUsage,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: ArgumentsObject<'a>,
    },
    /// State that the client returns unread.
    RedactedThinking {
        data: String,
    },
}

/// A block, or one that the model's server sent, as it came.
#[derive(Serialize)]
#[serde(untagged)]
enum AnyBlock<'a> {
    Ours {
        #[serde(flatten)]
        block: Block<'a>,
        #[serde(flatten)]
        state: StateFields<'a>,
    },
    Foreign(StateFields<'a>),
}

/// Tokens taken.
#[derive(Serialize)]
pub(super) struct WireUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        // The protocol does not count thoughts apart.
        let Usage { input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens: _ } =
            usage;
        Self {
            input_tokens: input_tokens.saturating_sub(cached_tokens).saturating_sub(cache_write_tokens),
            cache_creation_input_tokens: cache_write_tokens,
            cache_read_input_tokens: cached_tokens,
            output_tokens,
        }
    }
}

/// Why the model stopped.
pub(super) fn stop_reason(finish: FinishReason, has_calls: bool) -> &'static str {
    match finish {
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Stop | FinishReason::Cut if has_calls => "tool_use",
        FinishReason::Stop | FinishReason::Cut => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "refusal",
    }
}

impl Envelope {
    /// A whole message. Text comes before calls; without text, there is no block for it.
    pub(super) fn message<'a>(&'a self, reply: &'a ChatReply) -> MessageBody<'a> {
        let sealed = reply.state.sealed(|part| part.form() == StateForm::Messages);
        let ours = |block, state| AnyBlock::Ours { block, state: StateFields(state) };
        let sealed = sealed.map(|data| ours(Block::RedactedThinking { data }, None));
        let placed = reply.state.placed(StateForm::Messages, !reply.text.is_empty(), reply.calls.len());
        let blocks = placed.into_iter().map(|placed| match placed {
            Placed::Text(state) => ours(Block::Text { text: &reply.text }, state),
            Placed::Call(call, state) => {
                let ToolCall { id, name, arguments } = &reply.calls[call];
                ours(Block::ToolUse { id: id.as_str(), name, input: ArgumentsObject(arguments) }, state)
            }
            Placed::Item(part) => AnyBlock::Foreign(StateFields(Some(part))),
        });
        MessageBody {
            content: sealed.into_iter().chain(blocks).collect(),
            stop_reason: Some(stop_reason(reply.finish, !reply.calls.is_empty())),
            usage: reply.usage.into(),
            ..self.begun()
        }
    }

    /// A message before its content. Its token counts come at its end.
    pub(super) fn begun(&self) -> MessageBody<'_> {
        MessageBody {
            id: &self.id,
            r#type: "message",
            role: "assistant",
            model: &self.model,
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            usage: Usage::default().into(),
        }
    }
}
