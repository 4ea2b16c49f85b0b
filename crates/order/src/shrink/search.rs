//! The runs for shrinking failures: those made so far, and the next ones.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use planproof_engine::rounds::Rounds;
use planproof_engine::{Outcome, Unit};
use planproof_suite as suite;
use planproof_suite::SequelCase;
use planproof_synth::{NoShrinking, PlanningCase, ShrinkEnd, ShrinkSearch, Shrinker};

use super::{CandidateRecord, FailureCount, ShrinkOptions, Shrinking, ShrunkFailure, Target};
use crate::{OrderCase, OrderOutcome, OrderRun, typed};

/// All failures being shrunk.
pub(super) struct Search<'a> {
    cases: &'a [Arc<OrderCase>],
    options: ShrinkOptions,
    failures: Vec<Failure<'a>>,
    skipped: Vec<(u32, NoShrinking)>,
    records: Vec<CandidateRecord>,
    /// The index of the record for an error and a paragraph, and whether it confirms the result.
    places: HashMap<(u32, bool, String), usize>,
}

/// One failure being shrunk.
struct Failure<'a> {
    error: u32,
    id: String,
    target: Target,
    reducer: ShrinkSearch<'a>,
    stage: Stage,
    /// The runs of this round: the record, and which of its repeats.
    wave: Option<(usize, Range<u32>)>,
    candidates: u32,
    /// Runs that the search took.
    runs: u32,
    confirmed: FailureCount,
    /// Nothing more is run for it this time.
    is_halted: bool,
}

/// How far a failure is.
#[derive(Clone, Copy)]
enum Stage {
    /// The current candidate is being run; these are its counts so far.
    Searching(FailureCount),
    Confirming,
    Over,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        cases: &'a [Arc<OrderCase>],
        errors: Vec<(u32, Target)>,
        options: ShrinkOptions,
        shrinker: Shrinker<'a>,
        records: Vec<CandidateRecord>,
    ) -> Self {
        let key = |it: &CandidateRecord| (it.error, it.number.is_none(), it.case.paragraph.clone());
        let places = records.iter().enumerate().map(|(place, it)| (key(it), place)).collect();
        let (mut failures, mut skipped) = (Vec::new(), Vec::new());
        for (error, target) in errors {
            let case = cases[error as usize].case();
            match shrinker.search(case) {
                Err(why) => skipped.push((error, why)),
                Ok(reducer) => failures.push(Failure {
                    error,
                    id: case.id.clone(),
                    target,
                    reducer,
                    stage: Stage::Searching(FailureCount::default()),
                    wave: None,
                    candidates: 0,
                    runs: 0,
                    confirmed: FailureCount::default(),
                    is_halted: false,
                }),
            }
        }
        Self { cases, options, failures, skipped, records, places }
    }

    /// Advances as far as the existing runs allow, without requesting others.
    pub(super) fn follow(&mut self) {
        for place in 0..self.failures.len() {
            loop {
                let failure = &mut self.failures[place];
                failure.absorb(&self.records, &self.options);
                if failure.wave.is_some() {
                    break;
                }
                let Some((case, number, repeats)) = failure.wanted(&self.options) else { break };
                // Confirming runs have a record of their own, because the choice of this case depended on the others.
                let key = (failure.error, number.is_none(), case.paragraph.clone());
                let Some(&known) = self.places.get(&key) else { break };
                failure.begin(known, number, repeats);
            }
        }
    }

    /// What came of a run of a candidate.
    pub(super) fn note(&mut self, outcome: OrderOutcome) {
        let unit = Unit { ordinal: outcome.ordinal, repeat: outcome.repeat };
        // Asking again would go on for ever.
        if outcome.passed().is_none() {
            self.halt(unit);
        }
        self.records[unit.ordinal as usize].outcomes.insert(unit.repeat, outcome);
    }

    /// A candidate as a case of a sequel.
    pub(super) fn made(&self, record: &CandidateRecord) -> SequelCase {
        SequelCase { case: self.case(record), origin: record.origin() }
    }

    pub(super) fn conclude(self) -> Shrinking {
        let Self { options, failures, skipped, records, .. } = self;
        let failures = failures.into_iter().map(|failure| failure.conclude(&records)).collect();
        Shrinking { options, failures, skipped, candidates: records }
    }

    /// The record of a candidate, created if necessary.
    fn place(&mut self, error: u32, number: Option<u32>, case: PlanningCase) -> usize {
        let key = (error, number.is_none(), case.paragraph.clone());
        let Self { places, records, .. } = self;
        *places.entry(key).or_insert_with(|| {
            records.push(CandidateRecord { error, number, case, outcomes: BTreeMap::new() });
            records.len() - 1
        })
    }
}

