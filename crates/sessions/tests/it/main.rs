//! Records of others: which calls they have, in which order, with what came of them, and what is said of the rest.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod coding_agents;
mod damaged;
mod spans;
mod support;
mod transcripts;
