//! The plan that a run produced: the agent's answer, or the calls that it, or the program in its answer, made.

use std::collections::HashSet;

use planproof_plan::{findings, read_json, read_python, to_json};
use planproof_trace::{Arguments, Author, Event, EventKind, PairedCall, paired_calls};
use serde_json::{Map, Value};

use crate::recorded::{RecordedCall, RecordedPlan};

#[derive(Debug, Clone, PartialEq)]
pub enum PredictedPlan {
    /// A list of nodes.
    Nodes(Value),
    /// A program, whose plan is read from its text.
    Program(String),
    /// Calls that were made, by an agent or by a program.
    Calls(RecordedPlan),
}

impl PredictedPlan {
    /// Whether it has no steps, and is therefore no plan.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Nodes(Value::Array(nodes)) => nodes.is_empty(),
            // A program that was carried out and called nothing is an answer all the same, and a wrong one.
            Self::Calls(made) => made.calls.is_empty() && made.program.is_none(),
            Self::Nodes(_) | Self::Program(_) => false,
        }
    }

    /// How the steps of a program were found; `None` for a plan of another form.
    pub(crate) fn way(&self) -> Option<ProgramWay> {
        match self {
            Self::Program(text) if read_python(text).is_ok_and(|program| program.plan.is_some()) => {
                Some(ProgramWay::Listed)
            }
            Self::Program(_) => Some(ProgramWay::Read),
            Self::Calls(RecordedPlan { program: Some(_), .. }) => Some(ProgramWay::CarriedOut),
            Self::Calls(_) | Self::Nodes(_) => None,
        }
    }
}

/// How the steps of a program were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramWay {
    /// It is a list of calls, which is read as it is written.
    Listed,
    /// It was carried out, and its calls are the steps.
    CarriedOut,
    /// It is more than a list of calls and was not carried out to its end, so it is read as far as it is written out.
    Read,
}

impl ProgramWay {
    /// The name in verdicts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::CarriedOut => "carried_out",
            Self::Read => "read",
        }
    }
}

/// How the execution of the plan went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionStatus {
    /// The whole plan was executed.
    Fine,
    Faulty,
    /// The sandbox lacks something that the program uses, so nothing is known about the plan.
    Unsupported,
    /// The plan was not executed.
    Not,
    /// Whether it was executed is not known, as of a finished prediction.
    Unknown,
}

/// The plan of a run that ended with this answer; `None` if there is none.
pub(crate) fn predicted(events: &[Event], answer: &str) -> Option<PredictedPlan> {
    match of_answer(answer, is_planned_program(events, answer)) {
        // Reading a program that is more than a list of calls is a guess; what it did is known.
        Some(PredictedPlan::Program(text)) => Some(match of_execution(events, &text) {
            Some(made) => PredictedPlan::Calls(made),
            None => PredictedPlan::Program(text),
        }),
        Some(plan) => Some(plan),
        None => {
            let made = RecordedPlan { calls: calls(events, |_| true), program: None };
            (!made.calls.is_empty()).then_some(PredictedPlan::Calls(made))
        }
    }
}

/// The calls that a program made when it was carried out as the last plan of a run; `None` if it is a list of calls,
/// which says as much, or was not carried out to its end.
fn of_execution(events: &[Event], program: &str) -> Option<RecordedPlan> {
    if read_python(program).ok()?.plan.is_some() {
        return None;
    }
    let place = |of: &str| {
        let is_of = |event: &Event| matches!(&event.kind, EventKind::Section { state, .. } if state == of);
        events.iter().rposition(is_of)
    };
    let (planned, executed) = (place(findings::PLAN)?, place(findings::EXECUTION)?);
    let is_fine = matches!(
        &events.get(executed)?.kind,
        EventKind::Section { author: Author::Environment, note, .. } if note == findings::FINE
    );
    (is_fine && planned < executed)
        .then(|| made_by(program, events, |place| (planned..executed).contains(&place)))
}

/// The calls that a program made, as far as they had an effect: a program may catch the error of a call that was
/// refused, and make another one.
pub(crate) fn made_by(
    program: &str,
    events: &[Event],
    is_of_program: impl Fn(usize) -> bool,
) -> RecordedPlan {
    let refused: HashSet<usize> = paired_calls(events)
        .into_iter()
        .filter(|paired| paired.result.is_none_or(|(_, result)| result.is_error))
        .map(|paired| paired.place)
        .collect();
    let calls = calls(events, |place| is_of_program(place) && !refused.contains(&place));
    RecordedPlan { calls, program: Some(program.to_owned()) }
}

/// Whether an answer is the plan that a planning agent noted last, and no JSON: then it is a program, whatever it looks
/// like.
fn is_planned_program(events: &[Event], answer: &str) -> bool {
    let planned = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Section { state, author: Author::Model, text, .. } if state == findings::PLAN => {
            Some(text)
        }
        _ => None,
    });
    planned.is_some_and(|text| text == answer) && !answer.trim_start().starts_with(['{', '['])
}

/// The plan in an answer.
fn of_answer(answer: &str, is_program: bool) -> Option<PredictedPlan> {
    if is_program || answer.contains("def solve") || answer.contains("```python") {
        return read_python(answer).ok().map(|program| PredictedPlan::Program(program.text));
    }
    // Numbers and empty lists parse too, but they occur in answers of other kinds.
    let plan = answer.contains(['{', '[']).then(|| read_json(answer).ok()).flatten()?;
    let is_plan = !plan.steps.is_empty() || answer.trim_start().starts_with(['{', '[']);
    if is_plan {
        return Some(PredictedPlan::Nodes(to_json(&plan)));
    }
    None
}

