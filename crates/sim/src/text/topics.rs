//! Answers to the prompts for topics. A simulation knows only the jobs that come with planproof: it repeats them, and
//! their activities, each kind in its own way:
//!
//! - `forgetful` leaves out about a quarter, and provides the rest when it is asked for more;
//! - `careless` writes capitals, plurals and explanations, and repeats itself;
//! - `clumsy` writes bullets in bold with words around them;
//! - `endless` repeats its first item for ever;
//! - the others write what is requested.
//!
//! The activities of a user's own tools follow by rule from their names.

use planproof_model::{ChatRequest, Message};
use planproof_synth::topic_prompts::{ACTIVITIES, JOBS, MORE, ROLE, TOOL_MARK, TOOLS};
use planproof_synth::{Draw, TopicBank, texts_of_tool_names};

use super::reply::REPLY_BYTES_MAX;
use crate::SimKind;

/// The answer to the last message of a conversation that requests topics; `None` for any other.
pub(super) fn answer(kind: SimKind, request: &ChatRequest) -> Option<String> {
    let mut user = request.messages.iter().filter_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    let first = user.next()?;
    let last = user.next_back().unwrap_or(first);
    if last.starts_with(TOOLS) {
        return Some(tools(last));
    }
    let bank = TopicBank::shipped().topics();
    let all: Vec<String> = if first.starts_with(JOBS) {
        bank.iter().map(|topic| format!("{} ({})", topic.job, topic.industry)).collect()
    } else {
        let job = first.strip_prefix(ACTIVITIES)?.split_once(ROLE[0])?.1.split_once(ROLE[1])?.0;
        // An unknown job gets the activities of a known one, always the same.
        let place =
            job.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % bank.len();
        let topic = bank.iter().find(|topic| topic.job == job).or(bank.get(place))?;
        topic.activities.iter().map(|activity| activity.text.clone()).collect()
    };
    let count = count_in(last)?;
    let said = |item: &String| {
        request.messages.iter().any(|message| match message {
            Message::Assistant { text, .. } => text.to_lowercase().contains(&item.to_lowercase()),
            Message::User { .. } | Message::System { .. } | Message::Tool { .. } => false,
        })
    };
    let items: Vec<String> = all.into_iter().filter(|item| !said(item)).take(count).collect();
    Some(written(kind, items))
}

/// The number that a prompt asks for.
fn count_in(prompt: &str) -> Option<usize> {
    let asked = prompt.strip_prefix(MORE).unwrap_or(prompt);
    asked.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
}

fn written(kind: SimKind, items: Vec<String>) -> String {
    // From the number of items alone, so that the same request gets the same answer.
    let draw = &mut Draw::new(0, items.len() as u64, "sim-topics/1");
    let capital = |item: &str| item[..1].to_uppercase() + &item[1..];
    let mut lines: Vec<String> = Vec::new();
    match kind {
        SimKind::Forgetful => lines.extend(items.into_iter().filter(|_| !draw.chance(1, 4))),
        SimKind::Careless => {
            for (place, item) in items.iter().enumerate() {
                lines.push(match place % 4 {
                    0 => format!("{} - something that is done often", capital(item)),
                    1 => format!("The {item}s"),
                    2 => item.clone(),
                    _ => items[place - 1].to_uppercase(),
                });
            }
        }
        SimKind::Clumsy => {
            let lines = items.iter().map(|item| format!("* **{}**: as it says.", capital(item)));
            let lines: Vec<String> = lines.collect();
            return format!("Sure! Here is a list:\n\n{}\n\nLet me know if you need more.", lines.join("\n"));
        }
        SimKind::Endless => {
            let line = items.first().map_or_else(|| "1. nothing".to_owned(), |item| format!("1. {item}"));
            return std::iter::repeat_n(line.as_str(), REPLY_BYTES_MAX / (line.len() + 1))
                .collect::<Vec<_>>()
                .join("\n");
        }
        SimKind::Perfect
        | SimKind::Parallel
        | SimKind::InOrder
        | SimKind::TextCalls
        | SimKind::Rambling
        | SimKind::NoRetry
        | SimKind::IgnoresFailures
        | SimKind::GivesUp
        | SimKind::RetriesForever
        | SimKind::ForgetsCorrections
        | SimKind::Planted(_) => lines = items,
    }
    lines
        .iter()
        .enumerate()
        .map(|(place, line)| format!("{}. {line}", place + 1))
        .collect::<Vec<_>>()
        .join("\n")
}

fn tools(prompt: &str) -> String {
    let listed = prompt.lines().filter_map(|line| line.strip_prefix(TOOL_MARK));
    let names: Vec<&str> = listed.map(|line| line.split(':').next().unwrap_or(line)).collect();
    let texts = texts_of_tool_names(names.iter().copied(), []);
    let lines = names.iter().zip(texts).filter_map(|(name, text)| Some(format!("{name}: {}", text?.text)));
    lines.collect::<Vec<_>>().join("\n")
}
