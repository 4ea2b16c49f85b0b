//! What a server answers: results of calls, and the tools that it has. All of it passes; the guard only learns from it.

use std::sync::Arc;

use planproof_spec::rules::{CallResult, KnownTool, mcp_result, outcome_of};
use serde_json::Value;

use super::{Awaited, McpGuard};
use crate::decision::{CarriedCall, UNREAD};
use crate::log::GuardAction;
use crate::strict::{self, ServerLine};

/// Most tools of a server that are compared with those in the rules; of a server with more, none are.
const LISTED_TOOLS_MAX: usize = 10_000;

/// Most calls that a server has answered by asking for more, and most tasks, that are remembered. Further ones stay
/// pending.
const UNFINISHED_MAX: usize = 1024;

impl McpGuard {
    /// Whether a line of the server may be the result of a call.
    pub fn awaits_results(&self) -> bool {
        !self.tasks.is_empty() || self.outstanding.values().any(|awaited| !matches!(awaited, Awaited::Other))
    }

    /// Takes a line of the server, which is always passed on. Gives the lines of the log that are to be written before,
    /// one for each result of a call and for each [notice](Self::notices).
    pub fn from_server(&mut self, line: &[u8]) -> Vec<String> {
        // Only what could be an answer is read.
        if self.outstanding.is_empty() && self.tasks.is_empty() {
            return Vec::new();
        }
        let known = self.notices.len();
        let mut lines = self.results_in(line);
        let rules = self.session.as_ref().ok().map(|session| &**session.rules());
        let noted = |notice: &String| self.log.decision(None, rules, GuardAction::Noted, Some(notice), 0);
        lines.extend(self.notices.iter().skip(known).map(noted));
        lines
    }

    /// What was noticed of the server since this was asked last, such as tools in the rules that it does not have: each
    /// a sentence without a full stop, and each once in a session.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn notice(&mut self, what: &str, notice: String) {
        if self.noticed.insert(what.to_owned()) {
            self.notices.push(notice);
        }
    }

    fn results_in(&mut self, line: &[u8]) -> Vec<String> {
        match strict::of_server(line) {
            ServerLine::Read(Value::Array(messages)) => {
                messages.into_iter().filter_map(|message| self.answered(message)).collect()
            }
            ServerLine::Read(message) => self.answered(message).into_iter().collect(),
            ServerLine::Ambiguous => self.unread().into_iter().collect(),
            // Lines that cannot be messages are output of the server's that every client skips.
            ServerLine::Unread if may_be_message(line) => self.unread().into_iter().collect(),
            ServerLine::Unread => Vec::new(),
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
            Awaited::Tools { continues } => {
                self.tools_listed(result.as_ref()?, continues);
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

    /// Takes a list of tools. At its end, what the rules name and the server does not have is noticed.
    fn tools_listed(&mut self, result: &Value, continues: bool) {
        let Some(tools) = result.get("tools").and_then(Value::as_array) else { return };
        let is_there = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
        if !continues {
            self.listed.clear();
        }
        let rules = self.session.as_ref().ok().map(|session| Arc::clone(session.rules()));
        for tool in tools {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            if is_there(tool.get("outputSchema")) {
                self.with_schema.insert(name.to_owned());
            }
            if self.listed.len() > LISTED_TOOLS_MAX {
                continue;
            }
            let schema = tool.get("inputSchema").and_then(Value::as_object);
            let is_named = rules.as_ref().is_some_and(|rules| rules.speak_of(name));
            self.listed.push((name.to_owned(), schema.filter(|_| is_named).cloned().unwrap_or_default()));
        }
        let Some(rules) = rules.filter(|_| !is_there(result.get("nextCursor"))) else { return };
        let listed = std::mem::take(&mut self.listed);
        if listed.len() > LISTED_TOOLS_MAX {
            return;
        }
        let names: Vec<String> = listed.iter().map(|(name, _)| name.clone()).collect();
        let known: Vec<KnownTool<'_>> =
            listed.iter().map(|(name, schema)| KnownTool { name, schema }).collect();
        let tools = rules.unknown_tools(&names);
        for fault in tools.into_iter().chain(rules.unknown_arguments(&known)) {
            self.notice(
                &fault.message,
                format!("the server's list of tools: {}; {}", fault.message, fault.help),
            );
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
        Some(self.ended(number, result))
    }

    /// Takes what is known of a task, which has ended or not.
    fn task_ended(&mut self, id: &str, mut task: Value) -> Option<String> {
        let number = *self.tasks.get(id)?;
        let result = match task.get("status").and_then(Value::as_str) {
            // The result itself, of the older protocol.
            None if task.get("content").is_some() => Ok(task),
            Some("completed") => Ok(task.get_mut("result").map(Value::take)?),
            Some("failed") => Err(message_of(task.get("error").unwrap_or(&Value::Null))),
            _ => return None,
        };
        self.tasks.remove(id);
        Some(match result {
            Ok(result) => self.ended(number, &result),
            Err(message) => self.finished(number, true, &message),
        })
    }

    /// Takes the result of a call.
    fn ended(&mut self, number: u64, result: &Value) -> String {
        let CallResult { value, says_error, is_contradictory } = mcp_result(result);
        if is_contradictory {
            let notice = format!(
                "the text of the result of call {number} contradicts its structured content, which counts"
            );
            self.notice("a result that contradicts itself", notice);
        }
        self.finished(number, says_error, &value)
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

/// An error of the protocol as rules see it: its message.
fn message_of(error: &Value) -> Value {
    match error.get("message").and_then(Value::as_str) {
        Some(message) => outcome_of(message),
        None => error.clone(),
    }
}
