//! A request for a chat completion, written straight from the conversation.

use planproof_trace::{Arguments, Tool, ToolCall, WrittenObject};
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::value::RawValue;

use crate::connection::parameters::{Parameter, Refused};
use crate::json::write_text;
use crate::openai::grammar::GrammarFields;
use crate::openai::seed::wire_seed;
use crate::turn_state::{PartOf, StateForm, StatePart};
use crate::{ChatRequest, Message, Settings, TurnState};

/// The name of the token limit. OpenAI's reasoning models refuse the old name; several other servers do not know the
/// new one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::openai) enum LimitField {
    #[default]
    MaxTokens,
    MaxCompletionTokens,
}

/// The fields after the model's name and the messages.
#[derive(Serialize)]
struct Rest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(flatten)]
    grammar: GrammarFields<'a>,
    #[serde(flatten)]
    partial: Option<PartialTurn>,
    #[serde(flatten)]
    stream: Streaming,
}

/// Asks vLLM and compatible servers to continue the last message instead of beginning another one.
#[derive(Serialize)]
struct PartialTurn {
    continue_final_message: bool,
    add_generation_prompt: bool,
}

/// Asks for a stream that reports token counts, or for none: some servers stream unless they are told otherwise.
#[derive(Serialize)]
pub(in crate::openai) struct Streaming {
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl Streaming {
    /// The fields for a reply that is to be streamed, or not.
    pub(in crate::openai) fn wanted(stream: bool, refused: &Refused) -> Self {
        let has_options = stream && !refused.has(Parameter::StreamOptions);
        Self { stream, stream_options: has_options.then_some(StreamOptions { include_usage: true }) }
    }
}

/// Arguments as the text that holds them.
pub(in crate::openai) struct ArgumentsText<'a>(pub(in crate::openai) &'a Arguments);

/// Writes a message. Hand-written, because a conversation is written anew with every turn: with serde this took a
/// third of all the work of a run.
fn write_message(out: &mut Vec<u8>, message: &Message, refused: &Refused) -> Result<(), serde_json::Error> {
    match message {
        Message::System { text } => {
            out.extend_from_slice(b"{\"role\":\"system\",\"content\":");
            write_text(out, text);
        }
        Message::User { text } => {
            out.extend_from_slice(b"{\"role\":\"user\",\"content\":");
            write_text(out, text);
        }
        Message::Assistant { text, calls, state } => {
            out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":");
            let mut items = kept(state, PartOf::Item, None, refused).peekable();
            if items.peek().is_some() {
                write_parts(out, text, items);
            } else if text.is_empty() && !calls.is_empty() {
                // By the protocol, a message of calls alone has no content.
                out.extend_from_slice(b"null");
            } else {
                write_text(out, text);
            }
            for (index, call) in calls.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b",\"tool_calls\":[" } else { b"," });
                write_call(out, index, call, state, refused)?;
            }
            if !calls.is_empty() {
                out.push(b']');
            }
            kept(state, PartOf::Turn, None, refused).for_each(|part| write_fields(out, part, refused));
        }
        Message::Tool { id, text } => {
            out.extend_from_slice(b"{\"role\":\"tool\",\"tool_call_id\":");
            write_text(out, id.as_str());
            out.extend_from_slice(b",\"content\":");
            write_text(out, text);
        }
    }
    out.push(b'}');
    Ok(())
}

fn write_call(
    out: &mut Vec<u8>,
    index: usize,
    call: &ToolCall,
    state: &TurnState,
    refused: &Refused,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(b"{\"id\":");
    write_text(out, call.id.as_str());
    out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
    write_text(out, &call.name);
    out.extend_from_slice(b",\"arguments\":");
    match &call.arguments {
        Arguments::Object(object) if object.is_empty() => out.extend_from_slice(b"\"{}\""),
        Arguments::Object(object) => write_text(out, &serde_json::to_string(object)?),
        Arguments::Malformed(text) => write_text(out, text),
    }
    kept(state, PartOf::Function, Some(index), refused).for_each(|part| write_fields(out, part, refused));
    out.push(b'}');
    kept(state, PartOf::Call, Some(index), refused).for_each(|part| write_fields(out, part, refused));
    out.push(b'}');
    Ok(())
}

