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

use crate::Section;

/// What a sequel of a campaign came to, for reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Study {
    /// Failures were dissected.
    Dissection(Box<DissectionReport>),
    /// Failures were shrunk.
    Shrinking(Box<ShrinkReport>),
    /// Anything else, as parts of the report.
    Sections(Vec<Section>),
}
