//! What shrinking showed, as reports tell it.

use planproof_synth::{Case, ShrinkEnd};
use serde::Serialize;

use super::{Requirement, ShrinkOptions, ShrunkFailure, group_alike};

/// What shrinking showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShrinkReport {
    /// How it was done.
    pub options: ShrinkOptions,
    /// Failures that were shrunk.
    pub taken: u64,
    /// Those that failed again, and so have a smallest case.
    pub reproduced: u64,
    /// Distinct failures among these, by class and shape.
    pub distinct: u64,
    /// Runs of the agent, those that confirm included.
    pub runs: u64,
    /// The failures, those that are alike one behind the other.
    pub failures: Vec<ShrunkCase>,
    /// Failed cases that could not be shrunk.
    pub skipped: Vec<NotShrunk>,
}

/// A failed case that could not be shrunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotShrunk {
    /// Its id.
    pub case: String,
    /// Why.
    pub why: String,
}

/// A failure and its smallest case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShrunkCase {
    /// Id of the failed case.
    pub case: String,
    /// Which distinct failure it is, from 1; null where it did not fail again.
    pub group: Option<u64>,
    /// The class of the failure.
    pub class: &'static str,
    /// The requirement whose violation stayed the same, in words; null where none was violated.
    pub violated: Option<String>,
    /// `minimal`, `unfinished` or `not_failing`.
    pub end: &'static str,
    /// Before.
    pub from: CaseSize,
    /// After.
    pub to: CaseSize,
    /// What is left of the paragraph.
    pub paragraph: String,
    /// Distinct cases that were tested.
    pub tested: u64,
    /// Runs that the search took.
    pub runs: u64,
    /// Runs of the smallest case that confirm it.
    pub confirmations: u64,
    /// How many of these failed in the same way.
    pub confirmed: u64,
    /// The share of its runs that fail is at least this, with 95 % confidence; null without such runs.
    pub low: Option<f64>,
    /// And at most this.
    pub high: Option<f64>,
}

/// How large a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CaseSize {
    /// Actions.
    pub actions: u64,
    /// Distinct requirements.
    pub constraints: u64,
    /// Words of the paragraph.
    pub words: u64,
}

impl CaseSize {
    fn of(case: &Case) -> Self {
        Self {
            actions: case.actions.len() as u64,
            constraints: case.difficulty.constraints as u64,
            words: case.paragraph.split_whitespace().count() as u64,
        }
    }
}

impl Requirement {
    fn describe(&self) -> String {
        match self {
            Self::Before { first, second } => format!("{first} before {second}"),
            Self::Clock { action, bound } => format!("{action} {bound}"),
        }
    }
}

impl ShrinkReport {
    /// Of failures of these cases.
    ///
    /// # Panics
    /// When a failure is not of one of the cases.
    pub fn new(
        options: ShrinkOptions,
        failures: &[ShrunkFailure],
        skipped: Vec<NotShrunk>,
        cases: &[Case],
    ) -> Self {
        let (again, gone): (Vec<ShrunkFailure>, Vec<ShrunkFailure>) =
            failures.iter().cloned().partition(|failure| failure.shrunk.end != ShrinkEnd::NotFailing);
        let groups = group_alike(&again);
        let grouped = (1u64..).zip(&groups).flat_map(|(number, group)| {
            group.iter().map(|place| (Some(number), &again[*place])).collect::<Vec<_>>()
        });
        let all = grouped.chain(gone.iter().map(|failure| (None, failure)));
        let all = all.map(|(group, failure)| ShrunkCase::new(group, failure, cases));
        Self {
            options,
            taken: failures.len() as u64,
            reproduced: again.len() as u64,
            distinct: groups.len() as u64,
            runs: failures.iter().map(|it| u64::from(it.runs + it.confirmed.runs)).sum(),
            failures: all.collect(),
            skipped,
        }
    }
}

impl ShrunkCase {
    fn new(group: Option<u64>, failure: &ShrunkFailure, cases: &[Case]) -> Self {
        let ShrunkFailure { error, target, shrunk, runs, confirmed } = failure;
        let case = &cases[*error as usize];
        let interval = (confirmed.runs > 0).then(|| confirmed.interval());
        Self {
            case: case.id.clone(),
            group,
            class: target.class.as_str(),
            violated: target.violated.as_ref().map(Requirement::describe),
            end: shrunk.end.as_str(),
            from: CaseSize::of(case),
            to: CaseSize::of(&shrunk.case),
            paragraph: shrunk.case.paragraph.clone(),
            tested: shrunk.tested as u64,
            runs: u64::from(*runs),
            confirmations: u64::from(confirmed.runs),
            confirmed: u64::from(confirmed.failed),
            low: interval.map(|it| it.low),
            high: interval.map(|it| it.high),
        }
    }
}
