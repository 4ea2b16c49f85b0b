//! A request for a chat completion, written straight from the conversation.

use planproof_trace::{Arguments, ToolCall};
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::value::RawValue;

use crate::{ChatRequest, Message};

/// How the limit on written tokens is spelt. OpenAI's reasoning models refuse the old name; several other servers do
/// not know the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::openai) enum LimitField {
    MaxTokens,
    MaxCompletionTokens,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Messages<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

struct Messages<'a>(&'a [Message]);

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Calls::is_empty")]
        tool_calls: Calls<'a>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

struct Calls<'a>(&'a [ToolCall]);

impl Calls<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: ArgumentsText<'a>,
}

struct ArgumentsText<'a>(&'a Arguments);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|message| match message {
            Message::System { text } => WireMessage::System { content: text },
            Message::User { text } => WireMessage::User { content: text },
            Message::Assistant { text, calls } => WireMessage::Assistant {
                content: (!text.is_empty() || calls.is_empty()).then_some(text),
                tool_calls: Calls(calls),
            },
            Message::Tool { id, text } => WireMessage::Tool { tool_call_id: id.as_str(), content: text },
        }))
    }
}

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|call| WireCall {
            id: call.id.as_str(),
            r#type: "function",
            function: WireFunction { name: &call.name, arguments: ArgumentsText(&call.arguments) },
        }))
    }
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

/// Writes a request's body.
pub(in crate::openai) fn render(
    model: &str,
    request: &ChatRequest,
    tools: Option<&RawValue>,
    limit: LimitField,
    stream: bool,
) -> Result<Vec<u8>, serde_json::Error> {
    let settings = &request.settings;
    let limit_if = |field| settings.output_tokens_max.filter(|_| limit == field);
    let body = Body {
        model,
        messages: Messages(&request.messages),
        tools,
        temperature: settings.temperature,
        max_tokens: limit_if(LimitField::MaxTokens),
        max_completion_tokens: limit_if(LimitField::MaxCompletionTokens),
        seed: settings.seed,
        stop: &settings.stop,
        stream: stream.then_some(true),
        stream_options: stream.then_some(StreamOptions { include_usage: true }),
    };
    let mut bytes = Vec::with_capacity(size_hint(request, tools));
    serde_json::to_writer(&mut bytes, &body)?;
    Ok(bytes)
}

/// About how many bytes a request takes: enough in most cases, so that the buffer need not grow.
fn size_hint(request: &ChatRequest, tools: Option<&RawValue>) -> usize {
    let texts: usize = request
        .messages
        .iter()
        .map(|message| match message {
            Message::System { text } | Message::User { text } | Message::Tool { text, .. } => text.len() + 96,
            Message::Assistant { text, calls } => text.len() + 64 + calls.len() * 192,
        })
        .sum();
    tools.map_or(0, |tools| tools.get().len()) + texts + texts / 16 + 192
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use planproof_trace::{CallId, Tool};
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
                Message::Assistant {
                    text: String::new(),
                    calls: vec![call("a", "{\"x\": 1}"), call("b", "{oops")],
                },
                Message::Tool { id: CallId::new("a"), text: "done".into() },
                Message::Assistant { text: String::new(), calls: vec![] },
            ],
            tools: Arc::from([Tool::without_arguments("pay", "Pays.")]),
            settings: Settings {
                temperature: Some(0.0),
                output_tokens_max: Some(9),
                seed: Some(7),
                stop: vec!["END".into()],
            },
        };
        let tools = RawValue::from_string("[1]".to_owned()).unwrap();
        let bytes = render("m", &request, Some(&tools), LimitField::MaxTokens, true).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            concat!(
                r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"\"u\"\n"},"#,
                r#"{"role":"assistant","content":null,"tool_calls":["#,
                r#"{"id":"a","type":"function","function":{"name":"pay","arguments":"{\"x\":1}"}},"#,
                r#"{"id":"b","type":"function","function":{"name":"pay","arguments":"{oops"}}]},"#,
                r#"{"role":"tool","tool_call_id":"a","content":"done"},{"role":"assistant","content":""}],"#,
                r#""tools":[1],"temperature":0.0,"max_tokens":9,"seed":7,"stop":["END"],"#,
                r#""stream":true,"stream_options":{"include_usage":true}}"#,
            )
        );
        let plain = ChatRequest {
            messages: vec![],
            tools: Arc::from([]),
            settings: Settings::default(),
            previous: None,
        };
        let bytes = render("m", &plain, None, LimitField::MaxCompletionTokens, false).unwrap();
        assert_eq!(bytes, br#"{"model":"m","messages":[]}"#);
    }
}
