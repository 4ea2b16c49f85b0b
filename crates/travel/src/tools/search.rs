//! The searches.

use super::ToolAnswer;
use super::frame::{Column, text};
use crate::TripCompat;
use crate::python::list_of;
use crate::query::is_date;
use crate::tables::{Distance, Flight, RoadMode, TripDatabase};

/// `FlightSearch[origin, destination, date]`. A day without flights is a success.
pub fn flight_search(
    database: &TripDatabase,
    [origin, destination, date]: [&str; 3],
    compat: TripCompat,
) -> ToolAnswer {
    if !has_shape_of_date(date) || (compat == TripCompat::Right && !is_date(date)) {
        return ToolAnswer::failure(format!("'{date}' is not in the format YYYY-MM-DD"));
    }
    if let Some(refused) = [origin, destination].into_iter().find_map(|city| refused(database, city)) {
        return refused;
    }
    let flights: Vec<_> = database.flights.on(origin, destination, date).collect();
    // If the store has failed, finding no flights means nothing.
    if let Some(outage) = database.flights.outage() {
        return ToolAnswer::failure(format!("{outage}."));
    }
    if flights.is_empty() {
        return ToolAnswer::success(format!("There is no flight from {origin} to {destination} on {date}."));
    }
    let number: Vec<String> = flights.iter().map(Flight::number).collect();
    let [departs, arrives, takes] = [
        flights.iter().map(Flight::departs).collect::<Vec<_>>(),
        flights.iter().map(Flight::arrives).collect(),
        flights.iter().map(Flight::takes).collect(),
    ];
    let texts = |name, cells: &[String]| Column::texts(name, cells.iter().map(String::as_str));
    // The published prices are whole dollars, which the published tool writes without decimals.
    let has_cents = flights.iter().any(|it| it.cents % 100 != 0);
    ToolAnswer::success(text(&[
        texts("Flight Number", &number),
        if has_cents {
            Column::floats("Price", flights.iter().map(Flight::price))
        } else {
            Column::integers("Price", flights.iter().map(|it| i64::from(it.cents / 100)))
        },
        texts("DepTime", &departs),
        texts("ArrTime", &arrives),
        texts("ActualElapsedTime", &takes),
        Column::texts("FlightDate", flights.iter().map(|it| it.date)),
        Column::texts("OriginCityName", flights.iter().map(|it| it.origin)),
        Column::texts("DestCityName", flights.iter().map(|it| it.destination)),
        Column::floats("Distance", flights.iter().map(|it| f64::from(it.miles))),
    ]))
}

/// Whether a text has the digits and dashes of a date such as `2022-03-16`.
fn has_shape_of_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The response to a city that tools do not accept, which lists all those that they accept.
fn refused(database: &TripDatabase, city: &str) -> Option<ToolAnswer> {
    if database.cities.accepts(city) {
        return None;
    }
    let all = list_of(database.cities.accepted().iter().map(String::as_str));
    Some(ToolAnswer::failure(format!("{city} is not valid city in {all}.")))
}

/// `GoogleDistanceMatrix[origin, destination, mode]`. Cities are not checked.
pub fn distance_matrix(database: &TripDatabase, [origin, destination, mode]: [&str; 3]) -> ToolAnswer {
    ToolAnswer::success(match database.distances.get(origin, destination) {
        None => format!("{mode}, from {origin} to {destination}, no valid information."),
        Some(way) if !way.is_valid() => "No valid information.".to_owned(),
        Some(way) => {
            let Distance { duration, distance } = way;
            // As published, any text with `driving` in it is a mode, but only `taxi` itself is the other.
            let mode_of_car = if mode.contains("driving") {
                Some(RoadMode::SelfDriving)
            } else {
                (mode == "taxi").then_some(RoadMode::Taxi)
            };
            let cost = mode_of_car.and_then(|mode| way.cost(mode));
            let cost = cost.map_or_else(|| "None".to_owned(), |cost| cost.to_string());
            format!(
                "{mode}, from {origin} to {destination}, duration: {duration}, distance: {distance}, cost: {cost}"
            )
        }
    })
}

/// `AccommodationSearch[city]`.
pub fn accommodation_search(database: &TripDatabase, city: &str, compat: TripCompat) -> ToolAnswer {
    if let Some(refused) = refused(database, city) {
        return refused;
    }
    let rows: Vec<_> = database.stays.in_city(city).collect();
    if rows.is_empty() {
        // The published tool says "attraction".
        let what = if compat == TripCompat::Original { "attraction" } else { "accommodation" };
        return ToolAnswer::success(format!("There is no {what} in this city."));
    }
    ToolAnswer::success(text(&[
        Column::texts("NAME", rows.iter().map(|row| row.name.as_str())),
        Column::floats("price", rows.iter().map(|row| row.price)),
        Column::texts("room type", rows.iter().map(|row| row.room_type.as_str())),
        Column::texts("house_rules", rows.iter().map(|row| row.house_rules.as_str())),
        Column::floats("minimum nights", rows.iter().map(|row| row.minimum_nights)),
        Column::integers("maximum occupancy", rows.iter().map(|row| i64::from(row.maximum_occupancy))),
        Column::floats("review rate number", rows.iter().map(|row| row.review)),
        Column::texts("city", rows.iter().map(|row| row.city.as_str())),
    ]))
}

/// `RestaurantSearch[city]`.
pub fn restaurant_search(database: &TripDatabase, city: &str) -> ToolAnswer {
    if let Some(refused) = refused(database, city) {
        return refused;
    }
    let rows: Vec<_> = database.restaurants.in_city(city).collect();
    if rows.is_empty() {
        return ToolAnswer::success("There is no restaurant in this city.");
    }
    ToolAnswer::success(text(&[
        Column::texts("Name", rows.iter().map(|row| row.name.as_str())),
        Column::integers("Average Cost", rows.iter().map(|row| i64::from(row.average_cost))),
        Column::texts("Cuisines", rows.iter().map(|row| row.cuisines.as_str())),
        Column::floats("Aggregate Rating", rows.iter().map(|row| row.rating)),
        Column::texts("City", rows.iter().map(|row| row.city.as_str())),
    ]))
}

/// `AttractionSearch[city]`.
pub fn attraction_search(database: &TripDatabase, city: &str) -> ToolAnswer {
    if let Some(refused) = refused(database, city) {
        return refused;
    }
    let rows: Vec<_> = database.attractions.in_city(city).collect();
    if rows.is_empty() {
        return ToolAnswer::success("There is no attraction in this city.");
    }
    ToolAnswer::success(text(&[
        Column::texts("Name", rows.iter().map(|row| row.name.as_str())),
        Column::floats("Latitude", rows.iter().map(|row| row.latitude)),
        Column::floats("Longitude", rows.iter().map(|row| row.longitude)),
        Column::texts("Address", rows.iter().map(|row| row.address.as_str())),
        Column::texts("Phone", rows.iter().map(|row| row.phone.as_str())),
        Column::texts("Website", rows.iter().map(|row| row.website.as_str())),
        Column::texts("City", rows.iter().map(|row| row.city.as_str())),
    ]))
}

/// `CitySearch[state]`. The published tool counts an unknown state as a success.
pub fn city_search(database: &TripDatabase, state: &str, compat: TripCompat) -> ToolAnswer {
    match database.cities.of_state(state) {
        Some(cities) => ToolAnswer::success(list_of(cities.iter().map(String::as_str))),
        None => ToolAnswer { text: "Invalid State".to_owned(), is_success: compat == TripCompat::Original },
    }
}
