//! The failures worth a person's time.

use std::collections::BTreeMap;

use planproof_store::Unit;
use planproof_synth::{Case, Class, Source, Verdict};

use crate::{CaseSummary, Outcome, RunSummary};

/// A distinct failure, shown by the smallest case that has it.
#[derive(Debug, Clone)]
pub struct Finding<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its place in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case failed so first, from 0.
    pub repeat: u32,
    /// How the agent failed.
    pub class: Class,
    /// All that the oracle says.
    pub verdict: &'a Verdict,
    /// Where the paragraph states what was violated, without overlaps, in the order of the text.
    pub marks: Vec<Source>,
    /// Number of cases of this campaign that failed in the same class.
    pub alike: usize,
}

/// A failure that may become a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// How the agent failed.
    pub class: Class,
    /// Actions, constraints, and bytes of the paragraph: what makes one case smaller than another.
    pub size: (usize, usize, usize),
}

/// A failure that was picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case failed so first, from 0.
    pub repeat: u32,
    /// How the agent failed.
    pub class: Class,
    /// Number of cases that failed in the same class.
    pub alike: usize,
}

impl Candidate {
    /// The candidate that a run is; `None` unless it failed.
    pub fn of(case: &CaseSummary, run: &RunSummary) -> Option<Self> {
        let class = run.score.as_ref()?.class?;
        Some(Self {
            ordinal: run.ordinal,
            repeat: run.repeat,
            class,
            size: (case.actions, case.constraints, case.paragraph_bytes),
        })
    }
}

/// The smallest failing cases: of each class first the smallest, the most frequent class first, then the next
/// smallest, until there are `most`. A case that failed several times in a class counts once there. Small
/// means few actions, then few constraints, then a short paragraph.
pub fn pick_smallest(candidates: impl IntoIterator<Item = Candidate>, most: usize) -> Vec<Pick> {
    let mut by_class: BTreeMap<Class, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        by_class.entry(candidate.class).or_default().push(candidate);
    }
    let mut groups: Vec<_> = by_class.into_iter().collect();
    for (_, group) in &mut groups {
        group.sort_by_key(|candidate| (candidate.size, candidate.ordinal, candidate.repeat));
        group.dedup_by_key(|candidate| candidate.ordinal);
    }
    groups.sort_by_key(|(class, group)| (std::cmp::Reverse(group.len()), *class));
    let deepest = groups.iter().map(|(_, group)| group.len()).max().unwrap_or(0);
    (0..deepest)
        .flat_map(|rank| groups.iter().filter_map(move |(_, group)| Some((group.get(rank)?, group.len()))))
        .take(most)
        .map(|(candidate, alike)| {
            let Candidate { ordinal, repeat, class, .. } = *candidate;
            Pick { ordinal, repeat, class, alike }
        })
        .collect()
}

/// [`pick_smallest`] of the outcomes of a campaign, with all that findings show.
pub fn pick_findings<'a>(cases: &'a [Case], outcomes: &'a [Outcome], most: usize) -> Vec<Finding<'a>> {
    let by_unit: BTreeMap<Unit, &Outcome> =
        outcomes.iter().map(|outcome| (outcome.unit(), outcome)).collect();
    let candidates = outcomes.iter().filter_map(|outcome| {
        let case = cases.get(outcome.ordinal as usize)?;
        let class = outcome.verdict.as_ref().ok()?.class?;
        let size = (case.actions.len(), case.difficulty.constraints, case.paragraph.len());
        Some(Candidate { ordinal: outcome.ordinal, repeat: outcome.repeat, class, size })
    });
    pick_smallest(candidates, most)
        .into_iter()
        .filter_map(|pick| {
            let unit = Unit { ordinal: pick.ordinal, repeat: pick.repeat };
            Finding::new(cases.get(pick.ordinal as usize)?, by_unit.get(&unit)?, pick.alike)
        })
        .collect()
}

impl<'a> Finding<'a> {
    /// The finding that an outcome is, with the number of cases that failed in the same class; `None` unless it failed.
    pub fn new(case: &'a Case, outcome: &'a Outcome, alike: usize) -> Option<Self> {
        let verdict = outcome.verdict.as_ref().ok()?;
        let marks = violated_places(case, verdict);
        let Outcome { ordinal, repeat, .. } = *outcome;
        Some(Self { case, ordinal, repeat, class: verdict.class?, verdict, marks, alike })
    }
}

/// Where the paragraph states what was violated, merged where places overlap, in the order of the text. Of an
/// infeasible case that are the sentences that cannot hold together.
pub fn violated_places(case: &Case, verdict: &Verdict) -> Vec<Source> {
    if !case.is_feasible() {
        return case.conflict_places();
    }
    let mut places: Vec<Source> = case
        .constraint_ids()
        .zip(case.constraint_sources())
        .filter(|(id, _)| verdict.violated.iter().any(|violated| violated.id == **id))
        .flat_map(|(_, sources)| sources.iter().copied())
        .collect();
    places.sort_by_key(|place| (place.start, place.end));
    let mut merged: Vec<Source> = Vec::new();
    for place in places {
        match merged.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => merged.push(place),
        }
    }
    merged
}
