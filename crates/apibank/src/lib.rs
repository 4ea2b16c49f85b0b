//! API-Bank (Li et al. 2023): 73 tools over plain data, and the evaluators of its three levels.
//!
//! A tool is plain data and two functions ([`api::Entry`]): what it does to a [`world::World`], and whether the record
//! of a predicted call is as good as the gold one. The world is handed in (databases, date of today, randomness), so
//! that a call is the same in every run.
//!
//! # What is where
//!
//! Values as the original has them (`value.rs`) and as Python writes them (`python.rs`), dates as it reads them
//! (`dates.rs`), records of calls (`record.rs`), what is said of a tool (`catalogue.rs`, `data/`), what a tool is
//! (`api.rs`), calls in texts and the types of their arguments (`call.rs`), databases and all else that a call may
//! reach (`world.rs`), the tools of levels 1 and 2 (`tools.rs`), and how calls are judged there, as published and right
//! (`evaluate.rs`, which lists what the two modes do in different ways). Level 3 has tools, tasks and figures of its
//! own (`level3.rs`).

pub mod api;
pub mod call;
pub mod catalogue;
pub mod dates;
pub mod evaluate;
pub mod level3;
pub mod python;
pub mod record;
pub mod suite;
pub mod tools;
pub mod value;
pub mod world;
