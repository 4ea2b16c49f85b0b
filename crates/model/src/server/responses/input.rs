//! The `input` of a responses request: a string or items, read into the messages of a conversation.

use std::fmt;

use planproof_trace::{Arguments, CallId, ToolCall};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::output::{ItemName, item_name};
use crate::Message;
use crate::content::{Content, arguments_text};
use crate::kept::KeptReplies;
use crate::server::error::ApiError;
use crate::server::request::Namespaced;

/// The client's addition to the conversation.
pub(super) enum Input<'a> {
    Text(String),
    Items(Vec<InputItem<'a>>),
}

/// An item with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
pub(super) struct InputItem<'a> {
    #[serde(rename = "type")]
    kind: Option<Kind>,
    role: Option<Role>,
    content: Option<Content>,
    id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    /// The namespace of a called tool, if it has one.
    namespace: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    output: Option<Content>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Message,
    FunctionCall,
    FunctionCallOutput,
    ItemReference,
    Reasoning,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
}

impl<'de: 'a, 'a> Deserialize<'de> for Input<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InputVisitor;

        impl<'de> Visitor<'de> for InputVisitor {
            type Value = Input<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of items")
            }

            fn visit_str<E>(self, text: &str) -> Result<Input<'de>, E> {
                Ok(Input::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Input<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = sequence.next_element()? {
                    items.push(item);
                }
                Ok(Input::Items(items))
            }
        }

        // As for `Content`: an untagged enumeration would replace the error of an item by one of its own.
        deserializer.deserialize_any(InputVisitor)
    }
}

impl Input<'_> {
    /// Adds the input to a conversation. References to items of earlier answers are looked up in `responses`.
    pub(super) fn append_to(
        self,
        messages: &mut Vec<Message>,
        responses: &KeptReplies,
    ) -> Result<(), ApiError> {
        let items = match self {
            Self::Text(text) => {
                messages.push(Message::User { text });
                return Ok(());
            }
            Self::Items(items) => items,
        };
        for (place, item) in items.into_iter().enumerate() {
            append(item, place, messages, responses)?;
        }
        Ok(())
    }
}

fn append(
    item: InputItem<'_>,
    place: usize,
    messages: &mut Vec<Message>,
    responses: &KeptReplies,
) -> Result<(), ApiError> {
    let missing = |field: &str| {
        ApiError::invalid(format!("input[{place}].{field}"), format!("input[{place}] needs `{field}`"))
    };
    match item.kind.unwrap_or(Kind::Message) {
        Kind::Message => {
            let text = item.content.ok_or_else(|| missing("content"))?.into_text("\n");
            match item.role.ok_or_else(|| missing("role"))? {
                Role::System | Role::Developer => messages.push(Message::System { text }),
                Role::User => messages.push(Message::User { text }),
                Role::Assistant => append_text(messages, text),
            }
        }
        Kind::FunctionCall => {
            let arguments = match item.arguments {
                None => Arguments::none(),
                Some(raw) => Arguments::from_text(
                    &arguments_text(raw).map_err(|error| ApiError::not_understood(&error))?,
                ),
            };
            let id = CallId::new(item.call_id.ok_or_else(|| missing("call_id"))?);
            let name = item.name.ok_or_else(|| missing("name"))?;
            let name = match item.namespace.filter(|namespace| !namespace.is_empty()) {
                None => name,
                Some(namespace) => Namespaced { namespace, name }.joined(),
            };
            append_call(messages, ToolCall { id, name, arguments });
        }
        Kind::FunctionCallOutput => {
            let id = CallId::new(item.call_id.ok_or_else(|| missing("call_id"))?);
            let text = item.output.ok_or_else(|| missing("output"))?.into_text("\n");
            messages.push(Message::Tool { id, text });
        }
        Kind::ItemReference => {
            let id = item.id.ok_or_else(|| missing("id"))?;
            append_reference(messages, &id, responses).ok_or_else(|| {
                ApiError::invalid(format!("input[{place}].id"), format!("Item with id '{id}' not found."))
            })?;
        }
        // Thoughts of earlier turns are internals of the provider.
        Kind::Reasoning => {}
    }
    Ok(())
}

