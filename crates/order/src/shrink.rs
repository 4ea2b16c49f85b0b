//! Shrinking failures: the smallest case that the agent still fails in the same way.
//!
//! The search itself is [`planproof_synth::Shrinker`]; here its test is to run the agent. An agent fails only
//! sometimes, so each candidate is run until it has failed [`failures`](ShrinkOptions::failures) times out of at most
//! [`runs`](ShrinkOptions::runs), or no longer can. A run counts as a failure only if it is the same one: of the same
//! class, and with the same requirement violated ([`Target`]).
//!
//! A case that was chosen because it failed looks worse than it is. So the result is run some more times, on which no
//! choice depended, and these runs estimate how often it fails.
//!
//! All runs for the failures of a campaign are a campaign of their own, with the candidates as its cases, so that the
//! store, budgets and recordings handle them like all runs. It is run in rounds: each failure that is not shrunk yet
//! gets as many runs in a round as can decide its candidate.

mod report;
mod run;
mod search;
mod sequel;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use planproof_constraint::{Shape, Variable};
use planproof_engine::{FindingCandidate, Unit, pick_smallest};
use planproof_suite::Case as _;
use planproof_suite::statistics::{Interval, wilson};
use planproof_synth::{Bound, NoShrinking, OracleVerdict, OrderClass, PlanningCase, Shrinker, Shrunk};

use crate::classes::class_of;
use crate::{OrderCase, OrderOutcome, OrderRun};
use search::Search;

pub use planproof_engine::studies::{
    CANDIDATE_RUNS_MAX, CaseSize, ExampleRun, NotShrunk, ShrinkOptions, ShrinkReport, ShrunkCase,
};
pub use report::report;
pub use run::ShrinkRun;
pub(crate) use sequel::{OPTIONS, ShrinkingSequel};

/// How often a candidate failed in the same way, out of how many runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureCount {
    /// Runs with the same failure.
    pub failed: u32,
    pub runs: u32,
}

impl FailureCount {
    /// The share of runs that fail, with 95 % confidence.
    pub fn interval(self) -> Interval {
        wilson(u64::from(self.failed), u64::from(self.runs))
    }

    /// Whether the candidate fails; `None` while that is undecided.
    pub fn decision(self, options: &ShrinkOptions) -> Option<bool> {
        let passed = self.runs - self.failed;
        if self.failed >= options.failures {
            Some(true)
        } else {
            // More passes than these leave too few runs for the required failures.
            (passed > options.runs - options.failures).then_some(false)
        }
    }

    /// The smallest number of runs that can decide it; 0 if it is decided.
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
    pub class: OrderClass,
    /// The first violated requirement; `None` if there is none.
    pub violated: Option<TargetRequirement>,
}

/// A requirement, by the texts of its tasks: these stay the same when a case gets smaller.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetRequirement {
    /// One task before another.
    Before { first: String, second: String },
    /// A clock time for a task.
    Clock {
        action: String,
        /// What is demanded of it.
        bound: Bound,
    },
}

/// The requirements that are violated according to a verdict, in its order.
fn violated(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<TargetRequirement> {
    let text = |place: usize| case.actions[place].text.clone();
    let requirement = |id| {
        let pair = case.constraints.iter().find(|stated| stated.id == id);
        let bound = || case.time.iter().flat_map(|time| &time.bounds).find(|stated| stated.id == id);
        match pair {
            Some(pair) => {
                Some(TargetRequirement::Before { first: text(pair.first), second: text(pair.second) })
            }
            None => bound().map(|it| TargetRequirement::Clock { action: text(it.action), bound: it.bound }),
        }
    };
    verdict.violated.iter().filter_map(|violated| requirement(violated.id.clone())).collect()
}

impl Target {
    /// The failure of a run; `None` if it passed.
    pub fn of(case: &PlanningCase, verdict: &OracleVerdict) -> Option<Self> {
        let violated = violated(case, verdict).into_iter().next();
        Some(Self { class: verdict.class?, violated })
    }

    /// Whether a run of a smaller case failed in the same way.
    pub fn is_hit(&self, case: &PlanningCase, verdict: &OracleVerdict) -> bool {
        verdict.class == Some(self.class)
            // Any place in the list will do: a smaller case can violate other requirements first.
            && self.violated.as_ref().is_none_or(|wanted| violated(case, verdict).contains(wanted))
    }

    /// The shape of a case's demands, with the violated requirement marked; `None` if the case is too large for it.
    /// Clock times count without their minute.
    pub fn shape(&self, case: &PlanningCase) -> Option<Shape> {
        let mut order = planproof_constraint::Order::new(case.actions.len())?;
        for stated in &case.constraints {
            order.try_before(Variable::new(stated.first), Variable::new(stated.second)).ok()?;
        }
        let mut labels: Vec<u8> = (0..case.actions.len())
            .map(|place| match &self.violated {
                Some(TargetRequirement::Before { first, .. }) if *first == case.actions[place].text => 1,
                Some(TargetRequirement::Before { second, .. }) if *second == case.actions[place].text => 2,
                Some(TargetRequirement::Clock { action, .. }) if *action == case.actions[place].text => 3,
                _ => 0,
            })
            .collect();
        for stated in case.time.iter().flat_map(|time| &time.bounds) {
            // Bits above the numbers 1 to 3, so that target and clock times do not mix.
            labels[stated.action] |= match stated.bound {
                Bound::EndsBy(_) => 4,
                Bound::StartsFrom(_) => 8,
            };
        }
        Shape::of(&order, &labels)
    }
}

/// A smaller case that is run, or the smallest one again, with the outcomes of its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateRecord {
    /// Index of the failed case in its campaign.
    pub error: u32,
    /// Which of its candidates, from 1, the failed case itself first; `None` for the smallest case, which is run
    /// again to confirm it.
    pub number: Option<u32>,
    /// The case for the agent. Its id is that of the failed case with `.candidate-` and the number, or with
    /// `.shrunk`.
    pub case: PlanningCase,
    /// The outcomes of its runs, by repeat. Their index is that of the record.
    pub outcomes: BTreeMap<u32, OrderOutcome>,
}

