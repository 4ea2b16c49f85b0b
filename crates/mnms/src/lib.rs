//! m&m's: plans over 33 multi-modal tools, and how they are judged.
//!
//! # Module layout
//!
//! The suite (`suite.rs`), a request with its right plan as a case (`case.rs`) and where cases come from (`data.rs`),
//! the plan that a run produced (`prediction.rs`), if need be from its calls (`recorded.rs`), its comparison with the
//! right one (`compared.rs`), the verdict (`judge.rs`), the part of it that a judge model decides (`entailment.rs`),
//! results beside those of the right plan (`results.rs`), its explanation (`explain.rs`), and figures over many runs
//! (`figures.rs`). The tools and their graph (`tools.rs`), and simulated ones (`pretend.rs`). The values in plans
//! (`literal.rs`), Python's treatment of them (`python/`), and the metrics (`evaluation/`). The published lines
//! (`examples.rs`), finished predictions and execution logs (`predictions.rs`), and their scores (`scoring.rs`).
//! Generation of new data of this kind (`generate.rs`). The paper's own figures (`published.rs`), and tables in the
//! same form (`paper_tables.rs`).

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
mod recorded;
mod results;
mod scoring;
mod suite;
mod tools;

pub mod evaluation;
pub mod generate;
pub mod published;

pub use case::{CASE_BYTES_MAX, CASE_SCHEMA, ID_PREFIX, NAME, OWN_ID_PREFIX, RequestCase};
pub use entailment::JudgedValue;
pub use examples::{CorpusError, LINE_BYTES_MAX, LINES_MAX, RequestExample, read_examples};
pub use judge::{PlanDetail, STEP_CHARACTERS_MAX, STEPS_KEPT_MAX, TEXT_CHARACTERS_MAX, VERDICT_SCHEMA};
pub use literal::{Literal, LiteralError, NESTED_MAX};
pub use prediction::{ExecutionStatus, PredictedPlan, ProgramWay};
pub use predictions::{
    ExecutionResult, Paired, PlanPrediction, PredictionTokens, mean_tokens, mean_turns, pair, pass_rate,
    read_executions, read_predictions,
};
pub use pretend::PretendTools;
pub use recorded::{RecordedCall, RecordedPlan};
pub use results::{CarriedOut, CaseTools, ResultScores};
pub use suite::{Mnms, OpenMedia, ProgramRun, RunProgram};
pub use tools::catalogue;
