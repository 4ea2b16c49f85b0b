//! Texts with references in them: `a picture of <node-0>.text`.
//!
//! A reference is `<node-`, the number of a step, `>.` and a key, which is a letter or underscore followed by any
//! number of those and digits. A key ends where no such character follows, so words that begin with one cannot
//! directly follow a reference. For these there is an empty mark, `<>`, which counts only right after a reference:
//! the plural of `<node-0>.text` is `<node-0>.text<>s`.

use crate::plan::{ArgumentValue, Reference, TextPiece};

/// What a reference begins with.
pub(crate) const OPENING: &str = "<node-";

/// Stands for nothing, right after a reference.
const NOTHING: &str = "<>";

impl ArgumentValue {
    /// A text in the form of JSON plans, with its references parsed.
    ///
    /// Words that look like a reference without being one, such as `<node-1>` without a key, stay words.
    pub fn text(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut words = String::new();
        let mut rest = text;
        while let Some(place) = rest.find(OPENING) {
            words.push_str(&rest[..place]);
            rest = &rest[place..];
            if let Some((reference, length)) = leading_reference(rest) {
                if !words.is_empty() {
                    parts.push(TextPiece::Words(std::mem::take(&mut words)));
                }
                parts.push(TextPiece::Reference(reference));
                rest = &rest[length..];
                rest = rest.strip_prefix(NOTHING).unwrap_or(rest);
            } else {
                words.push_str(OPENING);
                rest = &rest[OPENING.len()..];
            }
        }
        words.push_str(rest);
        // An empty text is one empty piece, so that no value is without pieces.
        if !words.is_empty() || parts.is_empty() {
            parts.push(TextPiece::Words(words));
        }
        Self::Text(parts)
    }
}

/// The text of these parts in the form of JSON plans. The inverse of [`ArgumentValue::text`] for its results.
pub(crate) fn written(parts: &[TextPiece]) -> String {
    let mut text = String::new();
    let mut follows_reference = false;
    for part in parts {
        match part {
            TextPiece::Words(words) => {
                // Otherwise the words would lengthen the key, or a mark of theirs would be read as ours.
                if follows_reference && (words.starts_with(is_of_key) || words.starts_with(NOTHING)) {
                    text.push_str(NOTHING);
                }
                text.push_str(words);
            }
            TextPiece::Reference(Reference { step, key }) => {
                text.push_str(&format!("{OPENING}{step}>.{key}"));
            }
        }
        follows_reference = matches!(part, TextPiece::Reference(_));
    }
    text
}

/// Whether words are unchanged in JSON: none of them reads as a reference.
pub(crate) fn are_plain(words: &str) -> bool {
    words.match_indices(OPENING).all(|(place, _)| leading_reference(&words[place..]).is_none())
}

/// Whether a key is allowed in a reference.
pub(crate) fn is_key(key: &str) -> bool {
    key.chars().all(is_of_key) && key.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

fn is_of_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The reference at the beginning of a text, and its length in bytes.
fn leading_reference(text: &str) -> Option<(Reference, usize)> {
    let number = text.strip_prefix(OPENING)?;
    let (digits, behind) = number.split_at(number.bytes().take_while(u8::is_ascii_digit).count());
    let key = behind.strip_prefix(">.")?;
    let length = key.bytes().take_while(|byte| is_of_key(char::from(*byte))).count();
    let key = &key[..length];
    // A number that does not fit names no step, so the text stays words.
    let reference = Reference { step: digits.parse().ok()?, key: key.to_owned() };
    is_key(key).then_some((reference, OPENING.len() + digits.len() + ">.".len() + length))
}
