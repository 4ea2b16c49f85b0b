//! What is wished for beside the budget: rooms, houses, food, and how not to travel.
//!
//! Each is looked for in a clause, so that a `not` belongs to what it stands with. A wish that the fields of a query
//! cannot hold is a doubt and no guess.

use super::token::Token;
use crate::query::{HouseRule, RoomType, TransportRule};

/// Cuisines that are known by their adjective.
const CUISINES: [&str; 30] = [
    "American",
    "Argentinian",
    "Brazilian",
    "British",
    "Caribbean",
    "Chinese",
    "Ethiopian",
    "French",
    "German",
    "Greek",
    "Hawaiian",
    "Indian",
    "Irish",
    "Italian",
    "Jamaican",
    "Japanese",
    "Korean",
    "Lebanese",
    "Mediterranean",
    "Mexican",
    "Moroccan",
    "Peruvian",
    "Polish",
    "Portuguese",
    "Russian",
    "Spanish",
    "Thai",
    "Tunisian",
    "Turkish",
    "Vietnamese",
];

/// Words that begin like this turn a wish around.
const NEGATIONS: [&str; 21] = [
    "no",
    "not",
    "non",
    "never",
    "without",
    "avoid",
    "avoiding",
    "avoids",
    "exclude",
    "excluding",
    "excludes",
    "nor",
    "neither",
    "cannot",
    "rather",
    "instead",
    "free",
    "none",
    "refrain",
    "skip",
    "prohibit",
];

/// Words behind what is turned around, as in `flights should be avoided`.
const NEGATED_BEHIND: [&str; 6] = ["avoided", "excluded", "unwanted", "undesired", "out", "off"];

/// Words that say that nothing is wished.
const INDIFFERENT: [&str; 11] = [
    "preference",
    "preferences",
    "restriction",
    "restrictions",
    "requirement",
    "requirements",
    "mind",
    "matter",
    "opposed",
    "flexible",
    "constraints",
];

/// Words that restrict: not to restrict is to allow.
const RESTRICT: [&str; 9] =
    ["restrict", "restricts", "restricting", "forbid", "forbids", "ban", "bans", "prohibit", "disallow"];

/// What begins a clause of its own.
const CLAUSES: [&str; 9] = [",", ";", ":", ".", "!", "?", "but", "although", "while"];

/// What is wished for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Wishes {
    pub(super) room: Option<RoomType>,
    pub(super) rule: Option<HouseRule>,
    pub(super) cuisines: Vec<String>,
    pub(super) ban: Option<TransportRule>,
    /// What the fields of a query cannot hold.
    pub(super) doubts: Vec<String>,
}

