//! A request for a message, written from the conversation.

use planproof_trace::{Tool, ToolCall, WrittenObject};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::OUTPUT_TOKENS_DEFAULT;
use super::partial::cut_off;
use crate::connection::parameters::Refused;
use crate::content::ArgumentsObject;
use crate::turn_state::{Placed, StateForm, StatePart};
use crate::{ChatRequest, Message, Settings};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    /// Said in either case: some servers stream unless they are told otherwise.
    stream: bool,
}

#[derive(Debug, Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

/// A block, with the state that belongs to it.
struct Block<'a> {
    body: BlockBody<'a>,
    state: Option<&'a StatePart>,
    refused: &'a Refused,
}

enum BlockBody<'a> {
    Text {
        text: &'a str,
    },
    ToolUse(&'a ToolCall),
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
    },
    /// Nothing but state: a thought.
    State,
}

impl Serialize for Block<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        match &self.body {
            BlockBody::Text { text } => {
                fields.serialize_entry("type", "text")?;
                fields.serialize_entry("text", text)?;
            }
            BlockBody::ToolUse(ToolCall { id, name, arguments }) => {
                fields.serialize_entry("type", "tool_use")?;
                fields.serialize_entry("id", id.as_str())?;
                fields.serialize_entry("name", name)?;
                fields.serialize_entry("input", &ArgumentsObject(arguments))?;
            }
            BlockBody::ToolResult { tool_use_id, content } => {
                fields.serialize_entry("type", "tool_result")?;
                fields.serialize_entry("tool_use_id", tool_use_id)?;
                if !content.is_empty() {
                    fields.serialize_entry("content", content)?;
                }
            }
            BlockBody::State => {}
        }
        for (name, value) in self.state.into_iter().flat_map(|state| state.sent(self.refused)) {
            fields.serialize_entry(name, value)?;
        }
        fields.end()
    }
}

impl<'a> Block<'a> {
    /// The blocks of a message other than system instructions. Empty texts are left out, because the protocol refuses
    /// them.
    fn all_of(message: &'a Message, refused: &'a Refused) -> (Role, Vec<Self>) {
        let block = |body| Self { body, state: None, refused };
        match message {
            // System instructions do not get here: `arrange` has put them elsewhere.
            Message::System { text } | Message::User { text } => {
                let words = (!text.is_empty()).then_some(block(BlockBody::Text { text }));
                (Role::User, words.into_iter().collect())
            }
            Message::Assistant { text, calls, state } => {
                let placed = state.placed(StateForm::Messages, !text.is_empty(), calls.len());
                let blocks = placed.into_iter().filter_map(|placed| {
                    let (body, state) = match placed {
                        Placed::Text(state) => (BlockBody::Text { text }, state),
                        Placed::Call(call, state) => (BlockBody::ToolUse(&calls[call]), state),
                        Placed::Item(item) => (BlockBody::State, Some(item)),
                    };
                    let is_sent = state.is_none_or(|state| state.is_sent(refused));
                    is_sent.then_some(Self { body, state, refused })
                });
                (Role::Assistant, blocks.collect())
            }
            Message::Tool { id, text } => {
                (Role::User, vec![block(BlockBody::ToolResult { tool_use_id: id.as_str(), content: text })])
            }
        }
    }
}

/// The messages with alternating roles, and separately the system instructions.
fn arrange<'a>(request: &'a ChatRequest, refused: &'a Refused) -> (String, Vec<WireMessage<'a>>) {
    let mut system = String::new();
    let mut arranged: Vec<WireMessage<'_>> = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        if let Message::System { text } = message {
            if !system.is_empty() && !text.is_empty() {
                system.push_str("\n\n");
            }
            system.push_str(text);
            continue;
        }
        let (role, blocks) = Block::all_of(message, refused);
        match arranged.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            // The protocol refuses a message without content. Without it, its neighbours have the same role and are
            // merged.
            _ if blocks.is_empty() => {}
            _ => arranged.push(WireMessage { role, content: blocks }),
        }
    }
    trim_partial_turn(request, &mut arranged);
    (system, arranged)
}

