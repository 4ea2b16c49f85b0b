//! The origin and the destination of a trip.

use super::token::{Kind, Token};
use crate::tables::Cities;

/// Words before the origin.
const ORIGIN: [&str; 25] = [
    "from",
    "departing",
    "depart",
    "departs",
    "departure",
    "leaving",
    "leave",
    "leaves",
    "starting",
    "start",
    "starts",
    "beginning",
    "begin",
    "begins",
    "originating",
    "originates",
    "commencing",
    "commences",
    "out",
    "off",
    "journeying",
    "flying",
    "home",
    "live",
    "based",
];

/// Words before the destination.
const DESTINATION: [&str; 38] = [
    "to",
    "visiting",
    "visit",
    "visits",
    "in",
    "towards",
    "toward",
    "heading",
    "headed",
    "bound",
    "explore",
    "exploring",
    "explores",
    "tour",
    "touring",
    "tours",
    "covering",
    "cover",
    "covers",
    "across",
    "throughout",
    "within",
    "around",
    "through",
    "ending",
    "end",
    "ends",
    "destination",
    "destinations",
    "see",
    "seeing",
    "discover",
    "discovering",
    "experience",
    "for",
    "into",
    "reach",
    "reaching",
];

/// Words that may come between a signal word and a place.
const BETWEEN: [&str; 17] = [
    "the",
    "city",
    "state",
    "of",
    "in",
    "from",
    "at",
    "sunny",
    "beautiful",
    "lovely",
    "town",
    "our",
    "my",
    "is",
    "be",
    "will",
    "home",
];

/// Nouns for something that starts or ends at a place, as in `starting our journey in`, and words before them.
const JOURNEYS: [&str; 17] = [
    "it",
    "journey",
    "trip",
    "travel",
    "travels",
    "tour",
    "adventure",
    "vacation",
    "holiday",
    "itinerary",
    "our",
    "my",
    "the",
    "a",
    "this",
    "their",
    "your",
];

/// How many tokens before a place are examined.
const LOOK_BACK: usize = 4;

/// A place that the text names.
#[derive(Debug, Clone, PartialEq)]
struct Named {
    name: String,
    begin: usize,
    end: usize,
    is_city: bool,
    is_state: bool,
}

/// The role of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Origin,
    Destination,
    Unclear,
}

/// The origin and the destination of a trip.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Places {
    pub(super) origin: Option<String>,
    pub(super) destination: Option<String>,
    /// The tokens that belong to places.
    pub(super) taken: Vec<std::ops::Range<usize>>,
}

/// Finds origin and destination. The destination is a state if the trip is to several cities.
pub(super) fn places(text: &str, tokens: &[Token<'_>], cities: &Cities, is_for_state: bool) -> Places {
    let named = named(text, tokens, cities);
    let roles: Vec<Role> = named.iter().map(|place| role(tokens, place)).collect();
    let with = |role: Role| move |(_, it): &(usize, &Role)| **it == role;
    let positions = |role| roles.iter().enumerate().filter(with(role)).map(|(at, _)| at);
    // A trip starts in a city.
    let origin = positions(Role::Origin)
        .find(|&at| named[at].is_city)
        .or_else(|| positions(Role::Unclear).find(|&at| named[at].is_city));
    let origin_name = origin.map(|at| named[at].name.clone());
    let fits = |at: &usize| {
        let place = &named[*at];
        Some(*at) != origin && if is_for_state { place.is_state } else { place.is_city }
    };
    // A state may have the same name as the origin city, and a city the same name as the destination state.
    let differs = |at: &usize| is_for_state || Some(&named[*at].name) != origin_name.as_ref();
    // A place after a signal word takes precedence over any other place of the right kind.
    let destination = positions(Role::Destination)
        .filter(fits)
        .find(differs)
        .or_else(|| (0..named.len()).filter(fits).find(differs));
    Places {
        origin: origin_name,
        destination: destination.map(|at| named[at].name.clone()),
        taken: named.iter().map(|place| place.begin..place.end).collect(),
    }
}

/// The places in the text that the tables know, in order; of two that start at the same token, the longer. A state
/// after its city, as in `Reno, Nevada` and `Reno in Nevada`, only specifies which city is meant.
fn named(text: &str, tokens: &[Token<'_>], cities: &Cities) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(found) = longest(text, tokens, at, cities) else {
            at += 1;
            continue;
        };
        // The search continues after the name, so that the end of one name is not taken for another.
        at = found.end;
        let is_apposition = all.last().is_some_and(|before| {
            let is_joined = tokens.get(before.end).is_some_and(|it| it.is_any(&[",", "in", "("]));
            is_joined
                && before.end + 1 == found.begin
                && before.is_city
                && cities.state(&before.name) == Some(&found.name)
        });
        if !is_apposition {
            all.push(found);
        }
    }
    all
}