/// The state of this protocol that belongs to a part of the turn, except for items of a refused kind.
fn kept<'a>(
    state: &'a TurnState,
    of: PartOf,
    call: Option<usize>,
    refused: &'a Refused,
) -> impl Iterator<Item = &'a StatePart> {
    let is_it = move |part: &&StatePart| part.of() == of && part.call() == call;
    state.of_form(StateForm::Chat).filter(is_it).filter(|part| part.is_sent(refused))
}

/// Writes the fields of a part behind others.
fn write_fields(out: &mut Vec<u8>, part: &StatePart, refused: &Refused) {
    for (name, value) in part.sent(refused) {
        out.push(b',');
        write_text(out, name);
        out.push(b':');
        out.extend_from_slice(value.text().as_bytes());
    }
}

/// Writes content that has parts other than text, such as thoughts, which come before the text.
fn write_parts<'a>(out: &mut Vec<u8>, text: &str, items: impl Iterator<Item = &'a StatePart>) {
    out.push(b'[');
    for item in items {
        item.write(out);
        out.push(b',');
    }
    if text.is_empty() {
        out.pop();
    } else {
        out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        write_text(out, text);
        out.push(b'}');
    }
    out.push(b']');
}

impl Serialize for ArgumentsText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Arguments::Malformed(text) => serializer.serialize_str(text),
            Arguments::Object(object) => {
                let text = serde_json::to_string(object).map_err(serde::ser::Error::custom)?;
                serializer.serialize_str(&text)
            }
        }
    }
}

/// Writes the `tools` field.
pub(crate) fn render_tools(tools: &[Tool]) -> Result<Box<RawValue>, serde_json::Error> {
    #[derive(Serialize)]
    struct WireTool<'a> {
        r#type: &'static str,
        function: Function<'a>,
    }
    #[derive(Serialize)]
    struct Function<'a> {
        name: &'a str,
        description: &'a str,
        parameters: &'a WrittenObject,
    }
    let wire = tools.iter().map(|tool| WireTool {
        r#type: "function",
        function: Function {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.input_schema,
        },
    });
    serde_json::value::to_raw_value(&wire.collect::<Vec<_>>())
}

/// What depends on the server and on the way of asking.
#[derive(Default)]
pub(in crate::openai) struct Form<'a> {
    /// The `tools` field.
    pub(in crate::openai) tools: Option<&'a RawValue>,
    /// The limit has its new name.
    pub(in crate::openai) limit: LimitField,
    pub(in crate::openai) grammar: GrammarFields<'a>,
    /// The reply is to be streamed.
    pub(in crate::openai) stream: bool,
}

/// Writes a request's body. `settings` replace those of the request; of the state of earlier turns, what is refused is
/// left out.
pub(in crate::openai) fn render(
    model: &str,
    request: &ChatRequest,
    settings: &Settings,
    refused: &Refused,
    form: Form<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let Form { tools, limit, grammar, stream } = form;
    let limit_if = |field| settings.output_tokens_max.filter(|_| limit == field);
    let partial = PartialTurn { continue_final_message: true, add_generation_prompt: false };
    let rest = Rest {
        tools,
        temperature: settings.temperature,
        max_tokens: limit_if(LimitField::MaxTokens),
        max_completion_tokens: limit_if(LimitField::MaxCompletionTokens),
        seed: settings.seed.map(wire_seed),
        stop: &settings.stop,
        grammar,
        partial: request.is_partial_turn().then_some(partial),
        stream: Streaming::wanted(stream, refused),
    };
    let mut bytes = Vec::with_capacity(size_hint(request, tools));
    bytes.extend_from_slice(b"{\"model\":");
    write_text(&mut bytes, model);
    bytes.extend_from_slice(b",\"messages\":[");
    for (index, message) in request.messages.iter().enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        write_message(&mut bytes, message, refused)?;
    }
    bytes.push(b']');
    let end = bytes.len();
    serde_json::to_writer(&mut bytes, &rest)?;
    // So far this is an object of its own. Its opening brace becomes a comma, so that its fields are those of the body.
    bytes[end] = b',';
    Ok(bytes)
}

