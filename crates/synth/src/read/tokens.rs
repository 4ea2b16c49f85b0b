//! Words and punctuation with their places.

use super::{CHARACTERS_MAX, ReadError};

/// A word or a punctuation mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// First character, in Unicode scalar values.
    pub(super) start: u32,
    /// One past the last.
    pub(super) end: u32,
}

/// Splits at white space; commas, semicolons and full stops at the end of a word are tokens of their own.
pub(super) fn split(text: &str) -> Result<Vec<Token<'_>>, ReadError> {
    // A character has a byte at least, so most texts need not be counted.
    if text.len() > CHARACTERS_MAX && text.chars().count() > CHARACTERS_MAX {
        return Err(ReadError::TooLong { given: text.chars().count() });
    }
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let mut start = 0u32;
    for chunk in text.split(char::is_whitespace) {
        let end = start + chunk.chars().count() as u32;
        if !chunk.is_empty() {
            push_word(&mut tokens, chunk, start, end);
        }
        // The white space behind it is one character.
        start = end + 1;
    }
    Ok(tokens)
}

fn push_word<'a>(tokens: &mut Vec<Token<'a>>, chunk: &'a str, start: u32, end: u32) {
    let word = chunk.trim_end_matches([',', ';', '.']);
    let marks = &chunk[word.len()..];
    // The marks are one byte and one character each.
    let word_end = end - marks.len() as u32;
    if !word.is_empty() {
        tokens.push(Token { text: word, start, end: word_end });
    }
    for place in 0..marks.len() {
        let start = word_end + place as u32;
        tokens.push(Token { text: &marks[place..=place], start, end: start + 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_tokens_with_places() {
        let tokens = split("Ü b, c;.\n d").expect("short text");
        let shown: Vec<_> = tokens.iter().map(|t| (t.text, t.start, t.end)).collect();
        assert_eq!(
            shown,
            [("Ü", 0, 1), ("b", 2, 3), (",", 3, 4), ("c", 5, 6), (";", 6, 7), (".", 7, 8), ("d", 10, 11)]
        );
    }
}
