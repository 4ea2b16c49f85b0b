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
    /// Whether a case that may need more iterations gets them ([`for_case`](Self::for_case)).
    pub iterations_follow_case: bool,
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
            iterations_follow_case: false,
            reply_tokens: Some(REPLY_TOKENS),
            output_bytes: 4 * 1024 * 1024,
        }
    }
}

/// The margin of a limit that follows from a case: the share of the calls that a right agent may need, in percent,
/// and the least number. It is for calls that were refused and made again.
const MARGIN_PERCENT: u32 = 10;
const MARGIN_MIN: u32 = 2;

impl RunLimits {
    /// The limits of a run of a case in which a right agent may need this many calls; `None` if that is unknown. If the
    /// limit on iterations follows from the case, it leaves room for all of these calls, the answer and a margin.
    pub fn for_case(self, calls: Option<u32>) -> Self {
        let Some(calls) = calls.filter(|_| self.iterations_follow_case) else { return self };
        let margin = (calls / (100 / MARGIN_PERCENT)).max(MARGIN_MIN);
        Self { iterations: self.iterations.max(calls.saturating_add(1).saturating_add(margin)), ..self }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_follow_from_the_case_unless_they_were_named() {
        let named = RunLimits::default();
        let following = RunLimits { iterations_follow_case: true, ..named };
        for (limits, calls, iterations) in [
            (named, Some(60), 50),
            (following, None, 50),
            (following, Some(0), 50),
            (following, Some(45), 50),
            (following, Some(46), 51),
            (following, Some(47), 52),
            (following, Some(60), 67),
            (following, Some(u32::MAX), u32::MAX),
        ] {
            assert_eq!(limits.for_case(calls).iterations, iterations, "{calls:?}");
        }
    }
}
