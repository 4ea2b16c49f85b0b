//! A dissection as part of report v1, in the shape of the paper's Tables 4, 5 and 7.

use std::collections::BTreeMap;

use planproof_synth::{Case, Change};
use serde::Serialize;

use super::{Cause, Dissection, Enough, Step, Trial, TrialRecord, is_error};
use crate::{Outcome, wilson};

/// Topics that are named, the paper's Table 5.
const TOPICS_MAX: usize = 5;

/// A dissection summed up, with every variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DissectionReport {
    /// Id of the campaign of the trials.
    pub campaign: String,
    /// Variants of each kind, the paper's K.
    pub variants: u32,
    /// Reruns.
    pub reruns: u32,
    /// The first failed variant of another structure named the constraint as the cause, as the paper prints it.
    pub original: bool,
    /// Cases that were failed.
    pub errors: u64,
    /// Those that were taken.
    pub taken: u64,
    /// Those whose cause was found.
    pub decided: u64,
    /// Those for which there were no variants of a kind, so that it is not ruled out.
    pub undecided: u64,
    /// Those whose dissection did not come to its end.
    pub unfinished: u64,
    /// Runs that it took.
    pub runs: u64,
    /// How often each cause was found.
    pub causes: Vec<CauseShare>,
    /// What was enough where the cause was a terminal.
    pub enough: EnoughCounts,
    /// The topics with most errors, of all errors of the campaign.
    pub topics: Vec<TopicErrors>,
    /// Topics without any error.
    pub topics_without_errors: u64,
    /// Each error that was taken, in the order of the campaign.
    pub cases: Vec<DissectedCase>,
}

/// How often a cause was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseShare {
    /// The cause.
    pub cause: &'static str,
    /// Errors that have it.
    pub errors: u64,
    /// Their share of those whose cause was found; null where there are none.
    pub share: Option<f64>,
    /// Lower end of the 95 % interval of the share.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What was enough to pass a terminal variant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EnoughCounts {
    /// The wordings alone.
    pub wordings: u64,
    /// The tasks alone.
    pub actions: u64,
    /// Each alone.
    pub either: u64,
    /// Only both together.
    pub both: u64,
}

/// Errors of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicErrors {
    /// The job.
    pub topic: String,
    /// Cases that were failed.
    pub errors: u64,
    /// Cases with a score.
    pub cases: u64,
}

/// A dissected error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DissectedCase {
    /// Its id.
    pub case: String,
    /// The job that it is about.
    pub topic: String,
    /// The class of its failure.
    pub class: Option<&'static str>,
    /// Its paragraph.
    pub paragraph: String,
    /// The cause; null where none was found.
    pub cause: Option<&'static str>,
    /// What was enough where the cause is a terminal.
    pub enough: Option<&'static str>,
    /// There are trials left.
    pub is_open: bool,
    /// Trials that could not be made.
    pub impossible: Vec<SkippedTrial>,
    /// The trials, in their order.
    pub trials: Vec<ReportedTrial>,
}

/// A trial that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedTrial {
    /// What it would have changed.
    pub step: &'static str,
    /// Which of that kind.
    pub number: u32,
    /// Why there is none.
    pub why: String,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportedTrial {
    /// Id of its case in the campaign of the trials.
    pub id: String,
    /// What it changes.
    pub step: &'static str,
    /// Which of that kind.
    pub number: u32,
    /// Whether the agent passed; null if that is not known.
    pub passed: Option<bool>,
    /// The class of its failure.
    pub class: Option<&'static str>,
    /// Why it has no score.
    pub unscored: Option<String>,
    /// Its paragraph; null for a rerun, which has that of the failed case.
    pub paragraph: Option<String>,
    /// What was changed.
    pub changes: Vec<ChangedPiece>,
}

/// A piece that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedPiece {
    /// What it is.
    pub piece: &'static str,
    /// Before.
    pub from: String,
    /// Now.
    pub to: String,
    /// Where it stands in the paragraph before and now, in Unicode scalar values: `[[start, end], [start, end]]`.
    pub places: Vec<[[u32; 2]; 2]>,
}

impl From<&Change> for ChangedPiece {
    fn from(change: &Change) -> Self {
        let place = |span: planproof_synth::Span| [span.start, span.end];
        Self {
            piece: change.piece.as_str(),
            from: change.from.clone(),
            to: change.to.clone(),
            places: change.places.iter().map(|(from, to)| [place(*from), place(*to)]).collect(),
        }
    }
}

