//! The answer for an agent to a call that no tool can execute.

use std::fmt::Write as _;

use planproof_trace::{Tool, ToolCall, ToolResult};

/// Most tool names listed in the answer to a call of a nonexistent tool.
const NAMES_LISTED_MAX: usize = 64;
/// Most characters quoted from an agent's text.
const QUOTE_CHARS_MAX: usize = 200;

/// The answer to a call of a tool that is not among `tools`.
pub(crate) fn no_such_tool(call: &ToolCall, tools: &[Tool]) -> ToolResult {
    let mut text = format!("there is no tool named `{}`; ", shortened(&call.name));
    if tools.is_empty() {
        text.push_str("there are no tools");
        return ToolResult::error(call.id.clone(), text);
    }
    text.push_str("the tools are: ");
    for (index, tool) in tools.iter().take(NAMES_LISTED_MAX).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&tool.name);
    }
    if tools.len() > NAMES_LISTED_MAX {
        let _ = write!(text, " and {} more", tools.len() - NAMES_LISTED_MAX);
    }
    ToolResult::error(call.id.clone(), text)
}

/// The answer to a call with this text as arguments instead of a JSON object.
pub(crate) fn not_an_object(call: &ToolCall, arguments: &str) -> ToolResult {
    let text = format!("the arguments of `{}` are not a JSON object: {}", call.name, shortened(arguments));
    ToolResult::error(call.id.clone(), text)
}

/// At most [`QUOTE_CHARS_MAX`] characters of `text`, with a mark where something was left out.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(QUOTE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
