//! The `input` of a responses request: a string or items, read into the messages of a conversation.

use std::borrow::Cow;
use std::fmt;

use planproof_trace::{Arguments, CallId, ToolCall};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::output::{ItemName, item_name};
use crate::content::{Content, arguments_text};
use crate::kept::KeptReplies;
use crate::openai::responses::state;
use crate::server::error::ApiError;
use crate::server::request::Namespaced;
use crate::turn_state::StatePart;
use crate::{Message, TurnState, lenient};

/// The client's addition to the conversation.
pub(super) enum Input<'a> {
    Text(String),
    Items(Vec<InputItem<'a>>),
}

/// An item with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
pub(super) struct InputItem<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::name")]
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient::name")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient::name")]
    call_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::name")]
    name: Option<String>,
    /// The namespace of a called tool, if it has one.
    #[serde(default, deserialize_with = "lenient::name")]
    namespace: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    /// The input of a call whose arguments are not JSON.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    /// Tools that are offered beside those of the request.
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
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

impl<'a> Input<'a> {
    /// The lists of tools that are among the items.
    pub(super) fn tools(&self) -> Vec<&'a RawValue> {
        match self {
            Self::Text(_) => Vec::new(),
            Self::Items(items) => items.iter().filter_map(|item| item.tools).collect(),
        }
    }

    /// Adds the input of a request with this body to a conversation. References to items of earlier answers are looked
    /// up in `responses`.
    pub(super) fn append_to(
        self,
        messages: &mut Vec<Message>,
        responses: &KeptReplies,
        body: &[u8],
    ) -> Result<(), ApiError> {
        let items = match self {
            Self::Text(text) => {
                messages.push(Message::User { text });
                return Ok(());
            }
            Self::Items(items) => items,
        };
        let is_known = |item: &InputItem<'_>| {
            ["message", "function_call", "function_call_output", "item_reference"].contains(&item.kind())
        };
        // Only the state of a turn is needed as it came, and most conversations have none.
        let raw = if items.iter().all(is_known) { Vec::new() } else { raw_items(body) };
        let begun = messages.len();
        let mut turn = Turn { begun, items: Vec::new() };
        for (place, item) in items.into_iter().enumerate() {
            let raw = raw.get(place).copied();
            append(item, place, messages, responses, raw, &mut turn)?;
        }
        turn.end(messages);
        Ok(())
    }
}

/// The items of a request's body, as they came.
fn raw_items(body: &[u8]) -> Vec<&RawValue> {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        input: Vec<&'a RawValue>,
    }
    serde_json::from_slice(body).map(|request: Request<'_>| request.input).unwrap_or_default()
}

impl InputItem<'_> {
    fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("message")
    }
}

/// The items of the assistant's turn that is being read.
struct Turn<'a> {
    /// Where the messages of this turn begin.
    begun: usize,
    items: Vec<&'a RawValue>,
}

impl Turn<'_> {
    /// The turn has ended: its message gets its state. One of state alone is not a message.
    fn end(&mut self, messages: &mut Vec<Message>) {
        let items = std::mem::take(&mut self.items);
        let sealed = items.iter().filter_map(|item| unsealed(item)).flatten();
        let sealed: Vec<_> = sealed.collect();
        let parts = if sealed.is_empty() { state::of_items(items) } else { TurnState::new(sealed) };
        let is_new = messages.len() > self.begun;
        if let Some(Message::Assistant { text, calls, state }) = messages.last_mut().filter(|_| is_new) {
            if text.is_empty() && calls.is_empty() && !parts.is_empty() {
                messages.pop();
            } else {
                state.extend(parts.parts().iter().cloned());
            }
        }
        self.begun = messages.len();
    }
}

/// The state that an item of ours holds.
fn unsealed(item: &RawValue) -> Option<Vec<StatePart>> {
    #[derive(Deserialize)]
    struct Reasoning<'a> {
        #[serde(borrow)]
        encrypted_content: Option<Cow<'a, str>>,
    }
    let Reasoning { encrypted_content } = serde_json::from_str(item.get()).ok()?;
    TurnState::unsealed(&encrypted_content?)
}

