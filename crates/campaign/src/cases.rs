//! The cases of a campaign, and where they come from.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_engine::SynthesisUse;
use planproof_suite::{Case, CaseError, Suite};
use planproof_trace::faults::{FaultShares, ToolFaults};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::shard::StoredShard;

/// Most cases of one campaign.
pub const CASES_MAX: u64 = 100_000;

/// Most runs of one campaign: those of its cases, each with its repeats.
pub const RUNS_MAX: u64 = 1_000_000;

/// Most runs of each case.
pub const REPEATS_MAX: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);

/// Cases, and what it took to make them.
pub struct Cases {
    pub suite: Arc<dyn Suite>,
    pub cases: Vec<Arc<dyn Case>>,
    /// Where they come from.
    pub origin: CasesOrigin,
    /// How they were made, if they are given in full.
    pub drawn: Option<CasesOrigin>,
    /// The cost of synthesising them; `None` if they were not synthesised.
    pub synthesis: Option<SynthesisUse>,
    /// The line that stands in the store for a case that was not run yet, from its id; `None` if all are stored from
    /// the beginning. The suite of the campaign reads such a line.
    pub named: Option<fn(&str) -> String>,
    /// The shard that they are, if only those of a shard were made.
    pub dealt: Option<StoredShard>,
}

impl fmt::Debug for Cases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, cases, origin, .. } = self;
        let mut shown = f.debug_struct("Cases");
        shown.field("suite", &suite.name()).field("cases", &cases.len()).field("origin", origin).finish()
    }
}

/// The origin of cases as a recording stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CasesOrigin {
    /// They were there: so many.
    Given(usize),
    /// They were made. Only their maker knows how.
    #[serde(untagged)]
    Made(Value),
}

impl Cases {
    /// Cases that are there already.
    pub fn given(suite: Arc<dyn Suite>, cases: Vec<Arc<dyn Case>>) -> Self {
        let origin = CasesOrigin::Given(cases.len());
        Self { suite, cases, origin, drawn: None, synthesis: None, named: None, dealt: None }
    }

    /// The same cases with tools that fail: those of each case as its id and the seed say. A recording has them in
    /// full.
    ///
    /// # Errors
    /// The tools of one of them cannot fail.
    pub fn with_faults(self, shares: FaultShares, seed: u64) -> Result<Self, CaseError> {
        let failing = |case: &Arc<dyn Case>| {
            let id = &case.card().id;
            let faults = ToolFaults::of_case(id, seed, shares);
            case.with_faults(&faults).unwrap_or_else(|| {
                Err(CaseError::new(format!("the tools of the suite {} cannot fail", self.suite.name())))
            })
        };
        let cases = self.cases.iter().map(failing).collect::<Result<Vec<_>, _>>()?;
        let (origin, drawn) = match self.origin {
            CasesOrigin::Given(_) => (self.origin, self.drawn),
            CasesOrigin::Made(_) => (CasesOrigin::Given(cases.len()), Some(self.origin)),
        };
        Ok(Self { cases, origin, drawn, ..self })
    }
}
