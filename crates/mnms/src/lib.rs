//! m&m's: plans over 33 multi-modal tools, and how they are judged.
//!
//! # What is where
//!
//! The tools and their graph (`tools.rs`); data of this kind, made anew (`generate.rs`).

pub mod generate;
mod tools;

pub use tools::catalogue;
