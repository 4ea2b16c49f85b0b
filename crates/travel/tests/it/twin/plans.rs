//! All plans over a tiny world, one after the other, and what each lacks.

use std::collections::BTreeMap;

use planproof_travel::TripCompat;
use planproof_travel::evaluate::{CheckResult, TripCheck, judge};
use planproof_travel::plan::{ACCOMMODATION, ATTRACTION, CITY, MEALS, TRANSPORTATION, TripPlan};
use planproof_travel::solve::TripDemand;
use serde_json::{Map, Value};

use super::Set;
use super::world::{HOME, Restaurant, TOWNS, World};

/// The least cost of the plans that violate the same demands, the budget aside.
pub(crate) struct Tried {
    costs: BTreeMap<Set, f64>,
    budget: f64,
}

impl Tried {
    /// Tries all plans of a world. The first demand is the budget.
    pub(crate) fn all(world: &World, demands: &[TripDemand]) -> Self {
        let mut tried = Self { costs: BTreeMap::new(), budget: world.query.budget };
        for route in routes(world) {
            let mut days = vec![Map::new(); world.query.days];
            for (number, day) in days.iter_mut().enumerate() {
                day.insert("days".to_owned(), Value::from(number + 1));
                day.extend(
                    [TRANSPORTATION, ATTRACTION, ACCOMMODATION]
                        .into_iter()
                        .chain(MEALS)
                        .map(|key| (key.to_owned(), Value::from("-"))),
                );
            }
            Trial { world, demands, route: &route, tried: &mut tried }.ways(&mut days, 0);
        }
        tried
    }

    /// What the cheapest plan costs that meets these demands, if one does.
    pub(crate) fn least(&self, demands: Set) -> Option<f64> {
        let meets = |(violated, cost): &(&Set, &f64)| {
            *violated & demands == 0 && (demands & 1 == 0 || **cost <= self.budget)
        };
        self.costs.iter().filter(meets).map(|(_, cost)| *cost).min_by(f64::total_cmp)
    }
}

/// Cities with their nights.
type Route = Vec<(&'static str, usize)>;

fn routes(world: &World) -> Vec<Route> {
    match world.query.days {
        3 => vec![vec![(TOWNS[0], 2)]],
        _ => {
            let [one, other] = TOWNS;
            let pairs = [(one, other), (other, one)];
            pairs
                .into_iter()
                .flat_map(|(one, other)| [(1, 2), (2, 1)].map(|(n, m)| vec![(one, n), (other, m)]))
                .collect()
        }
    }
}

type Days = Vec<Map<String, Value>>;

struct Trial<'t> {
    world: &'t World,
    demands: &'t [TripDemand],
    route: &'t Route,
    tried: &'t mut Tried,
}

