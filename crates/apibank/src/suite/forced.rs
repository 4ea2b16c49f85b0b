//! Predictions in the published forms for level 3: a call given all earlier ones, or a reply given all calls.
//!
//! The published script counts calls that are right, and tasks for which no prediction was wrong: a task without
//! predictions is solved. It knows no right or wrong replies, only their ROUGE-L.

use std::collections::HashMap;

use planproof_suite::runs::shortened;
use planproof_suite::{CaseError, Class, PredictionVerdicts, Score, Scored, Verdict};

use super::case::TaskCase;
use super::classes::CLASSES;
use super::judge::{
    ApiDetail, CALL_CHARACTERS_MAX, CALLS_KEPT_MAX, PREDICTED, RIGHT, ROUGE, RatedCall, SEARCH_ERRORS,
    TEXT_CHARACTERS_MAX, VERDICT_SCHEMA, in_words, missing,
};
use crate::level3::metrics::{Miss, misses, reply_score};
use crate::level3::original::{CallPrediction, ReplyPrediction, read_calls, read_replies};
use crate::level3::task::UserTask;
use crate::level3::{SEARCHER, read_call};
use crate::value::PythonValue;
use crate::world::{ApiCompat, ApiWorld};

/// A form of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines with `sample_id`, `api_id` and `pred`.
    Calls,
    /// Lines with `output`, the right reply, and `pred`.
    Replies,
}

impl Form {
    /// The published form that the first line has; `None` if it has none of them.
    pub(super) fn of(text: &str) -> Option<Self> {
        let first = text.lines().find(|line| !line.trim().is_empty())?;
        let line: PythonValue = serde_json::from_str(first).ok()?;
        let line = line.as_dict()?;
        match (line.contains_key("sample_id"), line.contains_key("output"), line.contains_key("id")) {
            (true, ..) => Some(Self::Calls),
            (false, true, false) => Some(Self::Replies),
            _ => None,
        }
    }
}

/// What happened to a prediction of a call.
struct Predicted<'a> {
    prediction: &'a CallPrediction,
    miss: Option<Miss>,
}

/// Judges predictions of calls, with the published tools in the mode of `compat`.
///
/// # Errors
/// A line has another form, or is about no call of these tasks.
pub(super) fn score_calls(
    cases: &[TaskCase],
    text: &str,
    file: &str,
    compat: ApiCompat,
) -> Result<PredictionVerdicts, CaseError> {
    let refuse = |what: String| CaseError::new(format!("{file}: {what}"));
    let mut predictions = read_calls(text).map_err(|error| refuse(error.to_string()))?;
    let places: HashMap<&str, usize> =
        cases.iter().enumerate().map(|(place, case)| (case.task().id.as_str(), place)).collect();
    for prediction in &mut predictions {
        let CallPrediction { task, call, .. } = prediction;
        let place = places.get(UserTask::published_id(*task).as_str());
        let place = *place.ok_or_else(|| {
            refuse(format!("none of the tasks that are scored has the `sample_id` {task}, counted from 0"))
        })?;
        let calls = cases.get(place).map_or(0, |case| case.task().calls.len());
        if *call >= calls {
            return Err(refuse(format!(
                "the task with the `sample_id` {task} has {calls} calls, so none has the `api_id` {call}, counted from 0"
            )));
        }
        *task = place;
    }
    let tasks: Vec<UserTask> = cases.iter().map(|case| case.task().clone()).collect();
    let mut scored = PredictionVerdicts::default();
    let Some(first) = cases.first() else { return Ok(scored) };
    let mut world = first.world();
    world.compat = compat;
    let found = misses(&tasks, &predictions, &world).map_err(|fault| refuse(fault.to_string()))?;
    let mut of_tasks: Vec<Vec<Predicted<'_>>> = cases.iter().map(|_| Vec::new()).collect();
    for (prediction, miss) in predictions.iter().zip(found) {
        if let Some(of_task) = of_tasks.get_mut(prediction.task) {
            of_task.push(Predicted { prediction, miss });
        }
    }
    for (case, predicted) in cases.iter().zip(of_tasks) {
        let is_missing = predicted.is_empty() && compat == ApiCompat::Right;
        let verdict = verdict(case.task(), &predicted, &world);
        add(&mut scored, case.task(), verdict, is_missing);
    }
    Ok(scored)
}

