//! The wire format of a response and its output items.

use std::borrow::Cow;

use planproof_trace::{FinishReason, Usage};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::ChatReply;
use crate::server::request::{Namespaced, OfferedTools};

/// The id of answer `number`.
pub(super) fn response_id(number: u64) -> String {
    format!("resp_{number}")
}

/// The number in an answer's id; `None` for a foreign id.
pub(super) fn response_number(id: &str) -> Option<u64> {
    decimal(id.strip_prefix("resp_")?)
}

/// What an item's id names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ItemName {
    /// A piece of the text of an answer. Only streams have more than one.
    Text { response: u64, place: usize },
    /// One of its calls, counted from 0.
    Call { response: u64, place: usize },
    /// What the model's server wants back with it.
    State { response: u64, place: usize },
}

impl ItemName {
    fn to_id(&self) -> String {
        match self {
            Self::Text { response, place } => format!("msg_{response}_{place}"),
            Self::Call { response, place } => format!("fc_{response}_{place}"),
            Self::State { response, place } => format!("rs_{response}_{place}"),
        }
    }
}

/// Reads an item's id; `None` for a foreign id.
pub(super) fn item_name(id: &str) -> Option<ItemName> {
    let (kind, rest) = id.split_once('_')?;
    let (response, place) = rest.split_once('_')?;
    let (response, place) = (decimal(response)?, usize::try_from(decimal(place)?).ok()?);
    match kind {
        "msg" => Some(ItemName::Text { response, place }),
        "fc" => Some(ItemName::Call { response, place }),
        "rs" => Some(ItemName::State { response, place }),
        _ => None,
    }
}

fn decimal(digits: &str) -> Option<u64> {
    // `parse` alone would also take a plus sign.
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// An output item, complete or still growing.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) complete: bool,
    pub(super) body: ItemBody,
}

/// What is in it.
#[derive(Debug, Clone)]
pub(super) enum ItemBody {
    Text {
        text: String,
    },
    Call {
        call_id: String,
        /// As the model was offered the tool.
        name: String,
        /// The name as the client offered it, if it has a namespace.
        namespaced: Option<Namespaced>,
        arguments: String,
    },
    /// State that is given to the client as encrypted reasoning, which it returns unread.
    Sealed(String),
}

impl Item {
    /// An empty text.
    pub(super) fn text(response: u64, place: usize) -> Self {
        let id = ItemName::Text { response, place }.to_id();
        Self { id, complete: false, body: ItemBody::Text { text: String::new() } }
    }

    /// A call without its arguments.
    pub(super) fn call(
        response: u64,
        place: usize,
        call_id: String,
        name: String,
        offered: &OfferedTools,
    ) -> Self {
        let id = ItemName::Call { response, place }.to_id();
        let namespaced = offered.namespaced(&name).cloned();
        let body = ItemBody::Call { call_id, name, namespaced, arguments: String::new() };
        Self { id, complete: false, body }
    }

    /// The items of a whole reply. One without text and calls still has a message.
    pub(super) fn all_of(response: u64, reply: &ChatReply, offered: &OfferedTools) -> Vec<Self> {
        let sealed = reply.state.sealed(|_| false).map(|text| Self::sealed(response, text));
        let words = (!reply.text.is_empty() || reply.calls.is_empty()).then(|| {
            let body = ItemBody::Text { text: reply.text.clone() };
            Self { complete: true, body, ..Self::text(response, 0) }
        });
        let calls = reply.calls.iter().enumerate().map(|(place, call)| {
            let body = ItemBody::Call {
                call_id: call.id.as_str().to_owned(),
                name: call.name.clone(),
                namespaced: offered.namespaced(&call.name).cloned(),
                arguments: call.arguments.to_text(),
            };
            Self { id: ItemName::Call { response, place }.to_id(), complete: true, body }
        });
        sealed.into_iter().chain(words).chain(calls).collect()
    }

    /// State for the client to return.
    pub(super) fn sealed(response: u64, text: String) -> Self {
        let id = ItemName::State { response, place: 0 }.to_id();
        Self { id, complete: true, body: ItemBody::Sealed(text) }
    }
}

/// The part of a message that holds its text.
#[derive(Serialize)]
pub(super) struct TextPart<'a> {
    r#type: &'static str,
    text: &'a str,
    annotations: [(); 0],
    logprobs: [(); 0],
}

