//! What makes agents, models and tools out of names, and with them the world of a campaign (`world.rs`). No command is
//! known here: whatever runs agents uses it.
//!
//! # Module layout
//!
//! Agents (`agents.rs`, those of specifications in `kinds.rs`, teams in `team.rs`), models (`models.rs`, with where
//! they are and which key they get in `providers.rs`), what a user probably meant (`meant.rs`), specifications
//! (`specifications.rs`), the surroundings of programs (`env_file.rs`, `isolation.rs`), keys (`secrets.rs`), and the
//! tools of cases (`tools.rs`).

mod agents;
mod env_file;
mod isolation;
mod kinds;
mod meant;
mod models;
pub(crate) mod providers;
pub(crate) mod specifications;
mod team;
mod tools;
mod world;

pub(crate) use agents::{agent, agent_spec, no_isolation, sandbox};
pub(crate) use kinds::{CallLanguage, language, made_from, options_written, rules_named_by, with_options};
pub(crate) use meant::{RUNS_COMMANDS, as_command, with_provider};
pub(crate) use models::{is_simulation, model, must_be_known, run_time, tell_run_time};
pub(crate) use tools::{fault_of_case, tools_of_cases, warn_of_tools};
pub(crate) use world::Outside;
