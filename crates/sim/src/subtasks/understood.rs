//! Sub-tasks of a model that reads the synthesised paragraph of a task, as it does in conversations of calls.

use std::sync::Arc;

use planproof_model::{ChatRequest, Message};
use planproof_plan::subtasks::{Asking, DONE, Pair, SUB_TASKS_MAX, headings};
use planproof_trace::{Arguments, CallId, Tool, ToolCall, sample_arguments};
use serde_json::{Map, Value as Json};

use super::Asked;
use crate::calling::Calling;
use crate::reading::task_of;
use crate::step::ALL_DONE;

/// What a model takes for the result of a call of which it only plans.
const PLANNED_RESULT: &str = "Done.";

/// What stands between the words of a sub-task and arguments that the model chose while it planned.
const WITH: &str = " with ";

/// What stands before the schema of a tool's arguments in a prompt.
const SCHEMA: &str = "as a JSON schema: ";

impl Asked<'_> {
    /// The reply of a model that understands the task as `calling` does.
    pub(crate) fn understood(&self, calling: &Calling, request: &ChatRequest) -> String {
        match self.asking {
            Asking::Plan => {
                let mut talk = self.talk(request);
                let mut pairs = Vec::new();
                // One more than a plan may have, which is seen.
                while pairs.len() <= SUB_TASKS_MAX {
                    let (text, calls) = calling.text_and_calls(&talk);
                    if calls.is_empty() {
                        break;
                    }
                    pairs.extend(calls.iter().map(|call| pair(call, &talk.tools).to_json()));
                    let results = calls.iter().map(|call| result(call, PLANNED_RESULT)).collect::<Vec<_>>();
                    talk.messages.push(Message::Assistant { text, calls });
                    talk.messages.extend(results);
                }
                Json::from(pairs).to_string()
            }
            Asking::Next => {
                let mut talk = self.talk(request);
                talk.messages.extend(carried_out(&request.messages));
                match calling.text_and_calls(&talk).1.first() {
                    Some(call) => pair(call, &talk.tools).to_json().to_string(),
                    None => DONE.to_owned(),
                }
            }
            Asking::Groups => Json::from(vec!["All of it"]).to_string(),
            Asking::Call => Json::Object(self.written_arguments()).to_string(),
            Asking::Summary => ALL_DONE.to_owned(),
        }
    }

    /// The task with its tools, as a conversation of calls begins.
    fn talk(&self, request: &ChatRequest) -> ChatRequest {
        let tool = |line: &str| {
            let (name, about) = line.strip_prefix("- ")?.split_once(": ")?;
            Some(Tool::without_arguments(name, about))
        };
        let tools: Vec<Tool> = self.section(headings::TOOLS).lines().filter_map(tool).collect();
        ChatRequest {
            messages: vec![Message::User { text: self.section(headings::TASK).to_owned() }],
            tools: Arc::from(tools),
            settings: request.settings.clone(),
            previous: None,
        }
    }

    /// What the tool's schema demands, and what the sub-task says.
    fn written_arguments(&self) -> Map<String, Json> {
        let schema = self.section(headings::TOOL).rsplit_once(SCHEMA).map_or("", |(_, schema)| schema);
        let schema: Map<String, Json> = serde_json::from_str(schema).unwrap_or_default();
        let said = self.section(headings::SUB_TASK).rsplit_once(WITH).map_or("", |(_, said)| said);
        let said: Map<String, Json> = serde_json::from_str(said).unwrap_or_default();
        let mut arguments = sample_arguments(&schema);
        arguments.extend(said);
        arguments
    }
}

/// A call as a sub-task.
fn pair(call: &ToolCall, tools: &[Tool]) -> Pair {
    let tool = tools.iter().find(|tool| tool.name == call.name);
    let task = tool.map_or(call.name.as_str(), task_of);
    let text = match &call.arguments {
        Arguments::Object(arguments) if arguments.is_empty() => format!("Do the task: {task}"),
        arguments => format!("Do the task: {task}{WITH}{}", arguments.to_text()),
    };
    Pair { tool: call.name.clone(), text }
}

fn result(call: &ToolCall, text: &str) -> Message {
    Message::Tool { id: call.id.clone(), text: text.to_owned() }
}

/// The sub-tasks of a conversation that have ended, as calls with their results.
fn carried_out(messages: &[Message]) -> Vec<Message> {
    let mut turns = Vec::new();
    for (number, two) in messages.windows(2).enumerate() {
        let [Message::Assistant { text: written, .. }, Message::User { text: observed }] = two else {
            continue;
        };
        let Some(observed) = observed.strip_prefix(headings::RESULT_OF) else { continue };
        let pair = serde_json::from_str::<Json>(written).ok();
        let Some(Pair { tool, text }) = pair.as_ref().and_then(Pair::of_json) else { continue };
        let said = text.rsplit_once(WITH).and_then(|(_, said)| serde_json::from_str(said).ok());
        let call = ToolCall {
            id: CallId::new(format!("call_{number}")),
            name: tool,
            arguments: Arguments::Object(said.unwrap_or_default()),
        };
        let given = observed.split_once('\n').map_or("", |(_, rest)| rest);
        let given = given.rsplit_once("\n\n").map_or(given, |(given, _)| given);
        let answer = result(&call, given);
        turns.push(Message::Assistant { text: String::new(), calls: vec![call] });
        turns.push(answer);
    }
    turns
}
