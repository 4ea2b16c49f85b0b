//! Wishes besides the budget: rooms, house rules, food, and means of travel to avoid.
//!
//! Each is searched for within a clause, so that a `not` applies only there. A wish that the fields of a query
//! cannot express is a doubt, not a guess.

mod ban;
mod house;

use super::token::Token;
use crate::query::{HouseRule, RoomType, TransportRule};

/// Cuisines, named by their adjectives.
pub(crate) const CUISINES: [&str; 29] = [
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
    "Portuguese",
    "Russian",
    "Spanish",
    "Thai",
    "Tunisian",
    "Turkish",
    "Vietnamese",
];

/// Words that start like this negate a wish.
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

/// Words that negate what comes before them, as in `flights should be avoided` and `flights are out of the
/// question`.
const NEGATED_BEHIND: [&str; 6] = ["avoided", "excluded", "unwanted", "undesired", "ruled", "question"];

/// Verbs in front of such a participle, and the same verbs with `not`.
const PASSIVES: [&str; 4] = ["is", "are", "should", "must"];
const PASSIVES_DENIED: [&str; 4] = ["isn't", "aren't", "shouldn't", "mustn't"];

/// Words that express indifference.
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

/// Words and marks that start a new clause.
const CLAUSES: [&str; 9] = [",", ";", ":", ".", "!", "?", "but", "although", "while"];

/// The wishes found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Wishes {
    pub(super) room: Option<RoomType>,
    pub(super) rule: Option<HouseRule>,
    pub(super) cuisines: Vec<String>,
    pub(super) ban: Option<TransportRule>,
    /// Wishes that the fields of a query cannot express.
    pub(super) doubts: Vec<String>,
}

/// Finds all wishes. The `taken` tokens are names of something else.
pub(super) fn wishes(tokens: &[Token<'_>], taken: &[std::ops::Range<usize>]) -> Wishes {
    let mut wishes = Wishes::default();
    for clause in tokens.split(|token| token.is_any(&CLAUSES)) {
        if is_indifferent(clause) {
            continue;
        }
        ban::read(clause, &mut wishes);
        house::read_room(clause, &mut wishes);
        house::read_rule(clause, &mut wishes);
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

/// Whether a clause expresses no wish, such as `We have no preference for flights`.
fn is_indifferent(clause: &[Token<'_>]) -> bool {
    let at = clause.iter().position(|token| token.is_any(&INDIFFERENT));
    at.is_some_and(|at| {
        let near = &clause[at.saturating_sub(4)..at];
        // `No visitor restrictions` allows visitors.
        let is_of_house = clause[at].word.starts_with("restriction")
            && clause.iter().any(|it| house::rule_of(it).is_some());
        clause[at].is("flexible") || near.iter().any(is_negation) && !is_of_house
    })
}

/// Whether the word at a position is negated.
fn is_negated(clause: &[Token<'_>], at: usize) -> bool {
    let before = clause[..at].iter().rposition(is_negation);
    let is_before = before.is_some_and(|negation| {
        // In `we will not fly and will drive`, the second verb is not negated.
        !clause[negation..at].iter().any(|it| it.is_any(&["will", "and"])) || clause[negation].is("neither")
    });
    let behind = clause[at..].iter().take_while(|it| !it.is("and"));
    let behind: Vec<&Token<'_>> = behind.collect();
    // `Flights are not wanted`, but `we fly and do not drive`.
    let is_denied = behind.windows(2).any(|pair| pair[0].is_any(&PASSIVES) && pair[1].is("not"))
        || behind.iter().any(|it| it.is_any(&PASSIVES_DENIED));
    is_before || is_denied || behind.iter().any(|it| it.is_any(&NEGATED_BEHIND))
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
            ("Flights are not wanted.", Some(TransportRule::NoFlight)),
            ("We will fly and not drive ourselves.", Some(TransportRule::NoSelfDriving)),
            ("Ground transportation only", Some(TransportRule::NoFlight)),
            ("We look for flights out of Reno", None),
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
            ("a place to ourselves", Some(RoomType::Entire)),
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
