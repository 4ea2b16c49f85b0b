//! The wire format of generated content.

use planproof_trace::{FinishReason, ToolCall, Usage};
use serde::Serialize;

use crate::ChatReply;
use crate::content::ArgumentsObject;

/// The fields that all objects of one answer share.
pub(super) struct Envelope {
    pub(super) id: String,
    pub(super) model: String,
}

/// A reply, or a piece of one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContentBody<'a> {
    candidates: [Candidate<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<WireUsage>,
    model_version: &'a str,
    response_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    content: ModelContent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'static str>,
    index: u32,
}

#[derive(Serialize)]
struct ModelContent<'a> {
    parts: Vec<Part<'a>>,
    role: &'static str,
}

/// A part of the model's turn.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Part<'a> {
    Text(&'a str),
    FunctionCall { id: &'a str, name: &'a str, args: ArgumentsObject<'a> },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireUsage {
    prompt_token_count: u64,
    candidates_token_count: u64,
    total_token_count: u64,
}

impl<'a> Part<'a> {
    pub(super) fn call(call: &'a ToolCall) -> Self {
        let ToolCall { id, name, arguments } = call;
        Self::FunctionCall { id: id.as_str(), name, args: ArgumentsObject(arguments) }
    }
}

/// The finish reason. Calls have no reason of their own.
fn finish_reason(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop | FinishReason::Cut | FinishReason::ToolCalls => "STOP",
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::ContentFilter => "SAFETY",
    }
}

impl Envelope {
    /// A whole reply. One without text and calls still has a part.
    pub(super) fn whole<'a>(&'a self, reply: &'a ChatReply) -> ContentBody<'a> {
        let has_words = !reply.text.is_empty() || reply.calls.is_empty();
        let words = has_words.then_some(Part::Text(&reply.text));
        let parts = words.into_iter().chain(reply.calls.iter().map(Part::call)).collect();
        self.piece(parts, Some((reply.finish, reply.usage)))
    }

    /// A piece of a reply; the last one has its end.
    pub(super) fn piece<'a>(
        &'a self,
        parts: Vec<Part<'a>>,
        end: Option<(FinishReason, Usage)>,
    ) -> ContentBody<'a> {
        let content = ModelContent { parts, role: "model" };
        let finish_reason = end.map(|(finish, _)| finish_reason(finish));
        let usage_metadata = end.map(|(_, Usage { input_tokens, output_tokens, .. })| WireUsage {
            prompt_token_count: input_tokens,
            candidates_token_count: output_tokens,
            total_token_count: input_tokens.saturating_add(output_tokens),
        });
        ContentBody {
            candidates: [Candidate { content, finish_reason, index: 0 }],
            usage_metadata,
            model_version: &self.model,
            response_id: &self.id,
        }
    }
}
