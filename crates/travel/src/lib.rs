//! TravelPlanner (Xie et al. 2024): its tables, its sandbox tools, and the evaluator of its plans.
//!
//! Nothing here reads a file: tables come as texts ([`tables::Texts`]), flights line by line
//! ([`tables::FlightsBuilder`]), queries and plans as JSON. A plan that an agent wrote is data whatever it holds, so no
//! plan makes the evaluator fail.
//!
//! # What is where
//!
//! Python's rules for values and texts (`python.rs`), the three readers of entries that everything shares
//! (`entry.rs`), queries (`query.rs`), plans as they were written (`plan.rs`), the tables (`tables.rs`), the evaluator
//! (`evaluate.rs`, which lists what the two modes do in different ways), the tools of agents (`tools.rs`), a plan as a
//! map and a timeline (`page.rs`), a small data set of our own (`own.rs`, `data/own`), and queries as cases that agents
//! are run on (`suite.rs`).

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

/// Whose behaviour a verdict has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compat {
    /// The published evaluator's, with all that is wrong with it.
    Original,
    /// What was meant. Each difference is listed with the evaluator.
    #[default]
    Right,
}
