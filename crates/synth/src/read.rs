//! Reading back: from English to constraints.
//!
//! A parser of the grammar in `crate::grammar` that shares nothing with the generator: neither its tree nor its
//! groups of wordings. A hand-written file defines the meaning of wordings. So if text and oracle disagree, or the
//! text is ambiguous, reading back finds out.
//!
//! The parser follows every alternative and counts the readings. It accepts slightly more than the generator writes,
//! in accordance with English: lists with or without the last comma, and a conjunction after a relative clause that
//! continues within that clause. A paragraph with two readings is a bug of the wordings or the punctuation.

mod lexicon;
mod messages;
mod one_look;
mod parser;
mod tokens;

use std::collections::BTreeSet;

use thiserror::Error;

pub use lexicon::{Directions, DirectionsError};
pub use messages::{ReadMessage, read_message};
pub use one_look::OneLook;

use crate::case::{PlanningCase, StatedConstraint};
use crate::clock::Bound;
use crate::messages::{ChangeKind, OrderTurns, TurnDemand, restored};
use crate::text::Source;

/// Longest text that is read, in characters.
pub const CHARACTERS_MAX: usize = 100_000;
/// Most steps of the parser for one sentence; text that needs more has far too many readings.
pub const STEPS_MAX: u64 = 200_000;

/// What a paragraph says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Number of ways to read the paragraph; 1 if all is well.
    pub readings: u64,
    /// The pairs it states (`first` before `second`, as indices into the list of actions), in the first reading.
    pub pairs: Vec<ReadPair>,
    /// The clock times of actions, in the first reading.
    pub bounds: Vec<ReadBound>,
}

/// A pair that the text states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadPair {
    /// Place of the earlier action.
    pub first: usize,
    /// Place of the later action.
    pub second: usize,
    /// Where the text says so.
    pub source: Source,
}

/// A clock time that the text binds an action to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadBound {
    /// Place of the action.
    pub action: usize,
    /// What the text demands of it.
    pub bound: Bound,
    /// Where the text says so.
    pub source: Source,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The text leaves the grammar.
    #[error("sentence {}: expected {}, found {found}", sentence + 1, expected.join(" or "))]
    Unexpected {
        /// The sentence, from 0.
        sentence: usize,
        /// First character of the word at fault, in Unicode scalar values.
        start: usize,
        /// One past its last character.
        end: usize,
        /// The word, in quotes, or "the end".
        found: String,
        /// What could have stood there.
        expected: Vec<&'static str>,
    },
    /// The text is too long.
    #[error("the text has {given} characters; at most {CHARACTERS_MAX} are read")]
    TooLong { given: usize },
    /// The text has too many readings to follow them all.
    #[error("sentence {}: more than {STEPS_MAX} steps; it has far too many readings", sentence + 1)]
    TooAmbiguous {
        /// The sentence, from 0.
        sentence: usize,
    },
}

/// Why reading a case back shows a fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// Its paragraph cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// Its paragraph has more than one reading.
    #[error("the paragraph has {readings} readings")]
    Ambiguous { readings: u64 },
    /// The paragraph says something else than the constraints.
    #[error("the paragraph does not say what the constraints say: {what}")]
    Differs { what: String },
    /// The paragraph does not mention an action.
    #[error("the paragraph does not mention {action} (\"{text}\")")]
    Unmentioned { action: String, text: String },
}

/// Reads a paragraph over the given action texts.
///
/// # Errors
/// See [`ReadError`]; it points at the first word where no reading continues.
pub fn read(paragraph: &str, actions: &[&str], directions: &Directions) -> Result<Reading, ReadError> {
    let tokens = tokens::split(paragraph)?;
    parser::read(&tokens, actions, directions)
}

