//! The published tasks of level 3, `level-3.json`, and files of predictions for them.
//!
//! The file is not part of planproof. It is a list with an object for each task: `requirement`, `response`, and the
//! calls in order as `apis`, each with `api_name`, its arguments as the file's authors wrote them (`input`), and the
//! whole record of the call (`output`). Names that other versions of the file may have are accepted as well.
//!
//! The file does not say which call needs which. We infer it: a call needs the search that found its tool, and, for
//! each of its arguments whose value the requirement does not name, the first call whose result has this value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};

use super::SEARCHER;
use super::reply::leaves;
use super::task::{RequiredCall, TaskOrigin, UserTask};
use super::task_data::{TaskData, is_tool};

/// Longest file, in bytes.
pub const BYTES_MAX: usize = 256 * 1024 * 1024;

/// Possible names of a task's requirement.
const REQUIREMENT: [&str; 3] = ["requirement", "instruction", "query"];

/// Possible names of the reply.
const REPLY: [&str; 2] = ["response", "reply"];

/// Possible names of a call's arguments.
const ARGUMENTS: [&str; 2] = ["param_dict", "input"];

/// What the kind of all published tasks is called.
pub const PUBLISHED_KIND: &str = "published";

/// The expected form of lines with predictions.
const FORM: &str =
    "calls need numbers `sample_id` and `api_id` and a text `pred`, replies texts `output` and `pred`";

/// A file that does not contain tasks or predictions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}{}{what}", if at.is_empty() { "" } else { ": " })]
pub struct OriginalError {
    /// The position in the file; empty if it is about the whole file.
    pub at: String,
    /// What is wrong at this position.
    pub what: String,
}

fn wrong<T>(at: impl Into<String>, what: impl Into<String>) -> Result<T, OriginalError> {
    Err(OriginalError { at: at.into(), what: what.into() })
}

/// Parses the tasks in the text of a `level-3.json`, with ids starting at `level3-original-0`. `apis` are the files of
/// the published folder `lv3_apis`, by name. Without them the tools know what the tasks record ([`TaskData`]).
///
/// # Errors
/// The text is too long, or is not JSON of this form; the error names the task and the call, from 0. A file of
/// `apis` cannot be read.
pub fn read_tasks(text: &str, apis: &BTreeMap<String, String>) -> Result<Vec<UserTask>, OriginalError> {
    if text.len() > BYTES_MAX {
        return wrong("", format!("it is longer than {BYTES_MAX} bytes"));
    }
    let value: PythonValue = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return wrong("", format!("it is no JSON: {error}")),
    };
    let Some(samples) = value.as_list() else {
        return wrong("", "it must be a list with an object for each task");
    };
    let tasks = samples.iter().enumerate().map(|(place, sample)| task(place, sample));
    let mut tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    let data = match apis.is_empty() {
        true => TaskData::of_records(tasks.iter().flat_map(|task| &task.calls)),
        false => TaskData::of_source(apis).map_err(|what| OriginalError { at: APIS.to_owned(), what })?,
    };
    let data = Arc::new(data);
    tasks.iter_mut().for_each(|task| task.data = Some(Arc::clone(&data)));
    Ok(tasks)
}

/// The folder with the published tools.
pub const APIS: &str = "lv3_apis";

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
    let mut task = UserTask {
        id: UserTask::published_id(place),
        kind: PUBLISHED_KIND.to_owned(),
        origin: TaskOrigin::Published,
        requirement: text(&REQUIREMENT),
        calls: calls?,
        reply: text(&REPLY),
        asks: Vec::new(),
        data: None,
    };
    infer_needs(&mut task);
    for (what, text, names) in
        [("requirement", &task.requirement, REQUIREMENT[0]), ("reply", &task.reply, REPLY[0])]
    {
        if text.trim().is_empty() {
            return wrong(at, format!("it has no {what}, which belongs into `{names}`"));
        }
    }
    match task.check() {
        Ok(()) => Ok(task),
        Err(error) => wrong(at, error.to_string()),
    }
}

