//! Tasks from data: published lines, lines of cases, and our own tasks.

use std::collections::HashSet;

use planproof_suite::{CaseError, Data};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Literal;
use crate::case::RequestCase;
use crate::examples::{CorpusError, RequestExample, examples, lines};

/// The prefix of published examples' ids, followed by their number in the data.
pub const ID_PREFIX: &str = "mnms-";

/// The prefix of our own tasks' ids.
pub const OWN_ID_PREFIX: &str = "mnms-own-";

/// The number in the data, taken from the end of a case's id.
pub(crate) fn number(id: &str) -> Option<i64> {
    // The longer prefix goes first, because it begins with the other one.
    id.strip_prefix(OWN_ID_PREFIX).or_else(|| id.strip_prefix(ID_PREFIX))?.parse().ok()
}

const OWN: &str = include_str!("../data/own.jsonl");

/// Reads the tasks of a file, in the published format or as lines of cases, in file order.
///
/// # Errors
/// The first line that is not a task, with its position.
pub(crate) fn read(data: Data<'_>) -> Result<Vec<RequestCase>, CaseError> {
    if is_of_cases(data.text) { cases(data) } else { tasks(data, ID_PREFIX) }
}

/// Whether a text contains lines of cases, which name their schema, rather than published lines. Its first non-blank
/// line decides.
pub(crate) fn is_of_cases(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "schema")]
        _schema: IgnoredAny,
    }
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| serde_json::from_str::<Named>(line).is_ok())
}

fn cases(Data { text, file }: Data<'_>) -> Result<Vec<RequestCase>, CaseError> {
    let (mut tasks, mut ids) = (Vec::new(), HashSet::new());
    for line in lines(text, file) {
        let (number, line) = line.map_err(|error| CaseError::new(error.to_string()))?;
        let refuse = |what: &str| CaseError::new(format!("{file}:{number}: {what}"));
        let task = RequestCase::read(line).map_err(|CaseError { what }| refuse(&what))?;
        if !ids.insert(task.id().to_owned()) {
            return Err(refuse(&format!("there is a case {} already", task.id())));
        }
        tasks.push(task);
    }
    Ok(tasks)
}

/// Twelve tasks of our own, so that a first try needs no download.
///
/// # Errors
/// None; the data is embedded and tested.
pub(crate) fn own() -> Result<Vec<RequestCase>, CaseError> {
    tasks(Data { text: OWN, file: "own.jsonl" }, OWN_ID_PREFIX)
}

fn tasks(data: Data<'_>, prefix: &str) -> Result<Vec<RequestCase>, CaseError> {
    let examples = examples(data.text, data.file);
    let task = |example: Result<RequestExample, CorpusError>| match example {
        Ok(example) => task(&example, prefix, data.file),
        Err(error) => Err(CaseError::new(error.to_string())),
    };
    examples.map(task).collect()
}

fn task(example: &RequestExample, prefix: &str, file: &str) -> Result<RequestCase, CaseError> {
    let RequestExample { id, request, plan, code, alternatives } = example;
    let alternatives = alternatives.iter().flatten().map(Literal::to_json).collect();
    RequestCase::new(&format!("{prefix}{id}"), request, plan.to_json(), code, alternatives)
        .map_err(|CaseError { what }| CaseError::new(format!("{file}: the example {id}: {what}")))
}

#[cfg(test)]
mod tests {
    use planproof_plan::{read_json, read_python, to_json, verify};

    use super::*;

    #[test]
    fn lines_of_cases_are_data_too() {
        let line = |task: &RequestCase| planproof_suite::Case::to_line(task);
        let own = own().unwrap();
        let text: String = own.iter().map(|task| format!("\n{}\n", line(task))).collect();
        assert_eq!(read(Data { text: &text, file: "f" }).unwrap(), own);
        for (more, what) in [
            (line(&own[3]), "f:25: there is a case mnms-own-4 already"),
            ("{}".to_owned(), "f:25: the line names no schema"),
            (line(&own[3]).replace("mnms/v1", "mnms/v9"), "f:25: the case has schema `planproof/mnms/v9`"),
        ] {
            let text = format!("{text}{more}");
            let error = read(Data { text: &text, file: "f" }).unwrap_err();
            assert!(error.what.starts_with(what), "{error}");
        }
        // A published line among cases is an error, and so is a case among published lines.
        let published = r#"{"id": 1, "user_request": "x", "plan_str": "[]"}"#;
        assert!(read(Data { text: &format!("{text}{published}"), file: "f" }).is_err());
        assert!(read(Data { text: &format!("{published}\n{text}"), file: "f" }).is_err());
    }

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
