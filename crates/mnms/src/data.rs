//! Tasks from data: the published lines, and those of our own.

use std::fmt;

use planproof_suite::{CaseError, Data};
use serde::Deserialize;
use serde_json::Value;

use crate::Literal;
use crate::case::Task;

/// Longest line, in bytes.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Most lines of a file.
pub const LINES_MAX: usize = 100_000;

/// What ids of published examples begin with; the number of the data follows.
pub const ID_PREFIX: &str = "mnms-";

/// What ids of tasks of our own begin with.
pub const OWN_ID_PREFIX: &str = "mnms-own-";

const OWN: &str = include_str!("../data/own.jsonl");

/// The tasks of a file in the published format, in its order.
///
/// # Errors
/// The first line that is no task, with its place.
pub(crate) fn read(data: Data<'_>) -> Result<Vec<Task>, CaseError> {
    tasks(data, ID_PREFIX)
}

/// Twelve tasks of our own, so that a first try needs no download.
///
/// # Errors
/// None; the data is embedded and tested.
pub(crate) fn own() -> Result<Vec<Task>, CaseError> {
    tasks(Data { text: OWN, file: "own.jsonl" }, OWN_ID_PREFIX)
}

/// A line of the data. What else stands there is of no concern.
#[derive(Deserialize)]
struct Row {
    id: Value,
    user_request: String,
    /// A Python literal: a list of nodes.
    plan_str: String,
    #[serde(default)]
    code_str: Option<String>,
    /// A Python literal: a list of such lists.
    #[serde(default)]
    alt_plans_str: Option<String>,
}

fn tasks(data: Data<'_>, prefix: &str) -> Result<Vec<Task>, CaseError> {
    let text = data.text.strip_prefix('\u{feff}').unwrap_or(data.text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(place, line): (usize, &str)| {
        let refuse = |what: &dyn fmt::Display| CaseError::new(format!("{}:{}: {what}", data.file, place + 1));
        if place >= LINES_MAX {
            return Err(refuse(&format_args!("there are more than {LINES_MAX} lines")));
        }
        if line.len() > LINE_BYTES_MAX {
            return Err(refuse(&format_args!("the line is longer than {LINE_BYTES_MAX} bytes")));
        }
        let row: Row = serde_json::from_str(line).map_err(|error| refuse(&error))?;
        task(row, prefix).map_err(|what| refuse(&what))
    };
    lines.map(read).collect()
}

fn task(row: Row, prefix: &str) -> Result<Task, String> {
    let id = match &row.id {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err("the `id` is no number or text".to_owned()),
    };
    let plan = Literal::from_python(&row.plan_str).map_err(|error| format!("`plan_str`: {error}"))?;
    let alternatives = match row.alt_plans_str.as_deref().map(str::trim) {
        None | Some("" | "None") => Vec::new(),
        Some(text) => {
            let all = Literal::from_python(text).map_err(|error| format!("`alt_plans_str`: {error}"))?;
            let all = all.as_list().ok_or("`alt_plans_str` is no list of plans")?;
            all.iter().map(Literal::to_json).collect()
        }
    };
    let code = row.code_str.unwrap_or_default();
    let task = Task::new(&format!("{prefix}{id}"), &row.user_request, plan.to_json(), &code, alternatives);
    task.map_err(|CaseError { what }| what)
}

#[cfg(test)]
mod tests {
    use planproof_plan::{read_json, read_python, to_json, verify};

    use super::*;

    #[test]
    fn tasks_of_our_own_are_whole_and_fit_the_tools() {
        let tasks = own().unwrap();
        assert_eq!((tasks.len(), tasks[11].id()), (12, "mnms-own-12"));
        for task in tasks {
            let plan = read_json(&task.plan().to_string()).unwrap();
            assert_eq!(verify(&plan, crate::catalogue()), [], "{}", task.id());
            let program = read_python(task.code()).unwrap();
            assert_eq!(program.plan.map(|plan| to_json(&plan)), Some(to_json(&plan)), "{}", task.id());
        }
    }
}
