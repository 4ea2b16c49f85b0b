//! The shrinking as a sequel of campaigns.

use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_engine::Unit;
use planproof_engine::rounds::Rounds as _;
use planproof_suite::studies::Study;
use planproof_suite::{
    CaseError, Concluded, Followed, OpenSequel, RunResult, Sequel, SequelCase, SequelRounds,
};
use planproof_synth::file::write_case;
use serde::Deserialize as _;
use serde_json::Value;

use super::{Search, ShrinkOptions, ShrinkRun, Target, pick_failures, report};
use crate::outcome::of_result;
use crate::{LedTo, OrderCase, OrderOutcome, OrderReader, shrinker};

/// The shrinking of failures of cases that are read so.
pub(crate) struct ShrinkingSequel(pub(crate) OrderReader);

impl ShrinkingSequel {
    fn options(how: &Value) -> Result<ShrinkOptions, CaseError> {
        ShrinkOptions::deserialize(how).map_err(CaseError::new)
    }
}

impl Sequel for ShrinkingSequel {
    fn name(&self) -> &'static str {
        "shrinking"
    }

    fn doing(&self) -> &'static str {
        "shrinking"
    }

    fn option(&self) -> &'static str {
        "shrink"
    }

    fn check(&self, how: &Value) -> Result<(), CaseError> {
        Self::options(how).map(drop)
    }

    fn open(&self, of: &Followed<'_>, how: &Value) -> Result<Box<dyn OpenSequel>, CaseError> {
        let options = Self::options(how)?;
        let cases = self.0.typed(of.cases)?;
        let outcomes: Vec<OrderOutcome> = of.results.iter().map(of_result).collect();
        let failures = pick_failures(&cases, &outcomes, &options);
        Ok(Box::new(OpenShrinking {
            id: of.id.to_owned(),
            cases,
            outcomes,
            seed: of.seed,
            options,
            failures,
        }))
    }
}

/// The shrinking of the failures of one campaign.
struct OpenShrinking {
    /// Id of the campaign of the candidates.
    id: String,
    /// The cases of the campaign itself, with its outcomes and the seed of its runs.
    cases: Vec<Arc<OrderCase>>,
    outcomes: Vec<OrderOutcome>,
    seed: u64,
    options: ShrinkOptions,
    failures: Vec<(u32, Target)>,
}

impl OpenSequel for OpenShrinking {
    fn failures(&self) -> usize {
        self.failures.len()
    }

    fn seed(&self) -> u64 {
        ShrinkRun::seed(self.seed)
    }

    fn repeats(&self) -> NonZeroU32 {
        self.options.repeats()
    }

    fn rounds(
        &self,
        known: &[SequelCase],
        results: &[RunResult],
    ) -> Result<Box<dyn SequelRounds + '_>, CaseError> {
        let candidates = LedTo::new(known, results)?.candidates(self.cases.len());
        let candidates =
            candidates.ok_or_else(|| CaseError::new("its cases are not candidates of a shrinking"))?;
        let search = Search::new(&self.cases, self.failures.clone(), self.options, shrinker(), candidates);
        let made = search.records().iter().map(|record| search.made(record)).collect();
        Ok(Box::new(ShrinkingRounds { open: self, search, made }))
    }
}

struct ShrinkingRounds<'a> {
    open: &'a OpenShrinking,
    search: Search<'a>,
    made: Vec<SequelCase>,
}

impl SequelRounds for ShrinkingRounds<'_> {
    fn cases(&self) -> &[SequelCase] {
        &self.made
    }

    fn next(&mut self) -> Vec<(u32, u32)> {
        let units = self.search.next();
        let new = self.search.records()[self.made.len()..].iter().map(|record| self.search.made(record));
        self.made.extend(new);
        units.into_iter().map(|Unit { ordinal, repeat }| (ordinal, repeat)).collect()
    }

    fn take(&mut self, result: RunResult) {
        self.search.note(of_result(&result));
    }

    fn halt(&mut self, ordinal: u32, repeat: u32) {
        self.search.halt(Unit { ordinal, repeat });
    }

    fn conclude(mut self: Box<Self>) -> Concluded {
        // After an interruption, the results of the last round are not evaluated yet.
        self.search.follow();
        let OpenShrinking { id, cases, outcomes, .. } = self.open;
        let shrinking = self.search.conclude();
        // A failure that did not happen again has no smaller case.
        let smallest = shrinking.failures.iter().filter(|failure| failure.is_reproduced());
        Concluded {
            study: Study::Shrinking(Box::new(report(id, &shrinking, cases, outcomes))),
            is_complete: shrinking.is_complete(),
            found: smallest.map(|failure| write_case(&failure.shrunk.case)).collect(),
        }
    }
}
