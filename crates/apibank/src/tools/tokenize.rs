//! The words of a query, as `word_tokenize` of NLTK finds them in plain text: punctuation marks are separate
//! tokens, except for points within a word, points and commas before a digit, and apostrophes of contractions.

use crate::python::is_space;

/// Characters that are always separate tokens.
const ALONE: &str = ";@#$%&?!*()[]{}<>«»“”„‘’";

/// Endings that are separate words.
const ENDINGS: [&str; 7] = ["'s", "'m", "'d", "'ll", "'re", "'ve", "n't"];

/// Words that are split in two.
const PAIRS: [(&str, &str); 7] =
    [("can", "not"), ("gim", "me"), ("gon", "na"), ("got", "ta"), ("lem", "me"), ("wan", "na"), ("'t", "is")];

/// The words of a text in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let pieces: Vec<&str> = text.split(is_space).filter(|piece| !piece.is_empty()).collect();
    let mut words = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        let is_last = place + 1 == pieces.len();
        let mut word = String::new();
        let mut rest = *piece;
        while let Some(character) = rest.chars().next() {
            let behind = &rest[character.len_utf8()..];
            let next = behind.chars().next();
            // Counted only where it matters, because a long text may be one character throughout.
            let points = || rest.len() - rest.trim_start_matches('.').len();
            // The order matters: runs of points and dashes come before single points.
            let (length, sign) = match character {
                '"' => (
                    1,
                    if word.is_empty() && words.last().is_none_or(|it| it != "``") && !behind.is_empty() {
                        "``"
                    } else {
                        "''"
                    },
                ),
                '.' if next == Some('.') => (points(), &rest[..points()]),
                '-' if next == Some('-') => (2, "--"),
                '.' if behind.chars().all(|it| "])}>\"'»”’?!;".contains(it))
                    && ends_sentence(&word, is_last) =>
                {
                    (1, ".")
                }
                ':' | ',' if next.is_none_or(|it| !it.is_ascii_digit()) => (1, &rest[..1]),
                _ if ALONE.contains(character) => (character.len_utf8(), &rest[..character.len_utf8()]),
                _ => (character.len_utf8(), ""),
            };
            if sign.is_empty() {
                word.push(character);
            } else {
                flush(&mut word, &mut words);
                words.push(sign.to_owned());
            }
            rest = &rest[length..];
        }
        flush(&mut word, &mut words);
    }
    words
}

/// Whether a point after this word ends a sentence. After an abbreviation of one letter or with points inside it
/// does not, unless it ends the text.
fn ends_sentence(word: &str, is_last: bool) -> bool {
    is_last || (word.chars().count() > 1 && !word.contains('.'))
}

fn flush(word: &mut String, words: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    let text = std::mem::take(word);
    if let Some((one, other)) = PAIRS.iter().find(|(one, other)| text.strip_prefix(one) == Some(other)) {
        words.extend([(*one).to_owned(), (*other).to_owned()]);
        return;
    }
    let ending = ENDINGS.iter().find(|ending| text.ends_with(**ending) && text.len() > ending.len());
    match ending {
        Some(ending) => {
            let (stem, ending) = text.split_at(text.len() - ending.len());
            words.extend([stem.to_owned(), ending.to_owned()]);
        }
        None if text.ends_with('\'') && text.len() > 1 => {
            words.extend([text[..text.len() - 1].to_owned(), "'".to_owned()]);
        }
        None => words.push(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_stand_alone() {
        for (text, expected) in [
            ("artificial intelligence", "artificial|intelligence"),
            ("what's new, e.g. in 5.5% of all cases?", "what|'s|new|,|e.g.|in|5.5|%|of|all|cases|?"),
            ("don't (ever) stop...", "do|n't|(|ever|)|stop|..."),
            ("1,000 --no", "1,000|--|no"),
            ("cannot say \"yes\".", "can|not|say|``|yes|''|."),
            ("", ""),
        ] {
            assert_eq!(words(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn long_runs_take_no_longer_than_other_texts() {
        for (sign, count) in [("a", 1), (".", 1), ("-", 50_000), ("?", 100_000)] {
            assert_eq!(words(&sign.repeat(100_000)).len(), count, "{sign}");
        }
    }
}
