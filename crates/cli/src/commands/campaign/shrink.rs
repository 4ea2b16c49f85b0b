//! Shrinking the smallest failures of a campaign that has come to its end.

use std::sync::Arc;

use planproof_bench::studies::ShrinkOptions;
use planproof_bench::{Campaign, CampaignEnd, CampaignError, Outcome, Supervision};
use planproof_order::synth::{Case, JudgeOptions, Shrinker, Wordings, read};
use planproof_order::{CandidateRecord, OrderCase, OrderOutcome, ShrinkRun, Shrinking, pick_failures};
use planproof_store::Writer;
use planproof_suite::Case as AnyCase;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::derived::{Derived, Keeper, scored};
use super::prepared::Prepared;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::{orders, progress};

/// What the store keeps of where a candidate comes from.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Origin {
    /// Place of the failed case.
    error: u32,
    /// Which of its candidates, from 1; null for the smallest case that is run again to confirm it.
    candidate: Option<u32>,
}

/// Makes smaller cases of the words that cases are written with.
pub(crate) fn shrinker() -> Shrinker<'static> {
    Shrinker::new(Wordings::shipped(), read::Directions::shipped())
}

/// The candidates of a stored campaign: its cases, outcomes and origins, put together. `None` where they do
/// not fit together.
pub(crate) fn read_candidates(
    cases: Vec<Case>,
    outcomes: Vec<OrderOutcome>,
    origins: Vec<Option<String>>,
    failed_cases: usize,
) -> Option<Vec<CandidateRecord>> {
    let read = |(case, origin): (Case, Option<String>)| {
        let Origin { error, candidate } = serde_json::from_str(&origin?).ok()?;
        let record = CandidateRecord { error, number: candidate, case, outcomes: Default::default() };
        ((error as usize) < failed_cases).then_some(record)
    };
    if cases.len() != origins.len() {
        return None;
    }
    let mut records = cases.into_iter().zip(origins).map(read).collect::<Option<Vec<_>>>()?;
    for outcome in outcomes {
        records.get_mut(outcome.ordinal as usize)?.outcomes.insert(outcome.repeat, outcome);
    }
    Some(records)
}

/// Whether nothing is left to be run.
pub(super) fn is_over(
    options: &ShrinkOptions,
    judge: JudgeOptions,
    cases: &[Arc<dyn AnyCase>],
    outcomes: &[Outcome],
    begun: Option<&(String, Shrinking)>,
) -> Result<bool, Failure> {
    Ok(match begun {
        Some((_, shrinking)) => shrinking.is_complete(),
        None => {
            let cases = orders::cases(judge, cases)?;
            pick_failures(&cases, &orders::outcomes(outcomes), options).is_empty()
        }
    })
}

/// The candidates so far. What could not be scored is run again.
pub(super) fn scored_candidates(begun: Option<(String, Shrinking)>) -> Vec<CandidateRecord> {
    let mut candidates = begun.map(|(_, shrinking)| shrinking.candidates).unwrap_or_default();
    for candidate in &mut candidates {
        candidate.outcomes.retain(|_, outcome| scored(outcome));
    }
    candidates
}

/// Shrinks what was failed. `observe` is handed each run of a candidate.
pub(super) async fn shrink(
    prepared: &Prepared,
    (campaign, cases): (&Campaign, &[Arc<OrderCase>]),
    outcomes: &[Outcome],
    options: ShrinkOptions,
    watch: (Writer, &CancellationToken, Supervision),
    observe: impl FnMut(&CandidateRecord, &Outcome),
    global: &Global,
) -> Result<(CampaignEnd, Shrinking), CampaignError> {
    let (writer, stop, supervision) = watch;
    let failures = pick_failures(cases, &orders::outcomes(outcomes), &options);
    progress::say(global, &format!("shrinking {} failures", failures.len()));
    let id = Derived::Shrinking.id(&campaign.id);
    let run = ShrinkRun { campaign, cases, id, options, failures, shrinker: shrinker() };
    let seed = ShrinkRun::seed(campaign.seed);
    let mut keeper = Keeper::new(prepared, Derived::Shrinking, seed, options.repeats());
    // A replay asks nothing that was not asked when it was recorded.
    let may_run = |case: &Case, repeat: u32| prepared.run.may_follow(&case.id, repeat);
    let keep = |first: u32, candidates: &[CandidateRecord]| {
        let origin = |it: &CandidateRecord| Origin { error: it.error, candidate: it.number };
        keeper.keep(first, candidates.iter().map(|record| (&record.case, origin(record))))
    };
    run.run(Some(writer), prepared.candidates.clone(), stop, supervision, may_run, keep, observe).await
}
