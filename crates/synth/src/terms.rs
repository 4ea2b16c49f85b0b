//! With which wording and in which position a passage states a requirement.

use crate::grammar::{ClockBound, ClockLink, Direction, Group, Link, WordingIndex};

/// The position of the words of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Position {
    /// After the subject of their clause: "A happens before B".
    Behind,
    /// Before the subject: "Before B, A happens".
    Front,
    /// In a relative clause: "A, which precedes B, ...".
    Relative,
}

/// The wording of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The group of wordings that it belongs to, and which of them it is.
    pub(crate) group: Group,
    pub(crate) index: WordingIndex,
    /// What it says about its subject: that it comes before, or after.
    pub(crate) direction: Direction,
    /// Whether it is followed by a clock time instead of actions.
    pub(crate) is_of_clock: bool,
}

impl Terms {
    pub(crate) fn of_link(link: Link, direction: Direction) -> Self {
        let (group, index) = match link {
            Link::Verb { verb } => (Group::Verb(direction), verb),
            Link::Adverbial { preposition, .. } => (Group::Preposition(direction), preposition),
        };
        Self { group, index, direction, is_of_clock: false }
    }

    pub(crate) fn of_conjunction(index: WordingIndex, direction: Direction) -> Self {
        Self { group: Group::Conjunction(direction), index, direction, is_of_clock: false }
    }

    pub(crate) fn of_clock(ClockBound { direction, link, .. }: ClockBound, position: Position) -> Self {
        let (group, index) = match link {
            ClockLink::Verb { verb } => (Group::ClockVerb(direction), verb),
            ClockLink::Adverbial { preposition, .. } if position == Position::Front => {
                (Group::ClockFront(direction), preposition)
            }
            ClockLink::Adverbial { preposition, .. } => (Group::ClockPreposition(direction), preposition),
        };
        Self { group, index, direction, is_of_clock: true }
    }
}

/// How one passage of a paragraph states one requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phrasing {
    pub(crate) terms: Terms,
    pub(crate) position: Position,
    /// Whether its clause has a list of actions on at least one side, and so states several requirements at once.
    pub(crate) has_list: bool,
}
