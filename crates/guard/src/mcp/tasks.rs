//! Calls that have become tasks.
//!
//! A client asks for the state of a task, and for its result. The newer protocol has the result in the state; the older
//! one gives it to `tasks/result` alone, where an error is that of the call.

use std::collections::HashMap;

use planproof_spec::rules::{mcp_result, outcome_of};
use serde_json::Value;

use super::server::{UNFINISHED_MAX, message_of};
use super::{Awaited, McpGuard};

/// Most tasks of which something is remembered that was said before the answer that begins them.
const EARLY_MAX: usize = 16;

/// The JSON-RPC error of a request about a task that the server does not know, or not any more.
const INVALID_PARAMS: i64 = -32602;

/// A call that has become a task.
#[derive(Debug)]
pub(super) struct Task {
    /// The number of the call.
    number: u64,
    state: TaskState,
}

/// What is known of a task.
#[derive(Debug, PartialEq)]
enum TaskState {
    /// It is under way, or its result has not come.
    Pending,
    /// It has failed, and why is known as far as its state says it.
    Failed(Value),
    /// It was to be ended. Whether the call was made before, nobody says.
    Cancelled,
    /// The call has failed, for all that the client knows.
    Ended,
}

/// The tasks of a session, by their ids.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: HashMap<String, Task>,
    /// What was said of tasks before the answer that begins them.
    early: HashMap<String, Value>,
}

impl Tasks {
    /// Whether the result of a task may come.
    pub(super) fn are_pending(&self) -> bool {
        self.known.values().any(|task| task.state != TaskState::Ended)
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.known.contains_key(id)
    }
}

/// The id of a task, if this is one.
pub(super) fn id_of(value: &Value) -> Option<String> {
    match value.get("taskId")? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// The state that an object says a task has.
fn status_of(task: &Value) -> Option<&str> {
    let has_content = ["content", "structuredContent"].iter().any(|key| task.get(*key).is_some());
    task.get("status").and_then(Value::as_str).filter(|_| !has_content)
}

impl McpGuard {
    /// A call has become a task, of which this is known.
    pub(super) fn task_begun(&mut self, number: u64, id: &str, task: &Value) -> Option<String> {
        if self.tasks.known.len() >= UNFINISHED_MAX {
            self.tasks.known.retain(|_, task| task.state != TaskState::Ended);
        }
        let early = self.tasks.early.remove(id);
        if self.tasks.known.len() < UNFINISHED_MAX {
            self.tasks.known.insert(id.to_owned(), Task { number, state: TaskState::Pending });
        }
        if !self.may_become_tasks() {
            self.tasks.early.clear();
        }
        self.task_said(id, task).or_else(|| self.task_said(id, &early?))
    }

    fn may_become_tasks(&self) -> bool {
        self.outstanding.values().any(|it| matches!(it.awaited, Awaited::Call(..)))
    }

    /// Takes what is said of the state of a task, with which it may end.
    pub(super) fn task_said(&mut self, id: &str, said: &Value) -> Option<String> {
        if !self.tasks.has(id) && self.may_become_tasks() && self.tasks.early.len() < EARLY_MAX {
            self.tasks.early.insert(id.to_owned(), said.clone());
        }
        let task = self.tasks.known.get_mut(id)?;
        match status_of(said) {
            Some("completed") => {
                let result = said.get("result")?;
                self.task_ended(id, result)
            }
            Some("failed") if task.state == TaskState::Pending => {
                let error = said.get("error").filter(|error| !error.is_null());
                match error.map(message_of) {
                    Some(message) => self.task_failed(id, &message),
                    // The older protocol: `tasks/result` says more.
                    None => {
                        let message = said.get("statusMessage").and_then(Value::as_str);
                        task.state = TaskState::Failed(message.map(outcome_of).unwrap_or_default());
                        None
                    }
                }
            }
            Some("cancelled") if task.state == TaskState::Pending => {
                task.state = TaskState::Cancelled;
                None
            }
            _ => None,
        }
    }

    /// Takes the answer to `tasks/result`, which is that to the call.
    pub(super) fn task_answered(&mut self, id: &str, answer: Result<&Value, &Value>) -> Option<String> {
        let state = &self.tasks.known.get(id)?.state;
        match answer {
            // A server that does not wait for the end.
            Ok(said) if status_of(said).is_some() && id_of(said).as_deref() == Some(id) => {
                self.task_said(id, said)
            }
            Ok(result) => self.task_ended(id, result),
            Err(error) => {
                let is_unknown = error.get("code").and_then(Value::as_i64) == Some(INVALID_PARAMS);
                let is_of_call = match state {
                    TaskState::Failed(_) => true,
                    // What the server does not know any more may have been done.
                    TaskState::Pending => !is_unknown,
                    TaskState::Cancelled | TaskState::Ended => false,
                };
                if is_of_call { self.task_failed(id, &message_of(error)) } else { None }
            }
        }
    }

    /// A task ends with this result.
    fn task_ended(&mut self, id: &str, result: &Value) -> Option<String> {
        let Task { number, state } = self.tasks.known.remove(id)?;
        match state {
            // It has not failed after all, and whoever learnt so may have called others since.
            TaskState::Ended if mcp_result(result).says_error => None,
            TaskState::Ended => self.blocked(),
            _ => self.ended(number, result),
        }
    }

    fn task_failed(&mut self, id: &str, message: &Value) -> Option<String> {
        let task = self.tasks.known.get_mut(id)?;
        task.state = TaskState::Ended;
        let number = task.number;
        Some(self.finished(number, true, message))
    }

    /// What is still to be written to the log at the end of the session, before [`McpGuard::end_line`].
    pub fn last_lines(&mut self) -> Vec<String> {
        self.settle_tasks();
        self.late_lines()
    }

    /// Takes note of the tasks that have failed, of which the client has not asked why before it calls a tool. Keeps
    /// the lines of the log about them for [`McpGuard::late_lines`].
    pub(super) fn settle_tasks(&mut self) {
        let is_asked = |id: &str| self.outstanding.values().any(|it| it.awaited.is_result_of(id));
        let failed = self.tasks.known.iter().filter_map(|(id, task)| match &task.state {
            TaskState::Failed(message) if !is_asked(id) => Some((task.number, id.clone(), message.clone())),
            _ => None,
        });
        let mut failed: Vec<(u64, String, Value)> = failed.collect();
        // In the order of the calls, so that a session has one log.
        failed.sort_by_key(|(number, ..)| *number);
        for (_, id, message) in failed {
            let line = self.task_failed(&id, &message);
            self.late.extend(line);
        }
    }
}
