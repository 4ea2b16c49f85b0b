//! What is wrong with a plan, in words, and which loophole would have let it pass.

use super::check::TripCheck;
use super::loophole::Loophole;

/// An entry of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPlace {
    /// The key of the entry, one of [`KEYS`](crate::plan::KEYS), or [`CITY`](crate::plan::CITY).
    pub key: &'static str,
    /// The index of the attraction within the day, from 0 and without empty ones; 0 for other entries.
    pub number: usize,
}

impl From<&'static str> for EntryPlace {
    fn from(key: &'static str) -> Self {
        Self { key, number: 0 }
    }
}

/// A fault in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TripFinding {
    /// The check that it fails.
    pub check: TripCheck,
    /// The day, from 1; `None` if the finding is about the whole trip.
    pub day: Option<usize>,
    /// The entry of the day; `None` if the finding is about the whole day.
    pub entry: Option<EntryPlace>,
    /// The gap in the published check that lets this pass, if there is one.
    pub loophole: Option<Loophole>,
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
}
