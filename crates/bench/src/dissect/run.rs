//! Running a dissection as a campaign of its trials.

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_store::{StoreError, Unit, Writer};
use planproof_synth::{Case, Draw, Mutator};
use tokio_util::sync::CancellationToken;

use super::{Course, DissectOptions, Dissection, Move, TrialRecord};
use crate::{Campaign, CampaignEnd, CampaignError, Outcome, Supervision};

/// A dissection that is to be run.
#[derive(Clone)]
pub struct DissectionRun<'a> {
    /// The campaign whose errors are dissected, with the agent, its limits and its seed.
    pub campaign: &'a Campaign,
    /// Id of the campaign of the trials.
    pub id: String,
    /// How.
    pub options: DissectOptions,
    /// Places of the failed cases, as [`pick_errors`](super::pick_errors) gives them.
    pub errors: Vec<u32>,
    /// Makes the variants.
    pub mutator: Mutator<'a>,
}

impl DissectionRun<'_> {
    /// Runs all trials that are left after `known`, those that were made already in the order in which they were made.
    /// Hands the new ones of each round to `keep`, with the place of the first, before any of them is run, and each
    /// outcome to `observe` with the trials so far. A trial that `may_run` refuses leaves its error open, and so does one
    /// that could not be scored.
    ///
    /// # Errors
    /// As [`Campaign::run`], and what `keep` says.
    #[expect(
        clippy::too_many_arguments,
        reason = "what a campaign takes, and what the trials need beside it"
    )]
    pub async fn run(
        &self,
        store: Option<Writer>,
        known: Vec<TrialRecord>,
        stop: &CancellationToken,
        supervision: Supervision,
        may_run: impl Fn(&Case) -> bool,
        mut keep: impl FnMut(u32, &[TrialRecord]) -> Result<(), StoreError>,
        mut observe: impl FnMut(&TrialRecord, &Outcome),
    ) -> Result<(CampaignEnd, Dissection), CampaignError> {
        let mut course =
            Course::new(&self.campaign.cases, self.options, self.campaign.seed, self.mutator, known);
        let mut halted: HashSet<u32> = HashSet::new();
        loop {
            let first = course.trials.len();
            let mut round: BTreeSet<u32> = BTreeSet::new();
            let mut new = Vec::new();
            for &error in self.errors.iter().filter(|error| !halted.contains(error)) {
                match course.advance(error) {
                    Move::Over(_) => {}
                    Move::Again(place) => drop(round.insert(place as u32)),
                    Move::New(record) => new.push(*record),
                }
            }
            // A round that was cut off comes to its end first, so that the trials of the next have the places that they
            // would have had.
            if round.is_empty() {
                round.extend(new.into_iter().map(|record| course.add(record) as u32));
            }
            if course.trials.len() > first {
                keep(first as u32, &course.trials[first..])?;
            }
            round.retain(|place| {
                let record = &course.trials[*place as usize];
                let may_run = may_run(&record.case);
                if !may_run {
                    halted.insert(record.error);
                }
                may_run
            });
            if round.is_empty() {
                let is_over = self
                    .errors
                    .iter()
                    .all(|error| halted.contains(error) || matches!(course.advance(*error), Move::Over(_)));
                if is_over {
                    return Ok((CampaignEnd::Complete, course.conclude(&self.errors)));
                }
                continue;
            }
            let campaign = self.trials(&course.trials);
            let units: Vec<Unit> = round.iter().map(|place| Unit { ordinal: *place, repeat: 0 }).collect();
            let mut outcomes = Vec::new();
            let trials = &course.trials;
            let end = campaign
                .run_units(store.clone(), &units, stop, supervision.clone(), |outcome| {
                    observe(&trials[outcome.ordinal as usize], &outcome);
                    outcomes.push(outcome);
                })
                .await?;
            for outcome in outcomes {
                let record = &mut course.trials[outcome.ordinal as usize];
                if outcome.passed().is_none() {
                    halted.insert(record.error);
                }
                record.outcome = Some(outcome);
            }
            // One that was refused a request does not count as run.
            let open = round.iter().map(|place| &course.trials[*place as usize]);
            halted.extend(open.filter(|record| record.outcome.is_none()).map(|record| record.error));
            if end != CampaignEnd::Complete {
                return Ok((end, course.conclude(&self.errors)));
            }
        }
    }

    /// The trials so far as a campaign. Its runs have other seeds than those of the campaign they come from.
    fn trials(&self, trials: &[TrialRecord]) -> Campaign {
        let cases: Arc<[Case]> = trials.iter().map(|record| record.case.clone()).collect();
        let seed = Self::seed(self.campaign.seed);
        Campaign { id: self.id.clone(), cases, seed, repeats: NonZeroU32::MIN, ..self.campaign.clone() }
    }

    /// The seed of the trials' runs, by that of the campaign.
    pub fn seed(campaign: u64) -> u64 {
        Draw::new(campaign, 0, "dissect/runs").number()
    }
}
