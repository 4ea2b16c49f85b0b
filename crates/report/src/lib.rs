//! Reports of campaigns of any kind of case, for people and for pipelines. Everything here makes text of what it is
//! given and writes no file; it knows no suite.
//!
//! # What is where
//!
//! Makes text of a campaign's cases, outcomes and traces, which come in as one value (`campaign.rs`): HTML pages
//! (`html.rs`), JUnit XML (`junit.rs`), CSV (`csv.rs`), Inspect logs (`inspect.rs`), the page of a step on GitHub
//! (`step_summary.rs`), verdicts as text (`explanation.rs`), tables in the shape of the paper's (`tables.rs`, root
//! causes in `tables/causes.rs`), two campaigns case by case (`compare.rs`, with the test that respects repeats in
//! `compare/paired.rs`), and several in one table (`compare/agents.rs`, those of a matrix in
//! `compare/matrix.rs`). Beside
//! campaigns it draws the states of a specification (`drawing.rs`); the library that places them is known to
//! `drawing/placing.rs` alone.

mod campaign;
mod command_lines;
pub mod compare;
pub mod csv;
pub mod drawing;
mod explanation;
pub mod html;
pub mod inspect;
pub mod junit;
pub mod step_summary;
pub mod tables;

pub use campaign::{ReportedCampaign, TraceSource, metric_words};
pub use command_lines::{CommandLines, campaign_line, shell_word};
pub use explanation::{in_one_line, lines, short_in_the_middle};
