//! What a client reads instead of a server's answer.

use planproof_spec::rules::CallRule;
use serde_json::{Value, json};

/// The JSON-RPC error of a message that is not one.
const PARSE_ERROR: i32 = -32700;
/// That of a message that cannot be decided on.
const INVALID_REQUEST: i32 = -32600;

/// A result that says that the tool failed, and why: a model reads it like the result of any call, which it would not
/// do with an error of the protocol.
pub(crate) fn rejected(id: &Value, reason: &str, structured: Option<Value>, is_newer: bool) -> String {
    let mut result = json!({ "content": [{ "type": "text", "text": reason }], "isError": true });
    if let Some(structured) = structured {
        result["structuredContent"] = structured;
    }
    // Every result of the newer protocol says so.
    if is_newer {
        result["resultType"] = Value::from("complete");
    }
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// The reasons as data.
pub(crate) fn structured<'r>(reason: &str, tool: &str, rules: impl Iterator<Item = &'r CallRule>) -> Value {
    let rules = rules.map(|rule| {
        let mut listed = json!({ "id": rule.id, "rule": rule.to_string() });
        if let Some(why) = &rule.why {
            listed["why"] = Value::from(why.as_str());
        }
        if let Some(missing) = rule.missing() {
            listed["missing"] = Value::from(missing);
        }
        listed
    });
    json!({ "rejected": true, "tool": tool, "reason": reason, "rules": rules.collect::<Vec<Value>>() })
}

/// The answer to a message that cannot be decided on. `id` is null where it is unknown.
pub(crate) fn refused(id: &Value, reason: &str, is_json: bool) -> String {
    let code = if is_json { INVALID_REQUEST } else { PARSE_ERROR };
    let error = json!({ "code": code, "message": format!("planproof guard: {reason}") });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}
