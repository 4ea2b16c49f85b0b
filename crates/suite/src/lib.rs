//! The boundary between kinds of cases and the engine: what a kind of case must offer so that a campaign of it can be
//! run, resumed, replayed, compared and reported.
//!
//! A [`Suite`] is a kind of case, such as orders of synthesised tasks or word problems. A [`Case`] is one of them. The
//! engine and the reports see them through these traits and the plain data around them alone: they know no suite.
//! Within a suite everything stays typed; what crosses the boundary is a line of JSON, a [`Card`], a [`Verdict`] or an
//! [`Explanation`].
//!
//! # What is where
//!
//! The kind of case, and those that there are (`suite.rs`, `registry.rs`), a case and what statistics need of it
//! (`case.rs`), the data that cases are made from (`data.rs`), how a run was judged (`verdict.rs`), a verdict in words
//! (`explanation.rs`), maps and timelines as data
//! (`drawing.rs`), tables and figures that only a suite can make (`section.rs`), what stands between an agent and
//! its tools (`guard.rs`), the tools (`toolbox.rs`), the right answer for a simulated model that is handed it
//! (`gold.rs`), rates with their intervals (`statistics.rs`), and what several suites have in common: files with a line
//! for each row (`rows.rs`), and what is read out of a run that ends with an answer (`runs.rs`).

mod case;
mod data;
mod drawing;
mod explanation;
mod gold;
mod guard;
pub mod questions;
mod registry;
mod section;
mod suite;
mod toolbox;
mod verdict;

pub mod rows;
pub mod runs;
pub mod statistics;

pub use case::{Card, Case, CaseError};
pub use data::{Data, Evidence, Predicted, Selection};
pub use drawing::{Bar, Bars, Graph, GraphEdge, GraphNode, Map, MapPlace, MapWay, Period, PeriodEntry};
pub use explanation::{Check, CheckState, Content, EventNote, Explanation, Fact, Mark, Step};
pub use gold::{Gold, GoldCall, GoldSubTask};
pub use guard::{Decision, Guard};
pub use registry::{Registry, RegistryError};
pub use section::{Figure, Metric, Section, Table};
pub use suite::{Baseline, Columns, Combined, Judged, Suite, SuiteAgent, Unit};
pub use toolbox::{BoxFuture, NoTools, Restoring, Toolbox};
pub use verdict::{Class, ClassInfo, FlagInfo, Score, Scored, Unscored, Verdict};
