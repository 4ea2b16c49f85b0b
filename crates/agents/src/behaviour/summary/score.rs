//! How likely a given text is to a model, normalised by length.

use std::fmt;

use planproof_model::{CompletionRequest, Model, ModelError, ScoredToken, Settings};
use planproof_trace::Usage;
use thiserror::Error;

/// How much the length counts, as published.
pub const ALPHA: f64 = 0.3;

/// The score of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredText {
    /// The length-normalised log-probability: at most 0, and the higher the likelier.
    pub score: f64,
    /// How many tokens the text has.
    pub tokens: usize,
}

impl fmt::Display for ScoredText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.tokens == 1 { "token" } else { "tokens" };
        write!(f, "{:.4} in {} {noun}", self.score, self.tokens)
    }
}

/// Why a text has no score.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ScoreFault {
    /// The model is unavailable, or does not report log-probabilities.
    #[error(transparent)]
    Model(ModelError),
    /// The tokens do not spell the text that was sent.
    #[error("the tokens that {model} tells do not end with the text that was to be scored")]
    OtherTokens { model: String },
    /// A token of the text has no value.
    #[error("{model} tells no log-probability for a token of the text that was to be scored")]
    NoValue { model: String },
}

/// The length-normalised log-probability of a text whose tokens have these log-probabilities: their sum, divided by
/// `(5 + n)^alpha / (5 + 1)^alpha` for `n` tokens (the formula of section 3; the penalty is that of Wu et al. 2016). At
/// `alpha` 0 the sum alone. 0 for no tokens.
pub fn normalised(log_probabilities: &[f64], alpha: f64) -> f64 {
    let penalty = ((5.0 + log_probabilities.len() as f64) / 6.0).powf(alpha);
    log_probabilities.iter().sum::<f64>() / penalty
}

/// How likely `model` finds `text` after `before`, which a space is put after unless it ends in white space.
/// One request, whose tokens are added to `usage`.
///
/// A token that holds the end of `before` and the beginning of `text` counts as one of `text`: the space before a
/// word is usually part of the word's token.
///
/// # Errors
/// [`ScoreFault`]: among others if `model` does not report log-probabilities.
pub async fn score(
    model: &dyn Model,
    before: &str,
    text: &str,
    alpha: f64,
    seed: u64,
    usage: &mut Usage,
) -> Result<ScoredText, ScoreFault> {
    let space = if before.ends_with([' ', '\n', '\t', '\r']) { "" } else { " " };
    let request = CompletionRequest {
        prompt: format!("{before}{space}{text}"),
        settings: Settings {
            temperature: Some(0.0),
            // Nothing is written: only the given text is scored.
            output_tokens_max: Some(0),
            seed: Some(seed),
            ..Settings::default()
        },
        score_prompt: true,
    };
    let reply = model.complete(&request).await.map_err(ScoreFault::Model)?;
    *usage += reply.usage;
    let name = || model.name().to_owned();
    let tokens =
        tokens_at_end(&reply.prompt_tokens, text).ok_or_else(|| ScoreFault::OtherTokens { model: name() })?;
    let values: Option<Vec<f64>> = tokens.iter().map(|token| token.log_probability).collect();
    let values = values.ok_or_else(|| ScoreFault::NoValue { model: name() })?;
    Ok(ScoredText { score: normalised(&values, alpha), tokens: values.len() })
}

/// The tokens of a text that contain a part of `end`, which is the end of the text, after white space. `None` if the
/// tokens cannot be those of such a text.
///
/// Tokens that hold parts of a character are reported as U+FFFD, and there are tokens that mark the beginning of a
/// text, so neither bytes nor characters add up. ASCII characters do add up, because none of them is ever divided:
/// counted from the end, they lead to the white space before `end`, and the border is right behind it.
pub(super) fn tokens_at_end<'t>(tokens: &'t [ScoredToken], end: &str) -> Option<&'t [ScoredToken]> {
    let mut wanted = end.bytes().rev().filter(u8::is_ascii);
    for (index, token) in tokens.iter().enumerate().rev() {
        for (place, byte) in token.text.bytes().enumerate().rev().filter(|(_, byte)| byte.is_ascii()) {
            match wanted.next() {
                Some(next) if next == byte => {}
                Some(_) => return None,
                None => {
                    // Characters after the border make this token one of the end.
                    let tail = &token.text[place + 1..];
                    let whole = &tokens[index + 1..];
                    let found = if tail.is_empty() { whole } else { &tokens[index..] };
                    let is_border = byte.is_ascii_whitespace() && spells(tail, whole, end);
                    return is_border.then_some(found);
                }
            }
        }
    }
    None
}

