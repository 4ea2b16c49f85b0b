//! Parses what an agent wrote into what it means: places, legs, entries with a name and a city.

use serde_json::Value;

use crate::entry::{from_to, strip_parenthesis};
use crate::evaluate::EntryPlace;
use crate::plan::{ACCOMMODATION, ATTRACTION, CITY, KEYS, MEALS, NOT_NEEDED, TRANSPORTATION, TripPlan};
use crate::tables::{RoadMode, clean_name};

/// A plan whose days are objects and whose entries are texts or null.
pub(crate) struct Itinerary<'p> {
    /// As many as were asked for, or fewer.
    pub(crate) days: Vec<Day<'p>>,
    /// The number of further days that are filled in.
    pub(crate) extra: usize,
}

/// A day. An entry that is missing, null, empty or a hyphen is `None`.
pub(crate) struct Day<'p> {
    pub(crate) place: Place<'p>,
    pub(crate) travel: Option<Travel<'p>>,
    pub(crate) meals: [Option<Entry<'p>>; 3],
    pub(crate) attractions: Vec<Entry<'p>>,
    pub(crate) stay: Option<Entry<'p>>,
    /// How many of the six entries are filled in.
    pub(crate) filled: usize,
    /// How many of all keys are filled in.
    pub(crate) filled_with_others: usize,
    nulls: Vec<&'static str>,
}

impl<'p> Day<'p> {
    /// Its meals with their keys.
    pub(crate) fn meals(&self) -> impl Iterator<Item = (&'static str, &Entry<'p>)> {
        MEALS.into_iter().zip(&self.meals).filter_map(|(key, meal)| Some((key, meal.as_ref()?)))
    }

    /// Its attractions with their places.
    pub(crate) fn sights(&self) -> impl Iterator<Item = (EntryPlace, &Entry<'p>)> {
        let sights = self.attractions.iter().enumerate();
        sights.map(|(number, sight)| (EntryPlace { key: ATTRACTION, number }, sight))
    }

    /// Whether the value of a key is null.
    pub(crate) fn is_null(&self, key: &str) -> bool {
        self.nulls.contains(&key)
    }
}

/// Where a day is spent.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    /// The day does not say, or is not needed.
    Nowhere,
    /// On the way from one city to another.
    Leg(&'p str, &'p str),
    City(&'p str),
}

/// A journey.
pub(crate) struct Travel<'p> {
    pub(crate) text: &'p str,
    pub(crate) means: Means<'p>,
    /// The two ends, if the entry names them.
    pub(crate) leg: Option<(&'p str, &'p str)>,
}

/// A means of transport.
#[derive(Clone, Copy)]
pub(crate) enum Means<'p> {
    /// A flight with this number.
    Flight(&'p str),
    Road(RoadMode),
    Other,
}

/// Something with a name and a city.
pub(crate) struct Entry<'p> {
    /// The text as written, with its blanks.
    pub(crate) text: &'p str,
    /// The name with single blanks.
    pub(crate) name: String,
    pub(crate) city: &'p str,
    /// Whether the published evaluator overlooks it, because no semicolon follows.
    pub(crate) is_overlooked: bool,
}

impl<'p> Itinerary<'p> {
    /// Parses a plan.
    ///
    /// # Errors
    /// Why it is malformed, as a sentence without a full stop.
    pub(crate) fn read(plan: &'p TripPlan, days: usize) -> Result<Self, String> {
        let Value::Array(all) = &plan.0 else {
            return Err("the plan is no list of days".to_owned());
        };
        let (wanted, rest) = all.split_at(days.min(all.len()));
        let read = |(number, day)| Day::read(day).map_err(|what| format!("day {}: {what}", number + 1));
        Ok(Self {
            days: wanted.iter().enumerate().map(read).collect::<Result<_, _>>()?,
            extra: rest.iter().filter(|day| is_filled_in(day)).count(),
        })
    }
}