impl Failure<'_> {
    /// What the next step requires: a case, which of the candidates it is, and which repeats of it. `None` if it is
    /// over.
    fn wanted(&mut self, options: &ShrinkOptions) -> Option<(PlanningCase, Option<u32>, Range<u32>)> {
        if let Stage::Searching(count) = self.stage {
            let more = count.runs_to_decide(options);
            let is_new = count.runs == 0;
            match self.reducer.candidate() {
                // Requested only if the limit leaves enough runs for a decision.
                Some(candidate) if self.runs + more <= options.runs_max => {
                    // Further runs of an undecided candidate keep its number.
                    let number = self.candidates + u32::from(is_new);
                    let id = format!("{}.candidate-{number}", self.id);
                    let case = PlanningCase { id, ..candidate.clone() };
                    return Some((case, Some(number), count.runs..count.runs + more));
                }
                _ => self.stage = Stage::Confirming,
            }
        }
        let shrunk = self.reducer.shrunk();
        if matches!(self.stage, Stage::Over) || options.confirm == 0 || shrunk.end == ShrinkEnd::NotFailing {
            self.stage = Stage::Over;
            return None;
        }
        let case = PlanningCase { id: format!("{}.shrunk", self.id), ..shrunk.case };
        Some((case, None, 0..options.confirm))
    }

    /// The requested runs are those of that record.
    fn begin(&mut self, record: usize, number: Option<u32>, repeats: Range<u32>) {
        self.candidates = self.candidates.max(number.unwrap_or(0));
        self.wave = Some((record, repeats));
    }

    /// Evaluates the runs of the round, if all of them exist and have a score.
    fn absorb(&mut self, records: &[CandidateRecord], options: &ShrinkOptions) {
        let Some((place, repeats)) = self.wave.clone() else { return };
        let CandidateRecord { case, outcomes, .. } = &records[place];
        let mut found = FailureCount::default();
        for repeat in repeats {
            // A missing or unscored run leaves the round open, so that a resumed search asks for it again.
            let Some(Ok(verdict)) = outcomes.get(&repeat).map(|outcome| &outcome.verdict) else { return };
            found.runs += 1;
            found.failed += u32::from(self.target.is_hit(case, verdict));
        }
        self.wave = None;
        match &mut self.stage {
            Stage::Searching(count) => {
                self.runs += found.runs;
                count.failed += found.failed;
                count.runs += found.runs;
                if let Some(fails) = count.decision(options) {
                    self.reducer.answer(fails);
                    *count = FailureCount::default();
                }
            }
            Stage::Confirming => {
                self.confirmed = found;
                self.stage = Stage::Over;
            }
            Stage::Over => {}
        }
    }

    fn conclude(self, records: &[CandidateRecord]) -> ShrunkFailure {
        let shrunk = self.reducer.shrunk();
        let of_result = (0..).zip(records).filter(|(_, record)| {
            record.error == self.error && record.case.paragraph == shrunk.case.paragraph
        });
        let mut hits: Vec<(bool, Unit)> = of_result
            .flat_map(|(ordinal, record)| {
                let is_hit = |outcome: &&OrderOutcome| {
                    let verdict = outcome.verdict.as_ref().ok();
                    verdict.is_some_and(|verdict| self.target.is_hit(&record.case, verdict))
                };
                let hits = record.outcomes.values().filter(is_hit);
                let unit = move |outcome: &OrderOutcome| Unit { ordinal, repeat: outcome.repeat };
                // `false` sorts first, so a confirming run is preferred as the example.
                hits.map(move |outcome| (record.number.is_some(), unit(outcome)))
            })
            .collect();
        hits.sort_unstable();
        ShrunkFailure {
            error: self.error,
            target: self.target,
            shrunk,
            runs: self.runs,
            confirmed: self.confirmed,
            is_open: !matches!(self.stage, Stage::Over),
            example: hits.first().map(|(_, unit)| *unit),
        }
    }
}

impl Rounds for Search<'_> {
    type Record = CandidateRecord;

    fn records(&self) -> &[CandidateRecord] {
        &self.records
    }

    fn case(&self, record: &CandidateRecord) -> Arc<dyn suite::Case> {
        self.cases[record.error as usize].like(record.case.clone())
    }

    fn next(&mut self) -> Vec<Unit> {
        loop {
            for place in 0..self.failures.len() {
                let failure = &mut self.failures[place];
                failure.absorb(&self.records, &self.options);
                if failure.is_halted || failure.wave.is_some() {
                    continue;
                }
                if let Some((case, number, repeats)) = failure.wanted(&self.options) {
                    let error = failure.error;
                    let record = self.place(error, number, case);
                    self.failures[place].begin(record, number, repeats);
                }
            }
            // A halted failure keeps its wave, whose missing run would be asked for for ever.
            let going_on = self.failures.iter().filter(|failure| !failure.is_halted);
            let waves: Vec<(usize, Range<u32>)> =
                going_on.filter_map(|failure| failure.wave.clone()).collect();
            let units = waves.iter().flat_map(|(place, repeats)| {
                // Runs from before an interruption are not made again.
                let is_left = |repeat: &u32| !self.records[*place].outcomes.contains_key(repeat);
                repeats.clone().filter(is_left).map(|repeat| Unit { ordinal: *place as u32, repeat })
            });
            let units: Vec<Unit> = units.collect();
            // A round whose runs all exist is skipped.
            if !units.is_empty() || waves.is_empty() {
                return units;
            }
        }
    }

    fn take(&mut self, outcome: Outcome) {
        self.note(typed(&outcome));
    }

    fn halt(&mut self, unit: Unit) {
        let error = self.records[unit.ordinal as usize].error;
        for failure in self.failures.iter_mut().filter(|failure| failure.error == error) {
            failure.is_halted = true;
        }
    }
}
