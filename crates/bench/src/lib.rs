//! The engine: campaigns of runs of any kind of case, statistics and comparisons. It knows no suite.
//!
//! A *campaign* runs one agent over a set of cases, has each judge its trace, and keeps everything in the run
//! store. [`Report`] sums it up.
//!
//! # What is where
//!
//! Campaigns, with the budget, deadline and keys that watch over them (`campaign.rs`), the stream of what happens in
//! them (`happening.rs`), the seam to whoever executes runs (`job.rs`), what a judge model is asked (`judging.rs`),
//! what came of a run (`outcome.rs`), the doubt whether their set-up works (`setup.rs`), what puts a guard between
//! agent and tools (`guard.rs`), agents that come with a suite (`acting.rs`), what a served model replies
//! (`served.rs`), campaigns whose cases follow from what came before (`rounds.rs`), what repeats say (`repeats.rs`),
//! intervals for looking often (`sequential.rs`), what agents that do not plan would get (`baselines.rs`), the search
//! for the capability limit (`limit.rs`), what figures need of a run (`summary.rs`), what a team took (`team.rs`),
//! the memory of an agent (`memory.rs`), what it took to hold models to specifications (`monitored.rs`), reports
//! (`report.rs`), findings (`findings.rs`), and what closer looks at failures showed (`studies.rs`).

mod acting;
mod baselines;
mod campaign;
mod findings;
mod guard;
mod happening;
mod job;
mod judging;
mod limit;
mod memory;
mod monitored;
mod outcome;
mod repeats;
mod report;
pub mod rounds;
mod sequential;
mod served;
mod setup;
pub mod studies;
mod summary;
mod team;

pub use acting::OfSuite;
pub use baselines::{BaselineRate, BaselineRates};
pub use campaign::{AgentUnderTest, Campaign, CampaignEnd, CampaignError, Supervision, Work};
pub use findings::{Candidate, Finding, Pick, pick_findings, pick_smallest};
pub use happening::RunProgress;
pub use job::{Executed, Executor, Job};
pub use judging::QUESTIONS_MAX;
pub use limit::{
    BITS_PER_COLUMN, ByBits, FIRST_LOOK, LIMIT_SCHEMA, LimitLevel, LimitOutcome, LimitPlan, LimitReport,
    LimitStep, Side,
};
pub use memory::Memory;
pub use monitored::MonitorUse;
pub use outcome::Outcome;
pub use planproof_agents::GUARD_PREFIX;
pub use planproof_agents::memory::MemoryUse;
pub use planproof_isolation::Account as IsolationAccount;
pub use planproof_store::Unit;
pub use planproof_suite::statistics::{CaseRuns, Interval, Rate, mean_of_cases, success_rate, wilson};
pub use repeats::{PassAll, Repeated};
pub use report::{
    Apart, BySize, DamagedRun, Metrics, REPORT_SCHEMA, Report, ReportInput, Sections, SolverUse,
    SummaryInput, SynthesisUse, Tokens,
};
pub use sequential::confidence_sequence;
pub use setup::{DOUBTFUL_RUNS_MAX, SETUP_FAILURES_MAX, Setup};
pub use summary::{RunSummary, card_from_json, card_to_json};
