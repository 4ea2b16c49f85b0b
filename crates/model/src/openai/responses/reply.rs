//! A response as a reply, read into types that keep only what is used.

use planproof_trace::{Arguments, CallId, FinishReason, ToolCall, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::fault::Fault;
use crate::connection::stream::missing_id;
use crate::connection::thoughts::Thoughts;
use crate::content::Content;
use crate::http::Endpoint;
use crate::{ChatReply, ChatRequest, ModelError, ReplyId, lenient};

/// A response, whole or at the end of a stream.
#[derive(Deserialize)]
pub(super) struct WireResponse<'a> {
    id: Option<String>,
    status: Option<Status>,
    error: Option<Fault>,
    incomplete_details: Option<Incomplete>,
    #[serde(borrow)]
    pub(super) output: Option<Vec<WireItem<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<WireUsage>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Status {
    Completed,
    Incomplete,
    Failed,
    /// Cancelled, in progress, queued.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default, deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
}

/// One item of the output, with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
pub(super) struct WireItem<'a> {
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
    /// Thoughts, and the work of the server's own tools.
    #[serde(other)]
    Other,
}

/// How a response ended.
pub(super) struct End {
    finish: FinishReason,
    pub(super) usage: Usage,
    pub(super) id: Option<ReplyId>,
}

impl End {
    /// The reason in our terms. A model that was not cut off expects its calls to be executed, if there are any.
    pub(super) fn finish(&self, has_calls: bool) -> FinishReason {
        match self.finish {
            FinishReason::Stop if has_calls => FinishReason::ToolCalls,
            finish => finish,
        }
    }
}

impl WireResponse<'_> {
    /// The error that a failed one tells.
    pub(super) fn failure(&mut self, endpoint: &Endpoint) -> ModelError {
        let untold = || Fault::Text("the response failed, and no error is told".to_owned());
        self.error.take().unwrap_or_else(untold).into_model_error(endpoint)
    }

    /// How it ended.
    ///
    /// # Errors
    /// The error that a failed one reports; [`ModelError::Malformed`] for one that has not ended.
    pub(super) fn end(&mut self, endpoint: &Endpoint) -> Result<End, ModelError> {
        if self.error.is_some() || self.status == Some(Status::Failed) {
            return Err(self.failure(endpoint));
        }
        let finish = match self.status {
            // A server that sends no status has only completed responses.
            Some(Status::Completed) | None => FinishReason::Stop,
            Some(Status::Incomplete) => {
                let details = self.incomplete_details.take().and_then(|details| details.reason);
                match details.as_deref() {
                    Some("content_filter") => FinishReason::ContentFilter,
                    _ => FinishReason::Length,
                }
            }
            Some(Status::Failed | Status::Other) => {
                return Err(endpoint.malformed("the response's status is not that of one that has ended"));
            }
        };
        let usage = self.usage.take().map(|usage| Usage {
            input_tokens: usage.input_tokens.unwrap_or(0),
            output_tokens: usage.output_tokens.unwrap_or(0),
        });
        let id = self.id.take().filter(|id| !id.is_empty()).map(ReplyId);
        Ok(End { finish, usage: usage.unwrap_or_default(), id })
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
        return Err(endpoint.malformed("no `output`: does the base URL end before /responses?"));
    };
    let (mut text, mut calls) = (String::new(), Vec::new());
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
                    Some(raw) => Arguments::from_text(&endpoint.arguments(raw)?),
                };
                calls.push(ToolCall { id, name: item.name.unwrap_or_default(), arguments });
            }
            Some(ItemKind::Other) | None => {}
        }
    }
    let finish = end.finish(!calls.is_empty());
    let text = Thoughts::removed_from(text);
    Ok(ChatReply { text, calls, finish, usage: end.usage, id: end.id })
}
