//! API-Bank (Li et al. 2023): 73 tools over plain data, and the evaluators of its three levels.
//!
//! A tool is plain data and two functions ([`api::ApiTool`]): one executes a call on a [`world::ApiWorld`], the other
//! says whether the record of a predicted call is as good as the gold record. The caller provides the world
//! (databases, today's date, randomness), so that a call gives the same result in every run.
//!
//! # Module layout
//!
//! Values as in the original (`value.rs`) and in Python's notation (`python.rs`), its exceptions
//! (`python_error.rs`), dates as the original parses them (`dates.rs`), records of calls (`record.rs`),
//! descriptions of tools (`catalogue.rs`, `data/`), the definition of a tool (`api.rs`), calls in texts and the
//! types of their arguments (`call.rs`), databases and everything else that a call may access (`world.rs`), the
//! tools of levels 1 and 2 (`tools.rs`), and how their calls are judged, in the published and in the right mode
//! (`evaluate.rs`, which lists the differences). Level 3 has its own tools, tasks and figures (`level3.rs`).

pub mod api;
pub mod call;
pub mod catalogue;
pub mod dates;
pub mod evaluate;
pub mod level3;
pub mod python;
mod python_error;
pub mod record;
pub mod suite;
pub mod tools;
pub mod value;
pub mod world;
