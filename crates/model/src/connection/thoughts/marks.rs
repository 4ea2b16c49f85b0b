//! The marks between which models write their thoughts.
//!
//! They differ from model to model, and more come with every new one: `<think>`, `<thinking>`, `<thought>`, `[THINK]`,
//! `<|START_THINKING|>`, `<seed:think>`, `◁think▷`. So a mark is known by its form: a name that speaks of thinking
//! within brackets of one of these kinds, at the end with a slash or the word "end". The channels of gpt-oss are marks
//! of two words, of which the second is the channel's name.

/// Most characters of a mark's name.
const NAME_BYTES_MAX: usize = 32;

/// The brackets of marks. Square ones also surround the marks of specifications, such as `[Thought]`, so that within
/// them only one name is known.
const BRACKETS: [(&str, &str); 4] = [("<|", "|>"), ("<", ">"), (SQUARE, "]"), ("◁", "▷")];

const SQUARE: &str = "[";

/// The name within square brackets.
const SQUARE_NAME: &str = "THINK";

/// What stands before the name of a channel, and what behind it.
const CHANNEL: (&str, &str) = ("<|channel|>", "<|message|>");

/// The channel of thoughts. Any other one ends them, and that of answers is a mark itself.
const THOUGHTS_CHANNEL: &str = "analysis";
const ANSWERS_CHANNEL: &str = "final";

/// What names the tool that a message is for.
pub(super) const RECIPIENT: &str = "to=";

/// The end of a message in a channel.
pub(super) const MESSAGE_END: &str = "<|end|>";

/// What a message of a channel begins with, behind the end of another one.
pub(super) const MESSAGE: [&str; 2] = [MESSAGE_END, "<|start|>assistant"];

/// What is at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The beginning of thoughts, in so many bytes.
    Opening(usize),
    /// The end of thoughts.
    Closing(usize),
    /// What may become a mark.
    Unfinished,
    None,
}

/// Marks whose names say nothing of thinking, or that have a bracket of their own: of Pangu and of Gemma.
const OTHERS: [(&str, bool); 4] =
    [("[unused16]", true), ("[unused17]", false), ("<|channel>thought", true), ("<channel|>", false)];

/// The mark at the beginning of a text.
pub(super) fn at_start(text: &str) -> Mark {
    if let Some((mark, opens)) = OTHERS.into_iter().find(|(mark, _)| text.starts_with(mark)) {
        return if opens { Mark::Opening(mark.len()) } else { Mark::Closing(mark.len()) };
    }
    if OTHERS.iter().any(|(mark, _)| mark.starts_with(text)) {
        return Mark::Unfinished;
    }
    if let Some(rest) = text.strip_prefix(CHANNEL.0) {
        return channel(rest, CHANNEL.0.len());
    }
    if CHANNEL.0.starts_with(text) {
        return Mark::Unfinished;
    }
    for (open, close) in BRACKETS {
        if open.starts_with(text) {
            return Mark::Unfinished;
        }
        let Some(rest) = text.strip_prefix(open) else { continue };
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '/' | '-');
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let is_square = open == SQUARE;
        if end > NAME_BYTES_MAX || is_square && !begins_square(name) {
            return Mark::None;
        }
        if rest.starts_with(close) {
            let length = open.len() + end + close.len();
            return match end_of_name(name) {
                Some(name) if is_of_thoughts(name, is_square) => Mark::Closing(length),
                None if is_of_thoughts(name, is_square) => Mark::Opening(length),
                _ => Mark::None,
            };
        }
        return if close.starts_with(rest) { Mark::Unfinished } else { Mark::None };
    }
    Mark::None
}

/// The first end of thoughts in a text, as its first byte and the first one behind it; and from where on another search
/// has to look if there is none.
pub(super) fn first_closing(text: &str, from: usize) -> Result<(usize, usize), usize> {
    let mut at = from;
    while let Some(place) = text[at..].find(['<', '[', '◁']).map(|place| at + place) {
        match at_start(&text[place..]) {
            Mark::Closing(length) => return Ok((place, place + length)),
            Mark::Unfinished => return Err(place),
            Mark::Opening(_) | Mark::None => {
                at = place + text[place..].chars().next().map_or(1, char::len_utf8);
            }
        }
    }
    Err(text.len())
}

