//! Log-probabilities of a given text, simulated.

use planproof_model::ScoredToken;

use super::reply::TOKEN_BYTES;

/// The natural logarithm of the probability of each character: as if drawn uniformly from 32.
const CHARACTER_LOG_PROBABILITY: f64 = -5.0 * std::f64::consts::LN_2;

/// Tokens of a text with a simulated score: every character is equally likely, so of two texts the shorter one is
/// likelier. This says nothing about real models.
///
/// A token has the characters that begin within its four bytes, so that there are as many tokens as
/// [`Usage`](planproof_trace::Usage) counts, and one within a long character may be empty.
pub(crate) fn score(text: &str) -> Vec<ScoredToken> {
    let mut tokens: Vec<ScoredToken> = (0..text.len().div_ceil(TOKEN_BYTES))
        .map(|_| ScoredToken { text: String::new(), log_probability: Some(0.0) })
        .collect();
    for (at, character) in text.char_indices() {
        // A character begins before the end of the text, so its token exists.
        let token = &mut tokens[at / TOKEN_BYTES];
        token.text.push(character);
        token.log_probability = token.log_probability.map(|sum| sum + CHARACTER_LOG_PROBABILITY);
    }
    if let Some(first) = tokens.first_mut() {
        first.log_probability = None;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_make_up_the_text() {
        for text in ["", "a", "abcd", "abcde", "a\u{1f600}\u{1f600}b", "\u{e9}\u{e9}\u{e9}"] {
            let tokens = score(text);
            assert_eq!(tokens.len(), text.len().div_ceil(4));
            assert_eq!(tokens.iter().map(|token| token.text.as_str()).collect::<String>(), text);
            assert!(tokens.iter().skip(1).all(|token| token.log_probability.is_some_and(|it| it <= 0.0)));
            assert!(tokens.first().is_none_or(|token| token.log_probability.is_none()));
        }
        assert_eq!(score("abcdefgh")[1].log_probability, Some(4.0 * CHARACTER_LOG_PROBABILITY));
    }
}
