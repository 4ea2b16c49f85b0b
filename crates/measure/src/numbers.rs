//! The two rules that decide whether a text contains the right number.
//!
//! The **paper's rule** decides whether a run passes. It is the rule of the code published with the paper on agents
//! by specification: it takes the last number in the line after the last `[Answer]`, or in the whole text if there
//! is no such mark, and compares it with the right one as floating-point numbers rounded to 3 decimals. Its quirks
//! are kept: `5-3` contains the number -3, `.5` the number 5, and `1e3` the number 3.
//!
//! The **strict rule** is that of the authors of GSM8K: it compares the first number after `#### ` with the right
//! one as text. So `#### 18.0` and `#### $18` are wrong if `#### 18` is right.

use crate::ANSWER_MARK;
use crate::python::digit;

/// The mark before the right answer in the data, which the strict rule searches for.
pub const STRICT_MARK: &str = "#### ";

/// Number of decimals compared by the paper's rule.
const DECIMALS: usize = 3;

/// A right answer in the form that both rules need.
#[derive(Debug, Clone, PartialEq)]
pub struct RightNumber {
    /// Its text without commas, as the strict rule compares it.
    text: String,
    /// Its value, rounded as the paper's rule compares it.
    rounded: f64,
}

impl RightNumber {
    /// Parses a number from the data, such as `14,500`; `None` if the text is not a number.
    pub fn read(text: &str) -> Option<Self> {
        let length = strict_length(text)?;
        // Nothing may follow the number, because it would be unclear whether it belongs to the answer.
        if length != text.len() {
            return None;
        }
        let text = text.replace(',', "");
        let rounded = value(&text).filter(|value| value.is_finite())?;
        Some(Self { text, rounded })
    }

    /// Its text, without commas.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a number that [`by_paper`] found is this one.
    pub fn is_by_paper(&self, found: &str) -> bool {
        // Both sides were rounded by the same function, so equal numbers are equal bit for bit. One too large for a
        // float becomes infinite, and right numbers are finite.
        value(found) == Some(self.rounded)
    }

    /// Whether a number that [`by_strict`] found is this one.
    pub fn is_by_strict(&self, found: &str) -> bool {
        found == self.text
    }
}

/// The number that the paper's rule finds in a text, without commas but otherwise as written; `None` if there is
/// none.
///
/// It is the last number in the line after the last [`ANSWER_MARK`]. If that line contains no number, or there is
/// no such mark, it is the last number in the whole text.
pub fn by_paper(text: &str) -> Option<String> {
    let behind = text.rsplit_once(ANSWER_MARK).map(|(_, rest)| rest.split('\n').next().unwrap_or_default());
    behind.and_then(last_number).or_else(|| last_number(text))
}

/// The number that the strict rule finds in a text, without commas; `None` if there is none. It is the first one
/// immediately after [`STRICT_MARK`], and may be empty: nothing is left of `#### ,`.
pub fn by_strict(text: &str) -> Option<String> {
    let mut places = text.match_indices(STRICT_MARK);
    // The published pattern is searched for, so a mark that no number follows immediately does not end the search.
    places.find_map(|(at, _)| {
        let rest = &text[at + STRICT_MARK.len()..];
        strict_length(rest).map(|length| rest[..length].replace(',', ""))
    })
}

/// The number of bytes that the strict rule matches at the beginning of a text: `-?[0-9.,]+`.
fn strict_length(text: &str) -> Option<usize> {
    let sign = usize::from(text.starts_with('-'));
    let rest = &text.as_bytes()[sign..];
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count();
    (length > 0).then_some(sign + length)
}

/// The last match of `-?\d+\.?\d*` in a text without its commas, without a trailing dot.
fn last_number(text: &str) -> Option<String> {
    if text.is_ascii() { last_number_ascii(text) } else { last_number_any(text) }
}

/// The same for ASCII. No match begins after a text's last digit and the characters that belong to it, so only the
/// last few numbers need to be examined. But where a match begins depends on the matches before it, back to a
/// character that cannot be part of any match.
fn last_number_ascii(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b',');
    let last = bytes.iter().rposition(u8::is_ascii_digit)?;
    let begin = bytes[..last].iter().rposition(|byte| !is_part(*byte)).map_or(0, |at| at + 1);
    let end =
        bytes[last..].iter().position(|byte| !is_part(*byte)).map_or(bytes.len(), |length| last + length);
    last_number_any(&text[begin..end])
}

