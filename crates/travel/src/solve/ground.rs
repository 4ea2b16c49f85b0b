//! All that a search needs of the tables, read once for a query, whatever of it is asked.

use super::CUISINES_MAX;
use super::demand::Demand;
use super::menu::Menu;
use super::town::{Cuisines, Town, is_readable};
use super::ways::{Means, Way};
use crate::Compat;
use crate::query::{DAYS_MAX, HouseRule, Query, RoomType, TransportRule};
use crate::tables::Database;

/// How many meals a day has.
pub(super) const MEALS_A_DAY: usize = 3;

/// What is asked for, of all that can be.
pub(super) struct Required {
    /// Infinite where there is none.
    pub(super) budget: f64,
    pub(super) ban: Option<TransportRule>,
    pub(super) room: Option<RoomType>,
    pub(super) rule: Option<HouseRule>,
    pub(super) cuisines: Cuisines,
    pub(super) minimum_nights: bool,
    pub(super) one_means: bool,
}

/// The cities of a query, what they have, and the ways between them.
pub(super) struct Ground<'t> {
    pub(super) query: &'t Query,
    /// The cities that can be visited. Where the evaluator cannot read the origin back, there are none.
    pub(super) towns: Vec<Town<'t>>,
    /// The meals of each.
    pub(super) menus: Vec<Menu>,
    /// The wanted cuisines, each once.
    cuisines: Vec<&'t str>,
    /// By day, then where one starts, then where one arrives. The origin stands behind the towns.
    ways: Vec<Way<'t>>,
}

impl<'t> Ground<'t> {
    /// Reads the rows of the cities.
    ///
    /// # Errors
    /// Too many cuisines are asked for, as a sentence without a full stop.
    pub(super) fn new(database: &'t Database, query: &'t Query, compat: Compat) -> Result<Self, String> {
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
        // One meal on days of travel for each cuisine, and for all entries that may be missing.
        let meals = days + cuisines + ground.entries_missing_max();
        ground.menus = ground.towns.iter().map(|town| Menu::new(town, meals, cuisines)).collect();
        ground.read_ways(database, compat);
        Ok(ground)
    }

    /// How many cities are to be seen. More than there can be days are all the same.
    pub(super) fn stops(&self) -> usize {
        self.query.visiting_city_number.min(DAYS_MAX)
    }

    /// How many nights the trip has.
    pub(super) fn nights(&self) -> usize {
        self.query.days.saturating_sub(1)
    }

    /// How many nights one city may have: all but one for each other.
    pub(super) fn nights_max(&self) -> usize {
        (self.nights() + 1).saturating_sub(self.stops())
    }

    /// Where one starts: behind the towns.
    pub(super) fn home(&self) -> usize {
        self.towns.len()
    }

    /// The name of a town, or of home.
    pub(super) fn name(&self, place: usize) -> &'t str {
        self.towns.get(place).map_or(&self.query.org, |town| town.name)
    }

    /// The way from a place to another on a day, counted from 0.
    pub(super) fn way(&self, from: usize, to: usize, day: usize) -> &Way<'t> {
        let places = self.towns.len() + 1;
        &self.ways[(day * places + from) * places + to]
    }

    /// What of the query is in force, if only these demands are.
    pub(super) fn required<'d>(&self, demands: impl IntoIterator<Item = &'d Demand>) -> Required {
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
                Demand::Budget(budget) => required.budget = *budget,
                Demand::Transportation(ban) => required.ban = Some(*ban),
                Demand::RoomType(room) => required.room = Some(*room),
                Demand::HouseRule(rule) => required.rule = Some(*rule),
                Demand::Cuisine(cuisine) => {
                    let number = self.cuisines.iter().position(|it| it == cuisine);
                    required.cuisines |= number.map_or(0, |number| 1 << number);
                }
                Demand::MinimumNights => required.minimum_nights = true,
                Demand::OneMeans => required.one_means = true,
            }
        }
        required
    }

    /// The means to try one after the other.
    pub(super) fn means(required: &Required) -> &'static [Means] {
        match (required.one_means, required.ban) {
            (false, _) => &[Means::All],
            (true, Some(TransportRule::NoSelfDriving)) => &[Means::Others],
            (true, _) => &[Means::OwnCar, Means::Others],
        }
    }

    /// How many entries may be missing at most where no day of travel has a sight.
    fn entries_missing_max(&self) -> usize {
        super::menu::entries_missing(self.query.days, self.stops(), 0)
    }

    fn read_ways(&mut self, database: &'t Database, compat: Compat) {
        let (days, home) = (self.query.days, self.home());
        self.ways = vec![Way::default(); days * (home + 1) * (home + 1)];
        let last = self.nights();
        for day in 0..days {
            for from in 0..=home {
                for to in 0..=home {
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
fn names<'t>(database: &'t Database, query: &'t Query, compat: Compat) -> Vec<&'t str> {
    let is_known = compat == Compat::Right || database.cities.state(&query.org).is_some();
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
