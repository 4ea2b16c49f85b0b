//! A verdict in words.

use planproof_suite::runs::{call_notes, gist_beside_answer, on_one_line, shortened};
use planproof_suite::{EventNote, Explanation, Fact, SequenceStep, Verdict};
use planproof_trace::Event;
use serde_json::{Map, Value as Json, json};

use super::TaskCase;
use super::judge::{ApiDetail, RatedCall};

/// Maximum number of characters of a call's result that a step repeats; the trace has all of it.
const STEP_CHARACTERS_MAX: usize = 100;

/// Maximum number of calls, or of things that an answer lacks, that the gist names.
const MISSING_NAMED_MAX: usize = 2;

/// What went wrong, in one line.
fn gist(detail: &ApiDetail) -> String {
    let class = detail.class.as_deref();
    gist_beside_answer(class, detail.ended.as_ref()).unwrap_or_else(|| match class {
        Some("no_answer") => "the answer is empty".to_owned(),
        Some("wrong_order") => format!("made too early: {}", named(&detail.early)),
        Some("incomplete_answer") => format!("the answer does not name {}", named(&detail.lacking)),
        _ => format!("not made: {}", named(&detail.missing)),
    })
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
    let Some(detail) = ApiDetail::of(verdict) else { return Explanation::of_class(text, verdict) };
    // Even without calls, because "nothing" is then the first thing to know.
    let mut facts = vec![Fact::steps("called", detail.calls.iter().map(step), detail.made as u64)];
    if !detail.missing.is_empty() {
        facts.push(Fact::text("missing", detail.missing.join("; ")));
    }
    if !detail.early.is_empty() {
        facts.push(Fact::text("too early", detail.early.join("; ")));
    }
    if !detail.lacking.is_empty() {
        facts.push(Fact::text("not named", detail.lacking.join("; ")));
    }
    facts.extend(Fact::ends("answered", detail.answer.as_ref()));
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
    facts.extend(Fact::ends("ended", detail.ended.as_ref()));
    Explanation {
        text,
        gist: gist(&detail),
        answer: detail.answer.unwrap_or_default(),
        facts,
        ..Explanation::default()
    }
}

fn step(RatedCall { call, result, is_error: _, worth }: &RatedCall) -> SequenceStep {
    let text = match result {
        Some(result) => {
            format!("{call} ({worth}): {}", shortened(&on_one_line(result), STEP_CHARACTERS_MAX))
        }
        None => format!("{call} ({worth}), without a result"),
    };
    SequenceStep::new(text, worth == "wrong")
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
