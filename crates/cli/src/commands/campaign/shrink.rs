//! Shrinking the smallest failures of a finished campaign.

use std::sync::Arc;

use planproof_engine::studies::ShrinkOptions;
use planproof_engine::{Campaign, CampaignEnd, EngineError, Outcome, Supervision};
use planproof_order::synth::{JudgeOptions, PlanningCase};
use planproof_order::{CandidateRecord, OrderCase, ShrinkRun, Shrinking, pick_failures, shrinker};
use planproof_store::Writer;
use planproof_suite::Case;
use tokio_util::sync::CancellationToken;

use super::derived::{Derived, Keeper};
use super::prepared::Prepared;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::render::counted;
use crate::{orders, progress};

/// Whether nothing is left to be run.
pub(super) fn is_over(
    options: &ShrinkOptions,
    judge: JudgeOptions,
    cases: &[Arc<dyn Case>],
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

/// Shrinks the failures. `observe` gets each run of a candidate.
pub(super) async fn shrink(
    prepared: &Prepared,
    (campaign, cases): (&Campaign, &[Arc<OrderCase>]),
    outcomes: &[Outcome],
    options: ShrinkOptions,
    watch: (Writer, &CancellationToken, Supervision),
    observe: impl FnMut(&CandidateRecord, &Outcome),
    global: &Global,
) -> Result<(CampaignEnd, Shrinking), EngineError> {
    let (writer, stop, supervision) = watch;
    let failures = pick_failures(cases, &orders::outcomes(outcomes), &options);
    progress::say(global, &format!("shrinking {}", counted(failures.len(), "failure")));
    let id = Derived::Shrinking.id(&campaign.id);
    let run = ShrinkRun { campaign, cases, id, options, failures, shrinker: shrinker() };
    let seed = ShrinkRun::seed(campaign.seed);
    let mut keeper = Keeper::new(prepared, Derived::Shrinking, seed, options.repeats());
    // A replay sends no requests that were not sent when it was recorded.
    let may_run = |case: &PlanningCase, repeat: u32| prepared.run.may_follow(&case.id, repeat);
    let keep = |first: u32, candidates: &[CandidateRecord]| {
        keeper.keep(first, candidates.iter().map(|record| (&record.case, record.origin())))
    };
    run.run(Some(writer), prepared.candidates.clone(), stop, supervision, may_run, keep, observe).await
}
