//! A response as a reply, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, ToolCall, Usage};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::state;
use crate::connection::calls::{NAMELESS, missing_id};
use crate::connection::ending::Ending;
use crate::connection::fault::Fault;
use crate::connection::left_over::{arguments_of, tool_name};
use crate::content::Content;
use crate::counts::Counts;
use crate::http::Endpoint;
use crate::{ChatReply, ChatRequest, ModelError, ReplyId, lenient};

/// A response, whole or at the end of a stream.
#[derive(Deserialize)]
pub(super) struct WireResponse<'a> {
    id: Option<String>,
    #[serde(default, deserialize_with = "Status::read")]
    status: Option<Status>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
    incomplete_details: Option<Incomplete>,
    #[serde(borrow)]
    pub(super) output: Option<Vec<WireItem<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<Counts>,
}

#[derive(Clone, PartialEq, Eq)]
enum Status {
    Completed,
    Incomplete,
    Failed,
    /// In progress, queued, or anything that is no end.
    Other,
}

impl Status {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let word = lenient::name(deserializer)?;
        Ok(word.map(|word| match (word.as_str(), Ending::of(&word)) {
            ("incomplete", _) => Self::Incomplete,
            // Cancelled, and whatever else a server calls its failures.
            (_, Some(Ending::Failed(_))) => Self::Failed,
            (_, Some(Ending::Stop)) => Self::Completed,
            _ => Self::Other,
        }))
    }
}

#[derive(Deserialize)]
struct Incomplete {
    #[serde(default, deserialize_with = "Ending::read")]
    reason: Option<Ending>,
}

/// One item of the output, with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
pub(super) struct WireItem<'a> {
    /// The name that events give it.
    pub(super) id: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<ItemKind>,
    pub(super) content: Option<Content>,
    #[serde(default, deserialize_with = "lenient::name")]
    pub(super) call_id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// What an item is.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum ItemKind {
    /// Words, or a refusal in words.
    Message,
    /// A call of one of our tools.
    FunctionCall,
    Reasoning,
    /// The work of the server's own tools.
    #[serde(other)]
    Other,
}

/// How a response ended.
pub(super) struct End {
    pub(super) ending: Option<Ending>,
    pub(super) usage: Usage,
    pub(super) id: Option<ReplyId>,
}

impl WireResponse<'_> {
    /// The error that a failed one tells.
    pub(super) fn failure(&mut self, endpoint: &Endpoint) -> ModelError {
        match self.error.take() {
            Some(fault) => fault.into_model_error(endpoint),
            None => endpoint.failed("the response failed, and no error is told"),
        }
    }

    /// How it ended.
    ///
    /// # Errors
    /// The error that a failed one reports; [`ModelError::Malformed`] for one that has not ended.
    pub(super) fn end(&mut self, endpoint: &Endpoint) -> Result<End, ModelError> {
        if self.error.is_some() || self.status == Some(Status::Failed) {
            return Err(self.failure(endpoint));
        }
        let details = self.incomplete_details.take().and_then(|details| details.reason);
        let ending = match self.status {
            // A server that sends no status has only completed responses. The calls decide.
            Some(Status::Completed) | None => None,
            Some(Status::Incomplete) => Some(details.unwrap_or(Ending::Length)),
            Some(Status::Failed | Status::Other) => {
                return Err(endpoint.malformed("the response's status is not that of one that has ended"));
            }
        };
        let usage = self.usage.take().map(Usage::from);
        let id = self.id.take().filter(|id| !id.is_empty()).map(ReplyId);
        Ok(End { ending, usage: usage.unwrap_or_default(), id })
    }
}

/// Reads a whole response to `request`.
pub(super) fn read(
    endpoint: &Endpoint,
    bytes: &[u8],
    request: &ChatRequest,
) -> Result<ChatReply, ModelError> {
    let mut response: WireResponse<'_> = endpoint.parse(bytes, "response")?;
    // The end comes first, because a response that failed need not have any output.
    let end = response.end(endpoint)?;
    let Some(items) = response.output else {
        return Err(endpoint.no_reply(bytes, "no `output`: does the base URL end before /responses?"));
    };
    let (mut text, mut calls, mut has_thoughts) = (String::new(), Vec::new(), false);
    for item in items {
        match item.kind {
            Some(ItemKind::Message) => {
                text.push_str(&item.content.map(|content| content.into_text("")).unwrap_or_default());
            }
            Some(ItemKind::FunctionCall) => {
                let id = match item.call_id {
                    Some(id) if !id.is_empty() => CallId::new(id),
                    _ => missing_id(request, calls.len()),
                };
                let arguments = match item.arguments {
                    None => Arguments::none(),
                    Some(raw) => arguments_of(&endpoint.arguments(raw)?),
                };
                let Some(name) = item.name.filter(|name| !name.is_empty()) else {
                    return Err(endpoint.malformed(NAMELESS));
                };
                calls.push(ToolCall { id, name: tool_name(name, request), arguments });
            }
            Some(ItemKind::Reasoning) => has_thoughts = true,
            Some(ItemKind::Other) | None => {}
        }
    }
    let (text, thoughts, finish) =
        endpoint.ended(text, end.ending, !calls.is_empty(), has_thoughts, end.usage)?;
    let state = state::of_response(bytes).with_thoughts(&thoughts);
    Ok(ChatReply { text, calls, finish, usage: end.usage, id: end.id, state })
}
