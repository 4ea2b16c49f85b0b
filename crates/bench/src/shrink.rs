//! Shrinking failures: the smallest case that the agent still fails in the same way.
//!
//! The search itself is [`planproof_synth::Shrinker`]; here its test is to run the agent. An agent fails now and then, so each
//! candidate is run until it has failed [`failures`](ShrinkOptions::failures) times out of at most
//! [`runs`](ShrinkOptions::runs), or cannot any more. A run counts as a failure only if it is the same one: of the same
//! class, and with the same requirement violated ([`Target`]).
//!
//! What was chosen because it failed looks worse than it is. So the result is run some more times, on which no choice
//! depended, and these say how often it fails.

mod report;

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_constraint::{Shape, Variable};
use planproof_store::Unit;
use planproof_synth::{Bound, Case, Class, Draw, NoShrinking, ShrinkEnd, Shrinker, Shrunk, Verdict};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{Campaign, CampaignEnd, CampaignError, Interval, Outcome, Supervision, wilson};

pub use report::{CaseSize, NotShrunk, ShrinkReport, ShrunkCase};

/// Most runs of one candidate, and most that confirm a result.
pub const CANDIDATE_RUNS_MAX: u32 = 100;

/// How failures are shrunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShrinkOptions {
    /// Most runs of one candidate: 1 to [`CANDIDATE_RUNS_MAX`].
    pub runs: u32,
    /// How many of them have to fail: 1 to `runs`.
    pub failures: u32,
    /// Runs of the result that confirm it: 0 to [`CANDIDATE_RUNS_MAX`].
    pub confirm: u32,
    /// Most runs for one failure, those that confirm it aside.
    pub runs_max: u32,
}

impl Default for ShrinkOptions {
    /// Two of three runs, five to confirm, 200 in all.
    fn default() -> Self {
        Self { runs: 3, failures: 2, confirm: 5, runs_max: 200 }
    }
}

/// How often a candidate failed in the same way, and how often it did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureCount {
    /// Runs with the same failure.
    pub failed: u32,
    /// All runs.
    pub runs: u32,
}

impl FailureCount {
    /// The share of runs that fail, with 95 % confidence.
    pub fn interval(self) -> Interval {
        wilson(u64::from(self.failed), u64::from(self.runs))
    }

    /// Whether the candidate fails; `None` while that is open.
    pub fn decision(self, options: &ShrinkOptions) -> Option<bool> {
        let passed = self.runs - self.failed;
        if self.failed >= options.failures {
            Some(true)
        } else {
            (passed > options.runs - options.failures).then_some(false)
        }
    }

    /// The fewest runs that can decide what is open; 0 where it is decided.
    fn runs_to_decide(self, options: &ShrinkOptions) -> u32 {
        let passed = self.runs - self.failed;
        let to_pass = (options.runs - options.failures + 1).saturating_sub(passed);
        options.failures.saturating_sub(self.failed).min(to_pass)
    }
}

/// What makes a failure the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The class of the failure.
    pub class: Class,
    /// The first requirement that was violated; `None` where none was.
    pub violated: Option<Requirement>,
}

/// A requirement, by the texts of the tasks that it is about: these stay when a case gets smaller.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Requirement {
    /// One task before another.
    Before {
        /// The earlier one.
        first: String,
        /// The later one.
        second: String,
    },
    /// A clock time for a task.
    Clock {
        /// Which task.
        action: String,
        /// What is demanded of it.
        bound: Bound,
    },
}

/// The requirements that a verdict says are violated, in its order.
fn violated(case: &Case, verdict: &Verdict) -> Vec<Requirement> {
    let text = |place: usize| case.actions[place].text.clone();
    let requirement = |id| {
        let pair = case.constraints.iter().find(|stated| stated.id == id);
        let bound = || case.time.iter().flat_map(|time| &time.bounds).find(|stated| stated.id == id);
        match pair {
            Some(pair) => Some(Requirement::Before { first: text(pair.first), second: text(pair.second) }),
            None => bound().map(|it| Requirement::Clock { action: text(it.action), bound: it.bound }),
        }
    };
    verdict.violated.iter().filter_map(|violated| requirement(violated.id.clone())).collect()
}

