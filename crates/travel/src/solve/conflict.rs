//! Explains why there is no trip: a smallest set of demands that cannot be met together, and the smallest changes
//! that help.
//!
//! Sets of demands are tried in order of size, each by a search for a trip that meets them. A set is feasible if a
//! superset is, so most sets need no search of their own.

use super::demand::TripDemand;
use super::ground::Ground;
use super::search::{Found, search};
use super::{Infeasible, QueryChange, TripObjective};

/// The demands in force, as bits by position.
type Set = u32;

/// Explains why no trip meets all demands, which has been proved before.
pub(super) fn explain(ground: &Ground<'_>, demands: &[TripDemand], steps: u64, steps_max: u64) -> Infeasible {
    // That all demands together conflict was proved by the search that led here.
    let mut trials =
        Trials { ground, demands, feasible: Vec::new(), infeasible: vec![all(demands)], steps, steps_max };
    let (conflict, is_smallest) = trials.smallest();
    let changes = trials.changes();
    let of = |set: Set| members(demands, set).cloned().collect::<Vec<_>>();
    Infeasible {
        obstacle: (conflict == 0).then(|| ground.obstacle()),
        conflict: of(conflict),
        is_smallest,
        changes,
        steps: trials.steps,
    }
}

struct Trials<'c, 't> {
    ground: &'c Ground<'t>,
    demands: &'c [TripDemand],
    /// Sets that some trip meets.
    feasible: Vec<Set>,
    /// Sets that no trip meets.
    infeasible: Vec<Set>,
    steps: u64,
    steps_max: u64,
}

impl Trials<'_, '_> {
    /// The first of the smallest sets that no trip meets, and whether its minimality is proved. The traveller's
    /// demands come first.
    fn smallest(&mut self) -> (Set, bool) {
        let everything = all(self.demands);
        let mut sets: Vec<Set> = (0..=everything).collect();
        // Smaller sets first. Among sets of one size, reversing the bits puts those with the earlier demands first.
        // There are at most 2^14 sets, since a query has no more than eight cuisines.
        sets.sort_by_key(|set| (set.count_ones(), std::cmp::Reverse(set.reverse_bits())));
        for set in sets {
            match self.is_feasible(set) {
                Some(true) => {}
                Some(false) => return (set, true),
                None => break,
            }
        }
        (everything, false)
    }

    /// The minimum budget, and the fewest other wishes to drop.
    fn changes(&mut self) -> Vec<QueryChange> {
        let everything = all(self.demands);
        let mut changes = Vec::new();
        let budget = self.set_of(|demand| matches!(demand, TripDemand::Budget(_)));
        if budget != 0 {
            // The cheapest trip without the budget costs exactly the budget that would do. Only an exhaustive search
            // proves it.
            let found = self.search(everything & !budget, TripObjective::Cheapest);
            let least = found.best.filter(|_| found.is_complete);
            changes.extend(least.map(|route| QueryChange::Budget(route.cost)));
        }
        // Raising the budget is a change of its own, so the budget is not among the wishes to drop.
        let wishes = self.set_of(TripDemand::is_wish) & !budget;
        let mut dropped: Vec<Set> = (1..=wishes).filter(|set| set & !wishes == 0).collect();
        dropped.sort_by_key(|set| (set.count_ones(), std::cmp::Reverse(set.reverse_bits())));
        let mut fewest = u32::MAX;
        for set in dropped {
            // All smallest sets are listed, and no larger ones.
            if set.count_ones() > fewest {
                break;
            }
            match self.is_feasible(everything & !set) {
                Some(true) => {
                    fewest = set.count_ones();
                    changes.push(QueryChange::Drop(members(self.demands, set).cloned().collect()));
                }
                Some(false) => {}
                None => break,
            }
        }
        changes
    }

    fn set_of(&self, is_in: impl Fn(&TripDemand) -> bool) -> Set {
        let numbers = self.demands.iter().enumerate().filter(|(_, demand)| is_in(demand));
        numbers.fold(0, |set, (number, _)| set | 1 << number)
    }

    /// Whether a trip meets these demands; `None` if the search gave up.
    fn is_feasible(&mut self, set: Set) -> Option<bool> {
        // What meets a set meets its subsets, and what rules out a set rules out its supersets.
        if self.feasible.iter().any(|more| set & !more == 0) {
            return Some(true);
        }
        if self.infeasible.iter().any(|fewer| fewer & !set == 0) {
            return Some(false);
        }
        let found = self.search(set, TripObjective::Any);
        match found.best {
            Some(route) => {
                // The route may cost no more than the budget although that was not required. Then it meets the larger
                // set, too.
                let is_met =
                    |demand: &TripDemand| matches!(demand, TripDemand::Budget(most) if route.cost <= *most);
                self.feasible.push(set | self.set_of(is_met));
                Some(true)
            }
            None => found.is_complete.then(|| {
                self.infeasible.push(set);
                false
            }),
        }
    }

    fn search(&mut self, set: Set, objective: TripObjective) -> Found {
        let required = self.ground.required(members(self.demands, set));
        let found = search(self.ground, &required, objective, self.steps_max.saturating_sub(self.steps));
        self.steps += found.steps;
        found
    }
}

/// The set of all demands.
fn all(demands: &[TripDemand]) -> Set {
    (1 << demands.len()) - 1
}

fn members(demands: &[TripDemand], set: Set) -> impl Iterator<Item = &TripDemand> {
    demands.iter().enumerate().filter(move |(number, _)| set & 1 << number != 0).map(|(_, demand)| demand)
}
