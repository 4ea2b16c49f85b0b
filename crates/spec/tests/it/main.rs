//! The crate against the textbook definitions, and what users read of it.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test as the test itself does")]

mod adversary;
mod diagnostics;
mod examples;
mod export;
mod monitor;
mod published;
mod round_trip;
mod rules;
mod rules_values;
mod support;
mod twin;