/// The calls at these places among the events.
fn calls(events: &[Event], is_wanted: impl Fn(usize) -> bool) -> Vec<RecordedCall> {
    let wanted = paired_calls(events).into_iter().filter(|paired| is_wanted(paired.place));
    let call = |paired: PairedCall<'_>| {
        let arguments = match &paired.call.arguments {
            Arguments::Object(object) => object.clone(),
            // A call whose arguments cannot be read is a step all the same.
            Arguments::Malformed(_) => Map::new(),
        };
        let result = paired.result.map(|(_, result)| result.text.as_str());
        RecordedPlan::call(&paired.call.name, arguments, result)
    };
    wanted.map(call).collect()
}

/// How the execution of the run's plan went.
pub(crate) fn executed(events: &[Event]) -> ExecutionStatus {
    let notes = events.iter().rev().filter_map(|event| match &event.kind {
        EventKind::Section { state, author: Author::Environment, note, .. }
            if state == findings::EXECUTION =>
        {
            Some(note.as_str())
        }
        _ => None,
    });
    // The last execution counts: those before it were of plans that the model then wrote again.
    match notes.into_iter().next() {
        Some(findings::FINE) => return ExecutionStatus::Fine,
        Some(findings::UNSUPPORTED) => return ExecutionStatus::Unsupported,
        Some(_) => return ExecutionStatus::Faulty,
        None => {}
    }
    // No plan was executed as a whole, so the calls that the agent made itself count.
    let calls = paired_calls(events);
    if calls.is_empty() {
        return ExecutionStatus::Not;
    }
    let is_fine = calls.iter().all(|call| call.result.is_some_and(|(_, result)| !result.is_error));
    if is_fine { ExecutionStatus::Fine } else { ExecutionStatus::Faulty }
}

/// The exceptions that a program raises whatever its tools return.
const OWN_EXCEPTIONS: [&str; 5] =
    ["NameError", "UnboundLocalError", "ZeroDivisionError", "RecursionError", "SystemExit"];

/// Whether a program that did not come to its end, as this sentence says, breaks whatever its tools return: tools that
/// are simulated give values that a right program need not be able to use.
pub(crate) fn is_broken(program: &str, how: &str, events: &[Event]) -> bool {
    let raised = how.strip_prefix(findings::RAISED);
    let has_result = events.iter().any(|event| matches!(event.kind, EventKind::Result(_)));
    if !has_result {
        return raised.is_some() || how.starts_with(findings::LIMIT_REACHED);
    }
    let Some(raised) = raised else { return false };
    let name = raised.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    // A key that the program itself spells out is one that it expects of a tool, and a simulated tool has all keys that
    // the tool is said to have.
    let key =
        || raised.rsplit(": ").next().unwrap_or_default().trim_end_matches('.').trim_matches(['\'', '"']);
    let is_spelled =
        || ['\'', '"'].iter().any(|quote| program.contains(&format!("[{quote}{}{quote}]", key())));
    OWN_EXCEPTIONS.contains(&name) || name == "KeyError" && is_spelled()
}

/// Whether the last execution of a run was that of a program that [breaks](is_broken) whatever its tools return.
pub(crate) fn is_broken_run(program: &str, events: &[Event]) -> bool {
    let last = events.iter().enumerate().rev().find_map(|(place, event)| match &event.kind {
        EventKind::Section { state, author: Author::Environment, text, note }
            if state == findings::EXECUTION =>
        {
            Some((place, text, note))
        }
        _ => None,
    });
    let is_plan =
        |event: &Event| matches!(&event.kind, EventKind::Section { state, .. } if state == findings::PLAN);
    let Some((end, how, note)) = last else { return false };
    let begin = events[..end].iter().rposition(is_plan).unwrap_or_default();
    note == findings::FAULTY && is_broken(program, how, &events[begin..end])
}

/// The number of findings of a kind, by the states in [`findings`].
pub(crate) fn faults(events: &[Event], state: &str) -> u32 {
    let is_fault = |event: &&Event| matches!(&event.kind, EventKind::Section { state: of, note, .. } if of == state && note == findings::FAULTY);
    u32::try_from(events.iter().filter(is_fault).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use planproof_trace::notation::parse;

    use super::*;

    #[test]
    fn a_program_breaks_of_itself_or_of_a_value() {
        let none = parse("query \"q\"").expect("events");
        let some = parse("query \"q\" | call count {} | ok \"{}\"").expect("events");
        let program = "a['text'], b[\"label\"], {'up': 1}[c]";
        // How it ended, and whether that counts before and after the first result.
        let table = [
            ("the program raised ValueError (line 3): no.", true, false),
            ("the program reached the limit of its time.", true, false),
            ("the program was refused, because it has `input(`.", false, false),
            ("the program broke its interpreter: killed.", false, false),
            ("the program raised NameError (line 2): name 'x' is not defined.", true, true),
            ("the program raised ZeroDivisionError: division by zero.", true, true),
            ("the program raised KeyError (line 1): 'text'.", true, true),
            ("the program raised KeyError (line 1): label.", true, true),
            ("the program raised KeyError (line 1): 'a picture of 3'.", true, false),
            ("the program raised KeyError (line 1): 'up'.", true, false),
            ("the program raised TypeError: no.", true, false),
        ];
        for (how, before, after) in table {
            assert_eq!(
                (is_broken(program, how, &none), is_broken(program, how, &some)),
                (before, after),
                "{how}"
            );
        }
    }
}
