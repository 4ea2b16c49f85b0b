//! Decisions on the calls of an agent while it works: the same rules as in tests and on recorded sessions.
//!
//! [`GuardedSession`] (`decision.rs`) decides on one call after the other; whoever carries calls, asks it before each
//! and reports each result. [`McpGuard`] (`mcp.rs`, with the strict reading of JSON in `strict.rs` and the answers in
//! `answers.rs`) does so for the messages between an MCP client and a server. Decisions are logged (`log.rs`, decision
//! v1) and can be taken again with other rules (`replay.rs`).
//!
//! [`HookSession`] (`hook.rs`) does so for the events that coding agents report to hooks, a process each, in the
//! dialect of the agent (`dialect.rs`, with those that are known in `data/dialects`), and [`LineGuard`] (`lines.rs`,
//! decide v1) for code that asks about its own calls. Coding agents put servers into the names of tools, which are read
//! in one place (`agent_names.rs`). What cannot be read is searched for its session (`loose.rs`). All refuse names that
//! only look like those in the rules (`names.rs`), and the call that shows whether they are there (`canary.rs`).
//!
//! [`RunRules`] (`run.rs`) does so for the runs of a test, as any other guard of the engine.
//!
//! What is written holds no key of the environment, and whoever reads it back has them (`keys.rs`).
//!
//! Nothing here reads, writes, waits or knows the time: bytes and results go in, decisions and bytes come out. What is
//! passed on is what was decided on, to the byte.

mod agent_names;
mod answers;
mod canary;
mod decision;
mod dialect;
mod hook;
mod keys;
mod lines;
mod log;
mod loose;
mod mcp;
mod modes;
mod names;
mod replay;
mod run;
mod strict;

pub use agent_names::{AgentNames, NameReading, plainest_reading, whole_name};
pub use canary::{CANARY_TOOL, canary_reason, is_canary, mode_of_canary};
pub use decision::{
    AskedCall, CarriedCall, GuardedSession, PENDING_BYTES_MAX, PENDING_CALLS_MAX, Refusal, RuleChange, Ruling,
};
pub use dialect::{DIALECT_BYTES_MAX, DIALECT_SCHEMA, HookDialect, HookOutput, HookReply};
pub use hook::{HookAnswer, HookEvent, HookPayload, HookSession, PAYLOAD_BYTES_MAX, UnreadPayload};
pub use keys::HeldKeys;
pub use lines::{DECIDE_SCHEMA, LineAnswer, LineGuard, OPEN_SESSIONS_MAX};
pub use log::{
    DECIDE_SEAM, DecisionLog, LogFault, LoggedCall, LoggedLine, LoggedRule, SCHEMA, SEAM, happened, shown,
    taken_back,
};
pub use mcp::{FromClient, LINE_BYTES_MAX, McpGuard, OUTSTANDING_MAX, Then};
pub use modes::{GuardAction, GuardMode, GuardModes};
pub use replay::{ReplayedCall, replay};
pub use run::{RunGuard, RunRules};
pub use strict::{UnreadJson, digits_lost, read_all_held, read_held};
