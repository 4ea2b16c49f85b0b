//! Texts as words, so that two of them can be compared without their punctuation.

use crate::concepts::is_same;
use crate::tokens::{Token, split, tokens};

/// The words of a text in lower case. A word is a run of letters and digits; apostrophes within it are dropped, a dot
/// between two digits belongs to it, a comma between groups of three digits is dropped, and a minus sign before a
/// number belongs to that. Takes time in proportion to the text.
pub fn words(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let at = |place: usize| characters.get(place).copied().unwrap_or(' ');
    let mut words = Vec::new();
    let mut word = String::new();
    for (place, &character) in characters.iter().enumerate() {
        let before = place.checked_sub(1).map_or(' ', at);
        let (after, is_between_digits) =
            (at(place + 1), before.is_ascii_digit() && at(place + 1).is_ascii_digit());
        match character {
            _ if character.is_alphanumeric() => word.extend(character.to_lowercase()),
            '\'' | '\u{2019}' if before.is_alphanumeric() && after.is_alphanumeric() => {}
            '.' if is_between_digits => word.push('.'),
            ',' if is_between_digits && is_group_of_three(&characters, place + 1) => {}
            // Not after a letter or a digit: the mark in `10-20` is not a sign.
            '-' | '\u{2212}' if word.is_empty() && after.is_ascii_digit() && !before.is_alphanumeric() => {
                word.push('-');
            }
            _ => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether exactly three digits begin there.
fn is_group_of_three(characters: &[char], place: usize) -> bool {
    let digits = characters.iter().skip(place).take(4).take_while(|c| c.is_ascii_digit()).count();
    digits == 3
}

/// The first fact that a text does not name; `None` if it names all.
///
/// A fact is one text or several with `|` between them, one of which has to occur: its words one after the other,
/// where a word of letters may be the beginning of one in the text (`multipl` of *multiplied*), or one of the same
/// meaning (`people` of *everybody*), and a number has to be equal, however it is written (`26th` is 26, *forty* is
/// 40). A fact of which one text only asks for something, such as `find`, is always named. A fact that begins with `!`
/// must not occur.
pub fn missing_fact<'a>(facts: &'a [String], text: &str) -> Option<&'a str> {
    // In words, a number may be a number or, as in "the seconds", a word.
    let texts = [plain(tokens(text)), plain(split(text))];
    let occurs = |fact: &str| texts.iter().any(|text| occurs(fact, text));
    facts.iter().map(String::as_str).find(|fact| match fact.strip_prefix('!') {
        Some(forbidden) => occurs(forbidden),
        None => !fact.split('|').any(|one| one == "find" || occurs(one)),
    })
}

/// Whether a text names all facts.
pub fn names_facts(facts: &[String], text: &str) -> bool {
    missing_fact(facts, text).is_none()
}

/// The words and numbers among tokens.
fn plain(tokens: Vec<Token>) -> Vec<Token> {
    tokens.into_iter().filter(|token| !matches!(token, Token::Sign(_))).collect()
}

fn occurs(fact: &str, text: &[Token]) -> bool {
    let fact = plain(split(fact));
    !fact.is_empty()
        && text.windows(fact.len()).any(|window| fact.iter().zip(window).all(|(a, b)| is_begun(a, b)))
}

fn is_begun(wanted: &Token, found: &Token) -> bool {
    match (wanted, found) {
        (Token::Word(wanted), Token::Word(found)) => found.starts_with(&**wanted) || is_same(wanted, found),
        (Token::Number(wanted) | Token::Ordinal(wanted), Token::Number(found) | Token::Ordinal(found)) => {
            (wanted - found).abs() <= f64::EPSILON * wanted.abs()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_no_punctuation() {
        assert_eq!(words("Reader's Digest: English."), ["readers", "digest", "english"]);
        assert_eq!(words("Reader\u{2019}s"), ["readers"]);
        assert_eq!(
            words("-3.5, 1,024 and 12,19; 2**15 (a-1)"),
            ["-3.5", "1024", "and", "12", "19", "2", "15", "a", "1"]
        );
        assert!(words(" .,'- ").is_empty());
    }

    #[test]
    fn facts_are_named_in_one_of_their_wordings() {
        let facts = |facts: &[&str]| facts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let roots = facts(&["cube root|third root", "27"]);
        assert!(names_facts(&roots, "Compute the cube root of 27."));
        assert_eq!(missing_fact(&roots, "Compute the cube of 27."), Some("cube root|third root"));
        assert_eq!(missing_fact(&roots, "the cube root of 270"), Some("27"));
        let cubes = facts(&["cube", "!root"]);
        assert!(names_facts(&cubes, "12 cubed"));
        assert_eq!(missing_fact(&cubes, "the cube root of 12"), Some("!root"));
        assert!(names_facts(&facts(&["multipl|times"]), "It is multiplied."));
        assert!(names_facts(&facts(&["100"]), "100.0"));
        assert!(names_facts(&facts(&["26"]), "the 26th ceremony"));
        assert!(!names_facts(&facts(&["26"]), "the 261st ceremony"));
        assert!(names_facts(&facts(&["40", "people", "100"]), "everybody of forty gets one hundred"));
        assert!(!names_facts(&facts(&["women"]), "the men") && names_facts(&facts(&["women"]), "all ladies"));
        assert!(!names_facts(&facts(&["%"]), "50 %"));
        assert!(names_facts(&[], "anything"));
    }
}
