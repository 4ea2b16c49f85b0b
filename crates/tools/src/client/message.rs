//! The messages of a server, read leniently: the fault of one part costs no other.
//!
//! The protocol's own types lose a whole list for one tool that they do not understand, and digits of long numbers.
//! So what they cannot hold travels through the protocol's client as text: a list of tools in its metadata, and a
//! structured result as a block of text.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_trace::{json, loses_digits};
use rmcp::model::{
    ContentBlock, ErrorCode, ErrorData, JsonObject, JsonRpcMessage, ListToolsResult, MetaObject, RequestId,
    ServerJsonRpcMessage, ServerResult, Tool,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::result::has_text;
use crate::refusal::shortened;

/// Most bytes of one message of a server, and of its whole answer to one request over HTTP. After a longer line a
/// program is ignored.
pub const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Most tools of a message that the protocol's client gets to see. No server may have so many.
const KNOWN_TOOLS_MAX: usize = 10_000;

/// Where the text of a list is in the metadata of its result.
const LIST: &str = "planproof/list";

/// A message as far as it must be known before it is understood.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A result as far as it must be known before it is understood.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
}

/// A member of a list of tools. Everything else that a tool has is for others.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedTool<'a> {
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) title: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) description: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) output_schema: Option<&'a RawValue>,
}

/// Reads a message. An answer that is not understood becomes an error that says so, because its request waits for it.
/// `None`: it is not a message, and answers nothing.
pub(super) fn read(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    let text = json::unmarked(text);
    let mended = json::mended(text);
    let text = mended.as_deref().unwrap_or(text);
    let envelope: Envelope<'_> = serde_json::from_slice(text).ok()?;
    if let Err(error) = json::weigh(text) {
        let id = envelope.id.filter(|_| envelope.method.is_none())?;
        let error = ErrorData::internal_error(format!("the tool server's answer is not read: {error}"), None);
        return Some(ServerJsonRpcMessage::error(error, Some(id)));
    }
    let parts = envelope.result.and_then(object::<Parts<'_>>);
    if let Some(Parts { tools: Some(tools), content: None, .. }) = &parts
        && envelope.method.is_none()
        && let (Some(id), Some(whole)) = (&envelope.id, envelope.result)
    {
        let list = ServerResult::ListToolsResult(list(tools, whole));
        return Some(ServerJsonRpcMessage::response(list, id.clone()));
    }
    if let Ok(mut message) = serde_json::from_slice::<ServerJsonRpcMessage>(text) {
        if let JsonRpcMessage::Response(response) = &mut message
            && let ServerResult::CallToolResult(result) = &mut response.result
            && let Some(structured) = parts.and_then(|parts| parts.structured_content)
            && loses_digits(structured.get())
        {
            // It has the place that the value would have, see `result`.
            if !has_text(&result.content) {
                result.content.insert(0, ContentBlock::text(structured.get()));
            }
            result.structured_content = None;
        }
        return Some(message);
    }
    let id = envelope.id.filter(|_| envelope.method.is_none())?;
    let error = envelope.error.map_or_else(
        || ErrorData::internal_error("the tool server's answer is not understood", None),
        |error| failure(error.get()),
    );
    Some(ServerJsonRpcMessage::error(error, Some(id)))
}

/// What is wrong with several messages in one.
pub(super) const BATCH: &str =
    "it answered with a list of messages, a batch, which the protocol has not had since June 2025";

/// Whether a text is several messages in one.
pub(super) fn is_batch(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Numbered {
        #[serde(rename = "jsonrpc")]
        _version: serde::de::IgnoredAny,
    }
    let text = json::unmarked(text).trim_ascii_start();
    text.starts_with(b"[")
        && serde_json::from_slice::<Vec<&RawValue>>(text)
            .is_ok_and(|all| all.first().is_some_and(|first| object::<Numbered>(first).is_some()))
}

/// A list with the tools that the protocol's client can use for what it does itself, and its text for us.
fn list(tools: &RawValue, whole: &RawValue) -> ListToolsResult {
    let tools: Vec<&RawValue> = serde_json::from_str(tools.get()).unwrap_or_default();
    let known = tools.into_iter().take(KNOWN_TOOLS_MAX).filter_map(|tool| {
        let tool: ListedTool<'_> = object(tool)?;
        let schema: JsonObject = object(tool.input_schema?)?;
        Some(Tool::new(text(tool.name)?, Cow::Borrowed(""), Arc::new(schema)))
    });
    let mut list = ListToolsResult::with_all_items(known.collect());
    list.meta = Some(MetaObject(JsonObject::from_iter([(LIST.to_owned(), whole.get().into())])));
    list
}

/// The text of a list that [`read`] has read.
pub(super) fn text_of_list(list: &ListToolsResult) -> Option<&str> {
    list.meta.as_ref()?.0.get(LIST)?.as_str()
}

/// An error whose form is not the protocol's, with what can be known of it.
fn failure(error: &str) -> ErrorData {
    let value: Value = serde_json::from_str(error).unwrap_or_default();
    let member = |name: &str| value.get(name).cloned().unwrap_or_default();
    let code = match member("code") {
        Value::Number(code) => code.as_i64(),
        Value::String(code) => code.trim().parse().ok(),
        _ => None,
    };
    let code = code.and_then(|code| i32::try_from(code).ok()).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
    let message = match (member("message"), value) {
        (Value::String(message), _) | (_, Value::String(message)) => message,
        (_, value) => shortened(&value.to_string()),
    };
    ErrorData::new(code, message, None)
}

/// What a JSON object holds; `None` if it is none, or does not fit.
pub(super) fn object<'a, T: Deserialize<'a>>(json: &'a RawValue) -> Option<T> {
    // Without this, a list would be read as an object without names.
    Some(json.get()).filter(|text| text.starts_with('{')).and_then(|text| serde_json::from_str(text).ok())
}

/// A text; `None` if it is none.
pub(super) fn text(json: Option<&RawValue>) -> Option<String> {
    json.and_then(|json| serde_json::from_str(json.get()).ok())
}

/// What a value is, in words.
pub(super) fn kind(json: &str) -> &'static str {
    match json.bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b't') => "`true`",
        Some(b'f') => "`false`",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Why a greeting, the result of `initialize` or `server/discover`, is not understood, as the end of a sentence.
