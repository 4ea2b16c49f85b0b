//! Dissecting the failures of a campaign that has come to its end.

use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_bench::{Campaign, CampaignEnd, CampaignError, Outcome, Supervision};
use planproof_order::synth::{Case, Change, Mutator, Piece, Span, Wordings};
use planproof_order::{
    DissectOptions, Dissection, DissectionRun, OrderCase, OrderOutcome, Step, Trial, TrialRecord, pick_errors,
};
use planproof_store::Writer;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::derived::{Derived, Keeper, scored};
use super::prepared::Prepared;
use crate::arguments::Global;
use crate::{orders, progress};

/// What the store keeps of where a trial's case comes from.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Origin {
    /// Place of the failed case.
    error: u32,
    step: String,
    number: u32,
    changes: Vec<OriginChange>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OriginChange {
    piece: String,
    from: String,
    to: String,
    /// Before and now, each as the first character and the one behind the last.
    places: Vec<[[u32; 2]; 2]>,
}

impl Origin {
    fn of(record: &TrialRecord) -> Self {
        let place = |span: Span| [span.start, span.end];
        let change = |change: &Change| OriginChange {
            piece: change.piece.as_str().to_owned(),
            from: change.from.clone(),
            to: change.to.clone(),
            places: change.places.iter().map(|(from, to)| [place(*from), place(*to)]).collect(),
        };
        Self {
            error: record.error,
            step: record.trial.step.as_str().to_owned(),
            number: record.trial.number,
            changes: record.changes.iter().map(change).collect(),
        }
    }

    fn trial(&self) -> Option<Trial> {
        let step = Step::ALL.into_iter().find(|step| step.as_str() == self.step)?;
        Some(Trial { step, number: self.number })
    }

    fn changes(self) -> Option<Vec<Change>> {
        let span = |[start, end]: [u32; 2]| Span { start, end };
        let change = |change: OriginChange| {
            Some(Change {
                piece: Piece::ALL.into_iter().find(|piece| piece.as_str() == change.piece)?,
                from: change.from,
                to: change.to,
                places: change.places.into_iter().map(|[from, to]| (span(from), span(to))).collect(),
            })
        };
        self.changes.into_iter().map(change).collect()
    }
}

/// The trials of a stored campaign: its cases, outcomes and origins, put together. `None` where they do not
/// fit together.
pub(crate) fn read_trials(
    cases: Vec<Case>,
    outcomes: Vec<OrderOutcome>,
    origins: Vec<Option<String>>,
    failed_cases: usize,
) -> Option<Vec<TrialRecord>> {
    let read = |(case, origin): (Case, Option<String>)| {
        let origin: Origin = serde_json::from_str(&origin?).ok()?;
        let (error, trial) = (origin.error, origin.trial()?);
        let record = TrialRecord { error, trial, case, changes: origin.changes()?, outcome: None };
        ((error as usize) < failed_cases).then_some(record)
    };
    if cases.len() != origins.len() {
        return None;
    }
    let mut records = cases.into_iter().zip(origins).map(read).collect::<Option<Vec<_>>>()?;
    for outcome in outcomes {
        let place = outcome.ordinal as usize;
        records.get_mut(place)?.outcome = Some(outcome);
    }
    Some(records)
}

/// Whether nothing is left to be tried.
pub(super) fn is_over(
    options: &DissectOptions,
    outcomes: &[Outcome],
    begun: Option<&(String, Dissection)>,
) -> bool {
    match begun {
        Some((_, dissection)) => dissection.is_complete(),
        None => pick_errors(&orders::outcomes(outcomes), options, 0).is_empty(),
    }
}

/// The trials so far. What could not be scored is tried again.
pub(super) fn scored_trials(begun: Option<(String, Dissection)>) -> Vec<TrialRecord> {
    let mut trials = begun.map(|(_, dissection)| dissection.trials).unwrap_or_default();
    for trial in &mut trials {
        trial.outcome = trial.outcome.take().filter(scored);
    }
    trials
}

/// Dissects what was failed. `observe` is handed each trial with its outcome.
pub(super) async fn dissect(
    prepared: &Prepared,
    (campaign, cases): (&Campaign, &[Arc<OrderCase>]),
    outcomes: &[Outcome],
    options: DissectOptions,
    watch: (Writer, &CancellationToken, Supervision),
    observe: impl FnMut(&TrialRecord, &Outcome),
    global: &Global,
) -> Result<(CampaignEnd, Dissection), CampaignError> {
    let (writer, stop, supervision) = watch;
    let errors = pick_errors(&orders::outcomes(outcomes), &options, campaign.seed);
    progress::say(global, &format!("dissecting {} failures", errors.len()));
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
    // A replay asks nothing that was not asked when it was recorded.
    let may_run = |case: &Case| prepared.run.may_follow(&case.id, 0);
    let keep = |first: u32, trials: &[TrialRecord]| {
        keeper.keep(first, trials.iter().map(|record| (&record.case, Origin::of(record))))
    };
    run.run(Some(writer), prepared.trials.clone(), stop, supervision, may_run, keep, observe).await
}
