//! What a city offers: rows of the tables that a plan can name so that the evaluator finds them.

use super::ground::Required;
use crate::TripCompat;
use crate::entry::{name_city, strip_parenthesis};
use crate::query::Query;
use crate::tables::{Attraction, CityTable, Place, Restaurant, Stay, TripDatabase, clean_name};

/// Maximum number of cuisines in a query. The tables of meals grow exponentially with it.
pub const CUISINES_MAX: usize = 8;

/// A set of cuisines, as bits by their position in the query.
pub(super) type Cuisines = usize;

/// A city with its accommodation, restaurants and attractions.
pub(super) struct Town<'t> {
    pub(super) name: &'t str,
    pub(super) stays: Vec<House<'t>>,
    pub(super) restaurants: Vec<Eatery<'t>>,
    /// In the order of the table.
    pub(super) sights: Vec<&'t Attraction>,
    compat: TripCompat,
}

/// An accommodation, and its cost per night for all travellers.
pub(super) struct House<'t> {
    pub(super) row: &'t Stay,
    pub(super) night: f64,
}

/// A restaurant, the cost of a meal for all travellers, and which of the requested cuisines it has.
pub(super) struct Eatery<'t> {
    pub(super) row: &'t Restaurant,
    pub(super) meal: f64,
    pub(super) cuisines: Cuisines,
}

impl<'t> Town<'t> {
    pub(super) fn new(
        database: &'t TripDatabase,
        query: &Query,
        cuisines: &[&str],
        compat: TripCompat,
        name: &'t str,
    ) -> Self {
        let people = query.people_number;
        let stays = readable(&database.stays, name, compat);
        let mut stays: Vec<_> = stays.map(|row| House { row, night: row.night(people) }).collect();
        stays.sort_by(|one, other| one.night.total_cmp(&other.night));
        let cooks = |row: &Restaurant, cuisine: &str| match compat {
            TripCompat::Original => row.cuisines.contains(cuisine),
            TripCompat::Right => row.cooks(cuisine),
        };
        let set_of = |row: &Restaurant| {
            let has = cuisines.iter().enumerate().filter(|(_, cuisine)| cooks(row, cuisine));
            has.fold(0, |set, (number, _)| set | 1 << number)
        };
        let restaurants = readable(&database.restaurants, name, compat);
        let mut restaurants: Vec<_> = restaurants
            .map(|row| {
                let meal = f64::from(row.average_cost) * f64::from(people);
                Eatery { row, meal, cuisines: set_of(row) }
            })
            .collect();
        restaurants.sort_by(|one, other| one.meal.total_cmp(&other.meal));
        let sights = readable(&database.attractions, name, compat);
        // A name with a semicolon would be read as two attractions.
        let sights = sights.filter(|row| !row.name.contains(';')).collect();
        Self { name, stays, restaurants, sights, compat }
    }

    /// The cheapest accommodation for a number of nights that meets the requirements.
    pub(super) fn house(&self, nights: usize, required: &Required) -> Option<&House<'t>> {
        let forbids = |row: &Stay, rule: &str| match self.compat {
            TripCompat::Original => row.house_rules.contains(rule),
            TripCompat::Right => row.forbids(rule),
        };
        self.stays.iter().find(|house| {
            let row = house.row;
            required.rule.is_none_or(|rule| !forbids(row, rule.forbidden()))
                && required.room.is_none_or(|room| room.accepts(&row.room_type))
                && (!required.minimum_nights || nights as f64 >= row.minimum_nights)
        })
    }
}

/// The text with which an entry names a row.
pub(super) fn entry(name: &str, city: &str) -> String {
    format!("{name}, {city}")
}

/// Whether the evaluator can parse a city as the place of a day.
pub(super) fn is_readable(city: &str, compat: TripCompat) -> bool {
    let is_plain = city.trim() == city
        && strip_parenthesis(city) == city
        && !city.contains([',', ';', '\n'])
        && !matches!(city, "" | "-");
    // The published evaluator would parse such a city as a journey.
    is_plain && (compat == TripCompat::Right || !city.contains("from") && !city.contains("to "))
}

/// The rows of a city that the evaluator finds by their entry.
fn readable<'t, T: Place>(
    table: &'t CityTable<T>,
    city: &'t str,
    compat: TripCompat,
) -> impl Iterator<Item = &'t T> {
    table.in_city(city).filter(move |row| {
        // By identity: an earlier row of the same name would be found instead of this one.
        let is_named =
            table.named(&clean_name(row.name()), city).is_some_and(|found| std::ptr::eq(found, *row));
        match compat {
            TripCompat::Right => is_named,
            TripCompat::Original => {
                let text = entry(row.name(), city);
                let (name, place) = name_city(&text);
                let found = table.holding(name, place).next();
                is_named && found.is_some_and(|found| std::ptr::eq(found, *row))
            }
        }
    })
}
