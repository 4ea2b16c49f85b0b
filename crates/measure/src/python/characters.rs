//! Character properties as in Python 3.11, which uses Unicode 14; Rust's standard library follows later versions.

use std::sync::LazyLock;

/// Sets of characters as ranges, generated from Python's own tables.
static TABLES: LazyLock<Tables> = LazyLock::new(Tables::read);

struct Tables {
    /// The first characters of the printable ranges, each with the first character after the range.
    printable: Vec<(u32, u32)>,
    word: Vec<(u32, u32)>,
    zeros: Vec<u32>,
}

impl Tables {
    fn read() -> Self {
        let mut tables = Self { printable: Vec::new(), word: Vec::new(), zeros: Vec::new() };
        let mut name = "";
        let mut end = 0;
        let mut gap = None;
        for word in include_str!("../../data/unicode14.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(str::split_ascii_whitespace)
        {
            if ["printable", "word", "zeros"].contains(&word) {
                (name, end) = (word, 0);
                continue;
            }
            let number = u32::from_str_radix(word, 16).unwrap_or_default();
            if name == "zeros" {
                tables.zeros.push(number);
            } else if let Some(start) = gap.take() {
                // Numbers alternate: the distance from the end of the previous
                // range to the start of the next, then its length.
                end = start + number;
                let runs = if name == "word" { &mut tables.word } else { &mut tables.printable };
                runs.push((start, end));
            } else {
                gap = Some(end + number);
            }
        }
        tables
    }
}

fn is_in(runs: &[(u32, u32)], character: char) -> bool {
    let character = u32::from(character);
    let place = runs.partition_point(|(start, _)| *start <= character);
    place > 0 && character < runs[place - 1].1
}

/// `str.isprintable` for one character: it is shown as it is.
pub fn is_printable(character: char) -> bool {
    match character {
        ' '..='~' => true,
        '\0'..='\x7f' => false,
        _ => is_in(&TABLES.printable, character),
    }
}

/// Whether `\w` matches.
pub fn is_word(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || character == '_'
    } else {
        is_in(&TABLES.word, character)
    }
}

/// The value of a decimal digit of any script: what `\d` matches and `int` reads.
pub fn digit(character: char) -> Option<u32> {
    if character.is_ascii() {
        return character.to_digit(10);
    }
    let character = u32::from(character);
    let zeros = &TABLES.zeros;
    let place = zeros.partition_point(|zero| *zero <= character);
    // The ten digits of a script are contiguous, so the distance from its zero is the value.
    let value = character - zeros[place.checked_sub(1)?];
    (value < 10).then_some(value)
}

/// `str.isspace` for one character: the Unicode property and four more separators.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// `str.strip` without arguments.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_classed_as_python_does() {
        for character in ['a', 'é', '日', '😀', '\u{fffd}', '~', ' '] {
            assert!(is_printable(character), "{character:?}");
        }
        // The last three: a line separator, a non-ASCII space, and a face added in Unicode 15.
        for character in ['\n', '\x7f', '\u{85}', '\u{ad}', '\u{2028}', '\u{a0}', '\u{1fae8}'] {
            assert!(!is_printable(character), "{character:?}");
        }
        for character in ['a', '_', '9', 'é', '日', '²', '½', 'ª', '٣'] {
            assert!(is_word(character), "{character:?}");
        }
        // A vowel sign and a circled letter are alphabetic in Unicode, but are not letters.
        for character in [' ', '-', '\u{93e}', 'Ⓐ', '\u{301}'] {
            assert!(!is_word(character), "{character:?}");
        }
        assert_eq!(
            ['7', '٣', '९', '９', '\u{1d7d9}', '²', 'a'].map(digit),
            [Some(7), Some(3), Some(9), Some(9), Some(1), None, None]
        );
        assert_eq!(strip("\x1c \u{a0}a b\u{85}\r"), "a b");
    }
}
