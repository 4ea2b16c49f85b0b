//! The suite of orders: synthesised cases in which tasks have to be done in an order that a paragraph of English
//! demands, in the time form at times that it demands as well, or whose paragraph contradicts itself on purpose.
//!
//! Cases, their oracle and their files are those of [`planproof_synth`]; here they stand behind the traits of
//! [`planproof_suite`], through which the engine and the reports see them. [`OrderSuite`] is the kind of case,
//! [`OrderCase`] one of them. Beside it stands what only this suite has: dissecting and shrinking failures, learning
//! data, and topics of one's own.
//!
//! # What is where
//!
//! The kind of case with its classes, flags and baselines (`suite.rs`), what is said of many runs of infeasible cases
//! (`infeasible.rs`), and one case (`case.rs`): its tools (`tools.rs`), what makes it the same as another
//! (`identity.rs`), its guard (`guard.rs`), the right answer (`answer.rs`), and its cells in tables of runs
//! (`cells.rs`). A verdict in words (`explanation.rs`) is made of phrases (`words.rs`) about what is stated
//! (`stated.rs`) and about conflicts (`conflict.rs`), and drawn in `picture.rs`; what there is to say of single
//! events is in `notes.rs`.
//!
//! Which wordings fail most is counted in `phrasing.rs`. What came of a run with the verdict as the oracle gives it
//! (`outcome.rs`) is what dissecting and shrinking go by. Both are campaigns of their own that follow from what
//! came before (`course.rs`, run by `run.rs`, summed up in `report.rs`): the dissection of failures (`dissect.rs`;
//! `dissect/part.rs` takes a part of one) and the shrinking of failures with several runs of each smaller case
//! (`shrink.rs`). How both lie in the store is said in `led_to.rs`. Learning data is made in `learning.rs` (of
//! agents that write text in `learning/text.rs`). Topics (`topics.rs`) come from a model (`topics/generate.rs`) or
//! of a user's own tools (`topics/own_tools.rs`). How long the solver took is counted in `solver.rs`.

mod answer;
mod case;
mod cells;
mod conflict;
pub mod dissect;
mod explanation;
mod guard;
mod identity;
mod infeasible;
pub mod learning;
mod led_to;
mod notes;
mod outcome;
mod phrasing;
mod picture;
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
    DissectionReport, DissectionRun, Enough, EnoughCounts, ReportedTrial, SkippedTrial, Step, TRIALS_MAX,
    TopicErrors, Trial, TrialRecord, errors_by_topic, pick_errors,
};
pub use explanation::violated_places;
pub use guard::{RightCall, Standing};
pub use infeasible::InfeasibleReport;
pub use led_to::{Failed, LedTo, shrinker};
pub use outcome::{OrderOutcome, OrderRun, typed, untyped};
/// Synthesis, reading and judging of orders, for commands that do one of these alone.
pub use planproof_synth as synth;
pub use shrink::{
    CANDIDATE_RUNS_MAX, CandidateRecord, CaseSize, ExampleRun, FailureCount, NotShrunk, Requirement,
    ShrinkOptions, ShrinkReport, ShrinkRun, Shrinking, ShrunkCase, ShrunkFailure, Target, group_alike,
    pick_failures,
};
pub use solver::SolverMeter;
pub use suite::OrderSuite;
pub use tools::{case_arguments, mock_tools};