impl Trial<'_> {
    /// The day of arrival in a city of the route, from 0; behind the last, that of the way home.
    fn arrival(&self, stop: usize) -> usize {
        self.route[..stop].iter().map(|(_, nights)| nights).sum()
    }

    fn ways(&mut self, days: &mut Days, leg: usize) {
        if leg > self.route.len() {
            return self.stays(days, 0, 0, &mut Vec::new());
        }
        let from = leg.checked_sub(1).map_or(HOME, |before| self.route[before].0);
        let to = self.route.get(leg).map_or(HOME, |stop| stop.0);
        let day = self.arrival(leg);
        days[day].insert(CITY.to_owned(), Value::from(format!("from {from} to {to}")));
        let nights = self.route.get(leg).map_or(0, |stop| stop.1);
        for stay in days.iter_mut().skip(day + 1).take(nights.saturating_sub(1)) {
            stay.insert(CITY.to_owned(), Value::from(to));
        }
        let flights = self.world.plain.flights.iter();
        let flights =
            flights.filter(|it| it.from == from && it.to == to && it.date == self.world.query.date[day]);
        let mut rides: Vec<String> =
            flights.map(|it| format!("Flight Number: {}, from {from} to {to}", it.number)).collect();
        rides.extend(["Taxi", "Self-driving"].map(|means| format!("{means}, from {from} to {to}")));
        for ride in rides {
            days[day].insert(TRANSPORTATION.to_owned(), Value::from(ride));
            self.ways(days, leg + 1);
        }
    }

    /// Any house on any night, and any restaurants.
    fn stays(&mut self, days: &mut Days, stop: usize, night: usize, eaten: &mut Vec<usize>) {
        let Some(&(city, nights)) = self.route.get(stop) else { return self.judge(days, eaten) };
        if night < nights {
            let day = self.arrival(stop) + night;
            for stay in self.world.plain.stays.iter().filter(|it| it.city == city) {
                days[day].insert(ACCOMMODATION.to_owned(), Value::from(format!("{}, {city}", stay.name)));
                self.stays(days, stop, night + 1, eaten);
            }
            return;
        }
        self.sights(days, stop);
        let here: Vec<usize> =
            (0..self.restaurants().len()).filter(|&it| self.restaurants()[it].city == city).collect();
        let (first, last) = (self.arrival(stop), self.arrival(stop) + nights);
        let needed = (first + 1..last).flat_map(|day| MEALS.map(|meal| (day, meal)));
        let [breakfast, lunch, dinner] = MEALS;
        let more = [(first, dinner), (first, lunch), (last, breakfast), (last, lunch)];
        let slots: Vec<_> = needed.clone().chain(more).collect();
        for set in (0_u32..1 << here.len()).filter(|set| set.count_ones() as usize >= needed.clone().count())
        {
            let chosen: Vec<usize> =
                (0..here.len()).filter(|&at| set & 1 << at != 0).map(|at| here[at]).collect();
            let free: Vec<_> = slots.iter().filter(|(day, meal)| days[*day][*meal] == "-").copied().collect();
            if chosen.len() > free.len() {
                continue;
            }
            for (&number, (day, meal)) in chosen.iter().zip(&free) {
                let name = format!("{}, {city}", self.restaurants()[number].name);
                days[*day].insert((*meal).to_owned(), Value::from(name));
            }
            eaten.extend(&chosen);
            self.stays(days, stop + 1, 0, eaten);
            eaten.truncate(eaten.len() - chosen.len());
            for (day, meal) in &free[..chosen.len()] {
                days[*day].insert((*meal).to_owned(), Value::from("-"));
            }
        }
    }

    fn restaurants(&self) -> &[Restaurant] {
        &self.world.plain.restaurants
    }

    /// Sights are free: as many days as possible get one, days without travel first.
    fn sights(&self, days: &mut Days, stop: usize) {
        let (city, nights) = self.route[stop];
        let (first, last) = (self.arrival(stop), self.arrival(stop) + nights);
        let mut names = self.world.plain.sights.iter().filter(|(_, it)| *it == city).map(|(name, _)| name);
        // A day of travel that the city before has filled is left to it.
        let is_here = |day: &Map<String, Value>| {
            day[ATTRACTION].as_str().is_some_and(|text| text.ends_with(&format!(", {city};")))
        };
        for day in (first + 1..last).chain([first, last]) {
            if days[day][ATTRACTION] != "-" && !is_here(&days[day]) && day == first {
                continue;
            }
            let text = names.next().map_or("-".to_owned(), |name| format!("{name}, {city};"));
            days[day].insert(ATTRACTION.to_owned(), Value::from(text));
        }
    }

    fn judge(&mut self, days: &Days, eaten: &[usize]) {
        let plan = TripPlan(Value::from(days.clone()));
        let judgement = judge(&self.world.database, &self.world.query, &plan, TripCompat::Right);
        let is_free = |check: &TripCheck| {
            !matches!(check, TripCheck::MinimumNights | TripCheck::Transportation)
                && TripCheck::COMMONSENSE.contains(check)
        };
        let holds = |check: TripCheck| judgement.mark(check).is_some_and(CheckResult::is_passed);
        if !TripCheck::all().filter(is_free).all(holds) {
            return;
        }
        let fails = |check: TripCheck| !holds(check);
        let violated = |demand: &TripDemand| match demand {
            TripDemand::Budget(_) => false,
            TripDemand::Transportation(_) => fails(TripCheck::TransportRule),
            TripDemand::RoomType(_) => fails(TripCheck::RoomType),
            TripDemand::HouseRule(_) => fails(TripCheck::RoomRule),
            TripDemand::Cuisine(cuisine) => {
                !eaten.iter().any(|&number| self.restaurants()[number].cuisines.contains(&cuisine.as_str()))
            }
            TripDemand::MinimumNights => fails(TripCheck::MinimumNights),
            TripDemand::OneMeans => fails(TripCheck::Transportation),
        };
        let violated = self.demands.iter().map(violated).enumerate();
        let violated = violated.filter(|(_, is)| *is).fold(0, |set, (number, _)| set | 1 << number);
        let cost = judgement.total_cost.unwrap_or(f64::INFINITY);
        let least = self.tried.costs.entry(violated).or_insert(f64::INFINITY);
        *least = least.min(cost);
    }
}
