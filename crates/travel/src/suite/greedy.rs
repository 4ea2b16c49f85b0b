//! The greedy search among the benchmark's baselines: it picks whatever is cheapest, one item at a time.
//!
//! Cities come in the order of the table, with departures on days 1, 3, 5 and so on. Each leg uses the cheapest
//! means of travel for one person. All meals are in the cheapest restaurant, so that Diverse Restaurants never
//! passes. Constraints are ignored. (Ours: a trip of an unusual length goes home on its last day, and an item that
//! a city lacks is `-`.)

use planproof_trace::Draw;
use serde_json::{Value, json};

use crate::entry::NOTHING;
use crate::plan::{ACCOMMODATION, ATTRACTION, CITY, MEALS, TRANSPORTATION};
use crate::query::Query;
use crate::tables::{RoadMode, TripDatabase};

/// The name of the random stream.
const PURPOSE: &str = "travel-greedy/1";

/// The plan for a query. The time is linear in the number of rows of its cities. The same seed gives the same plan.
pub fn plan(database: &TripDatabase, query: &Query, seed: u64) -> Value {
    let mut draw = Draw::new(seed, query.idx, PURPOSE);
    let cities = cities(database, query);
    let mut place = query.org.as_str();
    let mut days = Vec::new();
    for day in 1..=query.days {
        let is_last = day == query.days;
        // Legs start on every other day, as long as there are cities left.
        let next = match (is_last, day % 2 == 1) {
            (true, _) => Some(query.org.as_str()),
            (false, true) => cities.get(day / 2).copied(),
            (false, false) => None,
        };
        let next = next.filter(|next| *next != place);
        let date = query.date.get(day - 1).map_or("", String::as_str);
        let (city, means) = match next {
            Some(next) => (format!("from {place} to {next}"), leg(database, (place, next), date)),
            None => (place.to_owned(), NOTHING.to_owned()),
        };
        // On a day with a leg, meals, attraction and accommodation are in the city of arrival.
        place = next.unwrap_or(place);
        let meal = cheapest_meal(database, place);
        let stay = if is_last { NOTHING.to_owned() } else { cheapest_stay(database, place) };
        let mut object = json!({
            "days": day, CITY: city, TRANSPORTATION: means, ACCOMMODATION: stay,
            ATTRACTION: sight(database, place, &mut draw),
        });
        for key in MEALS {
            object[key] = json!(meal);
        }
        days.push(object);
    }
    Value::Array(days)
}

/// The cities to visit, in the order of the table.
fn cities<'d>(database: &'d TripDatabase, query: &'d Query) -> Vec<&'d str> {
    if !query.is_for_state() {
        return vec![&query.dest];
    }
    let all = database.cities.of_state(&query.dest).unwrap_or_default().iter().map(String::as_str);
    all.filter(|city| *city != query.org).take(query.visiting_city_number).collect()
}

/// The cheapest means of travel for one person; in a tie, a flight comes first, then one's own car.
fn leg(database: &TripDatabase, (from, to): (&str, &str), date: &str) -> String {
    let flight = database.flights.on(from, to, date).min_by_key(|flight| flight.cents);
    let flight = flight.map(|flight| {
        let text = format!(
            "Flight Number: {}, from {from} to {to}, Departure Time: {}, Arrival Time: {}",
            flight.number(),
            flight.departs(),
            flight.arrives()
        );
        (flight.price(), text)
    });
    let road = [(RoadMode::SelfDriving, "Self-driving"), (RoadMode::Taxi, "Taxi")].into_iter().filter_map(
        |(mode, name)| {
            let way = database.distances.get(from, to)?;
            let cost = way.cost(mode)?;
            let text = format!(
                "{name}, from {from} to {to}, duration: {}, distance: {}, cost: {cost}",
                way.duration, way.distance
            );
            Some((cost as f64, text))
        },
    );
    let ways = flight.into_iter().chain(road);
    let cheapest = ways.reduce(|best, way| if way.0 < best.0 { way } else { best });
    cheapest.map_or_else(|| NOTHING.to_owned(), |(_, text)| text)
}

fn cheapest_meal(database: &TripDatabase, city: &str) -> String {
    let row = database.restaurants.in_city(city).min_by_key(|row| row.average_cost);
    row.map_or_else(|| NOTHING.to_owned(), |row| format!("{}, {city}", row.name))
}

fn cheapest_stay(database: &TripDatabase, city: &str) -> String {
    let row = database.stays.in_city(city).min_by(|one, other| one.price.total_cmp(&other.price));
    row.map_or_else(|| NOTHING.to_owned(), |row| format!("{}, {city}", row.name))
}

/// A random attraction whose name would not be parsed as two.
fn sight(database: &TripDatabase, city: &str, draw: &mut Draw) -> String {
    let rows: Vec<&str> = database
        .attractions
        .in_city(city)
        .map(|row| row.name.as_str())
        .filter(|name| !name.contains(';'))
        .collect();
    match rows.len() {
        0 => NOTHING.to_owned(),
        count => rows.get(draw.place(count)).map_or_else(String::new, |name| format!("{name}, {city};")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_go_home_and_repeat_a_restaurant() {
        let database = crate::own::database().expect("our own tables");
        for query in crate::own::queries().expect("our own queries") {
            let plan = plan(&database, &query, 7);
            assert_eq!(plan, super::plan(&database, &query, 7));
            let judged = crate::evaluate::judge(&database, &query, &plan.into(), crate::TripCompat::Original);
            let holds = |check| judged.mark(check).is_some_and(crate::evaluate::CheckResult::is_passed);
            use crate::evaluate::TripCheck;
            assert!(!holds(TripCheck::Restaurants), "query {}", query.idx);
            assert!(holds(TripCheck::Route) && holds(TripCheck::Complete), "query {}: {judged:?}", query.idx);
        }
    }
}
