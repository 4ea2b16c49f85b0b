//! What can be wrong with a run that was read.

use std::fmt;

use crate::Unit;

/// What is wrong with a run that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// These parts differ from what was written when the run ended: its case, trace, verdict or outcome.
    Differs(Vec<&'static str>),
    /// Its digest is missing.
    NoDigest,
    /// Its state is neither started nor finished.
    NoState,
    /// One of its texts is not valid UTF-8.
    NoText,
    /// It ended, but is no longer in the store.
    Missing,
    /// Its digest differs from the sealed one.
    NotSealed,
    /// SQLite cannot read it, for this reason.
    Unreadable(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs(what) => {
                let differ = if what.len() == 1 { "differs" } else { "differ" };
                write!(f, "{} {differ} from what was written", what.join(" and "))
            }
            Self::NoDigest => f.write_str("its digest is missing"),
            Self::NoState => f.write_str("its state makes no sense"),
            Self::NoText => f.write_str("a text of it is not UTF-8"),
            Self::Missing => f.write_str("it is missing"),
            Self::NotSealed => f.write_str("it is not the run that was sealed"),
            Self::Unreadable(why) => write!(f, "it cannot be read: {why}"),
        }
    }
}

/// A run that differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRun {
    /// The unit it is a run of.
    pub unit: Unit,
    /// What is wrong with it.
    pub damage: Damage,
}
