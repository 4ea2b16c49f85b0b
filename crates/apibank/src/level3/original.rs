//! The published tasks of level 3, `level-3.json`, and files of predictions for them.
//!
//! The file is not part of planproof. It is a list with an object for each task. Its `apis` are the calls in order:
//! `api_name`, `output`, which is the whole record of the call, and sometimes its arguments as `param_dict` or
//! `input`. All other fields are optional, because the file's description does not specify them: the requirement as
//! `requirement`, `instruction` or `query`, the reply as `response` or `reply`.

use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};

use super::task::{RequiredCall, TaskOrigin, UserTask};

/// Longest file, in bytes.
pub const BYTES_MAX: usize = 256 * 1024 * 1024;

/// Possible names of a task's requirement.
const REQUIREMENT: [&str; 3] = ["requirement", "instruction", "query"];

/// Possible names of the reply.
const REPLY: [&str; 2] = ["response", "reply"];

/// Possible names of a call's arguments.
const ARGUMENTS: [&str; 2] = ["param_dict", "input"];

/// The expected form of lines with predictions.
const FORM: &str =
    "calls need numbers `sample_id` and `api_id` and a text `pred`, replies texts `output` and `pred`";

/// A file that does not contain tasks or predictions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct OriginalError {
    /// The position in the file.
    pub at: String,
    /// What is wrong at this position.
    pub what: String,
}

fn wrong<T>(at: impl Into<String>, what: impl Into<String>) -> Result<T, OriginalError> {
    Err(OriginalError { at: at.into(), what: what.into() })
}

/// Parses the tasks in the text of a `level-3.json`, with ids starting at `level3-original-0`.
///
/// # Errors
/// The text is too long, or is not JSON of this form; the error names the task and the call.
pub fn read_tasks(text: &str) -> Result<Vec<UserTask>, OriginalError> {
    if text.len() > BYTES_MAX {
        return wrong("the file", format!("it is longer than {BYTES_MAX} bytes"));
    }
    let value: PythonValue = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return wrong("the file", format!("it is no JSON: {error}")),
    };
    let Some(samples) = value.as_list() else {
        return wrong("the file", "it must be a list with an object for each task");
    };
    samples.iter().enumerate().map(|(place, sample)| task(place, sample)).collect()
}

fn task(place: usize, sample: &PythonValue) -> Result<UserTask, OriginalError> {
    let at = format!("task {place}");
    let Some(sample) = sample.as_dict() else { return wrong(at, "it is no object") };
    let Some(apis) = sample.get("apis").and_then(PythonValue::as_list) else {
        return wrong(at, "it has no list `apis`");
    };
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| sample.get(*name)?.as_text());
        found.unwrap_or_default().to_owned()
    };
    let calls: Result<Vec<RequiredCall>, OriginalError> =
        apis.iter().enumerate().map(|(number, api)| call(&format!("{at}, call {number}"), api)).collect();
    let task = UserTask {
        id: format!("level3-original-{place}"),
        kind: String::new(),
        origin: TaskOrigin::Published,
        requirement: text(&REQUIREMENT),
        calls: calls?,
        reply: text(&REPLY),
        asks: Vec::new(),
    };
    match task.check() {
        Ok(()) => Ok(task),
        Err(error) => wrong(at, error.to_string()),
    }
}

fn call(at: &str, api: &PythonValue) -> Result<RequiredCall, OriginalError> {
    let Some(api) = api.as_dict() else { return wrong(at, "it is no object") };
    let Some(name) = api.get("api_name").and_then(PythonValue::as_text) else {
        return wrong(at, "it has no text `api_name`");
    };
    let Some(record) = api.get("output").and_then(PythonValue::as_dict) else {
        return wrong(at, "its `output` must be the record of the call");
    };
    // Missing fields become `None` below, so anything that is no record at all is rejected here.
    if !record.contains_key("output") && !record.contains_key("exception") {
        return wrong(at, "the record in `output` must have `output` or `exception`");
    }
    let part = |name: &str| record.get(name).cloned().unwrap_or_default();
    let record = ApiRecord {
        api_name: part("api_name").as_text().map(str::to_owned),
        input: part("input"),
        output: part("output"),
        exception: part("exception"),
    };
    let stated = ARGUMENTS.iter().find_map(|name| api.get(*name)?.as_dict());
    let arguments = stated.or_else(|| record.input.as_dict()).cloned().unwrap_or_else(Dict::new);
    Ok(RequiredCall { api: name.to_owned(), arguments, record, needs: Vec::new() })
}

