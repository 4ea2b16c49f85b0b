//! Messages of conversations and items of responses, and the calls and results in them.

use planproof_guard::read_held;
use planproof_spec::rules::result_of;
use serde_json::{Map, Value};

use crate::calls::Calls;

/// Where an item of a tool that a provider has itself says what is done.
const DONE_BY: [&str; 4] = ["action", "operation", "arguments", "input"];

/// Where it says what came of it.
const CAME_OF_IT: [&str; 4] = ["output", "outputs", "results", "result"];

/// What else is in such an item, and is not an argument.
const ABOUT_ITEMS: [&str; 8] = ["type", "id", "call_id", "status", "name", "role", "error", "created_by"];

/// How many models write a call into their text.
const CALL_IN_TEXT: &str = "<tool_call>";

impl Calls {
    /// Takes messages, and gives whether they are some.
    pub(crate) fn messages(&mut self, messages: &[Value]) -> bool {
        messages.iter().for_each(|message| self.message(message));
        are_messages(messages)
    }

    /// Takes a message, or an item of a response.
    pub(crate) fn message(&mut self, message: &Value) {
        self.message += 1;
        let before = self.taken;
        let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for call in calls {
            let function = call.get("function").or_else(|| call.get("custom")).unwrap_or(call);
            let arguments = ["arguments", "input", "args"].iter().find_map(|key| function.get(*key));
            self.call(text(call, "id"), None, text(function, "name"), arguments_of(arguments));
        }
        // Before there were several, a message had one call, without an id.
        if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
            self.call("", None, text(call, "name"), arguments_of(call.get("arguments")));
        }
        let (role, kind) = (text(message, "role"), text(message, "type"));
        if matches!(role, "tool" | "function") || role.is_empty() && kind == "tool" {
            let has_failed = says_error(message) || text(message, "status") == "error";
            let content = content_of(message.get("content"));
            let tool = message.get("name").and_then(Value::as_str);
            self.outcome(text(message, "tool_call_id"), tool, has_failed, content);
        }
        // Responses: the items themselves; messages of Anthropic: blocks of their content.
        let is_item = self.block(message);
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            // Some have a call both among the calls and among the blocks.
            let is_listed = !calls.is_empty() && text(block, "type") == "tool_call";
            if !is_listed && !self.block(block) {
                self.note_unread(block);
            }
        }
        let is_said = text(message, "role") == "assistant"
            && message.get("content").and_then(text_of).is_some_and(|text| text.contains(CALL_IN_TEXT));
        if is_said && self.taken == before {
            self.unread.push(CALL_IN_TEXT.to_owned());
        }
        if !is_item && self.taken == before {
            for (key, value) in message.as_object().into_iter().flatten().filter(|(key, _)| *key != "content")
            {
                self.note_unread_at(key, value);
            }
        }
    }

    /// Takes an item or a block, and gives whether it is a call or a result.
    fn block(&mut self, block: &Value) -> bool {
        let kind = text(block, "type");
        let arguments = |key: &str| arguments_of(block.get(key));
        match kind {
            "function_call" => self.call(id_of(block), None, text(block, "name"), arguments("arguments")),
            "custom_tool_call" => self.call(id_of(block), None, text(block, "name"), arguments("input")),
            "tool_call" => {
                let arguments = ["args", "arguments", "input"].iter().find_map(|key| block.get(*key));
                self.call(id_of(block), None, text(block, "name"), arguments_of(arguments));
            }
            // A call that the provider made, with what came of it.
            "mcp_call" => {
                let id = text(block, "id");
                let server = block.get("server_label").and_then(Value::as_str);
                self.call(id, server, text(block, "name"), arguments("arguments"));
                match (block.get("error").filter(|error| !error.is_null()), block.get("output")) {
                    (Some(error), _) => self.outcome(id, None, true, content_of(Some(error))),
                    (None, Some(output)) if !output.is_null() => {
                        self.outcome(id, None, false, content_of(Some(output)));
                    }
                    _ => {}
                }
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let server = block.get("server_name").and_then(Value::as_str);
                self.call(text(block, "id"), server, text(block, "name"), arguments("input"));
            }
            _ if kind.ends_with("_call_output") => {
                // Some say so in the output itself.
                let output = block.get("output");
                let has_failed = output.and_then(|output| output.get("success")) == Some(&Value::Bool(false))
                    || text(block, "status") == "failed";
                let content = content_of(output.and_then(|it| it.get("content")).or(output));
                self.outcome(id_of(block), None, says_error(block) || has_failed, content);
            }
            _ if kind == "tool_result" || kind.ends_with("_tool_result") => {
                // Tools of the provider say so by the type of the content.
                let content = block.get("content");
                let is_error =
                    says_error(block) || content.is_some_and(|it| text(it, "type").ends_with("_error"));
                self.outcome(text(block, "tool_use_id"), None, is_error, content_of(content));
            }
            _ => match kind.strip_suffix("_call").filter(|tool| !tool.is_empty()) {
                Some(tool) => self.provided(tool, block),
                None => return false,
            },
        }
        true
    }

    /// Takes a call of a tool that the provider has itself, such as `web_search_call`. One without an id for its result
    /// was made by the provider, and has what came of it.
    fn provided(&mut self, tool: &str, item: &Value) {
        let is_known = |key: &String| {
            let is_one_of = |keys: &[&str]| keys.contains(&key.as_str());
            is_one_of(&DONE_BY) || is_one_of(&CAME_OF_IT) || is_one_of(&ABOUT_ITEMS)
        };
        let there = |keys: &[&str]| keys.iter().find_map(|key| item.get(*key).filter(|it| !it.is_null()));
        let arguments = match there(&DONE_BY) {
            Some(arguments) => arguments_of(Some(arguments)),
            None => {
                let others = item.as_object().into_iter().flatten().filter(|(key, _)| !is_known(key));
                let others: Map<String, Value> =
                    others.map(|(key, value)| (key.clone(), value.clone())).collect();
                Value::Object(others)
            }
        };
        let (id, name) = (id_of(item), text(item, "name"));
        self.call(id, None, if name.is_empty() { tool } else { name }, arguments);
        if item.get("call_id").is_some() {
            return;
        }
        let has_failed = matches!(text(item, "status"), "failed" | "incomplete");
        let came = there(&CAME_OF_IT);
        if has_failed || came.is_some() || text(item, "status") == "completed" {
            let outcome = came.or_else(|| item.get("error"));
            self.outcome(id, None, has_failed, content_of(outcome));
        }
    }

    /// Notes what looks like a call in a part of a record that is not read.
    pub(crate) fn note_unread(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.note_unread(item)),
            Value::Object(entries) => {
                let kind = text(value, "type");
                // The AI SDK names parts after their tools.
                let is_of_tool =
                    kind.starts_with("tool-") && kind != "tool-result" && entries.contains_key("toolCallId");
                if is_like_call(kind) || is_of_tool {
                    return self.unread.push(kind.to_owned());
                }
                entries.iter().for_each(|(key, value)| self.note_unread_at(key, value));
            }
            _ => {}
        }
    }

    /// The same, of what stands under this key.
    pub(crate) fn note_unread_at(&mut self, key: &str, value: &Value) {
        let is_filled = match value {
            Value::Array(items) => !items.is_empty(),
            Value::Object(_) => true,
            _ => return,
        };
        match key {
            // What tools there are, what is in a call, and what was counted.
            "tools" | "functions" | "arguments" | "args" | "parameters" | "usage" => {}
            _ if is_filled && is_like_call(key.strip_suffix('s').unwrap_or(key)) => {
                self.unread.push(key.to_owned());
            }
            _ => self.note_unread(value),
        }
    }
}

