//! Calls as text, and text without end: what real models do on servers that do not read their calls, or set no limit.

use planproof_model::{ChatRequest, Message, Settings};
use planproof_trace::{CallId, ToolCall, text_calls};

use crate::text::reply::{TOKEN_BYTES, TextReply, ended};

/// What a rambling model writes again and again.
const RAMBLING: &str = "Let me think about that once more. ";

/// Tokens that it writes if nothing stops it.
const RAMBLING_TOKENS: usize = 16_384;

/// The reply of a rambling model.
pub(crate) fn rambling(settings: &Settings) -> TextReply {
    ended(RAMBLING.repeat(RAMBLING_TOKENS * TOKEN_BYTES / RAMBLING.len()), settings)
}

/// A reply with its calls as text, each in a fence.
pub(crate) fn as_text(text: String, calls: &[ToolCall]) -> String {
    let fences = calls.iter().map(|call| {
        let name = serde_json::Value::from(call.name.as_str());
        format!("```json\n{{\"name\": {name}, \"arguments\": {}}}\n```", call.arguments.to_text())
    });
    let parts = (!text.is_empty()).then_some(text).into_iter().chain(fences);
    parts.collect::<Vec<_>>().join("\n")
}

/// The request with calls and results instead of the texts that represent them. A text has one call.
pub(crate) fn read(request: &ChatRequest) -> ChatRequest {
    let is_tool = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    let mut open = None;
    let messages = request.messages.iter().enumerate().map(|(number, message)| match message {
        Message::Assistant { text, calls, .. } if calls.is_empty() => {
            let id = CallId::new(format!("written_{number}"));
            let calls = text_calls(text, &is_tool).into_iter().map(|call| ToolCall {
                id: id.clone(),
                name: call.name,
                arguments: call.arguments,
            });
            let calls: Vec<ToolCall> = calls.take(1).collect();
            open = (!calls.is_empty()).then_some(id);
            let text = if calls.is_empty() { text.clone() } else { String::new() };
            Message::assistant(text, calls)
        }
        Message::User { text } => match open.take() {
            // The first line says whose result follows.
            Some(id) => {
                let result = text.split_once('\n').map_or(text.as_str(), |(_, result)| result);
                Message::Tool { id, text: result.to_owned() }
            }
            None => message.clone(),
        },
        _ => message.clone(),
    });
    ChatRequest { messages: messages.collect(), ..request.clone() }
}
