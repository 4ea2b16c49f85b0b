//! Reference information for our own queries, in the style of the published one: what the cities that a trip may
//! visit offer, and all journeys between them on the days of the trip.
//!
//! The published information for a trip to a state covers cities chosen in advance; ours covers all cities of the
//! state.

use serde_json::{Value, json};

use super::task::ReferenceInformation;
use crate::TripCompat;
use crate::query::Query;
use crate::tables::{RoadMode, TripDatabase};
use crate::tools::{
    accommodation_search, attraction_search, distance_matrix, flight_search, restaurant_search,
};

/// The reference information for a query over small tables.
pub(super) fn of(database: &TripDatabase, query: &Query) -> ReferenceInformation {
    let cities: Vec<&str> = match query.is_for_state() {
        false => vec![&query.dest],
        true => {
            let all = database.cities.of_state(&query.dest).unwrap_or_default().iter().map(String::as_str);
            all.filter(|city| *city != query.org).collect()
        }
    };
    let mut pieces: Vec<(String, Value)> = Vec::new();
    for city in &cities {
        pieces.push((format!("Attractions in {city}"), json!(attraction_search(database, city).text)));
        pieces.push((format!("Restaurants in {city}"), json!(restaurant_search(database, city).text)));
        let stays = accommodation_search(database, city, TripCompat::Right);
        pieces.push((format!("Accommodations in {city}"), json!(stays.text)));
    }
    let places: Vec<&str> = [query.org.as_str()].into_iter().chain(cities).collect();
    // In both directions, because the tables may differ by direction.
    for from in &places {
        for to in places.iter().filter(|to| *to != from) {
            for mode in [RoadMode::SelfDriving, RoadMode::Taxi] {
                let way = distance_matrix(database, [from, to, mode.name()]);
                pieces.push((format!("{} from {from} to {to}", mode.name()), json!(way.text)));
            }
            for date in &query.date {
                let flights = flight_search(database, [from, to, date], TripCompat::Right);
                pieces.push((format!("Flight from {from} to {to} on {date}"), json!(flights.text)));
            }
        }
    }
    ReferenceInformation(pieces)
}
