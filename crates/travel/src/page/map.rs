//! The map of a trip.

use std::collections::BTreeSet;

use planproof_suite::{Map, MapPlace, MapWay};

use super::dollars;
use super::timeline::{means_word, travel_cost};
use crate::evaluate::TripJudgement;
use crate::evaluate::right::day::ends;
use crate::evaluate::right::itinerary::Itinerary;
use crate::plan::{CITY, TRANSPORTATION};
use crate::query::Query;
use crate::tables::{Attraction, CityTable, TripDatabase};

/// The cities of the trip, and its journeys in order.
pub(super) fn of(
    database: &TripDatabase,
    query: &Query,
    itinerary: &Itinerary<'_>,
    judgement: &TripJudgement,
) -> Map {
    let mut map = Map::default();
    let mut unknown = BTreeSet::new();
    for (number, day) in itinerary.days.iter().enumerate() {
        let Some(travel) = &day.travel else { continue };
        let Some((from, to)) = ends(day, travel) else { continue };
        let mut place = |name: &str| {
            if let Some(known) = map.places.iter().position(|it| it.name == name) {
                return Some(known);
            }
            let Some((north, east)) = middle(&database.attractions, name) else {
                unknown.insert(name.to_owned());
                return None;
            };
            map.places.push(MapPlace { name: name.to_owned(), east, north });
            Some(map.places.len() - 1)
        };
        // Both are looked up even if one is unknown, so that the caption names every unknown city.
        let (Some(from), Some(to)) = (place(from), place(to)) else { continue };
        let cost = travel_cost(database, query, number, day).map_or_else(|| "?".to_owned(), dollars);
        // A fault in the city of a travel day is a fault of its journey, too.
        let is_wrong = judgement.findings.iter().any(|finding| {
            finding.day == Some(number + 1)
                && finding.entry.is_some_and(|entry| [TRANSPORTATION, CITY].contains(&entry.key))
        });
        map.ways.push(MapWay { from, to, label: format!("{} {cost}", means_word(travel.means)), is_wrong });
    }
    projected(&mut map.places);
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(String::as_str).collect();
        map.caption = format!("Not on the map, because no sights are known there: {}.", names.join(", "));
    }
    map
}

/// The position of a city: the mean of its attractions, in degrees north and east.
fn middle(attractions: &CityTable<Attraction>, city: &str) -> Option<(f64, f64)> {
    let (mut count, mut north, mut east) = (0.0, 0.0, 0.0);
    for sight in attractions.in_city(city) {
        count += 1.0;
        north += sight.latitude;
        east += sight.longitude;
    }
    (count > 0.0).then(|| (north / count, east / count))
}

/// Scales degrees east to their length at the centre of the map, relative to degrees north.
fn projected(places: &mut [MapPlace]) {
    let norths = || places.iter().map(|place| place.north);
    let middle = norths().fold(f64::INFINITY, f64::min).midpoint(norths().fold(f64::NEG_INFINITY, f64::max));
    let shrunk = middle.to_radians().cos();
    for place in places {
        place.east *= shrunk;
    }
}