/// Whether a text has the beginning of thoughts anywhere.
pub(super) fn has_opening(text: &str) -> bool {
    let mut places = text.match_indices(['<', '[', '◁']);
    places.any(|(place, _)| matches!(at_start(&text[place..]), Mark::Opening(_)))
}

/// A mark of a channel, whose name and end are `rest`; `before` bytes come first.
fn channel(rest: &str, before: usize) -> Mark {
    let (channel, recipient) = match rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        Some(end) => rest.split_at(end),
        None if rest.len() <= NAME_BYTES_MAX => return Mark::Unfinished,
        None => return Mark::None,
    };
    // What a tool is called with, behind whatever names the tool. It ends the thoughts and is a text of its own.
    if ![THOUGHTS_CHANNEL, ANSWERS_CHANNEL].contains(&channel)
        || recipient.trim_start().starts_with(RECIPIENT)
    {
        return Mark::Closing(0);
    }
    match rest.split_once(CHANNEL.1) {
        Some((name, _)) if name.len() > NAME_BYTES_MAX => Mark::None,
        Some((name, _)) => {
            let length = before + name.len() + CHANNEL.1.len();
            if channel == THOUGHTS_CHANNEL { Mark::Opening(length) } else { Mark::Closing(length) }
        }
        None if rest.len() <= NAME_BYTES_MAX + CHANNEL.1.len() => Mark::Unfinished,
        None => Mark::None,
    }
}

/// The name of an end, without what makes it one.
fn end_of_name(name: &str) -> Option<&str> {
    let words = ["/", "end_of_", "end_", "END_OF_", "END_"];
    words.into_iter().find_map(|word| name.strip_prefix(word))
}

fn is_of_thoughts(name: &str, is_square: bool) -> bool {
    let name_lower = name.to_ascii_lowercase();
    match is_square {
        true => name == SQUARE_NAME,
        false => ["think", "thought", "reasoning"].into_iter().any(|word| name_lower.contains(word)),
    }
}

/// Whether a text may be the beginning of the name in square brackets.
fn begins_square(name: &str) -> bool {
    let name = name.strip_prefix('/').unwrap_or(name);
    SQUARE_NAME.starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_known_by_their_form() {
        for (open, close) in [
            ("<think>", "</think>"),
            ("<thinking>", "</thinking>"),
            ("<Thought>", "</Thought>"),
            ("<reasoning>", "</reasoning>"),
            ("<seed:think>", "</seed:think>"),
            ("<longcat_think>", "</longcat_think>"),
            ("<|think|>", "<|/think|>"),
            ("<|START_THINKING|>", "<|END_THINKING|>"),
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("[THINK]", "[/THINK]"),
            ("◁think▷", "◁/think▷"),
            ("[unused16]", "[unused17]"),
            ("<|channel>thought", "<channel|>"),
            ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
        ] {
            assert_eq!(at_start(&format!("{open}x")), Mark::Opening(open.len()), "{open}");
            assert_eq!(at_start(&format!("{close}x")), Mark::Closing(close.len()), "{close}");
            for mark in [open, close] {
                for (cut, _) in mark.char_indices().skip(1) {
                    assert_eq!(at_start(&mark[..cut]), Mark::Unfinished, "{}", &mark[..cut]);
                }
            }
        }
        for other in [
            "[Thought]",
            "[Final Thought]",
            "[Think]",
            "<b>",
            "<think of it>",
            "<tool_call>",
            "x",
            "< think>",
        ] {
            assert_eq!(at_start(other), Mark::None, "{other}");
        }
        for call in [
            "<|channel|>commentary to=x<|message|>",
            "<|channel|>commentary to=functions.archive_note <|constrain|>json<|message|>{}",
            "<|channel|>commentary<|message|>",
            "<|channel|>analysis to=functions.archive_note code<|message|>{}",
        ] {
            assert_eq!(at_start(call), Mark::Closing(0), "{call}");
        }
        assert_eq!(first_closing("a < b </b> </think> c", 0), Ok((11, 19)));
        assert_eq!(first_closing("a </thi", 0), Err(2));
        assert_eq!(first_closing("a [b] </b>é", 0), Err(12));
    }
}
