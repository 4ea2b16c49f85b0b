//! How a request differs from the nearest recorded one, in words.

use std::cmp::Reverse;
use std::ops::Range;
use std::time::Duration;

use planproof_trace::Tool;
use similar::{DiffOp, DiffTag, TextDiff};

use super::content::{Exchange, Question, Recording, Setup};
use super::request::{KeyedRequest, RequestBody};
use crate::{Message, Settings};

/// Most recorded requests that are compared with one that is not recorded.
const CANDIDATES_MAX: usize = 2000;

/// Longest time for comparing two texts word by word; after it the difference is reported more coarsely.
const COMPARISON_TIME_MAX: Duration = Duration::from_millis(200);

/// Most characters of a quoted text.
const QUOTE_CHARACTERS_MAX: usize = 100;

/// Words and blanks that are shown before and after the words that differ.
const CONTEXT_TOKENS: usize = 4;

/// Words and blanks between two changes that are reported as one.
const TOKENS_BETWEEN_MAX: usize = 1;

/// How the request differs from the nearest one in the recording: one with the same seed if there is any, and among
/// those the one with the longest common beginning.
pub(super) fn describe(recording: &Recording, model: usize, keyed: &KeyedRequest<'_>) -> String {
    let is_chat = matches!(keyed.body, RequestBody::Chat { .. });
    let seed = keyed.settings.seed;
    let setup = |exchange: &Exchange| &recording.setups[exchange.setup];
    let of_kind = |exchange: &&Exchange| {
        setup(exchange).model == model && matches!(exchange.question, Question::Chat { .. }) == is_chat
    };
    let mut candidates: Vec<&Exchange> = recording
        .exchanges
        .iter()
        .filter(of_kind)
        .filter(|exchange| setup(exchange).settings.seed == seed)
        .take(CANDIDATES_MAX)
        .collect();
    if candidates.is_empty() {
        candidates = recording.exchanges.iter().filter(of_kind).take(CANDIDATES_MAX).collect();
    }
    let now: Vec<Parts> = match &keyed.body {
        RequestBody::Chat { messages, .. } => messages.iter().map(Parts::of).collect(),
        RequestBody::Completion { prompt, .. } => vec![Parts::text("the text", prompt)],
    };
    let recorded = candidates.into_iter().map(|exchange| {
        let parts: Vec<Parts> = match &exchange.question {
            Question::Chat { last, .. } => recording.conversation(*last).into_iter().map(Parts::of).collect(),
            Question::Completion { prompt } => {
                vec![Parts::text("the text", &recording.may_differ.text(prompt))]
            }
        };
        (exchange, parts)
    });
    // The nearest has the most equal messages at the beginning; then the most similar length; then the most equal bytes
    // in the first message that differs.
    let nearest = recorded.max_by_key(|(_, parts)| {
        let common = parts.iter().zip(&now).take_while(|(recorded, now)| recorded == now).count();
        let characters = match (parts.get(common), now.get(common)) {
            (Some(recorded), Some(now)) => recorded.common_bytes(now),
            _ => 0,
        };
        (common, Reverse(parts.len().abs_diff(now.len())), characters)
    });
    let Some((exchange, recorded)) = nearest else {
        return "it holds none of this kind".to_owned();
    };
    conversation_difference(&recorded, &now, is_chat)
        .or_else(|| setup_difference(recording, setup(exchange), keyed))
        // All that can be put into words is equal, but the keys differ.
        .unwrap_or_else(|| "it goes on from another kept reply, or asks for other scores".to_owned())
}

/// A message divided into parts that can be compared as texts.
#[derive(Debug, PartialEq)]
struct Parts {
    role: &'static str,
    texts: Vec<(&'static str, String)>,
}

impl Parts {
    fn text(role: &'static str, text: &str) -> Self {
        Self { role, texts: vec![("", text.to_owned())] }
    }

