//! The clock of runs that take real time.

use std::time::Instant;

use planproof_trace::Clock;

/// Milliseconds since it was made. Make one for each run, when the run starts.
#[derive(Debug, Clone, Copy)]
pub struct WallClock {
    start: Instant,
}

impl WallClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for WallClock {
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn unit(&self) -> &'static str {
        "milliseconds"
    }
}
