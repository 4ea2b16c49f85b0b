//! A verdict in words.

use planproof_suite::{
    Case, Check, CheckState, Class, Content, EventNote, Explanation, Fact, MISSING, SequenceStep, Verdict,
};
use planproof_trace::{Event, paired_calls};
use serde_json::{Map, Value, json};

use crate::case::TptuCase;
use crate::judge::{EvaluationDetail, ListedCall};
use crate::runs::{on_one_line, shortened};

/// Most characters of the line about the failure.
const GIST_CHARACTERS_MAX: usize = 200;
/// Most characters of a call's answer that a step repeats: the trace has all of it.
const STEP_CHARACTERS_MAX: usize = 100;

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
    let Some(detail) = EvaluationDetail::of(verdict) else {
        let gist = verdict.class().map_or("passed", Class::as_str).to_owned();
        return Explanation { text, gist, ..Explanation::default() };
    };
    let mut facts = vec![Fact::text("evaluation", detail.evaluation.name())];
    if detail.calls_total > 0 {
        facts.push(Fact { label: "called", content: Content::Steps(steps(&detail)) });
    }
    if let Some(answer) = &detail.answer {
        facts.push(Fact { label: "answered", content: Content::Ends(answer.clone()) });
    }
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
    if let Some(ended) = &detail.ended {
        facts.push(Fact { label: "ended", content: Content::Ends(ended.clone()) });
    }
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

fn steps(detail: &EvaluationDetail) -> Vec<SequenceStep> {
    let step = |ListedCall { call, result, is_error }: &ListedCall| SequenceStep {
        text: match result {
            Some(result) => format!("{call}: {}", shortened(&on_one_line(result), STEP_CHARACTERS_MAX)),
            None => format!("{call}, without a result"),
        },
        when: None,
        is_wrong: *is_error,
    };
    let mut steps: Vec<SequenceStep> = detail.calls.iter().map(step).collect();
    let more = detail.calls_total.saturating_sub(steps.len() as u64);
    if more > 0 {
        steps.push(SequenceStep { text: format!("and {more} more"), when: None, is_wrong: false });
    }
    steps
}

/// Numbers the calls, and marks those with an error.
pub(crate) fn notes(verdict: &Verdict, events: &[Event]) -> Vec<EventNote> {
    let calls = paired_calls(events);
    // Another number of calls shows that these are not the events that were judged.
    if EvaluationDetail::of(verdict).is_none_or(|detail| detail.calls_total != calls.len() as u64) {
        return Vec::new();
    }
    let note = |(place, call): (usize, &planproof_trace::PairedCall<'_>)| EventNote {
        event: call.place,
        number: Some(place + 1),
        remark: call.result.filter(|(_, result)| result.is_error).map(|_| "gave an error"),
        wrong: None,
    };
    calls.iter().enumerate().map(note).collect()
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
