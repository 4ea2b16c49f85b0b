//! ROUGE-L as computed by the package `rouge` (PyPI, 1.0.1) in its default mode, which published figures for
//! replies of agents use.
//!
//! It differs from the definition in the ROUGE-L paper in four ways, all of which affect figures:
//!
//! - A sentence ends at every full stop, so that `3.5` is two sentences; nothing else ends one.
//! - A word is the text between two spaces, with its case and punctuation: `Yes,` and `yes` share nothing.
//! - Words are counted as *sets* over all sentences. A word that occurs ten times counts once, both in the lengths
//!   of the texts and in what they share.
//! - The denominator of F has 1e-8 added to it, so that a text scores 0.999999995 against itself.
//!
//! What two texts share is the set of all words on a longest common subsequence of any sentence of one and any
//! sentence of the other. If a pair of sentences has several such subsequences, the one that the package's
//! backtracking through its table finds counts.

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use crate::answers::words;

/// Added to the denominator of F.
const SMALL: f64 = 1e-8;

/// Maximum number of word pairs compared for one score: the words of a sentence times those of another, summed over
/// all pairs of sentences. (This limit is ours. The package recurses once per word and fails at about a thousand.)
pub const PAIRS_MAX: u64 = 1 << 28;

/// The share of two texts that is on common subsequences.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RougeL {
    /// Share of the reference's distinct words that the texts share, 0 to 1.
    pub recall: f64,
    /// Share of the hypothesis's distinct words that the texts share, 0 to 1.
    pub precision: f64,
    /// The harmonic mean of both, except for the small number in its denominator.
    pub f: f64,
}

/// Why two texts have no score. The messages of the first two are those of the package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RougeError {
    /// The hypothesis is empty, or consists only of full stops.
    #[error("Hypothesis is empty.")]
    EmptyHypothesis,
    /// The reference is empty, or consists only of full stops.
    #[error("Reference is empty.")]
    EmptyReference,
    /// Too many words; shorten one of the texts.
    #[error("the texts have {pairs} pairs of words to compare; {PAIRS_MAX} is the most")]
    TooLong {
        /// The number of word pairs.
        pairs: u64,
    },
}

/// ROUGE-L of a hypothesis, which a model wrote, against a reference. Takes time proportional to the product of
/// their lengths in words, and a bit of memory for each pair of words in the longest sentences.
///
/// # Errors
/// A text is empty except for full stops, or together the texts are too long.
pub fn rouge_l(hypothesis: &str, reference: &str) -> Result<RougeL, RougeError> {
    let mut numbers = HashMap::new();
    let (hypothesis, reference) = (normal(hypothesis), normal(reference));
    let hypothesis = numbered(&hypothesis, &mut numbers);
    let reference = numbered(&reference, &mut numbers);
    // The package checks the hypothesis first, which decides the error if both texts are empty.
    if hypothesis.is_empty() {
        return Err(RougeError::EmptyHypothesis);
    }
    if reference.is_empty() {
        return Err(RougeError::EmptyReference);
    }
    // The sum over all pairs of sentences equals the product of the sums.
    let length = |sentences: &[Vec<u32>]| sentences.iter().map(|it| it.len() as u64).sum::<u64>();
    let pairs = length(&hypothesis).saturating_mul(length(&reference));
    // Checked before any table is made, so that a table has at most `PAIRS_MAX` bits, which are 32 MiB.
    if pairs > PAIRS_MAX {
        return Err(RougeError::TooLong { pairs });
    }
    let mut shared = HashSet::new();
    // The reference is the first argument, as in the package: ties between subsequences are resolved by the side.
    for one in &reference {
        for other in &hypothesis {
            common(one, other, &mut shared);
        }
    }
    let distinct =
        |sentences: &[Vec<u32>]| sentences.iter().flatten().copied().collect::<HashSet<u32>>().len();
    let recall = shared.len() as f64 / distinct(&reference) as f64;
    let precision = shared.len() as f64 / distinct(&hypothesis) as f64;
    let f = 2.0 * ((precision * recall) / (precision + recall + SMALL));
    Ok(RougeL { recall, precision, f })
}

/// The sentences of a text, with one space between words. A sentence of white space only is empty, and its only
/// word is the empty word.
fn normal(text: &str) -> Vec<String> {
    let sentences = text.split('.').filter(|it| !it.is_empty());
    sentences.map(|it| words(it).collect::<Vec<_>>().join(" ")).collect()
}

/// The words of sentences as numbers; equal words get the same number.
fn numbered<'t>(sentences: &'t [String], numbers: &mut HashMap<&'t str, u32>) -> Vec<Vec<u32>> {
    let mut number = |word: &'t str| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(word).or_insert(next)
    };
    sentences.iter().map(|it| it.split(' ').map(&mut number).collect()).collect()
}

