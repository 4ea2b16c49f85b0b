//! The protocols as their servers speak them, by the documentation: one reply, told whole and as a stream.

use std::sync::Arc;

use futures::StreamExt;
use planproof_model::anthropic::{ANTHROPIC, AnthropicModel};
use planproof_model::openai::{OPENAI, OpenAiConfig, OpenAiModel, ResponsesModel};
use planproof_model::{
    BoxStream, ChatDelta, ChatReply, CompletionReply, CompletionRequest, ConnectionConfig, Model, ModelError,
    Provider, Settings, TurnState,
};
use planproof_trace::{Arguments, CallId, FinishReason, ToolCall, Usage};
use serde_json::{Value, json};

use crate::stand_in::question;

/// What the server says: words, and calls of (id, name, arguments).
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) calls: Vec<(&'static str, &'static str, String)>,
}

impl Said {
    pub(crate) fn words(text: &str) -> Self {
        Self { text: text.to_owned(), calls: Vec::new() }
    }

    pub(crate) fn calls(calls: &[(&'static str, &'static str, &str)]) -> Self {
        let calls = calls.iter().map(|(id, name, arguments)| (*id, *name, (*arguments).to_owned())).collect();
        Self { text: "On it. ".to_owned(), calls }
    }

    /// The reply that a client must make of it.
    pub(crate) fn reply(&self) -> ChatReply {
        let calls = self.calls.iter().map(|(id, name, arguments)| ToolCall {
            id: CallId::new(*id),
            name: (*name).to_owned(),
            arguments: Arguments::from_text(arguments),
        });
        ChatReply {
            text: self.text.clone(),
            calls: calls.collect(),
            finish: if self.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls },
            usage: USAGE,
            id: None,
            state: TurnState::default(),
        }
    }
}

/// What the server counts.
pub(crate) const USAGE: Usage = Usage::new(11, 7);

/// An event of a stream: its name, where the protocol gives it one, and its data.
pub(crate) type Event = (Option<&'static str>, Value);

/// How one protocol tells things.
pub(crate) struct Protocol {
    pub(crate) name: &'static str,
    pub(crate) provider: &'static Provider,
    pub(crate) connect: fn(&ConnectionConfig) -> Arc<dyn Model>,
    /// The endpoint's path behind `/v1`.
    pub(crate) path: &'static str,
    /// It goes on from plain texts, and knows no calls.
    pub(crate) is_plain: bool,
    pub(crate) whole: fn(&Said) -> Value,
    /// The events up to the last word, and those that end the reply.
    pub(crate) events: fn(&Said) -> (Vec<Event>, Vec<Event>),
    /// What ends the stream behind all events.
    pub(crate) mark: Option<&'static str>,
    /// The stream is whole without its last event, or without the mark.
    pub(crate) does_without_last: bool,
    /// An error, as the body of a reply.
    pub(crate) fault: fn(&str) -> Value,
    /// An error within a stream.
    pub(crate) fault_event: fn(&str) -> Event,
    /// Adds things of kinds that nobody knows to a whole reply.
    pub(crate) strange: fn(&mut Value),
    /// Events that nobody knows.
    pub(crate) strange_events: fn() -> Vec<Event>,
}

impl Protocol {
    /// Asks for a whole reply.
    pub(crate) async fn ask(&self, model: &dyn Model) -> Result<ChatReply, ModelError> {
        if !self.is_plain {
            return model.chat(&question()).await;
        }
        let CompletionReply { text, finish, usage, .. } = model.complete(&prompt()).await?;
        Ok(ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() })
    }

    /// Asks for a stream, and adds up what comes.
    pub(crate) async fn ask_stream(&self, model: &dyn Model) -> Result<ChatReply, ModelError> {
        if self.is_plain {
            let request = prompt();
            return added_up(model.complete_stream(&request).await?).await;
        }
        let request = question();
        added_up(model.chat_stream(&request).await?).await
    }
}

/// A text to go on from.
pub(crate) fn prompt() -> CompletionRequest {
    CompletionRequest { prompt: "hello".into(), settings: Settings::default(), score_prompt: false }
}

