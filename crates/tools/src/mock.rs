//! Mock tools: they check their arguments, give a canned answer, and do nothing else.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use planproof_trace::{Arguments, TimeOfDay, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::refusal::{no_such_tool, not_an_object, shortened};
use crate::{BoxFuture, CompiledSchema, Restoring, SchemaCache, Toolbox};

#[derive(Debug, Clone, PartialEq)]
pub struct MockTool {
    /// What the agent sees.
    pub tool: Tool,
    /// The text of every result with valid arguments.
    pub answer: String,
}

/// Why mock tools cannot be made. The case is at fault, not the agent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MockError {
    /// Two tools share a name, so a call would not say which one it means.
    #[error("two tools are named `{name}`: give each tool a name of its own")]
    DuplicateName { name: String },
    /// The input schema of a tool is not a JSON Schema, or refers to another document.
    #[error("the input schema of tool `{name}` cannot be used: {reason}")]
    InvalidSchema {
        name: String,
        /// What is wrong with the schema.
        reason: String,
    },
}

/// The behaviour of the tools of a case with times, in addition to checking their arguments.
///
/// They execute any given start, too early or too late: the judge decides later, from the trace. Only a start that is
/// no clock time is answered with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRules {
    /// The argument for the start of a task, a string. Tools without it are unaffected.
    pub start_argument: &'static str,
    /// The tool that clears the day.
    pub restart_tool: &'static str,
    /// How often it can be called in one run.
    pub restarts_max: u32,
}

/// The mock tools of one run. A call costs about a microsecond: a search by name, a check of the arguments, a copy
/// of the answer.
#[derive(Debug)]
pub struct MockTools {
    tools: Arc<[Tool]>,
    mocks: Vec<Mock>,
    time: Option<Time>,
}

#[derive(Debug)]
struct Time {
    rules: TimeRules,
    /// How often the day has been cleared.
    restarts: AtomicU32,
}

#[derive(Debug)]
struct Mock {
    answer: String,
    /// `None` where the tool takes no arguments.
    schema: Option<CompiledSchema>,
}

/// The schema of a tool without arguments. It is compiled for a call that has some: that takes as long as thousands of
/// calls.
static NO_ARGUMENTS: LazyLock<CompiledSchema> = LazyLock::new(|| {
    let schema = Tool::without_arguments("", "").input_schema;
    CompiledSchema::of(&Value::Object(Map::clone(&schema))).expect("the schema is our own")
});

impl MockTools {
    /// Makes the tools. `schemas` caches the costly parts between runs.
    ///
    /// # Errors
    /// Two tools share a name, or a schema is unusable.
    pub fn new(mocks: Vec<MockTool>, schemas: &SchemaCache) -> Result<Self, MockError> {
        let mut tools: Vec<Tool> = Vec::with_capacity(mocks.len());
        let mut rest = Vec::with_capacity(mocks.len());
        for MockTool { tool, answer } in mocks {
            if tools.iter().any(|earlier| earlier.name == tool.name) {
                return Err(MockError::DuplicateName { name: tool.name });
            }
            // Neighbours usually share their schema, and comparing two is cheaper than looking one up.
            let same = tools.last().is_some_and(|earlier| earlier.input_schema == tool.input_schema);
            let schema = match rest.last() {
                _ if tool.is_without_arguments() => None,
                Some(Mock { schema: Some(schema), .. }) if same => Some(schema.clone()),
                _ => {
                    let invalid = |reason| MockError::InvalidSchema { name: tool.name.clone(), reason };
                    Some(schemas.compile(&tool.input_schema).map_err(invalid)?)
                }
            };
            tools.push(tool);
            rest.push(Mock { answer, schema });
        }
        Ok(Self { tools: tools.into(), mocks: rest, time: None })
    }

    /// The same tools under the rules of a day. Their state, the number of restarts, belongs to this run.
    pub fn with_time(self, rules: TimeRules) -> Self {
        Self { time: Some(Time { rules, restarts: AtomicU32::new(0) }), ..self }
    }

    /// Answers a call without waiting.
    pub fn answer(&self, call: &ToolCall) -> ToolResult {
        let found = self.tools.iter().zip(&self.mocks).find(|(tool, _)| tool.name == call.name);
        let Some((_, mock)) = found else {
            return no_such_tool(call, &self.tools);
        };
        let arguments = match &call.arguments {
            Arguments::Object(arguments) => arguments,
            Arguments::Malformed(text) => {
                return not_an_object(call, text);
            }
        };
        let checked = match &mock.schema {
            None if arguments.is_empty() => Ok(()),
            None => NO_ARGUMENTS.check(&Value::Object(arguments.clone())),
            Some(schema) => schema.check(&Value::Object(arguments.clone())),
        };
        if let Err(mistakes) = checked {
            let text = format!("the arguments of `{}` do not fit its input schema: {mistakes}", call.name);
            return ToolResult::error(call.id.clone(), text);
        }
        let answer = match &self.time {
            None => Ok(mock.answer.clone()),
            Some(time) => time.answer(&call.name, arguments, &mock.answer),
        };
        match answer {
            Ok(text) => ToolResult::ok(call.id.clone(), text),
            Err(text) => ToolResult::error(call.id.clone(), text),
        }
    }
}

impl Time {
    /// The answer to a call with valid arguments; `answer` is the tool's own.
    fn answer(&self, tool: &str, arguments: &Map<String, Value>, answer: &str) -> Result<String, String> {
        let TimeRules { start_argument, restart_tool, restarts_max } = self.rules;
        if tool == restart_tool {
            let one_more = |restarts| (restarts < restarts_max).then_some(restarts + 1);
            return match self.restarts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
                Ok(before) => Ok(format!("{answer} Restarts left: {}.", restarts_max - before - 1)),
                Err(_) => Err(format!(
                    "all {restarts_max} restarts are used: the day is not cleared, go on with it as it is"
                )),
            };
        }
        match arguments.get(start_argument).and_then(Value::as_str) {
            Some(start) if TimeOfDay::parse(start).is_none() => Err(format!(
                "{start_argument} \"{}\" is no clock time: write hours and minutes from 00:00 to 23:59, as in 14:30; \
                 nothing was done",
                shortened(start)
            )),
            _ => Ok(answer.to_owned()),
        }
    }
}

impl Toolbox for MockTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(self.answer(call)))
    }

    fn restoring(&self) -> Restoring {
        if self.time.is_some() { Restoring::Again } else { Restoring::Nothing }
    }

    /// They represent actions, whose order is what a case is about; and they take no time.
    fn runs_side_by_side(&self) -> bool {
        false
    }
}
