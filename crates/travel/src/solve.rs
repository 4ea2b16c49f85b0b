//! A planner without a model: from the fields of a query to an itinerary that provably holds, or to why there is none.
//!
//! # What counts as a trip
//!
//! One leaves home on the first day and comes home on the last. Between, one stays in as many cities as are asked for
//! (the destination, or cities of the destination's state), in each for one night or more on end, in one house, for at
//! least the nights that the house wants, and travels only between them. A day without travel has three meals and a
//! sight; a day with travel needs neither. No restaurant and no sight comes twice, one's own car goes with no other
//! means, flights are those of the day. Nothing is planned at home. That several houses in one city cannot be cheaper
//! than one is plain: the cheapest of them alone would do.
//!
//! Both modes ask for such a trip, and no gap of the published checks ([`Loophole`](crate::evaluate::Loophole)) is
//! used. They differ in what a row of the tables is good for: [`Compat::Original`] takes only rows that the published
//! evaluator finds by their text (it takes the first whose name has the text in it), and counts a cuisine whose name is
//! part of another. So a proof that there is no trip is one about trips in this sense. In the right mode that is all
//! that the evaluator lets pass, but for meals, sights and a night at home where too few entries are filled in without
//! them, which takes a trip with hardly a free day; the published evaluator lets more pass, through its gaps.
//!
//! # How it is found
//!
//! The cost of a trip is a sum: ways by their ends and day, houses by city and nights, meals by city and number, and
//! only the cuisines and the budget tie the meals of cities together. A general solver over candidates, such as that of
//! crate `constraint`, would search where tables say it all: for each city, the cheapest house for any number of
//! nights, and the least that any number of different restaurants with any set of cuisines costs, are computed once.
//! Over these, branch and bound goes through routes and splits of the nights, once in one's own car and once by flight
//! and taxi, and leaves out only what costs more than the budget or the best so far by a bound that never
//! overestimates. What it does not find is not there.
//!
//! # What is where
//!
//! What is asked for, and in words (`solve/demand.rs`); rows of a city (`solve/town.rs`) and ways between cities
//! (`solve/ways.rs`); meals with cuisines (`solve/meals.rs`, `solve/menu.rs`); branch and bound (`solve/search.rs`);
//! the plan as the evaluator reads it (`solve/write.rs`); why there is none (`solve/conflict.rs`, `solve/obstacle.rs`).

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

pub use demand::Demand;

use crate::Compat;
use crate::plan::Plan;
use crate::query::Query;
use crate::tables::Database;

/// How many steps of the search are made before it gives up, unless asked otherwise. Most take less than a microsecond.
pub const STEPS_MAX: u64 = 10_000_000;

/// How many cuisines one query may ask for. The tables of meals grow with two to their number.
pub const CUISINES_MAX: usize = 8;

/// Which of the itineraries that hold is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Objective {
    /// The first that is found. Days of travel get meals, too, as far as the budget goes.
    #[default]
    Any,
    /// One that costs least, with nothing that is not needed.
    Cheapest,
}

/// How to solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Which itinerary.
    pub objective: Objective,
    /// How many steps the search makes before it gives up. A step is a city with its nights, or a full route.
    pub steps_max: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { objective: Objective::default(), steps_max: STEPS_MAX }
    }
}

/// What comes out.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// An itinerary that holds.
    Solved(Solved),
    /// There is none.
    Infeasible(Infeasible),
    /// The search gave up.
    Undecided(Undecided),
}

impl Answer {
    /// The itinerary, if there is one, be it the cheapest or not.
    pub fn solved(&self) -> Option<&Solved> {
        match self {
            Self::Solved(solved) => Some(solved),
            Self::Infeasible(_) => None,
            Self::Undecided(undecided) => undecided.best.as_ref(),
        }
    }
}

/// An itinerary that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Solved {
    /// The itinerary in the published format.
    pub plan: Plan,
    /// What it costs for all, in US dollars.
    pub cost: f64,
    /// Whether none costs less, which is proved.
    pub is_cheapest: bool,
    /// How many steps the search made.
    pub steps: u64,
}

/// There is no itinerary, which is proved.
#[derive(Debug, Clone, PartialEq)]
pub struct Infeasible {
    /// As few demands as possible that cannot be met together; none where there is no trip whatever is asked.
    pub conflict: Vec<Demand>,
    /// Whether it is proved that no fewer demands are in conflict.
    pub is_smallest: bool,
    /// The nearest changes of the query that make it feasible: the least budget, if more money helps, then as few
    /// wishes as possible to give up. None where nothing helps.
    pub changes: Vec<Change>,
    /// Where no demand is in conflict: what stands in the way of any trip, as a sentence without a full stop.
    pub obstacle: Option<String>,
    /// How many steps the search made.
    pub steps: u64,
}

impl fmt::Display for Infeasible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |demands: &[Demand]| demands.iter().map(Demand::to_string).collect::<Vec<_>>();
        match (&self.obstacle, self.conflict.as_slice()) {
            (Some(obstacle), _) => write!(out, "There is no such trip: {obstacle}.")?,
            (None, [demand]) => write!(out, "This cannot be met: {demand}.")?,
            (None, demands) => {
                write!(out, "These cannot be met together: {}.", all(demands).join("; "))?;
            }
        }
        let budget = self.changes.iter().find_map(|change| match change {
            Change::Budget(amount) => Some(*amount),
            Change::Drop(_) => None,
        });
        if let Some(amount) = budget {
            write!(out, " A budget of {} would do.", demand::dollars(amount))?;
        }
        let drops = self.changes.iter().filter_map(|change| match change {
            Change::Budget(_) => None,
            Change::Drop(demands) => Some(all(demands).join(" and ")),
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

/// A change of a query, after which there is an itinerary.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// To spend this much for all, in US dollars. No less will do.
    Budget(f64),
    /// To give these wishes up.
    Drop(Vec<Demand>),
}

/// The search gave up.
#[derive(Debug, Clone, PartialEq)]
pub struct Undecided {
    /// The best itinerary so far.
    pub best: Option<Solved>,
    /// Why, as a sentence without a full stop.
    pub why: String,
}

/// Plans the trip of a query.
///
/// Reads the tables and the fields of the query, not its words. Takes milliseconds for the published queries.
pub fn solve(database: &Database, query: &Query, compat: Compat, options: &Options) -> Answer {
    let demands = Demand::all(query);
    let ground = match ground::Ground::new(database, query, compat) {
        Ok(ground) => ground,
        Err(why) => return Answer::Undecided(Undecided { best: None, why }),
    };
    let required = ground.required(&demands);
    let found = search::search(&ground, &required, options.objective, options.steps_max);
    let solved = found.best.map(|route| {
        let is_generous = options.objective == Objective::Any;
        let (plan, cost) = write::plan(&ground, &required, &route, is_generous);
        let is_cheapest = !is_generous && found.is_complete;
        Solved { plan, cost, is_cheapest, steps: found.steps }
    });
    match solved {
        Some(solved) if found.is_complete || options.objective == Objective::Any => Answer::Solved(solved),
        None if found.is_complete => {
            Answer::Infeasible(conflict::explain(&ground, &demands, found.steps, options.steps_max))
        }
        best => {
            let why = format!("{} steps did not decide it", options.steps_max);
            Answer::Undecided(Undecided { best, why })
        }
    }
}
