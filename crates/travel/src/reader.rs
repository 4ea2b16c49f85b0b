//! Extracts the fields of a query from its words, by rules of English and without a model.
//!
//! A [`QueryReading`] holds the fields that were found; fields that were not found are absent, and anything that
//! contradicts the fields is a doubt. Models write readings as JSON, which [`QueryReading::read_json`] parses strictly;
//! [`ReadingScore`] compares any reading with the fields of the query.
//!
//! # The rules
//!
//! The text is split into words, numbers and marks (`reader/token.rs`, `reader/number.rs`). Cities and states are
//! names in the tables, and the words before them show their role (`reader/place.rs`). Dates may have any usual form,
//! with months as words or in ISO form (`reader/date.rs`). Numbers belong to the nouns after them
//! (`reader/group.rs`), amounts of money to the words for a budget (`reader/budget.rs`). Wishes are searched clause
//! by clause, since a negation ends with its clause (`reader/wish.rs`). If a text does not mention people, cities or
//! days, they are inferred from the rest: a single speaker travels alone, a city as destination is one city, and
//! dates give a length. Reading takes time proportional to the length of the text.

mod budget;
mod date;
mod group;
mod json;
mod number;
mod place;
mod score;
mod token;
mod wish;

pub use json::{JSON_BYTES_MAX, ReadingError};
pub use score::{Accuracy, QueryField, ReadingScore};
pub(crate) use wish::CUISINES;

use serde::Serialize;

use crate::query::{Level, LocalConstraint, Query, QueryError};
use crate::tables::Cities;

/// The fields of a query, as far as they were found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QueryReading {
    /// The city where the trip starts and ends.
    pub org: Option<String>,
    /// The city or the state to visit.
    pub dest: Option<String>,
    /// The number of days.
    pub days: Option<usize>,
    /// The number of cities to visit.
    pub visiting_city_number: Option<usize>,
    /// The dates, such as `2022-03-16`.
    pub date: Option<Vec<String>>,
    /// The number of travellers.
    pub people_number: Option<u32>,
    /// The local constraints. It makes no difference whether a constraint was not requested or not found.
    pub local_constraint: LocalConstraint,
    /// The budget for all travellers, in US dollars.
    pub budget: Option<f64>,
}

/// The result of reading a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heard {
    pub reading: QueryReading,
    /// What contradicts the fields, or what they cannot express, each as a sentence without a full stop.
    pub doubts: Vec<String>,
}

/// The longest trip that is to a single city.
const CITY_DAYS_MAX: usize = 3;

/// Extracts the fields from the words of a query. Accepts any text, but reads only the beginning of one that is
/// longer than a few pages.
pub fn read(text: &str, cities: &Cities) -> Heard {
    let tokens = token::tokens(text);
    // Length and number of cities come first, because they decide whether the destination is a state.
    let time = date::time(&tokens);
    let stated_cities = group::cities(&tokens);
    let is_for_state =
        stated_cities.is_some_and(|count| count > 1) || time.days.is_some_and(|days| days > CITY_DAYS_MAX);
    let places = place::places(text, &tokens, cities, is_for_state);
    // The number in `March 3` or in the name of a place does not count people.
    let mut taken = time.taken.clone();
    taken.extend(places.taken.iter().cloned());
    let people = group::people(&tokens, &taken);
    let wishes = wish::wishes(&tokens, &places.taken);
    let is_city = places.destination.is_some() && !is_for_state;
    let reading = QueryReading {
        org: places.origin,
        dest: places.destination,
        days: time.days,
        visiting_city_number: stated_cities.or(is_city.then_some(1)),
        people_number: people,
        local_constraint: LocalConstraint {
            house_rule: wishes.rule,
            cuisine: (!wishes.cuisines.is_empty()).then_some(wishes.cuisines),
            room_type: wishes.room,
            transportation: wishes.ban,
        },
        budget: budget::budget(&tokens, people, time.days),
        date: time.date,
    };
    let doubts = time.doubt.into_iter().chain(wishes.doubts).collect();
    Heard { reading, doubts }
}

impl QueryReading {
    /// The fields of a query.
    pub fn of(query: &Query) -> Self {
        Self {
            org: Some(query.org.clone()),
            dest: Some(query.dest.clone()),
            days: Some(query.days),
            visiting_city_number: Some(query.visiting_city_number),
            date: Some(query.date.clone()),
            people_number: Some(query.people_number),
            local_constraint: query.local_constraint.clone(),
            budget: Some(query.budget),
        }
    }

    /// The required fields that were not found.
    pub fn missing(&self) -> Vec<QueryField> {
        let fields = [
            (QueryField::Origin, self.org.is_none()),
            (QueryField::Destination, self.dest.is_none()),
            (QueryField::Days, self.days.is_none()),
            (QueryField::Cities, self.visiting_city_number.is_none()),
            (QueryField::Dates, self.date.is_none()),
            (QueryField::People, self.people_number.is_none()),
            (QueryField::Budget, self.budget.is_none()),
        ];
        fields.into_iter().filter(|(_, is_missing)| *is_missing).map(|(field, _)| field).collect()
    }

    /// The query to solve, built from the fields. `idx`, `level` and `text` are those of the original query.
    ///
    /// # Errors
    /// The missing fields, or what is wrong with one.
    pub fn query(&self, idx: u64, level: Level, text: &str) -> Result<Query, QueryError> {
        let missing = self.missing();
        let fault = |what: String| QueryError { place: None, what };
        if !missing.is_empty() {
            let names: Vec<&str> = missing.into_iter().map(QueryField::name).collect();
            return Err(fault(format!("the text does not give {}", names.join(", "))));
        }
        let query = Query {
            idx,
            org: self.org.clone().unwrap_or_default(),
            dest: self.dest.clone().unwrap_or_default(),
            days: self.days.unwrap_or_default(),
            visiting_city_number: self.visiting_city_number.unwrap_or_default(),
            date: self.date.clone().unwrap_or_default(),
            people_number: self.people_number.unwrap_or_default(),
            local_constraint: self.local_constraint.clone(),
            budget: self.budget.unwrap_or_default(),
            query: text.to_owned(),
            level,
        };
        query.check()?;
        Ok(query)
    }
}
