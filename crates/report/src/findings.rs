//! Findings as all reports number them: failures that a report would describe in the same words are one finding.

use std::collections::HashMap;

use planproof_engine::{Finding, Pick};

use crate::lines;

/// Most failures whose words are compared, the first ones; each further one is a finding of its own.
pub const COMPARED_MAX: usize = 200;

/// A failure, and others of the same campaign in the same words.
#[derive(Debug, Clone)]
pub struct DistinctFinding<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The smallest failure in these words.
    pub finding: Finding<'a>,
    /// The others, in their order.
    pub same: Vec<Finding<'a>>,
}

/// The failures of a campaign, in the order in which they were picked, as distinct findings. Words are all that a
/// report says of a failure beside the text of its case.
pub fn distinct<'a>(failures: impl IntoIterator<Item = Finding<'a>>) -> Vec<DistinctFinding<'a>> {
    let mut found: Vec<DistinctFinding<'a>> = Vec::new();
    let mut known = HashMap::new();
    for (place, finding) in failures.into_iter().enumerate() {
        if place < COMPARED_MAX {
            let explained = finding.case.explain(finding.verdict);
            let lines: Vec<_> = lines(&explained).into_iter().map(|line| (line.label, line.text)).collect();
            // A suite may say all in the text, with nothing beside it.
            let text = if lines.is_empty() { explained.text } else { String::new() };
            let first = *known.entry((finding.class, explained.gist, lines, text)).or_insert(found.len());
            if let Some(same) = found.get_mut(first) {
                same.same.push(finding);
                continue;
            }
        }
        found.push(DistinctFinding { number: found.len() + 1, finding, same: Vec::new() });
    }
    found
}

/// How many failures are to be read so that the first `most` distinct findings and their number are known.
pub fn failures_needed(most: usize) -> usize {
    most.max(COMPARED_MAX)
}

/// The number of distinct findings where only so many of the picked failures were read.
pub fn distinct_in_all(found: &[DistinctFinding<'_>], read: usize, picked: &[Pick]) -> usize {
    found.len() + picked.len().saturating_sub(read)
}

impl DistinctFinding<'_> {
    /// The further cases in the same words, by their ids, at most `most` of them: "3 more cases: a, b, c"; `None` if
    /// there are none.
    pub fn more_cases(&self, most: usize) -> Option<String> {
        let count = self.same.len();
        let ids = self.same.iter().take(most).map(|finding| finding.case.card().id.as_str());
        let ids = ids.collect::<Vec<_>>().join(", ");
        let rest = count.checked_sub(most).filter(|rest| *rest > 0);
        let rest = rest.map_or_else(String::new, |rest| format!(" and {rest} more"));
        let cases = if count == 1 { "case" } else { "cases" };
        (count > 0).then(|| format!("{count} more {cases}: {ids}{rest}"))
    }
}
