//! Campaigns of runs, simulated models, baselines and metrics.
//!
//! A *campaign* runs one agent over a set of cases, judges each trace with the oracle, and keeps everything in the run
//! store. [`Report`] sums it up. [`SimModel`] is a simulated model: it proves the plumbing and says nothing of any
//! real model.

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
mod sim;
mod summary;
mod tool_names;
pub mod topics;

pub use campaign::{
    AgentUnderTest, Campaign, CampaignEnd, CampaignError, Outcome, ServedModel, SolverMeter, Supervision,
    case_arguments, mock_tools,
};
pub use dissect::{
    Cause, CauseShare, ChangedPiece, DissectOptions, DissectedCase, DissectedError, Dissection,
    DissectionReport, DissectionRun, Enough, EnoughCounts, ReportedTrial, SkippedTrial, Step, TRIALS_MAX,
    TopicErrors, Trial, TrialRecord, errors_by_topic, pick_errors,
};
pub use findings::{Candidate, Finding, Pick, pick_findings, pick_smallest, violated_places};
pub use guard::{GUARD_PREFIX, RightCall, Standing};
pub use infeasible::{ConflictScore, InfeasibleReport};
pub use limit::{
    BITS_PER_COLUMN, ByBits, FIRST_LOOK, LIMIT_SCHEMA, LimitLevel, LimitOutcome, LimitPlan, LimitReport,
    LimitStep, Side,
};
pub use metrics::{Interval, wilson};
pub use monitored::MonitorUse;
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
pub use sim::{Fault, SimKind, SimModel};
pub use summary::{CaseSummary, OneLooks, RunSummary, Score};
