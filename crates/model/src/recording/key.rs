//! Keys: requests and conversations by their content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use planproof_trace::{Arguments, Secrets, Tool, ToolCall, WrittenObject};

use super::redact;
use crate::{Message, ReplyId, Settings};

/// Most remembered tool lists; beyond that their keys are computed again.
const TOOL_LISTS_MAX: usize = 4096;

/// 128 bits for the content of a request or a conversation. Keys never leave the process, so they need only
/// distinguish the requests of one recording and its replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key([u64; 2]);

/// Hashes texts and numbers so that no two sequences of them are the same bytes. A replay hashes each conversation
/// anew with every turn, so this has to be fast: the bytes are collected, and then hashed eight at a time, twice, by
/// folded products, like the fast hashes for maps.
struct Hasher(Vec<u8>);

/// The initial values and multipliers of the two hashes: digits of pi, as good as random ones.
const HALVES: [[u64; 2]; 2] =
    [[0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345], [0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89]];

/// The two halves of a product of 128 bits, one on the other.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher {
    fn new(domain: &str) -> Self {
        let mut hasher = Self(Vec::with_capacity(256));
        // The domain distinguishes the same content in different kinds of keys.
        hasher.text(domain);
        hasher
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn key(&mut self, key: Key) {
        key.0.into_iter().for_each(|half| self.number(half));
    }

    fn option(&mut self, value: Option<u64>) {
        self.number(u64::from(value.is_some()));
        self.number(value.unwrap_or(0));
    }

    fn finish(self) -> Key {
        let (words, rest) = self.0.as_chunks();
        // The padding of the last word is distinguished from data by the length.
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let length = self.0.len() as u64;
        Key(HALVES.map(|[begin, factor]| {
            let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
            words.chain([length]).fold(begin, |hash, word| folded(hash ^ word, factor))
        }))
    }
}

/// The beginning of a conversation: empty.
pub(super) fn beginning() -> Key {
    Hasher::new("conversation").finish()
}

/// The beginning of one that continues from a stored and recorded reply: with everything that led to it.
pub(super) fn after_kept(conversation: Key) -> Key {
    let mut hasher = Hasher::new("kept");
    hasher.key(conversation);
    hasher.finish()
}

/// The same for a reply that is not recorded.
pub(super) fn after_unknown(id: &ReplyId) -> Key {
    let mut hasher = Hasher::new("unknown");
    hasher.text(&id.0);
    hasher.finish()
}

/// A conversation extended by one message.
pub(super) fn longer(conversation: Key, message: &Message) -> Key {
    let mut hasher = Hasher::new("message");
    hasher.key(conversation);
    match message {
        Message::System { text } => {
            hasher.number(0);
            hasher.text(text);
        }
        Message::User { text } => {
            hasher.number(1);
            hasher.text(text);
        }
        Message::Assistant { text, calls, .. } => {
            hasher.number(2);
            hasher.text(text);
            for call in calls {
                hash_call(&mut hasher, call);
            }
        }
        Message::Tool { id, text } => {
            hasher.number(3);
            hasher.text(id.as_str());
            hasher.text(text);
        }
    }
    hasher.finish()
}

fn hash_call(hasher: &mut Hasher, call: &ToolCall) {
    hasher.text(call.id.as_str());
    hasher.text(&call.name);
    hasher.number(u64::from(matches!(call.arguments, Arguments::Malformed(_))));
    hasher.text(&call.arguments.to_text());
}

/// How a model is asked: its name, the tools, the settings.
pub(super) fn setup(model: &str, tools: Key, settings: &Settings) -> Key {
    let mut hasher = Hasher::new("setup");
    hasher.text(model);
    hasher.key(tools);
    // Zero has two signs and one meaning.
    hasher.option(settings.temperature.map(|temperature| (temperature + 0.0).to_bits()));
    hasher.option(settings.output_tokens_max.map(u64::from));
    hasher.option(settings.seed);
    hasher.option(settings.grammar.as_ref().map(|grammar| grammar.len() as u64));
    hasher.text(settings.grammar.as_deref().unwrap_or_default());
    // The stop texts are the last field, so their number need not be hashed.
    for stop in &settings.stop {
        hasher.text(stop);
    }
    hasher.finish()
}

