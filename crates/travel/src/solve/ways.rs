//! Journeys between cities on the days of the trip, and their costs for all travellers.

use crate::TripCompat;
use crate::entry::from_to;
use crate::query::{Query, TransportRule};
use crate::tables::{Flight, RoadMode, TripDatabase};

/// The means of travel that a trip uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// One's own car throughout.
    OwnCar,
    Others,
    /// The cheapest means for each journey.
    All,
}

/// The possible journeys from one city to another on a day. Costs are for all travellers, in US dollars.
#[derive(Debug, Clone, Default)]
pub(super) struct Way<'t> {
    pub(super) flight: Option<(f64, Flight<'t>)>,
    pub(super) taxi: Option<f64>,
    pub(super) own_car: Option<f64>,
}

/// The means used for a journey.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ride<'t> {
    Flight(Flight<'t>),
    Road(RoadMode),
}

impl<'t> Way<'t> {
    pub(super) fn new(
        database: &'t TripDatabase,
        query: &Query,
        compat: TripCompat,
        (from, to): (&str, &str),
        day: usize,
    ) -> Self {
        // The evaluator could not read such names back from the text of the journey.
        if from_to(&leg(from, to)) != Some((from, to)) {
            return Self::default();
        }
        let people = query.people_number;
        let road = |mode: RoadMode| {
            let cost = database.distances.cost(from, to, mode)?;
            Some(cost as f64 * f64::from(mode.cars(people)))
        };
        let flights = query.date.get(day).into_iter().flat_map(|date| database.flights.on(from, to, date));
        let mut cheapest: Option<Flight<'t>> = None;
        for flight in flights {
            if cheapest.is_none_or(|best| flight.cents < best.cents) && is_found(database, &flight, compat) {
                cheapest = Some(flight);
            }
        }
        Self {
            flight: cheapest.map(|flight| (flight.price() * f64::from(people), flight)),
            taxi: road(RoadMode::Taxi),
            own_car: road(RoadMode::SelfDriving),
        }
    }

    /// The cheapest journey by these means, if there is one.
    pub(super) fn ride(&self, means: Means, ban: Option<TransportRule>) -> Option<(f64, Ride<'t>)> {
        let is_flying = means != Means::OwnCar && ban != Some(TransportRule::NoFlight);
        let is_driving = means != Means::Others && ban != Some(TransportRule::NoSelfDriving);
        let flight = self.flight.filter(|_| is_flying).map(|(cost, flight)| (cost, Ride::Flight(flight)));
        let taxi = self.taxi.filter(|_| means != Means::OwnCar);
        let own_car = self.own_car.filter(|_| is_driving);
        let road = |cost: Option<f64>, mode| cost.map(|cost| (cost, Ride::Road(mode)));
        let all = [flight, road(own_car, RoadMode::SelfDriving), road(taxi, RoadMode::Taxi)];
        // The first of equal costs: a flight, then one's own car.
        all.into_iter().flatten().min_by(|one, other| one.0.total_cmp(&other.0))
    }
}

/// The text with which a day names a journey.
pub(super) fn leg(from: &str, to: &str) -> String {
    format!("from {from} to {to}")
}

/// Whether the evaluator finds this flight by its number.
fn is_found(database: &TripDatabase, flight: &Flight<'_>, compat: TripCompat) -> bool {
    let number = flight.number();
    let is_on_way = |it: &Flight<'_>| {
        it.origin == flight.origin && it.destination == flight.destination && it.date == flight.date
    };
    let mut all = database.flights.numbered(&number);
    let found = match compat {
        TripCompat::Original => all.next().filter(is_on_way),
        TripCompat::Right => all.find(is_on_way),
    };
    // Several rows may share number, route and day. One that costs the same will do.
    found.is_some_and(|found| found.cents == flight.cents)
}
