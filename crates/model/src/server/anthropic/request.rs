//! A request for a message, read into a conversation.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_trace::{Arguments, CallId, ToolCall, WrittenObject};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::anthropic::state;
use crate::chat::order_results;
use crate::content::Content;
use crate::server::error::ApiError;
use crate::server::request::{OfferedTools, append_user, elements, invalid_tool, tool};
use crate::server::shared::Shared;
use crate::{ChatRequest, Message, Settings, TurnState, lenient};

#[derive(Deserialize)]
struct WireRequest<'a> {
    #[serde(default)]
    model: String,
    max_tokens: Option<u32>,
    system: Option<Content>,
    #[serde(borrow)]
    messages: Vec<WireMessage<'a>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_choice: Option<Choice<'a>>,
    stream: Option<bool>,
    temperature: Option<f64>,
    stop_sequences: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    role: Role,
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    User,
    Assistant,
}

/// A block with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// A parsed request.
pub(super) struct MessagesRequest {
    pub(super) request: ChatRequest,
    pub(super) model: String,
    pub(super) is_streamed: bool,
}

/// Reads the body of a request, for a message or for the count of its tokens.
pub(super) fn read(shared: &Shared, body: &[u8]) -> Result<MessagesRequest, ApiError> {
    let wire: WireRequest<'_> =
        serde_json::from_slice(body).map_err(|error| ApiError::not_understood(&error))?;
    let mut messages = Vec::with_capacity(wire.messages.len() + 1);
    let system = wire.system.map(|content| content.into_text("\n\n")).filter(|text| !text.is_empty());
    messages.extend(system.map(|text| Message::System { text }));
    for (place, message) in wire.messages.into_iter().enumerate() {
        append(&message, place, &mut messages)?;
    }
    order_results(&mut messages);
    let are_forbidden = wire.tool_choice.is_some_and(|choice| choice.kind == "none");
    let offered = shared.anthropic_tools.get(wire.tools, are_forbidden)?;
    let settings = Settings {
        temperature: wire.temperature,
        output_tokens_max: wire.max_tokens,
        seed: None,
        stop: wire.stop_sequences.unwrap_or_default(),
        grammar: None,
    };
    let request = ChatRequest { messages, tools: Arc::clone(&offered.tools), settings, previous: None };
    Ok(MessagesRequest { request, model: wire.model, is_streamed: wire.stream == Some(true) })
}

fn append(message: &WireMessage<'_>, place: usize, messages: &mut Vec<Message>) -> Result<(), ApiError> {
    let path = format!("messages[{place}].content");
    let text = message.content.get();
    let mut has_state = false;
    let blocks = if text.starts_with('"') {
        let text = serde_json::from_str(text).map_err(|error| not_understood(&path, &error))?;
        vec![Said::Text(text)]
    } else {
        let blocks: Vec<Block<'_>> =
            serde_json::from_str(text).map_err(|error| not_understood(&path, &error))?;
        has_state = true;
        let said = blocks.into_iter().enumerate().map(|(at, block)| said(block, &format!("{path}[{at}]")));
        said.filter_map(Result::transpose).collect::<Result<_, _>>()?
    };
    // Collected by kind: a turn of the assistant becomes one message, a user's may become several.
    let (mut texts, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for said in blocks {
        match said {
            Said::Text(text) => texts.push(text),
            Said::Call(call) => calls.push(call),
            Said::Result(message) => results.push(message),
        }
    }
    match message.role {
        Role::System => messages.push(Message::System { text: texts.join("\n\n") }),
        Role::User => append_user(messages, results, &texts),
        // The assistant's texts are pieces of one text, whereas a user's are paragraphs.
        Role::Assistant => {
            let state = if has_state { state_of(message.content) } else { TurnState::default() };
            messages.push(Message::Assistant { text: texts.concat(), calls, state });
        }
    }
    Ok(())
}

/// The state that these blocks hold, in ours or in their own.
fn state_of(content: &RawValue) -> TurnState {
    #[derive(Deserialize)]
    struct Redacted<'a> {
        #[serde(borrow)]
        data: Option<Cow<'a, str>>,
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
    let sealed = blocks.iter().filter_map(|block| {
        let Redacted { data } = serde_json::from_str(block.get()).ok()?;
        TurnState::unsealed(&data?)
    });
    let sealed: Vec<_> = sealed.flatten().collect();
    if sealed.is_empty() { state::of_blocks(blocks) } else { TurnState::new(sealed) }
}

/// What a block holds for us.
enum Said {
    Text(String),
    Call(ToolCall),
    Result(Message),
}

/// Reads a block; `None` for internals of the provider: thoughts, and the work of its own tools.
fn said(block: Block<'_>, path: &str) -> Result<Option<Said>, ApiError> {
    let missing =
        |field: &str| ApiError::invalid(format!("{path}.{field}"), format!("{path} needs `{field}`"));
    Ok(Some(match block.kind.as_ref() {
        "text" => Said::Text(block.text.ok_or_else(|| missing("text"))?),
        "tool_use" => {
            let arguments = block.input.map_or_else(Arguments::none, |raw| Arguments::from_text(raw.get()));
            let id = CallId::new(block.id.ok_or_else(|| missing("id"))?);
            Said::Call(ToolCall { id, name: block.name.ok_or_else(|| missing("name"))?, arguments })
        }
        "tool_result" => {
            let id = CallId::new(block.tool_use_id.ok_or_else(|| missing("tool_use_id"))?);
            let content = block.content.map(|raw| serde_json::from_str::<Option<Content>>(raw.get()));
            let content = content.transpose().map_err(|error| not_understood(path, &error))?.flatten();
            Said::Result(Message::Tool {
                id,
                text: content.map_or_else(String::new, |it| it.into_text("\n")),
            })
        }
        kind @ ("image" | "document" | "audio" | "video" | "file") => {
            let message = format!("{path}: a block of type `{kind}` is not supported: send text");
            return Err(ApiError::invalid(path, message));
        }
        _ => return Ok(None),
    }))
}

fn not_understood(path: &str, error: &serde_json::Error) -> ApiError {
    ApiError::invalid(path, format!("{path} is not understood: {error} of it"))
}

/// Reads a list of tools.
pub(in crate::server) fn read_tools(text: &str) -> Result<OfferedTools, ApiError> {
    #[derive(Deserialize)]
    struct WireTool {
        name: Option<String>,
        description: Option<String>,
        input_schema: Option<WrittenObject>,
    }
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "type", default, deserialize_with = "lenient::name")]
        kind: Option<String>,
    }
    let mut tools = Vec::new();
    for (place, raw) in elements::<&RawValue>(text)?.into_iter().enumerate() {
        let not_understood = |error: serde_json::Error| invalid_tool(place, &format!("{error} of the tool"));
        let Kind { kind } = serde_json::from_str(raw.get()).map_err(not_understood)?;
        // Tools of other kinds run at the provider, or have a form of their own; agents add them to every request. The
        // model is not offered them.
        if kind.is_some_and(|kind| kind != "custom") {
            continue;
        }
        let wire: WireTool = serde_json::from_str(raw.get()).map_err(not_understood)?;
        let name = wire.name.ok_or_else(|| invalid_tool(place, "a tool needs a name"))?;
        tools.push(tool(name, wire.description, wire.input_schema));
    }
    Ok(tools.into())
}
