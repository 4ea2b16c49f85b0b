//! BM25 scores of documents, as `BM25Okapi` of Python's `rank_bm25` computes them (Trotman et al. 2014).

use std::collections::BTreeMap;

/// How quickly repetitions of a word stop counting.
const K1: f64 = 1.5;
/// How strongly long documents are penalized.
const B: f64 = 0.75;
/// The share of the average weight given to words that occur in most documents.
const EPSILON: f64 = 0.25;

/// An index over documents.
#[derive(Debug)]
pub struct Bm25 {
    documents: Vec<Document>,
    weights: BTreeMap<String, f64>,
    average_length: f64,
}

#[derive(Debug)]
struct Document {
    counts: BTreeMap<String, u32>,
    length: f64,
}

impl Bm25 {
    /// Creates an index over documents that are already split into words.
    pub fn new<'d>(documents: impl IntoIterator<Item = Vec<&'d str>>) -> Self {
        let mut holders: BTreeMap<String, u32> = BTreeMap::new();
        // The average weight is summed in the order in which words are first seen.
        let mut order: Vec<String> = Vec::new();
        let mut read = Vec::new();
        let mut total = 0.0;
        for words in documents {
            let length = words.len() as f64;
            total += length;
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for word in words {
                let count = counts.entry(word.to_owned()).or_insert(0);
                *count += 1;
                if *count == 1 {
                    let holders = holders.entry(word.to_owned()).or_insert(0);
                    *holders += 1;
                    if *holders == 1 {
                        order.push(word.to_owned());
                    }
                }
            }
            read.push(Document { counts, length });
        }
        let number = read.len() as f64;
        let weight = |holders: u32| {
            let holders = f64::from(holders);
            // A difference of logarithms as in `rank_bm25`: the logarithm of the quotient may differ in its last bits.
            (number - holders + 0.5).ln() - (holders + 0.5).ln()
        };
        let mut weights: BTreeMap<String, f64> =
            holders.into_iter().map(|(word, holders)| (word, weight(holders))).collect();
        let sum: f64 = order.iter().filter_map(|word| weights.get(word)).sum();
        let least = EPSILON * sum / order.len().max(1) as f64;
        // A word that occurs in more than half of the documents would count against them.
        for weight in weights.values_mut().filter(|weight| **weight < 0.0) {
            *weight = least;
        }
        Self { documents: read, weights, average_length: total / number.max(1.0) }
    }

    /// The score of every document for these words.
    pub fn scores(&self, words: &[String]) -> Vec<f64> {
        let score = |document: &Document| {
            let share = document.length / self.average_length;
            let mut score = 0.0;
            for word in words {
                let count = document.counts.get(word).copied().map_or(0.0, f64::from);
                let weight = self.weights.get(word).copied().unwrap_or(0.0);
                score += weight * (count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * share)));
            }
            score
        };
        self.documents.iter().map(score).collect()
    }

    /// The indices of the best documents, best first; of equal ones, the earlier comes first.
    pub fn best(&self, words: &[String], number: usize) -> Vec<usize> {
        let scores = self.scores(words);
        let mut places: Vec<usize> = (0..scores.len()).collect();
        places.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        places.truncate(number);
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_more() {
        let index = Bm25::new([vec!["a", "b"], vec!["a", "c", "c"], vec!["a", "d"], vec!["e"]]);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(index.best(&words("c"), 1), [1]);
        assert_eq!(index.best(&words("a d"), 2)[0], 2);
        assert_eq!(index.best(&words("zzz"), 2), [0, 1]);
        let scores = index.scores(&words("b"));
        let share = 2.0 / 2.0;
        let expected =
            ((4.0f64 - 1.0 + 0.5).ln() - 1.5f64.ln()) * (2.5 / (1.0 + 1.5 * (0.25 + 0.75 * share)));
        assert!((scores[0] - expected).abs() < 1e-12 && scores[1] == 0.0);
        assert!(Bm25::new([]).best(&words("a"), 2).is_empty());
    }
}