impl Target {
    /// The failure of a run; `None` where it passed.
    pub fn of(case: &Case, verdict: &Verdict) -> Option<Self> {
        let violated = violated(case, verdict).into_iter().next();
        Some(Self { class: verdict.class?, violated })
    }

    /// Whether a run of a smaller case failed in the same way.
    pub fn is_hit(&self, case: &Case, verdict: &Verdict) -> bool {
        verdict.class == Some(self.class)
            && self.violated.as_ref().is_none_or(|wanted| violated(case, verdict).contains(wanted))
    }

    /// The shape of what a case demands, with the violated requirement marked; `None` where the case is too large for it.
    /// Clock times count as such, not by the minute.
    pub fn shape(&self, case: &Case) -> Option<Shape> {
        let mut order = planproof_constraint::Order::new(case.actions.len())?;
        for stated in &case.constraints {
            order.try_before(Variable::new(stated.first), Variable::new(stated.second)).ok()?;
        }
        let mut labels: Vec<u8> = (0..case.actions.len())
            .map(|place| match &self.violated {
                Some(Requirement::Before { first, .. }) if *first == case.actions[place].text => 1,
                Some(Requirement::Before { second, .. }) if *second == case.actions[place].text => 2,
                Some(Requirement::Clock { action, .. }) if *action == case.actions[place].text => 3,
                _ => 0,
            })
            .collect();
        for stated in case.time.iter().flat_map(|time| &time.bounds) {
            labels[stated.action] |= match stated.bound {
                Bound::EndsBy(_) => 4,
                Bound::StartsFrom(_) => 8,
            };
        }
        Shape::of(&order, &labels)
    }
}

/// A failure that was shrunk.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrunkFailure {
    /// Place of the failed case in its campaign.
    pub error: u32,
    /// What stayed the same.
    pub target: Target,
    /// The smallest case that was found.
    pub shrunk: Shrunk,
    /// Runs of the agent that the search took.
    pub runs: u32,
    /// Runs of the result on which no choice depended.
    pub confirmed: FailureCount,
}

/// Failures that are the same once they are shrunk: of the same class, and with the same shape. One that is too large to have
/// its shape found is alike to none. Gives the places of each group, each group and the groups in rising order.
pub fn group_alike(failures: &[ShrunkFailure]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(Class, Option<Shape>, usize), Vec<usize>> = BTreeMap::new();
    for (place, failure) in failures.iter().enumerate() {
        let shape = failure.target.shape(&failure.shrunk.case);
        let alone = if shape.is_none() { place } else { 0 };
        groups.entry((failure.target.class, shape, alone)).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort();
    groups
}

/// Shrinks failures of a campaign, with its agent and limits.
#[derive(Clone)]
pub struct ShrinkRun<'a> {
    /// The campaign.
    pub campaign: &'a Campaign,
    /// How.
    pub options: ShrinkOptions,
    /// Makes the candidates.
    pub shrinker: Shrinker<'a>,
}

