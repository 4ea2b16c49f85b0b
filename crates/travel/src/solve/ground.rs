//! Everything that a search needs from the tables, loaded once per query for any set of demands.

use super::demand::TripDemand;
use super::menu::Menu;
use super::town::{CUISINES_MAX, Cuisines, Town, is_readable};
use super::ways::{Means, Way};
use crate::TripCompat;
use crate::query::{DAYS_MAX, HouseRule, Query, RoomType, TransportRule};
use crate::tables::TripDatabase;

/// The number of meals per day.
pub(super) const MEALS_A_DAY: usize = 3;

/// The requirements in force.
pub(super) struct Required {
    /// Infinite if there is none.
    pub(super) budget: f64,
    pub(super) ban: Option<TransportRule>,
    pub(super) room: Option<RoomType>,
    pub(super) rule: Option<HouseRule>,
    pub(super) cuisines: Cuisines,
    pub(super) minimum_nights: bool,
    pub(super) one_means: bool,
}

/// The cities of a query, what they offer, and the journeys between them.
pub(super) struct Ground<'t> {
    pub(super) query: &'t Query,
    /// The cities that can be visited. Empty if the evaluator cannot parse the name of the origin.
    pub(super) towns: Vec<Town<'t>>,
    /// The meals of each town.
    pub(super) menus: Vec<Menu>,
    /// The requested cuisines, without repetitions.
    cuisines: Vec<&'t str>,
    /// Indexed by day, then origin, then destination. The home city comes after the towns.
    ways: Vec<Way<'t>>,
}

impl<'t> Ground<'t> {
    /// Loads the rows of the cities.
    ///
    /// # Errors
    /// Too many cuisines are requested, as a sentence without a full stop.
    pub(super) fn new(
        database: &'t TripDatabase,
        query: &'t Query,
        compat: TripCompat,
    ) -> Result<Self, String> {
        let mut cuisines: Vec<&str> = Vec::new();
        for cuisine in query.local_constraint.cuisine.iter().flatten() {
            if !cuisines.contains(&cuisine.as_str()) {
                cuisines.push(cuisine);
            }
        }
        if cuisines.len() > CUISINES_MAX {
            return Err(format!("{} cuisines are asked for; ask for at most {CUISINES_MAX}", cuisines.len()));
        }
        let towns = names(database, query, compat).into_iter();
        let towns: Vec<_> = towns.map(|name| Town::new(database, query, &cuisines, compat, name)).collect();
        let mut ground = Self { query, towns, menus: Vec::new(), cuisines, ways: Vec::new() };
        let days = ground.nights_max() * MEALS_A_DAY;
        let cuisines = ground.cuisines.len();
        // Days of travel may need one meal for each cuisine, and one for each entry that may be missing.
        let meals = days + cuisines + ground.entries_missing_max();
        ground.menus = ground.towns.iter().map(|town| Menu::new(town, meals, cuisines)).collect();
        ground.read_ways(database, compat);
        Ok(ground)
    }

    /// The number of cities to visit. All numbers that exceed the possible days are equivalent.
    pub(super) fn stops(&self) -> usize {
        self.query.visiting_city_number.min(DAYS_MAX)
    }

    /// The number of nights of the trip.
    pub(super) fn nights(&self) -> usize {
        self.query.days.saturating_sub(1)
    }

    /// The maximum number of nights in one city: all but one for each other city.
    pub(super) fn nights_max(&self) -> usize {
        (self.nights() + 1).saturating_sub(self.stops())
    }

    /// The index of the home city: after the towns.
    pub(super) fn home(&self) -> usize {
        self.towns.len()
    }

    /// The name of a town, or of the home city.
    pub(super) fn name(&self, place: usize) -> &'t str {
        self.towns.get(place).map_or(&self.query.org, |town| town.name)
    }

    /// The journey from one place to another on a day; days count from 0.
    pub(super) fn way(&self, from: usize, to: usize, day: usize) -> &Way<'t> {
        let places = self.towns.len() + 1;
        &self.ways[(day * places + from) * places + to]
    }

    /// The requirements if only these demands are in force.
    pub(super) fn required<'d>(&self, demands: impl IntoIterator<Item = &'d TripDemand>) -> Required {
        let mut required = Required {
            budget: f64::INFINITY,
            ban: None,
            room: None,
            rule: None,
            cuisines: 0,
            minimum_nights: false,
            one_means: false,
        };
        for demand in demands {
            match demand {
                TripDemand::Budget(budget) => required.budget = *budget,
                TripDemand::Transportation(ban) => required.ban = Some(*ban),
                TripDemand::RoomType(room) => required.room = Some(*room),
                TripDemand::HouseRule(rule) => required.rule = Some(*rule),
                TripDemand::Cuisine(cuisine) => {
                    // Demands come from the query, so the cuisine is always found.
                    let number = self.cuisines.iter().position(|it| it == cuisine);
                    required.cuisines |= number.map_or(0, |number| 1 << number);
                }
                TripDemand::MinimumNights => required.minimum_nights = true,
                TripDemand::OneMeans => required.one_means = true,
            }
        }
        required
    }

    /// The means of travel to try, in order.
    pub(super) fn means(required: &Required) -> &'static [Means] {
        // Without this demand, each journey takes the cheapest means. With it, two searches are needed: one with
        // one's own car throughout, and one without it.
        match (required.one_means, required.ban) {
            (false, _) => &[Means::All],
            (true, Some(TransportRule::NoSelfDriving)) => &[Means::Others],
            (true, _) => &[Means::OwnCar, Means::Others],
        }
    }

    /// The maximum number of missing entries if no day of travel has an attraction.
    fn entries_missing_max(&self) -> usize {
        super::menu::entries_missing(self.query.days, self.stops(), 0)
    }

    fn read_ways(&mut self, database: &'t TripDatabase, compat: TripCompat) {
        let (days, home) = (self.query.days, self.home());
        self.ways = vec![Way::default(); days * (home + 1) * (home + 1)];
        let last = self.nights();
        for day in 0..days {
            for from in 0..=home {
                for to in 0..=home {
                    // Only journeys that a trip can contain: out on the first day, home on the last, and from town to
                    // town in between.
                    let is_possible = if day == 0 {
                        from == home && to != home
                    } else if day == last {
                        from != home && to == home
                    } else {
                        self.stops() > 1 && from != home && to != home && from != to
                    };
                    if is_possible {
                        let ends = (self.name(from), self.name(to));
                        let way = Way::new(database, self.query, compat, ends, day);
                        self.ways[(day * (home + 1) + from) * (home + 1) + to] = way;
                    }
                }
            }
        }
    }
}

/// The cities that can be visited.
fn names<'t>(database: &'t TripDatabase, query: &'t Query, compat: TripCompat) -> Vec<&'t str> {
    // The published evaluator also requires the origin to be in the table of states.
    let is_known = compat == TripCompat::Right || database.cities.state(&query.org).is_some();
    if !is_known || !is_readable(&query.org, compat) {
        return Vec::new();
    }
    let all: Vec<&str> = if query.is_for_state() {
        database.cities.of_state(&query.dest).into_iter().flatten().map(String::as_str).collect()
    } else {
        database.cities.state(&query.dest).map(|_| query.dest.as_str()).into_iter().collect()
    };
    all.into_iter().filter(|city| *city != query.org && is_readable(city, compat)).collect()
}
