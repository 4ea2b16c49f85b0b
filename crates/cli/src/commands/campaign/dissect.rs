//! Dissecting the failures of a finished campaign.

use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_engine::{Campaign, CampaignEnd, EngineError, Outcome, Supervision};
use planproof_order::synth::{Mutator, PlanningCase, Wordings};
use planproof_order::{DissectOptions, Dissection, DissectionRun, OrderCase, TrialRecord, pick_errors};
use planproof_store::Writer;
use tokio_util::sync::CancellationToken;

use super::derived::{Derived, Keeper};
use super::prepared::Prepared;
use crate::arguments::Global;
use crate::render::counted;
use crate::{orders, progress};

/// Whether nothing is left to be tried.
pub(super) fn is_over(
    options: &DissectOptions,
    outcomes: &[Outcome],
    begun: Option<&(String, Dissection)>,
) -> bool {
    match begun {
        Some((_, dissection)) => dissection.is_complete(),
        // Any seed will do: it decides which errors are drawn, not whether there are any.
        None => pick_errors(&orders::outcomes(outcomes), options, 0).is_empty(),
    }
}

/// Dissects the failures. `observe` gets each trial with its outcome.
pub(super) async fn dissect(
    prepared: &Prepared,
    (campaign, cases): (&Campaign, &[Arc<OrderCase>]),
    outcomes: &[Outcome],
    options: DissectOptions,
    watch: (Writer, &CancellationToken, Supervision),
    observe: impl FnMut(&TrialRecord, &Outcome),
    global: &Global,
) -> Result<(CampaignEnd, Dissection), EngineError> {
    let (writer, stop, supervision) = watch;
    let errors = pick_errors(&orders::outcomes(outcomes), &options, campaign.seed);
    progress::say(global, &format!("dissecting {}", counted(errors.len(), "failure")));
    let run = DissectionRun {
        campaign,
        cases,
        id: Derived::Dissection.id(&campaign.id),
        options,
        errors,
        mutator: Mutator::new(Wordings::shipped(), prepared.order.bank()),
    };
    let seed = DissectionRun::seed(campaign.seed);
    let mut keeper = Keeper::new(prepared, Derived::Dissection, seed, NonZeroU32::MIN);
    // A replay sends no requests that were not sent when it was recorded.
    let may_run = |case: &PlanningCase| prepared.run.may_follow(&case.id, 0);
    let keep = |first: u32, trials: &[TrialRecord]| {
        keeper.keep(first, trials.iter().map(|record| (&record.case, record.origin())))
    };
    run.run(Some(writer), prepared.trials.clone(), stop, supervision, may_run, keep, observe).await
}
