//! The suite of orders: synthesised cases in which tasks have to be done in an order that a paragraph of English
//! demands, in the time form at times that it demands as well, or whose paragraph contradicts itself on purpose.
//!
//! Cases, their oracle and their files are those of [`planproof_synth`]; here they implement the traits of
//! [`planproof_suite`], through which the engine and the reports see them. [`OrderSuite`] is the kind of case,
//! [`OrderCase`] one of them. The crate also has what only this suite offers: dissecting and shrinking failures,
//! learning data, and custom topics.
//!
//! # Module layout
//!
//! The kind of case with its baselines (`suite.rs`), its classes and flags (`classes.rs`), the figures of infeasible
//! cases (`infeasible.rs`), and one case (`case.rs`): its tools (`tools.rs`), its identity (`identity.rs`), its guard
//! (`guard.rs`), the right answer (`answer.rs`), and its cells in tables of runs (`cells.rs`). A verdict in words
//! (`explanation.rs`, with its text in `conversation.rs`) consists of phrases (`words.rs`) about constraints
//! (`stated.rs`) and conflicts (`conflict.rs`), and is drawn in `picture.rs`; remarks on single events are in
//! `notes.rs`. What campaigns and recordings keep is in `kept.rs`; cases that a store only names are drawn again in
//! `drawn.rs`, and cases of the engine are read as orders in `reader.rs`.
//!
//! Which wordings fail most is counted in `phrasing.rs`. The outcome of a run with the oracle's verdict (`outcome.rs`)
//! is the input of dissecting and shrinking. Both are campaigns of their own whose cases follow from earlier outcomes
//! (`search.rs`, run by `run.rs`, summed up in `report.rs`): the dissection of failures (`dissect.rs`;
//! `dissect/part.rs` takes a part of one) and the shrinking of failures with several runs of each smaller case
//! (`shrink.rs`); each is a sequel of its suite (`sequel.rs`). `led_to.rs` describes both in the store. Learning data
//! is made in `learning.rs` (for agents that write text in `learning/text.rs`). Topics (`topics.rs`) come from a model
//! (`topics/generate.rs`) or from a user's own tools (`topics/own_tools.rs`), and cases in a model's words from
//! `rewriting.rs`. The solver's time is counted in `solver.rs`.

mod answer;
mod board;
mod case;
mod cells;
mod classes;
mod conflict;
mod conversation;
pub mod dissect;
mod drawn;
mod explanation;
mod guard;
mod identity;
mod infeasible;
mod kept;
pub mod learning;
mod led_to;
mod notes;
mod outcome;
mod phrasing;
mod picture;
mod reader;
pub mod rewriting;
pub mod shrink;
mod solver;
mod stated;
mod suite;
mod tools;
pub mod topics;
mod words;

pub use case::{CONFLICT_IS_ALL, HAS_FLOWS, OFFERS_REPORT, OrderCase};
pub use dissect::{
    Cause, CauseShare, ChangedPiece, DissectOptions, DissectedCase, DissectedError, Dissection,
    DissectionReport, DissectionRun, Enough, EnoughCounts, ReportedTrial, SkippedTrial, TRIALS_MAX,
    TopicErrors, Trial, TrialRecord, TrialStep, errors_by_topic, pick_errors,
};
pub use drawn::{DrawnCases, DrawnLevel};
pub use explanation::violated_places;
pub use guard::{GuardState, RightCall};
pub use infeasible::InfeasibleReport;
pub use kept::{OrderDraw, OrderMaking, OrderOptions};
pub use led_to::{Failed, LedTo, shrinker};
pub use outcome::{OrderOutcome, OrderRun, typed, untyped};
/// Synthesis, reading and judging of orders, for commands that do one of these alone.
pub use planproof_synth as synth;
pub use reader::{OrderReader, read_order};
pub use shrink::{
    CANDIDATE_RUNS_MAX, CandidateRecord, CaseSize, ExampleRun, FailureCount, NotShrunk, ShrinkOptions,
    ShrinkReport, ShrinkRun, Shrinking, ShrunkCase, ShrunkFailure, Target, TargetRequirement, group_alike,
    pick_failures,
};
pub use solver::SolverMeter;
pub use suite::OrderSuite;
pub use tools::{case_arguments, mock_tools};
