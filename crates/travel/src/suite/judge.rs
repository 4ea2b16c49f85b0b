//! From the events of a run, or a finished plan, to a verdict.

use planproof_suite::runs::{Ended, shortened};
use planproof_suite::{Class, MISSING, Score, Scored, Unscored, Verdict};
use planproof_trace::{Event, PairedCall, paired_calls};
use serde_json::Value;

use super::answer::{object_in, plan_in};
use super::case::TripCase;
use super::classes::{self, CLASSES, FLAGS};
use super::detail::{
    Checked, FINDINGS_MAX, ListedFinding, PLAN_BYTES_MAX, TEXT_CHARACTERS_MAX, TripDetail, VERDICT_SCHEMA,
};
use super::fields::{self, FIELDS};
use super::manager::{self, STATED};
use super::stop;
use super::task::{QueryMode, UNJUDGED};
use crate::TripCompat;
use crate::evaluate::{self, CheckResult, TripCheck, TripJudgement, is_asked};
use crate::plan::TripPlan;
use crate::tables::TripDatabase;

/// Names of the scores besides those of checks and fields.
pub(super) const DELIVERED: &str = "delivered";
pub(super) const PASSES_ORIGINAL: &str = "passes_original";
pub(super) const PASSES_RIGHT: &str = "passes_right";
pub(super) const COST: &str = "cost";

/// The names of all scores: of deliveries and passes, of each check (1 if it passes, else 0), of each field.
pub(super) const SCORE_NAMES: [&str; 33] = [
    DELIVERED,
    PASSES_ORIGINAL,
    PASSES_RIGHT,
    COST,
    "is_reasonable_visiting_city",
    "is_valid_restaurants",
    "is_valid_attractions",
    "is_valid_accommodation",
    "is_valid_transportation",
    "is_valid_information_in_current_city",
    "is_valid_information_in_sandbox",
    "is_not_absent",
    "valid_cuisine",
    "valid_room_rule",
    "valid_transportation",
    "valid_room_type",
    "valid_cost",
    FIELDS[0],
    FIELDS[1],
    FIELDS[2],
    FIELDS[3],
    FIELDS[4],
    FIELDS[5],
    FIELDS[6],
    FIELDS[7],
    FIELDS[8],
    FIELDS[9],
    FIELDS[10],
    STATED[0].1,
    STATED[1].1,
    STATED[2].1,
    STATED[3].1,
    STATED[4].1,
];

/// What is known about a run besides its plan.
#[derive(Default)]
pub(super) struct RunFacts<'a> {
    pub(super) ended: Option<&'a Ended<'a>>,
    pub(super) calls: usize,
    pub(super) has_call_error: bool,
    /// Where and why the published loop stopped the run, or would have.
    pub(super) stopped: Option<String>,
    pub(super) stated: Option<[bool; STATED.len()]>,
    /// It is not a run, but a case without a prediction.
    pub(super) is_missing: bool,
}