/// Judges the calls that were predicted for a task.
fn verdict(task: &UserTask, predicted: &[Predicted<'_>], world: &ApiWorld) -> Verdict {
    let gold = |it: &Predicted<'_>| task.calls.get(it.prediction.call);
    let is_right = |place: usize| predicted.iter().any(|it| it.prediction.call == place && it.miss.is_none());
    let first = predicted.iter().find_map(|it| Some((it, it.miss?)));
    let class = match first {
        Some((_, Miss::NoCall)) => Some("no_call"),
        Some((_, Miss::NotCarriedOut)) => Some("call_failed"),
        Some((it, Miss::Different | Miss::NoGold)) => {
            let named = read_call(&it.prediction.text, world).map(|(name, _)| name);
            let is_other = named.as_deref() != gold(it).map(|gold| gold.api.as_str());
            Some(if is_other { "other_tool" } else { "wrong_call" })
        }
        // The published script does not ask whether all calls were predicted.
        None if world.compat == ApiCompat::Original => None,
        None => (!(0..task.calls.len()).all(is_right)).then_some("missing_calls"),
    };
    let class = class.and_then(|name| Class::find(&CLASSES, name));
    let wrong_searches = predicted
        .iter()
        .filter(|it| it.miss == Some(Miss::Different) && gold(it).is_some_and(|gold| gold.api == SEARCHER));
    let right = predicted.iter().filter(|it| it.miss.is_none()).count();
    let count = |name: &'static str, number: usize| Score::new(name, number as f64);
    let scores = vec![
        count(PREDICTED, predicted.len()),
        count(RIGHT, right),
        count(SEARCH_ERRORS, wrong_searches.count()),
    ];
    let rated = |it: &Predicted<'_>| RatedCall {
        call: shortened(it.prediction.text.trim(), CALL_CHARACTERS_MAX),
        result: Some(in_result(it.miss).to_owned()),
        is_error: it.miss == Some(Miss::NotCarriedOut),
        worth: if it.miss.is_none() { "right" } else { "wrong" }.to_owned(),
    };
    let lacking = task.calls.iter().enumerate().filter(|(place, _)| match world.compat {
        ApiCompat::Right => !is_right(*place),
        ApiCompat::Original => predicted.iter().any(|it| it.prediction.call == *place && it.miss.is_some()),
    });
    let detail = ApiDetail {
        made: predicted.len(),
        unique: right,
        missing: lacking.map(|(_, call)| shortened(&in_words(call), CALL_CHARACTERS_MAX)).collect(),
        calls: predicted.iter().take(CALLS_KEPT_MAX).map(rated).collect(),
        ..empty(task, class)
    };
    finish(&detail, class, scores)
}

/// What came of a predicted call.
fn in_result(miss: Option<Miss>) -> &'static str {
    match miss {
        None => "as it should be",
        Some(Miss::NoCall) => "there is no call in it",
        Some(Miss::NotCarriedOut) => "it cannot be carried out",
        Some(Miss::Different | Miss::NoGold) => "not what it should be",
    }
}

/// Judges predictions of replies by their ROUGE-L. A line belongs to the task whose reply it repeats as `output`.
///
/// # Errors
/// A line has another form, repeats the reply of no task, or is the second one for a task.
pub(super) fn score_replies(
    cases: &[TaskCase],
    text: &str,
    file: &str,
    compat: ApiCompat,
) -> Result<PredictionVerdicts, CaseError> {
    let refuse = |what: String| CaseError::new(format!("{file}: {what}"));
    let replies = read_replies(text).map_err(|error| refuse(error.to_string()))?;
    let mut found: Vec<Option<&ReplyPrediction>> = cases.iter().map(|_| None).collect();
    for (number, reply) in replies.iter().enumerate() {
        // Tasks may have the same reply, and then any of them will do.
        let is_next = |(case, found): &(&TaskCase, &mut Option<&ReplyPrediction>)| {
            found.is_none() && case.task().reply.trim() == reply.gold.trim()
        };
        match cases.iter().zip(&mut found).find(is_next) {
            Some((_, empty)) => *empty = Some(reply),
            None => {
                return Err(refuse(format!(
                    "prediction {}: its `output` is the reply of none of the tasks that are scored, or of one that has a \
                     prediction already",
                    number + 1
                )));
            }
        }
    }
    let mut scored = PredictionVerdicts::default();
    for (case, found) in cases.iter().zip(found) {
        let task = case.task();
        let reply = found.map(|found| found.text.as_str()).unwrap_or_default();
        // The published script aborts at a reply that cannot be compared; here it counts as 0.
        let rouge = reply_score(reply, &task.reply).unwrap_or(0.0);
        let class = reply.trim().is_empty().then(|| Class::find(&CLASSES, "no_answer")).flatten();
        let detail = ApiDetail {
            rouge_l: Some(rouge),
            answer: Some(shortened(reply, TEXT_CHARACTERS_MAX)),
            ..empty(task, class)
        };
        // The published script takes the mean over the predictions that there are.
        let counts = found.is_some() || compat == ApiCompat::Right;
        let verdict = finish(&detail, class, counts.then(|| Score::new(ROUGE, rouge)).into_iter().collect());
        add(&mut scored, task, verdict, found.is_none());
    }
    Ok(scored)
}

/// Adds the verdict on a task, which is another one if the task has no prediction.
fn add(scored: &mut PredictionVerdicts, task: &UserTask, verdict: Verdict, is_missing: bool) {
    scored.add(&task.id, if is_missing { missing(verdict) } else { verdict }, is_missing);
}

fn empty(task: &UserTask, class: Option<Class>) -> ApiDetail {
    ApiDetail {
        schema: VERDICT_SCHEMA.to_owned(),
        case: task.id.clone(),
        passed: class.is_none(),
        class: class.map(|class| class.as_str().to_owned()),
        flags: Vec::new(),
        made: 0,
        required: task.calls.len(),
        unique: 0,
        repeats: 0,
        rouge_l: None,
        missing: Vec::new(),
        early: Vec::new(),
        lacking: Vec::new(),
        answer: None,
        ended: None,
        calls: Vec::new(),
    }
}

fn finish(detail: &ApiDetail, class: Option<Class>, scores: Vec<Score>) -> Verdict {
    Verdict::new(Scored { class, flags: Vec::new(), scores }, detail)
}
