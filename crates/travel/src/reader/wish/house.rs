//! The kind of room, and what the accommodation must allow.

use super::super::token::Token;
use super::{Wishes, is_negated, is_negation};
use crate::query::{HouseRule, RoomType};

/// Nouns for accommodation.
const HOUSES: [&str; 20] = [
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
];

/// Words of restriction: a negated restriction is a permission.
const RESTRICT: [&str; 9] =
    ["restrict", "restricts", "restricting", "forbid", "forbids", "ban", "bans", "prohibit", "disallow"];

/// Finds the kind of room that a clause asks for.
pub(super) fn read_room(clause: &[Token<'_>], wishes: &mut Wishes) {
    for (at, token) in clause.iter().enumerate() {
        let is_near_house =
            clause[at + 1..].iter().take(4).any(is_house) || clause[..at].iter().any(is_house);
        let found = match token.word.as_str() {
            "entire" | "whole" if clause[at + 1..].iter().take(3).any(is_house) => RoomType::Entire,
            "ourselves" | "myself" if to_oneself(clause, at) => RoomType::Entire,
            "private" if is_near_house => RoomType::Private,
            "unshared" => RoomType::NotShared,
            // Before the arms without a negation, which would match `not shared` too.
            "shared" | "share" | "sharing" if is_negated(clause, at) => RoomType::NotShared,
            "shared" if is_near_house => RoomType::Shared,
            "share" | "sharing" if clause[at + 1..].iter().take(3).any(is_house) => RoomType::Shared,
            _ => continue,
        };
        // A private room that is not shared is still a private room.
        if wishes.room.is_none_or(|room| room == RoomType::NotShared) {
            wishes.room = Some(found);
        }
    }
}

fn is_house(token: &Token<'_>) -> bool {
    token.is_any(&HOUSES)
}

/// `A place to ourselves` means an entire home.
fn to_oneself(clause: &[Token<'_>], at: usize) -> bool {
    let before = &clause[at.saturating_sub(4)..at];
    before.last().is_some_and(|it| it.is("to")) && before.iter().any(is_house)
}

/// The house rule that a word refers to.
pub(super) fn rule_of(token: &Token<'_>) -> Option<HouseRule> {
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

/// Finds what a clause wants the accommodation to allow.
pub(super) fn read_rule(clause: &[Token<'_>], wishes: &mut Wishes) {
    for (at, token) in clause.iter().enumerate() {
        let Some(rule) = rule_of(token) else { continue };
        let is_group = token.is("party") && clause.get(at + 1).is_some_and(|it| it.is("of"));
        let is_restricted =
            clause.iter().any(|it| it.is_any(&RESTRICT) || it.word.starts_with("restriction"));
        // `No smoking`, `smoke-free`: the field expresses only what must be allowed.
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
