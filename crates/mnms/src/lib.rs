//! m&m's: plans over 33 multi-modal tools, and how they are judged.
//!
//! # What is where
//!
//! The tools and their graph (`tools.rs`), the values that plans are written with (`literal.rs`), what Python does with
//! them (`python/`), and the metrics (`evaluation/`).

mod literal;
mod python;
mod tools;

pub mod evaluation;

pub use literal::{Literal, LiteralError, NESTED_MAX};
pub use tools::catalogue;
