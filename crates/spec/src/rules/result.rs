//! What the result of a call is, whichever way it comes: as a text, in blocks, or as MCP has it.
//!
//! Guards, hooks and readers of records all ask here, so that a rule means the same wherever it is applied. The table
//! in `docs/rules.md` says what is done.

use planproof_trace::json;
use serde_json::{Deserializer, Value};

use super::Pointer;
use crate::number::is_same;

/// The result of a call as rules see it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallResult {
    /// JSON where the tool returned JSON, otherwise a text.
    pub value: Value,
    /// It says of itself that the tool failed (`isError` of MCP).
    pub says_error: bool,
    /// Its text is JSON that gives another value than its structured content, which is the one that counts.
    pub is_contradictory: bool,
}

/// JSON where a text is JSON, a list where it is several objects or lists one behind the other, otherwise the text.
pub fn outcome_of(text: &str) -> Value {
    json_in(text).unwrap_or_else(|| Value::from(text))
}

/// The result of a call in the form in which a protocol, a framework or a program has it: a text, a list of blocks
/// (`{"type": "text", "text": ...}`), a result of MCP (`content` and `structuredContent`), or the value itself.
pub fn result_of(result: &Value) -> CallResult {
    match result {
        Value::String(text) => match json_in(text) {
            Some(value) if is_packed(&value) => result_of(&value),
            Some(value) => CallResult { value, ..CallResult::default() },
            None => CallResult { value: result.clone(), ..CallResult::default() },
        },
        Value::Array(blocks) if is_blocks(blocks) => {
            CallResult { value: of_blocks(blocks), ..CallResult::default() }
        }
        other if is_packed(other) => mcp_result(other),
        other => CallResult { value: other.clone(), ..CallResult::default() },
    }
}

/// The result in an answer of MCP to `tools/call`. An answer without any content that MCP knows is the value itself.
pub fn mcp_result(result: &Value) -> CallResult {
    let of = |keys: [&str; 2]| keys.into_iter().find_map(|key| result.get(key).filter(|it| !it.is_null()));
    let says_error = of(["isError", "is_error"]).is_some_and(is_true);
    let said = match result.get("content") {
        // No block at all: an empty list arrives as that.
        Some(Value::Array(blocks)) if blocks.is_empty() => None,
        Some(Value::Array(blocks)) => Some(of_blocks(blocks)),
        Some(Value::String(text)) if is_packed(result) => Some(outcome_of(text)),
        _ => None,
    };
    match of(["structuredContent", "structured_content"]) {
        Some(structured) => {
            let is_data = |said: &Value| said.is_object() || said.is_array();
            let is_contradictory =
                said.is_some_and(|said| is_data(&said) && !is_reading_of(&said, structured));
            CallResult { value: structured.clone(), says_error, is_contradictory }
        }
        None => {
            let empty = || result.get("content").filter(|content| content.is_array());
            let value = said.unwrap_or_else(|| empty().unwrap_or(result).clone());
            CallResult { value, says_error, is_contradictory: false }
        }
    }
}

/// Whether a value means yes. The protocol knows `true` alone; the SDK for Python reads numbers and words, too.
fn is_true(value: &Value) -> bool {
    const WORDS: [&str; 6] = ["true", "t", "yes", "y", "on", "1"];
    match value {
        Value::Bool(is_true) => *is_true,
        Value::Number(number) => number.as_f64() == Some(1.0),
        Value::String(text) => WORDS.iter().any(|word| text.trim().eq_ignore_ascii_case(word)),
        _ => false,
    }
}

/// Where a pointer into a result begins. The SDKs for Python wrap a value that is not an object as `{"result": ...}`,
/// which no text of the tool says, so pointers lead into that value, unless they begin with `/result` themselves.
pub(super) fn inner<'v>(outcome: &'v Value, pointer: &Pointer) -> &'v Value {
    match outcome.as_object() {
        Some(entries) if entries.len() == 1 && pointer.parts().next().as_deref() != Some(WRAPPER) => {
            entries.get(WRAPPER).unwrap_or(outcome)
        }
        _ => outcome,
    }
}

/// The key under which the SDKs for Python put a value that is not an object.
const WRAPPER: &str = "result";

