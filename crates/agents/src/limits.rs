//! What ends a run that does not end by itself.

use std::time::Duration;

use planproof_model::run_time::Over;
use planproof_trace::{EndReason, LimitKind};

/// Most tokens of one reply, unless a campaign says otherwise. Every current model can write this many.
pub const REPLY_TOKENS: u32 = 4096;

/// The limits of one run. Reaching one is an outcome of the run,
/// [`EndReason::LimitReached`](planproof_trace::EndReason::LimitReached), not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Longest time from the query to the end. Time that a run waits because of us or of a model's server is not
    /// counted ([`run_time`](planproof_model::run_time)).
    pub wall: Duration,
    /// Most model turns of an in-process agent, most tool calls of an external one.
    pub iterations: u32,
    /// Most tokens of one reply to an in-process agent. Every request states this limit, or a lower one. `None` leaves
    /// it to the model's server, as campaigns did before there was this limit.
    pub reply_tokens: Option<u32>,
    /// Most bytes of an external agent's stdout and stderr together, or of the reply of an agent at a URL.
    pub output_bytes: u64,
}

impl Default for RunLimits {
    /// The limits of the original experiments, 180 seconds and 50 iterations; 4,096 tokens for a reply, and 4 MiB of
    /// output.
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(180),
            iterations: 50,
            reply_tokens: Some(REPLY_TOKENS),
            output_bytes: 4 * 1024 * 1024,
        }
    }
}

impl RunLimits {
    /// The end of a run whose time is over. If that happens inside a model request, it says nothing about the agent.
    pub(crate) fn out_of_time(&self, over: &Over) -> EndReason {
        match &over.asked {
            Some(model) => EndReason::Unscored {
                reason: format!(
                    "{model} had not answered when the {} seconds of the run were over",
                    self.wall.as_secs_f64()
                ),
            },
            None => EndReason::LimitReached { limit: LimitKind::WallMilliseconds, value: self.wall_ms() },
        }
    }

    /// The wall limit in milliseconds, as traces state it.
    pub fn wall_ms(&self) -> u64 {
        u64::try_from(self.wall.as_millis()).unwrap_or(u64::MAX)
    }
}
