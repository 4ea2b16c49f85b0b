//! Sub-tasks of a model that reads the synthesised paragraph of a task, as it does in conversations of calls.
//!
//! In the time form a sub-task that is written after the results of the previous ones states its start. One that is
//! planned ahead cannot: it states that it starts when the previous one has ended, and the clock time is computed
//! when it is executed. So a plan that is made at once is as good as its guessed durations.

use std::sync::Arc;

use planproof_model::{ChatRequest, Message};
use planproof_plan::subtasks::{Asking, DONE, Pair, SUB_TASKS_MAX, headings};
use planproof_synth::START_TIME_ARGUMENT;
use planproof_trace::{Arguments, CallId, TimeOfDay, Tool, ToolCall, WrittenObject, sample_arguments};
use serde_json::{Map, Value as Json, json};

use super::Request;
use crate::calling::Calling;
use crate::day::{DayScript, day_in, is_restart, minutes_in, start_in};
use crate::reading::task_of;
use crate::script::Script;
use crate::step::{ALL_DONE, Slip, Step};
use crate::writing::{start_text, write_call};

/// The assumed result of a call that is only planned.
const PLANNED_RESULT: &str = "Done.";

/// Separates the words of a sub-task from arguments that the model chose while planning.
const WITH: &str = " with ";

/// The words for the start of a sub-task that was planned before anything was done.
const WHEN_FREE: &str = ", as soon as the one before it has ended";

/// Separates that from the earliest clock time.
const NOT_BEFORE: &str = " and not before ";

/// Precedes the schema of a tool's arguments in a prompt.
const SCHEMA: &str = "as a JSON schema: ";

