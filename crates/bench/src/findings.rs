//! The failures worth a person's time.

use std::collections::BTreeMap;

use planproof_synth::{Case, Class, Source, Verdict};

use crate::Outcome;

/// A distinct failure, shown by the smallest case that has it.
#[derive(Debug, Clone)]
pub struct Finding<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its place in the campaign.
    pub ordinal: u32,
    /// How the agent failed.
    pub class: Class,
    /// All that the oracle says.
    pub verdict: &'a Verdict,
    /// Where the paragraph states what was violated, without overlaps, in the order of the text.
    pub marks: Vec<Source>,
    /// Number of cases of this campaign that failed in the same class.
    pub alike: usize,
}

/// The smallest failing cases: of each class first the smallest, the most frequent class first, then the next smallest,
/// until there are `most`. Small means few actions, then few constraints, then a short paragraph.
pub fn pick_findings<'a>(cases: &'a [Case], outcomes: &'a [Outcome], most: usize) -> Vec<Finding<'a>> {
    let mut by_class: BTreeMap<Class, Vec<(&'a Case, &'a Outcome, &'a Verdict)>> = BTreeMap::new();
    for outcome in outcomes {
        if let Ok(verdict) = &outcome.verdict
            && let Some(class) = verdict.class
            && let Some(case) = cases.get(outcome.ordinal as usize)
        {
            by_class.entry(class).or_default().push((case, outcome, verdict));
        }
    }
    let mut groups: Vec<_> = by_class.into_iter().collect();
    for (_, group) in &mut groups {
        group.sort_by_key(|(case, outcome, _)| {
            (case.actions.len(), case.difficulty.constraints, case.paragraph.len(), outcome.ordinal)
        });
    }
    groups.sort_by_key(|(class, group)| (std::cmp::Reverse(group.len()), *class));
    let deepest = groups.iter().map(|(_, group)| group.len()).max().unwrap_or(0);
    (0..deepest)
        .flat_map(|rank| {
            groups.iter().filter_map(move |(class, group)| Some((*class, group, group.get(rank)?)))
        })
        .take(most)
        .map(|(class, group, (case, outcome, verdict))| Finding {
            case,
            ordinal: outcome.ordinal,
            class,
            verdict,
            marks: violated_places(case, verdict),
            alike: group.len(),
        })
        .collect()
}

/// Where the paragraph states what was violated, merged where places overlap, in the order of the text.
pub fn violated_places(case: &Case, verdict: &Verdict) -> Vec<Source> {
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
