//! Sequels of a campaign: a closer look at its failures by further runs, whose cases follow from the results of earlier
//! ones. A suite says which cases come next and what they show; whoever runs campaigns runs and keeps them.

use std::num::NonZeroU32;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::studies::Study;
use crate::{Case, CaseError, Unscored, Verdict};

/// A sequel that campaigns of a suite can have. Its runs are a campaign of their own, derived from the first one.
pub trait Sequel: Send + Sync {
    /// Its name, a noun: `dissection`. The id of the derived campaign is that of the first one, a full stop and this.
    fn name(&self) -> &'static str;

    /// The word for what is done to failures, before their number: `dissecting`.
    fn doing(&self) -> &'static str;

    /// The option that asks for it: `dissect`. A campaign keeps under this key how it is done. The names of its other
    /// options begin with this and a hyphen: `dissect-max`.
    fn option(&self) -> &'static str;

    /// The heading of its options in the help of a command for this suite alone: `Causes of failures`.
    fn heading(&self) -> &'static str {
        "Sequels"
    }

    /// How it is done, as a campaign keeps it, by the values of those options of the suite that are about sequels.
    /// `None` if they do not ask for it.
    ///
    /// # Errors
    /// An option has no such value.
    fn asked(&self, options: &[(&str, &str)]) -> Result<Option<Value>, CaseError> {
        let _ = options;
        Ok(None)
    }

    /// All its options by their names, with the values that ask for it in this way, defaults included, and `None` for
    /// those that are not given then: a command line that names something else asks for another way. The value of a
    /// switch is empty. Without `how`, the sequel is not asked for.
    fn written(&self, how: Option<&Value>) -> Vec<(&'static str, Option<String>)> {
        let _ = how;
        Vec::new()
    }

    /// Whether `how` says how it is done: it may come from a store that somebody else wrote.
    ///
    /// # Errors
    /// It does not.
    fn check(&self, how: &Value) -> Result<(), CaseError>;

    /// The sequel of a campaign that is done in this way.
    ///
    /// # Errors
    /// The campaign cannot have it.
    fn open(&self, of: &Followed<'_>, how: &Value) -> Result<Box<dyn OpenSequel>, CaseError>;
}

/// A campaign that has a sequel, with all its runs.
#[derive(Clone, Copy)]
pub struct Followed<'a> {
    /// The id of the derived campaign.
    pub id: &'a str,
    /// The cases of the campaign.
    pub cases: &'a [Arc<dyn Case>],
    /// What came of its runs.
    pub results: &'a [RunResult],
    /// The seed of its runs.
    pub seed: u64,
    /// What it keeps for its suite.
    pub options: &'a Map<String, Value>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// The place of its case in the campaign.
    pub ordinal: u32,
    /// Which run of the case, from 0.
    pub repeat: u32,
    /// The verdict, or why there is none.
    pub verdict: Result<Verdict, Unscored>,
}

/// A case of a sequel.
#[derive(Debug, Clone)]
pub struct SequelCase {
    /// The case.
    pub case: Arc<dyn Case>,
    /// Where it comes from, in a form of the suite: kept with the case, and read with it again.
    pub origin: String,
}

/// A sequel of one campaign.
pub trait OpenSequel {
    /// How many failures it looks at.
    fn failures(&self) -> usize;

    /// The seed of its runs.
    fn seed(&self) -> u64;

    /// How often one of its cases is run at most.
    fn repeats(&self) -> NonZeroU32;

    /// Goes on after these cases, which it made earlier, and their results.
    ///
    /// # Errors
    /// It never made them.
    fn rounds(
        &self,
        known: &[SequelCase],
        results: &[RunResult],
    ) -> Result<Box<dyn SequelRounds + '_>, CaseError>;
}

/// The rounds of a sequel. The runs of a round follow from the results of earlier rounds alone, in whatever order these
/// ended, so that the same seed gives the same cases, however often the sequel was interrupted.
pub trait SequelRounds {
    /// All cases so far, in the order in which they were made.
    fn cases(&self) -> &[SequelCase];

    /// The next runs, each as the place of its case and which run of the case it is; cases may be added for them. Empty
    /// at the end.
    fn next(&mut self) -> Vec<(u32, u32)>;

    /// What came of a run.
    fn take(&mut self, result: RunResult);

    /// That run of the case at that place will have no result this time, so what waits for it stops.
    fn halt(&mut self, ordinal: u32, repeat: u32);

    /// What it came to so far.
    fn conclude(self: Box<Self>) -> Concluded;
}

/// What a sequel came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Concluded {
    /// For reports.
    pub study: Study,
    /// Nothing is left to be run.
    pub is_complete: bool,
    /// The cases that it was after, if it was after some, as lines.
    pub found: Vec<String>,
}
