//! Unfinished turns: which models continue them, and how the texts are joined.

use crate::connection::parameters::{Parameter, Refused};
use crate::{ChatRequest, Message};

/// The first version of Claude that accepts no unfinished turn.
const REFUSING_SINCE: (u32, u32) = (4, 6);

/// The first version of Claude that accepts no temperature.
const WITHOUT_TEMPERATURE_SINCE: (u32, u32) = (4, 7);

/// The settings that the model of this name refuses according to Anthropic's documents.
pub(super) fn refused(model: &str) -> Refused {
    match claude_version(model) {
        Some(version) if version >= WITHOUT_TEMPERATURE_SINCE => Refused::these(&[Parameter::Temperature]),
        _ => Refused::default(),
    }
}

/// Whether a model continues an unfinished turn, judged by its name. Models other than Claude are assumed to do so.
pub(super) fn takes_partial_turns(model: &str) -> bool {
    claude_version(model).is_none_or(|version| version < REFUSING_SINCE)
}

/// The version in a name such as `claude-3-5-haiku-20241022`, `claude-sonnet-4-20250514` or `claude-opus-4-6`.
fn claude_version(model: &str) -> Option<(u32, u32)> {
    let (_, rest) = model.split_once("claude-")?;
    // Older names have the version before the family, newer ones after it. More than two digits are a date, which
    // follows the version.
    let mut numbers = rest
        .split(['-', '.', '@', ':'])
        .skip_while(|part| !part.starts_with(|c: char| c.is_ascii_digit()))
        .map_while(|part| part.parse().ok().filter(|_| part.len() <= 2));
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

/// The white space at the end of the last message, if it is an unfinished turn.
pub(super) fn cut_off(request: &ChatRequest) -> &str {
    match request.messages.last() {
        Some(Message::Assistant { text, .. }) if request.is_partial_turn() => &text[text.trim_end().len()..],
        _ => "",
    }
}

/// Removes from the beginning of a reply, which may come in pieces, the white space that was cut off the turn before
/// it and that the model repeats. Otherwise it would be there twice.
pub(super) struct Join<'a> {
    awaited: &'a str,
}

impl<'a> Join<'a> {
    /// For the reply to `request`.
    pub(super) fn new(request: &'a ChatRequest) -> Self {
        Self { awaited: cut_off(request) }
    }

    /// The next piece without the repeated white space.
    pub(super) fn push(&mut self, piece: String) -> String {
        let mut rest = piece.as_str();
        // The white space may be spread over several pieces, so it is compared character by character. The first
        // difference ends the comparison for good: what follows is the model's own text.
        while let (Some(awaited), Some(found)) = (self.awaited.chars().next(), rest.chars().next()) {
            if awaited != found {
                self.awaited = "";
                break;
            }
            self.awaited = &self.awaited[awaited.len_utf8()..];
            rest = &rest[found.len_utf8()..];
        }
        if rest.len() == piece.len() { piece } else { rest.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_names_of_every_kind() {
        for (model, version) in [
            ("claude-3-opus-20240229", Some((3, 0))),
            ("claude-3-5-haiku-latest", Some((3, 5))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("claude-sonnet-4-5-20250929", Some((4, 5))),
            ("claude-opus-4-6", Some((4, 6))),
            ("claude-opus-5", Some((5, 0))),
            ("anthropic/claude-opus-4.7", Some((4, 7))),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", Some((4, 5))),
            ("claude-2.1", Some((2, 1))),
            ("claude-instant", None),
            ("qwen3-8b", None),
        ] {
            assert_eq!(claude_version(model), version, "{model}");
        }
        assert!(takes_partial_turns("claude-sonnet-4-5") && takes_partial_turns("qwen3-8b"));
        assert!(refused("claude-opus-4-7") == Refused::these(&[Parameter::Temperature]));
        assert!(refused("claude-opus-4-6") == Refused::default() && refused("kimi-k2") == Refused::default());
        assert!(!takes_partial_turns("claude-opus-4-6") && !takes_partial_turns("claude-opus-5-5"));
    }

    #[test]
    fn repeated_white_space_stands_once() {
        let joined = |awaited: &str, pieces: &[&str]| {
            let mut join = Join { awaited };
            pieces.iter().map(|piece| join.push((*piece).to_owned())).collect::<String>()
        };
        assert_eq!(joined(" ", &[" I", " think"]), "I think");
        assert_eq!(joined("\n\n", &["\n", "\n", "\nA"]), "\nA");
        assert_eq!(joined("\n ", &["\nA", " B"]), "A B");
        assert_eq!(joined(" ", &["I", " think"]), "I think");
        assert_eq!(joined("", &[" I"]), " I");
    }
}