/// Cuts the white space off the end of an unfinished turn, or removes the whole turn if there is nothing else in it.
fn trim_partial_turn(request: &ChatRequest, arranged: &mut Vec<WireMessage<'_>>) {
    let surplus = cut_off(request).len();
    let Some(WireMessage { role: Role::Assistant, content }) = arranged.last_mut().filter(|_| surplus > 0)
    else {
        return;
    };
    // The last block is the turn's text: an unfinished turn has no calls, and without text there is no surplus.
    if let Some(Block { body: BlockBody::Text { text }, .. }) = content.last_mut() {
        *text = &text[..text.len() - surplus];
        if text.is_empty() {
            content.pop();
        }
    }
    if content.is_empty() {
        arranged.pop();
    }
}

/// Writes the `tools` field.
pub(super) fn render_tools(tools: &[Tool]) -> Result<Box<RawValue>, serde_json::Error> {
    #[derive(Serialize)]
    struct WireTool<'a> {
        name: &'a str,
        description: &'a str,
        input_schema: &'a WrittenObject,
    }
    let wire = tools.iter().map(|tool| WireTool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.input_schema,
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
    let (system, messages) = arrange(request, refused);
    serde_json::to_vec(&Body {
        model,
        max_tokens: settings.output_tokens_max.unwrap_or(OUTPUT_TOKENS_DEFAULT),
        system,
        messages,
        tools,
        temperature: settings.temperature,
        // The protocol refuses stop texts of white space alone. The reader of the reply applies them.
        stop_sequences: settings.stop.iter().map(String::as_str).filter(|it| !it.trim().is_empty()).collect(),
        stream,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planproof_trace::{Arguments, CallId};
    use serde_json::{Value, json};

    use super::*;

    fn rendered(messages: Vec<Message>) -> Value {
        let request =
            ChatRequest { messages, previous: None, tools: Arc::from([]), settings: Settings::default() };
        let bytes = render("m", &request, &request.settings, &Refused::default(), None, false).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn assistant(text: &str, calls: &[(&str, &str)]) -> Message {
        let calls = calls.iter().map(|(id, arguments)| ToolCall {
            id: CallId::new(*id),
            name: "pay".into(),
            arguments: Arguments::from_text(arguments),
        });
        Message::assistant(text.into(), calls.collect())
    }

    fn result(id: &str, text: &str) -> Message {
        Message::Tool { id: CallId::new(id), text: text.into() }
    }

    #[test]
    fn roles_alternate_and_instructions_stand_apart() {
        let body = rendered(vec![
            Message::System { text: "be good".into() },
            user("a"),
            user("b"),
            assistant("", &[("c1", "{\"x\":1}"), ("c2", "{oops")]),
            result("c1", "one"),
            result("c2", ""),
            user("go on"),
            Message::System { text: "be quick".into() },
            assistant("", &[]),
            user(""),
            user("c"),
        ]);
        assert_eq!(
            body,
            json!({
                "model": "m", "max_tokens": 4096, "system": "be good\n\nbe quick", "stream": false,
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                    {"role": "assistant", "content": [
                        {"type": "tool_use", "id": "c1", "name": "pay", "input": {"x": 1}},
                        {"type": "tool_use", "id": "c2", "name": "pay", "input": {"malformed": "{oops"}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                        {"type": "tool_result", "tool_use_id": "c2"},
                        {"type": "text", "text": "go on"},
                        {"type": "text", "text": "c"},
                    ]},
                ],
            })
        );
    }

    #[test]
    fn an_unfinished_turn_ends_without_white_space() {
        let last = |text: &str| rendered(vec![user("a"), assistant(text, &[])])["messages"].clone();
        assert_eq!(last("Thought: \n")[1]["content"], json!([{"type": "text", "text": "Thought:"}]));
        assert_eq!(last("Thought:")[1]["content"], json!([{"type": "text", "text": "Thought:"}]));
        assert_eq!(last(" \n").as_array().map(Vec::len), Some(1));
        // Earlier messages are finished, whatever they end with.
        let body = rendered(vec![user("a"), assistant("b ", &[]), user("c")]);
        assert_eq!(body["messages"][1]["content"][0]["text"], "b ");
        let body = rendered(vec![user("a"), assistant("b ", &[]), assistant(" ", &[])]);
        assert_eq!(body["messages"][1]["content"].as_array().map(Vec::len), Some(1));
    }
}
