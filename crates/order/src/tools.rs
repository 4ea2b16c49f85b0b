//! The tools of a case, and valid arguments for them.

use planproof_synth::{PlanningCase, RESTART_TOOL, START_TIME_ARGUMENT};
use planproof_tools::{MockError, MockTool, MockTools, SchemaCache, TimeRules};
use planproof_trace::{Arguments, sample_arguments};
use serde_json::{Map, Value};

/// The mock tools of a case, for one run. `schemas` caches the costly parts between cases.
///
/// # Errors
/// Two tools share a name, or one has no usable schema.
pub fn mock_tools(case: &PlanningCase, schemas: &SchemaCache) -> Result<MockTools, MockError> {
    let mocks = case
        .tools
        .iter()
        .map(|tool| MockTool { tool: tool.to_tool(), answer: case.mock_answer(&tool.name) })
        .collect();
    let tools = MockTools::new(mocks, schemas)?;
    Ok(match &case.time {
        None => tools,
        Some(time) => tools.with_time(TimeRules {
            start_argument: START_TIME_ARGUMENT,
            restart_tool: RESTART_TOOL,
            restarts_max: time.restarts_max,
        }),
    })
}

/// Valid arguments for a tool of a case: the smallest that its schema accepts as far as we know
/// ([`sample_arguments`]), with this start in the time form and with the values that earlier tools return for it.
pub fn case_arguments(case: &PlanningCase, tool: &str, start_time: Option<String>) -> Arguments {
    Arguments::Object(argument_object(case, tool, start_time))
}

/// [`case_arguments`] as an object.
pub(crate) fn argument_object(
    case: &PlanningCase,
    tool: &str,
    start_time: Option<String>,
) -> Map<String, Value> {
    let schema = case.tool(tool).and_then(|tool| tool.input_schema.as_deref());
    let mut arguments = schema.map_or_else(Map::new, sample_arguments);
    // After the samples, which they replace.
    arguments.extend(case.flow_arguments(tool).map(|(name, value)| (name.to_owned(), value.clone())));
    if let Some(start_time) = start_time {
        arguments.insert(START_TIME_ARGUMENT.to_owned(), start_time.into());
    }
    arguments
}
