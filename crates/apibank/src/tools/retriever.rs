//! Which of several texts is closest to a query.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// Finds the text that is closest to a query.
pub trait Retriever: Debug + Send + Sync {
    /// The index of the closest text, the first in case of a tie; `None` if no text is related to the query.
    fn closest(&self, query: &str, texts: &[String]) -> Option<usize>;
}

/// Compares the words that query and text have in common: the cosine of their weights, where a word weighs more the
/// fewer texts contain it (Salton and Buckley 1988). Words are reduced to approximate stems.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lexical;

/// Endings that are removed.
const ENDINGS: [&str; 14] =
    ["ations", "ation", "ings", "ing", "ors", "or", "ers", "er", "ies", "es", "ed", "s", "e", "y"];

/// The minimum length of a stem.
const SHORTEST_STEM: usize = 3;

/// Words in lower case, without the most common endings.
fn stems(text: &str) -> BTreeMap<String, f64> {
    let lower = index_words(text);
    let mut counts = BTreeMap::new();
    for word in lower.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()) {
        // Only the first ending that fits is tried: if it leaves too little, the word is kept whole.
        let stem = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
        let stem = stem.filter(|stem| stem.chars().count() >= SHORTEST_STEM).unwrap_or(word);
        *counts.entry(stem.to_owned()).or_insert(0.0) += 1.0;
    }
    counts
}

impl Retriever for Lexical {
    fn closest(&self, query: &str, texts: &[String]) -> Option<usize> {
        let documents: Vec<_> = texts.iter().map(|text| stems(text)).collect();
        let mut holders: BTreeMap<&str, f64> = BTreeMap::new();
        for word in documents.iter().flat_map(BTreeMap::keys) {
            *holders.entry(word).or_insert(0.0) += 1.0;
        }
        // Smoothed, so that even a word in all texts counts a little.
        let weight = |word: &str| {
            let holders = holders.get(word).copied().unwrap_or(0.0);
            ((documents.len() as f64 + 1.0) / (holders + 1.0)).ln() + 1.0
        };
        let weighed = |counts: &BTreeMap<String, f64>| -> BTreeMap<String, f64> {
            counts.iter().map(|(word, count)| (word.clone(), count.sqrt() * weight(word))).collect()
        };
        let query = weighed(&stems(query));
        let mut best = None;
        let mut most = 0.0;
        for (place, document) in documents.iter().enumerate() {
            let document = weighed(document);
            let product: f64 =
                query.iter().filter_map(|(word, one)| document.get(word).map(|other| one * other)).sum();
            let length: f64 = document.values().map(|it| it * it).sum::<f64>().sqrt();
            // Without the length of the query, which is the same for all documents.
            let cosine = if length > 0.0 { product / length } else { 0.0 };
            if cosine > most {
                (best, most) = (Some(place), cosine);
            }
        }
        best
    }
}

/// Inserts a space before every capital, and converts to lower case.
pub(super) fn index_words(text: &str) -> String {
    let mut words = String::new();
    for character in text.chars() {
        if character.is_uppercase() {
            words.push(' ');
            words.extend(character.to_lowercase());
        } else {
            words.push(character);
        }
    }
    words
}
