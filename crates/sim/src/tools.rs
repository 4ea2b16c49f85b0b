//! Tools that a framework offers beside those of its user: to end a run, and to find the other tools.

use planproof_model::Message;
use planproof_model::shown_tools::shown_place;
use planproof_trace::{Arguments, CallId, Tool, ToolCall, sample_arguments};
use serde_json::Value;

use crate::reading::DOES_TASK;

/// Names of tools that take a run's final answer.
const ENDING: [&str; 5] = ["final_answer", "final_result", "submit_answer", "submit", "finish"];

/// Names of tools that find other tools, which are then offered to the model.
const SEARCHING: [&str; 3] = ["tool_search", "search_tools", "find_tools"];

/// Most characters of a search text.
const SEARCHED_CHARACTERS_MAX: usize = 2_000;

fn place(tools: &[Tool], names: &[&str]) -> Option<usize> {
    let place = names.iter().find_map(|name| shown_place(tools, name, ""))?;
    // A tool that does a task is none of these, whatever it is called.
    (!tools[place].description.contains(DOES_TASK)).then_some(place)
}

fn find<'t>(tools: &'t [Tool], names: &[&str]) -> Option<&'t Tool> {
    place(tools, names).map(|place| &tools[place])
}

/// The indices of the tools that do none of the user's work. Finding them takes longer than the rest of a turn, so it
/// is done once per conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfFramework([Option<usize>; 2]);

impl OfFramework {
    pub(crate) fn among(tools: &[Tool]) -> Self {
        Self([&ENDING[..], &SEARCHING].map(|names| place(tools, names)))
    }

    /// Whether a call of that name is of one of them.
    pub(crate) fn has(self, tools: &[Tool], name: &str) -> bool {
        let is_it = |place: usize| tools.get(place).is_some_and(|tool| tool.name == name);
        // A search is often no longer offered once it has found something.
        let is_search = || SEARCHING.contains(&name) && tools.iter().all(|tool| tool.name != name);
        self.0.into_iter().flatten().any(is_it) || is_search()
    }
}

/// The call with this answer at the end of a run, if there is a tool for it.
pub(crate) fn last_words(tools: &[Tool], text: &str, number: usize) -> Option<ToolCall> {
    find(tools, &ENDING).map(|tool| call(tool, text, number))
}

/// A search for tools that suit the user's request, if there is a tool for that and it was not called yet.
pub(crate) fn search(tools: &[Tool], messages: &[Message], number: usize) -> Option<ToolCall> {
    let tool = find(tools, &SEARCHING)?;
    let is_search = |message: &Message| match message {
        Message::Assistant { calls, .. } => calls.iter().any(|call| call.name == tool.name),
        _ => false,
    };
    // One search is enough: what it finds is offered from then on.
    if messages.iter().any(is_search) {
        return None;
    }
    let asked = messages.iter().rev().find_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        _ => None,
    });
    let asked: String = asked?.chars().take(SEARCHED_CHARACTERS_MAX).collect();
    Some(call(tool, &asked, number))
}

/// A call with a text in the first argument that accepts one.
fn call(tool: &Tool, text: &str, number: usize) -> ToolCall {
    let mut arguments = sample_arguments(&tool.input_schema);
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let takes = |schema: &Value, kind: &str| schema.get("type").is_none_or(|it| it == kind);
    for (name, schema) in properties.into_iter().flatten() {
        let value = if takes(schema, "string") {
            Value::from(text)
        } else if takes(schema, "array") {
            Value::from(vec![text])
        } else {
            continue;
        };
        arguments.insert(name.clone(), value);
        break;
    }
    ToolCall {
        id: CallId::new(format!("call_{number}")),
        name: tool.name.clone(),
        arguments: Arguments::Object(arguments),
    }
}
