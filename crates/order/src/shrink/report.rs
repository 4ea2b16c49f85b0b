//! The results of shrinking for reports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planproof_synth::{ActionId, NoShrinking, OracleVerdict, PlanningCase, ShrinkEnd};
use planproof_trace::TimeOfDay;

use super::{
    CaseSize, ExampleRun, NotShrunk, ShrinkReport, Shrinking, ShrunkCase, ShrunkFailure, TargetRequirement,
    group_alike,
};
use crate::{OrderCase, OrderOutcome, OrderRun, violated_places};

fn case_size(case: &PlanningCase) -> CaseSize {
    // Every sub-sentence states something.
    let places = case.constraint_sources().flatten().map(|source| (source.sentence, source.sub_sentence));
    let places: BTreeSet<(u32, u32)> = places.collect();
    let sentences: BTreeSet<u32> = places.iter().map(|(sentence, _)| *sentence).collect();
    CaseSize {
        actions: case.actions.len() as u64,
        constraints: case.difficulty.constraints as u64,
        sentences: sentences.len() as u64,
        sub_sentences: places.len() as u64,
        words: case.paragraph.split_whitespace().count() as u64,
    }
}

impl TargetRequirement {
    fn describe(&self) -> String {
        match self {
            Self::Before { first, second } => format!("{first} before {second}"),
            Self::Clock { action, bound } => format!("{action} {bound}"),
        }
    }
}

/// Sums up the shrinking of failures of these cases with these outcomes; `campaign` is the id of the candidates'
/// campaign.
///
/// # Panics
/// If a failure is not of one of the cases.
pub fn report(
    campaign: &str,
    shrinking: &Shrinking,
    cases: &[Arc<OrderCase>],
    outcomes: &[OrderOutcome],
) -> ShrinkReport {
    let Shrinking { options, failures, skipped, candidates } = shrinking;
    let (again, gone): (Vec<ShrunkFailure>, Vec<ShrunkFailure>) =
        failures.iter().cloned().partition(ShrunkFailure::is_reproduced);
    let groups = group_alike(&again);
    let grouped = (1u64..).zip(&groups).flat_map(|(number, group)| {
        group.iter().map(|place| (Some(number), &again[*place])).collect::<Vec<_>>()
    });
    let all = grouped.chain(gone.iter().map(|failure| (None, failure)));
    let all = all.map(|(group, failure)| shrunk_case(group, failure, shrinking, cases));
    // Infeasible cases are not picked, so that they do not use up the limit.
    let infeasible = outcomes.iter().filter(|outcome| {
        outcome.passed() == Some(false) && !cases[outcome.ordinal as usize].case().is_feasible()
    });
    let infeasible = infeasible.map(|outcome| (outcome.ordinal, &NoShrinking::Infeasible));
    let picked = skipped.iter().map(|(error, why)| (*error, why));
    // By case, so that several failed repeats of a case are listed once.
    let skipped: BTreeMap<u32, &NoShrinking> = picked.chain(infeasible).collect();
    let skipped = skipped.into_iter().map(|(error, why)| NotShrunk {
        case: cases[error as usize].case().id.clone(),
        why: why.to_string(),
    });
    ShrinkReport {
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

impl ShrunkFailure {
    /// Whether the failed case failed again, so that there is a smallest one.
    pub fn is_reproduced(&self) -> bool {
        let is_tested = self.shrunk.tested > 0;
        is_tested && self.shrunk.end != ShrinkEnd::NotFailing
    }
}

fn shrunk_case(
    group: Option<u64>,
    failure: &ShrunkFailure,
    shrinking: &Shrinking,
    cases: &[Arc<OrderCase>],
) -> ShrunkCase {
    let ShrunkFailure { error, target, shrunk, runs, confirmed, is_open, .. } = failure;
    let case = cases[*error as usize].case();
    let interval = (confirmed.runs > 0).then(|| confirmed.interval());
    // Without a failure that occurred again, there is no smallest case to give an example of.
    let example = shrinking.example(failure).filter(|_| failure.is_reproduced());
    ShrunkCase {
        case: case.id.clone(),
        group,
        class: target.class.as_str(),
        violated: target.violated.as_ref().map(TargetRequirement::describe),
        end: shrunk.end.as_str(),
        is_open: *is_open,
        from: case_size(case),
        to: case_size(&shrunk.case),
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

/// The correct plan of a verdict, in words; with starts in the time form.
fn plan(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<String> {
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
