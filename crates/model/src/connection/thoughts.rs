//! Thoughts that a server leaves in the text of a reply, between marks ([`marks`]) at its beginning. Servers that know
//! the model's format separate them; others pass them on as text, and this module takes them out.
//!
//! Many templates write the opening mark themselves, so that only the end of the thoughts is in the reply. In a stream
//! this shows only when the end arrives. So the text of a stream is kept until it is known how the model behaves
//! ([`Thinking`]): in most cases until the end of the first reply.

mod marks;

use std::sync::atomic::{AtomicU8, Ordering};

use marks::Mark;

/// What is known of the thoughts of a model at an endpoint, from its replies so far.
#[derive(Debug, Default)]
pub(crate) struct Thinking(AtomicU8);

impl Thinking {
    const UNKNOWN: u8 = 0;
    const PLAIN: u8 = 1;
    const UNOPENED: u8 = 2;

    /// For an endpoint where thoughts never come without their opening mark.
    pub(crate) fn plain() -> Self {
        Self(AtomicU8::new(Self::PLAIN))
    }

    fn is_unopened(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::UNOPENED
    }

    /// Whether what is streamed may still turn out to be a thought.
    fn may_be_unopened(&self) -> bool {
        // Relaxed is enough: no other memory depends on it, and a reply that misses it is kept once more.
        self.0.load(Ordering::Relaxed) != Self::PLAIN
    }

    /// A complete reply had its thoughts apart or between two marks, or had none.
    fn note_plain(&self) {
        let _ = self.0.compare_exchange(Self::UNKNOWN, Self::PLAIN, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The thoughts of a reply had no opening mark. A model that did so once is expected to do it again.
    fn note_unopened(&self) {
        self.0.store(Self::UNOPENED, Ordering::Relaxed);
    }
}

/// Takes the thoughts from the beginning of a text that comes in pieces.
#[derive(Debug)]
pub(crate) struct Thoughts<'a> {
    thinking: &'a Thinking,
    state: State,
    /// The text is kept until it has ended, or the end of thoughts is in it.
    keeps: bool,
    /// What may still turn out to be a mark, or a thought.
    held: String,
    /// Up to where the held text has been searched.
    searched: usize,
    /// The thoughts that were taken out.
    removed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Only white space has come so far, or thoughts and white space.
    Before,
    After,
    Inside,
    /// The text has begun: what comes now is passed on, or kept.
    Text,
}

impl<'a> Thoughts<'a> {
    /// For the text of a reply. `keeps` allows to keep the text of a model that may think without an opening mark.
    pub(crate) fn new(thinking: &'a Thinking, keeps: bool) -> Self {
        let keeps = keeps && thinking.may_be_unopened();
        Self {
            thinking,
            state: State::Before,
            keeps,
            held: String::new(),
            searched: 0,
            removed: String::new(),
        }
    }

    /// The thoughts of this reply come apart from its text.
    pub(crate) fn are_apart(&mut self) {
        self.keeps = false;
        self.thinking.note_plain();
    }

    /// The model calls tools, so that the words so far are not a thought. Returns what was kept of them.
    pub(crate) fn release(&mut self) -> String {
        self.keeps = false;
        match self.state {
            State::Text => std::mem::take(&mut self.held),
            State::Before | State::After | State::Inside => String::new(),
        }
    }

    /// The next piece without thoughts.
    pub(crate) fn push(&mut self, piece: String) -> String {
        if self.state == State::Text && !self.keeps && self.held.is_empty() {
            return piece;
        }
        self.held.push_str(&piece);
        loop {
            match self.state {
                State::Inside => {
                    if !self.close() {
                        return String::new();
                    }
                }
                State::Text => return self.text(),
                State::Before | State::After => {
                    let words = without_blank(&self.held);
                    let before = self.held.len() - words.len();
                    match marks::at_start(words) {
                        Mark::Opening(length) => {
                            self.held.drain(..before + length);
                            self.searched = 0;
                            self.keeps = false;
                            self.state = State::Inside;
                        }
                        // Empty thoughts, of which the template has written the beginning.
                        Mark::Closing(length) => {
                            self.held.drain(..before + length);
                            self.state = State::After;
                            // The end of a channel's thoughts may be the beginning of the text as well.
                            if length == 0 {
                                self.state = State::Text;
                            }
                        }
                        Mark::Unfinished => return String::new(),
                        Mark::None => {
                            // The blank lines after thoughts belong to them.
                            if self.state == State::After {
                                self.held.drain(..before);
                            }
                            self.state = State::Text;
                        }
                    }
                }
            }
        }
    }

