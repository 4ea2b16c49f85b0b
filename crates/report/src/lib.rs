//! Reports of campaigns of any suite, for people and for pipelines. Everything here produces text and writes no
//! files; nothing depends on a particular suite.
//!
//! # Module layout
//!
//! - `campaign.rs`: the input, one value with a campaign's cases, outcomes and traces.
//! - Reports of one campaign: HTML pages (`html.rs`), JUnit XML (`junit.rs`), CSV (`csv.rs`), Inspect logs
//!   (`inspect.rs`), the summary of a GitHub step (`step_summary.rs`), verdicts as text (`explanation.rs`), tables
//!   in the format of the paper (`tables.rs`, root causes in `tables/causes.rs`), traces of OpenTelemetry (`otlp.rs`).
//! - Recorded sessions that were held against rules (`held.rs`), as JUnit XML and SARIF.
//! - `effort.rs` puts into words what runs took, `guard.rs` what rules between an agent and its tools did.
//! - Reports of several campaigns: two compared case by case (`compare.rs`), several in one table
//!   (`compare/agents.rs`), those of a matrix (`compare/matrix.rs`).
//! - Whether a campaign is worse than an earlier one (`gate.rs`), from the results of both as baseline files have them
//!   (`baseline.rs`).
//! - `drawing.rs` draws the states of a specification; only `drawing/placing.rs` uses the layout library.

pub mod baseline;
mod campaign;
mod command_lines;
pub mod compare;
pub mod csv;
pub mod drawing;
mod effort;
mod explanation;
mod findings;
pub mod gate;
mod guard;
pub mod held;
pub mod html;
pub mod inspect;
pub mod junit;
mod limit;
pub mod otlp;
pub mod step_summary;
pub mod tables;

pub use campaign::{ReportedCampaign, TraceSource, metric_words, servers};
pub use command_lines::{CommandLines, campaign_line};
pub use effort::{median_run, over_limits};
pub use explanation::{ExplanationLine, lines, short_in_the_middle};
pub use findings::{COMPARED_MAX, DistinctFinding, distinct, distinct_in_all, failures_needed};
pub use guard::guard_lines;
pub use limit::{deciding_interval, limit_in_words, limit_is_decided, limit_lines};
