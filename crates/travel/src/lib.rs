//! TravelPlanner (Xie et al. 2024): its tables, its sandbox tools, and the evaluator of its plans.
//!
//! This crate reads no files: tables come as texts ([`tables::Texts`]), flights line by line
//! ([`tables::FlightsBuilder`]), queries and plans as JSON. A plan written by an agent is data whatever it contains,
//! so no plan makes the evaluator return an error.
//!
//! # Module layout
//!
//! - `python.rs`: Python's rules for values and texts.
//! - `entry.rs`: the three shared entry parsers.
//! - `query.rs`: queries. `plan.rs`: plans as written. `tables.rs`: the tables.
//! - `evaluate.rs`: the evaluator; its documentation lists the differences between the two modes.
//! - `tools.rs`: the agents' tools.
//! - `page.rs`: a plan as a map and a timeline.
//! - `own.rs` and `data/own`: a small data set of our own.
//! - `suite.rs`: queries as cases for agents.

pub mod entry;
pub mod evaluate;
pub mod own;
pub mod page;
pub mod plan;
pub mod python;
pub mod query;
pub mod reader;
pub mod solve;
pub mod suite;
pub mod tables;
pub mod tools;

/// Which evaluator a verdict follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TripCompat {
    /// The published evaluator, with all its faults.
    Original,
    /// The rules as intended. The documentation of [`evaluate`] lists each difference.
    #[default]
    Right,
}
