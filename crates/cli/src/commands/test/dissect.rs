//! Dissecting the failures of a campaign that has come to its end.

use planproof_bench::{
    Campaign, CampaignEnd, CampaignError, CaseSummary, DissectOptions, Dissection, DissectionRun, Outcome,
    Step, Supervision, Trial, TrialRecord, pick_errors,
};
use planproof_store::{DerivedCase, NewCampaign, NewCase, Store, StoreError, Writer};
use planproof_synth::file::write_case;
use planproof_synth::{Case, Change, Mutator, Piece, Span, Wordings};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::create::milliseconds_now;
use super::options::StoredOptions;
use super::prepared::Prepared;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::progress;

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

/// Id of the campaign of the trials.
pub(super) fn trials_id(campaign: &str) -> String {
    format!("{campaign}.dissection")
}

/// The trials of a stored campaign: its cases, outcomes and origins, put together. `None` where they do not fit together.
pub(crate) fn read_trials(
    cases: Vec<Case>,
    outcomes: Vec<Outcome>,
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

/// How a campaign is dissected that is gone on with: as it was begun, or as the command line says if it was not.
pub(super) fn resumed(
    now: Option<DissectOptions>,
    stored: Option<DissectOptions>,
    begun: Option<&(String, Dissection)>,
) -> Result<Option<DissectOptions>, Failure> {
    let before = begun.map(|(_, dissection)| dissection.options).or(stored);
    match (now, before) {
        (Some(now), Some(before)) if now != before => Err(Failure::usage(
            "--dissect: the campaign is dissected with other options already; go on with it without naming any",
        )),
        (now, before) => Ok(before.or(now)),
    }
}

/// Trials alone cannot be gone on with: what comes next follows from the campaign that is dissected.
pub(super) fn must_be_no_trials(store: &Store, campaign: &str) -> Result<(), Failure> {
    if store.origins(campaign)?.iter().all(Option::is_none) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{campaign} holds the trials of a dissection: go on with the campaign that is dissected"
    )))
}

/// Whether nothing is left to be tried.
pub(super) fn is_over(
    options: &DissectOptions,
    outcomes: &[Outcome],
    begun: Option<&(String, Dissection)>,
) -> bool {
    match begun {
        Some((_, dissection)) => dissection.is_complete(),
        None => pick_errors(outcomes, options, 0).is_empty(),
    }
}

/// The trials so far. What could not be scored is tried again.
pub(super) fn scored_trials(begun: Option<(String, Dissection)>) -> Vec<TrialRecord> {
    let mut trials = begun.map(|(_, dissection)| dissection.trials).unwrap_or_default();
    for trial in &mut trials {
        trial.outcome = trial.outcome.take().filter(|outcome| outcome.verdict.is_ok());
    }
    trials
}

/// Puts the trials into the store, as a campaign that this one leads to.
struct Keeper<'a> {
    prepared: &'a Prepared,
    store: &'a Store,
    is_created: bool,
}

impl Keeper<'_> {
    fn keep(&mut self, first: u32, trials: &[TrialRecord]) -> Result<(), StoreError> {
        let Prepared { campaign, options, .. } = self.prepared;
        let id = trials_id(&campaign.id);
        if !self.is_created && self.store.derived(&campaign.id)?.is_none() {
            let seed = DissectionRun::seed(campaign.seed);
            let options = StoredOptions { seed, limit: None, ..options.clone() };
            let row = NewCampaign {
                id: &id,
                created_ms: milliseconds_now(),
                command_line: "",
                agent: &campaign.agent.name,
                model: campaign.agent.model.as_deref(),
                simulated: campaign.agent.simulated,
                // All its keys are strings, so rendering cannot fail.
                options: &serde_json::to_string(&options).unwrap_or_default(),
                repeats: 1,
            };
            self.store.create_derived(&campaign.id, &row)?;
        }
        self.is_created = true;
        let case = |record: &TrialRecord| DerivedCase {
            case: NewCase {
                id: record.case.id.clone(),
                json: write_case(&record.case),
                summary: Some(CaseSummary::of(&record.case).to_json()),
            },
            origin: serde_json::to_string(&Origin::of(record)).unwrap_or_default(),
        };
        self.store.add_cases(&id, first, &trials.iter().map(case).collect::<Vec<_>>())
    }
}

/// Dissects what was failed. `observe` is handed each trial with its outcome.
pub(super) async fn dissect(
    prepared: &Prepared,
    campaign: &Campaign,
    outcomes: &[Outcome],
    options: DissectOptions,
    watch: (Writer, &CancellationToken, Supervision),
    observe: impl FnMut(&TrialRecord, &Outcome),
    global: &Global,
) -> Result<(CampaignEnd, Dissection), CampaignError> {
    let (writer, stop, supervision) = watch;
    let errors = pick_errors(outcomes, &options, campaign.seed);
    progress::say(global, &format!("dissecting {} failures", errors.len()));
    let run = DissectionRun {
        campaign,
        id: trials_id(&campaign.id),
        options,
        errors,
        mutator: Mutator::new(Wordings::shipped(), prepared.options.bank()),
    };
    let mut keeper = Keeper { prepared, store: &prepared.store, is_created: !prepared.trials.is_empty() };
    // A replay asks nothing that was not asked when it was recorded.
    let may_run = |case: &Case| {
        prepared.replayed.as_ref().is_none_or(|replayed| replayed.recorded.has_verdict(case, 0))
    };
    let keep = |first: u32, trials: &[TrialRecord]| keeper.keep(first, trials);
    run.run(Some(writer), prepared.trials.clone(), stop, supervision, may_run, keep, observe).await
}
