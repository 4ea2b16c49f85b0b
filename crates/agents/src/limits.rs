//! What ends a run that does not end by itself.

use std::time::Duration;

/// The limits of one run. Reaching one is an outcome of the run,
/// [`EndReason::LimitReached`](planproof_trace::EndReason::LimitReached), not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Longest time from the query to the end.
    pub wall: Duration,
    /// Most model turns of an in-process agent, most tool calls of an external one.
    pub iterations: u32,
    /// Most bytes that an external agent writes to stdout and stderr together, or that the reply of an agent at a
    /// URL has.
    pub output_bytes: u64,
}

impl Default for RunLimits {
    /// The limits of the original experiments, 180 seconds and 50 iterations, and 4 MiB of output.
    fn default() -> Self {
        Self { wall: Duration::from_secs(180), iterations: 50, output_bytes: 4 * 1024 * 1024 }
    }
}

impl RunLimits {
    /// The wall limit in milliseconds, as traces state it.
    pub fn wall_ms(&self) -> u64 {
        u64::try_from(self.wall.as_millis()).unwrap_or(u64::MAX)
    }
}
