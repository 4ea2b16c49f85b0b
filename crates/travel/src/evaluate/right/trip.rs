//! Checks that span several days: the route, repeated places, nights, means of transport, and missing entries.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use super::itinerary::{Entry, Itinerary, Means, Place};
use crate::evaluate::{Loophole, TripCheck};
use crate::plan::{ACCOMMODATION, ATTRACTION, CITY, KEYS, MEALS, TRANSPORTATION};
use crate::query::Query;
use crate::tables::{Place as _, RoadMode, TripDatabase};

/// The divisor of the share of entries that must be filled in.
const FILLED_OF: usize = 2;

pub(super) fn check(
    database: &TripDatabase,
    query: &Query,
    itinerary: &Itinerary<'_>,
    findings: &mut Findings,
) {
    route(database, query, itinerary, findings);
    restaurants(itinerary, findings);
    attractions(itinerary, findings);
    minimum_nights(database, query, itinerary, findings);
    transportation(itinerary, findings);
    complete(query, itinerary, findings);
}

/// The traveller is always where the last journey ended, visits no city twice, and ends at the origin.
fn route(database: &TripDatabase, query: &Query, itinerary: &Itinerary<'_>, findings: &mut Findings) {
    let check = TripCheck::Route;
    let mut here = query.org.as_str();
    let mut visited: Vec<&str> = Vec::new();
    for (number, day) in itinerary.days.iter().enumerate() {
        let (from, to) = match day.place {
            Place::Nowhere => {
                findings.on(check, (number, CITY), None, "it does not say where one is".to_owned());
                continue;
            }
            Place::Leg(from, to) => (from, to),
            Place::City(city) => (city, city),
        };
        if from != here {
            // The published check looks at the start only if the first day is a travel day.
            let is_start = number == 0 && matches!(day.place, Place::City(_));
            let loophole = is_start.then_some(Loophole::Start);
            findings.on(
                check,
                (number, CITY),
                loophole,
                format!("it begins in {from}, and the day before ended in {here}"),
            );
        }
        if matches!(day.place, Place::Leg(..)) && from == to {
            findings.on(check, (number, CITY), None, format!("it leads from {from} to {to}"));
        }
        // Even after a wrong beginning the trip continues from the end of this day, so a fault is reported once.
        here = to;
        if to == query.org {
            // If nothing has been visited yet, these are days before the departure and not an early return.
            if number + 1 < query.days && !visited.is_empty() {
                findings.on(check, (number, CITY), None, "the trip is over before the last day".to_owned());
            }
            continue;
        }
        // Another day in the same city is not a new visit.
        if visited.last() == Some(&to) {
            continue;
        }
        let known = database.cities.state(to);
        let wrong = if known.is_none() {
            Some((None, format!("there is no city {to}")))
        } else if query.is_for_state() {
            (known != Some(&query.dest)).then(|| (None, format!("{to} does not lie in {}", query.dest)))
        } else {
            (to != query.dest)
                .then(|| (Some(Loophole::Destination), format!("it leads to {to} instead of {}", query.dest)))
        };
        if let Some((loophole, what)) = wrong {
            findings.on(check, (number, CITY), loophole, what);
        }
        if visited.contains(&to) {
            findings.on(check, (number, CITY), None, format!("it leads to {to} again"));
        }
        visited.push(to);
    }
    if here != query.org {
        findings.add(check, None, format!("the trip ends in {here} and not in {}", query.org));
    }
    if visited.is_empty() {
        findings.add(check, Some(Loophole::NoTrip), format!("the trip never leaves {}", query.org));
    }
}

/// No restaurant is visited twice.
fn restaurants(itinerary: &Itinerary<'_>, findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for (number, day) in itinerary.days.iter().enumerate() {
        for (key, meal) in day.meals() {
            if let Some(earlier) = seen.insert((meal.name.clone(), meal.city), meal.text) {
                let loophole = (earlier != meal.text).then_some(Loophole::Spelling);
                findings.on(
                    TripCheck::Restaurants,
                    (number, key),
                    loophole,
                    format!("{} is chosen again", meal.text),
                );
            }
        }
    }
}

/// No attraction is visited twice.
fn attractions(itinerary: &Itinerary<'_>, findings: &mut Findings) {
    let mut seen: BTreeMap<_, &Entry<'_>> = BTreeMap::new();
    for (number, day) in itinerary.days.iter().enumerate() {
        for (at, sight) in day.sights() {
            if let Some(earlier) = seen.insert((sight.name.clone(), sight.city), sight) {
                // The published check never sees an overlooked attraction, so its spelling does not matter.
                let loophole = if earlier.is_overlooked || sight.is_overlooked {
                    Some(Loophole::LastAttraction)
                } else {
                    (earlier.text != sight.text).then_some(Loophole::Spelling)
                };
                findings.on(
                    TripCheck::Attractions,
                    (number, at),
                    loophole,
                    format!("{} is chosen again", sight.text),
                );
            }
        }
    }
}