/// Whether `tail` and the tokens after it can spell `text`, judged by the characters beyond ASCII: those that are
/// reported whole are characters of the text, in its order.
fn spells(tail: &str, tokens: &[ScoredToken], text: &str) -> bool {
    let spelled = || tail.chars().chain(tokens.iter().flat_map(|token| token.text.chars()));
    let mut characters = text.chars();
    let mut beyond_ascii = spelled().filter(|c| !c.is_ascii() && *c != char::REPLACEMENT_CHARACTER);
    spelled().next().is_none() == text.is_empty()
        && beyond_ascii.all(|character| characters.any(|other| other == character))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(texts: &[&str]) -> Vec<ScoredToken> {
        let token = |text: &&str| ScoredToken { text: (*text).to_owned(), log_probability: Some(-1.0) };
        texts.iter().map(token).collect()
    }

    #[test]
    fn tokens_of_the_end_are_found() {
        for (texts, end, expected) in [
            // The border between tokens, and within one.
            (&["<s>", "[", "Sum", "]", " ", "Ar", "thur"][..], "Arthur", Some(2)),
            (&["[", "Sum", "]", " Ar", "thur"], "Arthur", Some(2)),
            (&["[", "Sum", "] Arthur"], "Arthur", Some(1)),
            // The end may occur in the text before as well.
            (&["a", " a", " a"], "a", Some(1)),
            (&["a", " ", "a", " ", "a"], "a a", Some(3)),
            // White space at the border belongs to the border, but the first white space of the end belongs to the
            // end.
            (&["x", "\n", "\n", "a"], "\na", Some(2)),
            // Parts of characters: an emoji in three tokens, a space one with the first of them.
            (&["x", " \u{fffd}", "\u{fffd}", "\u{fffd}", " ok"], "\u{1f600} ok", Some(4)),
            (&["x", " ", "\u{fffd}", "\u{fffd}"], "\u{1f600}", Some(2)),
            (&["\u{fffd}", "\u{fffd}", " ", "caf", "\u{e9}"], "caf\u{e9}", Some(2)),
            // Not the text that was sent.
            (&["x", " ", "Ar", "tur"], "Arthur", None),
            (&["x", "\u{2581}Ar", "thur"], "Arthur", None),
            (&["x", " ", "caf", "\u{e8}"], "caf\u{e9}", None),
            (&["x", " "], "\u{e9}", None),
            (&["xArthur"], "Arthur", None),
            (&["Ar", "thur"], "Arthur", None),
            (&["thur"], "Arthur", None),
            (&[], "Arthur", None),
        ] {
            let tokens = tokens(texts);
            let found = tokens_at_end(&tokens, end).map(<[ScoredToken]>::len);
            assert_eq!(found, expected, "{texts:?} {end:?}");
        }
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        // Sums divided by the penalty, worked out by hand: ((5 + n) / 6) ^ 0.3.
        for (values, alpha, expected) in [
            (&[-2.0][..], 0.3, -2.0),
            (&[-1.0, -1.0], 0.3, -1.909_615_6),
            (&[-0.5; 7], 0.3, -2.842_883_4),
            (&[-1.0, -2.0, -3.0], 0.0, -6.0),
            (&[-1.0; 7], 1.0, -3.5),
            (&[], 0.3, 0.0),
        ] {
            let score = normalised(values, alpha);
            assert!((score - expected).abs() < 1e-6, "{values:?} {alpha} {score}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

        /// The twin knows the bytes of each token, so it sees directly which of them reach into the end.
        #[test]
        fn tokens_of_the_end_are_found_wherever_texts_are_cut(
            before in "[ab \n\u{e9}\u{1f600}]{0,12}",
            space in "[ \n]",
            end in "[ab\u{e9}\u{1f600}][ab \n\u{e9}\u{1f600}]{0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        ) {
            let text = format!("{before}{space}{end}");
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            cuts.dedup();
            let mut tokens = tokens(&["<s>"]);
            let mut expected = 0;
            for range in cuts.windows(2) {
                let text = String::from_utf8_lossy(&text.as_bytes()[range[0]..range[1]]).into_owned();
                tokens.push(ScoredToken { text, log_probability: Some(-1.0) });
                expected += usize::from(range[1] > before.len() + space.len());
            }
            prop_assert_eq!(tokens_at_end(&tokens, &end).map(<[ScoredToken]>::len), Some(expected));
        }
    }
}