pub(super) fn fault_of_greeting(result: &Value) -> String {
    let shown = |value: &Value| kind(&value.to_string());
    let Value::Object(members) = result else {
        return format!("its answer to the greeting is {}, not an object", shown(result));
    };
    let (object, text) = ("an object", "a text");
    // What has to be there, each before what is within it.
    for (name, wanted) in [
        ("protocolVersion", text),
        ("capabilities", object),
        ("serverInfo", object),
        ("serverInfo.name", text),
        ("serverInfo.version", text),
    ] {
        let found = name.split('.').try_fold(result, |value, name| value.get(name)).map(shown);
        match found {
            None => return format!("its answer to the greeting has no `{name}`"),
            Some(found) if found != wanted => {
                return format!("in its answer to the greeting, `{name}` is {found}, not {wanted}");
            }
            Some(_) => {}
        }
    }
    let capabilities = members.get("capabilities").and_then(Value::as_object);
    for (name, capability) in capabilities.into_iter().flatten() {
        if !capability.is_object() && !capability.is_null() {
            let shown = shown(capability);
            return format!(
                "in its answer to the greeting, `capabilities.{}` is {shown}, not an object",
                shortened(name)
            );
        }
    }
    format!("its answer to the greeting is not understood: {}", shortened(&result.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_that_are_not_understood_are_errors_for_their_requests() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":4,"error":"out of paper"}"#, json!([4, -32603, "out of paper"])),
            (r#"{"jsonrpc":"2.0","id":4,"error":{"message":"no"}}"#, json!([4, -32603, "no"])),
            (
                r#"{"jsonrpc":"2.0","id":"4","error":{"code":"-32601","message":"no"}}"#,
                json!(["4", -32601, "no"]),
            ),
            (r#"{"jsonrpc":"2.0","id":4,"error":{"code":7}}"#, json!([4, 7, r#"{"code":7}"#])),
            (r#"{"jsonrpc":"2.0","id":4}"#, json!([4, -32603, "the tool server's answer is not understood"])),
            (r#"{"id":4,"result":{}}"#, json!([4, -32603, "the tool server's answer is not understood"])),
        ] {
            let message = serde_json::to_value(read(text.as_bytes()).unwrap()).unwrap();
            let error = &message["error"];
            assert_eq!(json!([message["id"], error["code"], error["message"]]), expected, "{text}");
        }
        for text in ["", "Welcome", "{}", "[]", "7", r#"{"jsonrpc":"2.0","method":7,"id":1}"#] {
            assert!(read(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn halves_of_characters_become_a_mark() {
        for text in [
            &b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\ud83d\"}]}}"[..],
            b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xed\xa0\xbd\"}]}}",
        ] {
            let message = serde_json::to_value(read(text).unwrap()).unwrap();
            assert_eq!(message["result"]["content"][0]["text"], "a\u{fffd}");
        }
        let list = br#"{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"a","description":"\ud83d","inputSchema":{}}]}}"#;
        let message = serde_json::to_value(read(list).unwrap()).unwrap();
        assert!(message["result"]["_meta"][LIST].as_str().unwrap().contains("\\ufffd"), "{message}");
    }

    #[test]
    fn a_greeting_is_faulted_in_one_sentence() {
        let good = json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": null},
            "serverInfo": {"name": "s", "version": "1"},
        });
        let with = |pointer: &str, value: Value| {
            let mut greeting = good.clone();
            *greeting.pointer_mut(pointer).unwrap() = value;
            fault_of_greeting(&greeting)
        };
        for (pointer, value, expected) in [
            ("/capabilities/tools", json!([]), "`capabilities.tools` is a list, not an object"),
            ("/capabilities/tools", json!(true), "`capabilities.tools` is `true`, not an object"),
            ("/capabilities", json!([]), "`capabilities` is a list, not an object"),
            ("/protocolVersion", json!(2.5), "`protocolVersion` is a number, not a text"),
            ("/serverInfo", json!("s"), "`serverInfo` is a text, not an object"),
            ("/serverInfo", json!({"name": "s"}), "has no `serverInfo.version`"),
            ("/serverInfo/name", Value::Null, "`serverInfo.name` is null, not a text"),
        ] {
            let fault = with(pointer, value);
            assert!(fault.contains(expected) && !fault.contains('\n'), "{fault}");
        }
        assert_eq!(fault_of_greeting(&json!({})), "its answer to the greeting has no `protocolVersion`");
        assert_eq!(fault_of_greeting(&json!([])), "its answer to the greeting is a list, not an object");
        let odd = with("/capabilities/tools", json!({"listChanged": "yes"}));
        assert!(odd.contains(r#"not understood: {"capabilities""#), "{odd}");
    }
}