/// Each stay lasts at least the minimum number of consecutive nights of its house. The last day has no night.
fn minimum_nights(
    database: &TripDatabase,
    query: &Query,
    itinerary: &Itinerary<'_>,
    findings: &mut Findings,
) {
    let key = |entry: &Option<Entry<'_>>| entry.as_ref().map(|it| (it.name.clone(), it.city.to_owned()));
    let stays: Vec<_> = itinerary.days.iter().map(|day| key(&day.stay)).collect();
    let mut begin = 0;
    for run in stays.chunk_by(|one, other| one == other) {
        let first = begin;
        begin += run.len();
        // The last day of the query has no night, so it does not count. A run on that day alone has no nights at all.
        let nights = begin.min(query.days.saturating_sub(1)).saturating_sub(first);
        let Some(Some((name, city))) = run.first() else { continue };
        let Some(stay) = database.stays.named(name, city) else { continue };
        if nights == 0 || nights as f64 >= stay.minimum_nights {
            continue;
        }
        // The published check counts every day of the run as a night.
        let loophole = if run.len() as f64 >= stay.minimum_nights {
            Some(Loophole::LastDayNight)
        } else {
            let fitting = database.stays.holding(stay.name(), city).count();
            (fitting > 1).then_some(Loophole::AmbiguousStay)
        };
        let what = format!("{name} is booked for {nights} nights and wants {}", stay.minimum_nights);
        findings.on(TripCheck::MinimumNights, (first, ACCOMMODATION), loophole, what);
    }
}

/// There is travel on the first day, and a self-driven car is not combined with other means.
fn transportation(itinerary: &Itinerary<'_>, findings: &mut Findings) {
    let check = TripCheck::Transportation;
    if itinerary.days.first().is_none_or(|day| day.travel.is_none()) {
        findings.on(check, (0, TRANSPORTATION), None, "no journey on the first day".to_owned());
    }
    let means = itinerary.days.iter().filter_map(|day| day.travel.as_ref()).map(|travel| travel.means);
    let (mut is_driving, mut has_others) = (false, false);
    for means in means {
        match means {
            Means::Road(RoadMode::SelfDriving) => is_driving = true,
            Means::Road(RoadMode::Taxi) | Means::Flight(_) => has_others = true,
            // Anything else fails Within Sandbox already.
            Means::Other => {}
        }
    }
    if is_driving && has_others {
        findings.add(check, None, "the traveller's own car is left behind".to_owned());
    }
}

/// All days are present and filled in.
fn complete(query: &Query, itinerary: &Itinerary<'_>, findings: &mut Findings) {
    let check = TripCheck::Complete;
    let days = &itinerary.days;
    let count = days.iter().filter(|day| !matches!(day.place, Place::Nowhere)).count();
    if count != query.days {
        findings.add(check, None, format!("{count} of {} days are planned", query.days));
    }
    if itinerary.extra > 0 {
        let what = format!("{} days too many are planned", itinerary.extra);
        findings.add(check, Some(Loophole::ExtraDays), what);
    }
    let mut cities = BTreeSet::new();
    for day in days {
        match day.place {
            Place::Nowhere => {}
            Place::Leg(from, to) => cities.extend([from, to]),
            Place::City(city) => {
                cities.insert(city);
            }
        }
    }
    cities.remove(query.org.as_str());
    if cities.len() != query.visiting_city_number {
        let what =
            format!("the trip visits {} cities instead of {}", cities.len(), query.visiting_city_number);
        findings.add(check, None, what);
    }
    for (number, day) in days.iter().enumerate() {
        let mut missing = Vec::new();
        match day.place {
            // The day was found missing above, so its entries are not reported as well.
            Place::Nowhere => continue,
            Place::Leg(..) => missing.extend(day.travel.is_none().then_some(TRANSPORTATION)),
            Place::City(_) => {
                missing.extend(day.attractions.is_empty().then_some(ATTRACTION));
                let meals = MEALS.into_iter().zip(&day.meals);
                missing.extend(meals.filter(|(_, meal)| meal.is_none()).map(|(key, _)| key));
            }
        }
        missing.extend((number + 1 != query.days && day.stay.is_none()).then_some(ACCOMMODATION));
        for key in missing {
            let loophole = day.is_null(key).then_some(Loophole::NullEntry);
            findings.on(check, (number, key), loophole, format!("there is no {key}"));
        }
    }
    let filled: usize = days.iter().map(|day| day.filled).sum();
    let entries = KEYS.len() * query.days;
    // Multiplied out, so that no rounding decides.
    if FILLED_OF * filled < entries {
        let with_others: usize = days.iter().map(|day| day.filled_with_others).sum();
        let loophole = (FILLED_OF * with_others >= entries).then_some(Loophole::OtherKeys);
        findings.add(check, loophole, format!("{filled} of {entries} entries are filled in"));
    }
}
