//! Where a trip begins and where it goes.

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
const DESTINATION: [&str; 40] = [
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
    "of",
    "see",
    "seeing",
    "discover",
    "discovering",
    "experience",
    "for",
    "into",
    "reach",
    "reaching",
    "at",
];

/// Words that may stand between a sign and a place.
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

/// How many pieces before a place are looked at.
const LOOK_BACK: usize = 4;

/// A place that is named.
#[derive(Debug, Clone, PartialEq)]
struct Named {
    name: String,
    begin: usize,
    end: usize,
    is_city: bool,
    is_state: bool,
}

/// What a place is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Origin,
    Destination,
    Unclear,
}

/// Where a trip begins and where it goes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Places {
    pub(super) origin: Option<String>,
    pub(super) destination: Option<String>,
    /// The pieces that places take up.
    pub(super) taken: Vec<std::ops::Range<usize>>,
}

/// Reads both ends. The destination is a state if the trip is for several cities.
pub(super) fn places(text: &str, tokens: &[Token<'_>], cities: &Cities, is_for_state: bool) -> Places {
    let named = named(text, tokens, cities);
    let roles: Vec<Role> = named.iter().map(|place| role(tokens, place)).collect();
    let with = |role: Role| move |(_, it): &(usize, &Role)| **it == role;
    let positions = |role| roles.iter().enumerate().filter(with(role)).map(|(at, _)| at);
    // A trip begins in a city.
    let origin = positions(Role::Origin)
        .find(|&at| named[at].is_city)
        .or_else(|| positions(Role::Unclear).find(|&at| named[at].is_city));
    let origin_name = origin.map(|at| named[at].name.clone());
    let fits = |at: &usize| {
        let place = &named[*at];
        Some(*at) != origin && if is_for_state { place.is_state } else { place.is_city }
    };
    // A state may have the name of the city where one starts, and a city that of the state where one goes.
    let differs = |at: &usize| is_for_state || Some(&named[*at].name) != origin_name.as_ref();
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

/// The places that the tables know, in their order; of two that begin at the same piece the longer. A state behind its
/// city, as in `Reno, Nevada`, only says which city is meant.
fn named(text: &str, tokens: &[Token<'_>], cities: &Cities) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(found) = longest(text, tokens, at, cities) else {
            at += 1;
            continue;
        };
        at = found.end;
        let is_apposition = all.last().is_some_and(|before| {
            let comma = tokens.get(before.end).is_some_and(|it| it.is(",")) && before.end + 1 == found.begin;
            comma && before.is_city && cities.state(&before.name) == Some(&found.name)
        });
        if !is_apposition {
            all.push(found);
        }
    }
    all
}

/// How many words a name of a place has at most.
const WORDS_MAX: usize = 6;

fn longest(text: &str, tokens: &[Token<'_>], at: usize, cities: &Cities) -> Option<Named> {
    let first = tokens.get(at)?;
    if !first.raw.chars().next().is_some_and(char::is_uppercase) {
        return None;
    }
    let mut found = None;
    for (end, token) in (at + 1..).zip(&tokens[at..]).take(2 * WORDS_MAX) {
        // The point of `St. Louis`, and names such as `Dallas/Fort Worth`.
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

/// What a place is for, by the nearest sign before it.
fn role(tokens: &[Token<'_>], place: &Named) -> Role {
    let mut at = place.begin;
    for _ in 0..LOOK_BACK {
        let Some(before) = at.checked_sub(1) else { break };
        at = before;
        let token = &tokens[at];
        let earlier = at.checked_sub(1).and_then(|at| tokens.get(at));
        if token.is_any(&["from", "in", "at", "off", "out", "of"]) {
            // `starting in` and `setting off from` are signs of two words, and so is `heading out of`.
            if earlier.is_some_and(|it| it.is_any(&ORIGIN)) && !token.is("of") || token.is("from") {
                return Role::Origin;
            }
            if earlier.is_some_and(|it| it.is("out")) {
                return Role::Origin;
            }
        }
        if token.is_any(&DESTINATION) && !token.is_any(&["of", "at"]) {
            return Role::Destination;
        }
        if token.is_any(&["cities", "city", "towns", "state"]) {
            continue;
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
