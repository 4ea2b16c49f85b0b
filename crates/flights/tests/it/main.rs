//! The flights on disk.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod life;
mod place;
mod same;
