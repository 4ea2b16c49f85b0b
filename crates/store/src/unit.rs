//! What is run: one repeat of one case.

/// One repeat of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unit {
    /// The case's place in the campaign, from 0.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
}