    fn of(message: &Message) -> Self {
        match message {
            Message::System { text } => Self::text("system", text),
            Message::User { text } => Self::text("user", text),
            Message::Assistant { text, calls, .. } => {
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| format!("{} {} {}", call.name, call.arguments.to_text(), call.id))
                    .collect();
                Self { role: "assistant", texts: vec![("", text.clone()), (", its calls", calls.join("; "))] }
            }
            Message::Tool { id, text } => {
                Self { role: "tool", texts: vec![("", text.clone()), (", its call", id.to_string())] }
            }
        }
    }

    /// Number of equal bytes at the beginning.
    fn common_bytes(&self, other: &Self) -> usize {
        let bytes =
            |parts: &Self| parts.texts.first().map_or(Vec::new(), |(_, text)| text.clone().into_bytes());
        bytes(self).iter().zip(&bytes(other)).take_while(|(a, b)| a == b).count()
    }

    /// The first text with something in it.
    fn shown(&self) -> String {
        let text = self.texts.iter().map(|(_, text)| text).find(|text| !text.is_empty());
        quote(text.map_or("", String::as_str))
    }
}

fn conversation_difference(recorded: &[Parts], now: &[Parts], is_chat: bool) -> Option<String> {
    let place = recorded.iter().zip(now).take_while(|(recorded, now)| recorded == now).count();
    let message = |parts: &Parts| {
        if is_chat { format!("message {} ({})", place + 1, parts.role) } else { parts.role.to_owned() }
    };
    Some(match (recorded.get(place), now.get(place)) {
        (None, None) => return None,
        (Some(recorded), None) => format!("{} is missing; recorded {}", message(recorded), recorded.shown()),
        (None, Some(now)) => format!("{} is new: {}", message(now), now.shown()),
        (Some(recorded), Some(now)) if recorded.role != now.role => {
            format!(
                "message {}: recorded {} of the role {}, now {} of the role {}",
                place + 1,
                recorded.shown(),
                recorded.role,
                now.shown(),
                now.role
            )
        }
        (Some(recorded), Some(now)) => {
            let texts = recorded.texts.iter().zip(&now.texts).find(|(recorded, now)| recorded != now);
            let ((part, old), (_, new)) = texts?;
            format!("{}{part}{}", message(now), text_difference(old, new))
        }
    })
}

fn setup_difference(recording: &Recording, recorded: &Setup, keyed: &KeyedRequest<'_>) -> Option<String> {
    let tools = recorded.tools.map_or(&[][..], |tools| &*recording.tools[tools].list);
    let now = match &keyed.body {
        RequestBody::Chat { tools, .. } => &*tools.list,
        RequestBody::Completion { .. } => &[],
    };
    tools_difference(tools, now).or_else(|| settings_difference(&recorded.settings, &keyed.settings))
}

fn tools_difference(recorded: &[Tool], now: &[Tool]) -> Option<String> {
    let place = recorded.iter().zip(now).take_while(|(recorded, now)| recorded == now).count();
    let schema = |tool: &Tool| tool.input_schema.to_string();
    Some(match (recorded.get(place), now.get(place)) {
        (None, None) => return None,
        (Some(tool), None) => format!("the tool {} is missing", quote(&tool.name)),
        (None, Some(tool)) => format!("the tool {} is new", quote(&tool.name)),
        (Some(old), Some(new)) if old.name != new.name => {
            format!("tool {}: recorded {}, now {}", place + 1, quote(&old.name), quote(&new.name))
        }
        (Some(old), Some(new)) if old.description != new.description => {
            let difference = text_difference(&old.description, &new.description);
            format!("the description of the tool {}{difference}", quote(&new.name))
        }
        (Some(old), Some(new)) => {
            let difference = text_difference(&schema(old), &schema(new));
            format!("the input schema of the tool {}{difference}", quote(&new.name))
        }
    })
}

fn settings_difference(recorded: &Settings, now: &Settings) -> Option<String> {
    fn shown<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "none".to_owned(), |value| value.to_string())
    }
    let stop = |settings: &Settings| format!("{:?}", settings.stop);
    let all = [
        ("the seed", shown(recorded.seed), shown(now.seed)),
        ("the temperature", shown(recorded.temperature), shown(now.temperature)),
        ("the limit of the reply's tokens", shown(recorded.output_tokens_max), shown(now.output_tokens_max)),
        ("the texts that end the reply", stop(recorded), stop(now)),
        ("the grammar of the reply", shown(recorded.grammar.as_deref()), shown(now.grammar.as_deref())),
    ];
    let (what, old, new) = all.into_iter().find(|(_, old, new)| old != new)?;
    Some(format!("{what}: recorded {old}, now {new}"))
}