/// Reads all wishes. The `taken` pieces are names of something else.
pub(super) fn wishes(tokens: &[Token<'_>], taken: &[std::ops::Range<usize>]) -> Wishes {
    let mut wishes = Wishes::default();
    for clause in tokens.split(|token| token.is_any(&CLAUSES)) {
        if is_indifferent(clause) {
            continue;
        }
        transport(clause, &mut wishes);
        room(clause, &mut wishes);
        rule(clause, &mut wishes);
    }
    for (at, token) in tokens.iter().enumerate() {
        let is_taken = taken.iter().any(|range| range.contains(&at));
        if let Some(cuisine) = CUISINES.iter().find(|cuisine| token.raw == **cuisine).filter(|_| !is_taken)
            && !wishes.cuisines.iter().any(|it| it == cuisine)
        {
            wishes.cuisines.push((*cuisine).to_owned());
        }
    }
    wishes
}

fn is_negation(token: &Token<'_>) -> bool {
    token.is_any(&NEGATIONS) || token.word.ends_with("n't")
}

/// `We have no preference for flights` wishes nothing.
fn is_indifferent(clause: &[Token<'_>]) -> bool {
    let at = clause.iter().position(|token| token.is_any(&INDIFFERENT));
    at.is_some_and(|at| {
        let near = &clause[at.saturating_sub(4)..at];
        // `No visitor restrictions` allows visitors.
        let is_of_house = clause[at].word.starts_with("restriction") && clause.iter().any(is_rule);
        clause[at].is("flexible") || near.iter().any(is_negation) && !is_of_house
    })
}

/// Whether what stands at a position is turned around.
fn is_negated(clause: &[Token<'_>], at: usize) -> bool {
    let before = clause[..at].iter().rposition(is_negation);
    let is_before = before.is_some_and(|negation| {
        // In `we will not fly and will drive` the second is no longer turned around.
        !clause[negation..at].iter().any(|it| it.is_any(&["will", "and"])) || clause[negation].is("neither")
    });
    let behind = &clause[at..];
    is_before
        || behind.iter().any(|it| it.is_any(&NEGATED_BEHIND))
        || behind
            .windows(2)
            .any(|pair| pair[0].word.ends_with("n't") || pair[0].is("not") && !pair[1].is("only"))
            && !clause[..at].iter().any(|it| it.is_any(&["prefer", "want", "like"]))
}

fn transport(clause: &[Token<'_>], wishes: &mut Wishes) {
    for (at, token) in clause.iter().enumerate() {
        let next = |word: &[&str]| clause.get(at + 1).is_some_and(|it| it.is_any(word));
        let is_air = token.word.starts_with("flight")
            || token.is_any(&[
                "fly",
                "flying",
                "airplane",
                "airplanes",
                "airline",
                "airlines",
                "plane",
                "planes",
            ])
            || token.is("air") && next(&["travel", "transport", "transportation", "travels"])
            || token.is("aerial");
        let is_car = token.is_any(&["drive", "driving", "self", "car"])
            && (token.is("self") && next(&["drive", "driving", "driven"])
                || token.is_any(&["drive", "driving"])
                    && clause[at..].iter().take(4).any(|it| it.is_any(&["ourselves", "myself", "oneself"]))
                || token.is("driving") && is_negated(clause, at)
                || token.is("drive") && is_negated(clause, at));
        let is_ground_only = token.is_any(&["ground", "land", "road"])
            && clause.iter().any(|it| it.is_any(&["only", "solely", "exclusively"]))
            && clause.iter().any(|it| {
                it.word.starts_with("t")
                    && (it.word.starts_with("transport") || it.word.starts_with("travel"))
            });
        let ban = if is_air && is_negated(clause, at) || is_ground_only {
            TransportRule::NoFlight
        } else if is_car && is_negated(clause, at) {
            TransportRule::NoSelfDriving
        } else {
            continue;
        };
        match wishes.ban {
            None => wishes.ban = Some(ban),
            Some(other) if other != ban => {
                wishes
                    .doubts
                    .push("neither flights nor driving oneself are wished for; a query holds one".to_owned());
            }
            Some(_) => {}
        }
    }
}

fn room(clause: &[Token<'_>], wishes: &mut Wishes) {
    let is_house = |it: &Token<'_>| {
        it.is_any(&[
            "room",
            "rooms",
            "home",
            "homes",
            "house",
            "houses",
            "apartment",
            "apartments",
            "place",
            "places",
            "unit",
            "units",
            "accommodation",
            "accommodations",
            "lodging",
            "lodgings",
            "space",
            "spaces",
            "apt",
            "property",
        ])
    };
    for (at, token) in clause.iter().enumerate() {
        let is_near_house =
            clause[at + 1..].iter().take(4).any(is_house) || clause[..at].iter().any(is_house);
        let found = match token.word.as_str() {
            "entire" | "whole" if clause[at + 1..].iter().take(3).any(is_house) => RoomType::Entire,
            "private" if is_near_house => RoomType::Private,
            "unshared" => RoomType::NotShared,
            "shared" | "share" | "sharing" if is_negated(clause, at) => RoomType::NotShared,
            "shared" if is_near_house => RoomType::Shared,
            "share" | "sharing" if clause[at + 1..].iter().take(3).any(is_house) => RoomType::Shared,
            _ => continue,
        };
        // Who wants a private room and none that is shared wants a private room.
        if wishes.room.is_none_or(|room| room == RoomType::NotShared) {
            wishes.room = Some(found);
        }
    }
}

fn is_rule(token: &Token<'_>) -> bool {
    rule_of(token).is_some()
}

fn rule_of(token: &Token<'_>) -> Option<HouseRule> {
    Some(match token.word.as_str() {
        "parties" | "partying" | "party" => HouseRule::Parties,
        "smoking" | "smoke" | "smoker" | "smokers" => HouseRule::Smoking,
        "children" | "child" | "kids" | "kid" | "toddler" | "toddlers" | "infant" | "infants" => {
            HouseRule::Children
        }
        "visitors" | "visitor" => HouseRule::Visitors,
        "pets" | "pet" | "dog" | "dogs" | "cat" | "cats" => HouseRule::Pets,
        _ => return None,
    })
}

fn rule(clause: &[Token<'_>], wishes: &mut Wishes) {
    for (at, token) in clause.iter().enumerate() {
        let Some(rule) = rule_of(token) else { continue };
        let is_group = token.is("party") && clause.get(at + 1).is_some_and(|it| it.is("of"));
        let is_restricted =
            clause.iter().any(|it| it.is_any(&RESTRICT) || it.word.starts_with("restriction"));
        // `No smoking`, `smoke-free`: the field says what is allowed.
        let is_ruled_out = clause[at.saturating_sub(2)..at].iter().any(is_negation)
            || clause.get(at + 1).is_some_and(|it| it.is("free"));
        if is_group {
            continue;
        }
        if is_ruled_out && !is_restricted {
            wishes
                .doubts
                .push(format!("`{}` is ruled out; a query holds only what has to be allowed", token.raw));
            continue;
        }
        match wishes.rule {
            None => wishes.rule = Some(rule),
            Some(other) if other != rule => {
                wishes.doubts.push(format!("`{}` is wished for, too; a query holds one rule", token.raw));
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    fn of(text: &str) -> Wishes {
        wishes(&tokens(text), &[])
    }

    #[test]
    fn bans_are_read() {
        let cases = [
            ("We prefer not to fly.", Some(TransportRule::NoFlight)),
            ("Flights should be avoided.", Some(TransportRule::NoFlight)),
            ("Transportation should not involve any flights.", Some(TransportRule::NoFlight)),
            ("We'd rather avoid air travel, driving is fine", Some(TransportRule::NoFlight)),
            ("We will not be flying and will drive there.", Some(TransportRule::NoFlight)),
            ("We don't plan on self-driving.", Some(TransportRule::NoSelfDriving)),
            ("Non-self-driving transportation, please", Some(TransportRule::NoSelfDriving)),
            ("We would prefer not to drive ourselves", Some(TransportRule::NoSelfDriving)),
            ("I don't mind flying.", None),
            ("We have no preference for flights.", None),
            ("We will fly.", None),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text).ban, expected, "{text}");
        }
        assert_eq!(of("No flights, and no driving ourselves.").doubts.len(), 1);
    }

    #[test]
    fn rooms_are_read() {
        let cases = [
            ("an entire apartment", Some(RoomType::Entire)),
            ("Private rooms, please", Some(RoomType::Private)),
            ("rooms that are not shared", Some(RoomType::NotShared)),
            ("non-shared rooms", Some(RoomType::NotShared)),
            ("We can stay in a shared room", Some(RoomType::Shared)),
            ("Accommodations that aren't shared and are private", Some(RoomType::Private)),
            ("the entire trip", None),
            ("We have no specific requirements for private rooms", None),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text).room, expected, "{text}");
        }
    }

    #[test]
    fn rules_are_read() {
        let cases = [
            ("pet-friendly places", Some(HouseRule::Pets)),
            ("a house that allows parties for a party of 5", Some(HouseRule::Parties)),
            ("a party of 5", None),
            ("smoking must be permitted", Some(HouseRule::Smoking)),
            ("no restrictions on visitors", Some(HouseRule::Visitors)),
            ("We have kids with us", Some(HouseRule::Children)),
            ("a non-smoking room", None),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text).rule, expected, "{text}");
        }
        assert_eq!(of("a non-smoking room").doubts.len(), 1);
    }

    #[test]
    fn cuisines_are_read_once_each() {
        assert_eq!(of("Thai, French and Thai food").cuisines, ["Thai", "French"]);
        assert!(of("polish the plan").cuisines.is_empty());
    }
}
