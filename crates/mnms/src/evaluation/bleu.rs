//! BLEU (Papineni et al., 2002), in the two forms that the metrics need.

use std::collections::HashMap;
use std::hash::Hash;

/// Longest n-grams that are compared.
const LENGTH_MAX: usize = 4;

/// What is counted over pairs of texts for one n-gram length.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Matches {
    found: f64,
    all: f64,
}

/// Counts over pairs of texts, which add up to a score.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Bleu {
    matches: [Matches; LENGTH_MAX],
    candidate_length: usize,
    reference_length: usize,
}

fn n_grams<T: Eq + Hash>(words: &[T], length: usize) -> HashMap<&[T], u32> {
    let mut counts = HashMap::new();
    for gram in words.windows(length) {
        *counts.entry(gram).or_default() += 1;
    }
    counts
}

impl Bleu {
    /// Adds the n-grams of a candidate that occur in its reference, each at most as often as it occurs there.
    pub(super) fn add(&mut self, candidate: &[&str], reference: &[&str]) {
        self.add_lengths(candidate, reference);
        for (length, matches) in (1..).zip(&mut self.matches) {
            let known = n_grams(reference, length);
            let found = n_grams(candidate, length);
            let clipped: u32 =
                found.iter().map(|(gram, n)| known.get(gram).map_or(0, |most| *n.min(most))).sum();
            matches.found += f64::from(clipped);
            // A text without any n-gram counts as missing one.
            matches.all += f64::from(found.values().sum::<u32>().max(1));
        }
    }

    /// Adds the n-grams of a reference that occur in its candidate, which is a recall. Single words are weighted.
    pub(super) fn add_recall(&mut self, candidate: &[&str], reference: &[&str], weight: fn(&str) -> f64) {
        self.add_lengths(candidate, reference);
        for (length, matches) in (1..).zip(&mut self.matches) {
            let known = n_grams(reference, length);
            let found = n_grams(candidate, length);
            let weight = |gram: &[&str]| if length == 1 { weight(gram[0]) } else { 1.0 };
            let mut all = 0.0;
            for (gram, most) in &known {
                matches.found += weight(gram) * f64::from(found.get(gram).map_or(0, |n| *n.min(most)));
                all += weight(gram) * f64::from(*most);
            }
            // As in `add`, a reference without any n-gram of this length counts as missing one.
            matches.all += if all > 0.0 { all } else { 1.0 };
        }
    }

    fn add_lengths(&mut self, candidate: &[&str], reference: &[&str]) {
        self.candidate_length += candidate.len();
        self.reference_length += reference.len();
    }

    /// The geometric mean of the shares of all lengths, with a floor for n-grams never found, times the penalty for a
    /// candidate shorter than its reference. 0 if not a single word was found.
    pub(super) fn score(&self, lengths: usize, of_nothing: fn(f64) -> f64) -> f64 {
        if self.matches[0].found == 0.0 {
            return 0.0;
        }
        let share = |it: &Matches| if it.found > 0.0 { it.found / it.all } else { of_nothing(it.all) };
        let logarithms: f64 = self.matches[..lengths].iter().map(|it| share(it).ln()).sum();
        // At least one word was found, so the candidate is not empty and the division is defined. The penalty is a
        // logarithm too, so that it can be added to the others.
        let (candidate, reference) = (self.candidate_length as f64, self.reference_length as f64);
        let penalty = if candidate > reference { 0.0 } else { 1.0 - reference / candidate };
        (logarithms / lengths as f64 + penalty).exp()
    }
}

/// How similar a text is to a reference: BLEU of lower-case words, without smoothing, and with shorter n-grams if the
/// text has fewer than four words. An n-gram length never found counts as the smallest positive number, so that the
/// score is then barely above 0.
pub fn result_bleu(candidate: &str, reference: &str) -> f64 {
    let (candidate, reference) = (candidate.to_lowercase(), reference.to_lowercase());
    let candidate: Vec<&str> = candidate.split_whitespace().collect();
    let reference: Vec<&str> = reference.split_whitespace().collect();
    if candidate.is_empty() || reference.is_empty() {
        return 0.0;
    }
    let mut bleu = Bleu::default();
    bleu.add(&candidate, &reference);
    bleu.score(candidate.len().min(LENGTH_MAX), |_| f64::MIN_POSITIVE)
}

/// BLEU of n-grams up to four, with a tenth of a match for lengths never found.
pub(super) fn smoothed(bleu: &Bleu) -> f64 {
    bleu.score(LENGTH_MAX, |all| 0.1 / all)
}
