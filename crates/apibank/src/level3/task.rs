//! A task of level 3: a requirement in words, the calls that fulfil it, and the reply.

use std::sync::Arc;

use planproof_suite::case_line::check_id;
use serde::{Deserialize, Serialize};

use super::task_data::TaskData;
use crate::record::ApiRecord;
use crate::value::Dict;

/// Name and version of the JSON form of a task.
pub const CASE_SCHEMA: &str = "planproof/apibank/v1";

/// Longest line of a task, in bytes.
pub const LINE_BYTES_MAX: usize = 512 * 1024;

/// Longest requirement and longest reply, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of things that a reply has to name.
pub const ASKS_MAX: usize = 100;

/// Maximum number of gold calls of a task.
pub const CALLS_MAX: usize = 100;

/// Where a task comes from, which determines the databases and tools for its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskOrigin {
    /// Our own tasks: the right tools over the databases that come with planproof.
    #[default]
    Own,
    /// API-Bank's tasks: the published tools over what the task's data has.
    Published,
}

impl TaskOrigin {
    fn is_own(&self) -> bool {
        *self == Self::Own
    }
}

/// A call that the task requires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredCall {
    pub api: String,
    /// The arguments. In published data they may be missing if only the record is known.
    pub arguments: Dict,
    /// The record that the tool returns.
    pub record: ApiRecord,
    /// The indices, from 0, of the earlier calls whose results this one depends on: the search that finds its tool,
    /// and the sources of its arguments. Published tasks do not say so; there it is inferred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UserTask {
    pub id: String,
    /// The kind of task, such as `trip`; may be empty.
    pub kind: String,
    pub origin: TaskOrigin,
    /// What the user wants, in words. For published tasks it may be empty if a file contains only the calls.
    pub requirement: String,
    /// The calls, in order.
    pub calls: Vec<RequiredCall>,
    /// The final reply to the user.
    pub reply: String,
    /// What a reply has to name: for each thing that the requirement asks for, the names of which one is enough. May be
    /// empty, also in files of earlier versions: then it follows from the right reply.
    pub asks: Vec<Vec<String>>,
    /// What a published task is carried out on. Without it, the task can be neither run nor judged.
    pub data: Option<Arc<TaskData>>,
}

/// A task as a JSON line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    schema: String,
    id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(default, skip_serializing_if = "TaskOrigin::is_own")]
    origin: TaskOrigin,
    requirement: String,
    calls: Vec<RequiredCall>,
    reply: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asks: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<TaskData>,
}

/// A text that is not a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no case of {CASE_SCHEMA}: {0}")]
pub struct TaskError(String);

impl UserTask {
    /// Parses a task from a JSON line.
    ///
    /// # Errors
    /// The line is too long, has another schema or none, lacks a field, or exceeds a limit.
    pub fn read(line: &str) -> Result<Self, TaskError> {
        if line.len() > LINE_BYTES_MAX {
            return Err(TaskError(format!("the line is longer than {LINE_BYTES_MAX} bytes")));
        }
        let line: Line = serde_json::from_str(line).map_err(|error| TaskError(error.to_string()))?;
        if line.schema != CASE_SCHEMA {
            return Err(TaskError(format!("the line has schema `{}`", line.schema)));
        }
        let Line { id, kind, origin, requirement, calls, reply, asks, data, .. } = line;
        let task = Self { id, kind, origin, requirement, calls, reply, asks, data: data.map(Arc::new) };
        task.check()?;
        Ok(task)
    }

    /// The id of the published task at this index, from 0.
    pub fn published_id(place: usize) -> String {
        format!("level3-original-{place}")
    }

    /// Rejects tasks that exceed a limit, and calls that depend on a later one.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(&self) -> Result<(), TaskError> {
        let wrong = |what: String| Err(TaskError(what));
        check_id(&self.id).map_err(|error| TaskError(error.what))?;
        for (what, text) in [("requirement", &self.requirement), ("reply", &self.reply)] {
            if text.len() > TEXT_BYTES_MAX {
                return wrong(format!("the {what} is longer than {TEXT_BYTES_MAX} bytes"));
            }
        }
        if self.calls.is_empty() || self.calls.len() > CALLS_MAX {
            return wrong(format!("a task has 1 to {CALLS_MAX} calls, not {}", self.calls.len()));
        }
        let has_nothing =
            |names: &Vec<String>| names.iter().all(|name| !name.contains(char::is_alphanumeric));
        if self.asks.len() > ASKS_MAX || self.asks.iter().any(has_nothing) {
            return wrong(format!(
                "`asks` is a list of at most {ASKS_MAX} lists of names, none of them empty"
            ));
        }
        for (place, call) in self.calls.iter().enumerate() {
            if let Some(need) = call.needs.iter().find(|need| **need >= place) {
                return wrong(format!("call {place} needs call {need}, which is not before it"));
            }
        }
        Ok(())
    }

    /// The task as one JSON line, without a line break.
    pub fn to_line(&self) -> String {
        let Self { id, kind, origin, requirement, calls, reply, asks, data } = self.clone();
        let schema = CASE_SCHEMA.to_owned();
        let data = data.map(Arc::unwrap_or_clone);
        let line = Line { schema, id, kind, origin, requirement, calls, reply, asks, data };
        // Serializing texts, numbers and their nested values into memory cannot fail.
        serde_json::to_string(&line).unwrap_or_default()
    }

    /// The calls that are not searches for a tool.
    pub fn tool_calls(&self) -> impl Iterator<Item = &RequiredCall> {
        self.calls.iter().filter(|call| call.api != super::SEARCHER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::PythonValue;

    fn task() -> UserTask {
        let input = Dict::from([("post_id".to_owned(), PythonValue::Int(7))]);
        let record = ApiRecord::new(Some("LikeCount"), input.clone(), Ok(PythonValue::Int(3))).unwrap();
        let call = RequiredCall { api: "LikeCount".to_owned(), arguments: input, record, needs: Vec::new() };
        UserTask {
            id: "t1".to_owned(),
            kind: "likes".to_owned(),
            origin: TaskOrigin::Own,
            requirement: "How many?".to_owned(),
            calls: vec![call],
            reply: "Three.".to_owned(),
            asks: vec![vec!["3".to_owned(), "three".to_owned()]],
            data: None,
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let task = task();
        let line = task.to_line();
        assert!(
            line.starts_with(r#"{"schema":"planproof/apibank/v1","id":"t1","kind":"likes","requirement":"#)
        );
        assert_eq!(UserTask::read(&line).unwrap(), task);
    }

    #[test]
    fn what_is_no_task_is_refused() {
        let refused = |line: &str| UserTask::read(line).unwrap_err().to_string();
        let line = task().to_line();
        assert!(refused("{}").contains("missing field `schema`"));
        assert!(refused(&line.replace("/v1", "/v2")).contains("has schema `planproof/apibank/v2`"));
        assert!(refused(&line.replace("\"t1\"", "\"\"")).contains("the id must have"));
        let mut task = task();
        task.calls[0].needs = vec![0];
        assert!(refused(&task.to_line()).contains("call 0 needs call 0, which is not before it"));
        task.calls.clear();
        assert!(refused(&task.to_line()).contains("1 to 100 calls, not 0"));
    }
}
