//! A request to `/api/chat`, written straight from the conversation.

use std::collections::HashMap;

use planproof_trace::{Arguments, CallId, ToolCall};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::openai::seed::wire_seed;
use crate::{ChatRequest, Message, Settings};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<bool>,
    stream: bool,
    /// A conversation that does not fit is an error, instead of losing its beginning.
    truncate: bool,
    shift: bool,
    options: Options<'a>,
}

#[derive(Serialize)]
struct Options<'a> {
    num_ctx: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
}

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
        content: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        content: &'a str,
        /// Older versions know the tool by its name alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_name: Option<&'a str>,
        tool_call_id: &'a str,
    },
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    index: usize,
    name: &'a str,
    arguments: Value,
}

/// What a request has beside its conversation.
pub(super) struct Rendering<'a> {
    pub(super) model: &'a str,
    pub(super) think: Option<bool>,
    /// The size of the context, in tokens.
    pub(super) context: u64,
}

impl Rendering<'_> {
    /// Writes a request's body. `settings` replace those of the request.
    pub(super) fn render(
        &self,
        request: &ChatRequest,
        settings: &Settings,
        tools: Option<&RawValue>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Body {
            model: self.model,
            messages: messages(request),
            tools,
            think: self.think,
            stream: false,
            truncate: false,
            shift: false,
            options: Options {
                num_ctx: self.context,
                temperature: settings.temperature,
                seed: settings.seed.map(wire_seed),
                num_predict: settings.output_tokens_max,
                stop: &settings.stop,
            },
        })
    }
}

fn messages(request: &ChatRequest) -> Vec<WireMessage<'_>> {
    let mut names: HashMap<&CallId, &str> = HashMap::new();
    let written = request.messages.iter().map(|message| match message {
        Message::System { text } => WireMessage::System { content: text },
        Message::User { text } => WireMessage::User { content: text },
        Message::Assistant { text, calls, .. } => {
            names.extend(calls.iter().map(|call| (&call.id, call.name.as_str())));
            let tool_calls = calls.iter().enumerate().map(|(index, call)| wire_call(index, call)).collect();
            WireMessage::Assistant { content: text, tool_calls }
        }
        Message::Tool { id, text } => {
            WireMessage::Tool { content: text, tool_name: names.get(id).copied(), tool_call_id: id.as_str() }
        }
    });
    written.collect()
}

fn wire_call(index: usize, call: &ToolCall) -> WireCall<'_> {
    let arguments = match &call.arguments {
        Arguments::Object(object) => Value::Object(object.clone()),
        Arguments::Malformed(text) => json!({"malformed": text}),
    };
    WireCall { id: call.id.as_str(), function: WireFunction { index, name: &call.name, arguments } }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

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
                Message::User { text: "u".into() },
                Message::assistant(String::new(), vec![call("a", "{\"x\": 1}"), call("b", "{oops")]),
                Message::Tool { id: CallId::new("a"), text: "done".into() },
            ],
            tools: Arc::from([]),
            settings: Settings {
                temperature: Some(0.0),
                output_tokens_max: Some(9),
                seed: Some(7),
                stop: vec!["END".into()],
                ..Settings::default()
            },
        };
        let tools = RawValue::from_string("[1]".to_owned()).unwrap();
        let rendering = Rendering { model: "m", think: Some(false), context: 8192 };
        let bytes = rendering.render(&request, &request.settings, Some(&tools)).unwrap();
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        let pay = |id: &str, index: u32, arguments: Value| json!({"id": id, "function": {"index": index, "name": "pay", "arguments": arguments}});
        assert_eq!(
            body,
            json!({
                "model": "m",
                "messages": [
                    {"role": "system", "content": "s"},
                    {"role": "user", "content": "u"},
                    {"role": "assistant", "content": "", "tool_calls": [
                        pay("a", 0, json!({"x": 1})),
                        pay("b", 1, json!({"malformed": "{oops"})),
                    ]},
                    {"role": "tool", "content": "done", "tool_name": "pay", "tool_call_id": "a"},
                ],
                "tools": [1],
                "think": false,
                "stream": false,
                "truncate": false,
                "shift": false,
                "options": {"num_ctx": 8192, "temperature": 0.0, "seed": 7, "num_predict": 9, "stop": ["END"]},
            })
        );
    }
}
