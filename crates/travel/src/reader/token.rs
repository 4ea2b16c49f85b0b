//! Words, numbers and marks of an English text.

/// Maximum number of bytes of a text that are read.
pub(super) const TEXT_BYTES_MAX: usize = 20_000;

/// A token of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'t> {
    /// The token as written.
    pub(super) raw: &'t str,
    /// The token in lower case.
    pub(super) word: String,
    pub(super) kind: Kind,
    /// The byte where it starts.
    pub(super) at: usize,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Word,
    /// A number in digits; an ordinal is written as in `16th`.
    Number {
        value: f64,
        is_ordinal: bool,
    },
    Mark,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.word == word
    }

    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.contains(&self.word.as_str())
    }

    /// Whether a sentence ends here.
    pub(super) fn is_end(&self) -> bool {
        self.kind == Kind::Mark && self.is_any(&[".", "!", "?"])
    }
}

/// Splits a text into tokens. A hyphen separates words, as in `pet-friendly`; between digits it is a mark, as a
/// dash always is.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    // Slicing within a character would panic.
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(it) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if it.is_ascii_digit() {
            number(rest, at, &mut all)
        } else if it.is_alphabetic() {
            word(rest, at, &mut all)
        } else {
            let before = text[..at].chars().next_back();
            let after = rest.chars().nth(1);
            let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
            let is_mark = match it {
                '-' => is_digit(before) && is_digit(after),
                _ => !it.is_whitespace() && !matches!(it, '\'' | '"' | '’' | '“' | '”'),
            };
            let length = it.len_utf8();
            if is_mark {
                push(&mut all, &rest[..length], at, Kind::Mark);
            }
            length
        };
        at += length;
    }
    all
}

fn push<'t>(all: &mut Vec<Token<'t>>, raw: &'t str, at: usize, kind: Kind) {
    // With a straight apostrophe, so that lists of words need one spelling only.
    let word = raw.to_lowercase().replace('’', "'");
    all.push(Token { raw, word, kind, at });
}

/// A word with its inner apostrophes, as in `don't`. Returns its length.
fn word<'t>(rest: &'t str, at: usize, all: &mut Vec<Token<'t>>) -> usize {
    let mut end = 0;
    for (offset, it) in rest.char_indices() {
        let after = rest[offset + it.len_utf8()..].chars().next();
        let is_within = matches!(it, '\'' | '’') && after.is_some_and(char::is_alphabetic);
        if !it.is_alphanumeric() && !is_within {
            break;
        }
        end = offset + it.len_utf8();
    }
    push(all, &rest[..end], at, Kind::Word);
    end
}

/// A number such as `1,700`, `2.5`, `16th` or `2k`. Returns its length.
fn number<'t>(rest: &'t str, at: usize, all: &mut Vec<Token<'t>>) -> usize {
    let bytes = rest.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    let mut has_point = false;
    // A comma belongs to the number only if exactly three digits follow, and a point only if a digit does. Otherwise it
    // ends a clause or a sentence.
    loop {
        if is_digit(end) {
            end += 1;
        } else if bytes.get(end) == Some(&b',')
            && !has_point
            && (1..=3).all(|next| is_digit(end + next))
            && !is_digit(end + 4)
        {
            end += 4;
        } else if bytes.get(end) == Some(&b'.') && !has_point && is_digit(end + 1) {
            has_point = true;
            end += 2;
        } else {
            break;
        }
    }
    let value: f64 = rest[..end].replace(',', "").parse().unwrap_or_default();
    // The suffix is all letters after the digits, so `2km` is not 2,000.
    let letters =
        rest[end..].chars().take_while(|it| it.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
    let suffix = rest[end..end + letters].to_lowercase();
    let (value, is_ordinal, length) = match suffix.as_str() {
        "st" | "nd" | "rd" | "th" => (value, true, end + letters),
        "k" => (value * 1_000.0, false, end + letters),
        _ => (value, false, end),
    };
    push(all, &rest[..length], at, Kind::Number { value, is_ordinal });
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_apart() {
        let all = tokens("A 3-day trip, March 16th–18th: $1,700.50 (don't be pet-friendly), 2022-03-16. $2k");
        let words: Vec<&str> = all.iter().map(|token| token.word.as_str()).collect();
        assert_eq!(
            words,
            [
                "a", "3", "day", "trip", ",", "march", "16th", "–", "18th", ":", "$", "1,700.50", "(",
                "don't", "be", "pet", "friendly", ")", ",", "2022", "-", "03", "-", "16", ".", "$", "2k"
            ]
        );
        assert_eq!(all[6].kind, Kind::Number { value: 16.0, is_ordinal: true });
        assert_eq!(all[11].kind, Kind::Number { value: 1700.5, is_ordinal: false });
        assert_eq!(all[26].kind, Kind::Number { value: 2000.0, is_ordinal: false });
        assert_eq!(tokens("1,70 é’s").len(), 4);
    }
}
