//! The tools of a case, which answer as its world says.

use std::fmt;
use std::sync::{Arc, LazyLock};

use planproof_spec::rules::{KnownTool, ValueCheck, arguments_of};
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_tools::SchemaCache;
use planproof_trace::{Tool, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::case::tests_of;

/// A tool as a file describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldTool {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) input_schema: Map<String, Value>,
    /// What it answers, the first line that fits; without any line, that it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<Answer>,
}

impl WorldTool {
    /// As rules are held to it.
    pub(crate) fn known(&self) -> KnownTool<'_> {
        KnownTool { name: &self.name, schema: &self.input_schema }
    }
}

/// A line of the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// What the arguments must be like: the event of a rule on calls, as JSON.
    #[serde(rename = "where", default, skip_serializing_if = "Map::is_empty")]
    pub(crate) arguments: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) returns: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fails: Option<String>,
}

/// The beginning of the error of a call for which the world has no line.
pub(crate) const NO_LINE: &str = "this world has no answer for the call";

/// The schemas of all cases, compiled once.
static SCHEMAS: LazyLock<SchemaCache> = LazyLock::new(SchemaCache::default);

/// A tool with the tests of its lines.
#[derive(Debug, Clone)]
pub(crate) struct AnsweringTool {
    pub(crate) tool: WorldTool,
    tests: Vec<Vec<ValueCheck>>,
}

impl AnsweringTool {
    pub(crate) fn new(tool: WorldTool) -> Result<Self, String> {
        let fail = |what: String| format!("tool {}: {what}", tool.name);
        SCHEMAS
            .check_schema(&tool.input_schema)
            .map_err(|what| fail(format!("its schema cannot be used: {what}")))?;
        let tests = tool.answers.iter().map(|answer| tests_of(&answer.arguments)).collect::<Result<_, _>>();
        let tests = tests.map_err(fail)?;
        Ok(Self { tool, tests })
    }

    /// The tests of each line.
    pub(crate) fn tests(&self) -> &[Vec<ValueCheck>] {
        &self.tests
    }

    /// Whether its schema allows these arguments, or what is wrong with them.
    pub(crate) fn takes(&self, arguments: &Value) -> Result<(), String> {
        SCHEMAS.check(&self.tool.input_schema, arguments)
    }

    /// What the tool answers to these arguments.
    pub(crate) fn answer(&self, arguments: &Value) -> Result<Value, Value> {
        if let Err(what) = self.takes(arguments) {
            return Err(Value::from(format!("invalid arguments: {what}")));
        }
        let done = || Value::from("done");
        if self.tool.answers.is_empty() {
            return Ok(done());
        }
        let fits = |tests: &Vec<ValueCheck>| tests.iter().all(|check| check.holds(Some(arguments)));
        match self.tests.iter().position(fits).map(|place| &self.tool.answers[place]) {
            Some(Answer { fails: Some(text), .. }) => Err(Value::from(text.as_str())),
            Some(Answer { returns, .. }) => Ok(returns.clone().unwrap_or_else(done)),
            None => Err(Value::from(format!("{NO_LINE}: {} {arguments}", self.tool.name))),
        }
    }
}

/// The tools of one run. Nothing of a run changes them.
pub(crate) struct World {
    tools: Arc<[Tool]>,
    world: Arc<[AnsweringTool]>,
}

impl World {
    pub(crate) fn new(world: &Arc<[AnsweringTool]>) -> Self {
        let tools = world.iter().map(|AnsweringTool { tool, .. }| Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone().into(),
        });
        Self { tools: tools.collect(), world: Arc::clone(world) }
    }

    fn result(&self, call: &ToolCall) -> ToolResult {
        let Some(tool) = self.world.iter().find(|it| it.tool.name == call.name) else {
            return ToolResult::error(call.id.clone(), format!("there is no tool {}", call.name));
        };
        let text = |value: Value| match value {
            Value::String(text) => text,
            value => value.to_string(),
        };
        match tool.answer(&arguments_of(&call.arguments)) {
            Ok(value) => ToolResult::ok(call.id.clone(), text(value)),
            Err(value) => ToolResult::error(call.id.clone(), text(value)),
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl Toolbox for World {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(self.result(call)))
    }

    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }
}
