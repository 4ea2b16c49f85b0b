//! The evaluator's result for one plan.

use std::collections::BTreeSet;

use super::check::Check;
use super::finding::Finding;
use super::loophole::Loophole;
use crate::python::Raised;

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It passes.
    Passed,
    /// It fails.
    Failed,
    /// The request does not ask for this. It counts neither as passed nor as failed.
    NotAsked,
    /// The published evaluator would have stopped with this exception.
    Raised(Raised),
}

impl Mark {
    /// Whether it passes.
    pub fn is_passed(self) -> bool {
        self == Self::Passed
    }
}

impl From<bool> for Mark {
    fn from(holds: bool) -> Self {
        if holds { Self::Passed } else { Self::Failed }
    }
}

impl From<Result<bool, Raised>> for Mark {
    fn from(found: Result<bool, Raised>) -> Self {
        found.map_or_else(Self::Raised, Self::from)
    }
}

impl From<Result<Option<bool>, Raised>> for Mark {
    fn from(found: Result<Option<bool>, Raised>) -> Self {
        found.map_or_else(Self::Raised, |holds| holds.map_or(Self::NotAsked, Self::from))
    }
}

/// The evaluator's result for one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Whether there was a plan.
    pub delivered: bool,
    /// The checks of [`Check::COMMONSENSE`], if there was a plan.
    pub commonsense: Option<[Mark; 8]>,
    /// The checks of [`Check::HARD`], if the plan is complete and within the sandbox, and nothing was raised.
    pub hard: Option<[Mark; 5]>,
    /// The same for any plan, to show what the result would be.
    pub hard_ungated: Option<[Mark; 5]>,
    /// The cost of the trip for all travellers, in US dollars, if it can be computed.
    pub total_cost: Option<f64>,
    /// The first check at which the published evaluator would have stopped, and how. Such a plan fails.
    pub crash: Option<(Check, Raised)>,
    /// Why this is not a plan at all, in which case every check fails. Only in the right mode.
    pub malformed: Option<String>,
    /// What is wrong, day by day. Only in the right mode.
    pub findings: Vec<Finding>,
}

impl Judgement {
    /// The result if there is no plan.
    pub(super) fn not_delivered() -> Self {
        Self {
            delivered: false,
            commonsense: None,
            hard: None,
            hard_ungated: None,
            total_cost: None,
            crash: None,
            malformed: None,
            findings: Vec::new(),
        }
    }

    /// The result for a plan with these marks.
    pub(super) fn new(commonsense: [Mark; 8], hard: [Mark; 5], total_cost: Option<f64>) -> Self {
        let crash_in = |checks: &[Check], marks: &[Mark]| {
            checks.iter().zip(marks).find_map(|(&check, mark)| match mark {
                Mark::Raised(raised) => Some((check, *raised)),
                _ => None,
            })
        };
        let mut judgement = Self {
            delivered: true,
            commonsense: Some(commonsense),
            hard: None,
            hard_ungated: Some(hard),
            total_cost,
            crash: crash_in(&Check::COMMONSENSE, &commonsense),
            malformed: None,
            findings: Vec::new(),
        };
        let holds = |check| judgement.mark(check).is_some_and(Mark::is_passed);
        if judgement.crash.is_none() && holds(Check::Sandbox) && holds(Check::Complete) {
            judgement.crash = crash_in(&Check::HARD, &hard);
            judgement.hard = judgement.crash.is_none().then_some(hard);
        }
        judgement
    }

    /// The gaps that would have let the plan pass, each listed once.
    pub fn loopholes(&self) -> BTreeSet<Loophole> {
        self.findings.iter().filter_map(|finding| finding.loophole).collect()
    }

    /// The result of a check; `None` if it was not performed.
    pub fn mark(&self, check: Check) -> Option<Mark> {
        let of = |checks: &[Check], marks: &[Mark]| {
            checks.iter().zip(marks).find(|(it, _)| **it == check).map(|(_, mark)| *mark)
        };
        let commonsense = self.commonsense.and_then(|marks| of(&Check::COMMONSENSE, &marks));
        commonsense.or_else(|| self.hard.and_then(|marks| of(&Check::HARD, &marks)))
    }

    /// Whether all common-sense checks pass.
    pub fn commonsense_pass(&self) -> bool {
        self.crash.is_none() && self.commonsense.is_some_and(|marks| marks.into_iter().all(Mark::is_passed))
    }

    /// Whether every requirement of the request is met.
    pub fn hard_pass(&self) -> bool {
        let is_met = |mark| matches!(mark, Mark::Passed | Mark::NotAsked);
        self.crash.is_none() && self.hard.is_some_and(|marks| marks.into_iter().all(is_met))
    }

    /// Whether the plan passes all checks.
    pub fn final_pass(&self) -> bool {
        self.commonsense_pass() && self.hard_pass()
    }
}
