//! Campaigns of runs, baselines and metrics.
//!
//! A *campaign* runs one agent over a set of cases, judges each trace with the oracle, and keeps everything in the run
//! store. [`Report`] sums it up.
//!
//! # What is where
//!
//! Campaigns, with the budget, deadline and keys that watch over them (`campaign.rs`), the doubt whether
//! their set-up works (`setup.rs`), the guard of `repair:AGENT` between agent and tools (`guard.rs`), what a
//! served model replies (`served.rs`), topics from a model (`topics/generate.rs`) or of a user's own tools
//! (`topics/own_tools.rs`), learning data (`learning.rs`, of agents that write text `learning/text.rs`), the
//! dissection of failures (`dissect.rs`, run as a campaign in `dissect/run.rs`), the shrinking of failures
//! with several runs of each smaller case (`shrink.rs`), both driven round by round (`rounds.rs`), intervals
//! (`metrics.rs`; of repeats `repeats.rs`, for looking often `sequential.rs`), the search for the capability
//! limit (`limit.rs`), what figures need of a case and of a run (`summary.rs`), what it took to hold models
//! to specifications (`monitored.rs`), reports (`report.rs`, and `infeasible.rs` for infeasible cases, which
//! they keep apart), findings (`findings.rs`).

mod campaign;
mod dissect;
mod findings;
mod guard;
mod infeasible;
pub mod learning;
mod limit;
mod metrics;
mod monitored;
mod repeats;
mod report;
mod rounds;
mod sequential;
mod served;
mod setup;
mod shrink;
mod summary;
pub mod topics;

pub use campaign::{
    AgentUnderTest, Campaign, CampaignEnd, CampaignError, Outcome, SolverMeter, Supervision, case_arguments,
    mock_tools,
};
pub use dissect::{
    Cause, CauseShare, ChangedPiece, DissectOptions, DissectedCase, DissectedError, Dissection,
    DissectionReport, DissectionRun, Enough, EnoughCounts, ReportedTrial, SkippedTrial, Step, TRIALS_MAX,
    TopicErrors, Trial, TrialRecord, errors_by_topic, pick_errors,
};
pub use findings::{Candidate, Finding, Pick, pick_findings, pick_smallest, violated_places};
pub use guard::{RightCall, Standing};
pub use infeasible::{ConflictScore, InfeasibleReport};
pub use limit::{
    BITS_PER_COLUMN, ByBits, FIRST_LOOK, LIMIT_SCHEMA, LimitLevel, LimitOutcome, LimitPlan, LimitReport,
    LimitStep, Side,
};
pub use metrics::{Interval, wilson};
pub use monitored::MonitorUse;
pub use planproof_agents::GUARD_PREFIX;
pub use planproof_store::Unit;
pub use repeats::{CaseRuns, PassAll, Rate, Repeated, mean_of_cases, success_rate};
pub use report::{
    ByActions, OneLookRates, REPORT_SCHEMA, Report, ReportInput, SolverUse, SummaryInput, Tokens,
};
pub use sequential::confidence_sequence;
pub use setup::{DOUBTFUL_RUNS_MAX, SETUP_FAILURES_MAX, Setup};
pub use shrink::{
    CANDIDATE_RUNS_MAX, CandidateRecord, CaseSize, ExampleRun, FailureCount, NotShrunk, Requirement,
    ShrinkOptions, ShrinkReport, ShrinkRun, Shrinking, ShrunkCase, ShrunkFailure, Target, group_alike,
    pick_failures,
};
pub use summary::{CaseSummary, OneLooks, RunSummary, Score};
