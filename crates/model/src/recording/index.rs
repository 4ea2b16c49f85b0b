//! The writer's index of a recording: which lines need not be written again.

use std::collections::HashMap;

use super::content::{Question, Recording};
use super::key::{self, Key};
use crate::ReplyId;

/// Most bytes of remembered plain texts, so that a text that continues one need not repeat it.
const PROMPT_BYTES_MAX: usize = 64 << 20;

/// Numbers are those of the file, from 1.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) models: HashMap<String, u32>,
    pub(super) tools: HashMap<Key, u32>,
    pub(super) setups: HashMap<Key, u32>,
    pub(super) exchange_count: u32,
    places: HashMap<Key, Place>,
    kept: HashMap<ReplyId, Kept>,
    prompts: Prompts,
}

/// The place of a conversation in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) exchange: u32,
    pub(super) count: u32,
    /// It is the whole conversation, with the reply.
    pub(super) is_whole: bool,
}

/// A reply that the server keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) exchange: u32,
    /// Where a conversation begins that continues from it.
    pub(super) start: Key,
}

/// The newest text of each setup, with its reply.
#[derive(Debug, Default)]
struct Prompts {
    texts: HashMap<Key, (u32, String)>,
    bytes: usize,
}

impl Index {
    pub(super) fn of(recording: &Recording) -> Self {
        let number = |place: usize| u32::try_from(place + 1).unwrap_or(u32::MAX);
        let numbers = |count: usize| (0..count).map(number);
        let models = recording.models.iter().map(|model| model.name.clone());
        let mut index = Self {
            models: models.zip(numbers(recording.models.len())).collect(),
            tools: recording
                .tools
                .iter()
                .map(|tools| tools.key)
                .zip(numbers(recording.tools.len()))
                .collect(),
            setups: recording
                .setups
                .iter()
                .map(|setup| setup.key)
                .zip(numbers(recording.setups.len()))
                .collect(),
            exchange_count: u32::try_from(recording.exchanges.len()).unwrap_or(u32::MAX),
            ..Self::default()
        };
        for (place, exchange) in recording.exchanges.iter().enumerate() {
            let Question::Chat { last, reply } = exchange.question else { continue };
            let mut at = reply.or(last);
            while let Some(node) = at {
                let found = &recording.nodes[node];
                let count = u32::try_from(found.count).unwrap_or(u32::MAX);
                let place = Place { exchange: number(place), count, is_whole: reply == Some(node) };
                // If this node is present, so are all nodes before it.
                if !index.add_place(found.key, place) {
                    break;
                }
                at = found.before;
            }
        }
        index
    }

    /// Records the place of a conversation. `false` if an equal one is already present.
    fn add_place(&mut self, conversation: Key, place: Place) -> bool {
        let is_new = !self.places.contains_key(&conversation);
        if is_new {
            self.places.insert(conversation, place);
        }
        is_new
    }

    /// The longest beginning of a conversation that is in the file. `keys` are those of its beginnings, from none of
    /// its messages on.
    pub(super) fn longest(&self, keys: &[Key]) -> Option<Place> {
        keys.iter().skip(1).rev().find_map(|key| self.places.get(key)).copied()
    }

    /// Records a conversation that was written as an exchange, with its reply if that is complete.
    pub(super) fn add_chat(&mut self, exchange: u32, keys: &[Key], with_reply: Option<Key>) {
        let mut count = 0;
        for key in keys.iter().skip(1) {
            count += 1;
            self.add_place(*key, Place { exchange, count, is_whole: false });
        }
        if let Some(key) = with_reply {
            self.add_place(key, Place { exchange, count: count + 1, is_whole: true });
        }
    }

    /// Records that the caller got a reply which the server stores.
    pub(super) fn add_kept(&mut self, id: ReplyId, exchange: u32, with_reply: Key) {
        self.kept.insert(id, Kept { exchange, start: key::after_kept(with_reply) });
    }

    pub(super) fn kept(&self, id: &ReplyId) -> Option<Kept> {
        self.kept.get(id).copied()
    }

    /// The exchange that a plain text continues, and how many bytes it shares with it.
    pub(super) fn prompt_before(&self, setup: Key, prompt: &str) -> Option<(u32, usize)> {
        let (exchange, text) = self.prompts.texts.get(&setup)?;
        prompt.starts_with(text.as_str()).then_some((*exchange, text.len()))
    }

    pub(super) fn add_prompt(&mut self, setup: Key, exchange: u32, text: String) {
        let Prompts { texts, bytes } = &mut self.prompts;
        // Forgetting costs only the repetition of a text in the file.
        if *bytes + text.len() > PROMPT_BYTES_MAX {
            texts.clear();
            *bytes = 0;
        }
        *bytes += text.len();
        if let Some((_, old)) = texts.insert(setup, (exchange, text)) {
            *bytes -= old.len();
        }
    }
}
