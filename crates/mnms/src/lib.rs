//! m&m's: plans over 33 multi-modal tools, and how they are judged.
//!
//! # What is where
//!
//! The tools and their graph (`tools.rs`), the published data (`data.rs`), predictions and logs of executions
//! (`predictions.rs`), the values that plans are written with (`literal.rs`), what Python does with them (`python/`), and
//! the metrics (`evaluation/`).

mod data;
mod literal;
mod predictions;
mod python;
mod tools;

pub mod evaluation;

pub use data::{DataError, Example, LINE_BYTES_MAX, LINES_MAX, read_examples};
pub use literal::{Literal, LiteralError, NESTED_MAX};
pub use predictions::{
    Execution, Paired, Prediction, Tokens, mean_tokens, mean_turns, pair, pass_rate, read_executions,
    read_predictions,
};
pub use tools::catalogue;
