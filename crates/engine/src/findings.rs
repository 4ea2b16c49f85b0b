//! The failures worth a person's time.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_store::Unit;
use planproof_suite::{Card, Case, Class, Verdict};

use crate::{Outcome, RunSummary};

/// A distinct failure, shown by the smallest case that has it.
#[derive(Debug, Clone, Copy)]
pub struct Finding<'a> {
    pub case: &'a dyn Case,
    /// Its place in the campaign.
    pub ordinal: u32,
    /// The first repeat of the case with this failure, from 0.
    pub repeat: u32,
    /// How the agent failed.
    pub class: Class,
    /// All that the judge says.
    pub verdict: &'a Verdict,
    /// Number of cases of this campaign that failed in the same class.
    pub alike: usize,
}

/// A failure that may become a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingCandidate {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// How the agent failed.
    pub class: Class,
    /// The order of cases by size: [`Card::order`].
    pub size: (u32, [u32; 2]),
}

/// A failure that was picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// The first repeat of the case with this failure, from 0.
    pub repeat: u32,
    /// How the agent failed.
    pub class: Class,
    /// Number of cases that failed in the same class.
    pub alike: usize,
}

impl FindingCandidate {
    /// The candidate for a failed run; `None` unless it failed.
    pub fn of(card: &Card, run: &RunSummary) -> Option<Self> {
        let class = run.scored.as_ref()?.class?;
        Some(Self { ordinal: run.ordinal, repeat: run.repeat, class, size: card.order() })
    }
}

/// The smallest failing cases: of each class first the smallest, the most frequent class first, then the next
/// smallest, until there are `most`. A case that failed several times in a class counts once there. [Its
/// card](Card::order) defines its size.
pub fn pick_smallest(candidates: impl IntoIterator<Item = FindingCandidate>, most: usize) -> Vec<Pick> {
    let mut by_class: BTreeMap<Class, Vec<FindingCandidate>> = BTreeMap::new();
    for candidate in candidates {
        by_class.entry(candidate.class).or_default().push(candidate);
    }
    let mut groups: Vec<_> = by_class.into_iter().collect();
    for (_, group) in &mut groups {
        // Runs of one case have one size, so they are adjacent, the first repeat first.
        group.sort_by_key(|candidate| (candidate.size, candidate.ordinal, candidate.repeat));
        group.dedup_by_key(|candidate| candidate.ordinal);
    }
    groups.sort_by_key(|(class, group)| (std::cmp::Reverse(group.len()), *class));
    let deepest = groups.iter().map(|(_, group)| group.len()).max().unwrap_or(0);
    (0..deepest)
        .flat_map(|rank| groups.iter().filter_map(move |(_, group)| Some((group.get(rank)?, group.len()))))
        .take(most)
        .map(|(candidate, alike)| {
            let FindingCandidate { ordinal, repeat, class, .. } = *candidate;
            Pick { ordinal, repeat, class, alike }
        })
        .collect()
}

/// [`pick_smallest`] of the outcomes of a campaign, with all the data of findings.
pub fn pick_findings<'a>(
    cases: &'a [Arc<dyn Case>],
    outcomes: &'a [Outcome],
    most: usize,
) -> Vec<Finding<'a>> {
    let by_unit: BTreeMap<Unit, &Outcome> =
        outcomes.iter().map(|outcome| (outcome.unit(), outcome)).collect();
    let candidates = outcomes.iter().filter_map(|outcome| {
        let case = cases.get(outcome.ordinal as usize)?;
        let (class, size) = (outcome.class()?, case.card().order());
        Some(FindingCandidate { ordinal: outcome.ordinal, repeat: outcome.repeat, class, size })
    });
    pick_smallest(candidates, most)
        .into_iter()
        .filter_map(|pick| {
            let unit = Unit { ordinal: pick.ordinal, repeat: pick.repeat };
            Finding::new(&**cases.get(pick.ordinal as usize)?, by_unit.get(&unit)?, pick.alike)
        })
        .collect()
}

impl<'a> Finding<'a> {
    /// The finding that an outcome is, with the number of cases that failed in the same class; `None` unless it failed.
    pub fn new(case: &'a dyn Case, outcome: &'a Outcome, alike: usize) -> Option<Self> {
        let verdict = outcome.verdict.as_ref().ok()?;
        let Outcome { ordinal, repeat, .. } = *outcome;
        Some(Self { case, ordinal, repeat, class: verdict.class()?, verdict, alike })
    }
}
