//! What the evaluator says of one plan.

use std::collections::BTreeSet;

use super::check::Check;
use super::finding::Finding;
use super::loophole::Loophole;
use crate::python::Raised;

/// What one check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// Nothing was asked for. Counts neither as passed nor as failed.
    NotAsked,
    /// The published evaluator would have ended with this.
    Raised(Raised),
}

impl Mark {
    /// Whether it holds.
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

/// What the evaluator says of one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Whether there was a plan.
    pub delivered: bool,
    /// The checks of [`Check::COMMONSENSE`], if there was one.
    pub commonsense: Option<[Mark; 8]>,
    /// The checks of [`Check::HARD`], if the plan is complete and within the sandbox, and nothing was raised.
    pub hard: Option<[Mark; 5]>,
    /// The same for any plan, to see what it would come to.
    pub hard_ungated: Option<[Mark; 5]>,
    /// What the trip costs for all, in US dollars, if that can be said.
    pub total_cost: Option<f64>,
    /// The first check with which the published evaluator would have ended, and how. Such a plan is a failed one.
    pub crash: Option<(Check, Raised)>,
    /// Why the plan is no plan at all. Every check is then failed. In the right mode alone.
    pub malformed: Option<String>,
    /// What is wrong, day by day. In the right mode alone.
    pub findings: Vec<Finding>,
}

impl Judgement {
    /// Of no plan.
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

    /// Of a plan with these marks.
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

    /// The gaps that the plan would have slipped through, each once.
    pub fn loopholes(&self) -> BTreeSet<Loophole> {
        self.findings.iter().filter_map(|finding| finding.loophole).collect()
    }

    /// What a check says; nothing where it was not carried out.
    pub fn mark(&self, check: Check) -> Option<Mark> {
        let of = |checks: &[Check], marks: &[Mark]| {
            checks.iter().zip(marks).find(|(it, _)| **it == check).map(|(_, mark)| *mark)
        };
        let commonsense = self.commonsense.and_then(|marks| of(&Check::COMMONSENSE, &marks));
        commonsense.or_else(|| self.hard.and_then(|marks| of(&Check::HARD, &marks)))
    }

    /// Whether all checks of common sense hold.
    pub fn commonsense_pass(&self) -> bool {
        self.crash.is_none() && self.commonsense.is_some_and(|marks| marks.into_iter().all(Mark::is_passed))
    }

    /// Whether all that was asked for is met.
    pub fn hard_pass(&self) -> bool {
        let is_met = |mark| matches!(mark, Mark::Passed | Mark::NotAsked);
        self.crash.is_none() && self.hard.is_some_and(|marks| marks.into_iter().all(is_met))
    }

    /// Whether the plan is good.
    pub fn final_pass(&self) -> bool {
        self.commonsense_pass() && self.hard_pass()
    }
}
