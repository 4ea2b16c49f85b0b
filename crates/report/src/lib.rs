//! Reports of campaigns, for people and for pipelines. Everything here makes text of what it is given and writes no
//! file.
//!
//! # What is where
//!
//! Makes text of a campaign's cases, outcomes and traces, which come in as one value (`campaign.rs`): HTML pages
//! (`html.rs`), JUnit XML (`junit.rs`), CSV (`csv.rs`), Inspect logs (`inspect.rs`), the page of a step on GitHub
//! (`step_summary.rs`), verdicts in plain words (`explanation.rs`, `conflict.rs` for conflicts), tables in the shape
//! of the paper's (`tables.rs`, root causes in `tables/causes.rs`), two campaigns case by case (`compare.rs`, with
//! the test that respects repeats in `compare/paired.rs`), and several in one table (`compare/agents.rs`). Beside
//! campaigns it draws the states of a specification (`drawing.rs`); the library that places them is known to
//! `drawing/placing.rs` alone.

mod campaign;
mod command_lines;
pub mod compare;
mod conflict;
pub mod csv;
pub mod drawing;
mod explanation;
pub mod html;
pub mod inspect;
pub mod junit;
mod stated;
pub mod step_summary;
pub mod tables;

pub use campaign::{ReportedCampaign, TraceSource};
pub use command_lines::{CommandLines, shell_word};
pub use conflict::conflict_lines;
pub use explanation::{in_one_line, order_notes, short_in_the_middle, wrong_start};
