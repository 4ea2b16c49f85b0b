//! The number of travellers, and the number of cities they visit.

use super::number::count;
use super::token::{Kind, Token};
use crate::query::{DAYS_MAX, PEOPLE_MAX};

/// Nouns for people, after a number.
const PEOPLE: [&str; 27] = [
    "people",
    "persons",
    "person",
    "individuals",
    "individual",
    "travelers",
    "travellers",
    "traveler",
    "traveller",
    "adults",
    "adult",
    "participants",
    "participant",
    "passengers",
    "passenger",
    "guests",
    "tourists",
    "members",
    "colleagues",
    "students",
    "friends",
    "attendees",
    "men",
    "women",
    "vacationers",
    "folks",
    "pax",
];

/// Nouns for groups, before a number, as in `party of 5`.
const GROUPS: [&str; 8] = ["group", "party", "family", "team", "crew", "company", "band", "total"];

/// Words that imply a number of people.
const WORDS: [(&str, u32); 12] = [
    ("solo", 1),
    ("alone", 1),
    ("myself", 1),
    ("couple", 2),
    ("pair", 2),
    ("duo", 2),
    ("honeymoon", 2),
    ("spouse", 2),
    ("husband", 2),
    ("wife", 2),
    ("trio", 3),
    ("quartet", 4),
];

/// Words that may come between a number and its noun.
const ADJECTIVES: [&str; 22] = [
    "its",
    "their",
    "these",
    "those",
    "different",
    "distinct",
    "unique",
    "separate",
    "various",
    "other",
    "single",
    "solo",
    "young",
    "major",
    "beautiful",
    "of",
    "the",
    "adult",
    "fellow",
    "interesting",
    "main",
    "new",
];

/// Nouns for times and places: a number before one does not count people.
const OTHER_NOUNS: [&str; 22] = [
    "day",
    "days",
    "week",
    "weeks",
    "night",
    "nights",
    "hour",
    "hours",
    "city",
    "cities",
    "town",
    "towns",
    "stop",
    "stops",
    "month",
    "months",
    "meals",
    "rooms",
    "dollars",
    "usd",
    "bucks",
    "locations",
];

/// Nouns for places to visit.
const CITIES: [&str; 8] = ["cities", "city", "towns", "town", "destinations", "stops", "locations", "places"];

