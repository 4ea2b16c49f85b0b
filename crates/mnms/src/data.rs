//! Tasks from data: the published lines, and those of our own.

use planproof_suite::{CaseError, Data};

use crate::Literal;
use crate::case::Task;
use crate::examples::{Example, read_examples};

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

fn tasks(data: Data<'_>, prefix: &str) -> Result<Vec<Task>, CaseError> {
    let examples = read_examples(data.text, data.file).map_err(|error| CaseError::new(error.to_string()))?;
    examples.into_iter().map(|example| task(&example, prefix, data.file)).collect()
}

fn task(example: &Example, prefix: &str, file: &str) -> Result<Task, CaseError> {
    let Example { id, request, plan, code, alternatives } = example;
    let alternatives = alternatives.iter().flatten().map(Literal::to_json).collect();
    Task::new(&format!("{prefix}{id}"), request, plan.to_json(), code, alternatives)
        .map_err(|CaseError { what }| CaseError::new(format!("{file}: the example {id}: {what}")))
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
