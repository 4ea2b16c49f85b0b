//! Guards of agents that work: a guard before an MCP server, hooks of coding agents, whether the agents that are
//! configured here are held to rules, and the sessions that others recorded.
//!
//! # Module layout
//!
//! - `planproof guard`: `guard.rs`, between a client and a server that it starts (`guard/relay.rs`) or one at a URL
//!   (`guard/http.rs`), for a program that asks (`guard/decide.rs`), and once more by other rules (`guard/replay.rs`).
//!   What guards of one session share is in `guard/shared.rs`.
//! - `planproof hook`: `hook.rs`, its memory in `hook/memory.rs`, and its place in configurations in `hook/install.rs`.
//! - `planproof doctor`: `doctor.rs`; configurations of coding agents: `coding_agents.rs`.
//! - Recorded sessions that somebody names: `recorded.rs`; rules that a command is given: `rules.rs`.
//! - The arguments of the commands: `arguments.rs`. A command line in a configuration is read by the command's own
//!   parser, which is passed in (`line.rs`).
//!
//! It must not know a suite, a campaign or a report. What decides on a call is the crate `guard`, and everything that
//! is printed or written goes through the crate `output`.

// As in the crate `output`; `clippy.toml` has the rest of the rule.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

pub mod arguments;
mod coding_agents;
pub mod doctor;
pub mod guard;
pub mod hook;
pub mod line;
pub mod recorded;
pub mod rules;
