//! Running a shrinking as a campaign of its candidates.

use std::sync::Arc;

use planproof_engine::rounds::{RoundWatch, run_rounds};
use planproof_engine::{Campaign, CampaignEnd, EngineError, Memory, Outcome, Supervision};
use planproof_store::{StoreError, Writer};
use planproof_synth::{PlanningCase, Shrinker};
use planproof_trace::Draw;
use tokio_util::sync::CancellationToken;

use super::{CandidateRecord, Search, ShrinkOptions, Shrinking, Target};
use crate::OrderCase;

/// A shrinking that is to be run.
#[derive(Clone)]
pub struct ShrinkRun<'a> {
    /// The campaign whose failures are shrunk, with the agent, its limits and its seed.
    pub campaign: &'a Campaign,
    /// The cases of the campaign.
    pub cases: &'a [Arc<OrderCase>],
    /// Id of the campaign of the candidates.
    pub id: String,
    pub options: ShrinkOptions,
    /// The failures, as returned by [`pick_failures`](super::pick_failures).
    pub failures: Vec<(u32, Target)>,
    pub shrinker: Shrinker<'a>,
}

impl ShrinkRun<'_> {
    /// Runs everything that is left after `known`, which holds the existing candidates in the order in which they
    /// were made. Passes the new ones of each round to `keep`, with the index of the first, before any of them is
    /// run, and each outcome to `observe`. A run that `may_run` refuses leaves its failure open, and so does one that
    /// could not be scored.
    ///
    /// # Errors
    /// Those of [`Campaign::run`], and those of `keep`.
    #[expect(
        clippy::too_many_arguments,
        reason = "what a campaign takes, and what the candidates need beside it"
    )]
    pub async fn run(
        &self,
        store: Option<Writer>,
        known: Vec<CandidateRecord>,
        stop: &CancellationToken,
        supervision: Supervision,
        may_run: impl Fn(&PlanningCase, u32) -> bool,
        keep: impl FnMut(u32, &[CandidateRecord]) -> Result<(), StoreError>,
        observe: impl FnMut(&CandidateRecord, &Outcome),
    ) -> Result<(CampaignEnd, Shrinking), EngineError> {
        let mut search = Search::new(self.cases, self.failures.clone(), self.options, self.shrinker, known);
        let candidates = Campaign {
            places: None,
            id: self.id.clone(),
            // Its runs have other seeds than those of the original campaign.
            seed: Self::seed(self.campaign.seed),
            repeats: self.options.repeats(),
            memory: self.campaign.memory.clone().map(Memory::without_learning),
            ..self.campaign.clone()
        };
        let may_run = |record: &CandidateRecord, repeat| may_run(&record.case, repeat);
        let watch = RoundWatch { store, stop, supervision };
        let end = run_rounds(&mut search, &candidates, watch, may_run, keep, observe).await?;
        // After an interruption, the outcomes of the last round are not evaluated yet.
        search.follow();
        Ok((end, search.conclude()))
    }

    /// The seed of the candidates' runs, derived from that of the campaign.
    pub fn seed(campaign: u64) -> u64 {
        Draw::new(campaign, 0, "shrink/runs").number()
    }
}
