//! A chat completion as a reply, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, ToolCall, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::state;
use crate::connection::calls::{NAMELESS, missing_id};
use crate::connection::ending::Ending;
use crate::connection::fault::{Fault, told};
use crate::content::Content;
use crate::counts::Counts;
use crate::http::Endpoint;
use crate::{ChatReply, ChatRequest, ModelError, lenient};

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<Counts>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<ReplyMessage<'a>>,
    #[serde(default, deserialize_with = "Ending::read")]
    finish_reason: Option<Ending>,
    #[serde(default, deserialize_with = "Ending::read")]
    native_finish_reason: Option<Ending>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

/// Why a choice ended, whole or in pieces, if it says so: the server's word, the word of the provider behind a gateway,
/// and why the provider failed.
///
/// # Errors
/// The error that the provider reports.
pub(in crate::openai) fn choice_ending(
    given: Option<Ending>,
    native: Option<Ending>,
    fault: Option<Fault>,
    endpoint: &Endpoint,
) -> Result<Option<Ending>, ModelError> {
    match (fault, given) {
        (Some(fault), _) => Err(fault.within_reply(endpoint)),
        // The provider's word counts where the gateway found none for it.
        (None, None | Some(Ending::Unknown(_))) if native.is_some() => Ok(native),
        (None, given) => Ok(given),
    }
}

#[derive(Deserialize)]
struct ReplyMessage<'a> {
    content: Option<Content>,
    refusal: Option<String>,
    /// Thoughts, by either of their names.
    #[serde(default, deserialize_with = "lenient::has_text")]
    reasoning_content: bool,
    #[serde(default, deserialize_with = "lenient::has_text")]
    reasoning: bool,
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
        return Err(endpoint.no_reply(bytes, "no `choices`: does the base URL end before /chat/completions?"));
    };
    let Some(choice) = choices.into_iter().next() else {
        let fault = told(bytes).map(|fault| fault.into_model_error(endpoint));
        return Err(fault.unwrap_or_else(|| endpoint.failed("`choices` is empty")));
    };
    // This comes before the message, which a choice that failed need not have.
    let ending = choice_ending(choice.finish_reason, choice.native_finish_reason, choice.error, endpoint)?;
    let Some(message) = choice.message else {
        return Err(endpoint.malformed("the first choice has no `message`"));
    };
    // A refusal comes instead of content.
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
        if name.is_empty() {
            return Err(endpoint.malformed(NAMELESS));
        }
        let arguments = match arguments {
            None => Arguments::none(),
            Some(raw) => Arguments::from_text(&endpoint.arguments(raw)?),
        };
        calls.push(ToolCall { id, name, arguments });
    }
    let usage = reply.usage.map(Usage::from).unwrap_or_default();
    let has_thoughts = message.reasoning_content || message.reasoning;
    let (text, thoughts, finish) = endpoint.ended(text, ending, !calls.is_empty(), has_thoughts, usage)?;
    let state = state::of_reply(bytes).with_thoughts(&thoughts);
    Ok(ChatReply { text, calls, finish, usage, id: None, state })
}
