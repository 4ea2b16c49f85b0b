//! The tables of the sandbox: where one can sleep, eat and look at things, distances, cities, and flights.
//!
//! Texts are handed in, in the form of the published files (CSV with a header, UTF-8, standard quoting; columns may
//! stand in any order). Rows keep the order of the file, because the first that matches counts. A row in which any cell
//! is empty is left out, as by the published loader, so that a hotel without a number of stars cannot be booked.

mod cities;
mod distances;
mod flights;
mod places;
mod sheet;
mod times;

pub use cities::Cities;
pub use distances::{Distance, Distances, Mode};
pub use flights::{
    Flight, FlightNames, FlightReader, FlightRow, FlightStore, FlightStoreError, Flights, FlightsBuilder,
    Leg, Names, code_of,
};
pub use places::{Attraction, Place, Restaurant, Stay, Table, clean_name};
pub use sheet::TableError;
pub use times::{clock, elapsed};

/// Where the published archive has the accommodations.
pub const ACCOMMODATIONS_FILE: &str = "accommodations/clean_accommodations_2022.csv";
/// Where it has the restaurants.
pub const RESTAURANTS_FILE: &str = "restaurants/clean_restaurant_2022.csv";
/// Where it has the sights.
pub const ATTRACTIONS_FILE: &str = "attractions/attractions.csv";
/// Where it has the distances.
pub const DISTANCES_FILE: &str = "googleDistanceMatrix/distance.csv";
/// Where it has the cities with their states.
pub const STATES_FILE: &str = "background/citySet_with_states.txt";
/// Where it has the cities that tools accept.
pub const CITIES_FILE: &str = "background/citySet.txt";
/// Where it has the flights.
pub const FLIGHTS_FILE: &str = "flights/clean_Flights_2022.csv";

/// The texts of all files but the flights, which are too long for one text.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'t> {
    /// Of [`ACCOMMODATIONS_FILE`].
    pub accommodations: &'t str,
    /// Of [`RESTAURANTS_FILE`].
    pub restaurants: &'t str,
    /// Of [`ATTRACTIONS_FILE`].
    pub attractions: &'t str,
    /// Of [`DISTANCES_FILE`].
    pub distances: &'t str,
    /// Of [`STATES_FILE`].
    pub states: &'t str,
    /// Of [`CITIES_FILE`].
    pub cities: &'t str,
}

/// All tables.
#[derive(Debug, Clone)]
pub struct Database {
    /// Where one can sleep.
    pub stays: Table<Stay>,
    /// Where one can eat.
    pub restaurants: Table<Restaurant>,
    /// What one can look at.
    pub attractions: Table<Attraction>,
    /// How far cities are from each other on the road.
    pub distances: Distances,
    /// Cities and their states.
    pub cities: Cities,
    /// Flights.
    pub flights: Flights,
}

impl Database {
    /// Reads all tables. Takes time and memory in proportion to the texts.
    ///
    /// # Errors
    /// The file, line and column that cannot be read.
    pub fn read(texts: &Texts<'_>, flights: Flights) -> Result<Self, TableError> {
        Ok(Self {
            stays: Table::read(texts.accommodations, ACCOMMODATIONS_FILE)?,
            restaurants: Table::read(texts.restaurants, RESTAURANTS_FILE)?,
            attractions: Table::read(texts.attractions, ATTRACTIONS_FILE)?,
            distances: Distances::read(texts.distances, DISTANCES_FILE)?,
            cities: Cities::read((texts.states, STATES_FILE), (texts.cities, CITIES_FILE))?,
            flights,
        })
    }
}
