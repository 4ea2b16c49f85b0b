//! A small data set of our own in the published format: six fictional cities in two states, 20 queries, and for each
//! query a plan that passes in both modes. It serves demonstrations and tests that have no published data.

use crate::plan::{PlanError, Submission};
use crate::query::{Query, QueryError};
use crate::tables::{FLIGHTS_FILE, FlightsBuilder, TableError, Texts, TripDatabase};

/// The texts of all tables but the flights.
pub const TEXTS: Texts<'static> = Texts {
    accommodations: include_str!("../data/own/database/accommodations/clean_accommodations_2022.csv"),
    restaurants: include_str!("../data/own/database/restaurants/clean_restaurant_2022.csv"),
    attractions: include_str!("../data/own/database/attractions/attractions.csv"),
    distances: include_str!("../data/own/database/googleDistanceMatrix/distance.csv"),
    states: include_str!("../data/own/database/background/citySet_with_states.txt"),
    cities: include_str!("../data/own/database/background/citySet.txt"),
};

/// The text of the flights.
pub const FLIGHTS: &str = include_str!("../data/own/database/flights/clean_Flights_2022.csv");

/// The queries, one a line.
pub const QUERIES: &str = include_str!("../data/own/queries.jsonl");

/// A plan for each query, one a line.
pub const PLANS: &str = include_str!("../data/own/plans.jsonl");

/// All tables.
///
/// # Errors
/// None, as the tests show.
pub fn database() -> Result<TripDatabase, TableError> {
    let mut flights = FlightsBuilder::new(FLIGHTS_FILE);
    for line in FLIGHTS.lines() {
        flights.line(line)?;
    }
    TripDatabase::read(&TEXTS, flights.finish())
}

/// The queries.
///
/// # Errors
/// None, as the tests show.
pub fn queries() -> Result<Vec<Query>, QueryError> {
    Query::read_all(QUERIES, "queries.jsonl")
}

/// The plans in the order of the queries.
///
/// # Errors
/// None, as the tests show.
pub fn plans() -> Result<Vec<Submission>, PlanError> {
    Submission::read_all(PLANS, "plans.jsonl")
}
