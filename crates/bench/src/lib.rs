//! Campaigns of runs, simulated models, baselines and metrics.
//!
//! A *campaign* runs one agent over a set of cases, judges each trace with the oracle, and keeps everything in the run
//! store. [`Report`] sums it up. [`SimModel`] is a simulated model: it proves the plumbing and says nothing of any
//! real model.

mod campaign;
mod findings;
mod metrics;
mod report;
mod sim;

pub use campaign::{
    AgentUnderTest, Campaign, CampaignEnd, CampaignError, Outcome, SolverMeter, Supervision, mock_tools,
};
pub use findings::{Finding, pick_findings, violated_places};
pub use metrics::{Interval, wilson};
pub use report::{ByActions, REPORT_SCHEMA, Report, ReportInput, SolverUse, Tokens};
pub use sim::{SimKind, SimModel};
