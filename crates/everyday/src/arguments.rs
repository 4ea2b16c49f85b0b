//! Arguments of calls.

use planproof_media::ToolFailure;
use serde_json::{Map, Value};

/// A non-blank text, within a limit in bytes.
pub(crate) fn text(
    arguments: &Map<String, Value>,
    name: &str,
    bytes_max: usize,
) -> Result<String, ToolFailure> {
    match arguments.get(name) {
        Some(Value::String(text)) if text.trim().is_empty() => {
            Err(ToolFailure::call(format!("`{name}` is empty: say what is meant")))
        }
        Some(Value::String(text)) if text.len() > bytes_max => {
            let bytes = text.len();
            Err(ToolFailure::call(format!(
                "`{name}` has {bytes} bytes; {bytes_max} are allowed: give a shorter text"
            )))
        }
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(ToolFailure::call(format!("`{name}` has to be a text"))),
        None => Err(ToolFailure::call(format!("`{name}` is missing"))),
    }
}
