//! Orders and topics from files, and what is wrong with them.

use std::path::Path;
use std::sync::Arc;

use planproof_order::OrderSuite;
use planproof_order::synth::file::read_case;
use planproof_order::synth::{PlanningCase, SynthesisError, TopicBank};
use planproof_output::failure::Failure;
use planproof_output::nearest::near;
use planproof_output::secrets;
use planproof_output::terminal::inline;
use planproof_output::text_files::{read_large_text, read_text};
use planproof_suite::Case;
use planproof_suite::runs::shortened;
use planproof_tools::SchemaCache;

use serde::de::IgnoredAny;

/// What synthesis calls its options, and what they are on the command line.
const SYNTHESIS_OPTIONS: [(&str, &str); 8] = [
    ("actions", "--actions"),
    ("turns", "--turns"),
    ("distractors", "--distractors"),
    ("sentences", "--sentences-max"),
    ("sub-sentences", "--sub-sentences-max"),
    ("list length", "--list-max"),
    ("relative depth", "--relative-depth"),
    ("tries", "--tries-max"),
];

/// Reads case v1 lines. Blank lines are ignored; there must be at least one case, and ids must differ.
pub fn read_cases(path: &Path) -> Result<Vec<PlanningCase>, Failure> {
    let text = read_large_text(path)?;
    let mut cases: Vec<PlanningCase> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    // A single case may be spread over several lines by an editor or a JSON tool.
    if text.trim().contains('\n') && serde_json::from_str::<IgnoredAny>(&text).is_ok() {
        let case = read_case(&text)
            .map_err(|error| Failure::usage(format!("{}: {}", path.display(), inline(&error.to_string()))))?;
        refuse_keys(&case)?;
        return Ok(vec![case]);
    }
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}, line {}", path.display(), number + 1);
        let case = read_case(line).map_err(|error| {
            // For JSON, which is read by the line, every line is the first.
            let error = error.to_string().replace(" at line 1 column ", " at column ");
            Failure::usage(format!(
                "{}: {}; each line is a case as `planproof synth` writes it",
                place(),
                inline(&error)
            ))
        })?;
        refuse_keys(&case)?;
        if !ids.insert(case.id.clone()) {
            let id = inline(&case.id);
            return Err(Failure::usage(format!("{}: there is a case \"{id}\" already", place())));
        }
        cases.push(case);
    }
    if cases.is_empty() {
        return Err(Failure::usage(format!("{} holds no case", path.display())));
    }
    Ok(cases)
}

/// Refuses a case that contains one of our keys, if we have any.
pub(super) fn refuse_keys(case: &PlanningCase) -> Result<(), Failure> {
    if secrets::held().is_empty() {
        return Ok(());
    }
    secrets::refuse_keys(&*OrderSuite::default().wrap(case.clone()))
}

/// Characters of a fault of a file of topics.
const TOPIC_ERROR_CHARACTERS_MAX: usize = 400;

/// The topics of a file, or those that come with planproof. The schemas of a user's own tools can be used.
pub fn topic_bank(path: Option<&Path>) -> Result<TopicBank, Failure> {
    let Some(path) = path else { return Ok(TopicBank::shipped().clone()) };
    let fail = |what: String| Failure::usage(format!("--topics {}: {what}", path.display()));
    let bank = TopicBank::from_json(&read_text(path)?).map_err(|error| {
        // It quotes the file, in which a text can have any length.
        let error = shortened(&error.to_string(), TOPIC_ERROR_CHARACTERS_MAX);
        fail(format!("{error}; `planproof topics --json` shows the form of such a file"))
    })?;
    let schemas = SchemaCache::default();
    for tool in bank.topics().iter().flat_map(|topic| &topic.activities).filter_map(|it| it.tool.as_ref()) {
        // Otherwise an unusable schema would only show when a run calls the tool.
        schemas.check_schema(&tool.input_schema).map_err(|reason| {
            fail(format!("the input schema of tool `{}` cannot be used: {reason}", tool.name))
        })?;
    }
    Ok(bank)
}

/// The cases of a file of case v1 lines.
///
/// # Errors
/// Those of [`read_cases`].
pub fn cases_of(path: &Path) -> Result<Vec<Arc<dyn Case>>, Failure> {
    Ok(wrapped(read_cases(path)?))
}

/// Cases of a file as the engine sees them.
pub fn wrapped(cases: Vec<PlanningCase>) -> Vec<Arc<dyn Case>> {
    let suite = OrderSuite::default();
    cases.into_iter().map(|case| -> Arc<dyn Case> { suite.wrap(case) }).collect()
}

/// One case of such a file: the one with that id, or the only one.
///
/// # Errors
/// Those of [`read_cases`]; there is no such case, or none is named and there are several.
pub fn case_of(path: &Path, id: Option<&str>) -> Result<Arc<dyn Case>, Failure> {
    Ok(OrderSuite::default().wrap(pick_case(read_cases(path)?, id)?))
}

/// One case of a file: the one with that id, or the only one.
pub fn pick_case(cases: Vec<PlanningCase>, id: Option<&str>) -> Result<PlanningCase, Failure> {
    let count = cases.len();
    let mut found = cases.into_iter().filter(|case| id.is_none_or(|id| case.id == id));
    match (found.next(), id) {
        (Some(_), None) if count > 1 => {
            Err(Failure::usage(format!("the file holds {count} cases; choose one with --id")))
        }
        (Some(case), _) => Ok(case),
        (None, id) => Err(Failure::usage(format!("the file has no case \"{}\"", id.unwrap_or_default()))),
    }
}

/// That there is no such topic, with the one that was probably meant.
pub(super) fn no_topic(job: &str, bank: &TopicBank) -> Failure {
    let jobs = bank.topics().iter().map(|topic| topic.job.as_str());
    Failure::usage(match near(job, jobs) {
        Some(meant) => format!(
            "no topic \"{job}\" in the topic bank: did you mean \"{meant}\"? `planproof topics` lists them"
        ),
        None => format!("no topic \"{job}\" in the topic bank; `planproof topics` lists them"),
    })
}

/// Why cases cannot be synthesised from this bank.
pub(super) fn no_synthesis(error: SynthesisError, bank: &TopicBank) -> Failure {
    match error {
        SynthesisError::UnknownTopic { job } => no_topic(&job, bank),
        other => synthesis_failure(other),
    }
}

/// Why they cannot be synthesised, where the bank is not at fault.
pub fn synthesis_failure(error: SynthesisError) -> Failure {
    match error {
        SynthesisError::Option { option, value, range } => {
            let named = |name: &&(&str, &str)| name.0 == option;
            let option = SYNTHESIS_OPTIONS.iter().find(named).map_or(option, |(_, option)| option);
            Failure::usage(format!("{option} is {value}; it must be {range}"))
        }
        other => Failure::usage(other.to_string()),
    }
}