/// Where and why the published loop stopped a run with these calls, or would have.
fn stopped(case: &TripCase, calls: &[PairedCall<'_>], events: &[Event]) -> Option<String> {
    if case.task().options.mode != QueryMode::TwoStage {
        return None;
    }
    // The loop is that of a single agent; for a team, only its limit of steps applies.
    let is_alone = calls.iter().all(|paired| paired.actor.is_none());
    match stop::of_team(events) {
        None if is_alone => stop::of(calls, events),
        of_team => of_team,
    }
}

/// The plan of a run, as the published evaluator reads it; null if there is none.
pub(super) fn plan_of(case: &TripCase, events: &[Event]) -> Value {
    let Ok(ended) = Ended::of(case, events) else { return Value::Null };
    let is_original = case.task().options.compat == TripCompat::Original;
    match is_original && stopped(case, &paired_calls(events), events).is_some() {
        true => Value::Null,
        false => ended.answer().and_then(plan_in).unwrap_or_default(),
    }
}

/// Judges a run.
pub(super) fn judge(case: &TripCase, events: &[Event]) -> Result<Verdict, Unscored> {
    let ended = Ended::of(case, events)?;
    if case.task().unjudged {
        return Err(Unscored::NoKey { reason: UNJUDGED.to_owned() });
    }
    let calls = paired_calls(events);
    let run = RunFacts {
        ended: Some(&ended),
        calls: calls.len(),
        has_call_error: calls.iter().any(|it| it.result.is_some_and(|(_, result)| result.is_error)),
        stopped: stopped(case, &calls, events),
        stated: manager::stated(&case.task().query, || case.database().ok(), events),
        is_missing: false,
    };
    if case.task().options.mode == QueryMode::Reading {
        return Ok(of_fields(case, ended.answer().and_then(object_in), &run));
    }
    // Without its tables, nothing can be said about the plan, so the run is unscored and not failed.
    let database = case.database().map_err(|error| Unscored::Outside { reason: error.to_string() })?;
    let plan = ended.answer().and_then(plan_in).unwrap_or_default();
    let verdict = of_plan(case, &database, TripPlan(plan), &run);
    // Judging looks flights up as well. A look-up that failed has found nothing, which is no fault of the plan.
    match database.flights.outage() {
        Some(outage) => Err(Unscored::Outside { reason: outage.to_string() }),
        None => Ok(verdict),
    }
}

/// The verdict on a plan, which is null if there is none.
pub(super) fn of_plan(
    case: &TripCase,
    database: &TripDatabase,
    plan: TripPlan,
    run: &RunFacts<'_>,
) -> Verdict {
    let task = case.task();
    let is_original = task.options.compat == TripCompat::Original;
    // A run that the published loop stops has no plan, whatever it answered.
    let plan = if is_original && run.stopped.is_some() { TripPlan(Value::Null) } else { plan };
    // Always by both evaluators, because scores and flags compare them.
    let [original, right] = [TripCompat::Original, TripCompat::Right]
        .map(|compat| evaluate::judge(database, &task.query, &plan, compat));
    let judged = if is_original { &original } else { &right };
    let fault = fault_of(judged);
    // How the run ended takes precedence over what its plan is worth.
    let class = class_of_run(run).or_else(|| match judged {
        _ if is_original && run.stopped.is_some() => find("stopped"),
        TripJudgement { delivered: false, .. } => class_of_nothing(run, "undelivered"),
        _ if fault.is_some() => find("malformed"),
        _ if judged.final_pass() => None,
        _ => {
            let failed =
                |check: &TripCheck| judged.mark(*check).is_some_and(|mark| mark == CheckResult::Failed);
            // A plan that is not malformed and does not pass has failed a check, so the fallback never applies.
            TripCheck::all().find(failed).and_then(classes::of_check).or_else(|| find("malformed"))
        }
    });
    let passes = [original.final_pass(), right.final_pass()];
    let loopholes = right.loopholes();
    let applies = |flag: &str| {
        has_common_flag(flag, run)
            || (flag == classes::DIFFERS && passes[0] != passes[1])
            || loopholes.iter().any(|it| it.name() == flag)
    };
    // A malformed plan passes no check, as in `TripScores::add`.
    let is_fit = judged.delivered && fault.is_none();
    let mut scores = vec![
        Score::new(DELIVERED, unit(judged.delivered)),
        Score::new(PASSES_ORIGINAL, unit(passes[0])),
        Score::new(PASSES_RIGHT, unit(passes[1])),
    ];
    scores.extend(judged.total_cost.map(|cost| Score::new(COST, cost)));
    let asked = || TripCheck::all().filter(|check| is_asked(&task.query, *check));
    scores.extend(asked().map(|check| {
        let holds = is_fit && judged.mark(check).is_some_and(CheckResult::is_passed);
        Score::new(check.key(), unit(holds))
    }));
    let stated = run.stated.iter().flatten().zip(STATED);
    scores.extend(stated.map(|(is_right, (_, name))| Score::new(name, unit(*is_right))));
    let found = |finding: &evaluate::TripFinding| ListedFinding {
        check: finding.check.label().to_owned(),
        day: finding.day,
        what: finding.what.clone(),
        loophole: finding.loophole.map(|it| it.name().to_owned()),
    };
    let checks = TripCheck::all()
        .map(|check| Checked { check: check.label().to_owned(), state: state_of(judged.mark(check)) });
    let kept = judged.delivered.then(|| plan.0.clone());
    let detail = TripDetail {
        delivered: judged.delivered,
        checks: if judged.delivered { checks.collect() } else { Vec::new() },
        cost: judged.total_cost,
        passes,
        findings: right.findings.iter().take(FINDINGS_MAX).map(found).collect(),
        fault,
        plan: kept.filter(|plan| plan.to_string().len() <= PLAN_BYTES_MAX),
        ..empty(case, class, run)
    };
    finish(detail, class, scores, applies)
}

/// The verdict on the fields of a query.
pub(super) fn of_fields(case: &TripCase, written: Option<Value>, run: &RunFacts<'_>) -> Verdict {
    let right = written.as_ref().map(|written| fields::compare(&case.task().query, written));
    let class = class_of_run(run).or_else(|| match right {
        None => class_of_nothing(run, "no_fields"),
        Some(right) if right.contains(&false) => find("wrong_fields"),
        Some(_) => None,
    });
    let is_right = |place: usize| right.is_some_and(|right| right.get(place) == Some(&true));
    let mut scores = vec![Score::new(DELIVERED, unit(right.is_some()))];
    scores.extend(FIELDS.iter().enumerate().map(|(place, field)| Score::new(field, unit(is_right(place)))));
    let wrong = FIELDS.iter().enumerate().filter(|(place, _)| right.is_some() && !is_right(*place));
    let detail = TripDetail {
        delivered: right.is_some(),
        wrong_fields: wrong.map(|(_, field)| (*field).to_owned()).collect(),
        plan: written.filter(|it| it.to_string().len() <= PLAN_BYTES_MAX),
        ..empty(case, class, run)
    };
    finish(detail, class, scores, |flag| has_common_flag(flag, run))
}

fn empty(case: &TripCase, class: Option<Class>, run: &RunFacts<'_>) -> TripDetail {
    let answer = run.ended.and_then(Ended::answer);
    TripDetail {
        schema: VERDICT_SCHEMA.to_owned(),
        case: case.task().id(),
        passed: class.is_none(),
        class: class.map(|class| class.as_str().to_owned()),
        flags: Vec::new(),
        delivered: false,
        checks: Vec::new(),
        wrong_fields: Vec::new(),
        cost: None,
        passes: [false; 2],
        findings: Vec::new(),
        fault: None,
        stopped: run.stopped.clone(),
        plan: None,
        answer: answer.map(|text| shortened(text, TEXT_CHARACTERS_MAX)),
        ended: run.ended.and_then(|ended| ended.why(TEXT_CHARACTERS_MAX)),
        calls: run.calls,
    }
}

fn finish(
    mut detail: TripDetail,
    class: Option<Class>,
    scores: Vec<Score>,
    applies: impl Fn(&str) -> bool,
) -> Verdict {
    let flags: Vec<&'static str> = FLAGS.iter().map(|flag| flag.name).filter(|flag| applies(flag)).collect();
    detail.flags = flags.iter().map(ToString::to_string).collect();
    Verdict::new(Scored { class, flags, scores }, &detail)
}

fn has_common_flag(flag: &str, run: &RunFacts<'_>) -> bool {
    (flag == classes::CALL_ERROR && run.has_call_error)
        || (flag == classes::LOOP_STOPPED && run.stopped.is_some())
}

/// The class of a run that did not end with an answer, or of a case without a prediction.
fn class_of_run(run: &RunFacts<'_>) -> Option<Class> {
    if run.is_missing {
        return find(MISSING);
    }
    run.ended.filter(|ended| ended.answer().is_none()).and_then(Ended::class).and_then(find)
}

/// The class of a run whose answer does not hold what was asked for: this one, unless it holds a call.
fn class_of_nothing(run: &RunFacts<'_>, class: &'static str) -> Option<Class> {
    find(run.ended.and_then(Ended::class).unwrap_or(class))
}

/// Why a plan is malformed.
fn fault_of(judged: &TripJudgement) -> Option<String> {
    let crash = judged
        .crash
        .map(|(check, raised)| format!("the published evaluator ends with a {raised} in {}", check.label()));
    judged.malformed.clone().or(crash)
}

fn state_of(mark: Option<CheckResult>) -> String {
    match mark {
        Some(CheckResult::Passed) => "passed".to_owned(),
        Some(CheckResult::Failed) => "failed".to_owned(),
        Some(CheckResult::NotAsked) => "not asked".to_owned(),
        Some(CheckResult::Raised(raised)) => raised.to_string(),
        None => "not carried out".to_owned(),
    }
}

fn find(name: &str) -> Option<Class> {
    Class::find(&CLASSES, name)
}

fn unit(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_and_field_has_its_figure() {
        let checks = TripCheck::all().map(TripCheck::key);
        let stated = STATED.map(|(_, name)| name);
        assert!(checks.chain(FIELDS).chain(stated).eq(SCORE_NAMES.into_iter().skip(4)));
    }
}