/// Adds an item. Those of kinds that are not known here are taken by what they hold: an output answers a call, a name
/// and an id are a call, a role and a content are a message. What is left is state of the assistant's turn: thoughts,
/// and the work of the provider's own tools.
fn append<'a>(
    item: InputItem<'a>,
    place: usize,
    messages: &mut Vec<Message>,
    responses: &KeptReplies,
    raw: Option<&'a RawValue>,
    turn: &mut Turn<'a>,
) -> Result<(), ApiError> {
    let missing = |field: &str| {
        ApiError::invalid(format!("input[{place}].{field}"), format!("input[{place}] needs `{field}`"))
    };
    let kind = item.kind().to_owned();
    let is_message = kind == "message" || (item.role.is_some() && item.content.is_some());
    let is_output = kind == "function_call_output" || (item.call_id.is_some() && item.output.is_some());
    let is_call = kind == "function_call" || (item.call_id.is_some() && item.name.is_some());
    if is_output {
        turn.end(messages);
        let id = CallId::new(item.call_id.ok_or_else(|| missing("call_id"))?);
        let text =
            text_of(item.output.ok_or_else(|| missing("output"))?, kind == "function_call_output", place)?;
        messages.push(Message::Tool { id, text });
    } else if is_call {
        let arguments = match item.arguments.or(item.input) {
            None => Arguments::none(),
            Some(raw) => {
                Arguments::from_text(&arguments_text(raw).map_err(|error| ApiError::not_understood(&error))?)
            }
        };
        let id = CallId::new(item.call_id.ok_or_else(|| missing("call_id"))?);
        let name = item.name.ok_or_else(|| missing("name"))?;
        let name = match item.namespace.filter(|namespace| !namespace.is_empty()) {
            None => name,
            Some(namespace) => Namespaced { namespace, name }.joined(),
        };
        append_call(messages, ToolCall { id, name, arguments });
        // A call of another kind is a call like any other now, and not also what it was.
        turn.items.extend(raw.filter(|_| kind == "function_call"));
    } else if kind == "item_reference" {
        let id = item.id.ok_or_else(|| missing("id"))?;
        append_reference(messages, &id, responses).ok_or_else(|| {
            ApiError::invalid(format!("input[{place}].id"), format!("Item with id '{id}' not found."))
        })?;
    } else if is_message {
        let text = text_of(item.content.ok_or_else(|| missing("content"))?, kind == "message", place)?;
        match item.role.ok_or_else(|| missing("role"))?.as_str() {
            "assistant" => {
                append_text(messages, text);
                turn.items.extend(raw);
            }
            "user" => {
                turn.end(messages);
                messages.push(Message::User { text });
            }
            // `system` and `developer`, and roles that later versions may add.
            _ => {
                turn.end(messages);
                messages.push(Message::System { text });
            }
        }
    } else if item.tools.is_none() {
        // A turn may begin with its state.
        if !matches!(messages.last(), Some(Message::Assistant { .. })) {
            messages.push(Message::assistant(String::new(), Vec::new()));
        }
        turn.items.extend(raw);
    }
    Ok(())
}

/// The text of an item's content or output. That of a kind that is not known here may be any JSON, which is then the
/// text.
fn text_of(raw: &RawValue, is_known: bool, place: usize) -> Result<String, ApiError> {
    match serde_json::from_str::<Content>(raw.get()) {
        Ok(content) => Ok(content.into_text("\n")),
        Err(_) if !is_known => Ok(raw.get().to_owned()),
        Err(error) => {
            let path = format!("input[{place}]");
            Err(ApiError::invalid(path.clone(), format!("{path} is not understood: {error} of it")))
        }
    }
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
        // It comes with the text or the call.
        ItemName::State { response, .. } => {
            responses.reply(response)?;
        }
    }
    Some(())
}