impl<'a> TextPart<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { r#type: "output_text", text, annotations: [], logprobs: [] }
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Item", 7)?;
        fields.serialize_field("id", &self.id)?;
        let status = if self.complete { "completed" } else { "in_progress" };
        match &self.body {
            ItemBody::Sealed(text) => {
                fields.serialize_field("type", "reasoning")?;
                fields.serialize_field("summary", &[(); 0])?;
                fields.serialize_field("encrypted_content", text)?;
            }
            ItemBody::Text { text } => {
                fields.serialize_field("type", "message")?;
                fields.serialize_field("status", status)?;
                fields.serialize_field("role", "assistant")?;
                let part = [TextPart::new(text)];
                // A message that has just begun has no part yet.
                fields.serialize_field("content", if self.complete { &part[..] } else { &[] })?;
            }
            ItemBody::Call { call_id, name, namespaced, arguments } => {
                fields.serialize_field("type", "function_call")?;
                fields.serialize_field("status", status)?;
                fields.serialize_field("call_id", call_id)?;
                match namespaced {
                    None => fields.serialize_field("name", name)?,
                    // The client knows the tool by the two parts of its name.
                    Some(Namespaced { namespace, name }) => {
                        fields.serialize_field("namespace", namespace)?;
                        fields.serialize_field("name", name)?;
                    }
                }
                fields.serialize_field("arguments", if self.complete { arguments.as_str() } else { "" })?;
            }
        }
        fields.end()
    }
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome<'a> {
    /// The model is writing.
    InProgress,
    Ended(FinishReason, Usage),
    /// It broke off, with these words.
    Failed(&'a str),
}

impl Outcome<'_> {
    /// The status, which is also the last word of the name of its event.
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Ended(FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Cut, _) => "completed",
            Self::Ended(FinishReason::Length | FinishReason::ContentFilter, _) => "incomplete",
            Self::Failed(_) => "failed",
        }
    }
}

/// The fields that all objects of one answer share.
pub(super) struct Envelope {
    pub(super) id: String,
    pub(super) created_at: u64,
    pub(super) model: String,
    pub(super) previous_response_id: Option<String>,
}

/// A response object.
#[derive(Serialize)]
pub(super) struct ResponseBody<'a> {
    id: &'a str,
    object: &'static str,
    created_at: u64,
    status: &'static str,
    error: Option<Failure<'a>>,
    incomplete_details: Option<Incomplete>,
    instructions: Option<()>,
    metadata: Empty,
    model: &'a str,
    output: &'a [Item],
    parallel_tool_calls: bool,
    previous_response_id: Option<&'a str>,
    temperature: Option<f64>,
    tool_choice: &'static str,
    tools: [(); 0],
    top_p: Option<f64>,
    usage: Option<WireUsage>,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Failure<'a> {
    code: &'static str,
    message: Cow<'a, str>,
}

#[derive(Serialize)]
struct Incomplete {
    reason: &'static str,
}

#[derive(Serialize)]
struct WireUsage {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Serialize)]
struct InputDetails {
    cached_tokens: u64,
}

#[derive(Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl Envelope {
    /// The response object.
    pub(super) fn response<'a>(&'a self, outcome: Outcome<'a>, output: &'a [Item]) -> ResponseBody<'a> {
        let (usage, reason, error) = match outcome {
            Outcome::InProgress => (None, None, None),
            Outcome::Failed(words) => (None, None, Some(words)),
            Outcome::Ended(FinishReason::Length, usage) => (Some(usage), Some("max_output_tokens"), None),
            Outcome::Ended(FinishReason::ContentFilter, usage) => (Some(usage), Some("content_filter"), None),
            Outcome::Ended(_, usage) => (Some(usage), None, None),
        };
        ResponseBody {
            id: &self.id,
            object: "response",
            created_at: self.created_at,
            status: outcome.status(),
            error: error.map(|words| Failure { code: "server_error", message: words.into() }),
            incomplete_details: reason.map(|reason| Incomplete { reason }),
            instructions: None,
            metadata: Empty {},
            model: &self.model,
            output,
            parallel_tool_calls: true,
            previous_response_id: self.previous_response_id.as_deref(),
            temperature: None,
            tool_choice: "auto",
            tools: [],
            top_p: None,
            usage: usage.map(|usage| WireUsage {
                input_tokens: usage.input_tokens,
                input_tokens_details: InputDetails { cached_tokens: usage.cached_tokens },
                output_tokens: usage.output_tokens,
                output_tokens_details: OutputDetails { reasoning_tokens: usage.reasoning_tokens },
                total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            }),
        }
    }
}