/// The number of travellers; `None` if the text does not say. Numbers within the `taken` tokens refer to something
/// else.
pub(super) fn people(tokens: &[Token<'_>], taken: &[std::ops::Range<usize>]) -> Option<u32> {
    // The passes below go from the most specific pattern to the least specific, and the first match decides.
    let is_taken = |at: usize| taken.iter().any(|range| range.contains(&at));
    let free = |at: usize| count(tokens, at, PEOPLE_MAX).filter(|(value, _)| *value > 0 && !is_taken(at));
    let is_other = |at: usize| {
        let noun = tokens.get(at..).unwrap_or_default().iter().find(|it| !it.is_any(&ADJECTIVES));
        noun.is_some_and(|it| it.is_any(&OTHER_NOUNS))
    };
    // `party of 5`, `a group of three`, but not `a total of 3 cities`
    for at in 0..tokens.len() {
        if tokens[at].is_any(&GROUPS)
            && tokens.get(at + 1).is_some_and(|it| it.is("of"))
            && let Some((value, _)) = free(at + 2).filter(|(_, length)| !is_other(at + 2 + length))
        {
            return Some(value);
        }
    }
    // `2 people`, `two adult travelers`, `a single person`, `4 of us`
    for at in 0..tokens.len() {
        let number = match free(at) {
            // An amount of money is not a number of people.
            Some(_) if before(tokens, at).is_some_and(|it| it.is("$")) => None,
            Some((value, length)) => Some((value, at + length)),
            None if tokens[at].is_any(&["a", "single", "sole", "lone"]) => Some((1, at + 1)),
            None => None,
        };
        let Some((value, end)) = number else { continue };
        let noun = tokens[end..].iter().take(3).find(|it| !it.is_any(&ADJECTIVES));
        let is_us = tokens.get(end).is_some_and(|it| it.is("of"))
            && tokens.get(end + 1).is_some_and(|it| it.is_any(&["us", "them"]));
        if is_us {
            return Some(value);
        }
        if noun.is_some_and(|it| it.is_any(&PEOPLE)) {
            // `with two friends` does not include the speaker; `two friends` does.
            let with_me = noun.is_some_and(|it| it.is_any(&["friends", "colleagues"]))
                && tokens[at.saturating_sub(2)..at].iter().any(|it| it.is_any(&["with", "and"]));
            return Some(value + u32::from(with_me));
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        let Some((_, value)) = WORDS.iter().find(|(word, _)| token.is(word)) else { continue };
        // `a couple of cities` and `a solo trip for two`
        if *value == 1 || !is_other(at + 1) {
            return Some(*value);
        }
    }
    // `for two, leaving from`
    for at in 0..tokens.len() {
        let is_for =
            tokens[at].is("for") || tokens[at].is("of") && before(tokens, at).is_some_and(|it| it.is("us"));
        if is_for && let Some((value, length)) = free(at + 1) {
            let noun = tokens[at + 1 + length..].iter().find(|it| !it.is_any(&ADJECTIVES));
            if !noun.is_some_and(|it| it.is_any(&OTHER_NOUNS)) {
                return Some(value);
            }
        }
    }
    let has = |words: &[&str]| tokens.iter().any(|token| token.is_any(words));
    // A text that mentions nobody else means a single traveller; `we` does not say how many.
    let is_several =
        has(&["we", "our", "us", "we're", "we'll", "we'd", "we've", "ourselves", "family", "friends"]);
    (!is_several).then_some(1)
}

fn before<'s, 't>(tokens: &'s [Token<'t>], at: usize) -> Option<&'s Token<'t>> {
    at.checked_sub(1).and_then(|at| tokens.get(at))
}

/// The number of cities to visit; `None` if the text does not say.
pub(super) fn cities(tokens: &[Token<'_>]) -> Option<usize> {
    for at in 0..tokens.len() {
        let number = match count(tokens, at, DAYS_MAX as u32) {
            Some((value, length)) if tokens[at].kind != Kind::Mark => Some((value, at + length)),
            _ if tokens[at].is("couple") => Some((2, at + 1)),
            _ if tokens[at].is("single") => Some((1, at + 1)),
            _ => None,
        };
        let Some((value, end)) = number else { continue };
        let noun = tokens[end..].iter().take(4).find(|it| !it.is_any(&ADJECTIVES));
        if value > 0 && noun.is_some_and(|it| it.is_any(&CITIES)) {
            return Some(value as usize);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn people_are_counted() {
        let cases = [
            ("a trip for 2 people", Some(2)),
            ("We are a party of five", Some(5)),
            ("a solo trip", Some(1)),
            ("for two, leaving from Reno", Some(2)),
            ("for 3 days for the four of us", Some(4)),
            ("a couple of cities", Some(1)),
            ("a total of 3 cities", Some(1)),
            ("a total of 3 travelers", Some(3)),
            ("a couple wants to see a couple of cities", Some(2)),
            ("a two-person trip", Some(2)),
            ("a pair of travelers", Some(2)),
            ("Plan my trip", Some(1)),
            ("Plan our trip", None),
            ("I travel with three friends", Some(4)),
            ("a single person with $1,700", Some(1)),
            ("4 adult travelers", Some(4)),
            ("a trip with children under 10 for 6 individuals", Some(6)),
        ];
        for (text, expected) in cases {
            assert_eq!(people(&tokens(text), &[]), expected, "{text}");
        }
    }

    #[test]
    fn cities_are_counted() {
        let cases = [
            ("visit 3 unique cities", Some(3)),
            ("two different towns", Some(2)),
            ("a couple of cities", Some(2)),
            ("2 people visit cities", None),
        ];
        for (text, expected) in cases {
            assert_eq!(cities(&tokens(text)), expected, "{text}");
        }
    }
}
