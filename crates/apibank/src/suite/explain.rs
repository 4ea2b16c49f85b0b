//! A verdict in words.

use planproof_suite::runs::{call_notes, on_one_line, shortened};
use planproof_suite::{Class, Content, EventNote, Explanation, Fact, SequenceStep, Verdict};
use planproof_trace::Event;
use serde_json::{Map, Value as Json, json};

use super::judge::{ApiDetail, RatedCall};
use super::{MISSING, TaskCase};

/// Maximum number of characters of a call's result that a step repeats; the trace has all of it.
const STEP_CHARACTERS_MAX: usize = 100;

/// Maximum number of calls, or of things that an answer lacks, that the gist names.
const MISSING_NAMED_MAX: usize = 2;

/// What went wrong, in one line.
fn gist(detail: &ApiDetail) -> String {
    match (detail.class.as_deref(), &detail.ended) {
        (None, _) => "passed".to_owned(),
        (Some("agent_failed"), Some(reason)) => format!("the agent broke: {}", on_one_line(reason)),
        (_, Some(ended)) => on_one_line(ended),
        (Some("no_answer"), None) => "the answer is empty".to_owned(),
        (Some(MISSING), None) => "there is no prediction for it".to_owned(),
        (Some("wrong_order"), None) => format!("made too early: {}", named(&detail.early)),
        (Some("incomplete_answer"), None) => format!("the answer does not name {}", named(&detail.lacking)),
        (_, None) => format!("not made: {}", named(&detail.missing)),
    }
}

/// The first of several, and how many there are besides.
fn named(all: &[String]) -> String {
    let named: Vec<&str> = all.iter().take(MISSING_NAMED_MAX).map(String::as_str).collect();
    let more = all.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

pub(super) fn explain(case: &TaskCase, verdict: &Verdict) -> Explanation {
    let text = case.task().requirement.clone();
    let Some(detail) = ApiDetail::of(verdict) else {
        let gist = verdict.class().map_or("passed", Class::as_str).to_owned();
        return Explanation { text, gist, ..Explanation::default() };
    };
    // Even without calls, because "nothing" is then the first thing to know.
    let mut facts = vec![Fact { label: "called", content: Content::Steps(steps(&detail)) }];
    if !detail.missing.is_empty() {
        facts.push(Fact::text("missing", detail.missing.join("; ")));
    }
    if !detail.early.is_empty() {
        facts.push(Fact::text("too early", detail.early.join("; ")));
    }
    if !detail.lacking.is_empty() {
        facts.push(Fact::text("not named", detail.lacking.join("; ")));
    }
    if let Some(answer) = &detail.answer {
        facts.push(Fact { label: "answered", content: Content::Ends(answer.clone()) });
    }
    facts.push(Fact::text("right", &*case.task().reply));
    facts.push(Fact::text(
        "counted",
        format!(
            "{} of {} needed calls, {} made, {} repeated; ROUGE-L {}",
            detail.unique,
            detail.required,
            detail.made,
            detail.repeats,
            detail.rouge_l.map_or_else(|| "-".to_owned(), |rouge| format!("{rouge:.4}"))
        ),
    ));
    if let Some(ended) = &detail.ended {
        facts.push(Fact { label: "ended", content: Content::Ends(ended.clone()) });
    }
    Explanation {
        text,
        gist: gist(&detail),
        answer: detail.answer.unwrap_or_default(),
        facts,
        ..Explanation::default()
    }
}

fn steps(detail: &ApiDetail) -> Vec<SequenceStep> {
    let step = |RatedCall { call, result, is_error: _, worth }: &RatedCall| SequenceStep {
        text: match result {
            Some(result) => {
                format!("{call} ({worth}): {}", shortened(&on_one_line(result), STEP_CHARACTERS_MAX))
            }
            None => format!("{call} ({worth}), without a result"),
        },
        when: None,
        is_wrong: worth == "wrong",
    };
    let mut steps: Vec<SequenceStep> = detail.calls.iter().map(step).collect();
    let more = detail.made.saturating_sub(steps.len());
    if more > 0 {
        steps.push(SequenceStep { text: format!("and {more} more"), when: None, is_wrong: false });
    }
    steps
}

/// Numbers the calls, and marks those that failed.
pub(super) fn notes(verdict: &Verdict, events: &[Event]) -> Vec<EventNote> {
    ApiDetail::of(verdict).map(|detail| call_notes(detail.made as u64, events)).unwrap_or_default()
}

pub(super) fn run_cells(verdict: &Verdict) -> Vec<String> {
    match ApiDetail::of(verdict) {
        Some(detail) => vec![
            detail.made.to_string(),
            detail.unique.to_string(),
            detail.repeats.to_string(),
            detail.rouge_l.map(|rouge| format!("{rouge:.4}")).unwrap_or_default(),
        ],
        None => vec![String::new(); 4],
    }
}

pub(super) fn metadata(case: &TaskCase, verdict: Option<&Verdict>) -> Map<String, Json> {
    let mut metadata = Map::new();
    metadata.insert("kind".to_owned(), json!(case.task().kind));
    metadata.insert("required".to_owned(), json!(case.task().calls.len()));
    if let Some(detail) = verdict.and_then(ApiDetail::of) {
        metadata.insert("calls".to_owned(), json!(detail.made));
        metadata.insert("unique".to_owned(), json!(detail.unique));
        metadata.insert("repeats".to_owned(), json!(detail.repeats));
        metadata.insert("rouge_l".to_owned(), json!(detail.rouge_l));
    }
    metadata
}
