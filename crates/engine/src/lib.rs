//! The engine: campaigns of runs of any kind of case, statistics and comparisons. It knows no suite.
//!
//! A *campaign* runs one agent over a set of cases, has each case judge its trace, and stores everything in the run
//! store. [`Report`] sums it up.
//!
//! # Module layout
//!
//! Campaigns, with their budget, deadline and keys (`campaign.rs`), the stream of their events (`happening.rs`), the
//! interface to the executor of runs (`job.rs`), what a verdict needs besides (`judging.rs`), the outcome of a run
//! (`outcome.rs`), the check whether their set-up works (`setup.rs`), the adapter of a guard between agent and tools
//! (`guard.rs`) and what its rules did (`held.rs`), agents that come with a suite (`acting.rs`), the replies of a
//! served model (`served.rs`), campaigns whose cases follow from earlier outcomes (`rounds.rs`), figures of repeats
//! (`repeats.rs`), intervals for repeated looks (`sequential.rs`), results of agents that do not plan (`baselines.rs`),
//! the search for the capability limit (`limit.rs`), the data of a run for figures (`summary.rs`), the costs of a team
//! (`team.rs`), the memory of an agent (`memory.rs`), the cost of holding models to specifications (`monitored.rs`),
//! reports (`report.rs`), what runs took, and limits on it (`effort.rs`), and findings (`findings.rs`).

mod acting;
mod baselines;
mod campaign;
mod effort;
mod findings;
mod guard;
mod happening;
mod held;
mod job;
mod judging;
mod likeness;
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
mod summary;
mod team;

pub use acting::OfSuite;
pub use baselines::{BaselineRate, BaselineRates};
pub use campaign::{AgentUnderTest, Campaign, CampaignEnd, EngineError, Supervision, Work};
pub use effort::{EffortFigures, NeededMedians, OVER_LISTED_MAX, OverLimits, RunOver, Spread, over_in_words};
pub use findings::{Finding, FindingCandidate, Pick, pick_findings, pick_smallest};
pub use happening::RunProgress;
pub use held::{GuardFigures, GuardReport, GuardUse};
pub use job::{Executed, Job, JobExecutor};
pub use judging::QUESTIONS_MAX;
pub use likeness::Likeness;
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
pub use planproof_suite::studies;
pub use repeats::{PassAll, Repeated};
pub use report::{
    Apart, BySize, DamagedRunRow, Metrics, REPORT_SCHEMA, Report, ReportInput, Sections, SolverUse,
    SummaryInput, SynthesisUse, Tokens,
};
pub use sequential::confidence_sequence;
pub use served::is_unscored_for_good;
pub use setup::{DOUBTFUL_RUNS_MAX, SETUP_FAILURES_MAX, Setup};
pub use summary::{RunSummary, card_from_json, card_to_json};