/// Why a failure was not shrunk.
#[derive(Debug, thiserror::Error)]
pub enum ShrinkError {
    /// Its case cannot be.
    #[error(transparent)]
    NoShrinking(#[from] NoShrinking),
    /// A run could not be carried out.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
}

impl ShrinkRun<'_> {
    /// Shrinks the failure `target` of the case at `error`. The runs go by the campaign's seed, so that the same seed gives the
    /// same result. A budget that is used up, of the supervision or in [`ShrinkOptions::runs_max`], ends it with
    /// what was found by then.
    ///
    /// # Errors
    /// [`ShrinkError`].
    ///
    /// # Panics
    /// When `error` is not the place of a case.
    pub async fn run(
        &self,
        error: u32,
        target: &Target,
        stop: &CancellationToken,
        supervision: &Supervision,
    ) -> Result<ShrunkFailure, ShrinkError> {
        let case = &self.campaign.cases[error as usize];
        let mut counts: HashMap<String, FailureCount> = HashMap::new();
        let (mut runs, mut is_over) = (0, false);
        loop {
            // The search is followed from its beginning with what is known by now, up to the first case of which that is not
            // enough: it takes far less than a run.
            let mut open = None;
            let shrunk = self.shrinker.shrink(case, &mut |candidate| {
                let count = counts.get(&candidate.paragraph).copied().unwrap_or_default();
                let decision = count.decision(&self.options);
                if decision.is_none() {
                    open = Some((candidate.clone(), count));
                }
                decision
            })?;
            let open = open.filter(|(_, count)| {
                !is_over && runs + count.runs_to_decide(&self.options) <= self.options.runs_max
            });
            let Some((candidate, count)) = open else {
                let confirmed = if shrunk.end == ShrinkEnd::NotFailing || is_over {
                    FailureCount::default()
                } else {
                    let place = (shrunk.tested as u64) << 32;
                    let none = FailureCount::default();
                    let runs = self.options.confirm;
                    self.count(error, place, &shrunk.case, none, runs, target, stop, supervision).await?.0
                };
                return Ok(ShrunkFailure { error, target: target.clone(), shrunk, runs, confirmed });
            };
            let more = count.runs_to_decide(&self.options);
            let place = shrunk.tested as u64;
            let (now, end) =
                self.count(error, place, &candidate, count, more, target, stop, supervision).await?;
            // A run that could not be scored, or was refused, says nothing; asking again would go on for ever.
            is_over = end != CampaignEnd::Complete || now.runs < count.runs + more;
            runs += now.runs - count.runs;
            counts.insert(candidate.paragraph.clone(), now);
        }
    }

    /// Runs a candidate so many times more.
    #[expect(clippy::too_many_arguments, reason = "it is a part of `run`")]
    async fn count(
        &self,
        error: u32,
        place: u64,
        candidate: &Case,
        mut count: FailureCount,
        more: u32,
        target: &Target,
        stop: &CancellationToken,
        supervision: &Supervision,
    ) -> Result<(FailureCount, CampaignEnd), CampaignError> {
        let Some(repeats) = NonZeroU32::new(count.runs + more) else {
            return Ok((count, CampaignEnd::Complete));
        };
        let seed = Draw::new(self.campaign.seed, u64::from(error), "shrink/runs").number();
        let campaign = Campaign {
            cases: Arc::from([candidate.clone()]),
            seed: Draw::new(seed, place, "shrink/candidate").number(),
            repeats,
            ..self.campaign.clone()
        };
        let units: Vec<Unit> =
            (count.runs..repeats.get()).map(|repeat| Unit { ordinal: 0, repeat }).collect();
        let mut outcomes: Vec<Outcome> = Vec::new();
        let end = campaign
            .run_units(None, &units, stop, supervision.clone(), |outcome| outcomes.push(outcome))
            .await?;
        for verdict in outcomes.iter().filter_map(|outcome| outcome.verdict.as_ref().ok()) {
            count.runs += 1;
            count.failed += u32::from(target.is_hit(candidate, verdict));
        }
        Ok((count, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every run of coin flips is decided when the fewest runs that decide it have been made, as counting to the end decides.
    #[test]
    fn deciding_early_decides_the_same() {
        for runs in 1..=6u32 {
            for failures in 1..=runs {
                let options = ShrinkOptions { runs, failures, ..ShrinkOptions::default() };
                for flips in 0..1u32 << runs {
                    let mut count = FailureCount::default();
                    while count.decision(&options).is_none() {
                        let more = count.runs_to_decide(&options);
                        assert!(more > 0 && count.runs + more <= runs, "{count:?} of {options:?}");
                        for _ in 0..more {
                            count.failed += flips >> count.runs & 1;
                            count.runs += 1;
                        }
                    }
                    assert_eq!(count.decision(&options), Some(flips.count_ones() >= failures));
                    assert_eq!(count.runs_to_decide(&options), 0);
                }
            }
        }
    }
}
