//! Names become what they stand for: agents, models, the tools of cases, and what keeps programs away from the rest.
//! Whatever runs agents uses it.
//!
//! # Module layout
//!
//! Agents (`agents.rs`, those of specifications in `kinds.rs`, teams in `team.rs`), models (`models.rs`, with where
//! they are and which key they get in `providers.rs`), what a user probably meant (`meant.rs`), specifications
//! (`specifications.rs`), the surroundings of programs (`env_file.rs`, `isolation.rs`), the sandbox of Python
//! (`python.rs`), the tools of cases (`tools.rs`), those that a user names (`sources.rs`, with the servers that a file
//! names in `servers.rs`), the arguments that say how agents and models are asked (`arguments.rs`), and errors of
//! campaigns as failures of the command (`errors.rs`).
//!
//! It must not know a command or a suite. The roles of teams that suites bring are registered ([`register_roles`]).

// As in the crate `output`; `clippy.toml` has the rest of the rule.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod agents;
pub mod arguments;
mod env_file;
pub mod errors;
pub mod isolation;
mod kinds;
mod meant;
mod models;
pub mod providers;
pub mod python;
mod servers;
pub mod sources;
pub mod specifications;
mod team;
mod tools;

pub use agents::{agent, agent_spec, no_isolation, sandbox};
pub use kinds::{CallLanguage, language, made_from, options_written, rules_named_by, with_options};
pub use meant::{RUNS_COMMANDS, as_command, with_provider};
pub use models::{is_simulation, model, must_be_known, run_time, tell_run_time};
pub use servers::NamedServers;
pub use team::{RolesFile, register_roles};
pub use tools::{fault_of_case, tools_of_cases, warn_of_tools};
