//! What shrinking failures showed.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Most runs of one candidate, and most confirming runs of a result.
pub const CANDIDATE_RUNS_MAX: u32 = 100;

/// How failures are shrunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShrinkOptions {
    /// Most runs of one candidate: 1 to [`CANDIDATE_RUNS_MAX`].
    pub runs: u32,
    /// How many of them have to fail: 1 to `runs`.
    pub failures: u32,
    /// Confirming runs of the result: 0 to [`CANDIDATE_RUNS_MAX`].
    pub confirm: u32,
    /// Most runs for one failure, without the confirming ones.
    pub runs_max: u32,
    /// Most failures that are shrunk.
    pub failures_max: u32,
}

impl Default for ShrinkOptions {
    /// Two of three runs, five confirming ones, 200 in all; three failures.
    fn default() -> Self {
        Self { runs: 3, failures: 2, confirm: 5, runs_max: 200, failures_max: 3 }
    }
}

impl ShrinkOptions {
    /// How often a case of the candidates' campaign can be run.
    pub fn repeats(&self) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(self.runs.max(self.confirm).saturating_sub(1))
    }
}

/// What shrinking showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShrinkReport {
    /// Id of the campaign of the candidates.
    pub campaign: String,
    /// How it was done.
    pub options: ShrinkOptions,
    /// Failures that were taken.
    pub taken: u64,
    /// Those that failed again, and so have a smallest case.
    pub reproduced: u64,
    /// Distinct failures among these, by class and shape.
    pub distinct: u64,
    /// Those with an unfinished shrinking.
    pub unfinished: u64,
    /// Runs of the agent, including the confirming ones.
    pub runs: u64,
    /// The failures, similar ones next to each other.
    pub failures: Vec<ShrunkCase>,
    /// Failed cases that could not be shrunk, including all infeasible ones, in the order of the campaign.
    pub skipped: Vec<NotShrunk>,
}

/// A failed case that could not be shrunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotShrunk {
    pub case: String,
    pub why: String,
}

/// A failure and its smallest case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShrunkCase {
    /// Id of the failed case.
    pub case: String,
    /// Which distinct failure it is, from 1; null if it did not fail again.
    pub group: Option<u64>,
    /// The class of the failure.
    pub class: &'static str,
    /// The requirement that is violated before and after, in words; null if there is none.
    pub violated: Option<String>,
    /// `minimal`, `unfinished` or `not_failing`.
    pub end: &'static str,
    /// There are runs left.
    pub is_open: bool,
    pub from: CaseSize,
    pub to: CaseSize,
    pub original: String,
    /// What is left of it.
    pub paragraph: String,
    /// Where it states the requirements that the example violated: first characters, and those after the last, in
    /// Unicode scalar values.
    pub marks: Vec<[u32; 2]>,
    /// The correct plan nearest to the example's calls; empty if none is known.
    pub plan: Vec<String>,
    /// A run of the smallest case with this failure; null if there is none.
    pub example: Option<ExampleRun>,
    /// Distinct cases that were tested.
    pub tested: u64,
    /// Runs that the search took.
    pub runs: u64,
    /// Confirming runs of the smallest case.
    pub confirmations: u64,
    /// How many of these failed in the same way.
    pub confirmed: u64,
    /// At least this share of its runs fails, with 95 % confidence; null without such runs.
    pub low: Option<f64>,
    /// And at most this.
    pub high: Option<f64>,
}

/// A run in the candidates' campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExampleRun {
    /// Id of its case.
    pub case: String,
    /// Which repeat of it, from 0.
    pub repeat: u32,
}

/// How large a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CaseSize {
    pub actions: u64,
    pub constraints: u64,
    pub sentences: u64,
    pub sub_sentences: u64,
    /// Words of the paragraph.
    pub words: u64,
}

impl ShrinkReport {
    /// The failed cases that could not be shrunk for each reason, in the order of the first occurrences of the
    /// reasons.
    pub fn skipped_by_reason(&self) -> Vec<(&str, Vec<&str>)> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for NotShrunk { case, why } in &self.skipped {
            match reasons.iter_mut().find(|(reason, _)| reason == why) {
                Some((_, cases)) => cases.push(case),
                None => reasons.push((why, vec![case])),
            }
        }
        reasons
    }
}

impl ShrunkCase {
    /// The counts before and after: `actions`, `requirements`, `sentences`, `sub-sentences`, `words`.
    pub fn sizes(&self) -> [(&'static str, u64, u64); 5] {
        let Self { from, to, .. } = self;
        [
            ("actions", from.actions, to.actions),
            ("requirements", from.constraints, to.constraints),
            ("sentences", from.sentences, to.sentences),
            ("sub-sentences", from.sub_sentences, to.sub_sentences),
            ("words", from.words, to.words),
        ]
    }
}
