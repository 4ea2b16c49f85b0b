//! Tests of decisions, logs and messages.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod agreement;
mod decisions;
mod hooks;
mod lines;
mod logs;
mod messages;
mod results;
mod runs;
mod support;
