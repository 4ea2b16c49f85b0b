//! The time that the solver took while cases were made.

use std::time::{Duration, Instant};

use planproof_synth::SolverTimer;

/// Adds up the solver's calls and their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SolverMeter {
    /// Number of calls.
    pub calls: u64,
    pub time: Duration,
}

impl SolverTimer for SolverMeter {
    fn solver<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.time += start.elapsed();
        self.calls += 1;
        result
    }
}