/// A request for the next turn of a conversation.
pub(super) fn chat(setup: Key, conversation: Key) -> Key {
    let mut hasher = Hasher::new("chat");
    hasher.key(setup);
    hasher.key(conversation);
    hasher.finish()
}

/// A request to continue a plain text.
pub(super) fn completion(setup: Key, prompt: &str, score_prompt: bool) -> Key {
    let mut hasher = Hasher::new("completion");
    hasher.key(setup);
    hasher.number(u64::from(score_prompt));
    hasher.text(prompt);
    hasher.finish()
}

/// A list of tools.
pub(super) fn tools(tools: &[Tool]) -> Key {
    let mut hasher = Hasher::new("tools");
    // Neighbours usually share their schema, and comparing two is cheaper than writing one.
    let mut last: Option<(&WrittenObject, String)> = None;
    for tool in tools {
        hasher.text(&tool.name);
        hasher.text(&tool.description);
        let schema = &tool.input_schema;
        // All keys are strings, and JSON numbers in memory are never infinite.
        let written = || serde_json::to_string(schema).unwrap_or_default();
        let (_, text) = match last.take() {
            Some(last) if last.0 == schema => last,
            _ => (schema, written()),
        };
        hasher.text(&text);
        last = Some((schema, text));
    }
    hasher.finish()
}

/// A list of tools without secrets, and its key.
#[derive(Clone)]
pub(super) struct KnownTools {
    pub(super) key: Key,
    pub(super) list: Arc<[Tool]>,
}

/// Remembers tool lists by address: an agent passes the same list with every turn.
///
/// The entry's [`Weak`] keeps the list's allocation (not its contents) alive, so no other list can get the same
/// address while the entry exists.
#[derive(Default)]
pub(super) struct ToolLists(Mutex<HashMap<usize, Seen>>);

struct Seen {
    _list: Weak<[Tool]>,
    known: KnownTools,
}

impl ToolLists {
    pub(super) fn get(&self, list: &Arc<[Tool]>, secrets: &Secrets) -> KnownTools {
        let address = list.as_ptr() as usize;
        // Empty lists may share an address with another object.
        if !list.is_empty()
            && let Some(seen) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&address)
        {
            return seen.known.clone();
        }
        let redacted = redact::tools(list, secrets);
        let known = KnownTools { key: tools(&redacted), list: redacted };
        if !list.is_empty() {
            let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if lists.len() >= TOOL_LISTS_MAX {
                lists.clear();
            }
            lists.insert(address, Seen { _list: Arc::downgrade(list), known: known.clone() });
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn sequences_that_differ_have_keys_that_differ_in_both_halves() {
        let mut seen = [HashSet::new(), HashSet::new()];
        let mut count = 0;
        let mut add = |texts: &[&str]| {
            let mut hasher = Hasher::new("test");
            texts.iter().for_each(|text| hasher.text(text));
            let Key(halves) = hasher.finish();
            for (half, seen) in halves.iter().zip(&mut seen) {
                seen.insert(*half);
            }
            count += 1;
        };
        for length in 0..40 {
            let text = "a".repeat(length);
            add(&[&text]);
            // One other byte anywhere, a zero among them, and the same bytes as two texts.
            for place in 0..length {
                for other in ["\0", "b", "A"] {
                    add(&[&[&text[..place], other, &text[place + 1..]].concat()]);
                }
                add(&[&text[..place], &text[place..]]);
            }
        }
        assert_eq!(seen.map(|seen| seen.len()), [count, count]);
    }
}
