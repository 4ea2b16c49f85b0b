//! The result of a dissection, in the shape of the paper's Tables 4, 5 and 7 (PDoctor, section 4.5).

use serde::Serialize;

/// A dissection summed up, with every variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DissectionReport {
    /// Id of the campaign of the trials.
    pub campaign: String,
    /// Variants of each kind, the paper's K.
    pub variants: u32,
    pub reruns: u32,
    /// The first failed variant of another structure named the constraint as the cause, as in the paper's printed
    /// algorithm.
    pub original: bool,
    /// Cases that were failed.
    pub errors: u64,
    /// Those that were taken.
    pub taken: u64,
    /// Those whose cause was found.
    pub decided: u64,
    /// Those without variants of a kind, which is therefore not excluded.
    pub undecided: u64,
    /// Those with an unfinished dissection.
    pub unfinished: u64,
    /// Runs that it took.
    pub runs: u64,
    /// How often each cause was found.
    pub causes: Vec<CauseShare>,
    /// The sufficient parts if the cause was a terminal.
    pub enough: EnoughCounts,
    /// The topics with the most errors, of all errors of the campaign.
    pub topics: Vec<TopicErrors>,
    /// Topics without any error.
    pub topics_without_errors: u64,
    /// Each dissected error, in the order of the campaign.
    pub cases: Vec<DissectedCase>,
}

/// How often a cause was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseShare {
    pub cause: &'static str,
    /// What it means, for people.
    #[serde(skip)]
    pub meaning: &'static str,
    /// Errors that have it.
    pub errors: u64,
    /// Their share of those whose cause was found; null if there are none.
    pub share: Option<f64>,
    /// Lower end of the 95 % interval of the share.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The sufficient part of a terminal variant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EnoughCounts {
    pub wordings: u64,
    pub actions: u64,
    pub either: u64,
    pub both: u64,
}

/// Errors of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicErrors {
    pub topic: String,
    /// Cases that were failed.
    pub errors: u64,
    /// Cases with a score.
    pub cases: u64,
}

/// A dissected error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DissectedCase {
    pub case: String,
    /// The job that it is about.
    pub topic: String,
    /// The class of its failure.
    pub class: Option<&'static str>,
    pub paragraph: String,
    /// The cause; null where none was found.
    pub cause: Option<&'static str>,
    /// The sufficient part if the cause is a terminal.
    pub enough: Option<&'static str>,
    /// There are trials left.
    pub is_open: bool,
    /// Trials that could not be made.
    pub impossible: Vec<SkippedTrial>,
    /// The trials, in their order.
    pub trials: Vec<ReportedTrial>,
}

/// A trial that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedTrial {
    /// What it would have changed.
    pub step: &'static str,
    /// Which of that kind.
    pub number: u32,
    /// Why there is none.
    pub why: String,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportedTrial {
    /// Id of its case in the trials' campaign.
    pub id: String,
    pub step: &'static str,
    /// Which of that kind.
    pub number: u32,
    /// Whether the agent passed; null if unknown.
    pub passed: Option<bool>,
    /// The class of its failure.
    pub class: Option<&'static str>,
    /// Why it has no score.
    pub unscored: Option<String>,
    /// Its paragraph; null for a rerun, which has that of the failed case.
    pub paragraph: Option<String>,
    pub changes: Vec<ChangedPiece>,
}

/// A piece that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedPiece {
    pub piece: &'static str,
    pub from: String,
    pub to: String,
    /// Its place in the paragraph before and now, in Unicode scalar values: `[[start, end], [start, end]]`.
    pub places: Vec<[[u32; 2]; 2]>,
}

/// Why an agent failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// It sometimes passes the same query.
    Probability,
    Terminal,
    /// The job that the query is about.
    Topic,
    /// How the paragraph is put together.
    Structure,
    /// What is demanded, however it is said.
    Constraint,
}

impl Cause {
    /// All causes, in the order of the algorithm.
    pub const ALL: [Self; 5] =
        [Self::Probability, Self::Terminal, Self::Topic, Self::Structure, Self::Constraint];

    /// What it means that a failure has this cause.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Probability => "it sometimes passes the same query",
            Self::Terminal => "it passes with other wordings and tasks",
            Self::Topic => "it passes on another topic",
            Self::Structure => "it passes with another paragraph of the same meaning",
            Self::Constraint => "it fails however the constraints are put",
        }
    }

    /// The word used in files and reports. The paper calls the first two "probability" and "terminal".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Probability => "chance",
            Self::Terminal => "wording",
            Self::Topic => "topic",
            Self::Structure => "structure",
            Self::Constraint => "constraint",
        }
    }
}

/// Which part of a terminal variant was sufficient for the agent to pass. **(ours)**
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Enough {
    /// The wordings alone, but not the tasks alone.
    Wordings,
    /// The tasks alone, but not the wordings alone.
    Actions,
    /// Each of them alone.
    Either,
    /// Neither of them alone.
    Both,
}

impl Enough {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Wordings, Self::Actions, Self::Either, Self::Both];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wordings => "wordings",
            Self::Actions => "actions",
            Self::Either => "either",
            Self::Both => "both",
        }
    }
}