/// The first words that differ, with some context: `, at character 310: recorded "...", now "..."`.
fn text_difference(old: &str, new: &str) -> String {
    let diff = TextDiff::configure().timeout(COMPARISON_TIME_MAX).diff_words(old, new);
    let (old_words, new_words) = (diff.old_slices(), diff.new_slices());
    let Some((old_range, new_range)) = first_change(diff.ops()) else { return String::new() };
    let before: usize = new_words[..new_range.start].iter().map(|word| word.chars().count()).sum();
    format!(
        ", at character {}: recorded {}, now {}",
        before + 1,
        around(old_words, &old_range),
        around(new_words, &new_range)
    )
}

/// The words of the first change on both sides. Changes with hardly anything between them count as one.
fn first_change(ops: &[DiffOp]) -> Option<(Range<usize>, Range<usize>)> {
    let mut change: Option<(Range<usize>, Range<usize>)> = None;
    for (place, op) in ops.iter().enumerate() {
        let (tag, old, new) = op.as_tag_tuple();
        match (&mut change, tag) {
            (None, DiffTag::Equal) => {}
            (None, _) => change = Some((old, new)),
            (Some(_), DiffTag::Equal) => {
                // A few equal words join two changes, unless nothing follows them.
                if old.len() > TOKENS_BETWEEN_MAX || place + 1 == ops.len() {
                    break;
                }
            }
            (Some((old_change, new_change)), _) => {
                old_change.end = old.end;
                new_change.end = new.end;
            }
        }
    }
    change
}

/// Words with a few before and behind them.
fn around(words: &[&str], range: &Range<usize>) -> String {
    let start = range.start.saturating_sub(CONTEXT_TOKENS);
    let end = (range.end + CONTEXT_TOKENS).min(words.len());
    let text: String = words[start..end].concat();
    let text = cut(text.trim());
    let before = if start > 0 { "... " } else { "" };
    let behind = if end < words.len() && !text.ends_with("...") { " ..." } else { "" };
    format!("{:?}", format!("{before}{text}{behind}"))
}

fn quote(text: &str) -> String {
    format!("{:?}", cut(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_that_differ_are_shown() {
        let old =
            "You work there. The inventory check comes before the repair, and the audit is last of all.";
        for (new, expected) in [
            (
                "You work there. The inventory check precedes the repair, and the audit is last of all.",
                r#", at character 37: recorded "... inventory check comes before the repair, ...", now "... inventory check precedes the repair, ...""#,
            ),
            (
                "We work there. The inventory check comes before the repair, and the audit is last of all.",
                r#", at character 1: recorded "You work there. ...", now "We work there. ...""#,
            ),
            (
                "You work there. The inventory check comes before the repair, and the audit is last of all. Done.",
                r#", at character 91: recorded "... of all.", now "... of all. Done.""#,
            ),
            (
                "You work there. The check comes before the repair, and the review is last.",
                r#", at character 21: recorded "... there. The inventory check comes ...", now "... there. The check comes ...""#,
            ),
            (
                "",
                r#", at character 1: recorded "You work there. The inventory check comes before the repair, and the audit is last of all.", now """#,
            ),
            (old, ""),
        ] {
            assert_eq!(text_difference(old, new), expected);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let (old, new) = ("x".repeat(500), "y".repeat(500));
        let difference = text_difference(&old, &new);
        assert!(difference.len() < 300 && difference.contains("xxx...\", now \"yyy"), "{difference}");
    }

    #[test]
    fn comparing_takes_no_longer_than_it_may() {
        let words =
            |seed: u64| -> String { (0..200_000u64).map(|n| format!("{} ", (n * seed) % 7919)).collect() };
        let start = std::time::Instant::now();
        assert!(text_difference(&words(3), &words(5)).starts_with(", at character 3: "));
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
