//! The eight common-sense checks.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::{Place, Trip, attractions, given, given_if_there, is_dash, name_and_city, place, travel};
use crate::entry::{NOTHING, flight_number};
use crate::plan::{ACCOMMODATION, ATTRACTION, CITY, KEYS, MEALS, NOT_NEEDED, TRANSPORTATION};
use crate::python::{PythonException, equal, holds, is_true, member, method_of_text};
use crate::tables::RoadMode;

/// The share of a day's six entries that must be filled in.
const FILLED_SHARE_MIN: f64 = 0.5;

/// The trip is a round trip from the origin, visits no city twice, and all its cities are known. The destination of
/// three-day trips is not checked.
pub(super) fn route(trip: &Trip<'_>) -> Result<bool, PythonException> {
    let mut cities = Vec::with_capacity(2 * trip.days.len());
    for (number, day) in trip.days().enumerate() {
        match place(day?)? {
            // A wrong start fails the plan here, before a later day can raise an exception.
            Place::Leg([origin, _]) if number == 0 && origin != trip.query.org => return Ok(false),
            Place::Leg(leg) => cities.extend(leg),
            Place::City(city) => cities.push(city),
        }
    }
    let last = cities.len().saturating_sub(1);
    if cities.len() < 3 || cities.first() != cities.last() || !is_sequence(&cities) {
        return Ok(false);
    }
    // The first and the last entry are the origin, which must be known but need not lie in the state.
    Ok(cities.iter().enumerate().all(|(at, city)| match trip.database.cities.state(city) {
        None => false,
        Some(state) => at == 0 || at == last || !trip.query.is_for_state() || state == trip.query.dest,
    }))
}

/// Whether no city except the first is visited twice, and every city in between is named more than once.
fn is_sequence(cities: &[&str]) -> bool {
    let last = cities.len().saturating_sub(1);
    let mut seen = BTreeSet::new();
    let mut begin = 0;
    for run in cities.chunk_by(|one, other| one == other) {
        // `begin` counts entries and not runs. A final run of two days at home begins before `last`, so the published
        // check fails it as a second visit.
        let is_between = begin != 0 && begin != last;
        if is_between && (run.len() == 1 || run.iter().any(|city| seen.contains(city))) {
            return false;
        }
        seen.extend(run.iter().copied());
        begin += run.len();
    }
    true
}

/// No two meals are the same text.
pub(super) fn restaurants(trip: &Trip<'_>) -> Result<bool, PythonException> {
    // A list, because an entry may be any JSON value, compared by Python's equality. There are at most three a day.
    let mut seen: Vec<&Value> = Vec::new();
    for day in trip.days() {
        let day = day?;
        for meal in MEALS {
            let Some(value) = given_if_there(day, meal)? else { continue };
            if seen.iter().any(|other| equal(other, value)) {
                return Ok(false);
            }
            seen.push(value);
        }
    }
    Ok(true)
}