/// Reads a case's paragraph back and compares it with the case's constraints, constraint by constraint and place by
/// place.
///
/// # Errors
/// The difference between text and constraints.
pub fn verify(case: &PlanningCase, directions: &Directions) -> Result<(), VerifyError> {
    let actions: Vec<&str> = case.actions.iter().map(|action| action.text.as_str()).collect();
    let reading = read(&case.paragraph, &actions, directions)?;
    if reading.readings != 1 {
        return Err(VerifyError::Ambiguous { readings: reading.readings });
    }
    // Compared as sets of pairs with their places: none may be missing, added, or stated elsewhere.
    let read: BTreeSet<ReadPair> = reading.pairs.iter().copied().collect();
    let constraints = match &case.turns {
        None => case.constraints.clone(),
        Some(turns) => restored(&case.constraints, turns),
    };
    let stated: BTreeSet<ReadPair> = constraints
        .iter()
        .flat_map(|stated| {
            let (first, second) = (stated.first, stated.second);
            stated.sources.iter().map(move |&source| ReadPair { first, second, source })
        })
        .collect();
    if let Some(pair) = read.symmetric_difference(&stated).next() {
        let [first, second] = [pair.first, pair.second].map(|place| &case.actions[place].text);
        let words = case.words_at(&pair.source);
        let who = if read.contains(pair) { "only the text has" } else { "only the constraints have" };
        let what = format!("{who} \"{first}\" before \"{second}\" (at \"{words}\")");
        return Err(VerifyError::Differs { what });
    }
    let read_bounds: BTreeSet<ReadBound> = reading.bounds.iter().copied().collect();
    let stated_bounds: BTreeSet<ReadBound> = case
        .time
        .iter()
        .flat_map(|time| &time.bounds)
        .flat_map(|stated| {
            let (action, bound) = (stated.action, stated.bound);
            stated.sources.iter().map(move |&source| ReadBound { action, bound, source })
        })
        .collect();
    if let Some(bound) = read_bounds.symmetric_difference(&stated_bounds).next() {
        let text = &case.actions[bound.action].text;
        let words = case.words_at(&bound.source);
        let who = if read_bounds.contains(bound) { "only the text has" } else { "only the constraints have" };
        let what = format!("{who} \"{text}\" {} (at \"{words}\")", bound.bound);
        return Err(VerifyError::Differs { what });
    }
    // The comparison above cannot notice an action that neither side mentions.
    for (place, action) in case.actions.iter().enumerate() {
        let is_bound = read_bounds.iter().any(|bound| bound.action == place);
        if !is_bound && !read.iter().any(|pair| pair.first == place || pair.second == place) {
            let (action, text) = (action.id.to_string(), action.text.clone());
            return Err(VerifyError::Unmentioned { action, text });
        }
    }
    match &case.turns {
        None => Ok(()),
        Some(turns) => verify_messages(case, turns, &constraints, directions),
    }
}

/// Reads the messages of a case back and compares them with its turns: each says of the paragraph what it has to,
/// changes what is changed, and names what to wait with.
fn verify_messages(
    case: &PlanningCase,
    turns: &OrderTurns,
    stated: &[StatedConstraint],
    directions: &Directions,
) -> Result<(), VerifyError> {
    let actions: Vec<&str> = case.actions.iter().map(|action| action.text.as_str()).collect();
    let pair_of = |id: &crate::case::ConstraintId| {
        stated.iter().find(|it| it.id == *id).map(|it| (it.first, it.second))
    };
    let texts = std::iter::once(case.query.as_str()).chain(turns.later.iter().map(String::as_str));
    let mut known = BTreeSet::new();
    for (number, (text, part)) in (1u32..).zip(texts.zip(&turns.parts)) {
        let read = read_message(text, number == 1, &actions, directions)?;
        if read.readings != 1 {
            return Err(VerifyError::Ambiguous { readings: read.readings });
        }
        let differs = |what: &str| Err(VerifyError::Differs { what: format!("message {number} {what}") });
        let is_in = |source: &&Source| part.start <= source.start && source.end <= part.end;
        let own = stated.iter().flat_map(|it| it.sources.iter().filter(is_in).map(|_| (it.first, it.second)));
        let own: BTreeSet<(usize, usize)> = own.collect();
        if own != read.pairs.iter().map(|pair| (pair.first, pair.second)).collect() {
            return differs("states other orders");
        }
        known.extend(own.iter().flat_map(|(first, second)| [*first, *second]));
        let (mut reversed, mut orders, mut tasks) = (Vec::new(), Vec::new(), Vec::new());
        for change in turns.changes.iter().filter(|change| change.message == number) {
            match &change.kind {
                ChangeKind::Reversed { old, .. } => {
                    reversed.extend(pair_of(old).map(|(first, second)| (second, first)));
                }
                ChangeKind::OrderDropped { old } => orders.extend(pair_of(old)),
                ChangeKind::TaskDropped { action } => tasks.push(*action),
            }
        }
        if (&reversed, &orders, &tasks) != (&read.reversed, &read.dropped_orders, &read.dropped_tasks) {
            return differs("changes something else");
        }
        let binds_later = |action: usize| {
            turns.demands.iter().any(|demand| {
                demand.action == action
                    && match demand.kind {
                        TurnDemand::NotBefore(message) | TurnDemand::Never(message) => number < message,
                        TurnDemand::ByTurn(_) => false,
                    }
            })
        };
        let waiting: BTreeSet<usize> = known.iter().copied().filter(|action| binds_later(*action)).collect();
        if waiting != read.waiting.into_iter().collect() {
            return differs("names other tasks to wait with");
        }
    }
    Ok(())
}
