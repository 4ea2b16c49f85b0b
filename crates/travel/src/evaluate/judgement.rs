//! The evaluator's result for one plan.

use std::collections::BTreeSet;

use super::check::TripCheck;
use super::finding::TripFinding;
use super::loophole::Loophole;
use crate::python::PythonException;

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckResult {
    Passed,
    Failed,
    /// The request does not ask for this. It counts neither as passed nor as failed.
    NotAsked,
    /// The published evaluator would have stopped with this exception.
    Raised(PythonException),
}

impl CheckResult {
    /// Whether it passes.
    pub fn is_passed(self) -> bool {
        self == Self::Passed
    }
}

impl From<bool> for CheckResult {
    fn from(holds: bool) -> Self {
        if holds { Self::Passed } else { Self::Failed }
    }
}

impl From<Result<bool, PythonException>> for CheckResult {
    fn from(found: Result<bool, PythonException>) -> Self {
        found.map_or_else(Self::Raised, Self::from)
    }
}

impl From<Result<Option<bool>, PythonException>> for CheckResult {
    fn from(found: Result<Option<bool>, PythonException>) -> Self {
        found.map_or_else(Self::Raised, |holds| holds.map_or(Self::NotAsked, Self::from))
    }
}

/// The evaluator's result for one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct TripJudgement {
    /// Whether there was a plan.
    pub delivered: bool,
    /// The checks of [`TripCheck::COMMONSENSE`], if there was a plan.
    pub commonsense: Option<[CheckResult; 8]>,
    /// The checks of [`TripCheck::HARD`], if the plan is complete and within the sandbox, and nothing was raised.
    pub hard: Option<[CheckResult; 5]>,
    /// The same for any plan, to show what the result would be.
    pub hard_ungated: Option<[CheckResult; 5]>,
    /// The cost of the trip for all travellers, in US dollars, if it can be computed.
    pub total_cost: Option<f64>,
    /// The first check at which the published evaluator would have stopped, and how. Such a plan fails.
    pub crash: Option<(TripCheck, PythonException)>,
    /// Why this is not a plan at all, in which case every check fails. Only in the right mode.
    pub malformed: Option<String>,
    /// What is wrong, day by day. Only in the right mode.
    pub findings: Vec<TripFinding>,
}

impl TripJudgement {
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
    pub(super) fn new(
        commonsense: [CheckResult; 8],
        hard: [CheckResult; 5],
        total_cost: Option<f64>,
    ) -> Self {
        let crash_in = |checks: &[TripCheck], marks: &[CheckResult]| {
            checks.iter().zip(marks).find_map(|(&check, mark)| match mark {
                CheckResult::Raised(raised) => Some((check, *raised)),
                _ => None,
            })
        };
        let mut judgement = Self {
            delivered: true,
            commonsense: Some(commonsense),
            hard: None,
            hard_ungated: Some(hard),
            total_cost,
            crash: crash_in(&TripCheck::COMMONSENSE, &commonsense),
            malformed: None,
            findings: Vec::new(),
        };
        let holds = |check| judgement.mark(check).is_some_and(CheckResult::is_passed);
        // The published evaluator runs the hard checks only for plans that pass these two, so only then can one of them
        // raise.
        if judgement.crash.is_none() && holds(TripCheck::Sandbox) && holds(TripCheck::Complete) {
            judgement.crash = crash_in(&TripCheck::HARD, &hard);
            judgement.hard = judgement.crash.is_none().then_some(hard);
        }
        judgement
    }

    /// The gaps that would have let the plan pass, each listed once.
    pub fn loopholes(&self) -> BTreeSet<Loophole> {
        self.findings.iter().filter_map(|finding| finding.loophole).collect()
    }

    /// The result of a check; `None` if it was not performed.
    pub fn mark(&self, check: TripCheck) -> Option<CheckResult> {
        let of = |checks: &[TripCheck], marks: &[CheckResult]| {
            checks.iter().zip(marks).find(|(it, _)| **it == check).map(|(_, mark)| *mark)
        };
        // `hard` and not `hard_ungated`: a check behind the gate was not performed.
        let commonsense = self.commonsense.and_then(|marks| of(&TripCheck::COMMONSENSE, &marks));
        commonsense.or_else(|| self.hard.and_then(|marks| of(&TripCheck::HARD, &marks)))
    }

    /// Whether all common-sense checks pass.
    pub fn commonsense_pass(&self) -> bool {
        self.crash.is_none()
            && self.commonsense.is_some_and(|marks| marks.into_iter().all(CheckResult::is_passed))
    }

    /// Whether every requirement of the request is met.
    pub fn hard_pass(&self) -> bool {
        let is_met = |mark| matches!(mark, CheckResult::Passed | CheckResult::NotAsked);
        self.crash.is_none() && self.hard.is_some_and(|marks| marks.into_iter().all(is_met))
    }

    /// Whether the plan passes all checks.
    pub fn final_pass(&self) -> bool {
        self.commonsense_pass() && self.hard_pass()
    }
}
