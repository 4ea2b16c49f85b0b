//! What ends a run that does not end by itself.

use std::time::Duration;

use planproof_model::run_time::Over;
use planproof_plan::subtasks::SUB_TASKS_MAX;
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
    /// Calls that a right agent may need in the case of the run ([`for_case`](Self::for_case)); `None` if that is
    /// unknown. Agents that limit the length of their plans leave room for that many.
    pub calls_needed: Option<u32>,
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
            calls_needed: None,
            reply_tokens: Some(REPLY_TOKENS),
            output_bytes: 4 * 1024 * 1024,
        }
    }
}

/// The margin of a limit that follows from a case: the share of the calls that a right agent may need, in percent,
/// and the least number. It is for calls that were refused and made again.
const MARGIN_PERCENT: u32 = 10;
const MARGIN_MIN: u32 = 2;

/// This many calls, and the margin.
fn with_margin(calls: u32) -> u32 {
    calls.saturating_add((calls / (100 / MARGIN_PERCENT)).max(MARGIN_MIN))
}

impl RunLimits {
    /// The limits of a run of a case in which a right agent may need this many calls; `None` if that is unknown. If the
    /// limit on iterations follows from the case, it leaves room for all of these calls at `turns_per_call` turns each
    /// ([`Agent::turns_per_call`](crate::Agent::turns_per_call)), the answer and a margin.
    pub fn for_case(self, calls: Option<u32>, turns_per_call: u32) -> Self {
        let limits = Self { calls_needed: calls, ..self };
        let Some(calls) = calls.filter(|_| self.iterations_follow_case) else { return limits };
        let needed = with_margin(calls).saturating_mul(turns_per_call.max(1)).saturating_add(1);
        Self { iterations: self.iterations.max(needed), ..limits }
    }

    /// The most sub-tasks of a plan that is a list of them: [`SUB_TASKS_MAX`], or as many as the calls that a right
    /// agent may need and a margin, so that the limit ends no right plan.
    pub(crate) fn sub_tasks(&self) -> usize {
        let needed = self.calls_needed.map_or(0, with_margin);
        SUB_TASKS_MAX.max(usize::try_from(needed).unwrap_or(usize::MAX))
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
        for (limits, calls, turns_per_call, iterations) in [
            (named, Some(60), 1, 50),
            (following, None, 1, 50),
            (following, Some(0), 1, 50),
            (following, Some(45), 1, 50),
            (following, Some(46), 1, 51),
            (following, Some(47), 1, 52),
            (following, Some(60), 1, 67),
            (following, Some(60), 2, 133),
            (following, Some(20), 2, 50),
            (following, Some(u32::MAX), 2, u32::MAX),
        ] {
            let limits = limits.for_case(calls, turns_per_call);
            assert_eq!((limits.iterations, limits.calls_needed), (iterations, calls), "{calls:?}");
        }
    }

    #[test]
    fn a_plan_may_be_as_long_as_the_case_takes() {
        for (calls, most) in [(None, SUB_TASKS_MAX), (Some(5), SUB_TASKS_MAX), (Some(19), 21), (Some(60), 66)]
        {
            // Whether or not the limit on iterations was named: this one cannot be.
            assert_eq!(RunLimits::default().for_case(calls, 1).sub_tasks(), most, "{calls:?}");
        }
    }
}
