//! Anthropic's messages, answered by a server of chat completions.

use serde_json::{Map, Value, json};

use super::forwarded;
use crate::stand_in::answer;

/// A result of a tool that does not follow its call, or a call without a result, which the service refuses,
/// as it does an end of white space in a turn that it is to go on with.
pub(super) fn out_of_order(messages: &[Value]) -> Option<String> {
    if messages.first().is_some_and(|first| first["role"] != "user") {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    let ids = |message: &Value, kind: &str, field: &str| -> Vec<Value> {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.filter(|block| block["type"] == kind).map(|block| block[field].clone()).collect()
    };
    let mut open: Vec<Value> = Vec::new();
    for message in messages {
        let results = ids(message, "tool_result", "tool_use_id");
        if results != open {
            return Some(format!(
                "`tool_use` ids {open:?} were found without their `tool_result` blocks: {results:?}"
            ));
        }
        open = ids(message, "tool_use", "id");
    }
    let last = messages.last()?;
    if last["role"] == "assistant" {
        let text = last["content"].as_array()?.last()?["text"].as_str().unwrap_or_default();
        if text.ends_with(char::is_whitespace) {
            return Some("messages: final assistant content cannot end with trailing whitespace".to_owned());
        }
    }
    (!open.is_empty())
        .then(|| format!("`tool_use` ids {open:?} were found without their `tool_result` blocks"))
}

/// The same request in the other protocol.
fn as_chat(body: &Value) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    messages.extend(body["system"].as_str().map(|text| json!({"role": "system", "content": text})));
    for message in body["messages"].as_array().unwrap() {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        for block in message["content"].as_array().unwrap() {
            match block["type"].as_str().unwrap() {
                "text" => texts.push(block["text"].as_str().unwrap()),
                "tool_use" => calls.push(json!({"id": block["id"], "type": "function", "function":
                    {"name": block["name"], "arguments": block["input"].to_string()}})),
                _ => messages.push(json!({"role": "tool", "tool_call_id": block["tool_use_id"],
                    "content": block["content"].as_str().unwrap_or_default()})),
            }
        }
        if !texts.is_empty() || !calls.is_empty() {
            let mut chat = json!({"role": message["role"], "content": texts.concat()});
            if !calls.is_empty() {
                chat["tool_calls"] = calls.into();
            }
            messages.push(chat);
        }
    }
    let mut chat = Map::new();
    chat.insert("model".to_owned(), body["model"].clone());
    chat.insert("messages".to_owned(), messages.into());
    chat.insert("max_tokens".to_owned(), body["max_tokens"].clone());
    if let Some(tools) = body["tools"].as_array() {
        let tools = tools.iter().map(|tool| {
            json!({"type": "function", "function":
            {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}})
        });
        chat.insert("tools".to_owned(), tools.collect());
    }
    for (name, other) in [("stop_sequences", "stop"), ("temperature", "temperature")] {
        if !body[name].is_null() {
            chat.insert(other.to_owned(), body[name].clone());
        }
    }
    chat.into()
}

/// What the simulated model answers, as a message or as the events of one.
pub(super) fn answered(base_url: &str, body: &Value) -> String {
    let reply = forwarded(base_url, "/v1/chat/completions", &as_chat(body));
    let (_, reply) = reply.split_once("\r\n\r\n").unwrap();
    let reply: Value = serde_json::from_str(reply).unwrap_or_else(|error| panic!("{error}: {reply}"));
    let choice = &reply["choices"][0];
    assert!(choice.is_object(), "{reply}");
    let mut content = Vec::new();
    if let Some(text) = choice["message"]["content"].as_str().filter(|text| !text.is_empty()) {
        content.push(json!({"type": "text", "text": text}));
    }
    for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
        let input: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        content.push(
            json!({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": input}),
        );
    }
    let stop = match choice["finish_reason"].as_str() {
        Some("tool_calls") => "tool_use",
        Some("length") => "max_tokens",
        _ => "end_turn",
    };
    let usage = json!({"input_tokens": reply["usage"]["prompt_tokens"], "output_tokens": reply["usage"]["completion_tokens"]});
    let message = |content: &[Value], stop: Value| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage})
    };
    if body["stream"] != true {
        return answer("200 OK", "", &message(&content, stop.into()).to_string());
    }
    let mut events = vec![json!({"type": "message_start", "message": message(&[], Value::Null)})];
    for (index, block) in content.iter().enumerate() {
        let mut begun = block.clone();
        let delta = match block["type"].as_str() {
            Some("text") => json!({"type": "text_delta", "text": begun["text"].take()}),
            _ => json!({"type": "input_json_delta", "partial_json": begun["input"].take().to_string()}),
        };
        if block["type"] == "text" {
            begun["text"] = "".into();
        } else {
            begun["input"] = json!({});
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    let stream: String = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect();
    let length = stream.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{stream}")
}
