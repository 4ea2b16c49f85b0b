//! Plans of tool calls, as JSON and as Python: from text to steps and back, and the faults of a plan before it is
//! executed.
//!
//! A [`Plan`] is a list of steps, each a call of a tool whose arguments may refer to the outputs of earlier steps.
//! The crate calls nothing: the executor of a plan asks it for the values of one step after the other.
//!
//! # Module layout
//!
//! - The form in memory (`plan.rs`), and texts with references (`text.rs`).
//! - From a reply to a plan: the parts of a reply (`reply.rs`), JSON (`json.rs` reads any, `read_json.rs` plans),
//!   Python (`python`: what may be parsed, which program is a plan); unreadable replies (`fault.rs`), and [`limits`].
//! - From a plan to JSON (`write_json.rs`) and Python (`python/write.rs`).
//! - The faults of a plan ([`verify`](mod@verify)), and the values of its arguments (`substitute.rs`).
//! - The output of the published two-stage agent of TravelPlanner ([`two_stage`]).
//! - The graph of sub-tasks that a manager divides a task into, and its schedule ([`graph`]).
//! - The roles of a team that works on such a graph, in prompts and traces ([`team`]).
//! - Plans that are lists of sub-tasks with their tools ([`subtasks`]).
//! - The question to a judge model whether a value means the same as the right one ([`entailing`]).
//! - Marks of the prompts for data of m&m's ([`data_prompts`]).
//! - The results of the published code for the same ([`original`]).

// What others build on is described to the last field.
#![warn(missing_docs)]

pub mod data_prompts;
pub mod entailing;
mod fault;
pub mod findings;
pub mod graph;
pub mod headings;
mod json;
pub mod limits;
pub mod original;
mod plan;
mod python;
mod read_json;
mod reply;
mod substitute;
pub mod subtasks;
pub mod team;
mod text;
pub mod two_stage;
pub mod verify;
mod words;
mod write_json;

pub use fault::{ParseFault, ParseProblem, TextPosition};
pub use plan::{ArgumentValue, Plan, Reference, Step, TextPiece};
pub use python::{PlanProgram, entry_to_call, read_python, to_line, to_python};
pub use read_json::{read_json, read_step_json};
pub use substitute::substitute;
pub use verify::{
    PlanSite, StepFault, StepFaultKind, VerificationFault, verify, verify_next, verify_program, verify_step,
};
pub use write_json::{step_to_json, to_json, to_json_text};