impl DissectionReport {
    /// Sums up the dissection of a campaign with these cases and outcomes; `campaign` is the id of that of the trials.
    pub fn new(campaign: &str, dissection: &Dissection, cases: &[Case], outcomes: &[Outcome]) -> Self {
        let found =
            |cause: Cause| dissection.errors.iter().filter(move |it| it.cause == Some(cause)).count() as u64;
        let decided = dissection.errors.iter().filter(|error| error.cause.is_some()).count() as u64;
        let unfinished = dissection.errors.iter().filter(|error| error.is_open).count() as u64;
        let share = |cause: Cause| {
            let errors = found(cause);
            let interval = wilson(errors, decided);
            CauseShare {
                cause: cause.as_str(),
                errors,
                share: (decided > 0).then(|| errors as f64 / decided as f64),
                low: interval.low,
                high: interval.high,
            }
        };
        let enough = |enough: Enough| {
            dissection.errors.iter().filter(|error| error.enough == Some(enough)).count() as u64
        };
        let taken = dissection.errors.len() as u64;
        let (topics, topics_without_errors) = topics(cases, outcomes);
        let failed = outcomes.iter().filter(|outcome| is_error(outcome));
        let failed: std::collections::BTreeSet<u32> = failed.map(|outcome| outcome.ordinal).collect();
        Self {
            campaign: campaign.to_owned(),
            variants: dissection.options.variants,
            reruns: dissection.options.reruns,
            original: dissection.options.original,
            errors: failed.len() as u64,
            taken,
            decided,
            undecided: taken - decided - unfinished,
            unfinished,
            runs: dissection.trials.iter().filter(|trial| trial.outcome.is_some()).count() as u64,
            causes: Cause::ALL.into_iter().map(share).collect(),
            enough: EnoughCounts {
                wordings: enough(Enough::Wordings),
                actions: enough(Enough::Actions),
                either: enough(Enough::Either),
                both: enough(Enough::Both),
            },
            topics,
            topics_without_errors,
            cases: dissected_cases(dissection, cases, outcomes),
        }
    }
}

fn dissected_cases(dissection: &Dissection, cases: &[Case], outcomes: &[Outcome]) -> Vec<DissectedCase> {
    let mut trials: BTreeMap<u32, BTreeMap<Trial, &TrialRecord>> = BTreeMap::new();
    for record in &dissection.trials {
        trials.entry(record.error).or_default().insert(record.trial, record);
    }
    let class_of = |outcome: &Outcome| Some(outcome.verdict.as_ref().ok()?.class?.as_str());
    let mut classes = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| is_error(outcome)) {
        classes.entry(outcome.ordinal).or_insert_with(|| class_of(outcome));
    }
    let reported = |record: &TrialRecord| {
        let outcome = record.outcome.as_ref();
        ReportedTrial {
            id: record.case.id.clone(),
            step: record.trial.step.as_str(),
            number: record.trial.number,
            passed: outcome.and_then(Outcome::passed),
            class: outcome.and_then(class_of),
            unscored: outcome.and_then(|outcome| Some(outcome.verdict.as_ref().err()?.to_string())),
            paragraph: (record.trial.step != Step::Rerun).then(|| record.case.paragraph.clone()),
            changes: record.changes.iter().map(ChangedPiece::from).collect(),
        }
    };
    let skipped = |(trial, why): &(Trial, String)| SkippedTrial {
        step: trial.step.as_str(),
        number: trial.number,
        why: why.clone(),
    };
    let errors = dissection.errors.iter().filter_map(|error| Some((error, cases.get(error.error as usize)?)));
    let dissected = errors.map(|(error, case)| DissectedCase {
        case: case.id.clone(),
        topic: case.topic.clone(),
        class: classes.get(&error.error).copied().flatten(),
        paragraph: case.paragraph.clone(),
        cause: error.cause.map(Cause::as_str),
        enough: error.enough.map(Enough::as_str),
        is_open: error.is_open,
        impossible: error.impossible.iter().map(skipped).collect(),
        trials: trials
            .get(&error.error)
            .into_iter()
            .flat_map(BTreeMap::values)
            .map(|it| reported(it))
            .collect(),
    });
    dissected.collect()
}

/// The topics with most errors, and the number of those without any.
fn topics(cases: &[Case], outcomes: &[Outcome]) -> (Vec<TopicErrors>, u64) {
    let (mut with, without): (Vec<_>, Vec<_>) =
        errors_by_topic(cases, outcomes).into_iter().partition(|topic| topic.errors > 0);
    // Stable, so that topics with as many errors stay in the order of their names.
    with.sort_by_key(|topic| std::cmp::Reverse(topic.errors));
    with.truncate(TOPICS_MAX);
    (with, without.len() as u64)
}

/// The errors of every topic that a feasible case with a score has, in the order of their names. A case
/// counts as failed if one of its runs is.
pub fn errors_by_topic(cases: &[Case], outcomes: &[Outcome]) -> Vec<TopicErrors> {
    let mut by_case: BTreeMap<u32, bool> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_infeasible()) {
        if let Some(passed) = outcome.passed() {
            *by_case.entry(outcome.ordinal).or_insert(true) &= passed;
        }
    }
    let mut by_topic: BTreeMap<&str, TopicErrors> = BTreeMap::new();
    for (ordinal, passed) in by_case {
        let Some(case) = cases.get(ordinal as usize) else { continue };
        let topic = by_topic.entry(&case.topic).or_insert_with(|| TopicErrors {
            topic: case.topic.clone(),
            errors: 0,
            cases: 0,
        });
        topic.cases += 1;
        topic.errors += u64::from(!passed);
    }
    by_topic.into_values().collect()
}