    /// Looks for the end of thoughts in the held text, and removes what comes before it.
    fn close(&mut self) -> bool {
        match marks::first_closing(&self.held, self.searched) {
            Ok((place, end)) => {
                self.remove(place, end);
                self.searched = 0;
                true
            }
            Err(searched) => {
                self.searched = searched;
                false
            }
        }
    }

    /// Takes out the held thoughts up to byte `place`, and the mark behind them up to `end`.
    fn remove(&mut self, place: usize, end: usize) {
        // The recipient of a call may stand in the frame before its channel.
        let frame = self.held[..place].rfind(marks::MESSAGE_END).map(|at| at + marks::MESSAGE_END.len());
        let frame = frame.filter(|at| place == end && self.held[*at..place].contains(marks::RECIPIENT));
        let (place, end) = frame.map_or((place, end), |at| (at, at));
        let rest = self.held.split_off(end);
        let mut thoughts = std::mem::replace(&mut self.held, rest);
        thoughts.truncate(place);
        self.note(&thoughts);
        self.state = State::After;
    }

    /// Keeps thoughts that are taken out.
    fn note(&mut self, thoughts: &str) {
        // Behind the message of a channel comes the frame of the next one.
        let thoughts = thoughts.split(marks::MESSAGE_END).next().unwrap_or_default().trim();
        if !self.removed.is_empty() && !thoughts.is_empty() {
            self.removed.push('\n');
        }
        self.removed.push_str(thoughts);
    }

    /// The thoughts that were taken out so far, without the white space around them.
    pub(crate) fn take_removed(&mut self) -> String {
        std::mem::take(&mut self.removed)
    }

    /// More of a text that has begun.
    fn text(&mut self) -> String {
        if !self.keeps {
            return std::mem::take(&mut self.held);
        }
        let closing = marks::first_closing(&self.held, self.searched);
        match closing {
            // With an opening mark before it, the text itself is about the marks, and nothing is removed.
            Ok((place, _)) if marks::has_opening(&self.held[..place]) => {
                self.keeps = false;
                std::mem::take(&mut self.held)
            }
            Ok((place, end)) => {
                self.thinking.note_unopened();
                self.keeps = false;
                self.remove(place, end);
                self.push(String::new())
            }
            Err(searched) => {
                self.searched = searched;
                String::new()
            }
        }
    }

    /// The reply has ended, cut short or not. Unclosed thoughts are removed, too.
    pub(crate) fn finish(&mut self, is_cut_short: bool) -> String {
        let held = std::mem::take(&mut self.held);
        let state = std::mem::replace(&mut self.state, State::Text);
        if !is_cut_short {
            self.thinking.note_plain();
        } else if self.keeps && self.thinking.is_unopened() {
            // The end of the thoughts was still to come. What is not known of the model may be a thought or not.
            self.note(&held);
            return String::new();
        }
        match state {
            State::Inside => {
                self.note(&held);
                String::new()
            }
            State::After => held.trim_start().to_owned(),
            State::Before | State::Text => held,
        }
    }

