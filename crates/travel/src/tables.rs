//! The tables of the sandbox: accommodations, restaurants, attractions, distances, cities, and flights.
//!
//! The caller provides texts in the form of the published files (CSV with a header, UTF-8, standard quoting;
//! columns in any order). Rows keep the order of the file, because the first match counts. A row with any empty
//! cell is left out, as by the published loader, so that a hotel without a star rating cannot be booked.

mod cities;
mod distances;
mod flights;
mod places;
mod sheet;
mod times;

pub use cities::Cities;
pub use distances::{Distance, Distances, RoadMode};
pub use flights::{
    Flight, FlightNames, FlightReader, FlightRow, FlightStore, FlightStoreError, Flights, FlightsBuilder,
    Leg, Names, code_of,
};
pub use places::{Attraction, CityTable, Place, Restaurant, Stay, clean_name};
pub use sheet::TableError;
pub use times::{clock, elapsed};

/// The file of accommodations in the published archive.
pub const ACCOMMODATIONS_FILE: &str = "accommodations/clean_accommodations_2022.csv";
/// The file of restaurants.
pub const RESTAURANTS_FILE: &str = "restaurants/clean_restaurant_2022.csv";
/// The file of attractions.
pub const ATTRACTIONS_FILE: &str = "attractions/attractions.csv";
/// The file of distances.
pub const DISTANCES_FILE: &str = "googleDistanceMatrix/distance.csv";
/// The file of cities with their states.
pub const STATES_FILE: &str = "background/citySet_with_states.txt";
/// The file of cities that tools accept.
pub const CITIES_FILE: &str = "background/citySet.txt";
/// The file of flights.
pub const FLIGHTS_FILE: &str = "flights/clean_Flights_2022.csv";

/// The texts of all files except the flights, which are too long for one text.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'t> {
    /// The text of [`ACCOMMODATIONS_FILE`].
    pub accommodations: &'t str,
    /// The text of [`RESTAURANTS_FILE`].
    pub restaurants: &'t str,
    /// The text of [`ATTRACTIONS_FILE`].
    pub attractions: &'t str,
    /// The text of [`DISTANCES_FILE`].
    pub distances: &'t str,
    /// The text of [`STATES_FILE`].
    pub states: &'t str,
    /// The text of [`CITIES_FILE`].
    pub cities: &'t str,
}

/// All tables.
#[derive(Debug, Clone)]
pub struct TripDatabase {
    pub stays: CityTable<Stay>,
    pub restaurants: CityTable<Restaurant>,
    pub attractions: CityTable<Attraction>,
    /// Distances between cities by road.
    pub distances: Distances,
    /// Cities and their states.
    pub cities: Cities,
    pub flights: Flights,
}

impl TripDatabase {
    /// Parses all tables. Time and memory are linear in the length of the texts.
    ///
    /// # Errors
    /// The file, line and column that cannot be parsed.
    pub fn read(texts: &Texts<'_>, flights: Flights) -> Result<Self, TableError> {
        Ok(Self {
            stays: CityTable::read(texts.accommodations, ACCOMMODATIONS_FILE)?,
            restaurants: CityTable::read(texts.restaurants, RESTAURANTS_FILE)?,
            attractions: CityTable::read(texts.attractions, ATTRACTIONS_FILE)?,
            distances: Distances::read(texts.distances, DISTANCES_FILE)?,
            cities: Cities::read((texts.states, STATES_FILE), (texts.cities, CITIES_FILE))?,
            flights,
        })
    }
}
