//! Means of travel to avoid.

use super::super::token::Token;
use super::{Wishes, is_negated};
use crate::query::TransportRule;

/// Words for air travel, besides those that start with `flight`.
const AIR: [&str; 9] =
    ["fly", "flying", "airplane", "airplanes", "airline", "airlines", "plane", "planes", "aerial"];

/// Words that complete `air` to air travel, and `self` to driving oneself.
const BEHIND_AIR: [&str; 4] = ["travel", "travels", "transport", "transportation"];
const BEHIND_SELF: [&str; 3] = ["drive", "driving", "driven"];

/// Words for ground travel, which exclude flights if combined with `only`.
const GROUND: [&str; 3] = ["ground", "land", "road"];
const ONLY: [&str; 3] = ["only", "solely", "exclusively"];

/// Finds the means of travel that a clause excludes.
pub(super) fn read(clause: &[Token<'_>], wishes: &mut Wishes) {
    let is_only = clause.iter().any(|it| it.is_any(&ONLY));
    for (at, token) in clause.iter().enumerate() {
        let next = |words: &[&str]| clause.get(at + 1).is_some_and(|it| it.is_any(words));
        let is_air =
            token.word.starts_with("flight") || token.is_any(&AIR) || token.is("air") && next(&BEHIND_AIR);
        let is_driving = token.is("self") && next(&BEHIND_SELF) || token.is_any(&["drive", "driving"]);
        let is_on_the_ground = token.is_any(&GROUND) && is_only;
        let ban = if is_air && is_negated(clause, at) || is_on_the_ground {
            TransportRule::NoFlight
        } else if is_driving && is_negated(clause, at) {
            TransportRule::NoSelfDriving
        } else {
            continue;
        };
        match wishes.ban {
            None => wishes.ban = Some(ban),
            Some(other) if other != ban => {
                let doubt = "neither flights nor driving oneself are wished for; a query holds one of them";
                wishes.doubts.push(doubt.to_owned());
            }
            Some(_) => {}
        }
    }
}
