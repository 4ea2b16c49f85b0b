//! The tools of a file: described in it, or in a file of their own.

use std::collections::BTreeSet;

use planproof_spec::rules::tree::{Kind, Node};
use planproof_suite::CaseError;
use serde_json::{Map, Value, json};

use super::{Reader, get};
use crate::limits::TOOLS_MAX;
use crate::listed::listed_tools;
use crate::state::Values;
use crate::world::{AnsweringTool, WorldTool};

impl Reader<'_> {
    pub(super) fn tools(&self, node: &Node) -> Result<Vec<WorldTool>, CaseError> {
        let (place, tools) = match &node.kind {
            Kind::List(items) => {
                let tools: Result<Vec<WorldTool>, CaseError> =
                    items.iter().map(|item| self.tool(item)).collect();
                (node.place, tools?)
            }
            _ => {
                let text = self.named_file(node, "`tools`")?;
                let fail = |what: String| self.fault(node.place, format!("`tools`: {what}"));
                let value: Value = serde_json::from_str(&text)
                    .map_err(|error| fail(format!("the file is not JSON: {error}")))?;
                let tools = listed_tools(&value).map_err(fail)?;
                (node.place, tools.into_iter().map(WorldTool::from).collect())
            }
        };
        let mut names = BTreeSet::new();
        if let Some(twice) = tools.iter().find(|tool| !names.insert(tool.name.as_str())) {
            return Err(self.fault(place, format!("two tools are called `{}`", twice.name)));
        }
        if tools.is_empty() || tools.len() > TOOLS_MAX {
            return Err(
                self.fault(place, format!("there are {} tools; there may be 1 to {TOOLS_MAX}", tools.len()))
            );
        }
        Ok(tools)
    }

    fn tool(&self, node: &Node) -> Result<WorldTool, CaseError> {
        let entries = self.map(node, "a tool", &["name", "description", "arguments", "input_schema"])?;
        let name = get(entries, "name").ok_or_else(|| self.fault(node.place, "the tool has no name"))?;
        let name = self.text(name, "the name of the tool")?.to_owned();
        let description = match get(entries, "description") {
            Some(node) => self.text(node, "the description")?.to_owned(),
            None => String::new(),
        };
        let input_schema = match (get(entries, "input_schema"), get(entries, "arguments")) {
            (Some(_), Some(node)) => {
                return Err(
                    self.fault(node.place, "the tool has both `arguments` and `input_schema`; keep one")
                );
            }
            (Some(node), None) => match node.value() {
                Value::Object(schema) => schema,
                _ => return Err(self.fault(node.place, "`input_schema` is not a JSON Schema")),
            },
            (None, Some(node)) => self.arguments(node)?,
            (None, None) => object_schema(Map::new(), Vec::new()),
        };
        let tool = WorldTool { name, description, input_schema, answers: Vec::new() };
        AnsweringTool::new(tool.clone().into(), &Values::new())
            .map_err(|what| self.fault(node.place, what))?;
        Ok(tool)
    }

    /// `{order_id: integer, note?: string}` as a JSON Schema.
    fn arguments(&self, node: &Node) -> Result<Map<String, Value>, CaseError> {
        const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];
        let Kind::Map(entries) = &node.kind else {
            return Err(
                self.fault(node.place, "`arguments` is not a map; write {order_id: integer, note?: string}")
            );
        };
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, place, node) in entries {
            let kind = node.text().filter(|kind| TYPES.contains(kind));
            let kind = kind.ok_or_else(|| {
                let what = format!(
                    "the argument `{name}` is of type {}; write {}",
                    node.describe(),
                    TYPES.join(", ")
                );
                self.fault(*place, what)
            })?;
            let name = match name.strip_suffix('?') {
                Some(name) => name,
                None => {
                    required.push(Value::from(name.as_str()));
                    name
                }
            };
            properties.insert(name.to_owned(), json!({"type": kind}));
        }
        Ok(object_schema(properties, required))
    }
}

fn object_schema(properties: Map<String, Value>, required: Vec<Value>) -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), required.into()),
        ("additionalProperties".to_owned(), false.into()),
    ])
}
