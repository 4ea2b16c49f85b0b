//! What requests of both protocols have in common: tools, settings, and the model's name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_trace::Tool;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::error::ApiError;
use crate::Settings;

/// Most bytes of tool lists that are remembered.
const SEEN_BYTES_MAX: usize = 16 << 20;

/// What a remembered list counts for each of its bytes as text: the text itself and the list built from it.
const BYTES_PER_BYTE: usize = 4;

/// Texts that end the writing: one or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a string or an array of strings")]
pub(super) enum Stop {
    One(String),
    Several(Vec<String>),
}

/// Settings in the words of both protocols; each has its own name for the limit on tokens.
pub(super) fn settings(
    temperature: Option<f64>,
    output_tokens_max: Option<u32>,
    seed: Option<&Number>,
    stop: Option<Stop>,
) -> Result<Settings, ApiError> {
    // Clients may send a negative seed: any one-to-one mapping keeps it repeatable.
    let seed = match seed {
        None => None,
        Some(number) => {
            Some(number.as_u64().or_else(|| number.as_i64().map(i64::cast_unsigned)).ok_or_else(|| {
                ApiError::invalid("seed", format!("seed must be a whole number, not {number}"))
            })?)
        }
    };
    let stop = match stop {
        None => Vec::new(),
        Some(Stop::One(text)) => vec![text],
        Some(Stop::Several(texts)) => texts,
    };
    Ok(Settings { temperature, output_tokens_max, seed, stop })
}

/// The tool lists seen so far by their text. Agents repeat theirs with every turn, and to read it anew would be the
/// greater part of the work.
#[derive(Default)]
pub(super) struct SeenTools(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    lists: HashMap<Box<str>, Arc<[Tool]>>,
    bytes: usize,
}

impl SeenTools {
    /// The tools of a request's `tools` field, unless its `tool_choice` forbids them all.
    pub(super) fn get(
        &self,
        tools: Option<&RawValue>,
        choice: Option<&RawValue>,
    ) -> Result<Arc<[Tool]>, ApiError> {
        let forbidden = choice.is_some_and(|choice| choice.get() == "\"none\"");
        let text = match tools {
            Some(tools) if !forbidden => tools.get(),
            _ => return Ok(Arc::from([])),
        };
        if let Some(list) = self.0.lock().unwrap_or_else(PoisonError::into_inner).lists.get(text) {
            return Ok(Arc::clone(list));
        }
        let list = read_tools(text)?;
        let size = text.len() * BYTES_PER_BYTE;
        if size <= SEEN_BYTES_MAX / 2 {
            let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.bytes + size > SEEN_BYTES_MAX {
                *seen = Seen::default();
            }
            if seen.lists.insert(text.into(), Arc::clone(&list)).is_none() {
                seen.bytes += size;
            }
        }
        Ok(list)
    }
}

/// Reads tools of either protocol: chat completions put name, description and parameters into `function`, responses
/// put them beside `type`.
fn read_tools(text: &str) -> Result<Arc<[Tool]>, ApiError> {
    #[derive(Deserialize)]
    struct WireTool<'a> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'a, str>,
        function: Option<Function>,
        name: Option<String>,
        description: Option<String>,
        parameters: Option<Map<String, Value>>,
    }
    #[derive(Deserialize)]
    struct Function {
        name: String,
        description: Option<String>,
        parameters: Option<Map<String, Value>>,
    }
    let wire: Vec<WireTool<'_>> = serde_json::from_str(text).map_err(|error| {
        ApiError::invalid("tools", format!("`tools` is not understood: {error} of the array"))
    })?;
    let tools = wire.into_iter().enumerate().map(|(place, tool)| {
        let invalid = |message: &str| {
            ApiError::invalid(format!("tools[{place}]"), format!("tools[{place}]: {message}"))
        };
        if tool.kind != "function" {
            return Err(invalid(&format!("type `{}` is not supported: only `function` is", tool.kind)));
        }
        let (name, description, parameters) = match (tool.function, tool.name) {
            (Some(function), _) => (function.name, function.description, function.parameters),
            (None, Some(name)) => (name, tool.description, tool.parameters),
            (None, None) => return Err(invalid("a function needs a name")),
        };
        let input_schema =
            parameters.unwrap_or_else(|| Map::from_iter([("type".to_owned(), "object".into())]));
        Ok(Tool { name, description: description.unwrap_or_default(), input_schema: input_schema.into() })
    });
    tools.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(seen: &SeenTools, json: &str, choice: Option<&str>) -> Result<Arc<[Tool]>, ApiError> {
        let choice: Option<Box<RawValue>> = choice.map(|choice| serde_json::from_str(choice).unwrap());
        seen.get(Some(serde_json::from_str(json).unwrap()), choice.as_deref())
    }

    #[test]
    fn both_shapes_mean_the_same() {
        let seen = SeenTools::default();
        let chat = r#"[{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"},"strict":true}}]"#;
        let responses = r#"[{"type":"function","name":"a","description":"d","strict":null}]"#;
        let first = get(&seen, chat, None).unwrap();
        assert_eq!(first, get(&seen, responses, Some("\"auto\"")).unwrap());
        assert!(Arc::ptr_eq(&first, &get(&seen, chat, None).unwrap()));
        assert!(get(&seen, chat, Some("\"none\"")).unwrap().is_empty());
    }

    #[test]
    fn unusable_tools_are_named() {
        let seen = SeenTools::default();
        for (json, words) in [
            (r#"{}"#, "sequence"),
            (r#"[{"type":"function"}]"#, "tools[0]: a function needs a name"),
            (r#"[{"type":"function","name":"a"},{"type":"web_search"}]"#, "tools[1]: type `web_search`"),
            (r#"[{"type":"function","name":"a","parameters":[]}]"#, "line 1 column"),
        ] {
            let error = get(&seen, json, None).unwrap_err();
            assert!(error.to_string().contains(words), "{json}: {error}");
        }
    }

    #[test]
    fn seeds_may_be_negative_but_not_broken() {
        assert_eq!(settings(None, None, Some(&Number::from(-1)), None).unwrap().seed, Some(u64::MAX));
        assert!(settings(None, None, Number::from_f64(0.5).as_ref(), None).is_err());
    }
}
