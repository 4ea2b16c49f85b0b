//! The five checks of the request.

use std::collections::BTreeSet;

use super::commonsense::road_mode;
use super::{Trip, given, name_and_city, travel};
use crate::entry::flight_number;
use crate::plan::{ACCOMMODATION, MEALS, TRANSPORTATION};
use crate::python::{PythonException, holds};
use crate::query::TransportRule;

/// The cost of the trip for all travellers. Anything not in the tables is free, except road legs, on which the
/// published code raises an exception. A flight is found by its number alone.
pub(super) fn cost(trip: &Trip<'_>) -> Result<f64, PythonException> {
    let (database, people) = (trip.database, trip.query.people_number);
    let mut total = 0.0;
    for day in trip.days() {
        let day = day?;
        // A journey without ends costs nothing.
        if let Some(travel) = travel(day)?
            && let Some((origin, destination)) = travel.leg
        {
            if travel.lower.contains("flight number") {
                let number = flight_number(travel.entry).ok_or(PythonException::Index)?;
                if let Some(flight) = database.flights.numbered(number).next() {
                    total += flight.price() * f64::from(people);
                }
            } else if let Some(mode) = road_mode(&travel.lower) {
                let cost = database.distances.cost(origin, destination, mode).ok_or(PythonException::Type)?;
                total += cost as f64 * f64::from(mode.cars(people));
            }
        }
        for meal in MEALS {
            let Some(value) = given(day, meal)? else { continue };
            let (name, city) = name_and_city(value)?;
            if let Some(restaurant) = database.restaurants.holding(name, city).next() {
                total += f64::from(restaurant.average_cost) * f64::from(people);
            }
        }
        // Every day that names a house pays for it, including the last one.
        if let Some(value) = given(day, ACCOMMODATION)? {
            let (name, city) = name_and_city(value)?;
            if let Some(stay) = database.stays.holding(name, city).next() {
                total += stay.night(people);
            }
        }
    }
    Ok(total)
}

/// Each cuisine is eaten once. A day ends with the first meal in the origin.
pub(super) fn cuisine(trip: &Trip<'_>) -> Result<Option<bool>, PythonException> {
    let Some(wanted) = &trip.query.local_constraint.cuisine else { return Ok(None) };
    let mut eaten = BTreeSet::new();
    for day in trip.days() {
        let day = day?;
        for meal in MEALS {
            let Some(value) = given(day, meal)? else { continue };
            let (name, city) = name_and_city(value)?;
            if city == trip.query.org {
                break;
            }
            if let Some(restaurant) = trip.database.restaurants.holding(name, city).next() {
                eaten.extend(wanted.iter().filter(|cuisine| restaurant.cuisines.contains(cuisine.as_str())));
            }
        }
    }
    Ok(Some(wanted.iter().all(|cuisine| eaten.contains(cuisine))))
}

/// No house forbids what was asked for.
pub(super) fn room_rule(trip: &Trip<'_>) -> Result<Option<bool>, PythonException> {
    let Some(rule) = trip.query.local_constraint.house_rule else { return Ok(None) };
    each_stay(trip, |stay| !stay.house_rules.contains(rule.forbidden())).map(Some)
}

/// All rooms are of the requested kind.
pub(super) fn room_type(trip: &Trip<'_>) -> Result<Option<bool>, PythonException> {
    let Some(wanted) = trip.query.local_constraint.room_type else { return Ok(None) };
    each_stay(trip, |stay| wanted.accepts(&stay.room_type)).map(Some)
}

/// Whether a condition holds for all houses that are in the table.
fn each_stay(trip: &Trip<'_>, holds: impl Fn(&crate::tables::Stay) -> bool) -> Result<bool, PythonException> {
    for day in trip.days() {
        let Some(value) = given(day?, ACCOMMODATION)? else { continue };
        let (name, city) = name_and_city(value)?;
        if trip.database.stays.holding(name, city).next().is_some_and(|stay| !holds(stay)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// No entry contains the word for an excluded means, with the initial capital that the published plans use.
pub(super) fn transportation(trip: &Trip<'_>) -> Result<Option<bool>, PythonException> {
    let word = match trip.query.local_constraint.transportation {
        None => return Ok(None),
        Some(TransportRule::NoFlight) => "Flight",
        Some(TransportRule::NoSelfDriving) => "Self-driving",
    };
    for day in trip.days() {
        if let Some(value) = given(day?, TRANSPORTATION)?
            && holds(value, word)?
        {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}
