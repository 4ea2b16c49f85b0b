//! The list of a server's tools.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use planproof_trace::Tool;
use rmcp::model::PaginatedRequestParams;
use rmcp::service::{Peer, RoleClient};
use serde_json::{Map, Value};

use super::PAGES_MAX;
use super::connection::Reason;
use crate::refusal::shortened;

/// The offered tools, in the server's order, and why others are not offered.
pub(super) struct List {
    pub(super) tools: Arc<[Tool]>,
    pub(super) left_out: Vec<String>,
}

/// Reads all pages of the list, at most `tools_max` tools.
pub(super) async fn read(peer: &Peer<RoleClient>, tools_max: usize) -> Result<List, Reason> {
    let mut listed = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await?;
        listed.extend(page.tools);
        if listed.len() > tools_max {
            return Err(Reason::TooManyTools { limit: tools_max });
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(accept(listed));
        }
    }
    Err(Reason::TooManyPages)
}

/// Keeps the tools that can be offered to a model.
fn accept(listed: Vec<rmcp::model::Tool>) -> List {
    let mut tools = Vec::with_capacity(listed.len());
    let mut left_out = Vec::new();
    let mut names = HashSet::new();
    for tool in listed {
        let name = tool.name.into_owned();
        let usable = if name.is_empty() {
            Err("it has no name".to_owned())
        } else if !names.insert(name.clone()) {
            Err("it is listed twice; the first one counts".to_owned())
        } else {
            usable_schema(tool.input_schema)
        };
        match usable {
            Ok(input_schema) => {
                let description = tool.description.map(Cow::into_owned).or(tool.title);
                tools.push(Tool { name, description: description.unwrap_or_default(), input_schema });
            }
            Err(reason) => left_out.push(format!("`{}`: {}", shortened(&name), shortened(&reason))),
        }
    }
    List { tools: tools.into(), left_out }
}

/// The schema as an object schema, or why it cannot be one. One bad schema makes a model's provider refuse all tools.
fn usable_schema(mut schema: Arc<Map<String, Value>>) -> Result<Arc<Map<String, Value>>, String> {
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        Some(kind) => return Err(format!("its input schema is of type {kind}, not of an object")),
        None => {
            Arc::make_mut(&mut schema).insert("type".to_owned(), "object".into());
        }
    }
    let whole = Value::Object(Map::clone(&schema));
    match jsonschema::meta::validate(&whole) {
        Ok(()) => Ok(schema),
        Err(error) => {
            let place = error.instance_path().to_string();
            Err(format!("its input schema is no JSON Schema: at {place}: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn accepted(listed: Value) -> (Vec<String>, Vec<String>) {
        let list = accept(serde_json::from_value(listed).unwrap());
        (list.tools.iter().map(|tool| tool.name.clone()).collect(), list.left_out)
    }

    #[test]
    fn unusable_tools_are_left_out_with_the_reason() {
        let (tools, left_out) = accepted(json!([
            {"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}},
            {"name": "b", "inputSchema": {}},
            {"name": "", "inputSchema": {"type": "object"}},
            {"name": "a", "inputSchema": {"type": "object"}},
            {"name": "c", "inputSchema": {"type": "string"}},
            {"name": "d", "inputSchema": {"type": "object", "properties": {"x": {"type": 7}}}},
            {"name": "e", "inputSchema": {"$schema": "http://example.org/nothing", "type": "object"}},
            {"name": "f", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}},
        ]));
        assert_eq!(tools, ["a", "b", "f"]);
        assert_eq!(left_out[0], "``: it has no name");
        assert_eq!(left_out[1], "`a`: it is listed twice; the first one counts");
        assert_eq!(left_out[2], r#"`c`: its input schema is of type "string", not of an object"#);
        assert!(
            left_out[3].starts_with("`d`: its input schema is no JSON Schema: at /properties/x"),
            "{left_out:?}"
        );
        assert_eq!(left_out.len(), 5, "{left_out:?}");
    }

    #[test]
    fn what_is_missing_is_filled_in() {
        let listed = json!([
            {"name": "a", "title": "A tool", "inputSchema": {}},
            {"name": "b", "title": "Another", "description": "Does it.", "inputSchema": {}},
        ]);
        let list = accept(serde_json::from_value(listed).unwrap());
        assert_eq!(list.tools[0].description, "A tool");
        assert_eq!(list.tools[1].description, "Does it.");
        assert_eq!(list.tools[0].input_schema["type"], "object");
    }
}
