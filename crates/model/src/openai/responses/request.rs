//! A request for a response, written straight from the conversation.

use planproof_trace::Tool;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::openai::chat::request::{ArgumentsText, size_hint};
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
struct Input<'a>(&'a [Message]);

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message { role: Role, content: &'a str },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: ArgumentsText<'a> },
    FunctionCallOutput { call_id: &'a str, output: &'a str },
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
        let mut items = serializer.serialize_seq(None)?;
        for message in self.0 {
            match message {
                Message::System { text } => {
                    items.serialize_element(&Item::Message { role: Role::System, content: text })?;
                }
                Message::User { text } => {
                    items.serialize_element(&Item::Message { role: Role::User, content: text })?;
                }
                Message::Assistant { text, calls } => {
                    if !text.is_empty() {
                        items.serialize_element(&Item::Message { role: Role::Assistant, content: text })?;
                    }
                    for call in calls {
                        items.serialize_element(&Item::FunctionCall {
                            call_id: call.id.as_str(),
                            name: &call.name,
                            arguments: ArgumentsText(&call.arguments),
                        })?;
                    }
                }
                Message::Tool { id, text } => {
                    items.serialize_element(&Item::FunctionCallOutput {
                        call_id: id.as_str(),
                        output: text,
                    })?;
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
        parameters: &'a Map<String, Value>,
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
    tools: Option<&RawValue>,
    stream: bool,
) -> Result<Vec<u8>, serde_json::Error> {
    let body = Body {
        model,
        previous_response_id: request.previous.as_ref().map(|ReplyId(id)| id.as_str()),
        input: Input(&request.messages),
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
