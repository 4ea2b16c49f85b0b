//! Compares two texts by the rules of the benchmarks' authors.
//!
//! Both rules first *normalise* the texts, and then compare the normalised texts as a whole (*exact match*) and by
//! their shared words (*F1*). They differ in the normalisation:
//!
//! - **HotpotQA** (its `hotpot_evaluate_v1.py`; also used by the published code of ReAct, ReWOO and agents by
//!   specification): lower case; ASCII punctuation deleted, so that `new-york` becomes `newyork`; the words `a`,
//!   `an` and `the` deleted; white space collapsed. If one of the texts is `yes`, `no` or `noanswer` and the other
//!   is not, F1 is 0.
//! - **TriviaQA** (its `triviaqa_evaluation.py`): the same, but punctuation and a few typographic quotes become
//!   spaces, so that `new-york` becomes two words, and `yes` and `no` are not special. An answer is compared with
//!   every accepted answer, and the best comparison counts.

use std::collections::HashMap;

use crate::python::{is_space, is_word};

/// The rule for normalising texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalisation {
    /// The rule of HotpotQA.
    Hotpot,
    /// The rule of TriviaQA.
    Trivia,
}

/// Words that have no partial F1 under HotpotQA's rule.
const WHOLE: [&str; 3] = ["yes", "no", "noanswer"];

/// Words that are ignored.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Punctuation under TriviaQA's rule, in addition to ASCII punctuation.
const QUOTES: [char; 4] = ['\u{2018}', '\u{2019}', '\u{b4}', '`'];

impl Normalisation {
    /// The text normalised by this rule.
    pub fn normal(self, text: &str) -> String {
        self.normal_ascii(text).unwrap_or_else(|| self.normal_any(text))
    }

    /// The same in one pass, for ASCII texts without control characters other than white space: only letters,
    /// digits and white space are left, so an article is always a whole word.
    fn normal_ascii(self, text: &str) -> Option<String> {
        let mut normal = String::with_capacity(text.len());
        // The start of the current word.
        let mut begin = 0;
        let mut end_word = |normal: &mut String| {
            if ARTICLES.contains(&&normal[begin..]) {
                normal.truncate(begin);
            } else if normal.len() > begin {
                normal.push(' ');
                begin = normal.len();
            }
        };
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => normal.push(char::from(byte.to_ascii_lowercase())),
                b' ' | b'\t'..=b'\r' | 0x1c..=0x1f => end_word(&mut normal),
                // Any other control character can end an article without being white space, and other texts need
                // Unicode's rules: both are left to `normal_any`.
                _ if !byte.is_ascii_punctuation() => return None,
                _ if self == Self::Trivia => end_word(&mut normal),
                _ => {}
            }
        }
        end_word(&mut normal);
        normal.truncate(normal.trim_end().len());
        Some(normal)
    }

    fn normal_any(self, text: &str) -> String {
        let lower = match self {
            Self::Hotpot => text.to_lowercase(),
            Self::Trivia => text.replace('_', " ").to_lowercase(),
        };
        let plain: String = match self {
            Self::Hotpot => lower.chars().filter(|character| !character.is_ascii_punctuation()).collect(),
            Self::Trivia => {
                let is_mark = |it: char| it.is_ascii_punctuation() || QUOTES.contains(&it);
                lower.chars().map(|it| if is_mark(it) { ' ' } else { it }).collect()
            }
        };
        words(&without_articles(&plain)).collect::<Vec<_>>().join(" ")
    }

    /// Compares an answer with a right one.
    pub fn compare(self, answer: &str, right: &str) -> AnswerAgreement {
        self.compare_normal(&self.normal(answer), &self.normal(right))
    }

    /// The same for texts that are already normalised.
    pub fn compare_normal(self, answer: &str, right: &str) -> AnswerAgreement {
        let is_exact = answer == right;
        let is_whole = |text: &str| self == Self::Hotpot && WHOLE.contains(&text);
        if !is_exact && (is_whole(answer) || is_whole(right)) {
            return AnswerAgreement { is_exact, ..AnswerAgreement::default() };
        }
        let (answered, wanted, shared) = match shared_of_few(answer, right) {
            Some(counts) => counts,
            None => shared_of_many(answer, right),
        };
        // As in the scripts, texts without a common word have an F1 of 0, even two empty ones, which match exactly.
        // Nothing is divided by 0 below.
        if shared == 0 {
            return AnswerAgreement { is_exact, ..AnswerAgreement::default() };
        }
        let precision = shared as f64 / answered as f64;
        let recall = shared as f64 / wanted as f64;
        AnswerAgreement { is_exact, f1: (2.0 * precision * recall) / (precision + recall), precision, recall }
    }

    /// The best of the comparisons with several right answers, separately for exact match and F1; no agreement if
    /// there is no right answer.
    pub fn best<'t>(self, answer: &str, rights: impl IntoIterator<Item = &'t str>) -> AnswerAgreement {
        let answer = self.normal(answer);
        let mut best = AnswerAgreement::default();
        for right in rights {
            let found = self.compare_normal(&answer, &self.normal(right));
            // The script takes the maximum of either figure, so the two may come from different right answers.
            // Precision and recall go with the best F1.
            let is_exact = best.is_exact || found.is_exact;
            best = AnswerAgreement { is_exact, ..if found.f1 > best.f1 { found } else { best } };
        }
        best
    }
}

