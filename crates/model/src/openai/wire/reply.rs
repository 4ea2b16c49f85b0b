//! What comes back as a chat completion, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, FinishReason, ToolCall, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::content::{Content, arguments_text};
use crate::http::Endpoint;
use crate::{ChatReply, ChatRequest, Message, ModelError};

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<WireUsage>,
    error: Option<WireError>,
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
    id: Option<String>,
    #[serde(borrow)]
    function: Option<ReplyFunction<'a>>,
}

/// The function of a call, whole or in part.
#[derive(Deserialize)]
pub(in crate::openai) struct ReplyFunction<'a> {
    pub(in crate::openai) name: Option<String>,
    #[serde(borrow)]
    pub(in crate::openai) arguments: Option<&'a RawValue>,
}

/// Token counts; what a server does not say counts as zero.
#[derive(Deserialize, Clone, Copy)]
pub(in crate::openai) struct WireUsage {
    prompt_tokens: Option<u64>,
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
    /// The reason in our words. Where the server names none that is known, the calls tell.
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

/// An error object. Gateways also put it into answers of status 200 and into streams that have begun.
#[derive(Deserialize)]
#[serde(untagged)]
pub(in crate::openai) enum WireError {
    Object { message: Option<String>, code: Option<serde_json::Value> },
    Text(String),
    Other(serde::de::IgnoredAny),
}

impl WireError {
    /// The error that such an object stands for. Its status is its numeric code, or 500 without one.
    pub(in crate::openai) fn into_model_error(self, endpoint: &Endpoint) -> ModelError {
        let (message, code) = match self {
            Self::Object { message, code } => (message, code),
            Self::Text(text) => (Some(text), None),
            Self::Other(_) => (None, None),
        };
        let status = code
            .and_then(|code| code.as_u64())
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| (400..600).contains(code));
        ModelError::Status {
            url: endpoint.url().to_owned(),
            status: status.unwrap_or(500),
            message: endpoint.line(message.as_deref().unwrap_or("an error without a message")),
            retry_after: None,
        }
    }
}

/// The message in an error reply of OpenAI's shape, or of the shapes that other servers use.
pub(crate) fn error_message(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct ErrorReply {
        error: Option<WireError>,
        message: Option<String>,
        detail: Option<String>,
    }
    let reply: ErrorReply = serde_json::from_slice(bytes).ok()?;
    match reply.error {
        Some(WireError::Object { message: Some(text), .. } | WireError::Text(text)) => Some(text),
        _ => reply.message.or(reply.detail),
    }
}

/// An id for a call that came without one: no other call of the conversation has it.
pub(in crate::openai) fn missing_id(request: &ChatRequest, index: usize) -> CallId {
    let earlier: usize = request
        .messages
        .iter()
        .map(|message| if let Message::Assistant { calls, .. } = message { calls.len() } else { 0 })
        .sum();
    CallId::new(format!("unnamed_call_{}", earlier + index))
}

/// Reads a whole reply to `request`.
pub(in crate::openai) fn read_reply(
    endpoint: &Endpoint,
    bytes: &[u8],
    request: &ChatRequest,
) -> Result<ChatReply, ModelError> {
    let reply: Reply<'_> = serde_json::from_slice(bytes).map_err(|error| {
        // Far more than is shown, so that the key is not cut in two before it is taken out.
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        endpoint.malformed(&format!("no chat completion: {error}; it begins with: {start}"))
    })?;
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
    let text = match message.content.map(|content| content.into_text("")) {
        Some(text) if !text.is_empty() => text,
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
            Some(raw) => Arguments::from_text(
                &arguments_text(raw)
                    .map_err(|error| endpoint.malformed(&format!("a call's arguments: {error}")))?,
            ),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_messages_are_found_in_every_known_shape() {
        for body in [
            r#"{"error":{"message":"m","type":"t","code":null}}"#,
            r#"{"error":"m"}"#,
            r#"{"object":"error","message":"m"}"#,
            r#"{"detail":"m"}"#,
        ] {
            assert_eq!(error_message(body.as_bytes()).as_deref(), Some("m"), "{body}");
        }
        assert_eq!(error_message(b"<html>"), None);
    }

    #[test]
    fn ids_that_were_left_out_differ_over_the_whole_conversation() {
        let call = |id| ToolCall { id, name: "n".into(), arguments: Arguments::none() };
        let mut request = ChatRequest {
            messages: vec![],
            tools: std::sync::Arc::from([]),
            settings: crate::Settings::default(),
            previous: None,
        };
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..3 {
            let ids: Vec<_> = (0..2).map(|index| missing_id(&request, index)).collect();
            assert!(ids.iter().all(|id| seen.insert(id.clone())), "{ids:?} again");
            let calls = ids.into_iter().map(call).collect();
            request.messages.push(Message::Assistant { text: String::new(), calls });
        }
    }
}
