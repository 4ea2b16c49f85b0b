//! Tasks from data: published lines, lines of cases, and our own tasks.

use std::collections::HashSet;

use planproof_plan::{StepFault, read_json, verify};
use planproof_suite::{CaseError, Data};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::Literal;
use crate::case::{ID_PREFIX, OWN_ID_PREFIX, RequestCase};
use crate::examples::{CorpusError, RequestExample, examples, lines};

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
        let task = RequestCase::read(line).map_err(|CaseError { what, .. }| refuse(&what))?;
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
    let alternatives: Vec<Value> = alternatives.iter().flatten().map(Literal::to_json).collect();
    let refuse = |what: String| CaseError::new(format!("{file}: the example {id}: {what}"));
    // Against a plan that nobody can carry out every prediction would be wrong, and it is no fault of theirs.
    let fits = |which: &str, plan: &Value| -> Result<(), CaseError> {
        let plan = read_json(&plan.to_string()).map_err(|fault| refuse(format!("{which}: {fault}")))?;
        let faults = verify(&plan, crate::catalogue());
        match faults.iter().find(|fault| is_broken(&fault.problem)) {
            None => Ok(()),
            Some(issue) => Err(refuse(format!("{which} does not fit the tools: {issue}"))),
        }
    };
    let plan = plan.to_json();
    let case = RequestCase::new(&format!("{prefix}{id}"), request, plan.clone(), code, alternatives.clone())
        .map_err(|CaseError { what, .. }| refuse(what))?;
    fits("the right plan", &plan)?;
    for (place, plan) in alternatives.iter().enumerate() {
        fits(&format!("plan {} of `alt_plans_str`", place + 1), plan)?;
    }
    Ok(case)
}

/// Whether nobody can carry out a plan with this fault. Which outputs a tool may take is not held against the data,
/// whose authors make alternatives by exchanging tools.
fn is_broken(fault: &StepFault) -> bool {
    matches!(
        fault,
        StepFault::NoStep
            | StepFault::ToolUnknown { .. }
            | StepFault::ArgumentUnknown { .. }
            | StepFault::ArgumentMissing { .. }
            | StepFault::ArgumentTwice { .. }
            | StepFault::ArgumentsTooMany { .. }
            | StepFault::IdTwice { .. }
            | StepFault::ReferenceMalformed { .. }
            | StepFault::StepMissing { .. }
            | StepFault::StepNotEarlier { .. }
    )
}

#[cfg(test)]
mod tests {
    use planproof_plan::{read_python, to_json};

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
    fn a_right_plan_that_does_not_fit_the_tools_is_an_error() {
        let read = |plan: &str, alternatives: &str| {
            let [plan, alternatives] = [plan, alternatives].map(Value::from);
            let line = format!(
                r#"{{"id": 7, "user_request": "x", "plan_str": {plan}, "alt_plans_str": {alternatives}}}"#
            );
            read(Data { text: &line, file: "f" })
        };
        let step =
            |id: &str, name: &str, args: &str| format!("{{'id': {id}, 'name': '{name}', 'args': {args}}}");
        let right = format!("[{}]", step("0", "image generation", "{'text': 'x'}"));
        assert!(read(&right, &format!("[{right}]")).is_ok());
        for (plan, what) in [
            (format!("[{}]", step("0", "nope", "{}")), "nope"),
            (format!("[{}]", step("0", "image generation", "{}")), "text"),
            (format!("[{}]", step("0", "image generation", "{'text': '<node-5>.text'}")), "5"),
            (format!("[{}]", step("0", "image generation", "{'text': '<node-x>.text'}")), "x"),
            (format!("[{0}, {0}]", step("0", "image generation", "{'text': 'x'}")), "0"),
            (format!("[{}]", step("'q'", "image generation", "{'text': 'x'}")), "`id` of step 1"),
        ] {
            let error = read(&plan, "[]").unwrap_err().what;
            assert!(error.starts_with("f: the example 7: the") && error.contains(what), "{error}");
            let error = read(&right, &format!("[{right}, {plan}]")).unwrap_err().what;
            assert!(error.starts_with("f: the example 7: plan 2 of `alt_plans_str`"), "{error}");
            assert!(error.contains(what), "{error}");
        }
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
