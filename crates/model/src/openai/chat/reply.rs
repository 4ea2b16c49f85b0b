//! A chat completion as a reply, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, FinishReason, ToolCall, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::fault::Fault;
use crate::connection::stream::missing_id;
use crate::connection::thoughts::Thoughts;
use crate::content::Content;
use crate::http::Endpoint;
use crate::{ChatReply, ChatRequest, ModelError, lenient};

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<WireUsage>,
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<ReplyMessage<'a>>,
    finish_reason: Option<WireFinish>,
}

#[derive(Deserialize)]
struct ReplyMessage<'a> {
    content: Option<Content>,
    refusal: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ReplyCall<'a>>>,
}

#[derive(Deserialize)]
struct ReplyCall<'a> {
    #[serde(default, deserialize_with = "lenient::name")]
    id: Option<String>,
    #[serde(borrow)]
    function: Option<ReplyFunction<'a>>,
}

/// The function of a call, whole or in part.
#[derive(Deserialize)]
pub(super) struct ReplyFunction<'a> {
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// Token counts; a missing or invalid count is zero.
#[derive(Deserialize, Clone, Copy)]
pub(in crate::openai) struct WireUsage {
    #[serde(default, deserialize_with = "lenient::count")]
    pub(in crate::openai) prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    completion_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(usage: WireUsage) -> Self {
        Self {
            input_tokens: usage.prompt_tokens.unwrap_or(0),
            output_tokens: usage.completion_tokens.unwrap_or(0),
        }
    }
}

/// Why the model stopped.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(in crate::openai) enum WireFinish {
    Stop,
    ToolCalls,
    FunctionCall,
    Length,
    ContentFilter,
    /// Some servers send it with every part of a stream.
    #[serde(rename = "")]
    Unfinished,
    #[serde(other)]
    Other,
}

impl WireFinish {
    /// The reason in our terms. If the server names no known reason, the calls decide.
    pub(in crate::openai) fn reason(given: Option<Self>, has_calls: bool) -> FinishReason {
        match given {
            Some(Self::Stop) => FinishReason::Stop,
            Some(Self::ToolCalls | Self::FunctionCall) => FinishReason::ToolCalls,
            Some(Self::Length) => FinishReason::Length,
            Some(Self::ContentFilter) => FinishReason::ContentFilter,
            Some(Self::Other | Self::Unfinished) | None if has_calls => FinishReason::ToolCalls,
            Some(Self::Other | Self::Unfinished) | None => FinishReason::Stop,
        }
    }
}

/// Reads a whole reply to `request`.
pub(in crate::openai) fn read(
    endpoint: &Endpoint,
    bytes: &[u8],
    request: &ChatRequest,
) -> Result<ChatReply, ModelError> {
    let reply: Reply<'_> = endpoint.parse(bytes, "chat completion")?;
    if let Some(error) = reply.error {
        return Err(error.into_model_error(endpoint));
    }
    let Some(choices) = reply.choices else {
        return Err(endpoint.malformed("no `choices`: does the base URL end before /chat/completions?"));
    };
    let Some(choice) = choices.into_iter().next() else {
        return Err(endpoint.malformed("`choices` is empty"));
    };
    let Some(message) = choice.message else {
        return Err(endpoint.malformed("the first choice has no `message`"));
    };
    // A refusal comes instead of content.
    let text = match message.content.map(|content| content.into_text("")) {
        Some(text) if !text.is_empty() => Thoughts::removed_from(text),
        _ => message.refusal.unwrap_or_default(),
    };
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
        let arguments = match arguments {
            None => Arguments::none(),
            Some(raw) => Arguments::from_text(&endpoint.arguments(raw)?),
        };
        calls.push(ToolCall { id, name, arguments });
    }
    Ok(ChatReply {
        finish: WireFinish::reason(choice.finish_reason, !calls.is_empty()),
        usage: reply.usage.map(Usage::from).unwrap_or_default(),
        text,
        calls,
        id: None,
    })
}
