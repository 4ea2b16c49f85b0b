//! A chat completion as a reply, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, ToolCall, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::state;
use crate::connection::calls::{NAMELESS, missing_id};
use crate::connection::ending::Ending;
use crate::connection::fault::{Fault, reported_error};
use crate::connection::left_over::{arguments_of, tool_name};
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
        // It also counts where it says that there is no reply, and the gateway calls that a stop.
        (None, Some(Ending::Stop)) if matches!(native, Some(Ending::Filter | Ending::Failed(_))) => {
            Ok(native)
        }
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
    /// The only call, in the old form of the protocol.
    #[serde(borrow)]
    function_call: Option<ReplyFunction<'a>>,
}

impl<'a> ReplyMessage<'a> {
    /// Its calls, in either form.
    fn take_calls(&mut self) -> Vec<ReplyCall<'a>> {
        let calls = self.tool_calls.take().unwrap_or_default();
        let has_name = |it: &ReplyFunction<'_>| it.name.as_ref().is_some_and(|name| !name.is_empty());
        let old = self.function_call.take().filter(|old| calls.is_empty() && has_name(old));
        let old = old.map(|function| ReplyCall { id: None, function: Some(function) });
        calls.into_iter().chain(old).collect()
    }
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
    let mut choices = choices.into_iter();
    let Some(choice) = choices.next() else {
        let fault = reported_error(bytes).map(|fault| fault.into_model_error(endpoint));
        return Err(fault.unwrap_or_else(|| endpoint.failed("`choices` is empty")));
    };
    // This comes before the message, which a choice that failed need not have.
    let ending = choice_ending(choice.finish_reason, choice.native_finish_reason, choice.error, endpoint)?;
    let Some(mut message) = choice.message else {
        return Err(endpoint.malformed("the first choice has no `message`"));
    };
    // One choice was asked for: some gateways divide it into one of words and one of calls.
    let mut wire_calls = message.take_calls();
    if wire_calls.is_empty() {
        let others = choices.filter_map(|choice| choice.message);
        let others = others.map(|mut message| message.take_calls());
        wire_calls = others.into_iter().find(|calls| !calls.is_empty()).unwrap_or_default();
    }
    // A refusal comes instead of content.
    let text = match message.content.map(|content| content.into_text("")) {
        Some(text) if !text.is_empty() => text,
        _ => message.refusal.unwrap_or_default(),
    };
    let mut calls = Vec::new();
    for (index, call) in wire_calls.into_iter().enumerate() {
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
            Some(raw) => arguments_of(&endpoint.arguments(raw)?),
        };
        calls.push(ToolCall { id, name: tool_name(name, request), arguments });
    }
    let usage = reply.usage.map(Usage::from).unwrap_or_default();
    let has_thoughts = message.reasoning_content || message.reasoning;
    let (text, thoughts, finish) = endpoint.ended(text, ending, !calls.is_empty(), has_thoughts, usage)?;
    let state = state::of_reply(bytes).with_thoughts(&thoughts);
    Ok(ChatReply { text, calls, finish, usage, id: None, state })
}
