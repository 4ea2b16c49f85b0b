//! Answers that repeat the words in which we asked for them. Small models do this: they write out the instruction and
//! then, before or behind it, the answer. Whoever looks for a value in an answer looks outside of such an echo.

use std::borrow::Cow;
use std::collections::HashMap;

/// The fewest consecutive words of an instruction that count as an echo of it. Fewer are in any text by chance.
pub const ECHO_WORDS_MIN: usize = 4;

/// The parts of an answer outside of an echo of `asked`, the instruction on the form of the answer. Every run of at
/// least [`ECHO_WORDS_MIN`] words that are consecutive words of the instruction is left out; case, white space and
/// punctuation around words do not matter. White space before and behind an echo stays, so that lines stay apart.
pub fn outside_of_echo<'a>(answer: &'a str, asked: &str) -> Cow<'a, str> {
    // Most answers of agents that call tools are too short for an echo, and instructions are long.
    if words(answer).nth(ECHO_WORDS_MIN - 1).is_none() {
        return Cow::Borrowed(answer);
    }
    let asked: Vec<String> = words(asked).map(|(_, word)| even(word)).collect();
    let mut places: HashMap<&[String], Vec<usize>> = HashMap::new();
    for (place, run) in asked.windows(ECHO_WORDS_MIN).enumerate() {
        places.entry(run).or_default().push(place);
    }
    if places.is_empty() {
        return Cow::Borrowed(answer);
    }
    let found: Vec<(usize, &str)> = words(answer).collect();
    let given: Vec<String> = found.iter().map(|(_, word)| even(word)).collect();
    let mut kept = String::new();
    // The byte up to which the answer is dealt with, and the word at which an echo may begin.
    let (mut copied, mut word) = (0, 0);
    while word + ECHO_WORDS_MIN <= given.len() {
        let begins = places.get(&given[word..word + ECHO_WORDS_MIN]).into_iter().flatten();
        let common = |place: &usize| {
            asked[*place..].iter().zip(&given[word..]).take_while(|(asked, given)| asked == given).count()
        };
        let Some(length) = begins.map(common).max() else {
            word += 1;
            continue;
        };
        let ((begin, _), (last, text)) = (found[word], found[word + length - 1]);
        kept.push_str(&answer[copied..begin]);
        copied = last + text.len();
        word += length;
    }
    if copied == 0 {
        return Cow::Borrowed(answer);
    }
    kept.push_str(&answer[copied..]);
    Cow::Owned(kept)
}

/// What `read` finds in an answer outside of an echo of `asked` or, where it finds nothing there, in the whole answer:
/// an echo may end with a mark behind which the value is.
pub fn read_beside_echo<T>(answer: &str, asked: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    match outside_of_echo(answer, asked) {
        Cow::Borrowed(whole) => read(whole),
        Cow::Owned(outside) => read(&outside).or_else(|| read(answer)),
    }
}

/// The words of a text, each with the byte at which it begins.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// A word without case and the punctuation around it; punctuation alone stays as it is.
fn even(word: &str) -> String {
    let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
    if bare.is_empty() { word.to_owned() } else { bare.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ASKED: &str = "Write the number alone as the last line, behind `Result:`.";

    #[test]
    fn an_echo_is_left_out() {
        for (answer, expected) in [
            ("56", "56"),
            (ASKED, ""),
            ("56\n\nWrite the number alone as the last line, behind `Result:`.", "56\n\n"),
            ("write the number **alone** as\nthe LAST line: 56", " 56"),
            ("It is 56. The last line, behind `Result:`. It is.", "It is 56.  It is."),
            // Too few words, and other words.
            ("the number alone", "the number alone"),
            ("Write the numbers alone as the first line", "Write the numbers alone as the first line"),
            // Twice, and cut off.
            ("Write the number alone\nas the last line,\n56 Write the number alone as", "\n56 "),
        ] {
            assert_eq!(outside_of_echo(answer, ASKED), expected, "{answer:?}");
        }
        assert_eq!(outside_of_echo("a b c d", "a b c"), "a b c d");
    }

    #[test]
    fn a_value_is_found_beside_an_echo() {
        let behind = |text: &str| text.rsplit_once("Result:").map(|(_, rest)| rest.trim().to_owned());
        for (answer, expected) in [
            ("Result: 5\nWrite the number alone as the last line, behind `Result:`.", Some("5")),
            // The mark belongs to the echo.
            ("as the last line, behind Result: 5", Some("5")),
            ("5", None),
        ] {
            assert_eq!(read_beside_echo(answer, ASKED, behind).as_deref(), expected, "{answer:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_lost(before in "[x-z \\n]{0,20}", behind in "[x-z \\n\u{e9}]{0,20}") {
            let answer = format!("{before} {ASKED} {behind}");
            prop_assert_eq!(outside_of_echo(&answer, ASKED), format!("{before}  {behind}"));
        }

        #[test]
        fn any_text_is_taken(answer in ".{0,60}", asked in ".{0,60}") {
            let _ = outside_of_echo(&answer, &asked);
            prop_assert_eq!(outside_of_echo(&asked, &asked).split_whitespace().count() < ECHO_WORDS_MIN, true);
        }
    }
}
