//! The tools of a file: described in it, or in a file of their own.

use std::collections::BTreeSet;

use planproof_spec::nearest;
use planproof_spec::rules::RulesPlace;
use planproof_spec::rules::tree::{self, Kind, Node};
use planproof_suite::CaseError;
use serde_json::{Map, Value, json};

use super::{Reader, get};
use crate::limits::TOOLS_MAX;
use crate::line::WorldTool;
use crate::listed::listed_tools;
use crate::state::Values;
use crate::world::AnsweringTool;

impl Reader<'_> {
    pub(super) fn tools(&self, node: &Node) -> Result<Vec<WorldTool>, CaseError> {
        let tools: Vec<WorldTool> = match &node.kind {
            Kind::List(items) => items.iter().map(|item| self.tool(item)).collect::<Result<_, _>>()?,
            Kind::Scalar(Value::String(_)) => {
                let (name, text) = self.named_file(node, "`tools`")?;
                let value: Value = serde_json::from_str(&text).map_err(|error| {
                    let (line, column) = (error.line(), error.column().max(1));
                    let what = error.to_string();
                    let what = what.split(" at line ").next().unwrap_or_default();
                    CaseError::new(format!("{name}:{line}:{column}: the file of tools is not JSON: {what}"))
                })?;
                let tools = listed_tools(&value).map_err(|what| CaseError::new(format!("{name}: {what}")))?;
                let tools: Vec<WorldTool> = tools.into_iter().map(WorldTool::from).collect();
                for (number, tool) in tools.iter().enumerate() {
                    must_be_usable(tool).map_err(|what| {
                        let place = place_of_listed(&text, number).map(|place| format!("{place}: "));
                        CaseError::new(format!("{name}:{}{what}", place.unwrap_or_else(|| " ".to_owned())))
                    })?;
                }
                tools
            }
            _ => {
                let what =
                    format!("`tools` is {}; list the tools, or name a file with a list", node.describe());
                return Err(self.fault(node.place, what));
            }
        };
        let mut names = BTreeSet::new();
        if let Some(number) = tools.iter().position(|tool| !names.insert(tool.name.as_str())) {
            let place = match &node.kind {
                Kind::List(items) => items[number].place,
                _ => node.place,
            };
            let what =
                format!("two tools are called `{}`; give this one a name of its own", tools[number].name);
            return Err(self.fault(place, what));
        }
        if tools.is_empty() || tools.len() > TOOLS_MAX {
            let what = format!("there are {} tools; there may be 1 to {TOOLS_MAX}", tools.len());
            return Err(self.fault(node.place, what));
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
        must_be_usable(&tool).map_err(|what| self.fault(node.place, what))?;
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
                let meant =
                    node.text().and_then(|kind| kind.strip_suffix('?')).filter(|kind| TYPES.contains(kind));
                let help = match meant {
                    Some(meant) => format!("`{name}?: {meant}` for an argument that may be left out"),
                    None => TYPES.join(", "),
                };
                let what = format!("the type of the argument `{name}` is {}; write {help}", node.describe());
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

/// Makes sure that calls of a tool can be judged by its schema, and that there are some.
///
/// # Errors
/// What is wrong with it.
fn must_be_usable(tool: &WorldTool) -> Result<(), String> {
    AnsweringTool::new(tool.clone().into(), &Values::new())?;
    let schema = &tool.input_schema;
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    if !is_closed || schema.contains_key("patternProperties") {
        return Ok(());
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let lacking =
        required.filter_map(Value::as_str).find(|name| known.is_none_or(|it| !it.contains_key(*name)));
    let Some(lacking) = lacking else { return Ok(()) };
    let near = nearest(lacking, known.into_iter().flat_map(Map::keys).map(String::as_str));
    let help = near
        .map_or_else(|| "describe it in `properties`".to_owned(), |near| format!("did you mean `{near}`?"));
    Err(format!("tool {}: it requires `{lacking}`, and takes no such argument; {help}", tool.name))
}

/// The place of a tool in a file with a list of them, by its number.
fn place_of_listed(text: &str, number: usize) -> Option<RulesPlace> {
    let root = tree::read(text).ok()?;
    let list = match &root.kind {
        Kind::Map(entries) => get(entries, "tools")?,
        _ => &root,
    };
    match &list.kind {
        Kind::List(items) => items.get(number).map(|item| item.place),
        _ => None,
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
