//! Campaigns whose cases are not all known when they begin: which come next follows from what came of those before.
//!
//! They go in rounds. What is run in a round follows from what the rounds before came to, in whatever order
//! their runs ended; so the same seed gives the same cases in the same places, however many run at once and
//! however often it was cut off.

use std::collections::HashSet;
use std::sync::Arc;

use planproof_store::{StoreError, Unit, Writer};
use planproof_suite::Case;
use tokio_util::sync::CancellationToken;

use crate::{Campaign, CampaignEnd, CampaignError, Outcome, RunProgress, Supervision, Work};

/// What knows which cases come next.
pub trait Rounds {
    /// A case, and where it comes from.
    type Record;

    /// All of them so far, in the order in which they were made: the place of each is its ordinal.
    fn records(&self) -> &[Self::Record];

    /// The case of one, to be run.
    fn case(&self, record: &Self::Record) -> Arc<dyn Case>;

    /// What is to be run now, for which records may be added. Nothing at the end.
    fn next(&mut self) -> Vec<Unit>;

    /// What came of a run.
    fn take(&mut self, outcome: Outcome);

    /// There will be nothing of that run this time, so what waits for it does not resume.
    fn halt(&mut self, unit: Unit);
}

/// What a campaign in rounds takes beside its cases.
pub struct RoundWatch<'a> {
    /// Where their runs are kept.
    pub store: Option<Writer>,
    /// Ends it.
    pub stop: &'a CancellationToken,
    /// What watches over the runs.
    pub supervision: Supervision,
}

/// Runs all rounds, with the agent, the id, the seed and the repeats of `campaign` (its cases do not count).
/// Hands new records to `keep`, with the place of the first, before any of them is run, and each outcome to
/// `observe`. A unit that `may_run` refuses is not run.
///
/// # Errors
/// As [`Campaign::run`], and what `keep` says.
pub async fn run_rounds<R: Rounds>(
    rounds: &mut R,
    campaign: &Campaign,
    watch: RoundWatch<'_>,
    may_run: impl Fn(&R::Record, u32) -> bool,
    mut keep: impl FnMut(u32, &[R::Record]) -> Result<(), StoreError>,
    mut observe: impl FnMut(&R::Record, &Outcome),
) -> Result<CampaignEnd, CampaignError> {
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
        // One that was refused a request does not count as run.
        let open = units.into_iter().filter(|unit| !ended.contains(unit));
        refused.into_iter().chain(open).for_each(|unit| rounds.halt(unit));
        if end != CampaignEnd::Complete {
            return Ok(end);
        }
    }
}
