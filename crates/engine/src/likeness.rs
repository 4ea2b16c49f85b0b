//! Whether an agent passes and fails the same cases as one that does not plan.
//!
//! An agent that calls tools in the order of mention passes exactly the cases in which that order is right. So do
//! agents that a low success rate makes look merely weak, and whose user wants to know what they do instead.

use planproof_suite::statistics::wilson;
use planproof_suite::{Card, Suite};
use serde::Serialize;

use crate::RunSummary;

/// Fewest cases from which anything is concluded.
const CASES_MIN: u64 = 10;

/// The least share of cases in which both pass or both fail.
const ALIKE_MIN: f64 = 0.9;

/// The least share of the cases that either passes which both pass. Otherwise two agents that nearly always fail would
/// be alike.
const PASSED_ALIKE_MIN: f64 = 0.75;

/// An agent without a plan that an agent behaves like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Likeness {
    /// The word used in files: one of [`Suite::baseline_names`].
    pub name: &'static str,
    /// What it does: one of [`Suite::baseline_deeds`].
    pub does: &'static str,
    /// Scored cases, each with its first run.
    pub cases: u64,
    /// Those that both pass or both fail.
    pub alike: u64,
    /// The 95 % interval of their share, 0 to 1 (Wilson).
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// In how many cases the agent and the other one pass.
#[derive(Debug, Clone, Copy, Default)]
struct Agreement {
    both: u64,
    one: u64,
    none: u64,
}

impl Likeness {
    /// Of the agents whose passing each case is known, the one that the runs agree with most; `None` unless they agree
    /// nearly always, and both pass some cases and fail others.
    pub(crate) fn of(suite: &dyn Suite, cards: &[Card], runs: &[&RunSummary]) -> Option<Self> {
        let named = suite.baseline_names().iter().zip(suite.baseline_deeds()).enumerate();
        let likeness = named.filter(|(_, (_, does))| !does.is_empty()).filter_map(|(place, (name, does))| {
            let found = Agreement::of(place, cards, runs)?;
            let (alike, cases) = (found.both + found.none, found.both + found.one + found.none);
            let interval = wilson(alike, cases);
            let (low, high) = (interval.low, interval.high);
            found.is_likeness().then_some(Self { name, does, cases, alike, low, high })
        });
        // The last of several maxima would be taken, and the first is the simplest.
        likeness.reduce(|best, other| if other.alike > best.alike { other } else { best })
    }
}

impl Agreement {
    /// `None` if the other agent only passes with some probability.
    fn of(place: usize, cards: &[Card], runs: &[&RunSummary]) -> Option<Self> {
        let mut found = Self::default();
        for run in runs.iter().filter(|run| run.repeat == 0) {
            let Some(scored) = &run.scored else { continue };
            let passes = match (*cards.get(run.ordinal as usize)?.baselines.get(place)?)? {
                1.0 => true,
                0.0 => false,
                _ => return None,
            };
            match (passes, scored.passed()) {
                (true, true) => found.both += 1,
                (false, false) => found.none += 1,
                _ => found.one += 1,
            }
        }
        Some(found)
    }

    fn is_likeness(self) -> bool {
        let Self { both, one, none } = self;
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        both + one + none >= CASES_MIN
            && both > 0
            && none > 0
            && share(both + none, both + one + none) >= ALIKE_MIN
            && share(both, both + one) >= PASSED_ALIKE_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_alike_if_they_pass_and_fail_alike() {
        for ([both, one, none], is_likeness) in [
            ([10, 0, 20], true),
            ([1, 0, 9], true),
            ([9, 1, 0], false),
            ([3, 3, 30], false),
            ([3, 4, 60], false),
            ([6, 2, 20], true),
            // Two that always pass, always fail, or were hardly run.
            ([30, 0, 0], false),
            ([0, 0, 30], false),
            ([4, 0, 5], false),
        ] {
            assert_eq!(Agreement { both, one, none }.is_likeness(), is_likeness, "{both} {one} {none}");
        }
    }
}
