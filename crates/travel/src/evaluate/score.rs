//! The scores of many plans: delivery, micro and macro pass rates, and the table by level and days.
//!
//! Denominators come from the queries that were judged, not from constants: each query has eight common-sense checks,
//! a budget, and one check for each further constraint of the request. A plan that is missing, malformed, or would
//! have stopped the published evaluator passes nothing and stays in the denominators.

use std::collections::BTreeMap;

use super::check::TripCheck;
use super::judgement::TripJudgement;
use super::loophole::Loophole;
use crate::query::{Level, Query};

/// A fraction of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassShare {
    /// The number that passed.
    pub passed: usize,
    pub of: usize,
}

impl PassShare {
    /// The share, or zero if the total is zero.
    pub fn rate(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.passed as f64 / self.of as f64 }
    }

    fn count(&mut self, passes: bool) {
        self.passed += usize::from(passes);
        self.of += 1;
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.of += other.of;
    }
}

/// The published scores of some plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Queries with a plan.
    pub delivery: PassShare,
    /// Common-sense checks that pass.
    pub commonsense_micro: PassShare,
    /// Plans that pass all of them.
    pub commonsense_macro: PassShare,
    /// The checks of the request that pass.
    pub hard_micro: PassShare,
    /// Plans that pass all of them.
    pub hard_macro: PassShare,
    /// Plans that pass everything.
    pub final_pass: PassShare,
}

impl Rates {
    fn add(&mut self, other: &Self) {
        self.delivery.add(other.delivery);
        self.commonsense_micro.add(other.commonsense_micro);
        self.commonsense_macro.add(other.commonsense_macro);
        self.hard_micro.add(other.hard_micro);
        self.hard_macro.add(other.hard_macro);
        self.final_pass.add(other.final_pass);
    }
}

/// The results of one check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckTally {
    /// Plans that pass it.
    pub passed: usize,
    /// Plans that fail it.
    pub failed: usize,
    /// Queries that ask for it.
    pub asked: usize,
}

/// The scores of many plans.
#[derive(Debug, Clone, Default)]
pub struct TripScores {
    cells: BTreeMap<(Level, usize), Cell>,
    /// Plans that are malformed, or would have stopped the published evaluator.
    pub malformed: usize,
    /// Plans that each gap in the published checks would have let pass.
    pub loopholes: BTreeMap<Loophole, usize>,
}

#[derive(Debug, Clone, Default)]
struct Cell {
    rates: Rates,
    checks: BTreeMap<TripCheck, CheckTally>,
}

impl TripScores {
    /// Adds a plan.
    pub fn add(&mut self, query: &Query, judgement: &TripJudgement) {
        let is_fit = judgement.crash.is_none() && judgement.malformed.is_none();
        self.malformed += usize::from(!is_fit);
        for loophole in judgement.loopholes() {
            *self.loopholes.entry(loophole).or_default() += 1;
        }
        let cell = self.cells.entry((query.level, query.days)).or_default();
        cell.rates.delivery.count(judgement.delivered);
        cell.rates.commonsense_macro.count(judgement.commonsense_pass());
        cell.rates.hard_macro.count(judgement.hard_pass());
        cell.rates.final_pass.count(judgement.final_pass());
        for check in TripCheck::all().filter(|&check| is_asked(query, check)) {
            // Checks before an exception may have passed, but such a plan passes nothing.
            let mark = judgement.mark(check).filter(|_| is_fit);
            let passes = mark.is_some_and(super::CheckResult::is_passed);
            let tally = cell.checks.entry(check).or_default();
            tally.asked += 1;
            tally.passed += usize::from(passes);
            // A hard check behind the gate was asked for, and neither passed nor failed.
            tally.failed += usize::from(mark.is_some() && !passes);
            let is_hard = TripCheck::HARD.contains(&check);
            let micro = if is_hard { &mut cell.rates.hard_micro } else { &mut cell.rates.commonsense_micro };
            micro.count(passes);
        }
    }

    /// The scores of the plans with the given level and days.
    pub fn rates(&self, is_wanted: impl Fn(Level, usize) -> bool) -> Rates {
        let mut rates = Rates::default();
        for (_, cell) in self.cells.iter().filter(|&(&(level, days), _)| is_wanted(level, days)) {
            rates.add(&cell.rates);
        }
        rates
    }

    /// The results of each check, by level and days.
    pub fn table(&self) -> impl Iterator<Item = (Level, usize, TripCheck, CheckTally)> {
        self.cells.iter().flat_map(|(&(level, days), cell)| {
            cell.checks.iter().map(move |(&check, &tally)| (level, days, check, tally))
        })
    }
}

/// Whether a query asks for a check.
pub(crate) fn is_asked(query: &Query, check: TripCheck) -> bool {
    let local = &query.local_constraint;
    match check {
        TripCheck::Cuisine => local.cuisine.is_some(),
        TripCheck::RoomRule => local.house_rule.is_some(),
        TripCheck::TransportRule => local.transportation.is_some(),
        TripCheck::RoomType => local.room_type.is_some(),
        _ => true,
    }
}
