//! A simulated model's understanding of a conversation in which the user writes more than once.
//!
//! It follows the messages one by one: what each adds, changes and tells to wait with. The calls of a turn are those
//! of the tasks that it may do by then and has not done.

use planproof_model::{ChatRequest, Message};
use planproof_synth::read::{Directions, ReadMessage, read_message};

use crate::SimKind;
use crate::reading::{Found, Stated};

/// The words by which a query tells to wait.
const WAIT: &str = "Wait with ";

/// Whether a request may be one of several messages: reading all of it again takes time.
pub(crate) fn may_be_several(request: &ChatRequest) -> bool {
    let mut users = request.messages.iter().filter_map(|message| match message {
        Message::User { text } | Message::System { text } => Some(text),
        Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    let is_user = |message: &&Message| matches!(message, Message::User { .. });
    request.messages.iter().filter(is_user).count() > 1 || users.any(|text| text.contains(WAIT))
}

/// What a turn asks for.
pub(crate) struct Asked {
    /// The tasks, in the order in which the texts name them.
    pub(crate) tasks: Vec<usize>,
    /// What is said of their order by then.
    pub(crate) pairs: Vec<Stated>,
    /// How many messages of the request belong to the conversation by then.
    pub(crate) messages: usize,
}

/// The turns that the messages of a request ask for, the first one with what was `found` in the query. Messages that
/// say nothing about tasks begin no turn.
pub(crate) fn turns(kind: SimKind, request: &ChatRequest, texts: &[&str], found: Found) -> Vec<Asked> {
    let remembers_changes = kind != SimKind::ForgetsCorrections;
    let mut said = messages(request, texts).peekable();
    let mut known = Known { pairs: found.pairs, named: found.mentioned, done: Vec::new() };
    let waiting = match said.next_if(|(_, _, message)| !message.pairs.is_empty()) {
        Some((_, _, query)) => query.waiting,
        None => Vec::new(),
    };
    let mut all = vec![known.ask(&waiting)];
    // What the query itself says was found before; of later messages only those count that can be read.
    for (place, text, message) in said {
        if let Some(before) = all.last_mut() {
            before.messages = place;
        }
        let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if remembers_changes {
            known.change(&message);
        }
        known.add(&message, number, text, texts);
        all.push(known.ask(&message.waiting));
    }
    if let Some(last) = all.last_mut() {
        last.messages = request.messages.len();
    }
    all
}

/// The user's messages that can be read, the query first, each with its place in the request.
fn messages<'a>(
    request: &'a ChatRequest,
    texts: &'a [&str],
) -> impl Iterator<Item = (usize, &'a str, ReadMessage)> {
    let mut is_query = true;
    request.messages.iter().enumerate().filter_map(move |(place, message)| {
        let text = match message {
            Message::User { text } => text.as_str(),
            Message::System { text } if is_query => text.as_str(),
            _ => return None,
        };
        let read = read_message(text, is_query, texts, Directions::shipped()).ok()?;
        let says_nothing = ReadMessage { readings: read.readings, ..ReadMessage::default() } == read;
        if says_nothing {
            return None;
        }
        is_query = false;
        Some((place, text, read))
    })
}

struct Known {
    pairs: Vec<Stated>,
    /// The tasks that were named, in this order.
    named: Vec<usize>,
    /// Those that are done or dropped.
    done: Vec<usize>,
}

impl Known {
    fn ask(&mut self, waiting: &[usize]) -> Asked {
        let is_due = |task: &usize| !self.done.contains(task) && !waiting.contains(task);
        let tasks: Vec<usize> = self.named.iter().copied().filter(is_due).collect();
        self.done.extend(&tasks);
        Asked { tasks, pairs: self.pairs.clone(), messages: 0 }
    }

    fn change(&mut self, message: &ReadMessage) {
        for &(first, second) in &message.reversed {
            for pair in &mut self.pairs {
                if (pair.second, pair.first) == (first, second) {
                    (pair.first, pair.second) = (first, second);
                }
            }
        }
        self.pairs.retain(|pair| !message.dropped_orders.contains(&(pair.first, pair.second)));
        let is_dropped = |task: &usize| message.dropped_tasks.contains(task);
        self.pairs.retain(|pair| !is_dropped(&pair.first) && !is_dropped(&pair.second));
        self.done.extend(&message.dropped_tasks);
    }

    /// Adds the orders that a message states, and the tasks that it names.
    fn add(&mut self, message: &ReadMessage, number: u32, text: &str, texts: &[&str]) {
        self.pairs.extend(message.pairs.iter().map(|pair| Stated {
            first: pair.first,
            second: pair.second,
            // Sentences of other messages have other numbers.
            place: (number.saturating_mul(MESSAGE) + pair.source.sentence, pair.source.sub_sentence),
        }));
        let text = text.to_lowercase();
        let mut named: Vec<usize> = message.pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
        named.retain(|task| !self.named.contains(task));
        named.sort_unstable();
        named.dedup();
        named.sort_by_cached_key(|task| text.find(&texts[*task].to_lowercase()));
        self.named.extend(named);
    }
}

/// More sentences than a message has.
const MESSAGE: u32 = 10_000;
