//! The boundary between kinds of cases and the engine: what a kind of case must provide so that a campaign of it can
//! be run, resumed, replayed, compared and reported.
//!
//! A [`Suite`] is a kind of case, such as orders of synthesised tasks or word problems. A [`Case`] is one of them.
//! The engine and the reports see them only through these traits and their plain data: they know no suite. Within a
//! suite everything stays typed; a line of JSON, a [`Card`], a [`Verdict`] or an [`Explanation`] crosses the
//! boundary.
//!
//! # Module layout
//!
//! The kind of case, and the list of them (`suite.rs`, `registry.rs`), a case and its data for statistics (`case.rs`),
//! what a run took and what its case needs (`effort.rs`), the data that cases are made from (`data.rs`), the options of
//! a suite (`option.rs`), the verdict on a run (`verdict.rs`), a verdict in words (`explanation.rs`), maps and
//! timelines as data (`drawing.rs`), a suite's own tables and figures (`section.rs`), the guard between an agent and
//! its tools (`guard.rs`), the tools (`toolbox.rs`), closer looks at failures by further runs (`sequel.rs`) and what
//! they came to (`studies.rs`), the right answer for a simulated model that is given it (`gold.rs`), runs as published
//! predictions (`prediction.rs`), what a judge model is asked (`questions.rs`) and what is done for a verdict after the
//! agent's work (`reference.rs`), rates with their intervals (`statistics.rs`), tests of two campaigns on the same
//! cases (`paired.rs`), the answer whether the second is worse (`gate.rs`), and code that several suites share: files
//! with a line for each row (`rows.rs`), a case as a line (`case_line.rs`), and the reading of a run that ends with an
//! answer (`runs.rs`).

// What others build on is described to the last field.
#![warn(missing_docs)]

mod case;
mod data;
mod drawing;
mod effort;
mod explanation;
pub mod gate;
mod gold;
mod guard;
mod option;
pub mod paired;
mod prediction;
pub mod questions;
pub mod reference;
mod registry;
mod section;
mod sequel;
#[expect(missing_docs, reason = "each field is one of report v1, which docs/files.md describes")]
pub mod studies;
mod suite;
mod toolbox;
mod verdict;

pub mod case_line;
pub mod rows;
pub mod runs;
pub mod statistics;

pub use case::{Card, Case, CaseError, CaseErrorKind};
pub use data::{CaseSelection, Data, PredictionExtras, PredictionVerdicts};
pub use drawing::{
    Bar, Bars, Board, Graph, GraphEdge, GraphNode, Map, MapPlace, MapWay, Period, PeriodEntry,
};
pub use effort::{EFFORT_MAX, Effort, EffortLimit, EffortLimits, Excess, Needed, nearest_rank};
pub use explanation::{Check, CheckState, Content, EventNote, Explanation, Fact, Mark, SequenceStep};
pub use gold::{Gold, GoldCall, GoldSubTask};
pub use guard::{Decision, Guard, GuardDenial, Guarding};
pub use option::{AgentCard, OptionForm, OptionUse, OwnedData, SWITCHED_ON, SuiteOption};
pub use prediction::PublishedPrediction;
pub use registry::{Registry, RegistryError};
pub use section::{Figure, Metric, Section, Table, grouped, is_nothing};
pub use sequel::{Concluded, Followed, OpenSequel, RunResult, Sequel, SequelCase, SequelRounds};
pub use suite::{Baseline, Columns, CombinationFigures, Judged, SizeUnit, Suite, SuiteAgent};
pub use toolbox::{BoxFuture, NoTools, Restoring, Toolbox};
pub use verdict::{
    AGENT_FAILED, Class, ClassInfo, FlagInfo, MISSING, REPLY_LIMIT, Score, Scored, TIMEOUT, UNPARSED_CALL,
    Unscored, Verdict,
};