/// Whether a kind of block or the name of a field is that of a call, in one of the spellings that are in use:
/// `function_call`, `tool-call`, `functionCall`, `toolUse`.
fn is_like_call(kind: &str) -> bool {
    let letters: String = kind.chars().filter(char::is_ascii_alphabetic).collect();
    let letters = letters.to_ascii_lowercase();
    ["toolcall", "functioncall", "tooluse", "toolinvocation", "dynamictool"]
        .iter()
        .any(|ending| letters.ends_with(ending))
}

/// Whether there is a message among these, or an item of a response. An empty conversation is one.
pub(crate) fn are_messages(items: &[Value]) -> bool {
    items.is_empty() || items.iter().any(|item| item.get("role").is_some() || item.get("type").is_some())
}

fn says_error(value: &Value) -> bool {
    value.get("is_error") == Some(&Value::Bool(true))
}

/// The id by which a result finds its call.
fn id_of(item: &Value) -> &str {
    let id = ["call_id", "id"].iter().find_map(|key| item.get(*key)?.as_str());
    id.unwrap_or_default()
}

pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A text, or the texts among blocks.
pub(crate) fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => Some(texts_of(blocks)),
        _ => None,
    }
}

/// The texts among the blocks of a message, a line each.
fn texts_of(blocks: &[Value]) -> String {
    let texts: Vec<&str> =
        blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    texts.join("\n")
}

/// Arguments are an object, or the text of one.
pub(crate) fn arguments_of(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => {
            read_held(text.as_bytes()).unwrap_or_else(|_| Value::from(text.as_str()))
        }
        Some(Value::Null) | None => Value::Object(Map::new()),
        Some(value) => value.clone(),
    }
}

/// The content of a result: a text, or blocks of text, which are JSON or not.
pub(crate) fn content_of(value: Option<&Value>) -> Value {
    match value {
        Some(value) => result_of(value).value,
        None => Value::Null,
    }
}