/// Text begins an assistant's message, unless one of calls only has just begun.
fn append_text(messages: &mut Vec<Message>, text: String) {
    match messages.last_mut() {
        Some(Message::Assistant { text: said, .. }) if said.is_empty() => *said = text,
        _ => messages.push(Message::assistant(text, Vec::new())),
    }
}

/// Calls belong to the assistant's message before them: one turn is several items here but one message there.
fn append_call(messages: &mut Vec<Message>, call: ToolCall) {
    match messages.last_mut() {
        Some(Message::Assistant { calls, .. }) => calls.push(call),
        _ => messages.push(Message::assistant(String::new(), vec![call])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<Message>, String> {
        let responses = KeptReplies::new(10, 1 << 20);
        let call =
            |id: &str| ToolCall { id: CallId::new(id), name: "pay".into(), arguments: Arguments::none() };
        responses.keep(7, vec![Message::assistant("said".into(), vec![call("x"), call("y")])]);
        let input: Input<'_> = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut messages = Vec::new();
        input
            .append_to(&mut messages, &responses, format!(r#"{{"input":{json}}}"#).as_bytes())
            .map_err(|error| error.to_string())?;
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
        let Message::Assistant { state, .. } = &messages[2] else { panic!("{messages:?}") };
        let kinds: Vec<_> = state.parts().iter().filter_map(StatePart::kind).collect();
        assert_eq!(kinds, ["reasoning"]);
        let state = state.clone();
        assert_eq!(
            messages,
            [
                Message::System { text: "s".into() },
                Message::User { text: "u".into() },
                Message::Assistant {
                    text: "a".into(),
                    calls: vec![call("c1", "{oops"), call("c2", "{\"a\":1}")],
                    state,
                },
                Message::Tool { id: CallId::new("c1"), text: "one".into() },
                Message::Tool { id: CallId::new("c2"), text: "t\nw".into() },
            ]
        );
    }

    #[test]
    fn items_that_are_not_known_are_taken_by_what_they_hold() {
        let call = |name: &str, text: &str| ToolCall {
            id: CallId::new("c1"),
            name: name.into(),
            arguments: Arguments::from_text(text),
        };
        let user = |text: &str| Message::User { text: text.into() };
        for (items, expected) in [
            (r#"{"type":"additional_tools","tools":[]}"#, vec![]),
            (
                r#"{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"f"}]}"#,
                vec![],
            ),
            (
                r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search"}}"#,
                vec![],
            ),
            (r#"{"type":"compaction","encrypted_content":"x"}"#, vec![]),
            (r#"{"type":"not_known_yet","role":[],"name":7,"content":{"a":1},"output":null}"#, vec![]),
            (
                r#"{"type":"not_known_yet","role":"user","content":[{"type":"input_text","text":"u"}]}"#,
                vec![user("u")],
            ),
            (
                r#"{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"ls"},
                   {"type":"custom_tool_call_output","call_id":"c1","output":"a"}"#,
                vec![
                    Message::assistant(String::new(), vec![call("exec", "ls")]),
                    Message::Tool { id: CallId::new("c1"), text: "a".into() },
                ],
            ),
            (
                r#"{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot"}}"#,
                vec![Message::Tool {
                    id: CallId::new("c1"),
                    text: r#"{"type":"computer_screenshot"}"#.into(),
                }],
            ),
        ] {
            let messages = read(&format!(r#"[{items},{{"role":"user","content":"go"}}]"#)).unwrap();
            assert_eq!(messages, [expected, vec![user("go")]].concat(), "{items}");
        }
    }

    #[test]
    fn references_are_looked_up() {
        let messages = read(
            r#"[{"type":"item_reference","id":"msg_7_0"},{"type":"item_reference","id":"fc_7_0"},
                {"type":"item_reference","id":"fc_7_1"}]"#,
        )
        .unwrap();
        assert!(matches!(&messages[..], [Message::Assistant { text, calls, .. }]
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
