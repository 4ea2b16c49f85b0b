//! The conversations that answers of the responses API can be continued from.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use planproof_trace::{Arguments, ToolCall};
use serde_json::Value;

use crate::Message;

/// What a message counts beside its texts.
const MESSAGE_BYTES: usize = 128;

/// Conversations by the number of the answer that ends them. Each is kept whole, so that dropping the oldest never
/// breaks a younger one and the bytes can be counted.
pub(super) struct Responses {
    last: AtomicU64,
    entries_max: usize,
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// With the bytes that each counts.
    entries: BTreeMap<u64, (Vec<Message>, usize)>,
    bytes: usize,
}

impl Responses {
    /// Keeps at most so many conversations and bytes.
    pub(super) fn new(entries_max: usize, bytes_max: usize) -> Self {
        Self { last: AtomicU64::new(0), entries_max, bytes_max, state: Mutex::default() }
    }

    /// The number of the next answer.
    pub(super) fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The conversation up to and with answer `number`.
    pub(super) fn conversation(&self, number: u64) -> Option<Vec<Message>> {
        self.lock().entries.get(&number).map(|(messages, _)| messages.clone())
    }

    /// Answer `number` itself: its text and calls.
    pub(super) fn answer(&self, number: u64) -> Option<(String, Vec<ToolCall>)> {
        match self.lock().entries.get(&number)?.0.last()? {
            Message::Assistant { text, calls } => Some((text.clone(), calls.clone())),
            _ => None,
        }
    }

    /// Keeps a conversation that ends with answer `number`, dropping the oldest ones as needed. One that is larger
    /// than the limit by itself is not kept.
    pub(super) fn keep(&self, number: u64, messages: Vec<Message>) {
        let size = messages.iter().map(message_bytes).sum();
        if size > self.bytes_max || self.entries_max == 0 {
            return;
        }
        let mut state = self.lock();
        while state.entries.len() >= self.entries_max || state.bytes + size > self.bytes_max {
            let Some((_, (_, freed))) = state.entries.pop_first() else { break };
            state.bytes -= freed;
        }
        state.bytes += size;
        state.entries.insert(number, (messages, size));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves at most a wrong sum of bytes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn message_bytes(message: &Message) -> usize {
    let content = match message {
        Message::System { text } | Message::User { text } => text.len(),
        Message::Tool { id, text } => id.as_str().len() + text.len(),
        Message::Assistant { text, calls } => text.len() + calls.iter().map(call_bytes).sum::<usize>(),
    };
    MESSAGE_BYTES + content
}

fn call_bytes(call: &ToolCall) -> usize {
    let arguments = match &call.arguments {
        Arguments::Malformed(text) => text.len(),
        Arguments::Object(object) => object.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
    };
    MESSAGE_BYTES + call.id.as_str().len() + call.name.len() + arguments
}

/// About what a value takes in memory. As deep as the parser let it become, hence at most 128 levels.
fn value_bytes(value: &Value) -> usize {
    let content = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value_bytes).sum(),
        Value::Object(object) => object.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
    };
    64 + content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Vec<Message> {
        vec![Message::User { text: "x".repeat(length) }]
    }

    #[test]
    fn the_oldest_go_first_by_number_and_by_bytes() {
        let responses = Responses::new(3, 10 * MESSAGE_BYTES);
        for number in 1..=4 {
            assert_eq!(responses.next(), number);
            responses.keep(number, text(0));
        }
        let kept = |number| responses.conversation(number).is_some();
        assert!(!kept(1) && kept(2) && kept(3) && kept(4));
        responses.keep(5, text(8 * MESSAGE_BYTES));
        assert!(!kept(2) && !kept(3) && kept(4) && kept(5));
        responses.keep(6, text(10 * MESSAGE_BYTES));
        assert!(kept(4) && kept(5) && !kept(6), "what can never fit pushes nothing out");
        let state = responses.lock();
        assert_eq!(state.bytes, state.entries.values().map(|(_, bytes)| bytes).sum::<usize>());
    }
}
