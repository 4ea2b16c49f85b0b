//! What is wrong with a plan, in words, and which loophole it would have slipped through.

use super::check::Check;
use super::loophole::Loophole;

/// Something that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check that it fails.
    pub check: Check,
    /// The day, from 1; nothing where it is about the whole trip.
    pub day: Option<usize>,
    /// The gap in the published check that lets it through, if one does.
    pub loophole: Option<Loophole>,
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
}
