//! Choosing: the best selection with its proof, the nearest correct one, or why there is none.

use std::fmt;

use super::conflict::{self, Conflict};
use super::explain;
use super::fault::Faults;
use super::form::Objective;
use super::limits::SearchLimits;
use super::post::{linear_terms, post, with_weights};
use super::problem::{ChoiceProblem, Selection};
use super::propagate::{Bounds, Linear, LinearTerm, Posted};
use super::resolve::{Goal, Resolver, SUM_PLACES};
use super::search::{Outcome, Steps, Work};
use super::value::Unit;

/// What came of choosing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceAnswer {
    /// A selection that meets all constraints, and is optimal for the objective.
    Solved(SolvedChoice),
    /// No selection meets all constraints.
    Conflict(Conflict),
    /// A limit was reached.
    Undecided(UndecidedChoice),
}

/// A correct selection. It is proved that none is better, by searching everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolvedChoice {
    /// The selection.
    pub selection: Selection,
    /// Its value for the objective; `None` for [`Objective::First`].
    pub cost: Option<Amount>,
    /// How many decisions the search made.
    pub nodes: u64,
}

/// The search ended at its limit, [`SEARCH_STEPS_MAX`](super::SEARCH_STEPS_MAX) by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndecidedChoice {
    /// How many steps it was allowed.
    pub steps_max: u64,
    /// A correct selection that was found, and its value; there may be a better one.
    pub best: Option<(Selection, Option<Amount>)>,
}

/// The exact value of a sum, perhaps with a unit. Its `Display` writes the unit as beside the original value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    parts: i128,
    unit: Option<Unit>,
}

impl Amount {
    /// Decimal places of [`parts`](Self::parts).
    pub const PLACES: u32 = SUM_PLACES;

    /// The number of parts; ten to the power of [`PLACES`](Self::PLACES) of them are one.
    pub fn parts(&self) -> i128 {
        self.parts
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", explain::amount(self.parts, self.unit.as_ref()))
    }
}

/// A problem as searches take it.
pub(super) struct Tables<'p> {
    pub(super) problem: &'p ChoiceProblem,
    pub(super) shape: Vec<(usize, bool)>,
    /// For each constraint.
    pub(super) posted: Vec<Vec<Posted>>,
    /// The selection and its cost while minimising the objective.
    pub(super) goal: Option<(Vec<Posted>, Linear)>,
}

impl ChoiceProblem {
    /// Chooses a candidate for each slot so that all constraints hold: the best selection for the objective, a
    /// [`Conflict`] if there is none, or [`UndecidedChoice`] if the search took too long.
    ///
    /// # Errors
    /// [`Faults`] of the objective.
    pub fn solve(&self, objective: &Objective) -> Result<ChoiceAnswer, Faults> {
        self.solve_within(objective, &SearchLimits::default())
    }

    /// The same with custom limits.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve).
    pub fn solve_within(&self, objective: &Objective, limits: &SearchLimits) -> Result<ChoiceAnswer, Faults> {
        let mut resolver = Resolver::new(self.slots(), true);
        let goal = resolver.goal(objective);
        Faults::none_of(resolver.faults)?;
        let tables = Tables::new(self, goal.as_ref());
        let amount = |cost: i128| {
            let goal = goal.as_ref()?;
            // A maximum is searched as the minimum of the negated sum.
            let parts = if goal.is_negated { -cost } else { cost };
            Some(Amount { parts, unit: goal.unit.clone() })
        };
        Ok(tables.answer(limits, amount))
    }

    /// The correct selection that changes the fewest slots of a given one, which need not be correct. Its value is
    /// the number of changed slots.
    ///
    /// # Errors
    /// [`Faults`] if a slot or candidate of the selection does not exist.
    pub fn nearest(&self, selection: &Selection) -> Result<ChoiceAnswer, Faults> {
        self.look_at(selection)?;
        let mut tables = Tables::new(self, None);
        let term = |(slot, chosen): (usize, &Option<usize>)| {
            let (count, is_optional) = tables.shape[slot];
            // For a required slot that is empty, this is not a value of it: every candidate is a change then.
            let kept = chosen.unwrap_or(count);
            let change = |value| i128::from(value != kept);
            LinearTerm::new(slot, (0..count + usize::from(is_optional)).map(change).collect())
        };
        let terms = selection.chosen.iter().enumerate().map(term).collect();
        tables.goal = Some((Vec::new(), Linear::new(terms, Bounds::default())));
        // A changed slot counts 1, but an `Amount` is given in parts.
        let one = 10_i128.pow(SUM_PLACES);
        let amount = |cost: i128| Some(Amount { parts: cost * one, unit: None });
        Ok(tables.answer(&SearchLimits::default(), amount))
    }
}

impl<'p> Tables<'p> {
    fn new(problem: &'p ChoiceProblem, goal: Option<&Goal>) -> Self {
        let shape: Vec<(usize, bool)> =
            problem.slots().iter().map(|slot| (slot.candidates.len(), slot.is_optional)).collect();
        let resolved = problem.resolved().iter().enumerate();
        let posted = resolved.map(|(place, resolved)| post(&shape, place, resolved)).collect();
        let goal = goal.map(|goal| {
            let linear = Linear::new(linear_terms(&shape, &goal.terms), Bounds::default());
            (with_weights(&shape, &goal.terms), linear)
        });
        Self { problem, shape, posted, goal }
    }

    /// The search for a selection that meets some constraints, by their indices; the index after the last one is that
    /// of the objective, which needs its fields.
    pub(super) fn work(&self, places: impl Iterator<Item = usize>) -> Work<'_> {
        let of_goal = || self.goal.as_ref().map(|(posted, _)| posted);
        let posted = places.filter_map(|place| self.posted.get(place).or_else(of_goal)).flatten().collect();
        Work { shape: &self.shape, resolved: self.problem.resolved(), posted, cost: None }
    }

    /// The best selection.
    fn search(&self, steps_max: u64) -> Outcome {
        let mut work = self.work(0..=self.posted.len());
        work.cost = self.goal.as_ref().map(|(_, cost)| cost);
        work.search(&mut Steps { left: steps_max })
    }

    fn answer(&self, limits: &SearchLimits, amount: impl Fn(i128) -> Option<Amount>) -> ChoiceAnswer {
        let outcome = self.search(limits.search_steps);
        let amount = |cost| amount(self.goal.as_ref().map_or(cost, |(_, linear)| linear.real(cost)));
        match outcome {
            Outcome { best: Some((chosen, cost)), is_proved: true, nodes } => {
                debug_assert!(self.problem.is_correct(&chosen), "a search ends at a correct selection");
                ChoiceAnswer::Solved(SolvedChoice {
                    selection: Selection { chosen },
                    cost: amount(cost),
                    nodes,
                })
            }
            Outcome { best: None, is_proved: true, .. } => {
                ChoiceAnswer::Conflict(conflict::find(self, limits))
            }
            Outcome { best, is_proved: false, .. } => {
                let best = best.map(|(chosen, cost)| (Selection { chosen }, amount(cost)));
                ChoiceAnswer::Undecided(UndecidedChoice { steps_max: limits.search_steps, best })
            }
        }
    }
}
