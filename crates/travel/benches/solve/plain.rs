//! A plain search: routes and splits of the nights in the order of the tables, in each the cheapest of everything,
//! until a trip is within the budget. Cuisines are taken care of first, by the cheapest restaurant that has the next
//! one. It neither proves nor remembers anything.

use planproof_travel::query::{Query, TransportRule};
use planproof_travel::tables::{Restaurant, RoadMode, TripDatabase};

/// What the first trip within the budget costs, if one is found.
pub(crate) fn first_fit(database: &TripDatabase, query: &Query) -> Option<f64> {
    let cities: Vec<&str> = if query.is_for_state() {
        database.cities.of_state(&query.dest)?.iter().map(String::as_str).collect()
    } else {
        vec![&query.dest]
    };
    let cities: Vec<&str> = cities.into_iter().filter(|city| *city != query.org).collect();
    let mut route = Vec::new();
    routes(database, query, &cities, &mut route)
}

fn routes<'t>(
    database: &TripDatabase,
    query: &Query,
    cities: &[&'t str],
    route: &mut Vec<&'t str>,
) -> Option<f64> {
    if route.len() == query.visiting_city_number {
        return splits(database, query, route, &mut Vec::new());
    }
    for city in cities {
        if !route.contains(city) {
            route.push(city);
            let found = routes(database, query, cities, route);
            route.pop();
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

fn splits(database: &TripDatabase, query: &Query, route: &[&str], nights: &mut Vec<usize>) -> Option<f64> {
    let left = query.days - 1 - nights.iter().sum::<usize>();
    let others = route.len() - nights.len();
    if others == 0 {
        let mut costs =
            [true, false].into_iter().filter_map(|own_car| trip(database, query, route, nights, own_car));
        return costs.find(|cost| left == 0 && *cost <= query.budget);
    }
    for count in 1..=(left + 1).saturating_sub(others) {
        nights.push(count);
        let found = splits(database, query, route, nights);
        nights.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

fn trip(
    database: &TripDatabase,
    query: &Query,
    route: &[&str],
    nights: &[usize],
    own_car: bool,
) -> Option<f64> {
    let people = query.people_number;
    let local = &query.local_constraint;
    let (mut total, mut here, mut day) = (0.0, query.org.as_str(), 0);
    for (to, stay) in route.iter().copied().zip(nights.iter().copied()).chain([(query.org.as_str(), 0)]) {
        let ban = local.transportation;
        let road = |mode: RoadMode| {
            Some(database.distances.cost(here, to, mode)? as f64 * f64::from(mode.cars(people)))
        };
        let way = if own_car {
            road(RoadMode::SelfDriving).filter(|_| ban != Some(TransportRule::NoSelfDriving))
        } else {
            let flights = database.flights.on(here, to, &query.date[day]);
            let flights = flights.filter(|_| ban != Some(TransportRule::NoFlight));
            let flights = flights.map(|flight| flight.price() * f64::from(people));
            flights.chain(road(RoadMode::Taxi)).min_by(f64::total_cmp)
        };
        total += way?;
        (here, day) = (to, day + stay);
        if stay > 0 {
            let houses = database.stays.in_city(to).filter(|house| {
                house.minimum_nights <= stay as f64
                    && local.room_type.is_none_or(|room| room.accepts(&house.room_type))
                    && local.house_rule.is_none_or(|rule| !house.forbids(rule.forbidden()))
            });
            let night = houses.map(|house| house.night(people)).min_by(f64::total_cmp)?;
            total += night * stay as f64;
            if database.attractions.in_city(to).count() + 1 < stay {
                return None;
            }
        }
    }
    Some(total + meals(database, query, route, nights)?)
}

fn meals(database: &TripDatabase, query: &Query, route: &[&str], nights: &[usize]) -> Option<f64> {
    let mut missing: Vec<&String> = query.local_constraint.cuisine.iter().flatten().collect();
    let mut total = 0;
    for (city, stay) in route.iter().zip(nights) {
        let mut all: Vec<&Restaurant> = database.restaurants.in_city(city).collect();
        all.sort_by_key(|it| it.average_cost);
        for _ in 0..3 * (stay - 1) {
            let next = all.iter().position(|it| missing.iter().any(|cuisine| it.cooks(cuisine)));
            if all.is_empty() {
                return None;
            }
            let eaten = all.remove(next.unwrap_or(0));
            missing.retain(|cuisine| !eaten.cooks(cuisine));
            total += eaten.average_cost;
        }
    }
    missing.is_empty().then(|| f64::from(total) * f64::from(query.people_number))
}
