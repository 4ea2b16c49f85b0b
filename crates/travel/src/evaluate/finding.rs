//! What is wrong with a plan, in words, and which loophole it would have slipped through.

use super::check::Check;
use super::loophole::Loophole;

/// An entry of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPlace {
    /// Its key, one of [`KEYS`](crate::plan::KEYS), or [`CITY`](crate::plan::CITY).
    pub key: &'static str,
    /// Which of the sights of the day, from 0 and without empty ones; 0 elsewhere.
    pub number: usize,
}

impl From<&'static str> for EntryPlace {
    fn from(key: &'static str) -> Self {
        Self { key, number: 0 }
    }
}

/// Something that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check that it fails.
    pub check: Check,
    /// The day, from 1; nothing where it is about the whole trip.
    pub day: Option<usize>,
    /// The entry of the day; nothing where it is about all of it.
    pub entry: Option<EntryPlace>,
    /// The gap in the published check that lets it through, if one does.
    pub loophole: Option<Loophole>,
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
}
