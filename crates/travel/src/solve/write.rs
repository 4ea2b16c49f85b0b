//! Turns a route into a plan: chooses the row for every entry.

use serde_json::{Value, json};

use super::ground::{Ground, MEALS_A_DAY, Required};
use super::meals::{self, Share, needed};
use super::menu;
use super::search::Route;
use super::town::{House, Town, entry};
use super::ways::{Ride, leg};
use crate::entry::NOTHING;
use crate::plan::{ACCOMMODATION, ATTRACTION, CITY, MEALS, TRANSPORTATION, TripPlan};

/// A day under construction.
#[derive(Clone, Default)]
struct Day {
    city: String,
    ride: Option<String>,
    meals: [Option<String>; MEALS_A_DAY],
    sight: Option<String>,
    house: Option<String>,
}

/// What a city offers, in the order of use.
struct Visit<'g, 't> {
    town: &'g Town<'t>,
    house: &'g House<'t>,
    /// The days of arrival and of departure, from 0.
    days: (usize, usize),
    /// The restaurants that the route needs, then all others, cheapest first.
    restaurants: Vec<usize>,
    share: Share,
}

/// The plan of a route, and its cost. A generous plan has meals on days of travel, as far as the budget allows.
pub(super) fn plan(
    ground: &Ground<'_>,
    required: &Required,
    route: &Route,
    is_generous: bool,
) -> (TripPlan, f64) {
    let mut days = vec![Day::default(); ground.query.days];
    let mut cost = write_ways(ground, required, route, &mut days);
    let mut visits = visits(ground, required, route);
    for visit in &mut visits {
        cost += write_stay(visit, &mut days);
    }
    write_sights(&visits, &mut days);
    // Only what the budget has left after everything necessary is spent on further meals.
    if is_generous {
        for visit in &mut visits {
            cost += write_more_meals(visit, &mut days, required.budget - cost);
        }
    }
    let days = (1..).zip(days).map(|(number, day)| day.write(number)).collect::<Vec<_>>();
    (TripPlan(Value::from(days)), cost)
}

impl Day {
    fn write(self, number: usize) -> Value {
        let text = |entry: Option<String>| Value::from(entry.unwrap_or_else(|| NOTHING.to_owned()));
        let [breakfast, lunch, dinner] = self.meals;
        json!({
            "days": number,
            CITY: self.city,
            TRANSPORTATION: text(self.ride),
            MEALS[0]: text(breakfast),
            ATTRACTION: text(self.sight),
            MEALS[1]: text(lunch),
            MEALS[2]: text(dinner),
            ACCOMMODATION: text(self.house),
        })
    }
}

/// Writes the place and the journey of each day.
fn write_ways(ground: &Ground<'_>, required: &Required, route: &Route, days: &mut [Day]) -> f64 {
    let (mut here, mut day, mut cost) = (ground.home(), 0, 0.0);
    // The journey home counts as one night, so that it writes a single day.
    for (to, nights) in route.stops.iter().map(|stop| (stop.town, stop.nights)).chain([(ground.home(), 1)]) {
        let way = leg(ground.name(here), ground.name(to));
        if let Some((price, ride)) = ground.way(here, to, day).ride(route.means, required.ban) {
            cost += price;
            days[day].ride = Some(ride_text(&ride, &way));
        }
        days[day].city = way;
        for stay in days.iter_mut().take(day + nights).skip(day + 1) {
            stay.city = ground.name(to).to_owned();
        }
        (here, day) = (to, day + nights);
    }
    cost
}

fn ride_text(ride: &Ride<'_>, way: &str) -> String {
    match ride {
        Ride::Flight(flight) => {
            let (departs, arrives) = (flight.departs(), flight.arrives());
            format!(
                "Flight Number: {}, {way}, Departure Time: {departs}, Arrival Time: {arrives}",
                flight.number()
            )
        }
        Ride::Road(crate::tables::RoadMode::SelfDriving) => format!("Self-driving, {way}"),
        Ride::Road(crate::tables::RoadMode::Taxi) => format!("Taxi, {way}"),
    }
}

