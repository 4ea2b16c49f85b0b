//! What callbacks of LangChain put around the arguments and the result of a tool, and instrumentations pass on.

use planproof_spec::rules::result_of;
use serde_json::Value;

use crate::items::{arguments_of, content_of};

/// The arguments within an input.
pub(crate) fn inner_arguments(arguments: Value) -> Value {
    match arguments {
        Value::Object(mut object) if object.contains_key("input_str") => match object.remove("inputs") {
            Some(inputs @ Value::Object(_)) => inputs,
            _ => object.remove("input_str").map_or(Value::Null, |text| arguments_of(Some(&text))),
        },
        other => other,
    }
}

/// The result within an output, and whether it says that the tool failed. A message of a tool is one of two forms: the
/// constructor of an object, or its data.
pub(crate) fn inner_result(result: &Value) -> (Value, bool) {
    let message = match (result.get("output"), result.get("kwargs")) {
        (Some(output), Some(_)) => output,
        _ => result,
    };
    let is_message = message.pointer("/id").and_then(Value::as_array).is_some_and(|names| {
        message.get("lc").is_some() && names.last().is_some_and(|name| name == "ToolMessage")
    });
    let data = match (is_message, message.get("type").and_then(Value::as_str)) {
        (true, _) => message.get("kwargs"),
        (false, Some("tool")) => message.get("data"),
        _ => None,
    };
    match data.filter(|data| data.get("content").is_some()) {
        Some(data) => {
            (content_of(data.get("content")), data.get("status").is_some_and(|status| status == "error"))
        }
        None if message.is_string() => (message.clone(), false),
        None => {
            let result = result_of(message);
            (result.value, result.says_error)
        }
    }
}