/// The reply that a stream adds up to. Its rules are checked on the way: calls begin in order and once, their arguments
/// come after that, nothing comes after the end or an error.
pub(crate) async fn added_up(
    mut deltas: BoxStream<'_, Result<ChatDelta, ModelError>>,
) -> Result<ChatReply, ModelError> {
    let mut text = String::new();
    let mut calls: Vec<(CallId, String, String)> = Vec::new();
    let mut state = TurnState::default();
    let mut result = None;
    while let Some(delta) = deltas.next().await {
        assert!(result.is_none(), "{delta:?} comes after the end");
        match delta {
            Ok(ChatDelta::Text(more)) => text.push_str(&more),
            Ok(ChatDelta::CallStart { index, id, name }) => {
                assert_eq!(index, calls.len());
                calls.push((id, name, String::new()));
            }
            Ok(ChatDelta::CallArguments { index, fragment }) => calls[index].2.push_str(&fragment),
            Ok(ChatDelta::State(kept)) => state = kept,
            Ok(ChatDelta::End { finish, usage, id }) => result = Some(Ok((finish, usage, id))),
            Err(error) => result = Some(Err(error)),
        }
    }
    let (finish, usage, id) = result.expect("a stream ends with its end or an error")?;
    let call =
        |(id, name, text): (_, _, String)| ToolCall { id, name, arguments: Arguments::from_text(&text) };
    Ok(ChatReply { text, calls: calls.into_iter().map(call).collect(), finish, usage, id, state })
}

/// A text in two pieces, so that streams have more than one.
fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(place, _)| place);
    [&text[..middle], &text[middle..]]
}

pub(crate) static CHAT: Protocol = Protocol {
    name: "chat completions",
    provider: &OPENAI,
    connect: |config| Arc::new(openai(config)),
    path: "/chat/completions",
    is_plain: false,
    whole: |said| {
        let calls = said.calls.iter().map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        });
        let calls: Vec<_> = calls.collect();
        let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
        let mut message =
            json!({"role": "assistant", "content": said.text, "refusal": null, "annotations": []});
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1741569952, "model": "m-2025-04-14",
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
                "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}},
            "service_tier": "default"
        })
    },
    events: |said| {
        let chunk = |delta: Value, finish: Value| -> Event {
            let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
            (
                None,
                json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [choice], "usage": null}),
            )
        };
        let mut words =
            vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
        words.extend(halves(&said.text).map(|half| chunk(json!({"content": half}), Value::Null)));
        for (index, (id, name, arguments)) in said.calls.iter().enumerate() {
            let function = json!({"name": name, "arguments": ""});
            let call = json!({"index": index, "id": id, "type": "function", "function": function});
            words.push(chunk(json!({"tool_calls": [call]}), Value::Null));
            for half in halves(arguments) {
                let call = json!({"index": index, "function": {"arguments": half}});
                words.push(chunk(json!({"tool_calls": [call]}), Value::Null));
            }
        }
        let finish = if said.calls.is_empty() { "stop" } else { "tool_calls" };
        let usage = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}});
        (words, vec![chunk(json!({}), finish.into()), (None, usage)])
    },
    mark: Some("[DONE]"),
    does_without_last: true,
    fault: openai_fault,
    fault_event: |message| (None, openai_fault(message)),
    strange: |reply| {
        let content = &mut reply["choices"][0]["message"]["content"];
        *content = json!([
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": content.take()},
            {"type": "hologram", "beam": 1},
        ]);
    },
    strange_events: || {
        vec![(Some("hologram"), json!({"choices": [], "beam": 1})), (None, json!({"beam": 1}))]
    },
};

