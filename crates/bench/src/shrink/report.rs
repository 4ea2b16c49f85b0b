//! What shrinking showed, as reports tell it.

use std::collections::{BTreeMap, BTreeSet};

use planproof_synth::{ActionId, Case, NoShrinking, ShrinkEnd, Verdict};
use planproof_trace::TimeOfDay;
use serde::Serialize;

use super::{Requirement, ShrinkOptions, Shrinking, ShrunkFailure, group_alike};
use crate::{Outcome, violated_places};

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
    /// Those whose shrinking did not come to its end.
    pub unfinished: u64,
    /// Runs of the agent, those that confirm included.
    pub runs: u64,
    /// The failures, those that are alike one behind the other.
    pub failures: Vec<ShrunkCase>,
    /// Failed cases that could not be shrunk, all infeasible ones among them, in the order of the campaign.
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
    /// There are runs left.
    pub is_open: bool,
    /// Before.
    pub from: CaseSize,
    /// After.
    pub to: CaseSize,
    /// The paragraph before.
    pub original: String,
    /// What is left of it.
    pub paragraph: String,
    /// Where that states what the example violated: first characters, and those behind the last, in Unicode
    /// scalar values.
    pub marks: Vec<[u32; 2]>,
    /// The correct plan that is nearest to what the example did; empty where none is known.
    pub plan: Vec<String>,
    /// A run of the smallest case that failed so; null where it did not.
    pub example: Option<ExampleRun>,
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

/// A run in the campaign of the candidates.
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
    /// Actions.
    pub actions: u64,
    /// Distinct requirements.
    pub constraints: u64,
    /// Sentences.
    pub sentences: u64,
    /// Sub-sentences.
    pub sub_sentences: u64,
    /// Words of the paragraph.
    pub words: u64,
}

impl CaseSize {
    fn of(case: &Case) -> Self {
        // Every sub-sentence states something.
        let places = case.constraint_sources().flatten().map(|source| (source.sentence, source.sub_sentence));
        let places: BTreeSet<(u32, u32)> = places.collect();
        let sentences: BTreeSet<u32> = places.iter().map(|(sentence, _)| *sentence).collect();
        Self {
            actions: case.actions.len() as u64,
            constraints: case.difficulty.constraints as u64,
            sentences: sentences.len() as u64,
            sub_sentences: places.len() as u64,
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
    /// The failed cases that could not be shrunk for each reason, in the order in which the reasons come first.
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

    /// Of failures of these cases with these outcomes; `campaign` is the id of that of the candidates.
    ///
    /// # Panics
    /// When a failure is not of one of the cases.
    pub fn new(campaign: &str, shrinking: &Shrinking, cases: &[Case], outcomes: &[Outcome]) -> Self {
        let Shrinking { options, failures, skipped, candidates } = shrinking;
        let (again, gone): (Vec<ShrunkFailure>, Vec<ShrunkFailure>) =
            failures.iter().cloned().partition(ShrunkFailure::is_reproduced);
        let groups = group_alike(&again);
        let grouped = (1u64..).zip(&groups).flat_map(|(number, group)| {
            group.iter().map(|place| (Some(number), &again[*place])).collect::<Vec<_>>()
        });
        let all = grouped.chain(gone.iter().map(|failure| (None, failure)));
        let all = all.map(|(group, failure)| ShrunkCase::new(group, failure, shrinking, cases));
        // Infeasible cases are not picked, so that they do not take the places of others.
        let infeasible = outcomes.iter().filter(|outcome| {
            outcome.passed() == Some(false) && !cases[outcome.ordinal as usize].is_feasible()
        });
        let infeasible = infeasible.map(|outcome| (outcome.ordinal, &NoShrinking::Infeasible));
        let picked = skipped.iter().map(|(error, why)| (*error, why));
        let skipped: BTreeMap<u32, &NoShrinking> = picked.chain(infeasible).collect();
        let skipped = skipped
            .into_iter()
            .map(|(error, why)| NotShrunk { case: cases[error as usize].id.clone(), why: why.to_string() });
        Self {
            campaign: campaign.to_owned(),
            options: *options,
            taken: failures.len() as u64,
            reproduced: again.len() as u64,
            distinct: groups.len() as u64,
            unfinished: failures.iter().filter(|failure| failure.is_open).count() as u64,
            runs: candidates.iter().map(|record| record.outcomes.len() as u64).sum(),
            failures: all.collect(),
            skipped: skipped.collect(),
        }
    }
}

impl ShrunkFailure {
    /// Whether the failed case failed again, so that there is a smallest one.
    pub fn is_reproduced(&self) -> bool {
        let is_tested = self.shrunk.tested > 0;
        is_tested && self.shrunk.end != ShrinkEnd::NotFailing
    }
}

impl ShrunkCase {
    /// What was counted, before and after: `actions`, `requirements`, `sentences`, `sub-sentences`, `words`.
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

    fn new(group: Option<u64>, failure: &ShrunkFailure, shrinking: &Shrinking, cases: &[Case]) -> Self {
        let ShrunkFailure { error, target, shrunk, runs, confirmed, is_open, .. } = failure;
        let case = &cases[*error as usize];
        let interval = (confirmed.runs > 0).then(|| confirmed.interval());
        let example = shrinking.example(failure).filter(|_| failure.is_reproduced());
        Self {
            case: case.id.clone(),
            group,
            class: target.class.as_str(),
            violated: target.violated.as_ref().map(Requirement::describe),
            end: shrunk.end.as_str(),
            is_open: *is_open,
            from: CaseSize::of(case),
            to: CaseSize::of(&shrunk.case),
            original: case.paragraph.clone(),
            paragraph: shrunk.case.paragraph.clone(),
            marks: example.map_or_else(Vec::new, |(record, verdict)| {
                let places = violated_places(&record.case, verdict);
                places.iter().map(|place| [place.start, place.end]).collect()
            }),
            plan: example.map_or_else(Vec::new, |(record, verdict)| plan(&record.case, verdict)),
            example: failure
                .example
                .zip(example)
                .map(|(unit, (record, _))| ExampleRun { case: record.case.id.clone(), repeat: unit.repeat }),
            tested: shrunk.tested as u64,
            runs: u64::from(*runs),
            confirmations: u64::from(confirmed.runs),
            confirmed: u64::from(confirmed.failed),
            low: interval.map(|it| it.low),
            high: interval.map(|it| it.high),
        }
    }
}

/// The correct plan that a verdict names, in words; in the time form with starts.
fn plan(case: &Case, verdict: &Verdict) -> Vec<String> {
    let text =
        |id: &ActionId| case.actions.iter().find(|action| action.id == *id).map(|action| action.text.clone());
    let starts = verdict.time.as_ref().map_or(&[][..], |time| &time.repair_starts);
    let start = |place: usize| starts.get(place).and_then(|minute| TimeOfDay::from_minute(*minute));
    let actions = verdict.repair.iter().filter_map(text).enumerate();
    actions
        .map(|(place, text)| match start(place) {
            Some(start) => format!("{start} {text}"),
            None => text,
        })
        .collect()
}
