//! Lists of tools as other programs write them.

use planproof_trace::Tool;
use serde_json::{Map, Value, json};

use crate::line::WorldTool;

/// Keywords of which a JSON Schema of arguments has one, unless it is empty.
const KEYWORDS: [&str; 18] = [
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "definitions",
    "dependentRequired",
    "description",
    "maxProperties",
    "minProperties",
    "oneOf",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
];

/// Why an object cannot be meant as the schema of a tool's arguments, if it cannot.
fn not_a_schema(schema: &Map<String, Value>) -> Option<String> {
    let (name, value) = schema.iter().next()?;
    if schema.keys().any(|key| KEYWORDS.contains(&key.as_str())) {
        return None;
    }
    let kind = value.as_str().or_else(|| value.get("type")?.as_str()).unwrap_or("string");
    // In the order in which people write it.
    let of_name = json!({name: {"type": kind}});
    let meant = format!("{{\"type\":\"object\",\"properties\":{of_name}}}");
    Some(format!("names the argument `{name}` where a JSON Schema stands; write {meant}"))
}

/// The tools of a list in the form of MCP, Anthropic or OpenAI, or of an object with such a list as `tools`, as an MCP
/// server's answer to `tools/list` is.
///
/// # Errors
/// There is no such list, or what is wrong with a tool in it.
pub fn listed_tools(value: &Value) -> Result<Vec<Tool>, String> {
    let list = value.as_array().or_else(|| value.get("tools")?.as_array());
    let list = list.ok_or("the file has no list of tools: [{\"name\": ..., \"input_schema\": {...}}]")?;
    let tool = |(number, tool): (usize, &Value)| {
        let tool = tool.get("function").filter(|function| function.is_object()).unwrap_or(tool);
        let name = tool.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("tool {} has no name", number + 1))?;
        let keys = ["input_schema", "inputSchema", "parameters"].into_iter();
        let found = keys.filter_map(|key| Some((key, tool.get(key)?.as_object()?))).next();
        let (key, schema) = found.ok_or_else(|| format!("tool {name} has no `input_schema`"))?;
        if let Some(what) = not_a_schema(schema) {
            return Err(format!("`{key}` of tool {name} {what}"));
        }
        let schema: Map<String, Value> = schema.clone();
        let description = tool.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Tool { name: name.to_owned(), description, input_schema: schema.into() })
    };
    list.iter().enumerate().map(tool).collect()
}

impl From<&WorldTool> for Tool {
    fn from(tool: &WorldTool) -> Self {
        let WorldTool { name, description, input_schema, .. } = tool;
        Self {
            name: name.clone(),
            description: description.clone(),
            input_schema: input_schema.clone().into(),
        }
    }
}

impl From<Tool> for WorldTool {
    fn from(tool: Tool) -> Self {
        let Tool { name, description, input_schema } = tool;
        Self { name, description, input_schema: (*input_schema).clone(), answers: Vec::new() }
    }
}
