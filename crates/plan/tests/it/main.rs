//! Tests of the crate from outside.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod any_text;
mod forms;
mod graph;
mod published;
mod replies;
mod verifying;
