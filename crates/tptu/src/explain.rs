//! A verdict in words.

use planproof_suite::runs::{KeptCall, call_notes, on_one_line, shortened};
use planproof_suite::{Case, Check, CheckState, EventNote, Explanation, Fact, MISSING, Verdict};
use planproof_trace::Event;
use serde_json::{Map, Value, json};

use crate::case::TptuCase;
use crate::judge::EvaluationDetail;

/// Most characters of the line about the failure.
const GIST_CHARACTERS_MAX: usize = 200;

/// What went wrong, in one line.
fn gist(detail: &EvaluationDetail) -> String {
    let short = |text: &str| shortened(&on_one_line(text), GIST_CHARACTERS_MAX);
    match (detail.class.as_deref(), &detail.ended, detail.faults.first()) {
        (None, ..) => "passed".to_owned(),
        (Some(MISSING), ..) => "there is no prediction for it".to_owned(),
        (Some("agent_failed"), Some(reason), _) => format!("the agent broke: {}", short(reason)),
        (Some(class), ended, _) => {
            // The class is that of the fault that takes precedence, which need not be the first one in the list.
            let of_class = detail.faults.iter().find(|fault| fault.class() == class);
            let what = of_class.map(|fault| short(&fault.to_string()));
            match (what, ended) {
                // The cause of the agent's failure may be the fault itself.
                (Some(what), Some(ended)) if !what.ends_with(&short(ended)) => {
                    format!("{what}; {}", short(ended))
                }
                (Some(what), Some(_)) => what,
                (Some(what), None) => what,
                (None, Some(ended)) => short(ended),
                (None, None) => class.to_owned(),
            }
        }
    }
}

pub(crate) fn explain(case: &TptuCase, verdict: &Verdict) -> Explanation {
    let text = case.question().question.clone();
    let Some(detail) = EvaluationDetail::of(verdict) else { return Explanation::of_class(text, verdict) };
    let mut facts = vec![Fact::text("evaluation", detail.evaluation.name())];
    if detail.calls_total > 0 {
        facts.push(Fact::steps("called", detail.calls.iter().map(KeptCall::step), detail.calls_total));
    }
    facts.extend(Fact::ends("answered", detail.answer.as_ref()));
    if !detail.found.is_empty() {
        facts.push(Fact::text("found", &*detail.found));
    }
    facts.push(Fact::text("right", &*detail.right));
    facts.extend(detail.faults.iter().map(|fault| Fact::text("wrong", on_one_line(&fault.to_string()))));
    if !detail.by_words.is_empty() {
        let steps: Vec<String> = detail.by_words.iter().map(ToString::to_string).collect();
        let steps = format!("sub-task {}: no call for it returned anything", steps.join(", "));
        facts.push(Fact::text("by words alone", steps));
    }
    facts.extend(Fact::ends("ended", detail.ended.as_ref()));
    let (checks, gist) = (checks(case, &detail), gist(&detail));
    Explanation { text, gist, answer: detail.found, facts, checks, ..Explanation::default() }
}

/// The planned steps, if a plan was required: the demand of each on its place.
fn checks(case: &TptuCase, detail: &EvaluationDetail) -> Vec<Check> {
    if !detail.evaluation.is_planning() {
        return Vec::new();
    }
    // A plan that cannot be read says nothing about its steps.
    let is_judged = detail.answer.is_some() && detail.class.as_deref() != Some("wrong_format");
    let check = |(index, step): (usize, &crate::question::GoldStep)| {
        let place = index + 1;
        let is_wrong = detail.faults.iter().any(|fault| fault.step() == Some(place));
        let state = match (is_judged, is_wrong) {
            (false, _) => CheckState::Unjudged,
            (true, true) => CheckState::Violated,
            (true, false) => CheckState::Held,
        };
        Check {
            id: format!("s{place}"),
            subject: step.tool.title().to_owned(),
            demand: format!("as step {place}: {}", step.subtask),
            sources: Vec::new(),
            state,
        }
    };
    let mut checks: Vec<Check> = case.question().plan.iter().enumerate().map(check).collect();
    // The sort is stable, so that each group keeps the order of the plan.
    checks.sort_by_key(|check| !check.state.is_broken());
    checks
}

/// Numbers the calls, and marks those with an error.
pub(crate) fn notes(verdict: &Verdict, events: &[Event]) -> Vec<EventNote> {
    EvaluationDetail::of(verdict).map(|detail| call_notes(detail.calls_total, events)).unwrap_or_default()
}

pub(crate) fn run_cells(verdict: &Verdict) -> Vec<String> {
    match EvaluationDetail::of(verdict) {
        Some(detail) => {
            let faults: Vec<String> =
                detail.faults.iter().map(|fault| on_one_line(&fault.to_string())).collect();
            vec![on_one_line(&detail.found), faults.join("; "), detail.calls_total.to_string()]
        }
        None => vec![String::new(); 3],
    }
}

pub(crate) fn metadata(case: &TptuCase, verdict: Option<&Verdict>) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("evaluation".to_owned(), json!(case.evaluation().name()));
    metadata.insert("gold".to_owned(), json!(case.target()));
    if let Some(detail) = verdict.and_then(EvaluationDetail::of) {
        metadata.insert("found".to_owned(), json!(detail.found));
        metadata.insert("faults".to_owned(), json!(detail.faults));
        metadata.insert("by_words".to_owned(), json!(detail.by_words));
        metadata.insert("calls".to_owned(), json!(detail.calls_total));
    }
    metadata
}
