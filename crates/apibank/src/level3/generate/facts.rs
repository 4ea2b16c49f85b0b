//! The subjects of tasks: people and things in the databases, in the order in which they are stored.

use super::english::Day;
use crate::level3::people;
use crate::level3::tables::{field, list, part};
use crate::value::PythonValue;
use crate::world::ApiWorld;

/// An account and its owner.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) username: String,
    pub(super) password: String,
    pub(super) name: String,
}

/// A flight as a user asks for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) source: String,
    pub(super) destination: String,
    pub(super) day: Day,
}

/// A room, and the period in which it is free.
#[derive(Debug, Clone)]
pub(super) struct Room {
    pub(super) destination: String,
    pub(super) from: Day,
    pub(super) to: Day,
}

/// Everything that a template can choose from.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) accounts: Vec<Account>,
    pub(super) routes: Vec<Route>,
    pub(super) rooms: Vec<Room>,
    /// Places with coordinates that are addresses in a city.
    pub(super) addresses: Vec<String>,
    /// Places with coordinates that are cities.
    pub(super) cities: Vec<String>,
    pub(super) organisations: Vec<String>,
    pub(super) occupations: Vec<String>,
    /// Users with preferences for films.
    pub(super) fans: Vec<String>,
    /// The numbers of the users with posts.
    pub(super) users: Vec<i128>,
}

impl Facts {
    /// Collects the facts in the databases of a world. For anything that they lack there are no tasks.
    pub(super) fn of(world: &ApiWorld) -> Self {
        let rows = |tool, part| list(world, tool, part).unwrap_or_default();
        let keys = |tool, name| -> Vec<String> {
            let table = part(world, tool, name).ok().and_then(PythonValue::as_dict);
            table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
        };
        let values = |tool, name| -> Vec<&PythonValue> {
            let table = part(world, tool, name).ok().and_then(PythonValue::as_dict);
            table.map(|table| table.values().collect()).unwrap_or_default()
        };
        let places = keys("Geocoding", "address_to_coordinates");
        // An address ends with its city, after a comma.
        let (addresses, cities) = places.into_iter().partition(|place| place.contains(','));
        let mut routes: Vec<Route> = Vec::new();
        // Several flights may serve one route on one day.
        for route in rows("FlightSearch", "flight_data").iter().filter_map(route) {
            if !routes.contains(&route) {
                routes.push(route);
            }
        }
        let number = |row: &PythonValue| match field(row, "key")? {
            PythonValue::Int(number) => Some(*number),
            _ => None,
        };
        Self {
            accounts: rows("AccountInfo", "database").iter().filter_map(account).collect(),
            routes,
            rooms: values("HotelAvailability", "hotel_database").into_iter().filter_map(room).collect(),
            addresses,
            cities,
            organisations: keys("OrganizationMembers", "database"),
            occupations: keys("GetOccupationSalary", "salary_info"),
            fans: keys("UserMoviePreferences", "database"),
            users: rows("UserPosts", "database").iter().filter_map(number).collect(),
        }
    }
}

fn text(row: &PythonValue, name: &str) -> Option<String> {
    Some(field(row, name)?.as_text()?.to_owned())
}

fn day(row: &PythonValue, name: &str) -> Option<Day> {
    Day::read(field(row, name)?.as_text()?)
}

fn account(row: &PythonValue) -> Option<Account> {
    let (username, password) = people::login(row)?;
    let name = people::account_field(row, "name")?;
    Some(Account { username: username.to_owned(), password: password.to_owned(), name: name.to_owned() })
}

fn route(row: &PythonValue) -> Option<Route> {
    Some(Route {
        source: text(row, "source")?,
        destination: text(row, "destination")?,
        day: day(row, "departure_date")?,
    })
}

fn room(row: &PythonValue) -> Option<Room> {
    Some(Room {
        destination: text(row, "destination")?,
        from: day(row, "check_in_date")?,
        to: day(row, "check_out_date")?,
    })
}
