//! Words and punctuation with their positions.

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
pub(super) fn split<'t>(text: &'t str) -> Result<Vec<Token<'t>>, ReadError> {
    // A character has at least one byte, so most texts need not be counted.
    if text.len() > CHARACTERS_MAX && text.chars().count() > CHARACTERS_MAX {
        return Err(ReadError::TooLong { given: text.chars().count() });
    }
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let mut start = 0u32;
    let mut push = |chunk: &'t str, characters: usize| {
        let end = start + characters as u32;
        if !chunk.is_empty() {
            push_word(&mut tokens, chunk, start, end);
        }
        // The white space after it is one character.
        start = end + 1;
    };
    if text.is_ascii() {
        // The same white space, and each byte is a character. Nearly all texts are like that.
        let is_blank = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
        let mut from = 0;
        for chunk in text.as_bytes().split(is_blank) {
            let to = from + chunk.len();
            push(&text[from..to], chunk.len());
            from = to + 1;
        }
    } else {
        text.split(char::is_whitespace).for_each(|chunk| push(chunk, chunk.chars().count()));
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
    fn white_space_is_the_same_in_both_ways() {
        // One more character outside ASCII, and the text takes the slow path.
        let text: String = (0..=0x7fu8).flat_map(|byte| ['a', char::from(byte), 'b']).collect();
        let longer = format!("{text} Ü");
        let (ascii, other) = (split(&text).expect("short text"), split(&longer).expect("short text"));
        assert_eq!(ascii[..], other[..other.len() - 1]);
    }

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
