//! Finished plans: files of submissions in the published form.

use std::collections::HashMap;
use std::sync::Arc;

use planproof_suite::{Case, CaseError, Data, PredictionVerdicts};
use serde_json::Value;

use super::case::TripCase;
use super::judge::{self, RunFacts};
use super::task::{QueryMode, TripTask};
use crate::TripCompat;
use crate::plan::{Submission, TripPlan};

/// Judges a file of plans, one per line: `{"idx": 1, "query": "...", "plan": [...] or null}`.
///
/// With [`TripCompat::Original`], a line belongs to the case at the same position, whatever its `idx`, as in the
/// published evaluator; there must not be more lines than cases. Otherwise a line with an `idx` belongs to the
/// query with that number, and a line without one to the case at the same position.
pub(super) fn score(
    cases: &[Arc<dyn Case>],
    read: &dyn Fn(&TripTask) -> TripCase,
    predictions: Data<'_>,
) -> Result<PredictionVerdicts, CaseError> {
    // The boundary passes untyped cases. Their lines restore the typed ones.
    let cases: Vec<TripCase> = cases
        .iter()
        .map(|case| TripTask::read(&case.to_line()).map(|task| read(&task)))
        .collect::<Result<_, _>>()?;
    if cases.iter().any(|case| case.task().unjudged) {
        let what = "the published test set does not say what its plans are judged by, so they cannot be scored here: \
                    hand them in at the authors' leaderboard";
        return Err(CaseError::new(what));
    }
    let Data { text, file } = predictions;
    let submissions = Submission::read_all(text, file).map_err(CaseError::new)?;
    let fail = |what: String| Err(CaseError::new(format!("{file}: {what}")));
    let places: HashMap<u64, usize> =
        (0..).zip(&cases).map(|(place, case)| (case.task().query.idx, place)).collect();
    let is_original = cases.iter().any(|case| case.task().options.compat == TripCompat::Original);
    let mut plans: Vec<Option<Value>> = vec![None; cases.len()];
    for (line, submission) in submissions.into_iter().enumerate() {
        let place = match submission.idx.filter(|_| !is_original) {
            Some(idx) => match places.get(&idx) {
                Some(place) => *place,
                None => return fail(format!("plan {}: no query has the `idx` {idx}", line + 1)),
            },
            None => line,
        };
        match plans.get_mut(place) {
            Some(Some(_)) => return fail(format!("plan {}: its query has a plan already", line + 1)),
            Some(free) => *free = Some(submission.plan.0),
            None => return fail(format!("there are more plans than the {} queries", cases.len())),
        }
    }
    let mut scored = PredictionVerdicts::default();
    for (case, plan) in cases.iter().zip(plans) {
        let run = RunFacts { is_missing: plan.is_none(), ..RunFacts::default() };
        let verdict = match case.task().options.mode {
            QueryMode::Reading => judge::of_fields(case, plan, &run),
            QueryMode::TwoStage | QueryMode::SolePlanning => {
                let database = case.database()?;
                let verdict = judge::of_plan(case, &database, TripPlan(plan.unwrap_or_default()), &run);
                // A look-up that failed has found nothing, which is no fault of the plan.
                if let Some(outage) = database.flights.outage() {
                    return Err(CaseError::new(outage));
                }
                verdict
            }
        };
        scored.add(&case.task().id(), verdict, run.is_missing);
    }
    Ok(scored)
}