/// Adds the text or call of an earlier answer; `None` if it is unknown.
fn append_reference(messages: &mut Vec<Message>, id: &str, responses: &KeptReplies) -> Option<()> {
    match item_name(id)? {
        ItemName::Text { response, place } => {
            let text = responses.reply(response)?.0;
            // The first piece stands for the whole text, which is stored as one.
            if place == 0 {
                append_text(messages, text);
            }
        }
        ItemName::Call { response, place } => {
            let call = responses.reply(response)?.1.into_iter().nth(place)?;
            append_call(messages, call);
        }
    }
    Some(())
}

/// Text begins an assistant's message, unless one of calls only has just begun.
fn append_text(messages: &mut Vec<Message>, text: String) {
    match messages.last_mut() {
        Some(Message::Assistant { text: said, .. }) if said.is_empty() => *said = text,
        _ => messages.push(Message::Assistant { text, calls: Vec::new() }),
    }
}

/// Calls belong to the assistant's message before them: one turn is several items here but one message there.
fn append_call(messages: &mut Vec<Message>, call: ToolCall) {
    match messages.last_mut() {
        Some(Message::Assistant { calls, .. }) => calls.push(call),
        _ => messages.push(Message::Assistant { text: String::new(), calls: vec![call] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<Message>, String> {
        let responses = KeptReplies::new(10, 1 << 20);
        let call =
            |id: &str| ToolCall { id: CallId::new(id), name: "pay".into(), arguments: Arguments::none() };
        responses
            .keep(7, vec![Message::Assistant { text: "said".into(), calls: vec![call("x"), call("y")] }]);
        let input: Input<'_> = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut messages = Vec::new();
        input.append_to(&mut messages, &responses).map_err(|error| error.to_string())?;
        Ok(messages)
    }

    #[test]
    fn items_of_one_turn_become_one_message() {
        let messages = read(
            r#"[{"role":"developer","content":"s"},
                {"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]},
                {"type":"reasoning","summary":[],"content":null},
                {"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]},
                {"type":"function_call","id":"fc_1_0","call_id":"c1","name":"pay","arguments":"{oops"},
                {"type":"function_call","call_id":"c2","name":"pay","arguments":"{\"a\":1}","status":"completed"},
                {"type":"function_call_output","call_id":"c1","output":"one"},
                {"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"t"},{"type":"input_text","text":"w"}]}]"#,
        )
        .unwrap();
        let call = |id: &str, text: &str| ToolCall {
            id: CallId::new(id),
            name: "pay".into(),
            arguments: Arguments::from_text(text),
        };
        assert_eq!(
            messages,
            [
                Message::System { text: "s".into() },
                Message::User { text: "u".into() },
                Message::Assistant {
                    text: "a".into(),
                    calls: vec![call("c1", "{oops"), call("c2", "{\"a\":1}")]
                },
                Message::Tool { id: CallId::new("c1"), text: "one".into() },
                Message::Tool { id: CallId::new("c2"), text: "t\nw".into() },
            ]
        );
    }

    #[test]
    fn references_are_looked_up() {
        let messages = read(
            r#"[{"type":"item_reference","id":"msg_7_0"},{"type":"item_reference","id":"fc_7_0"},
                {"type":"item_reference","id":"fc_7_1"}]"#,
        )
        .unwrap();
        assert!(matches!(&messages[..], [Message::Assistant { text, calls }]
            if text == "said" && calls[0].id.as_str() == "x" && calls[1].id.as_str() == "y"));
        for id in ["fc_7_2", "fc_8_0", "msg_8_0", "rs_7", "", "fc_7", "fc_-1_0"] {
            let error = read(&format!(r#"[{{"type":"item_reference","id":"{id}"}}]"#)).unwrap_err();
            assert_eq!(error, format!("Item with id '{id}' not found."));
        }
    }

    #[test]
    fn broken_items_are_named() {
        for (json, words) in [
            ("7", "a string or an array of items"),
            (r#"[{"type":"web_search_call"}]"#, "unknown variant `web_search_call`"),
            (r#"[{"type":"function_call","name":"a"}]"#, "input[0] needs `call_id`"),
            (r#"[{"role":"user"}]"#, "input[0] needs `content`"),
            (r#"[{"content":"a"}]"#, "input[0] needs `role`"),
            (r#"[{"type":"function_call_output","call_id":"a"}]"#, "input[0] needs `output`"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(words), "{json}: {error}");
        }
    }
}
