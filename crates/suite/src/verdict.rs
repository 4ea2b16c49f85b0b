//! How a run was judged.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// A class of failures. A failed run has one: the first of its suite's that applies.
#[derive(Debug, PartialEq, Eq)]
pub struct ClassInfo {
    /// The word used in files.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// Its position among the classes of its suite, by precedence, from 0.
    pub rank: u8,
}

/// The name of the class of runs that end at another limit than that of a reply.
pub const TIMEOUT: &str = "timeout";

/// The name of the class of runs that end because the agent broke.
pub const AGENT_FAILED: &str = "agent_failed";

/// The name of the class of runs that end with a reply of too many tokens.
pub const REPLY_LIMIT: &str = "reply_limit";

/// The name of the class of runs that end with a call which is written as text.
pub const UNPARSED_CALL: &str = "unparsed_call";

/// The name of the class of cases without a prediction.
pub const MISSING: &str = "missing";

impl ClassInfo {
    /// The class of cases without a prediction, at this rank.
    pub const fn missing(rank: u8) -> Self {
        let meaning = "The predictions have no line for the case, so nothing was judged.";
        Self { name: MISSING, meaning, rank }
    }

    /// The class of runs that end at another limit than that of a reply, at this rank.
    pub const fn timeout(rank: u8) -> Self {
        let meaning = "A limit of the run was reached before the agent had answered.";
        Self { name: TIMEOUT, meaning, rank }
    }

    /// The class of runs that end because the agent broke, at this rank.
    pub const fn agent_failed(rank: u8) -> Self {
        Self { name: AGENT_FAILED, meaning: "The agent itself broke.", rank }
    }

    /// The class of runs that end with a reply of too many tokens, at this rank.
    pub const fn reply_limit(rank: u8) -> Self {
        let meaning = "A reply of the model reached the limit of --reply-tokens without a call.";
        Self { name: REPLY_LIMIT, meaning, rank }
    }

    /// The class of runs that end with a call which is written as text, at this rank.
    pub const fn unparsed_call(rank: u8) -> Self {
        let meaning = "The agent wrote a call as text instead of making it, and stopped there.";
        Self { name: UNPARSED_CALL, meaning, rank }
    }
}

/// A [`ClassInfo`] by reference: as small as a pointer, ordered by precedence.
#[derive(Clone, Copy)]
pub struct Class(&'static ClassInfo);

impl Class {
    /// The class that this describes.
    pub const fn new(info: &'static ClassInfo) -> Self {
        Self(info)
    }

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        self.0.name
    }

    /// What it means, in a sentence.
    pub fn meaning(self) -> &'static str {
        self.0.meaning
    }

    /// Finds the class of that name.
    pub fn find(classes: &'static [ClassInfo], name: &str) -> Option<Self> {
        classes.iter().find(|class| class.name == name).map(Self)
    }

    fn key(self) -> (u8, &'static str) {
        // The name as well, so that classes of two suites with the same rank are different.
        (self.0.rank, self.0.name)
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Class {}

impl PartialOrd for Class {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Class {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl std::hash::Hash for Class {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Something that can apply to a run, whether it passed or not.
#[derive(Debug, PartialEq, Eq)]
pub struct FlagInfo {
    /// The word used in files.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
}

/// A figure of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Its name among the suite's.
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
    /// Its weight beside the same figure of other runs, usually 1.
    pub weight: f64,
}

impl Score {
    /// A figure with the same weight as in every other run.
    pub const fn new(metric: &'static str, value: f64) -> Self {
        Self { metric, value, weight: 1.0 }
    }
}

/// What statistics need of a verdict.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scored {
    /// The class of the failure; `None` when passed.
    pub class: Option<Class>,
    /// All flags that apply, in the order of the suite's list, each once.
    pub flags: Vec<&'static str>,
    /// The suite's own figures.
    pub scores: Vec<Score>,
}

impl Scored {
    /// Whether the run passed.
    pub fn passed(&self) -> bool {
        self.class.is_none()
    }

    /// Whether a flag applies.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// The value of a figure of the suite's.
    pub fn score(&self, metric: &str) -> Option<f64> {
        self.scores.iter().find(|score| score.metric == metric).map(|score| score.value)
    }
}

/// What the judge says of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What statistics need.
    pub scored: Scored,
    /// The whole verdict, as one line of JSON: the suite's own document, which the run store keeps.
    pub detail: String,
}

impl Verdict {
    /// A verdict with this document.
    pub fn new(scored: Scored, document: &impl Serialize) -> Self {
        // Writing texts and numbers as JSON into memory cannot fail.
        Self { scored, detail: serde_json::to_string(document).unwrap_or_default() }
    }

    /// Whether the run passed.
    pub fn passed(&self) -> bool {
        self.scored.passed()
    }

    /// The class of the failure; `None` when passed.
    pub fn class(&self) -> Option<Class> {
        self.scored.class
    }
}

/// Why a run says nothing about the agent.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
pub enum Unscored {
    /// Something outside of the agent failed.
    #[error("{reason}")]
    Outside {
        /// What.
        reason: String,
    },
    /// The data does not say what is right, so that another run would have no score either.
    #[error("{reason}")]
    NoKey {
        /// What it lacks, and what to do.
        reason: String,
    },
    /// The trace has no end: recording was cut off.
    #[error("the trace was cut off before the run ended")]
    CutOff,
}
