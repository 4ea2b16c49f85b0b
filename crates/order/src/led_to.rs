//! Dissections and shrinkings in the store: the cases of the campaign that another led to, each with a text about its
//! origin, reassembled with the outcomes of their runs.

use std::sync::Arc;

use planproof_suite::{CaseError, RunResult, SequelCase};
use planproof_synth::read::Directions;
use planproof_synth::{
    CharRange, Mutator, PieceKind, PlanningCase, Replacement, Shrinker, TopicBank, Wordings,
};
use serde::{Deserialize, Serialize};

use crate::outcome::of_result;
use crate::{
    CandidateRecord, DissectOptions, Dissection, OrderCase, OrderOutcome, Trial, TrialRecord, TrialStep,
    pick_errors, read_order,
};

/// A campaign of orders whose failures are dissected or shrunk.
#[derive(Debug, Clone, Copy)]
pub struct Failed<'a> {
    pub cases: &'a [Arc<OrderCase>],
    /// What came of its runs.
    pub outcomes: &'a [OrderOutcome],
    /// The seed of its runs.
    pub seed: u64,
}

/// The campaign that another one led to, as stored.
#[derive(Debug, Clone)]
pub struct LedTo {
    pub cases: Vec<PlanningCase>,
    /// What came of its runs.
    pub outcomes: Vec<OrderOutcome>,
    /// For each case the text of [`TrialRecord::origin`] or [`CandidateRecord::origin`].
    pub origins: Vec<Option<String>>,
}

impl Dissection {
    /// The dissection of these failures, whose trials were run as `trials`, over topics of this bank. `None` if they
    /// are not trials of such a dissection. Takes about as long as drawing the variants did.
    pub fn read(failed: Failed<'_>, how: DissectOptions, bank: &TopicBank, trials: LedTo) -> Option<Self> {
        let records = trials.trials(failed.cases.len())?;
        let errors = pick_errors(failed.outcomes, &how, failed.seed);
        let mutator = Mutator::new(Wordings::shipped(), bank);
        Some(Self::of_trials(failed.cases, &errors, how, failed.seed, mutator, records))
    }
}

/// Makes smaller cases of the words that cases are written with.
pub fn shrinker() -> Shrinker<'static> {
    Shrinker::new(Wordings::shipped(), Directions::shipped())
}

impl TrialRecord {
    /// The origin of its case, as JSON, for the store. The case itself and its outcomes are not in it.
    pub fn origin(&self) -> String {
        write(&TrialOrigin::of(self))
    }
}

impl CandidateRecord {
    /// The origin of its case, as JSON, for the store. The case itself and its outcomes are not in it.
    pub fn origin(&self) -> String {
        write(&CandidateOrigin { error: self.error, candidate: self.number })
    }
}

impl LedTo {
    /// Cases of a sequel, with the results of their runs.
    ///
    /// # Errors
    /// A case is not an order.
    pub fn new(known: &[SequelCase], results: &[RunResult]) -> Result<Self, CaseError> {
        let (mut cases, mut origins) = (Vec::new(), Vec::new());
        for SequelCase { case, origin } in known {
            cases.push(read_order(&**case)?);
            origins.push(Some(origin.clone()));
        }
        Ok(Self { cases, outcomes: results.iter().map(of_result).collect(), origins })
    }

    pub(crate) fn trials(self, failed_cases: usize) -> Option<Vec<TrialRecord>> {
        let read = |case: PlanningCase, origin: &str| {
            let origin: TrialOrigin = serde_json::from_str(origin).ok()?;
            let (error, trial) = (origin.error, origin.trial()?);
            let record = TrialRecord { error, trial, case, changes: origin.changes()?, outcome: None };
            // An index beyond the cases shows that the trials belong to another campaign.
            ((error as usize) < failed_cases).then_some(record)
        };
        self.records(read, |record, outcome| record.outcome = Some(outcome))
    }

    pub(crate) fn candidates(self, failed_cases: usize) -> Option<Vec<CandidateRecord>> {
        let read = |case: PlanningCase, origin: &str| {
            let CandidateOrigin { error, candidate } = serde_json::from_str(origin).ok()?;
            let record = CandidateRecord { error, number: candidate, case, outcomes: Default::default() };
            ((error as usize) < failed_cases).then_some(record)
        };
        self.records(read, |record, outcome| {
            record.outcomes.insert(outcome.repeat, outcome);
        })
    }

    /// A record of each case, with its outcomes. `None` if they do not fit together.
    fn records<R>(
        self,
        read: impl Fn(PlanningCase, &str) -> Option<R>,
        mut add: impl FnMut(&mut R, OrderOutcome),
    ) -> Option<Vec<R>> {
        let Self { cases, outcomes, origins } = self;
        if cases.len() != origins.len() {
            return None;
        }
        let both = cases.into_iter().zip(origins);
        // A case without an origin was not made by a dissection or a shrinking.
        let mut records = both.map(|(case, origin)| read(case, &origin?)).collect::<Option<Vec<R>>>()?;
        for outcome in outcomes {
            add(records.get_mut(outcome.ordinal as usize)?, outcome);
        }
        Some(records)
    }
}

/// The stored origin of a trial's case.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrialOrigin {
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
    /// The place before and now, each as the first character and the one after the last.
    places: Vec<[[u32; 2]; 2]>,
}

/// The stored origin of a candidate.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CandidateOrigin {
    /// Place of the failed case.
    error: u32,
    /// Which of its candidates, from 1; null for the smallest case, which is run again to confirm it.
    candidate: Option<u32>,
}

impl TrialOrigin {
    fn of(record: &TrialRecord) -> Self {
        let place = |span: CharRange| [span.start, span.end];
        let change = |change: &Replacement| OriginChange {
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
        let step = TrialStep::ALL.into_iter().find(|step| step.as_str() == self.step)?;
        Some(Trial { step, number: self.number })
    }

    fn changes(self) -> Option<Vec<Replacement>> {
        let span = |[start, end]: [u32; 2]| CharRange { start, end };
        let change = |change: OriginChange| {
            Some(Replacement {
                piece: PieceKind::ALL.into_iter().find(|piece| piece.as_str() == change.piece)?,
                from: change.from,
                to: change.to,
                places: change.places.into_iter().map(|[from, to]| (span(from), span(to))).collect(),
            })
        };
        self.changes.into_iter().map(change).collect()
    }
}

/// All keys are strings here, so writing cannot fail.
fn write(origin: &impl Serialize) -> String {
    serde_json::to_string(origin).unwrap_or_default()
}