/// The kinds of blocks, of which there is at least one in a list of blocks.
const BLOCK_KINDS: [&str; 10] = [
    "text",
    "input_text",
    "output_text",
    "image",
    "image_url",
    "input_image",
    "audio",
    "resource",
    "resource_link",
    "document",
];

/// The keys of a result of MCP. What has others is something that a tool returned.
const PACKED_KEYS: [&str; 9] = [
    "content",
    "structuredContent",
    "structured_content",
    "isError",
    "is_error",
    "_meta",
    "meta",
    "resultType",
    "result_type",
];

fn is_blocks(items: &[Value]) -> bool {
    let kind = |item: &Value| item.get("type").and_then(Value::as_str).map(str::to_owned);
    let kinds: Option<Vec<String>> = items.iter().map(kind).collect();
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| BLOCK_KINDS.contains(&kind.as_str())))
}

/// Whether a value is a result of MCP, or a list of blocks.
fn is_packed(value: &Value) -> bool {
    match value {
        Value::Array(items) => is_blocks(items),
        Value::Object(entries) => {
            let has = |key: &str, is_so: fn(&Value) -> bool| entries.get(key).is_some_and(is_so);
            let has_more = ["structuredContent", "structured_content"].iter().any(|key| has(key, |_| true))
                || ["isError", "is_error"].iter().any(|key| has(key, Value::is_boolean));
            entries.keys().all(|key| PACKED_KEYS.contains(&key.as_str()))
                && match entries.get("content") {
                    Some(Value::Array(blocks)) => blocks.is_empty() || is_blocks(blocks),
                    None | Some(Value::String(_)) => has_more,
                    Some(_) => false,
                }
        }
        _ => false,
    }
}

/// The value of a text that is JSON, in which halves of characters are mended as in all results. One of too many values
/// stays a text.
fn json_in(text: &str) -> Option<Value> {
    json::weigh(text.as_bytes()).ok()?;
    sound_json_in(text).or_else(|| {
        let mended = json::mended(text.as_bytes())?;
        sound_json_in(std::str::from_utf8(&mended).ok()?)
    })
}

fn sound_json_in(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut found: Vec<Value> = Vec::new();
    for value in Deserializer::from_str(text).into_iter::<Value>() {
        found.push(value.ok().filter(|value| value.is_object() || value.is_array())?);
    }
    Some(Value::Array(found))
}

/// What the texts of blocks say.
fn of_blocks(blocks: &[Value]) -> Value {
    let text = |block: &Value| {
        let text = block.get("text").or_else(|| block.get("resource")?.get("text"))?.as_str()?;
        (!text.is_empty()).then(|| text.to_owned())
    };
    let texts: Vec<String> = blocks.iter().filter_map(text).collect();
    if let [text] = texts.as_slice() {
        return outcome_of(text);
    }
    let read: Vec<Option<Value>> = texts.iter().map(|text| json_in(text)).collect();
    let is_json = !read.is_empty() && read.iter().all(Option::is_some);
    // Beside other texts, a number or a word is one of them.
    let is_data = |value: &Value| is_json || value.is_object() || value.is_array();
    let mut data: Vec<Value> = read.into_iter().flatten().filter(is_data).collect();
    match data.len() {
        0 => Value::from(texts.join("\n")),
        1 => data.swap_remove(0),
        _ => Value::Array(data),
    }
}

/// Whether a text, read as JSON, may say what the structured content beside it says: nothing in it differs, though it
/// may leave something out.
fn is_reading_of(text: &Value, structured: &Value) -> bool {
    let whole = match structured.as_object() {
        Some(entries) if entries.len() == 1 => entries.get(WRAPPER),
        _ => None,
    };
    let readings = [Some(structured), whole];
    readings.into_iter().flatten().any(|reading| match reading.as_array().map(Vec::as_slice) {
        // A list of one is one block, whose text does not say that it is in a list.
        Some([one]) => agrees(text, reading) || agrees(text, one),
        _ => agrees(text, reading),
    })
}

fn agrees(text: &Value, structured: &Value) -> bool {
    match (text, structured) {
        (Value::Object(said), Value::Object(given)) => said
            .iter()
            .all(|(key, value)| given.get(key).is_none_or(|given| value.is_null() || agrees(value, given))),
        (Value::Array(said), Value::Array(given)) => {
            said.len() == given.len() && said.iter().zip(given).all(|(said, given)| agrees(said, given))
        }
        _ => is_same(text, structured),
    }
}
