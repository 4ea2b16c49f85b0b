//! The requirements of the request: the budget and the local constraints.

use std::collections::BTreeSet;

use super::Findings;
use super::day::{ends, flight};
use super::itinerary::{Day, Entry, Itinerary, Means};
use crate::evaluate::{Loophole, TripCheck};
use crate::plan::{ACCOMMODATION, TRANSPORTATION};
use crate::query::{Query, TransportRule};
use crate::tables::{CityTable, Place, RoadMode, TripDatabase};

/// Returns the cost of the trip for all travellers, in US dollars, if the tables cover all of it.
pub(super) fn check(
    database: &TripDatabase,
    query: &Query,
    itinerary: &Itinerary<'_>,
    findings: &mut Findings,
) -> Option<f64> {
    cuisine(database, query, itinerary, findings);
    rooms(database, query, itinerary, findings);
    transportation(query, itinerary, findings);
    let costs = itinerary.days.iter().enumerate().map(|(number, day)| cost(database, query, number, day));
    // One unknown cost makes the sum unknown.
    let total = costs.sum::<Option<f64>>();
    match total {
        None => {
            findings.add(TripCheck::Budget, None, "the tables do not say what all of it costs".to_owned());
        }
        Some(total) if total > query.budget => {
            let what = format!("the trip costs {total}, which is {} too much", total - query.budget);
            findings.add(TripCheck::Budget, misread(database, itinerary), what);
        }
        Some(_) => {}
    }
    total
}

/// The cost of a day for all travellers.
fn cost(database: &TripDatabase, query: &Query, number: usize, day: &Day<'_>) -> Option<f64> {
    let people = query.people_number;
    let mut total = 0.0;
    if let Some(travel) = &day.travel {
        let (from, to) = ends(day, travel)?;
        total += match travel.means {
            Means::Other => return None,
            Means::Road(mode) => {
                database.distances.cost(from, to, mode)? as f64 * f64::from(mode.cars(people))
            }
            Means::Flight(code) => {
                let (flight, _) = flight(database, code, (from, to), query.date.get(number))?;
                flight.price() * f64::from(people)
            }
        };
    }
    for meal in day.meals.iter().flatten() {
        let restaurant = database.restaurants.named(&meal.name, meal.city)?;
        total += f64::from(restaurant.average_cost) * f64::from(people);
    }
    if let Some(stay) = &day.stay {
        total += database.stays.named(&stay.name, stay.city)?.night(people);
    }
    Some(total)
}

/// Each cuisine is eaten at least once, anywhere but in the origin.
fn cuisine(database: &TripDatabase, query: &Query, itinerary: &Itinerary<'_>, findings: &mut Findings) {
    let Some(wanted) = &query.local_constraint.cuisine else { return };
    let (mut eaten, mut partly) = (BTreeSet::new(), BTreeSet::new());
    for meal in itinerary.days.iter().flat_map(|day| day.meals.iter().flatten()) {
        if meal.city == query.org {
            continue;
        }
        let Some(restaurant) = database.restaurants.named(&meal.name, meal.city) else { continue };
        eaten.extend(wanted.iter().filter(|cuisine| restaurant.cooks(cuisine)));
        partly.extend(wanted.iter().filter(|cuisine| restaurant.cuisines.contains(cuisine.as_str())));
    }
    for cuisine in wanted.iter().filter(|cuisine| !eaten.contains(cuisine)) {
        let loophole = if partly.contains(cuisine) {
            Some(Loophole::PartOfCuisine)
        } else {
            // The published evaluator may have looked up another restaurant under this name.
            misread(database, itinerary)
        };
        findings.add(TripCheck::Cuisine, loophole, format!("no meal is {cuisine}"));
    }
}

/// The rooms are of the right kind, in houses whose rules allow the request.
fn rooms(database: &TripDatabase, query: &Query, itinerary: &Itinerary<'_>, findings: &mut Findings) {
    for (number, day) in itinerary.days.iter().enumerate() {
        let Some(entry) = &day.stay else { continue };
        // A house that is not in the tables fails Within Sandbox instead.
        let Some(stay) = database.stays.named(&entry.name, entry.city) else { continue };
        let loophole = is_misread(&database.stays, entry).then_some(Loophole::PartOfName);
        if let Some(rule) = query.local_constraint.house_rule.filter(|rule| stay.forbids(rule.forbidden())) {
            let what = format!("{} says: {}", stay.name, rule.forbidden());
            findings.on(TripCheck::RoomRule, (number, ACCOMMODATION), loophole, what);
        }
        if query.local_constraint.room_type.is_some_and(|wanted| !wanted.accepts(&stay.room_type)) {
            let what = format!("{} is of the kind {}", stay.name, stay.room_type);
            findings.on(TripCheck::RoomType, (number, ACCOMMODATION), loophole, what);
        }
    }
}

/// The loophole of names: whether the published evaluator mistakes a house or restaurant for an earlier one whose
/// name contains the right name.
fn misread(database: &TripDatabase, itinerary: &Itinerary<'_>) -> Option<Loophole> {
    let is_any = itinerary.days.iter().any(|day| {
        day.meals.iter().flatten().any(|meal| is_misread(&database.restaurants, meal))
            || day.stay.as_ref().is_some_and(|stay| is_misread(&database.stays, stay))
    });
    is_any.then_some(Loophole::PartOfName)
}

fn is_misread<T: Place>(table: &CityTable<T>, entry: &Entry<'_>) -> bool {
    let (name, city) = crate::entry::name_city(entry.text);
    let (read, meant) = (table.holding(name, city).next(), table.named(&entry.name, entry.city));
    // By identity, because two rows may be equal.
    read.zip(meant).is_some_and(|(read, meant)| !std::ptr::eq(read, meant))
}

/// No excluded means of transport is used.
fn transportation(query: &Query, itinerary: &Itinerary<'_>, findings: &mut Findings) {
    let Some(rule) = query.local_constraint.transportation else { return };
    for (number, day) in itinerary.days.iter().enumerate() {
        let Some(travel) = &day.travel else { continue };
        let word = match (rule, travel.means) {
            (TransportRule::NoFlight, Means::Flight(_)) => "Flight",
            (TransportRule::NoSelfDriving, Means::Road(RoadMode::SelfDriving)) => "Self-driving",
            _ => continue,
        };
        // The published check is case-sensitive.
        let loophole = (!travel.text.contains(word)).then_some(Loophole::LowerCase);
        findings.on(
            TripCheck::TransportRule,
            (number, TRANSPORTATION),
            loophole,
            format!("it is not followed: {}", travel.text),
        );
    }
}
