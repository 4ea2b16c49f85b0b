//! m&m's: plans over 33 multi-modal tools, and how they are judged.
//!
//! # What is where
//!
//! The kind of case (`suite.rs`), a request with its right plan (`case.rs`) and where it comes from (`data.rs`), the
//! plan that a run came to (`prediction.rs`), what it has in common with the right one (`compared.rs`), the verdict
//! (`judge.rs`), what of it a judge model decides (`entailment.rs`), the same in words (`explain.rs`), and figures of
//! many runs (`figures.rs`). The tools and their graph (`tools.rs`), and simulated ones (`pretend.rs`). The values that
//! plans are written with (`literal.rs`), what Python does with them (`python/`), and the metrics (`evaluation/`). The
//! published lines (`examples.rs`), predictions of others and logs of executions (`predictions.rs`), and how they are
//! scored (`scoring.rs`). Data of this kind, made anew (`generate.rs`). The paper's own figures (`published.rs`), and
//! tables in the shape of its own (`paper_tables.rs`).

mod case;
mod compared;
mod data;
mod entailment;
mod examples;
mod explain;
mod figures;
mod judge;
mod literal;
mod paper_tables;
mod prediction;
mod predictions;
mod pretend;
mod python;
mod scoring;
mod suite;
mod tools;

pub mod evaluation;
pub mod generate;
pub mod published;

pub use case::{CASE_BYTES_MAX, CASE_SCHEMA, ID_BYTES_MAX, MakeTools, Task};
pub use data::{ID_PREFIX, OWN_ID_PREFIX};
pub use entailment::JudgedValue;
pub use examples::{DataError, Example, LINE_BYTES_MAX, LINES_MAX, read_examples};
pub use judge::{Detail, STEP_CHARACTERS_MAX, STEPS_KEPT_MAX, TEXT_CHARACTERS_MAX, VERDICT_SCHEMA};
pub use literal::{Literal, LiteralError, NESTED_MAX};
pub use prediction::{Executed, Predicted};
pub use predictions::{
    Execution, Paired, Prediction, Tokens, mean_tokens, mean_turns, pair, pass_rate, read_executions,
    read_predictions,
};
pub use pretend::PretendTools;
pub use suite::{Mnms, NAME};
pub use tools::catalogue;
