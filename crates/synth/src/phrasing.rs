//! How a paragraph phrases its requirements: with which wording, and in which kind of clause.
//!
//! A case's file says where a requirement is stated, but not how. The generator's tree does, and it is recovered
//! from the paragraph in the same way as for variants (`recover.rs`). The phrasing is therefore known for exactly
//! those cases that this version's generator can have written, whichever version wrote them.

use crate::case::PlanningCase;
use crate::grammar::{Direction, Group};
use crate::recover::recover;
use crate::terms::{Phrasing, Position};
use crate::text::write_paragraph;
use crate::wording::Wordings;

/// What a requirement demands, and in which kind of clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RelationKind {
    Before,
    /// "A precedes B", with a list of actions on at least one side.
    BeforeList,
    /// With the phrase in front of its clause: "Before B, A happens".
    BeforeFront,
    /// "A precedes B", in a relative clause.
    BeforeRelative,
    After,
    /// "A follows B", with a list of actions on at least one side.
    AfterList,
    /// "A follows B", with the phrase in front of its clause.
    AfterFront,
    /// "A follows B", in a relative clause.
    AfterRelative,
    /// "A has to end by 14:30".
    EndsBy,
    /// "A has to wait until 09:00".
    StartsFrom,
    /// A rule of the topic that orders two actions.
    OrderRule,
    /// A rule of the topic that one action takes what another one returned.
    FlowRule,
}

impl RelationKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Before,
        Self::BeforeList,
        Self::BeforeFront,
        Self::BeforeRelative,
        Self::After,
        Self::AfterList,
        Self::AfterFront,
        Self::AfterRelative,
        Self::EndsBy,
        Self::StartsFrom,
        Self::OrderRule,
        Self::FlowRule,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before a single action",
            Self::BeforeList => "before, with a list",
            Self::BeforeFront => "before, in front",
            Self::BeforeRelative => "before, in a relative clause",
            Self::After => "after a single action",
            Self::AfterList => "after, with a list",
            Self::AfterFront => "after, in front",
            Self::AfterRelative => "after, in a relative clause",
            Self::EndsBy => "ends by a clock time",
            Self::StartsFrom => "starts from a clock time",
            Self::OrderRule => "rule of the topic",
            Self::FlowRule => "value passed on",
        }
    }
}

impl Phrasing {
    /// The wording, with verbs in the singular, and whether it is in front of its clause: "precedes", "before",
    /// "before, in front".
    pub fn wording(self) -> String {
        wording(self.terms.group, self.terms.index, self.position == Position::Front)
    }

    /// What it demands, and in which kind of clause.
    pub fn relation(self) -> RelationKind {
        match (self.terms.is_of_clock, self.terms.direction, self.position, self.has_list) {
            (true, Direction::Before, ..) => RelationKind::EndsBy,
            (true, Direction::After, ..) => RelationKind::StartsFrom,
            (false, Direction::Before, Position::Relative, _) => RelationKind::BeforeRelative,
            (false, Direction::Before, Position::Front, _) => RelationKind::BeforeFront,
            (false, Direction::Before, _, true) => RelationKind::BeforeList,
            (false, Direction::Before, _, false) => RelationKind::Before,
            (false, Direction::After, Position::Relative, _) => RelationKind::AfterRelative,
            (false, Direction::After, Position::Front, _) => RelationKind::AfterFront,
            (false, Direction::After, _, true) => RelationKind::AfterList,
            (false, Direction::After, _, false) => RelationKind::After,
        }
    }

    /// Every wording that [`wording`](Self::wording) can return, each once.
    pub fn wordings() -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for direction in [Direction::Before, Direction::After] {
            for (group, can_be_behind, can_be_in_front) in [
                (Group::Verb(direction), true, false),
                (Group::Preposition(direction), true, true),
                (Group::Conjunction(direction), true, true),
                (Group::ClockVerb(direction), true, false),
                (Group::ClockPreposition(direction), true, false),
                (Group::ClockFront(direction), false, true),
            ] {
                let count = Wordings::shipped().count(group);
                for index in (0..count).filter_map(|index| u8::try_from(index).ok()) {
                    let behind = can_be_behind.then(|| wording(group, index, false));
                    let in_front = can_be_in_front.then(|| wording(group, index, true));
                    all.extend(behind.into_iter().chain(in_front));
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn wording(group: Group, index: u8, is_in_front: bool) -> String {
    let text = Wordings::shipped().text(group, index);
    if is_in_front { format!("{text}, in front") } else { text.to_owned() }
}

impl PlanningCase {
    /// How the paragraph states each requirement, in the order of [`PlanningCase::constraint_ids`]: one entry for each
    /// passage, none for a rule. `None` if the generator cannot have written the paragraph with the shipped
    /// wordings.
    ///
    /// Takes some hundred comparisons of short texts per action.
    pub fn phrasings(&self) -> Option<Vec<Vec<Phrasing>>> {
        let words = Wordings::shipped();
        let texts: Vec<String> = self.actions.iter().map(|action| action.text.clone()).collect();
        let written = write_paragraph(&recover(self, words)?, words, &texts);
        let of_pairs = self.constraints.iter().map(|stated| {
            let is_stated = |first: u8, second: u8| {
                (usize::from(first), usize::from(second)) == (stated.first, stated.second)
            };
            let pairs = written.pairs.iter().filter(|pair| is_stated(pair.first, pair.second));
            // Several places can state a pair, and a case from a file need not list all of them.
            let pairs = pairs.filter(|pair| stated.sources.contains(&pair.source));
            pairs.map(|pair| pair.phrasing).collect()
        });
        let of_times = self.time.iter().flat_map(|time| &time.bounds).map(|stated| {
            let times = written.times.iter().filter(|time| usize::from(time.action) == stated.action);
            let times =
                times.filter(|time| time.bound == stated.bound && stated.sources.contains(&time.source));
            times.map(|time| time.phrasing).collect()
        });
        Some(of_pairs.chain(of_times).collect())
    }
}
