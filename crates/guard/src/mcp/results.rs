//! What a server says, and what of it are results of calls.

use std::sync::Arc;

use planproof_spec::rules::outcome_of;
use planproof_trace::json;
use serde_json::Value;

use super::{Awaited, McpGuard, UNFINISHED_MAX};
use crate::decision::{CarriedCall, UNREAD};
use crate::log::GuardAction;

impl McpGuard {
    /// Whether a line of the server may be the result of a call.
    pub fn awaits_results(&self) -> bool {
        !self.tasks.is_empty() || self.outstanding.values().any(|awaited| !matches!(awaited, Awaited::Other))
    }

    /// Takes a line of the server, which is always passed on. Gives the lines of the log that are to be written before,
    /// one for each result of a call.
    pub fn from_server(&mut self, line: &[u8]) -> Vec<String> {
        // Only what could be an answer is read.
        if self.outstanding.is_empty() && self.tasks.is_empty() {
            return Vec::new();
        }
        match json::read::<Value>(line) {
            Ok(Value::Array(messages)) => {
                messages.into_iter().filter_map(|message| self.answered(message)).collect()
            }
            Ok(message) => self.answered(message).into_iter().collect(),
            // Lines that cannot be messages are output of the server's that every client skips.
            Err(_) if may_be_message(line) => self.unread().into_iter().collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Takes note of an answer that cannot be read, as of a line that is longer than [`LINE_BYTES_MAX`]. The client may
    /// understand it, so no further call is approved. Gives the line of the log about it; `None` if no call is pending.
    pub fn unread(&mut self) -> Option<String> {
        let is_call = |awaited: &Awaited| matches!(awaited, Awaited::Call(..) | Awaited::Task(_));
        if self.tasks.is_empty() && !self.outstanding.values().any(is_call) {
            return None;
        }
        let session = self.session.as_mut().ok()?;
        session.unread();
        let rules = Arc::clone(session.rules());
        Some(self.log.decision(None, Some(&rules), GuardAction::Noted, Some(UNREAD), 0))
    }

    fn answered(&mut self, mut message: Value) -> Option<String> {
        if message.get("method").is_some() {
            let is_of_task = message["method"] == "notifications/tasks";
            let task = message.get_mut("params").filter(|_| is_of_task).map(Value::take)?;
            let id = task.get("taskId")?.as_str()?.to_owned();
            return self.task_ended(&id, task);
        }
        let id = message.get("id")?.clone();
        let awaited = self.outstanding.remove(&self.key(&id))?;
        let error = message.get_mut("error").map(Value::take);
        let result = message.get_mut("result").map(Value::take);
        match awaited {
            Awaited::Other => None,
            Awaited::Tools => {
                let tools = result.as_ref()?.get("tools")?.as_array()?;
                let has_schema =
                    |tool: &&Value| tool.get("outputSchema").is_some_and(|schema| !schema.is_null());
                let names = tools.iter().filter(has_schema).filter_map(|tool| tool.get("name")?.as_str());
                self.with_schema.extend(names.map(str::to_owned));
                None
            }
            Awaited::Task(id) => self.task_ended(&id, result?),
            Awaited::Call(number, asked) => match (error, result) {
                (Some(error @ Value::Object(_)), None) => {
                    Some(self.finished(number, true, &message_of(&error)))
                }
                // Clients take an error that is not one for none.
                (None | Some(Value::Null | Value::Number(_)), Some(result)) => {
                    self.called(number, asked, &result)
                }
                // Clients differ in what they make of both, or of neither.
                _ => {
                    self.outstanding.insert(self.key(&id), Awaited::Call(number, asked));
                    let line = self.unread();
                    self.outstanding.remove(&self.key(&id));
                    line
                }
            },
        }
    }

    /// Takes the answer to a call, which need not be its result.
    fn called(&mut self, number: u64, asked: CarriedCall, result: &Value) -> Option<String> {
        let kind = result.get("resultType").and_then(Value::as_str);
        if kind == Some("input_required") {
            let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
            if self.unfinished.len() < UNFINISHED_MAX {
                self.unfinished.push((number, asked, state));
            }
            return None;
        }
        let task = result.get("task").filter(|_| result.get("content").is_none());
        let task = task.or_else(|| (kind == Some("task")).then_some(result));
        if let Some(id) = task.and_then(|task| task.get("taskId")?.as_str()) {
            if self.tasks.len() < UNFINISHED_MAX {
                self.tasks.insert(id.to_owned(), number);
            }
            return None;
        }
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        Some(self.finished(number, is_error, &outcome(result)))
    }

    /// Takes what is known of a task, which has ended or not.
    fn task_ended(&mut self, id: &str, mut task: Value) -> Option<String> {
        let number = *self.tasks.get(id)?;
        let (is_error, outcome) = match task.get("status").and_then(Value::as_str) {
            // The result itself, of the older protocol.
            None if task.get("content").is_some() => {
                (task.get("isError") == Some(&Value::Bool(true)), outcome(&task))
            }
            Some("completed") => {
                let result = task.get_mut("result").map(Value::take)?;
                (result.get("isError") == Some(&Value::Bool(true)), outcome(&result))
            }
            Some("failed") => (true, message_of(task.get("error").unwrap_or(&Value::Null))),
            _ => return None,
        };
        self.tasks.remove(id);
        Some(self.finished(number, is_error, &outcome))
    }

    fn finished(&mut self, number: u64, is_error: bool, outcome: &Value) -> String {
        if let Ok(session) = &mut self.session {
            session.finished(number, is_error, outcome);
        }
        self.log.result(number, is_error, outcome)
    }
}

/// Whether some client may take a line for a message.
fn may_be_message(line: &[u8]) -> bool {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The result of a call as rules see it: its texts, or the structured content where there is none.
fn outcome(result: &Value) -> Value {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = blocks
        .filter_map(|block| block.get("text").or_else(|| block.get("resource")?.get("text"))?.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    match result.get("structuredContent") {
        Some(structured) if texts.is_empty() => structured.clone(),
        _ => outcome_of(&texts.join("\n")),
    }
}

/// An error of the protocol as rules see it: its message.
fn message_of(error: &Value) -> Value {
    match error.get("message").and_then(Value::as_str) {
        Some(message) => outcome_of(message),
        None => error.clone(),
    }
}
