//! Whether a plan can be executed: its tools exist, take the given arguments, and use the outputs of earlier steps.
//!
//! # Which tools may use which outputs
//!
//! The catalogue says which tool may follow which, and a reference connects two tools. Taken literally that refuses
//! correct plans. A tool may need two inputs of which only one comes from the previous step: a plan that finds the
//! objects of a picture, selects one and crops the picture to it has to pass the picture again, and cropping does not
//! follow finding. So for the outputs of other steps that a step takes,
//!
//! - each output must have the kind that the argument takes: a picture for a picture, a list for a list; texts and
//!   numbers for each other, because either can be written as the other; and among other words only texts and
//!   numbers;
//! - each output must come from a tool that the step's tool may follow, or from further back: from a step whose
//!   outputs another input of this step was made from, directly or indirectly, if that other input does come from
//!   such a tool.
//!
//! So the picture in which the object was found may accompany the object, and any other picture may not. Every
//! reference of a text counts, not only one at its beginning.

mod arguments;
mod fault;
mod plan;
mod program;

pub use fault::{PlanSite, StepFault, StepFaultKind, VerificationFault};
pub use plan::{verify, verify_next, verify_step};
pub use program::verify_program;
