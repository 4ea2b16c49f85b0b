//! Numbers in words and digits.

use super::token::{Kind, Token};

/// A number, and how many tokens it spans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    pub(super) is_ordinal: bool,
    pub(super) length: usize,
}

const SMALL: [(&str, &str); 20] = [
    ("zero", "zeroth"),
    ("one", "first"),
    ("two", "second"),
    ("three", "third"),
    ("four", "fourth"),
    ("five", "fifth"),
    ("six", "sixth"),
    ("seven", "seventh"),
    ("eight", "eighth"),
    ("nine", "ninth"),
    ("ten", "tenth"),
    ("eleven", "eleventh"),
    ("twelve", "twelfth"),
    ("thirteen", "thirteenth"),
    ("fourteen", "fourteenth"),
    ("fifteen", "fifteenth"),
    ("sixteen", "sixteenth"),
    ("seventeen", "seventeenth"),
    ("eighteen", "eighteenth"),
    ("nineteen", "nineteenth"),
];

const TENS: [(&str, &str); 8] = [
    ("twenty", "twentieth"),
    ("thirty", "thirtieth"),
    ("forty", "fortieth"),
    ("fifty", "fiftieth"),
    ("sixty", "sixtieth"),
    ("seventy", "seventieth"),
    ("eighty", "eightieth"),
    ("ninety", "ninetieth"),
];

/// The number that starts here, if any: digits, or words such as `three thousand five hundred`.
pub(super) fn number(tokens: &[Token<'_>], at: usize) -> Option<Number> {
    if let Kind::Number { value, is_ordinal } = tokens.get(at)?.kind {
        let scale = tokens.get(at + 1).and_then(|token| scale(&token.word)).filter(|_| !is_ordinal);
        return Some(match scale {
            Some(scale) => Number { value: value * scale, is_ordinal, length: 2 },
            None => Number { value, is_ordinal, length: 1 },
        });
    }
    let (mut total, mut part, mut length, mut is_ordinal) = (0.0, None, 0, false);
    while let Some(token) = tokens.get(at + length) {
        if let Some(factor) = scale(&token.word) {
            let Some(of) = part else { break };
            // `hundred` multiplies the part so far; `thousand` completes it, and a new part begins.
            if factor < 1_000.0 {
                part = Some(of * factor);
            } else {
                total += of * factor;
                part = Some(0.0);
            }
        } else if let Some((value, ordinal)) = digit_word(&token.word) {
            // `twenty three` and `five hundred two` are one number each; `two three` are two.
            let fits = part.is_none_or(|of: f64| {
                let below = of % 100.0;
                value
                    < if below == 0.0 {
                        100.0
                    } else if below >= 20.0 && below % 10.0 == 0.0 {
                        10.0
                    } else {
                        0.0
                    }
            });
            if !fits {
                break;
            }
            part = Some(part.unwrap_or(0.0) + value);
            is_ordinal = ordinal;
        } else {
            // `and` belongs to a number only between a whole hundred or thousand and another number word.
            let is_joined = token.is("and")
                && part.is_some_and(|of| of % 100.0 == 0.0)
                && tokens.get(at + length + 1).is_some_and(|next| digit_word(&next.word).is_some())
                && (total > 0.0 || part.is_some_and(|of| of >= 100.0));
            if !is_joined {
                break;
            }
        }
        length += 1;
        // Nothing in a number follows an ordinal.
        if is_ordinal {
            break;
        }
    }
    part.map(|part| Number { value: total + part, is_ordinal, length })
}

/// Same as [`number`], for a whole number that is not an ordinal and not above a limit.
pub(super) fn count(tokens: &[Token<'_>], at: usize, most: u32) -> Option<(u32, usize)> {
    let number = number(tokens, at)?;
    let is_count = !number.is_ordinal && number.value.fract() == 0.0 && number.value <= f64::from(most);
    is_count.then_some((number.value as u32, number.length))
}

fn scale(word: &str) -> Option<f64> {
    match word {
        "hundred" => Some(100.0),
        "thousand" | "grand" => Some(1_000.0),
        _ => None,
    }
}

fn digit_word(word: &str) -> Option<(f64, bool)> {
    let find = |words: &[(&str, &str)], factor: usize, from: usize| {
        let at = words.iter().position(|(one, other)| *one == word || *other == word)?;
        Some((((at + from) * factor) as f64, words[at].1 == word))
    };
    find(&SMALL, 1, 0).or_else(|| find(&TENS, 10, 2))
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn numbers_are_read() {
        let cases = [
            ("twenty-three days", Some((23.0, false, 2))),
            ("three thousand five hundred dollars", Some((3500.0, false, 4))),
            ("two hundred and five", Some((205.0, false, 4))),
            ("two and three", Some((2.0, false, 1))),
            ("twenty-first of March", Some((21.0, true, 2))),
            ("two three", Some((2.0, false, 1))),
            ("5 thousand", Some((5000.0, false, 2))),
            ("16th", Some((16.0, true, 1))),
            ("hundred", None),
            ("trip", None),
        ];
        for (text, expected) in cases {
            let found = number(&tokens(text), 0).map(|it| (it.value, it.is_ordinal, it.length));
            assert_eq!(found, expected, "{text}");
        }
    }
}