/// What a model wrote for one gold call of a task, given all earlier calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPrediction {
    /// Index of the task in the file, from 0.
    pub task: usize,
    /// Index of the call in the task, from 0.
    pub call: usize,
    /// The text that should contain the call.
    pub text: String,
}

/// What a model wrote as its reply, with the gold reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyPrediction {
    /// The gold reply.
    pub gold: String,
    /// The model's reply.
    pub text: String,
}

/// Parses JSON lines with `sample_id`, `api_id` and `pred`.
///
/// # Errors
/// A line has another form; the error names the line.
pub fn read_calls(text: &str) -> Result<Vec<CallPrediction>, OriginalError> {
    lines(text, |line| {
        let number = |name: &str| match line.get(name)? {
            PythonValue::Int(number) => usize::try_from(*number).ok(),
            _ => None,
        };
        let text = line.get("pred")?.as_text()?.to_owned();
        Some(CallPrediction { task: number("sample_id")?, call: number("api_id")?, text })
    })
}

/// Parses JSON lines with `output`, the gold reply, and `pred`.
///
/// # Errors
/// A line has another form; the error names the line.
pub fn read_replies(text: &str) -> Result<Vec<ReplyPrediction>, OriginalError> {
    lines(text, |line| {
        let part = |name: &str| Some(line.get(name)?.as_text()?.to_owned());
        Some(ReplyPrediction { gold: part("output")?, text: part("pred")? })
    })
}

fn lines<T>(text: &str, read: impl Fn(&Dict) -> Option<T>) -> Result<Vec<T>, OriginalError> {
    if text.len() > BYTES_MAX {
        return wrong("the file", format!("it is longer than {BYTES_MAX} bytes"));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(place, line)| {
            let at = format!("line {}", place + 1);
            match serde_json::from_str::<Dict>(line) {
                Ok(dict) => read(&dict).map_or_else(|| wrong(&at, FORM), Ok),
                Err(error) => wrong(at, format!("it is no JSON object: {error}")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: &str = r#"[{"requirement": "Likes of post 1?", "response": "Ten.", "unknown": 1, "apis": [
        {"api_name": "ToolSearcher", "param_dict": {"keywords": "likes"}, "output":
            {"api_name": "ToolSearcher", "input": {"keywords": "likes"}, "output": {"name": "LikeCount"},
            "exception": null}},
        {"api_name": "LikeCount", "output":
            {"api_name": "LikeCount", "input": {"post_id": 1}, "output": {"like_count": 10}, "exception": null}}]}]"#;

    #[test]
    fn published_tasks_are_read() {
        let tasks = read_tasks(TASKS).unwrap();
        assert_eq!(tasks.len(), 1);
        assert_eq!((tasks[0].requirement.as_str(), tasks[0].reply.as_str()), ("Likes of post 1?", "Ten."));
        assert_eq!(tasks[0].calls[1].arguments["post_id"], PythonValue::Int(1));
        assert_eq!(tasks[0].origin, TaskOrigin::Published);
        assert_eq!(UserTask::read(&tasks[0].to_line()).unwrap(), tasks[0]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let refused = |text: &str| read_tasks(text).unwrap_err().to_string();
        assert_eq!(refused("{}"), "the file: it must be a list with an object for each task");
        assert_eq!(refused("[{}]"), "task 0: it has no list `apis`");
        let text = TASKS.replace("\"api_name\": \"LikeCount\", \"output\"", "\"output\"");
        assert_eq!(refused(&text), "task 0, call 1: it has no text `api_name`");
        let text = TASKS.replace("\"output\": {\"like_count\": 10}, \"exception\": null", "\"x\": 1");
        assert!(refused(&text).starts_with("task 0, call 1: the record in `output`"));
    }

    #[test]
    fn predictions_are_read_line_by_line() {
        let calls =
            read_calls("{\"sample_id\": 0, \"api_id\": 1, \"pred\": \"x\", \"more\": 1}\n\n").unwrap();
        assert_eq!(calls, [CallPrediction { task: 0, call: 1, text: "x".to_owned() }]);
        let error = read_calls("{\"sample_id\": -1, \"api_id\": 1, \"pred\": \"x\"}").unwrap_err();
        assert!(error.to_string().starts_with("line 1: calls need"));
        let replies = read_replies("{\"output\": \"a\", \"pred\": \"b\"}").unwrap();
        assert_eq!((replies[0].gold.as_str(), replies[0].text.as_str()), ("a", "b"));
    }
}
