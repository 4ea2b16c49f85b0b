//! A verdict in words: what was violated, what the run did instead (`explain/instead.rs`), which calls came to nothing,
//! and a right session.

mod instead;

use planproof_spec::rules::RuleDemand;
use planproof_spec::rules::search::SampleCall;
use planproof_suite::runs::{call_notes, on_one_line};
use planproof_suite::{
    Check, CheckState, Class, Content, EventNote, Explanation, Fact, Mark, SequenceStep, Verdict,
};
use planproof_trace::Event;
use planproof_trace::faults::SeenFault;

use crate::case::Scenario;
use crate::judge::{
    CALLED_VANISHED, CLASSES, GAVE_UP, MISSED_MESSAGE, MISSING_CALL, MadeCall, NO_RETRY, OF_FAILURES,
    RETRIED_FOREVER, ScenarioDetail, VERDICT_SCHEMA, WENT_ON, class_of, is_of_later_message,
};
use instead::Instead;

/// Most violated demands that a finding names, and most calls that came to nothing.
const VIOLATED_SHOWN_MAX: usize = 5;

fn detail_of(verdict: &Verdict) -> Option<ScenarioDetail> {
    serde_json::from_str(&verdict.detail)
        .ok()
        .filter(|detail: &ScenarioDetail| detail.schema == VERDICT_SCHEMA)
}

/// The verdict in words: what was violated with the words of the query that say it, and a right order.
pub(crate) fn explain(case: &Scenario, verdict: &Verdict) -> Explanation {
    let text = case.text().to_owned();
    let Some(detail) = detail_of(verdict) else {
        let gist = verdict.class().map_or("passed", Class::as_str).to_owned();
        return Explanation { text, gist, ..Explanation::default() };
    };
    let mut checks = Vec::new();
    let mut marks: Vec<Mark> = Vec::new();
    for outcome in &detail.rules {
        let rule = case.rules.rules().iter().find(|rule| rule.id == outcome.id);
        let demand = match (rule, outcome.id.as_str()) {
            (Some(rule), _) => case.sentence(rule),
            (None, CALLED_VANISHED) => "No tool is called once it is known to be gone".to_owned(),
            (None, RETRIED_FOREVER) => {
                "No tool is called again and again once it is known that it will not work".to_owned()
            }
            (None, _) => format!(
                "No tool is called but {}",
                case.line.only.iter().flatten().cloned().collect::<Vec<_>>().join(", ")
            ),
        };
        let words = case.words_of(&outcome.id).map(str::to_owned);
        let state = if outcome.held { CheckState::Held } else { CheckState::Violated };
        if let Some((start, end)) =
            words.as_deref().filter(|_| !outcome.held).and_then(|words| case.place_of(words))
        {
            marks.push(Mark { start, end, checks: vec![outcome.id.clone()], title: demand.clone() });
        }
        let sources = words.into_iter().collect();
        checks.push(Check { id: outcome.id.clone(), subject: String::new(), demand, sources, state });
    }
    let marks = without_overlaps(marks);
    checks.sort_by_key(|check| check.state != CheckState::Violated);
    let steps = detail.calls.iter().enumerate().map(|(number, call)| {
        let error = if call.is_error { " (error)" } else { "" };
        let is_wrong = detail.first_wrong_call == Some(number + 1);
        let when = call.message.map(after_message);
        SequenceStep { text: format!("{} {}{error}", call.tool, call.arguments), when, is_wrong }
    });
    let mut facts = vec![Fact { label: "called", content: Content::Steps(steps.collect()) }];
    let instead = Instead { case, detail: &detail };
    let violated = checks.iter().filter(|check: &&Check| check.state == CheckState::Violated);
    facts.extend(violated.take(VIOLATED_SHOWN_MAX).map(|check| {
        let words = check.sources.first().map(|words| format!(": \"{words}\"")).unwrap_or_default();
        let instead = instead.of(&check.id).map(|what| format!("; {what}")).unwrap_or_default();
        Fact::text("violated", format!("{} ({}{words}){instead}", check.demand, check.id))
    }));
    facts.extend(errors(case, &detail));
    let waived = detail.waived.iter().filter_map(|id| case.rules.rules().iter().find(|rule| rule.id == *id));
    facts.extend(
        waived.map(|rule| Fact::text("no longer due", format!("{} ({})", case.sentence(rule), rule.id))),
    );
    let wrong = detail.first_wrong_call.and_then(|number| Some((number, detail.calls.get(number - 1)?)));
    facts.extend(wrong.map(|(number, call)| {
        Fact::text("first wrong call", format!("#{number} {} {}", call.tool, call.arguments))
    }));
    if let Some(right) = case.right_calls().filter(|_| !detail.passed) {
        let error = |call: &SampleCall| if matches!(call.outcome, Some(Err(_))) { " (error)" } else { "" };
        let messages = case.messages_of_right_calls();
        let message = |place: usize| messages.get(place).filter(|_| !case.line.turns.is_empty());
        let steps = right.iter().enumerate().map(|(place, call)| SequenceStep {
            text: format!("{} {}{}", call.tool, call.arguments, error(call)),
            when: message(place).copied().map(after_message),
            is_wrong: false,
        });
        facts.push(Fact { label: "right", content: Content::Steps(steps.collect()) });
    }
    if let Some(answer) = &detail.answer {
        facts.push(Fact { label: "answered", content: Content::Ends(answer.clone()) });
    }
    if let Some(ended) = &detail.ended {
        facts.push(Fact { label: "ended", content: Content::Ends(ended.clone()) });
    }
    let gist = gist(case, &detail);
    Explanation {
        text,
        marks,
        gist,
        answer: detail.answer.unwrap_or_default(),
        facts,
        checks,
        ..Explanation::default()
    }
}