/// The cities of a route with their rows. A route that was found has an accommodation and enough restaurants in
/// each city.
fn visits<'g, 't>(ground: &'g Ground<'t>, required: &Required, route: &Route) -> Vec<Visit<'g, 't>> {
    let shares = meals::share(ground, required, &route.stops).map(|(_, shares)| shares).unwrap_or_default();
    let mut day = 0;
    let mut visits = Vec::with_capacity(route.stops.len());
    for (stop, share) in route.stops.iter().zip(shares) {
        let town = &ground.towns[stop.town];
        let Some(house) = town.house(stop.nights, required) else { continue };
        let mut restaurants = menu::choose(town, needed(*stop) + share.extra, share.cuisines);
        let rest = (0..town.restaurants.len()).filter(|number| !restaurants.contains(number));
        let rest: Vec<usize> = rest.collect();
        // The needed ones are popped from the end.
        restaurants.reverse();
        restaurants.splice(0..0, rest.into_iter().rev());
        visits.push(Visit { town, house, days: (day, day + stop.nights), restaurants, share });
        day += stop.nights;
    }
    visits
}

impl Visit<'_, '_> {
    /// The next restaurant, if it costs no more than this.
    fn eat(&mut self, budget: f64) -> Option<(f64, String)> {
        let eatery = &self.town.restaurants[*self.restaurants.last()?];
        if eatery.meal > budget {
            return None;
        }
        self.restaurants.pop();
        Some((eatery.meal, entry(&eatery.row.name, self.town.name)))
    }

    /// The meals on days of travel: on arrival backwards from dinner, then on departure forwards from breakfast.
    fn on_the_way(&self) -> [(usize, usize); 2 * MEALS_A_DAY] {
        let (first, last) = self.days;
        [(first, 2), (first, 1), (first, 0), (last, 0), (last, 1), (last, 2)]
    }
}

/// Writes the accommodation and the meals in a city, including the needed ones on days of travel.
fn write_stay(visit: &mut Visit<'_, '_>, days: &mut [Day]) -> f64 {
    let (first, last) = visit.days;
    let mut cost = 0.0;
    for day in &mut days[first..last] {
        day.house = Some(entry(&visit.house.row.name, visit.town.name));
        cost += visit.house.night;
    }
    let needed = (first + 1..last).flat_map(|day| (0..MEALS_A_DAY).map(move |meal| (day, meal)));
    // The day of arrival may already have meals in the city before this one.
    let is_free = |&(day, meal): &(usize, usize)| days[day].meals[meal].is_none();
    let on_the_way: Vec<_> = visit.on_the_way().into_iter().filter(is_free).collect();
    let all: Vec<_> = needed.chain(on_the_way.into_iter().take(visit.share.extra)).collect();
    for (day, meal) in all {
        if let Some((price, text)) = visit.eat(f64::INFINITY) {
            cost += price;
            days[day].meals[meal] = Some(text);
        }
    }
    cost
}

/// Writes attractions. They cost nothing, so days of travel get one too if any are left.
fn write_sights(visits: &[Visit<'_, '_>], days: &mut [Day]) {
    for visit in visits {
        let (first, last) = visit.days;
        let mut sights = visit.town.sights.iter();
        // Full days come first, because they need an attraction. Days of travel get what is left.
        for day in (first + 1..last).chain([first, last]) {
            if days[day].sight.is_none()
                && let Some(sight) = sights.next()
            {
                days[day].sight = Some(format!("{};", entry(&sight.name, visit.town.name)));
            }
        }
    }
}

/// Adds dinner on the day of arrival, breakfast and lunch on the day of departure.
fn write_more_meals(visit: &mut Visit<'_, '_>, days: &mut [Day], budget: f64) -> f64 {
    let (first, last) = visit.days;
    let mut cost = 0.0;
    for (day, meal) in [(first, 2), (last, 0), (last, 1)] {
        if days[day].meals[meal].is_none()
            && let Some((price, text)) = visit.eat(budget - cost)
        {
            cost += price;
            days[day].meals[meal] = Some(text);
        }
    }
    cost
}