    /// A whole text without thoughts, and the thoughts.
    pub(crate) fn removed_from(thinking: &Thinking, text: String, is_cut_short: bool) -> (String, String) {
        // A whole text is kept in any case, whatever is known of the model.
        let mut thoughts = Thoughts { keeps: true, ..Thoughts::new(thinking, true) };
        let mut rest = thoughts.push(text);
        rest.push_str(&thoughts.finish(is_cut_short));
        (rest, thoughts.take_removed())
    }
}

/// A text without the white space at its beginning, and without the frame of a message in a channel.
fn without_blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(inner) = marks::MESSAGE.into_iter().find_map(|frame| rest.strip_prefix(frame)) {
        rest = inner.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text in pieces of so many characters, to a model of which so much is known.
    fn streamed(text: &str, size: usize, thinking: &Thinking) -> (String, String) {
        let mut thoughts = Thoughts::new(thinking, true);
        let characters: Vec<char> = text.chars().collect();
        let mut found = String::new();
        for piece in characters.chunks(size) {
            found.push_str(&thoughts.push(piece.iter().collect()));
        }
        found.push_str(&thoughts.finish(false));
        (found, thoughts.take_removed())
    }

    #[test]
    fn thoughts_are_taken_off_however_the_pieces_fall() {
        for (text, expected, thoughts) in [
            ("<think>I see.</think>Paris", "Paris", "I see."),
            ("\n<think>\né</think>\n\nParis <think>", "Paris <think>", "é"),
            ("<think></think><think>again</think> x", "x", "again"),
            ("<think>one</think>\n<think>two</think> x", "x", "one\ntwo"),
            ("<think>cut of", "", "cut of"),
            ("<think>cut of</thin", "", "cut of</thin"),
            (" \n Paris", " \n Paris", ""),
            ("<thin", "<thin", ""),
            ("<thing>", "<thing>", ""),
            ("a <think>b</think> c", "a <think>b</think> c", ""),
            ("", "", ""),
            ("<thinking>a < b, [x]</thinking>\nParis", "Paris", "a < b, [x]"),
            ("[THINK]I see.[/THINK]Paris", "Paris", "I see."),
            ("[Thought] I see.", "[Thought] I see.", ""),
            ("<|START_THINKING|>I see.<|END_THINKING|> Paris", "Paris", "I see."),
            (
                "<|channel|>analysis<|message|>I see.<|end|><|start|>assistant<|channel|>final<|message|>Paris",
                "Paris",
                "I see.",
            ),
            (
                "<|channel|>analysis<|message|>I see.<|end|><|start|>assistant<|channel|>commentary to=f <|message|>{}",
                "<|channel|>commentary to=f <|message|>{}",
                "I see.",
            ),
            (
                "<|channel|>analysis<|message|>I see.<|end|><|start|>assistant<|channel|>commentary to=functions.archive_note \
                 <|constrain|>json<|message|>{}<|call|>",
                "<|channel|>commentary to=functions.archive_note <|constrain|>json<|message|>{}<|call|>",
                "I see.",
            ),
            (
                "<|channel|>analysis<|message|>I see.<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}",
                "to=functions.f<|channel|>commentary json<|message|>{}",
                "I see.",
            ),
            // Only the end.
            ("I see.\n</think>\n\nParis", "Paris", "I see."),
            ("</think>\n\nParis", "Paris", ""),
            ("I see </b>.</thinking>Paris", "Paris", "I see </b>."),
            ("I see.[/THINK] Paris", "Paris", "I see."),
            ("I see.<|end|><|start|>assistant<|channel|>final<|message|>Paris", "Paris", "I see."),
            ("I see.</think>It ends with </think>.", "It ends with </think>.", "I see."),
            ("I see.</think>", "", "I see."),
        ] {
            let thinking = Thinking::default();
            let expected = (expected.to_owned(), thoughts.to_owned());
            assert_eq!(Thoughts::removed_from(&thinking, text.to_owned(), false), expected, "{text:?}");
            for size in 1..4 {
                assert_eq!(streamed(text, size, &Thinking::default()), expected, "{text:?} by {size}");
                // What is known from the reply before makes no difference to the reply itself.
                assert_eq!(streamed(text, size, &thinking), expected, "{text:?} by {size}, again");
            }
        }
    }

    #[test]
    fn a_stream_flows_once_the_model_is_known() {
        let flows = |thinking: &Thinking, keeps: bool| {
            let mut thoughts = Thoughts::new(thinking, keeps);
            let first = thoughts.push("Par".to_owned());
            (first + &thoughts.push("is".to_owned()), thoughts.finish(false))
        };
        let kept = (String::new(), "Paris".to_owned());
        let passed_on = ("Paris".to_owned(), String::new());
        let thinking = Thinking::default();
        assert_eq!(flows(&thinking, false), passed_on);
        let thinking = Thinking::default();
        assert_eq!(flows(&thinking, true), kept);
        assert_eq!(flows(&thinking, true), passed_on);
        assert_eq!(flows(&Thinking::plain(), true), passed_on);
        // A reply that was cut short may have been a thought.
        let thinking = Thinking::default();
        let mut thoughts = Thoughts::new(&thinking, true);
        assert_eq!(thoughts.push("I see".to_owned()), "");
        assert_eq!(thoughts.finish(true), "I see");
        assert_eq!(flows(&thinking, true), kept);
        // A model that has thought so once is expected to do it again.
        let thinking = Thinking::default();
        let (rest, _) = Thoughts::removed_from(&thinking, "I see.</think>Paris".to_owned(), false);
        assert_eq!(rest, "Paris");
        for _ in 0..2 {
            assert_eq!(flows(&thinking, true), kept);
        }
        assert_eq!(
            Thoughts::removed_from(&thinking, "I see".to_owned(), true),
            (String::new(), "I see".to_owned()),
            "the end was still to come"
        );
        // Thoughts that are apart are none of the text.
        let thinking = Thinking::default();
        let mut thoughts = Thoughts::new(&thinking, true);
        thoughts.are_apart();
        assert_eq!(thoughts.push("Paris".to_owned()), "Paris");
    }
}
