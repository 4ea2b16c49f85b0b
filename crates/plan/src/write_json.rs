//! From a plan to JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};

use crate::plan::{ArgumentValue, Plan, Step};
use crate::text::written;

/// The plan as a list of nodes: `[{"id": 0, "name": "..", "args": {..}}, ..]`.
///
/// A JSON object in memory does not keep the order of its keys, so that of the arguments is lost; [`to_json_text`]
/// keeps it.
pub fn to_json(plan: &Plan) -> Json {
    Json::Array(plan.steps.iter().map(step_to_json).collect())
}

/// A step as a node. See [`to_json`].
pub fn step_to_json(step: &Step) -> Json {
    let arguments = step.arguments.iter().map(|(name, value)| (name.clone(), value.to_json())).collect();
    json!({"id": step.id, "name": step.tool, "args": Json::Object(arguments)})
}

/// The plan as the text of a list of nodes on one line, with all keys in order. [`read_json`](crate::read_json)
/// restores the same plan.
pub fn to_json_text(plan: &Plan) -> String {
    let nodes: Vec<Node<'_>> = plan.steps.iter().map(Node).collect();
    // Texts, numbers and lists of them can always be written.
    serde_json::to_string(&nodes).unwrap_or_default()
}

impl ArgumentValue {
    /// The value in the form of JSON plans, with references as `<node-0>.text` in texts.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Json(json) => json.clone(),
            Self::Text(parts) => Json::String(written(parts)),
        }
    }
}

struct Node<'s>(&'s Step);

struct Arguments<'s>(&'s [(String, ArgumentValue)]);

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut node = serializer.serialize_map(Some(3))?;
        node.serialize_entry("id", &self.0.id)?;
        node.serialize_entry("name", &self.0.tool)?;
        node.serialize_entry("args", &Arguments(&self.0.arguments))?;
        node.end()
    }
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value.to_json())))
    }
}
