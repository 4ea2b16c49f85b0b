//! A verdict in words.

use planproof_suite::runs::{call_notes, on_one_line};
use planproof_suite::{
    Check, CheckState, Content, EventNote, Explanation, Fact, MISSING, SequenceStep, Verdict,
};
use planproof_trace::Event;
use serde_json::{Map, Value, json};

use super::case::TripCase;
use super::detail::{Checked, ListedFinding, TripDetail};
use super::task::QueryMode;
use crate::plan::{CITY, KEYS, TripPlan};
use crate::{TripCompat, evaluate, page};

/// Maximum number of findings that the gist names.
const FINDINGS_NAMED_MAX: usize = 2;

/// What went wrong, in one line.
fn gist(detail: &TripDetail) -> String {
    let Some(class) = detail.class.as_deref() else { return "passed".to_owned() };
    // From what ended the run to what is wrong with its plan: what applies first explains the rest.
    if let Some(ended) = &detail.ended {
        let what = if class == "agent_failed" { "the agent broke: " } else { "" };
        return format!("{what}{}", on_one_line(ended));
    }
    if let (Some(stopped), "stopped") = (&detail.stopped, class) {
        return format!("stopped {stopped}");
    }
    if let Some(fault) = &detail.fault {
        return on_one_line(fault);
    }
    if !detail.wrong_fields.is_empty() {
        return format!("wrong: {}", detail.wrong_fields.join(", "));
    }
    let failed: Vec<&str> = failed(detail).collect();
    match class {
        "undelivered" => "there is no plan in the answer".to_owned(),
        MISSING => "there is no prediction for it".to_owned(),
        "no_fields" => "there are no fields in the answer".to_owned(),
        _ => {
            let more = failed.len().saturating_sub(FINDINGS_NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = failed.iter().take(FINDINGS_NAMED_MAX).map(|check| named(detail, check));
            format!("{}{more}", named.collect::<Vec<_>>().join("; "))
        }
    }
}

/// What failed a check: "Taco Inn is chosen again on day 2 (Diverse Restaurants)"; else which
/// check failed.
fn named(detail: &TripDetail, check: &str) -> String {
    match detail.findings.iter().find(|found| found.check == check) {
        Some(ListedFinding { day, what, .. }) => {
            let day = day.map(|day| format!(" on day {day}")).unwrap_or_default();
            format!("{}{day} ({check})", on_one_line(what))
        }
        None => format!("failed: {check}"),
    }
}

/// The checks that failed.
fn failed(detail: &TripDetail) -> impl Iterator<Item = &str> {
    detail.checks.iter().filter(|it| it.state == "failed").map(|it| it.check.as_str())
}

pub(super) fn explain(case: &TripCase, verdict: &Verdict) -> Explanation {
    let text = case.task().query.query.clone();
    let Some(detail) = TripDetail::of(verdict) else { return Explanation::of_class(text, verdict) };
    // What is wrong is said before the plan, which is long.
    let mut facts: Vec<Fact> =
        detail.findings.iter().map(|found| Fact::text("wrong", in_words(found))).collect();
    if let Some(plan) = &detail.plan {
        match case.task().options.mode {
            QueryMode::Reading => facts.push(Fact::text("read", plan.to_string())),
            QueryMode::TwoStage | QueryMode::SolePlanning => {
                facts.extend(of_plan(case, plan, &detail.findings));
            }
        }
    }
    facts.extend(detail.fault.iter().map(|fault| Fact::text("fault", fault.clone())));
    if let Some(cost) = detail.cost {
        let budget = case.task().query.budget;
        facts.push(Fact::text("costs", format!("{cost:.2} dollars of {budget:.2}")));
    }
    if let Some(stopped) = &detail.stopped {
        facts.push(Fact::text("loop", format!("the published loop would have stopped {stopped}")));
    }
    // With a plan, the answer would show the same again.
    facts.extend(Fact::ends("answered", detail.answer.as_ref().filter(|_| detail.plan.is_none())));
    if case.task().options.mode == QueryMode::Reading {
        facts.push(Fact::text("right", super::fields::of_query(&case.task().query).to_string()));
    }
    facts.extend(Fact::ends("ended", detail.ended.as_ref()));
    Explanation {
        text,
        gist: gist(&detail),
        answer: detail.plan.as_ref().map(Value::to_string).or(detail.answer.clone()).unwrap_or_default(),
        facts,
        checks: checks(&detail),
        ..Explanation::default()
    }
}

/// A plan as a map and a timeline, or as lines if it is malformed or its tables are not available.
fn of_plan(case: &TripCase, plan: &Value, findings: &[ListedFinding]) -> Vec<Fact> {
    // Only the right mode locates faults, so it is used here whatever mode judged the run.
    let drawn = case.database().map(|database| {
        let (query, plan) = (&case.task().query, TripPlan(plan.clone()));
        page::facts(&database, query, &plan, &evaluate::judge(&database, query, &plan, TripCompat::Right))
    });
    match drawn {
        Ok(facts) if !facts.is_empty() => facts,
        _ => vec![Fact { label: "plan", content: Content::Steps(days(plan, findings)) }],
    }
}

/// The days of a plan, one per line; a day with findings is marked as wrong.
fn days(plan: &Value, findings: &[ListedFinding]) -> Vec<SequenceStep> {
    let line = |(number, day): (usize, &Value)| {
        let entry = |key: &str| {
            let value = day.get(key)?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (!matches!(text.as_str(), "" | "-")).then(|| on_one_line(&text))
        };
        let entries: Vec<String> = [CITY].into_iter().chain(KEYS).filter_map(entry).collect();
        let is_wrong = findings.iter().any(|found| found.day == Some(number));
        SequenceStep { text: entries.join(" | "), when: Some(format!("day {number}")), is_wrong }
    };
    (1..).zip(plan.as_array().into_iter().flatten()).map(line).collect()
}

fn in_words(found: &ListedFinding) -> String {
    let day = found.day.map(|day| format!(", day {day}")).unwrap_or_default();
    let gap = found.loophole.as_ref().map(|name| format!(" (the published check has a gap here: {name})"));
    format!("{}{day}: {}{}", found.check, found.what, gap.unwrap_or_default())
}

/// The checks with their results, failed ones first.
fn checks(detail: &TripDetail) -> Vec<Check> {
    let check = |Checked { check, state }: &Checked| Check {
        id: check.clone(),
        subject: check.clone(),
        demand: match detail.findings.iter().find(|found| found.check == *check) {
            Some(found) => on_one_line(&found.what),
            None => state.clone(),
        },
        sources: Vec::new(),
        state: match state.as_str() {
            "passed" => CheckState::Held,
            "not asked" => CheckState::Unjudged,
            "not carried out" => CheckState::Undetermined,
            _ => CheckState::Violated,
        },
    };
    let mut checks: Vec<Check> = detail.checks.iter().map(check).collect();
    checks.sort_by_key(|check| check.state);
    checks
}

/// Numbers the calls, and marks those that failed.
pub(super) fn notes(verdict: &Verdict, events: &[Event]) -> Vec<EventNote> {
    TripDetail::of(verdict).map(|detail| call_notes(detail.calls as u64, events)).unwrap_or_default()
}

pub(super) fn essence(verdict: &Verdict) -> String {
    let Some(detail) = TripDetail::of(verdict) else { return String::new() };
    let failed: Vec<&str> = failed(&detail).chain(detail.wrong_fields.iter().map(String::as_str)).collect();
    match (detail.delivered, failed.is_empty()) {
        (false, _) => "nothing delivered".to_owned(),
        (true, true) => "nothing failed".to_owned(),
        (true, false) => failed.join(", "),
    }
}

pub(super) fn run_cells(verdict: &Verdict) -> Vec<String> {
    let Some(detail) = TripDetail::of(verdict) else { return vec![String::new(); 4] };
    let failed: Vec<&str> = failed(&detail).chain(detail.wrong_fields.iter().map(String::as_str)).collect();
    vec![
        failed.join("; "),
        detail.cost.map(|cost| format!("{cost:.2}")).unwrap_or_default(),
        detail.calls.to_string(),
        detail.fault.unwrap_or_default(),
    ]
}

pub(super) fn metadata(case: &TripCase, verdict: Option<&Verdict>) -> Map<String, Value> {
    let query = &case.task().query;
    let mut metadata = Map::new();
    metadata.insert("level".to_owned(), json!(query.level));
    metadata.insert("days".to_owned(), json!(query.days));
    metadata.insert("set".to_owned(), json!(case.task().set));
    if let Some(detail) = verdict.and_then(TripDetail::of) {
        metadata.insert("delivered".to_owned(), json!(detail.delivered));
        metadata.insert("checks".to_owned(), json!(detail.checks));
        metadata.insert("cost".to_owned(), json!(detail.cost));
    }
    metadata
}