impl Request<'_> {
    /// A list of pairs in the form that is asked for.
    fn written_as_asked(&self, list: &Json) -> String {
        let pairs = list.as_array().into_iter().flatten().map(Pair::of_json).collect::<Option<Vec<_>>>();
        pairs.map_or_else(|| list.to_string(), |pairs| self.written(&pairs))
    }

    /// The reply of a model that understands the task the way `calling` does.
    pub(crate) fn understood(&self, calling: &Calling, request: &ChatRequest) -> String {
        match self.asking {
            Asking::Plan => {
                let mut talk = self.talk(request);
                if let Script::Day(day) = &calling.known(&talk).script {
                    return self.written_as_asked(&planned_day(day, &talk.tools));
                }
                // A plan is what the model would call if every call succeeded, so the conversation is played with
                // assumed results.
                let mut pairs = Vec::new();
                // One more than a plan may have, so that the excess is noticed. Where each task has its tool, a plan
                // has fewer than twice as many as there are tools.
                let most = SUB_TASKS_MAX.max(2 * talk.tools.len());
                while pairs.len() <= most {
                    let (text, calls) = calling.text_and_calls(&talk);
                    if calls.is_empty() {
                        break;
                    }
                    pairs.extend(calls.iter().map(|call| pair(call, &talk.tools).to_json()));
                    let results = calls.iter().map(|call| result(call, PLANNED_RESULT)).collect::<Vec<_>>();
                    talk.messages.push(Message::assistant(text, calls));
                    talk.messages.extend(results);
                }
                self.written_as_asked(&Json::from(pairs))
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
        let mut tools: Vec<Tool> = self.section(headings::TOOLS).lines().filter_map(tool).collect();
        if tools.iter().any(is_restart) {
            // Only prompts for calls contain schemas, but the task says that each tool takes a start.
            let start =
                json!({ "type": "object", "properties": { (START_TIME_ARGUMENT): { "type": "string" } } });
            let schema = WrittenObject::from(start);
            let of_tasks = tools.iter_mut().filter(|tool| !is_restart(tool));
            of_tasks.for_each(|tool| tool.input_schema = schema.clone());
        }
        ChatRequest {
            messages: vec![Message::User { text: self.section(headings::TASK).to_owned() }],
            tools: Arc::from(tools),
            settings: request.settings.clone(),
            previous: None,
        }
    }

    /// The arguments that the tool's schema demands and the sub-task states.
    fn written_arguments(&self) -> Map<String, Json> {
        let schema = self.section(headings::TOOL).rsplit_once(SCHEMA).map_or("", |(_, schema)| schema);
        let schema: Map<String, Json> = serde_json::from_str(schema).unwrap_or_default();
        let said = self.section(headings::SUB_TASK).rsplit_once(WITH).map_or("", |(_, said)| said);
        let said: Map<String, Json> = serde_json::from_str(said).unwrap_or_default();
        let mut arguments = sample_arguments(&schema);
        if arguments.contains_key(START_TIME_ARGUMENT)
            && !said.contains_key(START_TIME_ARGUMENT)
            && let Some(minute) = self.minute_when_free()
        {
            arguments.insert(START_TIME_ARGUMENT.to_owned(), start_text(minute, Slip::None).into());
        }
        // What the sub-task states takes precedence over samples.
        arguments.extend(said);
        arguments
    }

    /// The start of a sub-task that was planned ahead: when the previous ones have ended, by their reported minutes.
    fn minute_when_free(&self) -> Option<u16> {
        let mut minute = day_in(self.section(headings::TASK))?.start;
        let mut begun = minute;
        for line in self.section(headings::RESULTS).lines() {
            match line.strip_prefix(headings::RESULT_OF).and_then(|rest| rest.split_once(' ')) {
                Some((_, rest)) => {
                    let rest = rest.strip_prefix("(failed) ").unwrap_or(rest);
                    let pair = serde_json::from_str::<Json>(rest).ok();
                    let pair = pair.as_ref().and_then(Pair::of_json)?;
                    // A sub-task may have had to wait for its own clock time.
                    begun = minute.max(not_before(&pair.text));
                }
                None => minute = minutes_in(line).map_or(minute, |took| begun.saturating_add(took)),
            }
        }
        Some(minute.max(not_before(self.section(headings::SUB_TASK))))
    }
}

/// The earliest minute of a planned sub-task, 0 if it states none.
fn not_before(text: &str) -> u16 {
    let clock = text.rsplit_once(WHEN_FREE).and_then(|(_, rest)| rest.strip_prefix(NOT_BEFORE));
    clock.and_then(TimeOfDay::parse).map_or(0, TimeOfDay::minute)
}

/// All tasks of a day as sub-tasks that start one after the other.
fn planned_day(day: &DayScript, tools: &[Tool]) -> Json {
    let steps = day.plan().into_iter().enumerate();
    let pairs = steps.filter_map(|(made, step)| {
        let Step::Call { tool, start, slip, sentences } = step else { return None };
        let call = write_call(tools, tool, (start, sentences), slip, made + 1);
        // Without a clock time (a report, or a clumsy start) the call is planned as it is.
        if start_in(&call.arguments).is_none() {
            return Some(pair(&call, tools).to_json());
        }
        let task = tools.get(usize::from(tool)).map_or(call.name.as_str(), task_of);
        let begins = day
            .begins(tool)
            .map_or_else(String::new, |minute| format!("{NOT_BEFORE}{}", start_text(minute, Slip::None)));
        let text = format!("Do the task: {task}{WHEN_FREE}{begins}");
        Some(Pair { tool: call.name, text }.to_json())
    });
    pairs.collect()
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
        // The result is between the line that names the sub-task and the request for the next one.
        let given = observed.split_once('\n').map_or("", |(_, rest)| rest);
        let given = given.rsplit_once("\n\n").map_or(given, |(given, _)| given);
        let answer = result(&call, given);
        turns.push(Message::assistant(String::new(), vec![call]));
        turns.push(answer);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_sub_tasks_start_when_those_before_them_have_ended() {
        let minute = |results: &str, sub_task: &str| {
            let (task, of_results, of_sub_task) = (headings::TASK, headings::RESULTS, headings::SUB_TASK);
            let text = format!(
                "{} x\n\n{task}\nThe day goes from 08:00 to 20:00.\n\n{of_results}\n{results}\n\n{of_sub_task}\n{sub_task}\n",
                Asking::Call.mark()
            );
            Request { asking: Asking::Call, text: &text, ended: 0, was_corrected: false }.minute_when_free()
        };
        let later = format!("Do the task: y{WHEN_FREE}");
        let first = format!("## 1 {{\"a\": \"Do the task: x{WHEN_FREE}{NOT_BEFORE}09:10\"}}");
        let took = format!("{first}\nThe task \"x\" is done. It took 45 minutes.");
        let failed = format!("{took}\n\n## 2 (failed) {{\"b\": \"Do the task: z{WHEN_FREE}\"}}\nno");
        assert_eq!(minute("", &later), Some(8 * 60));
        assert_eq!(minute(&took, &later), Some(9 * 60 + 55));
        assert_eq!(minute(&failed, &later), Some(9 * 60 + 55));
        assert_eq!(minute(&failed, &format!("{later}{NOT_BEFORE}12:00")), Some(12 * 60));
        assert_eq!(minute("## 1 no sub-task\nIt took 5 minutes.", &later), None);
    }
}