/// Maximum number of words in the name of a place.
const WORDS_MAX: usize = 6;

fn longest(text: &str, tokens: &[Token<'_>], at: usize, cities: &Cities) -> Option<Named> {
    let first = tokens.get(at)?;
    if !first.raw.chars().next().is_some_and(char::is_uppercase) {
        return None;
    }
    let mut found = None;
    // Twice as many tokens as words, because a mark between two words is a token too.
    for (end, token) in (at + 1..).zip(&tokens[at..]).take(2 * WORDS_MAX) {
        // The full stop in `St. Louis`, and names such as `Dallas/Fort Worth`.
        if token.kind != Kind::Word && !token.is_any(&[".", "/", "&"]) {
            break;
        }
        let name = text.get(first.at..token.at + token.raw.len()).unwrap_or_default();
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let (is_city, is_state) = (cities.state(&name).is_some(), cities.of_state(&name).is_some());
        if is_city || is_state {
            found = Some(Named { name, begin: at, end, is_city, is_state });
        }
    }
    found
}

/// The role of a place, determined by the nearest signal word before it.
fn role(tokens: &[Token<'_>], place: &Named) -> Role {
    for at in (place.begin.saturating_sub(LOOK_BACK)..place.begin).rev() {
        let token = &tokens[at];
        let mut before = tokens[..at].iter().rev();
        // `starting in`, `setting off at`, `starting our journey in`
        let verb = before.find(|it| !it.is_any(&JOURNEYS));
        let is_verb_of_origin = verb.is_some_and(|it| it.is_any(&ORIGIN));
        if token.is("from") || token.is_any(&["in", "at", "of"]) && is_verb_of_origin {
            return Role::Origin;
        }
        if token.is_any(&DESTINATION) {
            return Role::Destination;
        }
        if token.is_any(&ORIGIN) {
            return Role::Origin;
        }
        if !token.is_any(&BETWEEN) {
            break;
        }
    }
    Role::Unclear
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn both_ends_are_found() {
        let states =
            "Reno\tNevada\nElko\tNevada\nSt. Louis\tMissouri\nWashington\tDistrict\nSeattle\tWashington";
        let cities = Cities::read((states, "s.txt"), ("", "c.txt")).expect("cities");
        let cases = [
            ("from Reno to St. Louis", false, "Reno", "St. Louis"),
            ("to St. Louis from Reno", false, "Reno", "St. Louis"),
            ("Starting our journey in Elko, we want to see Reno, Nevada", false, "Elko", "Reno"),
            ("from Washington to 2 cities in Washington state", true, "Washington", "Washington"),
            ("from Reno in Nevada to cities of Missouri", true, "Reno", "Missouri"),
            ("2 cities in Nevada, leaving St. Louis", true, "St. Louis", "Nevada"),
            ("ending our trip in Reno and beginning it in Elko", false, "Elko", "Reno"),
            ("heading out of Reno for Elko", false, "Reno", "Elko"),
        ];
        for (text, is_for_state, origin, destination) in cases {
            let found = places(text, &tokens(text), &cities, is_for_state);
            let ends = (found.origin.as_deref(), found.destination.as_deref());
            assert_eq!(ends, (Some(origin), Some(destination)), "{text}");
        }
    }
}