/// A failure that was shrunk.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrunkFailure {
    /// Index of the failed case in its campaign.
    pub error: u32,
    /// What stayed the same.
    pub target: Target,
    /// The smallest case that was found.
    pub shrunk: Shrunk,
    /// Runs of the agent that the search took.
    pub runs: u32,
    /// Runs of the result on which no choice depended.
    pub confirmed: FailureCount,
    /// There are runs left: the shrinking was interrupted, or a run says nothing because something else failed.
    pub is_open: bool,
    /// A run of the smallest case that failed in the same way, a confirming one if possible: the index of its record,
    /// and the repeat.
    pub example: Option<Unit>,
}

/// All shrunk failures of a campaign, with the runs made for them.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrinking {
    /// How it was done.
    pub options: ShrinkOptions,
    /// In the order in which they were picked.
    pub failures: Vec<ShrunkFailure>,
    /// Failed cases that cannot be shrunk, with the reasons.
    pub skipped: Vec<(u32, NoShrinking)>,
    /// In the order in which they were made.
    pub candidates: Vec<CandidateRecord>,
}

impl Shrinking {
    /// The result of the existing candidates. `cases` are those of the campaign, `failures` are those of
    /// [`pick_failures`].
    ///
    /// # Panics
    /// If a failure is not of one of the cases.
    pub fn of_candidates(
        cases: &[Arc<OrderCase>],
        failures: Vec<(u32, Target)>,
        options: ShrinkOptions,
        shrinker: Shrinker<'_>,
        candidates: Vec<CandidateRecord>,
    ) -> Self {
        let mut search = Search::new(cases, failures, options, shrinker, candidates);
        search.follow();
        search.conclude()
    }

    /// Whether nothing is left to be run.
    pub fn is_complete(&self) -> bool {
        self.failures.iter().all(|failure| !failure.is_open)
    }

    /// The record and the verdict of a failure's [`example`](ShrunkFailure::example).
    pub fn example(&self, failure: &ShrunkFailure) -> Option<(&CandidateRecord, &OracleVerdict)> {
        let Unit { ordinal, repeat } = failure.example?;
        let record = self.candidates.get(ordinal as usize)?;
        Some((record, record.outcomes.get(&repeat)?.verdict.as_ref().ok()?))
    }
}

/// The failures to shrink: of each class first the smallest, in the order of [`pick_smallest`]; each case once, and
/// no infeasible one, from which nothing could be removed without making it feasible.
pub fn pick_failures(
    cases: &[Arc<OrderCase>],
    outcomes: &[OrderOutcome],
    options: &ShrinkOptions,
) -> Vec<(u32, Target)> {
    let by_unit: BTreeMap<Unit, &OrderOutcome> =
        outcomes.iter().map(|outcome| (outcome.unit(), outcome)).collect();
    let candidates = outcomes.iter().filter_map(|outcome| {
        let (ordinal, repeat) = (outcome.ordinal, outcome.repeat);
        let class = class_of(outcome.class()?)?;
        Some(FindingCandidate { ordinal, repeat, class, size: cases.get(ordinal as usize)?.card().order() })
    });
    let mut seen = HashSet::new();
    // All of them: infeasible cases and further runs of a case are dropped below, and must not use up the limit.
    let targets = pick_smallest(candidates, usize::MAX).into_iter().filter_map(|pick| {
        let case = cases.get(pick.ordinal as usize)?.case();
        if !case.is_feasible() || !seen.insert(pick.ordinal) {
            return None;
        }
        let outcome = by_unit.get(&Unit { ordinal: pick.ordinal, repeat: pick.repeat })?;
        Some((pick.ordinal, Target::of(case, outcome.verdict.as_ref().ok()?)?))
    });
    targets.take(options.failures_max as usize).collect()
}

/// Failures that are the same once they are shrunk: of the same class, and with the same shape. One that is too large
/// for a shape equals no other. Returns the indices of each group; each group and the groups are in rising order.
pub fn group_alike(failures: &[ShrunkFailure]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(OrderClass, Option<Shape>, usize), Vec<usize>> = BTreeMap::new();
    for (place, failure) in failures.iter().enumerate() {
        let shape = failure.target.shape(&failure.shrunk.case);
        // Its index makes the key of a failure without a shape unique.
        let alone = if shape.is_none() { place } else { 0 };
        groups.entry((failure.target.class, shape, alone)).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sequence of coin flips is decided after the smallest number of runs that can decide it, with the same
    /// result as counting to the end.
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