/// Adds the words of a longest common subsequence. It is found from the ends: by taking both words if they are equal,
/// otherwise by dropping the last word of `one` if that gives a strictly longer subsequence, and otherwise by dropping
/// the last word of `other`.
fn common(one: &[u32], other: &[u32], shared: &mut HashSet<u32>) {
    let width = other.len();
    // Only two rows of the table of lengths are needed at once; backtracking needs one bit per cell.
    let mut is_up = vec![0_u64; (one.len() * width).div_ceil(64)];
    let (mut above, mut row) = (vec![0_u32; width + 1], vec![0_u32; width + 1]);
    for (i, word) in one.iter().enumerate() {
        for (j, candidate) in other.iter().enumerate() {
            row[j + 1] = if word == candidate {
                above[j] + 1
            } else if above[j + 1] > row[j] {
                let cell = i * width + j;
                is_up[cell / 64] |= 1 << (cell % 64);
                above[j + 1]
            } else {
                row[j]
            };
        }
        // Old values in the row do no harm: every cell is written before it is read, and the first one stays 0.
        std::mem::swap(&mut above, &mut row);
    }
    let (mut i, mut j) = (one.len(), width);
    while i > 0 && j > 0 {
        let cell = (i - 1) * width + (j - 1);
        if one[i - 1] == other[j - 1] {
            shared.insert(one[i - 1]);
            (i, j) = (i - 1, j - 1);
        } else if is_up[cell / 64] >> (cell % 64) & 1 == 1 {
            i -= 1;
        } else {
            j -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_against_itself_is_short_of_one() {
        let found = rouge_l("The hotel is open.", "The hotel is open.").unwrap();
        assert_eq!(found, RougeL { recall: 1.0, precision: 1.0, f: 0.999999995 });
    }

    #[test]
    fn words_are_counted_once_with_case_and_punctuation() {
        let found = rouge_l("no no no", "no").unwrap();
        assert_eq!((found.precision, found.recall), (1.0, 1.0));
        assert_eq!(rouge_l("Yes, please", "yes, please").unwrap().precision, 0.5);
        assert_eq!(rouge_l("yes", "yes,").unwrap(), RougeL::default());
    }

    #[test]
    fn only_full_stops_end_a_sentence_and_order_counts_within_one_alone() {
        assert_eq!(rouge_l("b a", "a b").unwrap().recall, 0.5);
        assert_eq!(rouge_l("b.a", "a.b").unwrap().recall, 1.0);
        assert_eq!(rouge_l("b!a", "a!b").unwrap().recall, 0.0);
        assert_eq!(rouge_l("it is 3.5", "it is 3").unwrap().precision, 0.75);
    }

    /// Over several sentences, the choice among subsequences of equal length affects the result.
    #[test]
    fn ties_go_the_way_of_the_package() {
        // `a b` against `b a`: the last words differ and neither choice is strictly better, so the last word of the
        // hypothesis is dropped, which keeps its `b`.
        let mut shared = HashSet::new();
        common(&[0, 1], &[1, 0], &mut shared);
        assert_eq!(shared, HashSet::from([1]));
    }

    #[test]
    fn texts_without_a_sentence_have_no_score() {
        assert_eq!(rouge_l("", ""), Err(RougeError::EmptyHypothesis));
        assert_eq!(rouge_l("...", "a"), Err(RougeError::EmptyHypothesis));
        assert_eq!(rouge_l("a", "."), Err(RougeError::EmptyReference));
        // White space is a sentence with one empty word.
        assert_eq!(rouge_l(" ", "\t.\u{1c}").unwrap().recall, 1.0);
    }

    #[test]
    fn texts_too_long_for_one_another_are_refused() {
        let long = "a ".repeat(20_000);
        assert!(matches!(rouge_l(&long, &long), Err(RougeError::TooLong { pairs: 400_000_000 })));
    }

    /// The full table of lengths, with backtracking.
    fn slowly(one: &[u32], other: &[u32]) -> BTreeSet<u32> {
        let mut table = vec![vec![0_u32; other.len() + 1]; one.len() + 1];
        for i in 1..=one.len() {
            for j in 1..=other.len() {
                table[i][j] = match one[i - 1] == other[j - 1] {
                    true => table[i - 1][j - 1] + 1,
                    false => table[i - 1][j].max(table[i][j - 1]),
                };
            }
        }
        let (mut i, mut j, mut found) = (one.len(), other.len(), BTreeSet::new());
        while i > 0 && j > 0 {
            if one[i - 1] == other[j - 1] {
                found.insert(one[i - 1]);
                (i, j) = (i - 1, j - 1);
            } else if table[i - 1][j] > table[i][j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn the_way_back_is_that_of_the_whole_table(
            one in prop::collection::vec(0_u32..4, 0..20),
            other in prop::collection::vec(0_u32..4, 0..20),
        ) {
            let mut shared = HashSet::new();
            common(&one, &other, &mut shared);
            prop_assert_eq!(shared.into_iter().collect::<BTreeSet<_>>(), slowly(&one, &other));
        }

        #[test]
        fn scores_are_within_bounds(one in "[ab .]{0,30}", other in "[ab .]{0,30}") {
            if let Ok(found) = rouge_l(&one, &other) {
                for value in [found.recall, found.precision, found.f] {
                    prop_assert!((0.0..=1.0).contains(&value));
                }
            }
        }
    }
}
