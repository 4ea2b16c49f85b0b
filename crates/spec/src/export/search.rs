//! The automaton that looks for prompts, over characters (Aho and Corasick, Communications of the ACM 18, 1975).

use std::collections::{BTreeMap, BTreeSet};

use super::ExportError;
use crate::limits::EXPORT_BYTES_MAX;

/// Beginnings of prompts. More of them would make a grammar too large in any case.
const BEGINNINGS_MAX: usize = 10_000;

/// What may follow a beginning of a prompt without completing one.
#[derive(Debug)]
pub(super) struct Search {
    /// For each beginning, the empty one first: where characters lead. Those that are not named lead to the empty one;
    /// `None` is the end of a prompt, which must not be read.
    pub(super) next: Vec<BTreeMap<char, Option<usize>>>,
}

impl Search {
    /// For prompts of which none is part of another one.
    ///
    /// # Errors
    /// They are too many and too long.
    pub(super) fn new(prompts: &[&str]) -> Result<Self, ExportError> {
        // All beginnings that are no whole prompt.
        let mut beginnings: Vec<&str> = vec![""];
        for prompt in prompts {
            beginnings.extend(prompt.char_indices().skip(1).map(|(at, _)| &prompt[..at]));
        }
        beginnings.sort_unstable_by_key(|text| (text.len(), *text));
        beginnings.dedup();
        if beginnings.len() > BEGINNINGS_MAX {
            return Err(ExportError::TooLarge { bytes_max: EXPORT_BYTES_MAX });
        }
        let numbers: BTreeMap<&str, usize> =
            beginnings.iter().enumerate().map(|(number, text)| (*text, number)).collect();
        let alphabet: BTreeSet<char> = prompts.iter().flat_map(|prompt| prompt.chars()).collect();
        let follow = |beginning: &&str| {
            let mut targets = BTreeMap::new();
            for c in &alphabet {
                let read = format!("{beginning}{c}");
                // The longest end of what was read that is a beginning.
                let mut ends = read.char_indices().map(|(at, _)| &read[at..]);
                if prompts.contains(&read.as_str()) || ends.clone().any(|end| prompts.contains(&end)) {
                    targets.insert(*c, None);
                } else if let Some(number) = ends.find_map(|end| numbers.get(end)) {
                    targets.insert(*c, Some(*number));
                }
            }
            targets
        };
        Ok(Self { next: beginnings.iter().map(follow).collect() })
    }
}
