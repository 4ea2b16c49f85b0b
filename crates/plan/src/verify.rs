//! Whether a plan can be carried out: its tools exist, take the arguments that they are given, and use what earlier
//! steps give.
//!
//! # Which tools may use which outputs
//!
//! The catalogue says which tool may follow which, and a reference joins two tools. Taken literally that refuses right
//! plans. A tool may need two things of which only one comes from the step before: whoever finds the objects of a
//! picture, selects one and crops the picture to it has to give the picture again, and cropping does not follow
//! finding. So of what a step takes from other steps,
//!
//! - each output must be of the kind that the argument takes: a picture for a picture, a list for a list; texts and
//!   numbers for each other, because either can be written as the other; and among other words only texts and numbers;
//! - each output must come from a tool that the step's tool may follow, or from further back: from a step out of whose
//!   outputs another input of this step was made, directly or over others, where that other input does come from such
//!   a tool.
//!
//! So the picture that the object was found in may come along with the object, and any other picture may not. Every
//! reference of a text counts, not only one that it begins with.

mod arguments;
mod fault;
mod plan;
mod program;

pub use fault::{Fault, FaultKind, Problem, Site};
pub use plan::{verify, verify_next, verify_step};
pub use program::verify_program;