/// No two attractions are the same text.
pub(super) fn attractions_differ(trip: &Trip<'_>) -> Result<bool, PythonException> {
    let mut seen = HashSet::new();
    for day in trip.days() {
        let Some(value) = given_if_there(day?, ATTRACTION)? else { continue };
        for attraction in attractions(value)? {
            if !seen.insert(attraction) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Each stay meets the minimum nights of its house. Only houses in the table are checked.
pub(super) fn minimum_nights(trip: &Trip<'_>) -> Result<bool, PythonException> {
    let mut nights = Vec::with_capacity(trip.days.len());
    for day in trip.days() {
        let day = day?;
        // Unlike in the other checks, a missing key is a failure here and not an exception.
        if !holds(day, ACCOMMODATION)? {
            return Ok(false);
        }
        nights.push(member(day, ACCOMMODATION)?);
    }
    for run in nights.chunk_by(|one, other| equal(one, other)) {
        let Some(&value) = run.first() else { continue };
        if is_dash(value) {
            continue;
        }
        let (name, city) = name_and_city(value)?;
        // The published code compares nights only if exactly one row matches.
        let mut rows = trip.database.stays.holding(name, city);
        if let (Some(stay), None) = (rows.next(), rows.next())
            && (run.len() as f64) < stay.minimum_nights
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// There is travel on the first day, and a self-driven car is not combined with other means.
pub(super) fn transportation(trip: &Trip<'_>) -> Result<bool, PythonException> {
    let mut is_used = [false; 3];
    for (number, day) in trip.days().enumerate() {
        let day = day?;
        // The published code does not test whether the first day has the key, so it raises if the key is missing there.
        let value =
            if number == 0 { given(day, TRANSPORTATION)? } else { given_if_there(day, TRANSPORTATION)? };
        match value {
            Some(value) => {
                let entry = method_of_text(value)?.to_lowercase();
                // The first of these that occurs counts, even if the entry names several.
                let means = ["taxi", "self-driving", "flight"].iter().position(|it| entry.contains(it));
                if let Some(used) = means.and_then(|means| is_used.get_mut(means)) {
                    *used = true;
                }
            }
            None if number == 0 => return Ok(false),
            None => {}
        }
    }
    let [taxi, self_driving, flight] = is_used;
    Ok(!(self_driving && (taxi || flight)))
}

/// Activities name the city of the day. On days without travel the published code iterates over the city's letters:
/// transport is checked against each letter, meals and attractions against any, and accommodation against the last.
pub(super) fn current_city(trip: &Trip<'_>) -> Result<bool, PythonException> {
    for day in trip.days() {
        let day = day?;
        let cities: Vec<&str> = match place(day)? {
            Place::Leg(leg) => leg.to_vec(),
            // Letters as texts. `split("")` also yields an empty text at either end.
            Place::City(city) => city.split("").filter(|it| !it.is_empty()).collect(),
        };
        let names_any = |value: &Value| -> Result<bool, PythonException> {
            for city in &cities {
                if holds(value, city)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        if let Some(value) = given_if_there(day, TRANSPORTATION)? {
            for city in &cities {
                if !holds(value, city)? {
                    return Ok(false);
                }
            }
        }
        for meal in MEALS {
            if let Some(value) = given_if_there(day, meal)?
                && !names_any(value)?
            {
                return Ok(false);
            }
        }
        if let Some(value) = given_if_there(day, ATTRACTION)? {
            for attraction in attractions(value)? {
                if !cities.iter().any(|city| attraction.contains(city)) {
                    return Ok(false);
                }
            }
        }
        if let Some(value) = given_if_there(day, ACCOMMODATION)? {
            // An empty city has no last letter, and the published code raises.
            let last = cities.last().ok_or(PythonException::Index)?;
            if !holds(value, last)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Everything named is in the tables, matched by any part of its name. Flight dates are not checked, nor is transport
/// other than a numbered flight, a car or a taxi.
pub(super) fn sandbox(trip: &Trip<'_>) -> Result<bool, PythonException> {
    let database = trip.database;
    for day in trip.days() {
        let day = day?;
        if let Some(travel) = travel(day)? {
            let is_there = if travel.lower.contains("flight number") {
                let (origin, destination) = travel.leg.ok_or(PythonException::Value)?;
                let number = flight_number(travel.entry).ok_or(PythonException::Index)?;
                let mut flights = database.flights.numbered(number);
                flights.any(|flight| flight.origin == origin && flight.destination == destination)
            } else {
                // No city is called `-`, so a road journey without ends fails.
                let (origin, destination) = travel.leg.unwrap_or((NOTHING, NOTHING));
                let is_there = |mode| database.distances.cost(origin, destination, mode).is_some();
                match road_mode(&travel.lower) {
                    Some(mode) => is_there(mode),
                    // Any other means passes unchecked, such as `Train`.
                    None => true,
                }
            };
            if !is_there {
                return Ok(false);
            }
        }
        for meal in MEALS {
            if let Some(value) = given_if_there(day, meal)? {
                let (name, city) = name_and_city(value)?;
                if database.restaurants.holding(name, city).next().is_none() {
                    return Ok(false);
                }
            }
        }
        if let Some(value) = given_if_there(day, ATTRACTION)? {
            for attraction in attractions(value)? {
                let (name, city) = crate::entry::name_city(attraction);
                if database.attractions.holding(name, city).next().is_none() {
                    return Ok(false);
                }
            }
        }
        if let Some(value) = given_if_there(day, ACCOMMODATION)? {
            let (name, city) = name_and_city(value)?;
            if database.stays.holding(name, city).next().is_none() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The means of road transport, from an entry in lower case.
pub(super) fn road_mode(lower: &str) -> Option<RoadMode> {
    if lower.contains("self-driving") {
        return Some(RoadMode::SelfDriving);
    }
    lower.contains("taxi").then_some(RoadMode::Taxi)
}

/// All days are present, the number of cities is right, and the required entries are filled in.
pub(super) fn complete(trip: &Trip<'_>) -> Result<bool, PythonException> {
    // The steps come in the published order, because a failure in one hides an exception in the next.
    let mut days = 0;
    for day in trip.days() {
        let day = day?;
        let is_empty = day.as_object().is_some_and(serde_json::Map::is_empty);
        days += usize::from(!is_empty && member(day, CITY)? != NOT_NEEDED);
    }
    if days != trip.query.days || !has_right_cities(trip)? {
        return Ok(false);
    }
    for (number, day) in trip.days().enumerate() {
        if !is_filled(day?, number + 1 == trip.query.days)? {
            return Ok(false);
        }
    }
    let mut filled = 0;
    // All values count, also those of keys that name no activity.
    for day in trip.days() {
        let values = day?.as_object().ok_or(PythonException::Type)?.values();
        filled += values.filter(|value| is_true(value) && *value != NOTHING).count();
    }
    Ok(filled as f64 / (KEYS.len() * trip.query.days) as f64 >= FILLED_SHARE_MIN)
}

/// Whether the trip begins at the origin, if it names a start, and visits as many other cities as requested.
fn has_right_cities(trip: &Trip<'_>) -> Result<bool, PythonException> {
    let mut cities = BTreeSet::new();
    for (number, day) in trip.days().enumerate() {
        match place(day?)? {
            Place::Leg([origin, _]) if number == 0 && origin != trip.query.org => return Ok(false),
            Place::Leg(leg) => cities.extend(leg),
            Place::City(city) => {
                cities.insert(city);
            }
        }
    }
    cities.remove(trip.query.org.as_str());
    Ok(cities.len() == trip.query.visiting_city_number)
}

/// Whether a day has its keys, with the required ones filled in. Null counts as filled in.
fn is_filled(day: &Value, is_last: bool) -> Result<bool, PythonException> {
    for key in KEYS {
        if !holds(day, key)? {
            return Ok(false);
        }
    }
    let dash = |key| member(day, key).map(is_dash);
    let city = member(day, CITY)?;
    let has_from = holds(city, "from ")?;
    // As published, `to ` also matches the end of a name, as in `Sacramento (CA)`.
    if (has_from || holds(city, "to ")?) && dash(TRANSPORTATION)? {
        return Ok(false);
    }
    if !has_from && !holds(city, " to ")? && dash(ATTRACTION)? {
        return Ok(false);
    }
    if !is_last && dash(ACCOMMODATION)? {
        return Ok(false);
    }
    for meal in MEALS {
        if !has_from && dash(meal)? {
            return Ok(false);
        }
    }
    Ok(true)
}
