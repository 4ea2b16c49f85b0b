//! Mock tools: they check their arguments, give a canned answer, and do nothing else.

use std::fmt::Write as _;
use std::sync::Arc;

use jsonschema::Validator;
use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::refusal::{no_such_tool, not_an_object, shortened};
use crate::{BoxFuture, SchemaCache, Toolbox};

/// Most mistakes listed in the answer to a call whose arguments do not fit.
const MISTAKES_LISTED_MAX: usize = 3;

/// One mock tool.
#[derive(Debug, Clone, PartialEq)]
pub struct MockTool {
    /// What the agent sees.
    pub tool: Tool,
    /// The text of every result whose arguments fit.
    pub answer: String,
}

/// Why mock tools cannot be made. The case is at fault, not the agent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MockError {
    /// Two tools share a name, so a call would not say which one it means.
    #[error("two tools are named `{name}`: give each tool a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The input schema of a tool is no JSON Schema, or refers to another document.
    #[error("the input schema of tool `{name}` cannot be used: {reason}")]
    InvalidSchema {
        /// The tool.
        name: String,
        /// What is wrong with the schema.
        reason: String,
    },
}

/// The mock tools of one run. A call costs about a microsecond: a search by name, a check of the arguments, a copy
/// of the answer.
#[derive(Debug)]
pub struct MockTools {
    tools: Arc<[Tool]>,
    mocks: Vec<Mock>,
}

#[derive(Debug)]
struct Mock {
    answer: String,
    validator: Arc<Validator>,
}

impl MockTools {
    /// Makes the tools. `schemas` keeps what is costly to make between runs.
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
            // Neighbours mostly share their schema, and comparing two is cheaper than looking one up.
            let same = tools.last().is_some_and(|earlier| {
                Arc::ptr_eq(&earlier.input_schema, &tool.input_schema)
                    || earlier.input_schema == tool.input_schema
            });
            let validator = match rest.last() {
                Some(Mock { validator, .. }) if same => validator.clone(),
                _ => schemas
                    .validator(&tool.input_schema)
                    .map_err(|reason| MockError::InvalidSchema { name: tool.name.clone(), reason })?,
            };
            tools.push(tool);
            rest.push(Mock { answer, validator });
        }
        Ok(Self { tools: tools.into(), mocks: rest })
    }

    /// Answers a call without waiting for anything.
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
        match mistakes(&mock.validator, arguments) {
            None => ToolResult::ok(call.id.clone(), mock.answer.clone()),
            Some(mistakes) => ToolResult::error(
                call.id.clone(),
                format!("the arguments of `{}` do not fit its input schema: {mistakes}", call.name),
            ),
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
}

/// What is wrong with the arguments, `None` where they fit.
fn mistakes(validator: &Validator, arguments: &Map<String, Value>) -> Option<String> {
    let arguments = Value::Object(arguments.clone());
    if validator.is_valid(&arguments) {
        return None;
    }
    let mut text = String::new();
    for mistake in validator.iter_errors(&arguments).take(MISTAKES_LISTED_MAX) {
        if !text.is_empty() {
            text.push_str("; ");
        }
        let place = mistake.instance_path().to_string();
        if !place.is_empty() {
            let _ = write!(text, "at {}: ", shortened(&place));
        }
        text.push_str(&shortened(&mistake.to_string()));
    }
    Some(text)
}
