//! A planner without a model: it turns the fields of a query into an itinerary that provably passes, or into an
//! explanation of why there is none.
//!
//! # What counts as a trip
//!
//! The travellers leave home on the first day and return on the last. In between they stay in the requested number
//! of cities (the destination, or cities in the destination's state), in each for one or more consecutive nights,
//! in one accommodation, for at least its minimum number of nights, and they travel only between these cities. A
//! day without travel has three meals and an attraction; a day with travel needs neither. No restaurant and no
//! attraction is repeated, a trip in one's own car uses no other means of travel, and flights are those of the day.
//! Nothing is planned at home. Changing accommodation within a city is never cheaper: the cheapest of the
//! accommodations for the whole stay would cost no more.
//!
//! Both modes require such a trip, and neither exploits a gap in the published checks
//! ([`Loophole`](crate::evaluate::Loophole)). They differ in which rows of the tables are usable:
//! [`TripCompat::Original`] uses only rows that the published evaluator finds by their text (it takes the first row
//! whose name contains the text), and accepts a cuisine whose name is part of another. A proof that there is no
//! trip is therefore a proof about trips in this sense. In the right mode these are all trips that the evaluator
//! passes, except those that fill in enough entries only through meals, attractions or a night at home, which
//! requires a trip with hardly a free day; the published evaluator passes more, through its gaps.
//!
//! # How it is found
//!
//! The cost of a trip is a sum: journeys by origin, destination and day, accommodation by city and nights, meals by
//! city and number. Only the cuisines and the budget connect the meals of different cities. A general solver over
//! candidates, such as that of crate `constraint`, would search for what tables can provide. For each city, the
//! cheapest accommodation for every number of nights, and the minimum cost of every number of different restaurants
//! with every set of cuisines, are computed once. Over these tables, branch and bound enumerates routes and
//! divisions of the nights, once with one's own car and once with flights and taxis. It prunes only what exceeds
//! the budget or the best cost so far by a bound that never overestimates. What it does not find does not exist.
//!
//! # Module layout
//!
//! Demands, also in words (`solve/demand.rs`); the rows of a city (`solve/town.rs`) and journeys between cities
//! (`solve/ways.rs`); meals with cuisines (`solve/meals.rs`, `solve/menu.rs`); branch and bound
//! (`solve/search.rs`); the plan in the evaluator's form (`solve/write.rs`); why there is none
//! (`solve/conflict.rs`, `solve/obstacle.rs`).

mod conflict;
mod demand;
mod ground;
mod meals;
mod menu;
mod obstacle;
mod search;
mod town;
mod ways;
mod write;

use std::fmt;

pub use demand::TripDemand;
pub use town::CUISINES_MAX;

use crate::TripCompat;
use crate::plan::TripPlan;
use crate::query::Query;
use crate::tables::TripDatabase;

/// The default limit on the steps of the search. Most steps take less than a microsecond.
pub const STEPS_MAX: u64 = 10_000_000;

/// Which valid itinerary to return.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TripObjective {
    /// The first one found. Days of travel get meals as well, as far as the budget allows.
    #[default]
    Any,
    /// A cheapest one, without anything unnecessary.
    Cheapest,
}

/// Options of the solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolveOptions {
    /// Which itinerary to return.
    pub objective: TripObjective,
    /// The limit on the steps of the search. A step is a city with its nights, or a complete route.
    pub steps_max: u64,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self { objective: TripObjective::default(), steps_max: STEPS_MAX }
    }
}

/// The result.
#[derive(Debug, Clone, PartialEq)]
pub enum SolveAnswer {
    Solved(SolvedTrip),
    /// There is none.
    Infeasible(Infeasible),
    /// The search gave up.
    Undecided(UndecidedTrip),
}

impl SolveAnswer {
    /// The itinerary, if there is one, whether or not it is the cheapest.
    pub fn solved(&self) -> Option<&SolvedTrip> {
        match self {
            Self::Solved(solved) => Some(solved),
            Self::Infeasible(_) => None,
            Self::Undecided(undecided) => undecided.best.as_ref(),
        }
    }
}

/// A valid itinerary.
#[derive(Debug, Clone, PartialEq)]
pub struct SolvedTrip {
    /// The itinerary in the published format.
    pub plan: TripPlan,
    /// Its cost for all travellers, in US dollars.
    pub cost: f64,
    /// Whether it is proved that none costs less.
    pub is_cheapest: bool,
    /// The number of steps of the search.
    pub steps: u64,
}

