//! A dissection summed up for report v1, in the shape of the paper's Tables 4, 5 and 7.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planproof_suite::statistics::wilson;
use planproof_synth::Replacement;

use super::{
    Cause, CauseShare, ChangedPiece, DissectedCase, Dissection, DissectionReport, Enough, EnoughCounts,
    ReportedTrial, SkippedTrial, TopicErrors, Trial, TrialRecord, TrialStep, is_error,
};
use crate::{OrderCase, OrderOutcome, OrderRun};

/// Number of topics that are named, as in the paper's Table 5.
const TOPICS_MAX: usize = 5;

/// A change as it is reported.
fn changed_piece(change: &Replacement) -> ChangedPiece {
    let place = |span: planproof_synth::CharRange| [span.start, span.end];
    ChangedPiece {
        piece: change.piece.as_str(),
        from: change.from.clone(),
        to: change.to.clone(),
        places: change.places.iter().map(|(from, to)| [place(*from), place(*to)]).collect(),
    }
}

/// Sums up the dissection of a campaign with these cases and outcomes; `campaign` is the id of the trials' campaign.
pub fn report(
    campaign: &str,
    dissection: &Dissection,
    cases: &[Arc<OrderCase>],
    outcomes: &[OrderOutcome],
) -> DissectionReport {
    let found =
        |cause: Cause| dissection.errors.iter().filter(move |it| it.cause == Some(cause)).count() as u64;
    let decided = dissection.errors.iter().filter(|error| error.cause.is_some()).count() as u64;
    let unfinished = dissection.errors.iter().filter(|error| error.is_open).count() as u64;
    let share = |cause: Cause| {
        let errors = found(cause);
        let interval = wilson(errors, decided);
        CauseShare {
            cause: cause.as_str(),
            meaning: cause.meaning(),
            errors,
            share: (decided > 0).then(|| errors as f64 / decided as f64),
            low: interval.low,
            high: interval.high,
        }
    };
    let enough =
        |enough: Enough| dissection.errors.iter().filter(|error| error.enough == Some(enough)).count() as u64;
    let taken = dissection.errors.len() as u64;
    let (topics, topics_without_errors) = topics(cases, outcomes);
    let failed = outcomes.iter().filter(|outcome| is_error(outcome));
    // Cases, not runs: several failed repeats of a case are one error.
    let failed: BTreeSet<u32> = failed.map(|outcome| outcome.ordinal).collect();
    DissectionReport {
        campaign: campaign.to_owned(),
        variants: dissection.options.variants,
        reruns: dissection.options.reruns,
        original: dissection.options.original,
        errors: failed.len() as u64,
        taken,
        decided,
        // An open error has no cause, so none is subtracted twice.
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

fn dissected_cases(
    dissection: &Dissection,
    cases: &[Arc<OrderCase>],
    outcomes: &[OrderOutcome],
) -> Vec<DissectedCase> {
    let mut trials: BTreeMap<u32, BTreeMap<Trial, &TrialRecord>> = BTreeMap::new();
    for record in &dissection.trials {
        // Sorted by step and number, in whatever order they were run.
        trials.entry(record.error).or_default().insert(record.trial, record);
    }
    let class_of = |outcome: &OrderOutcome| Some(outcome.class()?.as_str());
    let mut classes = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| is_error(outcome)) {
        // Of several failed repeats, the first names the class.
        classes.entry(outcome.ordinal).or_insert_with(|| class_of(outcome));
    }
    let reported = |record: &TrialRecord| {
        let outcome = record.outcome.as_ref();
        ReportedTrial {
            id: record.case.id.clone(),
            step: record.trial.step.as_str(),
            number: record.trial.number,
            passed: outcome.and_then(OrderRun::passed),
            class: outcome.and_then(class_of),
            unscored: outcome.and_then(|outcome| Some(outcome.verdict.as_ref().err()?.to_string())),
            // The paragraph of a rerun is that of the failed case, which is reported once.
            paragraph: (record.trial.step != TrialStep::Rerun).then(|| record.case.paragraph.clone()),
            changes: record.changes.iter().map(changed_piece).collect(),
        }
    };
    let skipped = |(trial, why): &(Trial, String)| SkippedTrial {
        step: trial.step.as_str(),
        number: trial.number,
        why: why.clone(),
    };
    let errors =
        dissection.errors.iter().filter_map(|error| Some((error, cases.get(error.error as usize)?.case())));
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

/// The topics with the most errors, and the number of topics without any.
fn topics(cases: &[Arc<OrderCase>], outcomes: &[OrderOutcome]) -> (Vec<TopicErrors>, u64) {
    let (mut with, without): (Vec<_>, Vec<_>) =
        errors_by_topic(cases, outcomes).into_iter().partition(|topic| topic.errors > 0);
    // Stable, so that topics with equally many errors stay in the order of their names.
    with.sort_by_key(|topic| std::cmp::Reverse(topic.errors));
    with.truncate(TOPICS_MAX);
    (with, without.len() as u64)
}

/// The errors of every topic with a scored feasible case, in the order of their names. A case counts as failed if one
/// of its runs failed.
pub fn errors_by_topic(cases: &[Arc<OrderCase>], outcomes: &[OrderOutcome]) -> Vec<TopicErrors> {
    let mut by_case: BTreeMap<u32, bool> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_infeasible()) {
        if let Some(passed) = outcome.passed() {
            *by_case.entry(outcome.ordinal).or_insert(true) &= passed;
        }
    }
    let mut by_topic: BTreeMap<&str, TopicErrors> = BTreeMap::new();
    for (ordinal, passed) in by_case {
        let Some(case) = cases.get(ordinal as usize).map(|case| case.case()) else { continue };
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