pub(crate) static COMPLETIONS: Protocol = Protocol {
    name: "completions",
    provider: &OPENAI,
    connect: |config| Arc::new(openai(config)),
    path: "/completions",
    is_plain: true,
    whole: |said| {
        json!({
            "id": "cmpl-1", "object": "text_completion", "created": 1589478378, "model": "m",
            "choices": [{"text": said.text, "index": 0, "logprobs": null, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        })
    },
    events: |said| {
        let part = |text: &str, finish: Value| -> Event {
            let choice = json!({"text": text, "index": 0, "logprobs": null, "finish_reason": finish});
            (
                None,
                json!({"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m",
                "choices": [choice], "usage": null}),
            )
        };
        let usage = json!({"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m",
            "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}});
        let words = halves(&said.text).map(|half| part(half, Value::Null)).into();
        (words, vec![part("", "stop".into()), (None, usage)])
    },
    mark: Some("[DONE]"),
    does_without_last: true,
    fault: openai_fault,
    fault_event: |message| (None, openai_fault(message)),
    strange: |reply| reply["choices"][0]["hologram"] = json!({"type": "beam"}),
    strange_events: || {
        vec![(Some("hologram"), json!({"choices": [], "beam": 1})), (None, json!({"beam": 1}))]
    },
};

pub(crate) static RESPONSES: Protocol = Protocol {
    name: "responses",
    provider: &OPENAI,
    connect: |config| Arc::new(ResponsesModel::new("m", config).expect("a usable configuration")),
    path: "/responses",
    is_plain: false,
    whole: |said| response("completed", &response_items(said, "completed")),
    events: |said| {
        let items = response_items(said, "completed");
        let mut words = vec![
            event("response.created", json!({"response": response("in_progress", &[])})),
            event("response.in_progress", json!({"response": response("in_progress", &[])})),
        ];
        for (index, item) in items.iter().enumerate() {
            let mut begun = item.clone();
            let id = item["id"].clone();
            begun["status"] = "in_progress".into();
            let of = |fields: Value| {
                let mut fields = fields;
                fields["item_id"] = id.clone();
                fields["output_index"] = index.into();
                fields
            };
            if item["type"] == "message" {
                begun["content"] = json!([]);
                words
                    .push(event("response.output_item.added", json!({"output_index": index, "item": begun})));
                let part = json!({"type": "output_text", "text": "", "annotations": []});
                words.push(event(
                    "response.content_part.added",
                    of(json!({"content_index": 0, "part": part})),
                ));
                for half in halves(&said.text) {
                    let delta = json!({"content_index": 0, "delta": half, "logprobs": []});
                    words.push(event("response.output_text.delta", of(delta)));
                }
                let done = json!({"content_index": 0, "text": said.text, "logprobs": []});
                words.push(event("response.output_text.done", of(done)));
                let part = item["content"][0].clone();
                words
                    .push(event("response.content_part.done", of(json!({"content_index": 0, "part": part}))));
            } else {
                begun["arguments"] = "".into();
                words
                    .push(event("response.output_item.added", json!({"output_index": index, "item": begun})));
                let whole = item["arguments"].as_str().expect("arguments are text");
                for half in halves(whole) {
                    words.push(event("response.function_call_arguments.delta", of(json!({"delta": half}))));
                }
                words.push(event("response.function_call_arguments.done", of(json!({"arguments": whole}))));
            }
            words.push(event("response.output_item.done", json!({"output_index": index, "item": item})));
        }
        (words, vec![event("response.completed", json!({"response": response("completed", &items)}))])
    },
    mark: None,
    does_without_last: false,
    fault: openai_fault,
    fault_event: |message| event("error", json!({"code": "server_error", "message": message, "param": null})),
    strange: |reply| {
        let items = reply["output"].as_array_mut().expect("items");
        items.insert(
            0,
            json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        );
        items.push(json!({"id": "h_1", "type": "hologram", "content": [{"type": "beam"}]}));
    },
    strange_events: || {
        vec![
            event(
                "response.reasoning_summary_text.delta",
                json!({"item_id": "rs_1", "output_index": 9, "delta": "hm"}),
            ),
            event("response.hologram", json!({"output_index": 9, "delta": {"beam": 1}})),
            event(
                "response.output_item.added",
                json!({"output_index": 9, "item": {"type": "hologram", "id": "h_1"}}),
            ),
        ]
    },
};

pub(crate) static MESSAGES: Protocol = Protocol {
    name: "messages",
    provider: &ANTHROPIC,
    connect: |config| Arc::new(AnthropicModel::new("m", config).expect("a usable configuration")),
    path: "/messages",
    is_plain: false,
    whole: |said| {
        let mut content = vec![json!({"type": "text", "text": said.text, "citations": null})];
        content.extend(said.calls.iter().map(|(id, name, arguments)| {
            // What is not an object does not occur there by the documentation; text is the nearest to it.
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments.as_str()));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }));
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m-20250514", "content": content,
            "stop_reason": if said.calls.is_empty() { "end_turn" } else { "tool_use" }, "stop_sequence": null,
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 2,
                "output_tokens": 7, "service_tier": "standard"}
        })
    },
    events: |said| {
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 5,
            "cache_creation_input_tokens": 4, "cache_read_input_tokens": 2, "output_tokens": 1}});
        let mut words = vec![event("message_start", json!({"message": message})), event("ping", json!({}))];
        let block = |words: &mut Vec<Event>, index: usize, block: Value, deltas: &[Value]| {
            words.push(event("content_block_start", json!({"index": index, "content_block": block})));
            let deltas = deltas.iter().map(|delta| json!({"index": index, "delta": delta}));
            words.extend(deltas.map(|delta| event("content_block_delta", delta)));
            words.push(event("content_block_stop", json!({"index": index})));
        };
        let deltas = halves(&said.text).map(|half| json!({"type": "text_delta", "text": half}));
        block(&mut words, 0, json!({"type": "text", "text": ""}), &deltas);
        for (index, (id, name, arguments)) in said.calls.iter().enumerate() {
            let [first, second] = halves(arguments);
            let deltas =
                ["", first, second].map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
            let call = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            block(&mut words, index + 1, call, &deltas);
        }
        let stop = if said.calls.is_empty() { "end_turn" } else { "tool_use" };
        let delta =
            json!({"delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 7}});
        (words, vec![event("message_delta", delta), event("message_stop", json!({}))])
    },
    mark: None,
    does_without_last: true,
    fault: |message| json!({"type": "error", "error": {"type": "api_error", "message": message}, "request_id": "req_1"}),
    fault_event: |message| event("error", json!({"error": {"type": "api_error", "message": message}})),
    strange: |reply| {
        let blocks = reply["content"].as_array_mut().expect("blocks");
        blocks.insert(0, json!({"type": "thinking", "thinking": "hm", "signature": "x"}));
        blocks.push(json!({"type": "hologram", "text": "not for us", "input": 7}));
    },
    strange_events: || {
        vec![
            event(
                "content_block_start",
                json!({"index": 9, "content_block": {"type": "thinking", "thinking": ""}}),
            ),
            event(
                "content_block_delta",
                json!({"index": 9, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            ),
            event(
                "content_block_delta",
                json!({"index": 9, "delta": {"type": "signature_delta", "signature": "x"}}),
            ),
            event("content_block_stop", json!({"index": 9})),
            event("hologram", json!({"beam": 1})),
        ]
    },
};

fn openai(config: &ConnectionConfig) -> OpenAiModel {
    let config = OpenAiConfig { connection: config.clone(), ..OpenAiConfig::new("m") };
    OpenAiModel::new(config).expect("a usable configuration")
}

fn openai_fault(message: &str) -> Value {
    json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}})
}

/// An event whose name is also its type.
fn event(name: &'static str, mut data: Value) -> Event {
    data["type"] = name.into();
    (Some(name), data)
}

fn response_items(said: &Said, status: &str) -> Vec<Value> {
    let part = json!({"type": "output_text", "text": said.text, "annotations": [], "logprobs": []});
    let message =
        json!({"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": [part]});
    let calls = said.calls.iter().enumerate().map(|(index, (id, name, arguments))| {
        json!({"id": format!("fc_{index}"), "type": "function_call", "status": status, "call_id": id, "name": name,
            "arguments": arguments})
    });
    std::iter::once(message).chain(calls).collect()
}

fn response(status: &str, output: &[Value]) -> Value {
    let is_whole = status == "completed";
    let usage = json!({"input_tokens": 11, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 18});
    json!({
        "id": "resp_1", "object": "response", "created_at": 1741476777, "status": status, "error": null,
        "incomplete_details": null, "instructions": null, "max_output_tokens": null, "model": "m",
        "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": true, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": if is_whole { usage } else { Value::Null }, "user": null, "metadata": {}
    })
}
