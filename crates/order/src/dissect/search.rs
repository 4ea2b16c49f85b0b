//! The trials of a dissection: those made so far, and the next ones.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use planproof_engine::rounds::Rounds;
use planproof_engine::{Outcome, Unit};
use planproof_suite as suite;
use planproof_suite::SequelCase;
use planproof_synth::Mutator;
use planproof_trace::Draw;

use super::{DissectOptions, DissectedError, Dissection, Next, Seen, Trial, TrialRecord, next};
use crate::{OrderCase, OrderOutcome, OrderRun, typed};

/// Makes trials and interprets them.
pub(super) struct Search<'a> {
    cases: &'a [Arc<OrderCase>],
    /// The indices of the dissected errors.
    errors: &'a [u32],
    options: DissectOptions,
    seed: u64,
    mutator: Mutator<'a>,
    trials: Vec<TrialRecord>,
    places: BTreeMap<(u32, Trial), usize>,
    impossible: BTreeMap<(u32, Trial), String>,
    /// Errors whose dissection has stopped for this time.
    halted: HashSet<u32>,
}

/// The next move of the dissection of an error.
enum Move {
    /// The trial at this index, which already exists.
    Again(usize),
    /// A trial that is not made yet.
    New(Box<TrialRecord>),
    /// None.
    Over(Next),
}

impl<'a> Search<'a> {
    pub(super) fn new(
        cases: &'a [Arc<OrderCase>],
        errors: &'a [u32],
        options: DissectOptions,
        seed: u64,
        mutator: Mutator<'a>,
        trials: Vec<TrialRecord>,
    ) -> Self {
        let places = trials.iter().enumerate().map(|(place, it)| ((it.error, it.trial), place)).collect();
        Self {
            cases,
            errors,
            options,
            seed,
            mutator,
            trials,
            places,
            impossible: BTreeMap::new(),
            halted: HashSet::new(),
        }
    }

    fn seen(&self, error: u32, trial: Trial) -> Seen {
        if self.impossible.contains_key(&(error, trial)) {
            return Seen::Impossible;
        }
        let record = self.places.get(&(error, trial)).map(|place| &self.trials[*place]);
        match record.and_then(|record| record.outcome.as_ref()?.passed()) {
            Some(true) => Seen::Passed,
            Some(false) => Seen::Failed,
            None => Seen::Nothing,
        }
    }

    /// The next trial of an error. Trials that cannot be made are recorded and skipped.
    fn advance(&mut self, error: u32) -> Move {
        loop {
            let trial = match next(&self.options, |trial| self.seen(error, trial)) {
                Next::Try(trial) => trial,
                over => return Move::Over(over),
            };
            // It was made before, but has no verdict yet: interrupted, or unscored.
            if let Some(place) = self.places.get(&(error, trial)) {
                return Move::Again(*place);
            }
            match self.make(error, trial) {
                Ok(record) => return Move::New(Box::new(record)),
                Err(why) => drop(self.impossible.insert((error, trial), why)),
            }
        }
    }

    fn make(&self, error: u32, trial: Trial) -> Result<TrialRecord, String> {
        let failed = self.cases[error as usize].case();
        let (mut case, changes) = match trial.step.mutation() {
            None => (planproof_synth::PlanningCase::clone(failed), Vec::new()),
            Some((mutation, stream)) => {
                // Error and number define the seed, so a trial is the same whenever it is
                // made, also after an interruption.
                let index = u64::from(error) << 32 | u64::from(trial.number);
                let seed = Draw::new(self.seed, index, stream).number();
                let variant = self.mutator.mutate(failed, mutation, seed).map_err(|why| why.to_string())?;
                (variant.case, variant.changes)
            }
        };
        case.id = format!("{}.{}-{}", failed.id, trial.step.as_str(), trial.number);
        Ok(TrialRecord { error, trial, case, changes, outcome: None })
    }

    fn add(&mut self, record: TrialRecord) -> usize {
        let place = self.trials.len();
        self.places.insert((record.error, record.trial), place);
        self.trials.push(record);
        place
    }

    /// What came of a trial.
    pub(super) fn note(&mut self, outcome: OrderOutcome) {
        let record = &mut self.trials[outcome.ordinal as usize];
        // A trial without a score would be asked for again in every round.
        if outcome.passed().is_none() {
            self.halted.insert(record.error);
        }
        record.outcome = Some(outcome);
    }

    /// A trial as a case of a sequel.
    pub(super) fn made(&self, record: &TrialRecord) -> SequelCase {
        SequelCase { case: self.case(record), origin: record.origin() }
    }

    pub(super) fn conclude(mut self) -> Dissection {
        let errors = self.errors.iter().map(|&error| {
            let next = match self.advance(error) {
                Move::Over(next) => Some(next),
                Move::Again(_) | Move::New(_) => None,
            };
            let (cause, enough) = match next {
                Some(Next::Found(cause, enough)) => (Some(cause), enough),
                _ => (None, None),
            };
            let impossible = self.impossible.iter().filter(|((of, _), _)| *of == error);
            let impossible = impossible.map(|((_, trial), why)| (*trial, why.clone())).collect();
            DissectedError { error, cause, enough, is_open: next.is_none(), impossible }
        });
        let errors = errors.collect();
        Dissection { options: self.options, errors, trials: self.trials }
    }
}

impl Rounds for Search<'_> {
    type Record = TrialRecord;

    fn records(&self) -> &[TrialRecord] {
        &self.trials
    }

    fn case(&self, record: &TrialRecord) -> Arc<dyn suite::Case> {
        self.cases[record.error as usize].like(record.case.clone())
    }

    fn next(&mut self) -> Vec<Unit> {
        let mut round: BTreeSet<usize> = BTreeSet::new();
        let mut new = Vec::new();
        let errors = self.errors;
        for &error in errors {
            if self.halted.contains(&error) {
                continue;
            }
            match self.advance(error) {
                Move::Over(_) => {}
                Move::Again(place) => drop(round.insert(place)),
                Move::New(record) => new.push(*record),
            }
        }
        // A round that was cut off is completed first, so that the trials of the next one get the indices that they
        // would have had.
        if round.is_empty() {
            round.extend(new.into_iter().map(|record| self.add(record)));
        }
        round.into_iter().map(|place| Unit { ordinal: place as u32, repeat: 0 }).collect()
    }

    fn take(&mut self, outcome: Outcome) {
        self.note(typed(&outcome));
    }

    fn halt(&mut self, unit: Unit) {
        self.halted.insert(self.trials[unit.ordinal as usize].error);
    }
}
