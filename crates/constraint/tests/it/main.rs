//! The crate against its slow twin (every permutation, judged by positions alone), and against known numbers.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test as the test itself does")]

mod choice;
mod choice_faults;
mod choice_twin;
mod count;
mod depth;
mod equivalence;
mod execution;
mod explain;
mod order;
mod repair;
mod shape;
mod timed;
mod timed_twin;
mod twin;