fn last_number_any(text: &str) -> Option<String> {
    let characters: Vec<char> = text.chars().filter(|character| *character != ',').collect();
    let digits_from = |at: usize| characters[at..].iter().take_while(|it| digit(**it).is_some()).count();
    let mut last = None;
    let mut at = 0;
    while at < characters.len() {
        // `whole` may be the end of the text, where no digit follows.
        let whole = at + usize::from(characters[at] == '-');
        let count = digits_from(whole);
        if count == 0 {
            // Only one character is skipped: in `--3` the second hyphen begins the match.
            at += 1;
            continue;
        }
        let mut end = whole + count;
        if characters.get(end) == Some(&'.') {
            end += 1;
            end += digits_from(end);
        }
        last = Some(at..end);
        // Matches do not overlap, so a number's own digits cannot begin the next one; the hyphen after them can.
        at = end;
    }
    let number: String = characters[last?].iter().collect();
    Some(number.strip_suffix('.').map_or(number.clone(), str::to_owned))
}

/// The value of a number, rounded to [`DECIMALS`] decimals as in Python: based on the exact value of the
/// floating-point number, with ties to even.
fn value(number: &str) -> Option<f64> {
    let ascii: Option<String> = number
        .chars()
        .map(|it| match it {
            '-' | '.' => Some(it),
            _ => digit(it).and_then(|digit| char::from_digit(digit, 10)),
        })
        .collect();
    let value: f64 = ascii?.parse().ok()?;
    format!("{value:.DECIMALS$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_paper_takes_the_last_number() {
        for (text, expected) in [
            ("18", Some("18")),
            ("a 1,234.50 b", Some("1234.50")),
            ("5-3", Some("-3")),
            ("- 7", Some("7")),
            ("9.", Some("9")),
            ("1.2.3", Some("3")),
            ("2. .5", Some("5")),
            ("none", None),
            ("", None),
            (".,-", None),
            ("1\n2\n", Some("2")),
            ("\u{663}\u{664}.", Some("\u{663}\u{664}")),
            // The line after the last mark, and the whole text if that line has no number.
            ("3 [Answer] 4 or 5\n6", Some("5")),
            ("[Answer] 1 [Answer] 2\n3", Some("2")),
            ("7 [Answer]\n8 [Ans", Some("8")),
            ("7 [Answer] many", Some("7")),
        ] {
            assert_eq!(by_paper(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn the_strict_rule_takes_the_first_number_behind_the_mark() {
        for (text, expected) in [
            ("#### 18", Some("18")),
            ("##### 1,8", Some("18")),
            ("####18", None),
            ("#### x #### -4. #### 5", Some("-4.")),
            ("#### -", None),
            ("#### ,", Some("")),
            ("#### \u{663}", None),
            ("18", None),
        ] {
            assert_eq!(by_strict(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_are_compared_by_each_rule() {
        let right = RightNumber::read("1,018").unwrap();
        assert_eq!(right.as_str(), "1018");
        for (found, paper, strict) in [
            ("1018", true, true),
            ("1018.0004", true, false),
            ("1018.0006", false, false),
            ("01018", true, false),
            ("\u{661}\u{660}\u{661}\u{668}", true, false),
            ("", false, false),
        ] {
            assert_eq!((right.is_by_paper(found), right.is_by_strict(found)), (paper, strict), "{found}");
        }
        for broken in ["", "-", ",", "1.2.3", "18 cm", "x", " 1", "$3"] {
            assert_eq!(RightNumber::read(broken), None, "{broken}");
        }
        assert!(RightNumber::read("-0.5").is_some() && RightNumber::read(&"9".repeat(400)).is_none());
    }

    #[test]
    fn ties_are_rounded_to_even_as_in_python() {
        for (text, rounded) in [
            ("0.0625", 0.062),
            ("0.1875", 0.188),
            ("2.0005", 2.001),
            ("1.0005", 1.0),
            ("0.5625", 0.562),
            ("-0.0004", 0.0),
        ] {
            assert_eq!(value(text), Some(rounded), "{text}");
        }
    }

    proptest! {
        #[test]
        fn ascii_holds_the_same_number_as_any_text(text in "[-0-9.,x \\n]{0,30}") {
            prop_assert_eq!(last_number_ascii(&text), last_number_any(&text));
        }

        #[test]
        fn any_text_is_taken(text in "(\\[Answer\\]|#### |[-0-9.,\\n \u{663}x])*") {
            let _ = (by_paper(&text), by_strict(&text));
            if let Some(found) = by_paper(&text) {
                prop_assert!(value(&found).is_some());
            }
        }
    }
}
