//! The wordings of the grammar's terminals.

use std::sync::OnceLock;

use serde::Deserialize;
use thiserror::Error;

use crate::grammar::{Direction, Group, JOINER_WORDS};

/// Wordings of every terminal. The generator knows a wording's meaning from its group; the reader (`crate::read`) has
/// its own hand-written file for that, so that a wording in the wrong group is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wordings {
    verb_before: Vec<[String; 2]>,
    verb_after: Vec<[String; 2]>,
    neutral: Vec<[String; 2]>,
    preposition_before: Vec<String>,
    preposition_after: Vec<String>,
    conjunction_before: Vec<String>,
    conjunction_after: Vec<String>,
    clock: ClockWordings,
}

/// Wordings around a clock time. For the direction `Before` they are about the subject's end, for `After` about its
/// start.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ClockWordings {
    verb: [Vec<[String; 2]>; 2],
    boundary: [Vec<[String; 2]>; 2],
    preposition: [Vec<String>; 2],
    front: [Vec<String>; 2],
}

/// Why a file of wordings cannot be used.
#[derive(Debug, Error)]
#[error("wordings: {0}")]
pub struct WordingError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    verb: VerbFile,
    preposition: PairFile,
    conjunction: PairFile,
    clock: ClockFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerbFile {
    before: Vec<[String; 2]>,
    after: Vec<[String; 2]>,
    neutral: Vec<[String; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairFile {
    before: Vec<String>,
    after: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockFile {
    verb: ClockVerbFile,
    boundary: BoundaryFile,
    preposition: ClockPairFile,
    front: ClockPairFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockVerbFile {
    ends_by: Vec<[String; 2]>,
    starts_from: Vec<[String; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundaryFile {
    end: Vec<[String; 2]>,
    start: Vec<[String; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockPairFile {
    by: Vec<String>,
    from: Vec<String>,
}

const SCHEMA: &str = "planproof/wordings/v1";
/// Most wordings of one terminal: an index must fit into a byte.
const GROUP_MAX: usize = 200;

impl Wordings {
    /// The wordings that come with planproof.
    pub fn shipped() -> &'static Wordings {
        static WORDINGS: OnceLock<Wordings> = OnceLock::new();
        WORDINGS.get_or_init(|| {
            Wordings::from_json(include_str!("../data/wordings.json"))
                .expect("the shipped wordings are checked by a test")
        })
    }

    /// Reads wordings from JSON.
    ///
    /// # Errors
    /// The file does not have the schema, a terminal has no wording or more than 200, or a verb phrase does not show
    /// its number: "A and B, which must follow C" can mean B alone, "A and B, which follow C" cannot.
    pub fn from_json(text: &str) -> Result<Self, WordingError> {
        let File { schema, verb, preposition, conjunction, clock } =
            serde_json::from_str(text).map_err(|error| WordingError(error.to_string()))?;
        if schema != SCHEMA {
            return Err(WordingError(format!("schema is \"{schema}\", expected \"{SCHEMA}\"")));
        }
        // Every verb phrase that can follow "which" has to show its number.
        let verbs = [&verb.before, &verb.after, &verb.neutral, &clock.verb.ends_by, &clock.verb.starts_from];
        let verbs = verbs.into_iter().chain([&clock.boundary.end, &clock.boundary.start]).flatten();
        if let Some([phrase, _]) = { verbs }.find(|[singular, plural]| singular == plural) {
            return Err(WordingError(format!(
                "the verb phrase \"{phrase}\" is the same in the singular and in the plural, so that a relative clause \
                 with it would not show whether it is about a whole list or about its last item"
            )));
        }
        let clock = ClockWordings {
            verb: [clock.verb.ends_by, clock.verb.starts_from],
            boundary: [clock.boundary.end, clock.boundary.start],
            preposition: [clock.preposition.by, clock.preposition.from],
            front: [clock.front.by, clock.front.from],
        };
        let clock_verbs = clock.verb.iter().chain(&clock.boundary).map(Vec::len);
        let clock_prepositions = clock.preposition.iter().chain(&clock.front).map(Vec::len);
        let sizes = [
            verb.before.len(),
            verb.after.len(),
            verb.neutral.len(),
            preposition.before.len(),
            preposition.after.len(),
            conjunction.before.len(),
            conjunction.after.len(),
        ];
        let mut sizes = sizes.into_iter().chain(clock_verbs).chain(clock_prepositions);
        if sizes.any(|size| size == 0 || size > GROUP_MAX) {
            return Err(WordingError(format!("each terminal needs 1 to {GROUP_MAX} wordings")));
        }
        Ok(Self {
            verb_before: verb.before,
            verb_after: verb.after,
            neutral: verb.neutral,
            preposition_before: preposition.before,
            preposition_after: preposition.after,
            conjunction_before: conjunction.before,
            conjunction_after: conjunction.after,
            clock,
        })
    }

    /// How many wordings a terminal has.
    pub(crate) fn count(&self, group: Group) -> usize {
        match group {
            Group::Verb(direction) => self.verbs(direction).len(),
            Group::Neutral => self.neutral.len(),
            Group::Preposition(direction) => self.prepositions(direction).len(),
            Group::Conjunction(direction) => self.conjunctions(direction).len(),
            Group::ClockVerb(direction) => self.clock_verbs(direction).len(),
            Group::Boundary(direction) => self.boundaries(direction).len(),
            Group::ClockPreposition(direction) => self.clock_prepositions(direction).len(),
            Group::ClockFront(direction) => self.clock_fronts(direction).len(),
            Group::Joiner => JOINER_WORDS.len(),
        }
    }

    /// A wording of a terminal, verbs in the singular.
    pub(crate) fn text(&self, group: Group, index: u8) -> &str {
        let index = usize::from(index);
        match group {
            Group::Verb(direction) => &self.verbs(direction)[index][0],
            Group::Neutral => &self.neutral[index][0],
            Group::Preposition(direction) => &self.prepositions(direction)[index],
            Group::Conjunction(direction) => &self.conjunctions(direction)[index],
            Group::ClockVerb(direction) => &self.clock_verbs(direction)[index][0],
            Group::Boundary(direction) => &self.boundaries(direction)[index][0],
            Group::ClockPreposition(direction) => &self.clock_prepositions(direction)[index],
            Group::ClockFront(direction) => &self.clock_fronts(direction)[index],
            Group::Joiner => JOINER_WORDS[index],
        }
    }

    /// Verb phrases of a direction: singular and plural.
    pub(crate) fn verbs(&self, direction: Direction) -> &[[String; 2]] {
        match direction {
            Direction::Before => &self.verb_before,
            Direction::After => &self.verb_after,
        }
    }

    /// Neutral verb phrases: singular and plural.
    pub(crate) fn neutrals(&self) -> &[[String; 2]] {
        &self.neutral
    }

    /// Prepositions of a direction.
    pub(crate) fn prepositions(&self, direction: Direction) -> &[String] {
        match direction {
            Direction::Before => &self.preposition_before,
            Direction::After => &self.preposition_after,
        }
    }

    /// Sequential conjunctions of a direction.
    pub(crate) fn conjunctions(&self, direction: Direction) -> &[String] {
        match direction {
            Direction::Before => &self.conjunction_before,
            Direction::After => &self.conjunction_after,
        }
    }

    /// Verb phrases that a clock time follows, singular and plural: "has to end by", "must not start before".
    pub(crate) fn clock_verbs(&self, direction: Direction) -> &[[String; 2]] {
        &self.clock.verb[direction as usize]
    }

    /// Verb phrases for the end or the start of a task, singular and plural: "is finished", "begins".
    pub(crate) fn boundaries(&self, direction: Direction) -> &[[String; 2]] {
        &self.clock.boundary[direction as usize]
    }

    /// Prepositions between a boundary and a clock time: "by", "no earlier than".
    pub(crate) fn clock_prepositions(&self, direction: Direction) -> &[String] {
        &self.clock.preposition[direction as usize]
    }

    /// Prepositions of a clock time at the head of its clause; not all of the others are good English there.
    pub(crate) fn clock_fronts(&self, direction: Direction) -> &[String] {
        &self.clock.front[direction as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_terminal_has_seven_wordings() {
        let words = Wordings::shipped();
        for direction in [Direction::Before, Direction::After] {
            assert!(words.verbs(direction).len() >= 7);
            assert!(words.prepositions(direction).len() >= 7);
            assert!(words.conjunctions(direction).len() >= 7);
            assert!(words.clock_verbs(direction).len() >= 7);
            assert!(words.boundaries(direction).len() >= 7);
            assert!(words.clock_prepositions(direction).len() >= 7);
            assert!(words.clock_fronts(direction).len() >= 7);
        }
        assert!(words.neutrals().len() >= 7);
    }

    #[test]
    fn a_verb_phrase_without_a_number_is_refused() {
        let file = include_str!("../data/wordings.json");
        for [one, many] in
            [["precedes", "precede"], ["happens", "happen"], ["has to end by", "have to end by"]]
        {
            let modal = file.replace(&format!("[\"{one}\", \"{many}\"]"), "[\"must do\", \"must do\"]");
            assert_ne!(modal, file);
            let error = Wordings::from_json(&modal).expect_err(one).to_string();
            assert!(error.contains("\"must do\" is the same in the singular"), "{error}");
        }
    }
}