/// The approximate size of a request in bytes: enough in most cases, so that the buffer need not grow.
pub(in crate::openai) fn size_hint(request: &ChatRequest, tools: Option<&RawValue>) -> usize {
    let texts: usize = request
        .messages
        .iter()
        .map(|message| match message {
            Message::System { text } | Message::User { text } | Message::Tool { text, .. } => text.len() + 96,
            Message::Assistant { text, calls, state } => text.len() + 64 + calls.len() * 192 + state.bytes(),
        })
        .sum();
    tools.map_or(0, |tools| tools.get().len()) + texts + texts / 16 + 192
}

#[cfg(test)]
mod tests {
    use super::*;
    use planproof_trace::CallId;
    use std::sync::Arc;

    #[test]
    fn a_request_is_written_as_the_protocol_has_it() {
        let call = |id: &str, text: &str| ToolCall {
            id: CallId::new(id),
            name: "pay".into(),
            arguments: Arguments::from_text(text),
        };
        let request = ChatRequest {
            previous: None,
            messages: vec![
                Message::System { text: "s".into() },
                Message::User { text: "\"u\"\n".into() },
                Message::assistant(String::new(), vec![call("a", "{\"x\": 1}"), call("b", "{oops")]),
                Message::Tool { id: CallId::new("a"), text: "done".into() },
                Message::assistant("Then".into(), vec![]),
            ],
            tools: Arc::from([Tool::without_arguments("pay", "Pays.")]),
            settings: Settings {
                temperature: Some(0.0),
                output_tokens_max: Some(9),
                seed: Some(7),
                stop: vec!["END".into()],
                ..Settings::default()
            },
        };
        let tools = RawValue::from_string("[1]".to_owned()).unwrap();
        let bytes = render(
            "m",
            &request,
            &request.settings,
            &Refused::default(),
            Form { tools: Some(&tools), stream: true, ..Form::default() },
        )
        .unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            concat!(
                r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"\"u\"\n"},"#,
                r#"{"role":"assistant","content":null,"tool_calls":["#,
                r#"{"id":"a","type":"function","function":{"name":"pay","arguments":"{\"x\":1}"}},"#,
                r#"{"id":"b","type":"function","function":{"name":"pay","arguments":"{oops"}}]},"#,
                r#"{"role":"tool","tool_call_id":"a","content":"done"},{"role":"assistant","content":"Then"}],"#,
                r#""tools":[1],"temperature":0.0,"max_tokens":9,"seed":7,"stop":["END"],"#,
                r#""continue_final_message":true,"add_generation_prompt":false,"#,
                r#""stream":true,"stream_options":{"include_usage":true}}"#,
            )
        );
        let plain = ChatRequest {
            messages: vec![],
            tools: Arc::from([]),
            settings: Settings::default(),
            previous: None,
        };
        let bytes = render(
            "m",
            &plain,
            &plain.settings,
            &Refused::default(),
            Form { limit: LimitField::MaxCompletionTokens, ..Form::default() },
        )
        .unwrap();
        assert_eq!(bytes, br#"{"model":"m","messages":[],"stream":false}"#);
    }

    #[test]
    fn tools_are_functions() {
        let tools = render_tools(&[Tool::without_arguments("a", "d")]).unwrap();
        assert_eq!(
            tools.get(),
            concat!(
                r#"[{"type":"function","function":{"name":"a","description":"d","parameters":"#,
                r#"{"additionalProperties":false,"properties":{},"type":"object"}}}]"#
            )
        );
    }
}
