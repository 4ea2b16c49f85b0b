//! Checks that everything named is in the tables, and where the traveller is on that day.

use super::Findings;
use super::itinerary::{Day, Entry, Itinerary, Means, Place, Travel};
use crate::evaluate::{EntryPlace, Loophole, TripCheck};
use crate::plan::{ACCOMMODATION, TRANSPORTATION};
use crate::query::Query;
use crate::tables::{self, CityTable, Flight, TripDatabase};

pub(super) fn check(
    database: &TripDatabase,
    query: &Query,
    itinerary: &Itinerary<'_>,
    findings: &mut Findings,
) {
    for (number, day) in itinerary.days.iter().enumerate() {
        if let Some(travel) = &day.travel {
            leg(number, day, travel, findings);
            means(database, query, number, day, travel, findings);
        }
        for (key, meal) in day.meals() {
            city((number, key.into()), day, meal, false, findings);
            named(&database.restaurants, (number, key.into()), meal, findings);
        }
        for (at, sight) in day.sights() {
            city((number, at), day, sight, false, findings);
            named(&database.attractions, (number, at), sight, findings);
        }
        if let Some(stay) = &day.stay {
            city((number, ACCOMMODATION.into()), day, stay, true, findings);
            named(&database.stays, (number, ACCOMMODATION.into()), stay, findings);
        }
    }
}

/// The two ends of a journey: those of the entry, or else those of the day.
pub(crate) fn ends<'p>(day: &Day<'p>, travel: &Travel<'p>) -> Option<(&'p str, &'p str)> {
    travel.leg.or(match day.place {
        Place::Leg(from, to) => Some((from, to)),
        _ => None,
    })
}

/// The intended flight: one on that day if there is one, otherwise any on the same route.
pub(crate) fn flight<'t>(
    database: &'t TripDatabase,
    number: &str,
    (from, to): (&str, &str),
    date: Option<&String>,
) -> Option<(Flight<'t>, bool)> {
    let is_of_day = |flight: &Flight<'_>| date.is_some_and(|date| flight.date == date);
    let mut flights = database.flights.numbered_between(number, from, to);
    let first = flights.next()?;
    let of_day = [first].into_iter().chain(flights).find(is_of_day);
    Some(of_day.map_or((first, false), |flight| (flight, true)))
}

/// The traveller travels where the day says, and not on other days.
fn leg(number: usize, day: &Day<'_>, travel: &Travel<'_>, findings: &mut Findings) {
    let check = TripCheck::CurrentCity;
    match (day.place, travel.leg) {
        (Place::City(city), _) => {
            // The published check wants each letter of the city somewhere in the entry.
            let slips = city.chars().all(|letter| travel.text.contains(letter));
            let what = format!("the day is spent in {city}, and there is a journey: {}", travel.text);
            findings.on(check, (number, TRANSPORTATION), slips.then_some(Loophole::Letters), what);
        }
        (Place::Leg(from, to), Some(leg)) if leg != (from, to) => {
            // The published check wants both names somewhere in the entry, in any order.
            let slips = travel.text.contains(from) && travel.text.contains(to);
            let what =
                format!("the day leads from {from} to {to}, and the journey is another: {}", travel.text);
            findings.on(check, (number, TRANSPORTATION), slips.then_some(Loophole::CityInText), what);
        }
        // An entry without ends has those of its day. A day without a place fails Reasonable City Route instead.
        _ => {}
    }
}

/// An entry must be in the city where the traveller is that day, and the accommodation where the day ends.
fn city(
    at: (usize, EntryPlace),
    day: &Day<'_>,
    entry: &Entry<'_>,
    at_the_end: bool,
    findings: &mut Findings,
) {
    let (is_there, where_one_is, slips) = match day.place {
        Place::Nowhere => return,
        Place::City(city) => {
            let mut letters = city.chars();
            // The published check looks for the last letter of the city in accommodation, and for any letter in other
            // entries.
            let slips = if at_the_end {
                letters.next_back().is_some_and(|letter| entry.text.contains(letter))
            } else {
                letters.any(|letter| entry.text.contains(letter))
            };
            (entry.city == city, city.to_owned(), slips.then_some(Loophole::Letters))
        }
        Place::Leg(_, to) if at_the_end => {
            (entry.city == to, to.to_owned(), entry.text.contains(to).then_some(Loophole::CityInText))
        }
        Place::Leg(from, to) => {
            let slips = entry.text.contains(from) || entry.text.contains(to);
            let is_there = entry.city == from || entry.city == to;
            (is_there, format!("{from} or {to}"), slips.then_some(Loophole::CityInText))
        }
    };
    if !is_there {
        // This comes first, because the published code never sees an overlooked entry.
        let loophole = if entry.is_overlooked { Some(Loophole::LastAttraction) } else { slips };
        let what = format!("{} is not in {where_one_is}", entry.text);
        findings.on(TripCheck::CurrentCity, at, loophole, what);
    }
}

/// An entry is in a table under its full name.
fn named<T: tables::Place>(
    table: &CityTable<T>,
    at: (usize, EntryPlace),
    entry: &Entry<'_>,
    findings: &mut Findings,
) {
    if table.named(&entry.name, entry.city).is_some() {
        return;
    }
    let loophole = if entry.is_overlooked {
        Some(Loophole::LastAttraction)
    } else {
        // The published look-up would have accepted it as part of a name.
        let (name, city) = crate::entry::name_city(entry.text);
        table.holding(name, city).next().map(|_| Loophole::PartOfName)
    };
    findings.on(TripCheck::Sandbox, at, loophole, format!("the tables do not have {}", entry.text));
}

/// The means of transport is in the tables for that route and that day.
fn means(
    database: &TripDatabase,
    query: &Query,
    number: usize,
    day: &Day<'_>,
    travel: &Travel<'_>,
    findings: &mut Findings,
) {
    let check = TripCheck::Sandbox;
    let text = travel.text;
    let Some((from, to)) = ends(day, travel) else {
        // Without ends, the published check fails or raises for numbered flights and roads, and accepts anything else.
        let loophole = matches!(travel.means, Means::Other).then_some(Loophole::AnyMeans);
        findings.on(
            check,
            (number, TRANSPORTATION),
            loophole,
            format!("{text} does not say from where to where"),
        );
        return;
    };
    match travel.means {
        Means::Other => {
            let what = format!("{text} is neither a flight with a number, nor a car, nor a taxi");
            findings.on(check, (number, TRANSPORTATION), Some(Loophole::AnyMeans), what);
        }
        Means::Road(mode) if database.distances.cost(from, to, mode).is_none() => {
            findings.on(
                check,
                (number, TRANSPORTATION),
                None,
                format!("the tables have no way from {from} to {to}"),
            );
        }
        Means::Road(_) => {}
        Means::Flight(code) => match flight(database, code, (from, to), query.date.get(number)) {
            None => {
                findings.on(
                    check,
                    (number, TRANSPORTATION),
                    None,
                    format!("the tables have no flight {code} from {from} to {to}"),
                );
            }
            Some((flight, false)) => {
                let what = format!("flight {code} goes on {}", flight.date);
                findings.on(check, (number, TRANSPORTATION), Some(Loophole::FlightDate), what);
            }
            Some((_, true)) => {}
        },
    }
}
