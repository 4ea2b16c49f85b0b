//! Campaigns whose cases are not all known at the beginning: the next cases follow from the outcomes of earlier ones.
//!
//! They are run in rounds. The runs of a round follow from the results of earlier rounds, in whatever order their
//! runs ended; so the same seed gives the same cases in the same places, whatever the concurrency and however often
//! it was cut off.

use std::collections::HashSet;
use std::sync::Arc;

use planproof_store::{StoreError, Unit, Writer};
use planproof_suite::{Case, SequelCase, SequelRounds};
use tokio_util::sync::CancellationToken;

use crate::{Campaign, CampaignEnd, EngineError, Outcome, RunProgress, Supervision, Work};

/// What knows which cases come next.
pub trait Rounds {
    /// A case, and where it comes from.
    type Record;

    /// All of them so far, in the order in which they were made: the index of each is its ordinal.
    fn records(&self) -> &[Self::Record];

    /// The case of one, to be run.
    fn case(&self, record: &Self::Record) -> Arc<dyn Case>;

    /// The next units to run; records may be added for them. Empty at the end.
    fn next(&mut self) -> Vec<Unit>;

    /// What came of a run.
    fn take(&mut self, outcome: Outcome);

    /// That run will have no result this time, so anything that waits for it stops.
    fn halt(&mut self, unit: Unit);
}

impl Rounds for Box<dyn SequelRounds + '_> {
    type Record = SequelCase;

    fn records(&self) -> &[SequelCase] {
        self.cases()
    }

    fn case(&self, record: &SequelCase) -> Arc<dyn Case> {
        Arc::clone(&record.case)
    }

    fn next(&mut self) -> Vec<Unit> {
        let units = (**self).next().into_iter();
        units.map(|(ordinal, repeat)| Unit { ordinal, repeat }).collect()
    }

    fn take(&mut self, outcome: Outcome) {
        (**self).take(outcome.result());
    }

    fn halt(&mut self, unit: Unit) {
        (**self).halt(unit.ordinal, unit.repeat);
    }
}

/// The settings of a campaign in rounds beside its cases.
pub struct RoundWatch<'a> {
    /// Where their runs are kept.
    pub store: Option<Writer>,
    pub stop: &'a CancellationToken,
    /// What watches over the runs.
    pub supervision: Supervision,
}

/// Runs all rounds, with the agent, the id, the seed and the repeats of `campaign` (its cases are ignored). Passes
/// new records to `keep`, with the index of the first, before any of them is run, and each outcome to `observe`. A
/// unit that `may_run` refuses is not run.
///
/// # Errors
/// Those of [`Campaign::run`], and those of `keep`.
pub async fn run_rounds<R: Rounds>(
    rounds: &mut R,
    campaign: &Campaign,
    watch: RoundWatch<'_>,
    may_run: impl Fn(&R::Record, u32) -> bool,
    mut keep: impl FnMut(u32, &[R::Record]) -> Result<(), StoreError>,
    mut observe: impl FnMut(&R::Record, &Outcome),
) -> Result<CampaignEnd, EngineError> {
    let RoundWatch { store, stop, supervision } = watch;
    loop {
        let before = rounds.records().len();
        let wanted = rounds.next();
        if wanted.is_empty() {
            return Ok(CampaignEnd::Complete);
        }
        let records = rounds.records();
        if records.len() > before {
            keep(before as u32, &records[before..])?;
        }
        let record = |ordinal: u32| &records[ordinal as usize];
        let (units, refused): (Vec<Unit>, Vec<Unit>) =
            wanted.into_iter().partition(|unit| may_run(record(unit.ordinal), unit.repeat));
        let (mut outcomes, mut end) = (Vec::new(), CampaignEnd::Complete);
        if let (Some(first), Some(last)) =
            (units.iter().map(|unit| unit.ordinal).min(), units.iter().map(|unit| unit.ordinal).max())
        {
            // A campaign's cases are contiguous, so those between the first and the last are in it even if they are not
            // run.
            let cases: Arc<[Arc<dyn Case>]> =
                (first..=last).map(|ordinal| rounds.case(record(ordinal))).collect();
            let round = Campaign { cases, ..campaign.clone() };
            let (store, supervision) = (store.clone(), supervision.clone());
            end = round
                .run(Work { first, ..Work::new(store, &units, stop).under(supervision) }, |progress| {
                    let RunProgress::Ended(outcome) = progress else { return };
                    observe(&records[outcome.ordinal as usize], &outcome);
                    outcomes.push(*outcome);
                })
                .await?;
        }
        let ended: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
        outcomes.into_iter().for_each(|outcome| rounds.take(outcome));
        // A run that was refused a request does not count.
        let open = units.into_iter().filter(|unit| !ended.contains(unit));
        refused.into_iter().chain(open).for_each(|unit| rounds.halt(unit));
        if end != CampaignEnd::Complete {
            return Ok(end);
        }
    }
}
