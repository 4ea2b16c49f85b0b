//! Lists of tools as other programs write them.

use planproof_trace::Tool;
use serde_json::{Map, Value};

use crate::line::WorldTool;

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
        let schema =
            ["input_schema", "inputSchema", "parameters"].iter().find_map(|key| tool.get(key)?.as_object());
        let schema: Map<String, Value> =
            schema.cloned().ok_or_else(|| format!("tool {name} has no `input_schema`"))?;
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
