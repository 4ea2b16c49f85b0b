//! Lessons by words: BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", equation 3.15, with
//! the inverse document frequency of Lucene, which is never negative).
//!
//! The index holds exactly what a run may recall. An index of the whole run store would not do: how rare a word is,
//! and so the ranking, would then depend on what other runs learn at the same time.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::{Known, LESSONS_SHOWN_BYTES_MAX, LESSONS_SHOWN_MAX, LESSONS_VISIBLE_MAX};

/// How soon further occurrences of a word stop counting.
const K1: f64 = 1.2;

/// How much long lessons are penalised for containing many words.
const B: f64 = 0.75;

/// Most words of a query: the first ones.
const QUERY_WORDS_MAX: usize = 400;

/// The mark before each lesson in a prompt.
const MARK: &str = "- ";

/// The lessons that runs can recall.
#[derive(Debug, Clone, Default)]
pub struct Lessons {
    known: Vec<Known>,
    /// For each word the lessons that have it, by their places, and how often. Its order is never observed.
    places: HashMap<String, Vec<(usize, f64)>>,
    /// How many words each lesson has.
    lengths: Vec<f64>,
    /// The mean of them.
    mean: f64,
}

impl Lessons {
    /// An index of these lessons, the oldest first; only the newest [`LESSONS_VISIBLE_MAX`] are taken.
    pub fn new(mut known: Vec<Known>) -> Self {
        known.drain(..known.len().saturating_sub(LESSONS_VISIBLE_MAX));
        let mut index = Self { known, ..Self::default() };
        for (place, known) in index.known.iter().enumerate() {
            let mut length = 0.0;
            for word in words(&known.lesson.about) {
                length += 1.0;
                let places = index.places.entry(word).or_default();
                // Lessons are indexed in order, so only the last place of a word can be this lesson.
                match places.last_mut() {
                    Some((last, count)) if *last == place => *count += 1.0,
                    _ => places.push((place, 1.0)),
                }
            }
            index.lengths.push(length);
        }
        index.mean = index.lengths.iter().sum::<f64>() / index.lengths.len().max(1) as f64;
        index
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// All of them, the oldest first.
    pub fn known(&self) -> &[Known] {
        &self.known
    }

    /// The lessons about that tool, or about whole runs for `None`, that have a word of `text`, the best first and
    /// the newest first among equals. Of those with the same text the first counts. They fill a prompt: at most
    /// [`LESSONS_SHOWN_MAX`], in [`LESSONS_SHOWN_BYTES_MAX`] bytes as [`shown`](Self::shown) writes them. Takes time
    /// in proportion to the occurrences of the words.
    pub fn recall(&self, tool: Option<&str>, text: &str) -> Vec<&Known> {
        let mut found: Vec<(usize, f64)> = self.scores(text).into_iter().collect();
        found.retain(|(place, _)| self.known[*place].lesson.tool.as_deref() == tool);
        // The order is total, so the iteration order of the hash map does not show.
        found.sort_unstable_by(|(a, one), (b, other)| other.total_cmp(one).then(Reverse(a).cmp(&Reverse(b))));
        let (mut recalled, mut bytes): (Vec<&Known>, usize) = (Vec::new(), 0);
        for known in found.into_iter().map(|(place, _)| &self.known[place]) {
            let takes = MARK.len() + known.lesson.text.len() + 1;
            let is_new = recalled.iter().all(|other| other.lesson.text != known.lesson.text);
            // A lesson that does not fit is passed over, because a shorter one may fit.
            if is_new && bytes + takes <= LESSONS_SHOWN_BYTES_MAX {
                bytes += takes;
                recalled.push(known);
            }
            if recalled.len() == LESSONS_SHOWN_MAX {
                break;
            }
        }
        recalled
    }

    /// Lessons as a prompt has them: a line for each.
    pub fn shown(recalled: &[&Known]) -> String {
        let lines: Vec<String> =
            recalled.iter().map(|known| format!("{MARK}{}", known.lesson.text)).collect();
        lines.join("\n")
    }

    /// How well each lesson fits that has a word of the text.
    fn scores(&self, text: &str) -> HashMap<usize, f64> {
        let mut seen = BTreeSet::new();
        let mut scores = HashMap::new();
        // In the order of the text, so that sums are reproducible.
        for word in words(text).take(QUERY_WORDS_MAX) {
            let Some(places) = self.places.get(&word) else { continue };
            if !seen.insert(word) {
                continue;
            }
            let (all, have) = (self.known.len() as f64, places.len() as f64);
            let rarity = (1.0 + (all - have + 0.5) / (have + 0.5)).ln();
            for &(place, count) in places {
                let long = 1.0 - B + B * self.lengths[place] / self.mean;
                *scores.entry(place).or_default() += rarity * count * (K1 + 1.0) / (count + K1 * long);
            }
        }
        scores
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Lesson, LessonSource};
    use super::*;

    fn known(tool: Option<&str>, about: &str, text: &str) -> Known {
        let source = LessonSource { campaign: "c".to_owned(), case: "k".to_owned(), repeat: 0 };
        let tool = tool.map(str::to_owned);
        Known { source, lesson: Lesson { tool, about: about.to_owned(), text: text.to_owned() } }
    }

    fn texts(recalled: &[&Known]) -> Vec<String> {
        recalled.iter().map(|known| known.lesson.text.clone()).collect()
    }

    #[test]
    fn the_best_of_a_tool_come_first() {
        let lessons = Lessons::new(vec![
            known(Some("sql"), "count the men", "a"),
            known(Some("sql"), "count the rare ships", "b"),
            known(Some("python"), "rare ships", "c"),
            known(None, "rare ships", "d"),
            known(Some("sql"), "count the men", "newer"),
            known(Some("sql"), "count the men again", "newer"),
        ]);
        assert_eq!(texts(&lessons.recall(Some("sql"), "Count RARE ships!")), ["b", "newer", "a"]);
        assert_eq!(texts(&lessons.recall(None, "ships")), ["d"]);
        assert!(lessons.recall(Some("sql"), "unknown words, ").is_empty());
        assert!(lessons.recall(Some("java"), "ships").is_empty());
        assert!(Lessons::default().recall(None, "ships").is_empty());
    }

    #[test]
    fn a_prompt_takes_so_many_lessons_and_bytes() {
        let many: Vec<Known> = (0..10).map(|number| known(None, "same", &number.to_string())).collect();
        assert_eq!(texts(&Lessons::new(many).recall(None, "same")), ["9", "8", "7", "6"]);
        // A lesson that does not fit leaves room for smaller ones.
        let long = |letter: &str, bytes: usize| known(None, "same", &letter.repeat(bytes));
        let lessons = Lessons::new(vec![long("c", 900), long("b", 900), long("a", 1_000)]);
        let recalled = lessons.recall(None, "same");
        let letters: Vec<char> =
            recalled.iter().filter_map(|known| known.lesson.text.chars().next()).collect();
        assert_eq!(letters, ['a', 'b']);
        assert!(Lessons::shown(&recalled).len() < LESSONS_SHOWN_BYTES_MAX);
        let newest = (0..=LESSONS_VISIBLE_MAX).map(|number| known(None, "x", &number.to_string())).collect();
        let lessons = Lessons::new(newest);
        assert_eq!((lessons.len(), &*lessons.known()[0].lesson.text), (LESSONS_VISIBLE_MAX, "1"));
    }

    /// The same without an index: each lesson is scored by the formula, word by word.
    fn twin(all: &[Known], tool: Option<&str>, text: &str) -> Vec<String> {
        let bags: Vec<Vec<String>> = all.iter().map(|known| words(&known.lesson.about).collect()).collect();
        let mean = bags.iter().map(Vec::len).sum::<usize>() as f64 / bags.len().max(1) as f64;
        let mut asked: Vec<String> = Vec::new();
        for word in words(text) {
            if !asked.contains(&word) {
                asked.push(word);
            }
        }
        let score = |bag: &Vec<String>| {
            let of_word = |word: &String| {
                let have = bags.iter().filter(|bag| bag.contains(word)).count() as f64;
                let count = bag.iter().filter(|other| *other == word).count() as f64;
                let rarity = (1.0 + (bags.len() as f64 - have + 0.5) / (have + 0.5)).ln();
                let long = 1.0 - B + B * bag.len() as f64 / mean;
                if count > 0.0 { rarity * count * (K1 + 1.0) / (count + K1 * long) } else { 0.0 }
            };
            asked.iter().map(of_word).fold(0.0, |sum, it| sum + it)
        };
        let mut found: Vec<(usize, f64)> = bags.iter().map(score).enumerate().collect();
        found.retain(|(place, score)| *score > 0.0 && all[*place].lesson.tool.as_deref() == tool);
        found.reverse();
        found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let mut kept: Vec<String> = Vec::new();
        for (place, _) in found {
            let text = &all[place].lesson.text;
            if kept.len() < LESSONS_SHOWN_MAX && !kept.contains(text) {
                kept.push(text.clone());
            }
        }
        kept
    }

    proptest! {
        #[test]
        fn the_index_finds_what_its_slow_twin_finds(
            all in prop::collection::vec((0..3usize, "([a-e]{1,2} ){0,8}", 0..20u32), 0..40),
            tool in 0..3usize,
            text in "([a-fA-F]{1,2}[ ,]){0,6}",
        ) {
            let tools = [None, Some("sql"), Some("python")];
            let all: Vec<Known> = all
                .iter()
                .map(|(tool, about, text)| known(tools[*tool], about, &text.to_string()))
                .collect();
            let found = texts(&Lessons::new(all.clone()).recall(tools[tool], &text));
            prop_assert_eq!(found, twin(&all, tools[tool], &text));
        }
    }
}
