//! The automaton that searches for prompts, over characters (Aho and Corasick, Communications of the ACM 18, 1975).

use std::collections::{BTreeMap, BTreeSet};

use super::ExportError;
use crate::limits::EXPORT_BYTES_MAX;

/// Most prefixes of prompts. More of them would make a grammar too large anyway.
const BEGINNINGS_MAX: usize = 10_000;

/// The characters that may follow a prefix of a prompt without completing a prompt.
#[derive(Debug)]
pub(super) struct Search {
    /// For each prefix, the empty one first: the successors for characters. Characters without an entry lead to the
    /// empty one; `None` is the end of a prompt, which must not be read.
    pub(super) next: Vec<BTreeMap<char, Option<usize>>>,
}

impl Search {
    /// For prompts of which none is part of another one.
    ///
    /// # Errors
    /// They have too many prefixes.
    pub(super) fn new(prompts: &[&str]) -> Result<Self, ExportError> {
        // All prefixes except whole prompts.
        let mut beginnings: Vec<&str> = vec![""];
        for prompt in prompts {
            beginnings.extend(prompt.char_indices().skip(1).map(|(at, _)| &prompt[..at]));
        }
        // By length, so that the empty prefix is number 0.
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
                // The longest suffix of the read text that is a prefix.
                let mut ends = read.char_indices().map(|(at, _)| &read[at..]);
                // A prompt that began within this prefix can end here as well, and must not be read either.
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
