//! The meaning of each wording, for the reader.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;
use thiserror::Error;

use super::tokens::Token;

/// The meaning of a phrase for its subject (or main clause) and its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Side {
    Earlier,
    Later,
}

/// The number a verb phrase agrees with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Number {
    One,
    Many,
    Any,
}

/// The meaning of a phrase for its subject and a clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClockMeaning {
    EndsBy,
    StartsFrom,
}

/// Which end of its subject a verb phrase is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Edge {
    Start,
    End,
}

/// The meaning of a preposition before a clock time: the last minute allowed, or the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Limit {
    Latest,
    Earliest,
}

/// Part of speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Verb(Side, Number),
    Neutral(Number),
    Preposition(Side),
    Conjunction(Side),
    ClockVerb(ClockMeaning, Number),
    Boundary(Edge, Number),
    ClockPreposition(Limit),
}

/// The reader's dictionary: phrases and what they mean.
#[derive(Debug, Clone)]
pub struct Directions {
    /// Phrases by their first word, each with its words and possible meanings.
    entries: HashMap<String, Vec<(Vec<String>, Part)>>,
}

/// Why a dictionary cannot be used.
#[derive(Debug, Error)]
#[error("directions: {0}")]
pub struct DirectionsError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    verb: BTreeMap<String, (Side, Number)>,
    neutral: BTreeMap<String, Number>,
    preposition: BTreeMap<String, Side>,
    conjunction: BTreeMap<String, Side>,
    clock_verb: BTreeMap<String, (ClockMeaning, Number)>,
    boundary: BTreeMap<String, (Edge, Number)>,
    clock_preposition: BTreeMap<String, Limit>,
}

const SCHEMA: &str = "planproof/directions/v1";

impl Directions {
    /// The dictionary of the shipped wordings.
    pub fn shipped() -> &'static Directions {
        static DIRECTIONS: OnceLock<Directions> = OnceLock::new();
        DIRECTIONS.get_or_init(|| {
            Directions::from_json(include_str!("../../data/directions.json"))
                .expect("the shipped dictionary is checked by a test")
        })
    }

    /// Reads a dictionary from JSON.
    ///
    /// # Errors
    /// The file does not have the schema, or has an empty phrase.
    pub fn from_json(text: &str) -> Result<Self, DirectionsError> {
        let file: File = serde_json::from_str(text).map_err(|error| DirectionsError(error.to_string()))?;
        if file.schema != SCHEMA {
            return Err(DirectionsError(format!("schema is \"{}\", expected \"{SCHEMA}\"", file.schema)));
        }
        let mut entries: HashMap<String, Vec<(Vec<String>, Part)>> = HashMap::new();
        let verbs = file.verb.iter().map(|(phrase, (side, number))| (phrase, Part::Verb(*side, *number)));
        let neutrals = file.neutral.iter().map(|(phrase, number)| (phrase, Part::Neutral(*number)));
        let prepositions = file.preposition.iter().map(|(phrase, side)| (phrase, Part::Preposition(*side)));
        let conjunctions = file.conjunction.iter().map(|(phrase, side)| (phrase, Part::Conjunction(*side)));
        let clock_verbs = file
            .clock_verb
            .iter()
            .map(|(phrase, (meaning, number))| (phrase, Part::ClockVerb(*meaning, *number)));
        let boundaries =
            file.boundary.iter().map(|(phrase, (edge, number))| (phrase, Part::Boundary(*edge, *number)));
        let clock_prepositions =
            file.clock_preposition.iter().map(|(phrase, limit)| (phrase, Part::ClockPreposition(*limit)));
        let of_order = verbs.chain(neutrals).chain(prepositions).chain(conjunctions);
        for (phrase, part) in of_order.chain(clock_verbs).chain(boundaries).chain(clock_prepositions) {
            let words: Vec<String> = phrase.split_whitespace().map(str::to_owned).collect();
            let Some(first) = words.first() else {
                return Err(DirectionsError("a phrase is empty".into()));
            };
            // One phrase can have several parts of speech, and one can begin another, so all of them are kept.
            entries.entry(first.clone()).or_default().push((words, part));
        }
        Ok(Self { entries })
    }

    /// Calls `visit(end, part)` for every phrase at `at`.
    pub(super) fn each_at(&self, tokens: &[Token<'_>], at: usize, visit: &mut impl FnMut(usize, Part)) {
        let Some(first) = tokens.get(at) else { return };
        let entries = match self.entries.get(first.text) {
            Some(entries) => entries,
            // A word in lower case has lost no capital, so a second look-up would find nothing.
            None if first.text.bytes().all(|byte| byte.is_ascii_lowercase()) => return,
            // The first word of a sentence has a capital letter.
            None => match self.entries.get(&first.text.to_lowercase()) {
                Some(entries) => entries,
                None => return,
            },
        };
        for (words, part) in entries {
            let end = at + words.len();
            let rest = tokens.get(at + 1..end);
            if rest.is_some_and(|rest| rest.iter().zip(&words[1..]).all(|(token, word)| token.text == word)) {
                visit(end, *part);
            }
        }
    }
}
