//! Thoughts that a server leaves in the text of a reply, between `<think>` and `</think>` at its beginning. Servers
//! that know the model's format separate them; others pass them on as text, and this module removes them.

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

/// Removes the thoughts from the beginning of a text that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Thoughts {
    state: State,
    /// What may still turn out to be a mark.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Only white space has come so far, or thoughts and white space.
    #[default]
    Before,
    After,
    Inside,
    /// The text has begun: what comes now is passed on.
    Text,
}

impl Thoughts {
    /// The next piece without thoughts.
    pub(crate) fn push(&mut self, piece: String) -> String {
        if self.state == State::Text {
            return piece;
        }
        self.held.push_str(&piece);
        loop {
            if self.state == State::Inside {
                let Some(at) = self.held.find(CLOSING) else {
                    // The closing mark may have begun in these last bytes, so they are kept, from the next character
                    // boundary on.
                    let kept = self.held.len().saturating_sub(CLOSING.len() - 1);
                    let kept = (kept..=self.held.len()).find(|at| self.held.is_char_boundary(*at));
                    self.held.drain(..kept.unwrap_or(0));
                    return String::new();
                };
                self.held.drain(..at + CLOSING.len());
                self.state = State::After;
            }
            let words = self.held.trim_start();
            if words.starts_with(OPENING) {
                self.held.drain(..self.held.len() - words.len() + OPENING.len());
                self.state = State::Inside;
            } else if OPENING.starts_with(words) {
                // White space alone also gets here, because every text begins with the empty one.
                return String::new();
            } else {
                return self.finish();
            }
        }
    }

    /// The reply has ended. Unclosed thoughts are removed, too.
    pub(crate) fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Text) {
            State::Inside => String::new(),
            // The blank lines after thoughts belong to them.
            State::After => held.trim_start().to_owned(),
            State::Before | State::Text => held,
        }
    }

    /// A whole text without thoughts. If the template of a conversation has written the opening mark, only the
    /// closing one is in the reply.
    pub(crate) fn removed_from(text: String) -> String {
        let mut thoughts = Self::default();
        let mut rest = thoughts.push(text);
        rest.push_str(&thoughts.finish());
        // With an opening mark before it, the text itself is about the marks, and nothing is removed.
        match rest.find(CLOSING).filter(|at| !rest[..*at].contains(OPENING)) {
            Some(at) => rest[at + CLOSING.len()..].trim_start().to_owned(),
            None => rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_taken_off_however_the_pieces_fall() {
        for (text, expected) in [
            ("<think>I see.</think>Paris", "Paris"),
            ("\n<think>\né</think>\n\nParis <think>", "Paris <think>"),
            ("<think></think><think>again</think> x", "x"),
            ("<think>cut of", ""),
            ("<think>cut of</thin", ""),
            (" \n Paris", " \n Paris"),
            ("<thin", "<thin"),
            ("<thing>", "<thing>"),
            ("a <think>b</think> c", "a <think>b</think> c"),
            ("", ""),
        ] {
            assert_eq!(Thoughts::removed_from(text.to_owned()), expected, "{text:?}");
            for size in 1..4 {
                let mut thoughts = Thoughts::default();
                let characters: Vec<char> = text.chars().collect();
                let mut found = String::new();
                for piece in characters.chunks(size) {
                    found.push_str(&thoughts.push(piece.iter().collect()));
                }
                found.push_str(&thoughts.finish());
                assert_eq!(found, expected, "{text:?} by {size}");
            }
        }
        assert_eq!(Thoughts::removed_from("I see.\n</think>\n\nParis".to_owned()), "Paris");
    }
}
