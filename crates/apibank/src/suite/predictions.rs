//! Finished predictions: for tasks of level 3, the calls that a model made and its reply; for calls of levels 1 and
//! 2, the text with the call.

use std::collections::HashMap;
use std::sync::Arc;

use planproof_suite::rows::lines;
use planproof_suite::runs::{Ended, shortened};
use planproof_suite::{Case, CaseError, Data, PredictionVerdicts};
use planproof_trace::{EndReason, Event, EventKind};
use serde::Deserialize;

use super::calls::sample_of;
use super::judge::{CALL_CHARACTERS_MAX, RatedCall, missing, verdict};
use super::{TaskCase, forced};
use crate::evaluate::score::DialoguePredictions;
use crate::level3::metrics::Made;
use crate::level3::{carry_out, read_call};
use crate::world::{ApiCompat, ApiWorld};

/// Maximum number of calls of a prediction.
const CALLS_MAX: usize = 1_000;

/// A line of predictions. Other fields are ignored.
#[derive(Deserialize)]
struct Row {
    id: String,
    calls: Vec<String>,
    #[serde(default)]
    reply: String,
}

/// Judges lines of predictions. Their calls are executed one after the other, with separate databases for each
/// task; a text without a call counts as wrong. Lines in the published forms are judged as `suite/forced.rs` says.
pub(super) fn score(
    cases: &[Arc<dyn Case>],
    predictions: Data<'_>,
    is_original: bool,
) -> Result<PredictionVerdicts, CaseError> {
    // The engine knows cases only by their traits, so the tasks are read from their lines again.
    let cases =
        cases.iter().map(|case| TaskCase::read(&case.to_line())).collect::<Result<Vec<TaskCase>, _>>()?;
    let Data { text, file } = predictions;
    let compat = if is_original { ApiCompat::Original } else { ApiCompat::Right };
    match forced::Form::of(text) {
        Some(forced::Form::Calls) => return forced::score_calls(&cases, text, file, compat),
        Some(forced::Form::Replies) => return forced::score_replies(&cases, text, file, compat),
        None if is_original => {
            return Err(CaseError::new(format!(
                "{file}: the published script takes lines with `sample_id`, `api_id` and `pred`, or with `output` and \
                 `pred`; leave out --compat original for others"
            )));
        }
        None => {}
    }
    let places: HashMap<&str, usize> =
        cases.iter().enumerate().map(|(place, case)| (case.task().id.as_str(), place)).collect();
    let mut found: Vec<Option<Row>> = cases.iter().map(|_| None).collect();
    for line in lines(text, file) {
        let (number, line) = line.map_err(CaseError::new)?;
        let refuse = |what: String| CaseError::new(format!("{file}:{number}: {what}"));
        let row: Row = serde_json::from_str(line).map_err(|error| {
            refuse(format!("no prediction: {error}; write {{\"id\": ..., \"calls\": [...], \"reply\": ...}}"))
        })?;
        if row.calls.len() > CALLS_MAX {
            return Err(refuse(format!("there are more than {CALLS_MAX} calls")));
        }
        let place = places.get(row.id.as_str());
        let place = place
            .ok_or_else(|| refuse(format!("none of the tasks that are scored has the id `{}`", row.id)))?;
        // A second prediction would silently replace the first.
        match found.get_mut(*place) {
            Some(empty @ None) => *empty = Some(row),
            _ => return Err(refuse(format!("the task `{}` has a prediction already", row.id))),
        }
    }
    let mut predicted = PredictionVerdicts::default();
    for (case, row) in cases.iter().zip(found) {
        let is_missing = row.is_none();
        // Judged like an empty prediction, so that the needed calls of the task count.
        let row = row.unwrap_or_else(|| Row { id: String::new(), calls: Vec::new(), reply: String::new() });
        let mut world = case.world();
        let (made, called) =
            row.calls.iter().map(|text| make(text, &mut world)).unzip::<_, _, Vec<_>, Vec<_>>();
        let verdict = verdict(case, &Ended::Answered(&row.reply), &made, called);
        predicted.add(&case.task().id, if is_missing { missing(verdict) } else { verdict }, is_missing);
    }
    Ok(predicted)
}

/// Executes the call in a text.
fn make(text: &str, world: &mut ApiWorld) -> (Made, RatedCall) {
    let call = read_call(text, world);
    let name = call.as_ref().map(|(name, _)| name.clone()).unwrap_or_default();
    let record = call.and_then(|(name, arguments)| carry_out(&name, &arguments, world).ok());
    let result = record.as_ref().map(|record| match record.exception.is_none() {
        true => record.output.to_text(),
        false => record.exception.to_text(),
    });
    let is_error = record.as_ref().is_none_or(|record| !record.exception.is_none());
    let called = RatedCall {
        call: shortened(text.trim(), CALL_CHARACTERS_MAX),
        result: result.map(|result| shortened(&result, CALL_CHARACTERS_MAX)),
        is_error,
        worth: String::new(),
    };
    (Made { api: name, record }, called)
}

/// Judges predictions of calls, in the form of the published evaluator. A call without a prediction is wrong.
pub(super) fn score_calls(
    cases: &[Arc<dyn Case>],
    predictions: Data<'_>,
    is_original: bool,
) -> Result<PredictionVerdicts, CaseError> {
    let Data { text, file } = predictions;
    let found =
        DialoguePredictions::read(text).map_err(|error| CaseError::new(format!("{file}: {error}")))?;
    let mut predicted = PredictionVerdicts::default();
    for case in cases {
        let id = &case.card().id;
        let answer = sample_of(id).and_then(|(file, number)| found.get(file, number));
        // Treated as a run that ended with this answer: the cases contain tables that should not be parsed again.
        let end = EndReason::Answered { text: answer.unwrap_or_default().to_owned() };
        let verdict = case.judge(&[Event::new(0, EventKind::End(end))]);
        let verdict = verdict.map_err(|unscored| CaseError::new(format!("{id}: {unscored}")))?;
        // To the published evaluator, a missing prediction is one without a call.
        let counts_as_missing = answer.is_none() && !is_original;
        predicted.add(id, if counts_as_missing { missing(verdict) } else { verdict }, answer.is_none());
    }
    Ok(predicted)
}