/// The message of the user that a call follows.
fn after_message(message: u32) -> String {
    format!("after message {message}")
}

/// Whether the tool of a call failed, which is not the agent's fault.
fn is_fault(case: &Scenario, call: &MadeCall) -> bool {
    let error = call.result.as_ref().filter(|_| call.is_error && case.line.faults.is_some());
    error.is_some_and(|text| SeenFault::of(&call.tool, text).is_some())
}

/// The calls that were answered with an error, each with that error.
fn errors(case: &Scenario, detail: &ScenarioDetail) -> Vec<Fact> {
    let all: Vec<(usize, &MadeCall)> = (1..).zip(&detail.calls).filter(|(_, call)| call.is_error).collect();
    let mut facts: Vec<Fact> = Vec::new();
    for (number, call) in all.iter().take(VIOLATED_SHOWN_MAX) {
        let label = if is_fault(case, call) { "failed" } else { "refused" };
        let text = on_one_line(call.result.as_deref().unwrap_or_default());
        let lacked = call.lacked.as_ref().map(|lacked| format!("; it needs {lacked}")).unwrap_or_default();
        facts.push(Fact::text(label, format!("#{number} {}: {text}{lacked}", call.tool)));
    }
    if let (more @ 1.., Some(last)) =
        (all.len().saturating_sub(VIOLATED_SHOWN_MAX), facts.last().map(|fact| fact.label))
    {
        facts.push(Fact::text(last, format!("and {more} more")));
    }
    facts
}

/// The marks in the order of the text, with those that overlap as one.
fn without_overlaps(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by_key(|mark| mark.start);
    let mut apart: Vec<Mark> = Vec::new();
    for mark in marks {
        match apart.last_mut().filter(|last| mark.start < last.end) {
            Some(last) => {
                last.end = last.end.max(mark.end);
                last.checks.extend(mark.checks);
            }
            None => apart.push(mark),
        }
    }
    apart
}

/// What went wrong, in one line.
fn gist(case: &Scenario, detail: &ScenarioDetail) -> String {
    let Some(class) = &detail.class else { return "passed".to_owned() };
    if let Some(ended) = &detail.ended {
        return on_one_line(ended);
    }
    // The rule that gave the class; of several one that the query says in words, then the one that was violated first.
    let of_class = detail.rules.iter().filter(|outcome| !outcome.held).filter_map(|outcome| {
        let rule = case.rules.rules().iter().find(|rule| rule.id == outcome.id);
        let given = match (rule, outcome.id.as_str()) {
            (Some(_), id) if is_of_later_message(case, id) => MISSED_MESSAGE,
            (Some(rule), _) => class_of(rule),
            (None, id @ (CALLED_VANISHED | RETRIED_FOREVER)) => id,
            (None, _) => "forbidden_call",
        };
        // The class says more of a missing call, and of one that came too early, where a tool failed.
        let is_missing = [MISSING_CALL, NO_RETRY, GAVE_UP].contains(&class.as_str());
        let is_at_an_end = rule.is_some_and(|rule| matches!(rule.demand, RuleDemand::Last(_)));
        // A last call in the wrong place would have given its class, which comes first.
        let is_given = match given {
            MISSING_CALL => is_missing,
            "order_error" | "wrong_value" if class == WENT_ON => outcome.call.is_some(),
            given => given == class || (is_missing && is_at_an_end),
        };
        is_given.then_some((outcome, rule))
    });
    let is_said = |id: &str| case.words_of(id).is_some();
    match of_class.min_by_key(|(outcome, _)| (!is_said(&outcome.id), outcome.call.unwrap_or(usize::MAX))) {
        Some((_, Some(rule))) => case.sentence(rule),
        Some((outcome, None)) if OF_FAILURES.contains(&outcome.id.as_str()) => {
            let meaning = Class::find(&CLASSES, class).map_or("failed", Class::meaning);
            meaning.trim_end_matches('.').to_owned()
        }
        Some((outcome, None)) => {
            let call = outcome.call.and_then(|call| detail.calls.get(call - 1));
            call.map_or_else(
                || "another tool was called".to_owned(),
                |call| format!("{} is not to be called", call.tool),
            )
        }
        None => Class::find(&CLASSES, class).map_or("failed", Class::meaning).to_owned(),
    }
}

/// Remarks on the events of a run.
pub(crate) fn notes(verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
    let Some(detail) = detail_of(verdict) else { return Some(Vec::new()) };
    let mut notes = call_notes(detail.calls_total, events);
    if let Some(note) = detail.first_wrong_call.and_then(|call| notes.get_mut(call.checked_sub(1)?)) {
        note.wrong = Some(String::new());
    }
    Some(notes)
}

/// The part of a verdict that a replay has to reproduce.
pub(crate) fn essence(verdict: &Verdict) -> String {
    let Some(detail) = detail_of(verdict) else { return String::new() };
    let broken = detail.rules.iter().filter(|rule| !rule.held).map(|rule| rule.id.as_str());
    broken.collect::<Vec<_>>().join(", ")
}
