//! Running a dissection as a campaign of its trials.

use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_engine::rounds::{RoundWatch, run_rounds};
use planproof_engine::{Campaign, CampaignEnd, EngineError, Memory, Outcome, Supervision};
use planproof_store::{StoreError, Writer};
use planproof_synth::{Mutator, PlanningCase};
use planproof_trace::Draw;
use tokio_util::sync::CancellationToken;

use super::{DissectOptions, Dissection, Search, TrialRecord};
use crate::OrderCase;

/// A dissection that is to be run.
#[derive(Clone)]
pub struct DissectionRun<'a> {
    /// The campaign whose errors are dissected, with the agent, its limits and its seed.
    pub campaign: &'a Campaign,
    /// The cases of the campaign.
    pub cases: &'a [Arc<OrderCase>],
    /// Id of the campaign of the trials.
    pub id: String,
    pub options: DissectOptions,
    /// Indices of the failed cases, as returned by [`pick_errors`](super::pick_errors).
    pub errors: Vec<u32>,
    pub mutator: Mutator<'a>,
}

impl DissectionRun<'_> {
    /// Runs all trials that are left after `known`, which holds the existing ones in the order in which they were
    /// made. Passes the new ones of each round to `keep`, with the index of the first, before any of them is run, and
    /// each outcome to `observe` with the trials so far. A trial that `may_run` refuses leaves its error open, and so
    /// does one that could not be scored.
    ///
    /// # Errors
    /// Those of [`Campaign::run`], and those of `keep`.
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
        may_run: impl Fn(&PlanningCase) -> bool,
        keep: impl FnMut(u32, &[TrialRecord]) -> Result<(), StoreError>,
        observe: impl FnMut(&TrialRecord, &Outcome),
    ) -> Result<(CampaignEnd, Dissection), EngineError> {
        let seed = self.campaign.seed;
        let mut search = Search::new(self.cases, &self.errors, self.options, seed, self.mutator, known);
        let trials = Campaign {
            places: None,
            id: self.id.clone(),
            // Its runs have other seeds than those of the original campaign.
            seed: Self::seed(seed),
            repeats: NonZeroU32::MIN,
            // A trial recalls what the failed run could recall, so that the variant is the only difference between
            // them.
            memory: self.campaign.memory.clone().map(Memory::without_learning),
            ..self.campaign.clone()
        };
        let watch = RoundWatch { store, stop, supervision };
        let may_run = |record: &TrialRecord, _| may_run(&record.case);
        let end = run_rounds(&mut search, &trials, watch, may_run, keep, observe).await?;
        Ok((end, search.conclude()))
    }

    /// The seed of the trials' runs, derived from that of the campaign.
    pub fn seed(campaign: u64) -> u64 {
        Draw::new(campaign, 0, "dissect/runs").number()
    }
}
