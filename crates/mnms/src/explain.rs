//! A verdict in words.

use planproof_plan::to_line;
use planproof_suite::runs::{call_notes, gist_beside_answer, on_one_line, shortened};
use planproof_suite::{Case, Content, EventNote, Explanation, Fact, SequenceStep, Verdict};
use planproof_trace::{Event, paired_calls};
use serde_json::{Map, Value, json};

use crate::case::RequestCase;
use crate::entailment::JudgedValue;
use crate::judge::PlanDetail;
use crate::prediction::ProgramWay;

/// Maximum number of characters of an answer that a gist quotes.
const GIST_CHARACTERS_MAX: usize = 120;

pub(crate) fn explain(task: &RequestCase, verdict: &Verdict) -> Explanation {
    let text = task.request().to_owned();
    let Some(detail) = PlanDetail::of(verdict) else { return Explanation::of_class(text, verdict) };
    let right = right_steps(task);
    let mut facts = vec![planned(&detail, &right)];
    if detail.program.is_some() && detail.way.as_deref() == Some(ProgramWay::CarriedOut.name()) {
        facts.push(steps("called", &detail, &right));
    }
    facts.extend(Fact::ends("answered", detail.answer.as_ref()));
    facts.push(Fact::steps("right", right.iter().map(|text| SequenceStep::new(text, false)), 0));
    if let Some(executed) = executed(&detail) {
        facts.push(Fact::text("executed", executed));
    }
    if let Some(results) = &detail.results {
        facts.push(Fact::text("results", format!("beside the right plan's: {}", results.in_words())));
    }
    if let Some(found) = found(&detail) {
        facts.push(Fact::text("faults", found));
    }
    if !detail.judged.is_empty() {
        facts.push(Fact::text("judged", judged(&detail.judged)));
    }
    facts.extend(Fact::ends("ended", detail.ended.as_ref()));
    Explanation {
        text,
        gist: gist(task, &detail),
        answer: detail.plan_in_words(),
        facts,
        ..Explanation::default()
    }
}

/// What went wrong, in one line.
fn gist(task: &RequestCase, detail: &PlanDetail) -> String {
    let class = detail.class.as_deref();
    if let Some(gist) = gist_beside_answer(class, detail.ended.as_ref()) {
        return gist;
    }
    if class == Some("no_plan") {
        let answer = on_one_line(detail.answer.as_deref().unwrap_or_default());
        return format!("no plan in the answer: {}", shortened(&answer, GIST_CHARACTERS_MAX));
    }
    let right = right_steps(task).join("; ");
    // What a program did says more than its text.
    let planned = match detail.steps.is_empty() {
        true => detail.plan_in_words(),
        false => detail.steps.join("; "),
    };
    format!("planned {}, right is {right}", shortened(&planned, 2 * GIST_CHARACTERS_MAX))
}

fn right_steps(task: &RequestCase) -> Vec<String> {
    let plan = task.right_plan().unwrap_or_default();
    plan.steps.iter().map(to_line).collect()
}

/// The predicted steps. If the run failed, the first step with another tool than the right plan has there is marked:
/// other values alone are not a failure, and the text of a step may be shortened, so steps with the same tool are not
/// compared further.
fn planned(detail: &PlanDetail, right: &[String]) -> Fact {
    match &detail.program {
        Some(program) => Fact { label: "planned", content: Content::Code(program.clone()) },
        None => steps("planned", detail, right),
    }
}

fn steps(label: &'static str, detail: &PlanDetail, right: &[String]) -> Fact {
    let tool = |text: &str| -> String {
        text.split_once(" = ").map_or(text, |(_, call)| call).split('(').next().unwrap_or_default().to_owned()
    };
    let differs =
        |(place, text): (usize, &String)| right.get(place).is_none_or(|right| tool(right) != tool(text));
    let wrong = detail.class.is_some().then(|| detail.steps.iter().enumerate().position(differs)).flatten();
    let steps = detail.steps.iter().enumerate();
    let steps = steps.map(|(place, text)| SequenceStep::new(text, wrong == Some(place)));
    Fact::steps(label, steps, detail.steps_total)
}

fn executed(detail: &PlanDetail) -> Option<&'static str> {
    match &*detail.executed {
        "fine" => Some("to its end"),
        "faulty" => Some("up to an error"),
        "unsupported" => Some("not, for the sandbox lacks what the program uses"),
        _ => None,
    }
}

/// Counts of what was wrong with replies, such as `2 replies that could not be read, 1 plan that did not fit the
/// tools`; `None` if nothing was.
fn found(detail: &PlanDetail) -> Option<String> {
    let words = [
        ["reply that could not be read", "replies that could not be read"],
        ["plan that did not fit the tools", "plans that did not fit the tools"],
        ["attempt that went wrong", "attempts that went wrong"],
    ];
    let counted = detail.faults.iter().zip(words).filter(|(count, _)| **count > 0);
    let texts: Vec<String> = counted
        .map(|(count, [one, many])| format!("{count} {}", if *count == 1 { one } else { many }))
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// What the judge said of each value, one per line, such as `step 2 prompt: says the same as the right value`.
fn judged(values: &[JudgedValue]) -> String {
    let line = |it: &JudgedValue| {
        let said = match it.is_same {
            Some(true) => "says the same as the right value",
            Some(false) => "does not say the same as the right value",
            None => "the reply is neither yes nor no",
        };
        format!("{}: {said}", it.value)
    };
    values.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Numbers the calls, and marks those that failed.
pub(crate) fn notes(events: &[Event]) -> Vec<EventNote> {
    call_notes(paired_calls(events).len() as u64, events)
}

pub(crate) fn run_cells(verdict: &Verdict) -> Vec<String> {
    match PlanDetail::of(verdict) {
        Some(detail) => {
            vec![detail.plan_in_words(), detail.executed.clone(), detail.turns.to_string()]
        }
        None => vec![String::new(); 3],
    }
}

pub(crate) fn metadata(task: &RequestCase, verdict: Option<&Verdict>) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("steps".to_owned(), json!(task.card().size));
    metadata.insert("right_plan".to_owned(), task.plan());
    if let Some(detail) = verdict.and_then(PlanDetail::of) {
        metadata.insert("plan".to_owned(), json!(detail.plan_in_words()));
        metadata.insert("executed".to_owned(), json!(detail.executed));
        metadata.insert("turns".to_owned(), json!(detail.turns));
    }
    metadata
}
