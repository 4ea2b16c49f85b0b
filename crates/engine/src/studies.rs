//! The results of closer looks at the failures of a campaign, as plain data for reports. A suite that dissects or
//! shrinks its failures fills it.

mod dissection;
mod shrinking;

pub use dissection::{
    Cause, CauseShare, ChangedPiece, DissectedCase, DissectionReport, Enough, EnoughCounts, ReportedTrial,
    SkippedTrial, TopicErrors,
};
pub use shrinking::{
    CANDIDATE_RUNS_MAX, CaseSize, ExampleRun, NotShrunk, ShrinkOptions, ShrinkReport, ShrunkCase,
};