/// Whether a day says anything about the trip.
fn is_filled_in(day: &Value) -> bool {
    match day {
        Value::Null => false,
        Value::Object(members) => {
            let says = |key: &&str| {
                members.get(*key).is_some_and(|value| !matches!(value, Value::Null) && !is_dash(value))
            };
            members.get(CITY).is_none_or(|city| city != NOT_NEEDED) && KEYS.iter().chain([&CITY]).any(says)
        }
        // Whatever it is, it is one day too many.
        _ => true,
    }
}

fn is_dash(value: &Value) -> bool {
    value.as_str().is_some_and(|text| matches!(text.trim(), "" | "-"))
}

impl<'p> Day<'p> {
    fn read(day: &'p Value) -> Result<Self, String> {
        let members = match day {
            Value::Object(members) => Some(members),
            Value::Null => None,
            _ => return Err("it is no object".to_owned()),
        };
        let value = |key: &str| members.and_then(|members| members.get(key));
        let mut nulls = Vec::new();
        // Only these keys are ever read. Others may hold any value.
        for key in KEYS.into_iter().chain([CITY]) {
            match value(key) {
                Some(Value::Null) => nulls.push(key),
                Some(value) if !value.is_string() => return Err(format!("`{key}` is no text")),
                _ => {}
            }
        }
        let entry = |key: &str| {
            let text = value(key).and_then(Value::as_str);
            text.filter(|text| !matches!(text.trim(), "" | "-"))
        };
        let filled = KEYS.iter().filter(|key| entry(key).is_some()).count();
        let says = |value: &&Value| crate::python::is_true(value) && !is_dash(value);
        Ok(Self {
            place: entry(CITY).map_or(Place::Nowhere, place),
            travel: entry(TRANSPORTATION).map(travel),
            meals: MEALS.map(|meal| entry(meal).map(named)),
            attractions: entry(ATTRACTION).map(attractions).unwrap_or_default(),
            stay: entry(ACCOMMODATION).map(named),
            filled,
            filled_with_others: members.into_iter().flat_map(serde_json::Map::values).filter(says).count(),
            nulls,
        })
    }
}

/// A city without surrounding blanks, and the state after it.
fn city(text: &str) -> &str {
    strip_parenthesis(text.trim()).trim()
}

fn place(text: &str) -> Place<'_> {
    let text = text.trim();
    if text == NOT_NEEDED {
        return Place::Nowhere;
    }
    // `get` instead of slicing, because the fifth byte may be within a character.
    let is_leg = text.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("from "));
    let ends = is_leg.then(|| text.get(5..).unwrap_or_default().split_once(" to ")).flatten();
    match ends {
        // As in the published evaluator, a leg ends at a comma.
        Some((one, other)) => Place::Leg(city(one), city(other.split(',').next().unwrap_or_default())),
        None => Place::City(city(text)),
    }
}

fn travel(text: &str) -> Travel<'_> {
    let trimmed = text.trim();
    // Only at the beginning; the published checks find these words anywhere in the entry.
    let begins = |word: &str| trimmed.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    const FLIGHT: &str = "flight number:";
    let means = if begins(FLIGHT) {
        let rest = trimmed.get(FLIGHT.len()..).unwrap_or_default();
        Means::Flight(rest.split(',').next().unwrap_or_default().trim())
    } else if begins(RoadMode::SelfDriving.name()) {
        Means::Road(RoadMode::SelfDriving)
    } else if begins(RoadMode::Taxi.name()) {
        Means::Road(RoadMode::Taxi)
    } else {
        Means::Other
    };
    Travel { text, means, leg: from_to(text).map(|(one, other)| (city(one), city(other))) }
}

fn named(text: &str) -> Entry<'_> {
    let (name, city_text) = text.rsplit_once(',').unwrap_or((text, ""));
    Entry { text, name: clean_name(name), city: city(city_text), is_overlooked: false }
}

fn attractions(text: &str) -> Vec<Entry<'_>> {
    let pieces: Vec<&str> = text.split(';').collect();
    // `split` yields at least one piece.
    let last = pieces.len() - 1;
    let pieces = pieces.into_iter().enumerate().filter(|(_, piece)| !matches!(piece.trim(), "" | "-"));
    pieces.map(|(at, piece)| Entry { is_overlooked: at == last, ..named(piece) }).collect()
}