/// It is proved that there is no itinerary.
#[derive(Debug, Clone, PartialEq)]
pub struct Infeasible {
    /// A minimal set of demands that cannot be met together; empty if there is no trip regardless of the demands.
    pub conflict: Vec<TripDemand>,
    /// Whether it is proved that no smaller set of demands conflicts.
    pub is_smallest: bool,
    /// The smallest changes of the query that make it feasible: the minimum budget, if more money helps, then as
    /// few wishes as possible to drop. Empty if nothing helps.
    pub changes: Vec<QueryChange>,
    /// If no demands conflict: what rules out every trip, as a sentence without a full stop.
    pub obstacle: Option<String>,
    /// The number of steps of the search.
    pub steps: u64,
}

impl fmt::Display for Infeasible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |demands: &[TripDemand]| demands.iter().map(TripDemand::to_string).collect::<Vec<_>>();
        match (&self.obstacle, self.conflict.as_slice()) {
            (Some(obstacle), _) => write!(out, "There is no such trip: {obstacle}.")?,
            (None, [demand]) => write!(out, "This cannot be met: {demand}.")?,
            (None, demands) => {
                write!(out, "These cannot be met together: {}.", all(demands).join("; "))?;
            }
        }
        let budget = self.changes.iter().find_map(|change| match change {
            QueryChange::Budget(amount) => Some(*amount),
            QueryChange::Drop(_) => None,
        });
        if let Some(amount) = budget {
            write!(out, " A budget of {} would do.", demand::dollars(amount))?;
        }
        let drops = self.changes.iter().filter_map(|change| match change {
            QueryChange::Budget(_) => None,
            QueryChange::Drop(demands) => Some(all(demands).join(" and ")),
        });
        let drops: Vec<String> = drops.collect();
        let begin = if budget.is_some() { "So would giving up" } else { "It would do to give up" };
        match drops.as_slice() {
            [] => Ok(()),
            [drop] => write!(out, " {begin} {drop}."),
            drops => write!(out, " {begin} one of these: {}.", drops.join("; ")),
        }
    }
}

/// A change of a query that makes an itinerary possible.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryChange {
    /// Raise the budget for all travellers to this amount, in US dollars, which is the minimum.
    Budget(f64),
    Drop(Vec<TripDemand>),
}

/// The search gave up.
#[derive(Debug, Clone, PartialEq)]
pub struct UndecidedTrip {
    /// The best itinerary so far.
    pub best: Option<SolvedTrip>,
    /// The reason, as a sentence without a full stop.
    pub why: String,
}

/// Plans the trip for a query.
///
/// Uses the tables and the fields of the query, not its words. Takes milliseconds for the published queries.
pub fn solve(
    database: &TripDatabase,
    query: &Query,
    compat: TripCompat,
    options: &SolveOptions,
) -> SolveAnswer {
    let demands = TripDemand::all(query);
    let ground = match ground::Ground::new(database, query, compat) {
        Ok(ground) => ground,
        Err(why) => return SolveAnswer::Undecided(UndecidedTrip { best: None, why }),
    };
    let required = ground.required(&demands);
    let found = search::search(&ground, &required, options.objective, options.steps_max);
    let solved = found.best.map(|route| {
        let is_generous = options.objective == TripObjective::Any;
        let (plan, cost) = write::plan(&ground, &required, &route, is_generous);
        // A generous plan has more meals than its route needs, so it is never called the cheapest.
        let is_cheapest = !is_generous && found.is_complete;
        SolvedTrip { plan, cost, is_cheapest, steps: found.steps }
    });
    match solved {
        // For `Any`, one itinerary settles the question, whether or not the search was exhaustive.
        Some(solved) if found.is_complete || options.objective == TripObjective::Any => {
            SolveAnswer::Solved(solved)
        }
        None if found.is_complete => {
            SolveAnswer::Infeasible(conflict::explain(&ground, &demands, found.steps, options.steps_max))
        }
        best => {
            let why = format!("{} steps did not decide it", options.steps_max);
            SolveAnswer::Undecided(UndecidedTrip { best, why })
        }
    }
}
