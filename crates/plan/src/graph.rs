//! The graph of sub-tasks that a manager divides a task into: its form, its faults, the order in which its sub-tasks
//! may run, and drawings.
//!
//! The method is that of "Planning with Multi-Constraints via Collaborative Language Agents" (PMC), sections 4.1 and
//! 4.2. A sub-task runs once everything that it comes `after` has finished; independent ones may run concurrently.
//! Nothing here runs anything or waits: the caller asks a [`Schedule`] which sub-tasks are ready and reports their
//! ends to it.
//!
//! # Module layout
//!
//! - The form in memory and as JSON (`form.rs`), and the JSON schema of what a manager writes (`schema.rs`).
//! - From a manager's reply to a graph (`read.rs`); the faults of a graph (`check.rs`, `cycle.rs`) and their words
//!   (`fault.rs`).
//! - The schedule (`schedule.rs`), the states of sub-tasks (`state.rs`), and a person's changes to a schedule
//!   (`revise.rs`).
//! - Direct neighbours, layers and longest paths (`paths.rs`), and drawings (`draw.rs`).

mod check;
mod cycle;
mod draw;
mod fault;
mod form;
mod links;
mod paths;
mod read;
mod revise;
mod schedule;
mod schema;
mod state;

pub use draw::{DRAWN_CHARACTERS_MAX, GraphDrawing};
pub use fault::{GraphFault, GraphFaults, GraphField, GraphProblem, GraphSite};
pub use form::{SubTask, SubTaskGraph, WordedConstraint};
pub use paths::LongestPath;
pub use read::read_graph;
pub use revise::{Revision, RevisionError};
pub use schedule::{Schedule, ScheduleError};
pub use state::SubTaskState;