/// Infers which calls each call needs.
fn infer_needs(task: &mut UserTask) {
    let results: Vec<BTreeSet<String>> =
        task.calls.iter().map(|call| leaves_of(&call.record.output)).collect();
    let is_named = |value: &String| task.requirement.contains(value.as_str());
    let needs = task.calls.iter().enumerate().map(|(place, call)| {
        if call.api == SEARCHER {
            return Vec::new();
        }
        let before = || task.calls.iter().zip(&results).enumerate().take(place);
        let finds = |found: &RequiredCall| {
            let name = found.record.output.as_dict().and_then(|it| it.get("name")?.as_text());
            found.api == SEARCHER && name == Some(&call.api)
        };
        let search = before().find(|(_, (found, _))| finds(found)).map(|(place, _)| place);
        let values = leaves_of(&call.record.input);
        let sources = values.iter().filter(|value| !is_named(value)).filter_map(|value| {
            let has = |found: &RequiredCall, result: &BTreeSet<String>| {
                found.api != SEARCHER && result.contains(value)
            };
            before().find(|(_, (found, result))| has(found, result)).map(|(place, _)| place)
        });
        search.into_iter().chain(sources).collect::<BTreeSet<usize>>().into_iter().collect()
    });
    let needs: Vec<Vec<usize>> = needs.collect();
    for (call, needs) in task.calls.iter_mut().zip(needs) {
        call.needs = needs;
    }
}

/// The texts and numbers in a value. A number is the same whether it is whole or has the decimal `.0`.
fn leaves_of(value: &PythonValue) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    leaves(value, &mut found);
    found.into_iter().map(|text| text.strip_suffix(".0").map_or(text.clone(), str::to_owned)).collect()
}

fn call(at: &str, api: &PythonValue) -> Result<RequiredCall, OriginalError> {
    let Some(api) = api.as_dict() else { return wrong(at, "it is no object") };
    let Some(name) = api.get("api_name").and_then(PythonValue::as_text) else {
        return wrong(at, "it has no text `api_name`");
    };
    if !is_tool(name) {
        return wrong(at, format!("level 3 has no tool `{name}`"));
    }
    let Some(record) = api.get("output").and_then(PythonValue::as_dict) else {
        return wrong(at, "its `output` must be the record of the call");
    };
    // Missing fields become `None` below, so anything that is not a record at all is rejected here.
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
    pub gold: String,
    pub text: String,
}

/// Parses JSON lines with `sample_id`, `api_id` and `pred`.
///
/// # Errors
/// A line has another form; the error names the line.
pub fn read_calls(text: &str) -> Result<Vec<CallPrediction>, OriginalError> {
    lines(text, |line| {
        // The published inputs of models, which predictions are often added to, have the numbers as texts.
        let number = |name: &str| match line.get(name)? {
            PythonValue::Int(number) => usize::try_from(*number).ok(),
            PythonValue::Text(number) => number.parse().ok(),
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
        return wrong("", format!("it is longer than {BYTES_MAX} bytes"));
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
        let tasks = read_tasks(TASKS, &BTreeMap::new()).unwrap();
        assert_eq!(tasks.len(), 1);
        assert_eq!((tasks[0].requirement.as_str(), tasks[0].reply.as_str()), ("Likes of post 1?", "Ten."));
        assert_eq!(tasks[0].calls[1].arguments["post_id"], PythonValue::Int(1));
        assert_eq!(tasks[0].origin, TaskOrigin::Published);
        assert_eq!(UserTask::read(&tasks[0].to_line()).unwrap(), tasks[0]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let refused = |text: &str| read_tasks(text, &BTreeMap::new()).unwrap_err().to_string();
        assert_eq!(refused("{}"), "it must be a list with an object for each task");
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