/// The agreement of an answer with a right one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AnswerAgreement {
    /// Whether the normalised texts are equal.
    pub is_exact: bool,
    /// The harmonic mean of precision and recall, 0 to 1; 0 without a common word, even if both texts are empty.
    pub f1: f64,
    /// Share of the answer's words that are in the right answer, counted with multiplicity.
    pub precision: f64,
    /// Share of the right answer's words that are in the answer.
    pub recall: f64,
}

/// Maximum number of words in a right answer for which each word of an answer is searched linearly instead of in a
/// map.
const FEW: usize = 16;

/// The number of words in an answer, in a right answer, and in both; `None` if the right answer has more than
/// [`FEW`].
fn shared_of_few(answer: &str, right: &str) -> Option<(usize, usize, usize)> {
    // Right answers are short and compared by the thousand, so the usual case allocates nothing.
    let mut left = [""; FEW];
    let mut wanted = 0;
    for word in words(right) {
        *left.get_mut(wanted)? = word;
        wanted += 1;
    }
    let (mut answered, mut shared) = (0, 0);
    for word in words(answer) {
        answered += 1;
        if let Some(found) = left[..wanted].iter_mut().find(|left| **left == word) {
            // No word is empty, so this one is not found again.
            *found = "";
            shared += 1;
        }
    }
    Some((answered, wanted, shared))
}

