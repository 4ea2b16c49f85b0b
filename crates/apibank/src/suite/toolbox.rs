//! The tools of level 3 as the tools of a run.

use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value as Json, json};

use crate::api::ApiFault;
use crate::catalogue::{ApiCatalogue, ApiSpec, Parameter};
use crate::level3::carry_out;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// The tools of our own tasks.
static OWN: LazyLock<Arc<[Tool]>> =
    LazyLock::new(|| ApiCatalogue::level3().specs().iter().map(tool).collect());

/// The tools over the databases of one run.
pub(super) struct Level3Tools {
    tools: Arc<[Tool]>,
    world: Mutex<ApiWorld>,
    outage: OnceLock<String>,
}

impl Level3Tools {
    pub(super) fn new(world: ApiWorld) -> Self {
        let tools = match world.has_published_tools {
            true => world.catalogue.specs().iter().map(tool).collect(),
            false => Arc::clone(&OWN),
        };
        Self { tools, world: Mutex::new(world), outage: OnceLock::new() }
    }

    fn answer(&self, call: &ToolCall) -> ToolResult {
        let Some(arguments) = arguments(call) else {
            let text = format!("the arguments of {} are no JSON object", call.name);
            return ToolResult::error(call.id.clone(), text);
        };
        // A call always leaves the databases consistent, so they remain usable after a panic in another one.
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        match carry_out(&call.name, &arguments, &mut world) {
            Ok(record) if !record.exception.is_none() => {
                ToolResult::error(call.id.clone(), record.exception.to_text())
            }
            Ok(record) => {
                // Outputs of tools consist of texts, numbers, lists and dictionaries.
                let output = serde_json::to_string(&record.output).unwrap_or_default();
                ToolResult::ok(call.id.clone(), output)
            }
            Err(fault) => {
                // The agent gets an answer in any case; whether the run counts is decided after it.
                if let ApiFault::Outage { .. } = fault {
                    self.outage.get_or_init(|| fault.to_string());
                }
                ToolResult::error(call.id.clone(), fault.to_string())
            }
        }
    }
}

impl Toolbox for Level3Tools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(self.answer(call)))
    }

    fn restoring(&self) -> Restoring {
        Restoring::Again
    }

    fn outage(&self) -> Option<String> {
        self.outage.get().cloned()
    }
}

/// The arguments of a call; `None` if they are not an object.
pub(super) fn arguments(call: &ToolCall) -> Option<Dict> {
    match &call.arguments {
        Arguments::Object(object) => {
            Some(object.iter().map(|(name, value)| (name.clone(), value_of(value))).collect())
        }
        Arguments::Malformed(_) => None,
    }
}

/// Converts a JSON value. Its nesting is limited like that of a model's reply.
fn value_of(json: &Json) -> PythonValue {
    serde_json::from_value(json.clone()).unwrap_or_default()
}

/// A tool as it is offered to models.
fn tool(spec: &ApiSpec) -> Tool {
    let property = |it: &Parameter| {
        let mut schema = schema_of(&it.kind);
        schema.insert("description".to_owned(), json!(it.description));
        (it.name.clone(), Json::Object(schema))
    };
    let properties: Map<String, Json> = spec.inputs.iter().map(property).collect();
    let required: Vec<&str> = spec.inputs.iter().map(|it| it.name.as_str()).collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Tool { name: spec.name.clone(), description: spec.description.clone(), input_schema: schema.into() }
}

/// The schema of a type in the catalogue's notation.
fn schema_of(kind: &str) -> Map<String, Json> {
    let schema = match kind {
        "int" => json!({"type": "integer"}),
        "float" => json!({"type": "number"}),
        "bool" => json!({"type": "boolean"}),
        "list" | "list(str)" => json!({"type": "array", "items": {"type": "string"}}),
        _ => json!({"type": "string"}),
    };
    schema.as_object().cloned().unwrap_or_default()
}
