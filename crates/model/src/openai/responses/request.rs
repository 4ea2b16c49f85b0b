//! A request for a response, written straight from the conversation.

use planproof_trace::{Tool, ToolCall, WrittenObject};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use crate::connection::parameters::Refused;
use crate::openai::chat::request::{ArgumentsText, size_hint};
use crate::turn_state::{Placed, StateForm, StatePart};
use crate::{ChatRequest, Message, ReplyId, Settings};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_response_id: Option<&'a str>,
    input: Input<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    store: bool,
    /// Said in either case: some servers stream unless they are told otherwise.
    stream: bool,
}

/// The messages as items. One message of the assistant becomes an item of text and an item for each call.
///
/// System instructions are items too, instead of the field `instructions`, because that field is forgotten with the
/// next request: a stored reply stands for all the items before it.
struct Input<'a>(&'a [Message], &'a Refused);

/// An item, with the state that belongs to it.
struct Item<'a> {
    body: ItemBody<'a>,
    state: Option<&'a StatePart>,
    refused: &'a Refused,
}

enum ItemBody<'a> {
    Message {
        role: Role,
        content: &'a str,
    },
    FunctionCall(&'a ToolCall),
    FunctionCallOutput {
        call_id: &'a str,
        output: &'a str,
    },
    /// Nothing but state: a thought.
    State,
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        match &self.body {
            ItemBody::Message { role, content } => {
                fields.serialize_entry("type", "message")?;
                fields.serialize_entry("role", role)?;
                fields.serialize_entry("content", content)?;
            }
            ItemBody::FunctionCall(ToolCall { id, name, arguments }) => {
                fields.serialize_entry("type", "function_call")?;
                fields.serialize_entry("call_id", id.as_str())?;
                fields.serialize_entry("name", name)?;
                fields.serialize_entry("arguments", &ArgumentsText(arguments))?;
            }
            ItemBody::FunctionCallOutput { call_id, output } => {
                fields.serialize_entry("type", "function_call_output")?;
                fields.serialize_entry("call_id", call_id)?;
                fields.serialize_entry("output", output)?;
            }
            ItemBody::State => {}
        }
        for (name, value) in self.state.into_iter().flat_map(|state| state.sent(self.refused)) {
            fields.serialize_entry(name, value)?;
        }
        fields.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    User,
    Assistant,
}

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(messages, refused) = *self;
        let item = |body| Item { body, state: None, refused };
        let mut items = serializer.serialize_seq(None)?;
        for message in messages {
            match message {
                Message::System { text } => {
                    items
                        .serialize_element(&item(ItemBody::Message { role: Role::System, content: text }))?;
                }
                Message::User { text } => {
                    items.serialize_element(&item(ItemBody::Message { role: Role::User, content: text }))?;
                }
                Message::Assistant { text, calls, state } => {
                    for placed in state.placed(StateForm::Responses, !text.is_empty(), calls.len()) {
                        let (body, state) = match placed {
                            Placed::Text(state) => {
                                (ItemBody::Message { role: Role::Assistant, content: text }, state)
                            }
                            Placed::Call(call, state) => (ItemBody::FunctionCall(&calls[call]), state),
                            Placed::Item(item) => (ItemBody::State, Some(item)),
                        };
                        if state.is_none_or(|state| state.is_sent(refused)) {
                            items.serialize_element(&Item { body, state, refused })?;
                        }
                    }
                }
                Message::Tool { id, text } => {
                    let body = ItemBody::FunctionCallOutput { call_id: id.as_str(), output: text };
                    items.serialize_element(&item(body))?;
                }
            }
        }
        items.end()
    }
}

/// Writes the `tools` field. `strict` is off, because it would refuse schemas that allow additional properties.
pub(super) fn render_tools(tools: &[Tool]) -> Result<Box<RawValue>, serde_json::Error> {
    #[derive(Serialize)]
    struct WireTool<'a> {
        r#type: &'static str,
        name: &'a str,
        description: &'a str,
        parameters: &'a WrittenObject,
        strict: bool,
    }
    let wire = tools.iter().map(|tool| WireTool {
        r#type: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.input_schema,
        strict: false,
    });
    serde_json::value::to_raw_value(&wire.collect::<Vec<_>>())
}

/// Writes a request's body. `settings` replace those of the request.
pub(super) fn render(
    model: &str,
    request: &ChatRequest,
    settings: &Settings,
    refused: &Refused,
    tools: Option<&RawValue>,
    stream: bool,
) -> Result<Vec<u8>, serde_json::Error> {
    let body = Body {
        model,
        previous_response_id: request.previous.as_ref().map(|ReplyId(id)| id.as_str()),
        input: Input(&request.messages, refused),
        tools,
        temperature: settings.temperature,
        max_output_tokens: settings.output_tokens_max,
        // Stored, so that the next request can continue from this reply.
        store: true,
        stream,
    };
    let mut bytes = Vec::with_capacity(size_hint(request, tools));
    serde_json::to_writer(&mut bytes, &body)?;
    Ok(bytes)
}
