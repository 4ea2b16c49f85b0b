//! Tests of decisions, logs and messages.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod agreement;
mod answers;
mod decisions;
mod hooks;
mod lines;
mod logs;
mod memory;
mod messages;
mod modes;
mod results;
mod runs;
mod sessions;
mod support;