/// The same for any number of words.
fn shared_of_many(answer: &str, right: &str) -> (usize, usize, usize) {
    let mut left: HashMap<&str, usize> = HashMap::new();
    let (mut answered, mut wanted, mut shared) = (0, 0, 0);
    for word in words(right) {
        *left.entry(word).or_default() += 1;
        wanted += 1;
    }
    for word in words(answer) {
        answered += 1;
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    (answered, wanted, shared)
}

/// The words of a text, separated by white space as defined by Python, which includes four ASCII control
/// characters.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// The text with each article replaced by a space if it is a word of its own: if the characters around it are not
/// letters, numbers or underscores.
fn without_articles(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut word = String::new();
    // The `None` stands for the end of the text, which ends the last word.
    for character in text.chars().map(Some).chain([None]) {
        match character.filter(|it| is_word(*it)) {
            Some(character) => word.push(character),
            None => {
                // An article becomes a space, as in the scripts, so that what stands on either side of it does not
                // merge.
                rest.push_str(if ARTICLES.contains(&word.as_str()) { " " } else { &word });
                word.clear();
                rest.extend(character);
            }
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_made_normal_by_each_rule() {
        for (text, hotpot, trivia) in [
            ("The New-York Times, Inc.", "newyork times inc", "new york times inc"),
            ("an_apple  a day", "anapple day", "apple day"),
            (
                "Zo\u{eb}\u{2019}s \u{bd} theatre",
                "zo\u{eb}\u{2019}s \u{bd} theatre",
                "zo\u{eb} s \u{bd} theatre",
            ),
            ("a\u{1c}b\u{a0}c", "b c", "b c"),
            ("the-the \u{e9}a", "thethe \u{e9}a", "\u{e9}a"),
            ("", "", ""),
        ] {
            assert_eq!(Normalisation::Hotpot.normal(text), hotpot, "{text:?}");
            assert_eq!(Normalisation::Trivia.normal(text), trivia, "{text:?}");
        }
    }

    #[test]
    fn answers_are_compared_word_by_word() {
        let found = Normalisation::Hotpot.compare("the big red dog", "Red dog, red!");
        assert_eq!((found.is_exact, found.precision, found.recall), (false, 2.0 / 3.0, 2.0 / 3.0));
        assert!((found.f1 - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(Normalisation::Hotpot.compare("yes it is", "Yes."), AnswerAgreement::default());
        assert!(Normalisation::Trivia.compare("yes it is", "Yes.").f1 > 0.4);
        // Two texts that are empty after normalisation share nothing.
        assert_eq!(
            Normalisation::Hotpot.compare("The", "!"),
            AnswerAgreement { is_exact: true, ..AnswerAgreement::default() }
        );
    }

    #[test]
    fn the_best_of_several_right_answers_counts() {
        let best =
            Normalisation::Trivia.best("Big Ben tower", ["Elizabeth Tower", "Big Ben", "the big ben tower"]);
        assert_eq!((best.is_exact, best.f1), (true, 1.0));
        assert_eq!(Normalisation::Trivia.best("x", []), AnswerAgreement::default());
    }

    /// The obviously correct way to delete articles: it inspects a word together with the characters on both sides.
    fn articles_slowly(text: &str) -> String {
        let all: Vec<char> = text.chars().collect();
        let is_word = |at: Option<usize>| at.and_then(|at| all.get(at)).is_some_and(|it| is_word(*it));
        let mut at = 0;
        let mut out = String::new();
        'next: while at < all.len() {
            for article in ["the", "an", "a"] {
                let end = at + article.len();
                let stands = all.get(at..end).is_some_and(|it| it.iter().copied().eq(article.chars()));
                if stands && !is_word(at.checked_sub(1)) && !is_word(Some(end)) {
                    out.push(' ');
                    at = end;
                    continue 'next;
                }
            }
            out.push(all[at]);
            at += 1;
        }
        out
    }

    proptest! {
        #[test]
        fn articles_are_deleted_as_by_the_slow_way(text in "([athen _.é]|the|an){0,20}") {
            prop_assert_eq!(without_articles(&text), articles_slowly(&text));
        }

        #[test]
        fn ascii_is_made_normal_as_any_text(text in "([athenAN _.'`0-9\\t\x1c\x01-]|the|an){0,20}") {
            for rule in [Normalisation::Hotpot, Normalisation::Trivia] {
                if let Some(normal) = rule.normal_ascii(&text) {
                    prop_assert_eq!(normal, rule.normal_any(&text));
                }
            }
        }

        #[test]
        fn few_words_are_counted_as_many(answer in "[abc ]{0,40}", right in "[abc ]{0,60}") {
            if let Some(counts) = shared_of_few(&answer, &right) {
                prop_assert_eq!(counts, shared_of_many(&answer, &right));
            }
        }

        #[test]
        fn normal_texts_stay_as_they_are(text in "\\PC{0,30}") {
            for rule in [Normalisation::Hotpot, Normalisation::Trivia] {
                let once = rule.normal(&text);
                // Lower-casing can produce another letter that has a lower case, so twice is not always the same as
                // once.
                let found = rule.compare(&text, &text);
                prop_assert!(found.is_exact);
                prop_assert!(once.is_empty() || (found.f1 - 1.0).abs() < 1e-12);
            }
        }
    }
}
