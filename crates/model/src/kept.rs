//! Conversations kept in memory, so that a request need only hold what is new: for the responses that our server
//! answers, and for any [`Model`] without a server that stores them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planproof_trace::{Arguments, ToolCall};
use serde_json::Value;

use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, ReplyId, ServerFacts, TurnState,
};

/// Most stored replies, by default.
pub const KEPT_REPLIES_MAX: usize = 20_000;

/// Most bytes of conversation that stored replies hold together, by default.
pub const KEPT_BYTES_MAX: usize = 128 << 20;

/// The size that a message counts for in addition to its texts.
const MESSAGE_BYTES: usize = 128;

/// Conversations by the number of the reply that ends them. Each is stored whole, so that dropping the oldest never
/// breaks a newer one and the bytes can be counted.
pub(crate) struct KeptReplies {
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

impl KeptReplies {
    /// A store with these limits on conversations and bytes.
    pub(crate) fn new(entries_max: usize, bytes_max: usize) -> Self {
        Self { last: AtomicU64::new(0), entries_max, bytes_max, state: Mutex::default() }
    }

    /// The number of the next reply.
    pub(crate) fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The conversation up to and including reply `number`.
    pub(crate) fn conversation(&self, number: u64) -> Option<Vec<Message>> {
        self.lock().entries.get(&number).map(|(messages, _)| messages.clone())
    }

    /// Reply `number` itself: its text, calls and state.
    pub(crate) fn reply(&self, number: u64) -> Option<(String, Vec<ToolCall>, TurnState)> {
        match self.lock().entries.get(&number)?.0.last()? {
            Message::Assistant { text, calls, state } => Some((text.clone(), calls.clone(), state.clone())),
            _ => None,
        }
    }

    /// Stores a conversation that ends with reply `number`, dropping the oldest ones as needed. One that is larger
    /// than the limit by itself is not stored.
    pub(crate) fn keep(&self, number: u64, messages: Vec<Message>) {
        let size = messages.iter().map(message_bytes).sum();
        if size > self.bytes_max || self.entries_max == 0 {
            return;
        }
        let mut state = self.lock();
        // Numbers only grow, so the first entry is the oldest. The loop ends, because an entry that exceeds the limit
        // by itself was refused above.
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

/// Wraps any model so that it stores its replies ([`Capabilities::server_state`]), in memory and within limits; the
/// oldest are dropped first. A stream of its replies is one burst.
pub struct KeepsReplies {
    model: Arc<dyn Model>,
    replies: KeptReplies,
}

impl KeepsReplies {
    /// Stores the replies of `model`: at most [`KEPT_REPLIES_MAX`] in [`KEPT_BYTES_MAX`] bytes.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self::with_limits(model, KEPT_REPLIES_MAX, KEPT_BYTES_MAX)
    }

    /// The same with these limits on replies and bytes of conversation.
    pub fn with_limits(model: Arc<dyn Model>, replies_max: usize, bytes_max: usize) -> Self {
        Self { model, replies: KeptReplies::new(replies_max, bytes_max) }
    }

    /// The whole conversation that the request continues.
    fn whole(&self, request: &ChatRequest) -> Result<ChatRequest, ModelError> {
        let mut messages = match &request.previous {
            None => Vec::new(),
            Some(id) => number_of(id)
                .and_then(|number| self.replies.conversation(number))
                .ok_or_else(|| self.forgotten(id))?,
        };
        messages.extend_from_slice(&request.messages);
        Ok(ChatRequest { messages, previous: None, ..request.clone() })
    }

    fn forgotten(&self, ReplyId(id): &ReplyId) -> ModelError {
        let KeptReplies { entries_max, bytes_max, .. } = self.replies;
        ModelError::Configuration {
            what: format!(
                "{} no longer keeps the reply {id} that the conversation goes on from: at most {entries_max} replies \
                 and {bytes_max} bytes are kept",
                self.model.name()
            ),
        }
    }
}

fn id_of(number: u64) -> ReplyId {
    ReplyId(format!("kept_{number}"))
}

fn number_of(ReplyId(id): &ReplyId) -> Option<u64> {
    id.strip_prefix("kept_")?.parse().ok()
}

impl Model for KeepsReplies {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { server_state: true, ..self.model.capabilities() }
    }

    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        Box::pin(async move {
            self.model.settle().await?;
            Ok(self.capabilities())
        })
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        self.model.server_facts()
    }

    fn is_simulated(&self) -> bool {
        self.model.is_simulated()
    }

    fn takes_temperature(&self) -> bool {
        self.model.takes_temperature()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.model.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let whole = self.whole(request)?;
            let mut reply = self.model.chat(&whole).await?;
            let number = self.replies.next();
            reply.id = Some(id_of(number));
            let mut messages = whole.messages;
            let (text, calls, state) = (reply.text.clone(), reply.calls.clone(), reply.state.clone());
            messages.push(Message::Assistant { text, calls, state });
            self.replies.keep(number, messages);
            Ok(reply)
        })
    }

    /// One burst: the reply is kept before anybody sees its id.
    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let reply = self.chat(request).await?;
            let stream: BoxStream<'a, _> = Box::pin(futures::stream::iter(reply.into_deltas().map(Ok)));
            Ok(stream)
        })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        self.model.complete(request)
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        self.model.complete_stream(request)
    }
}

fn message_bytes(message: &Message) -> usize {
    let content = match message {
        Message::System { text } | Message::User { text } => text.len(),
        Message::Tool { id, text } => id.as_str().len() + text.len(),
        Message::Assistant { text, calls, state } => {
            text.len() + calls.iter().map(call_bytes).sum::<usize>() + state.bytes()
        }
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

/// The approximate size of a value in memory. The parser limits its depth to 128 levels.
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
        let replies = KeptReplies::new(3, 10 * MESSAGE_BYTES);
        for number in 1..=4 {
            assert_eq!(replies.next(), number);
            replies.keep(number, text(0));
        }
        let kept = |number| replies.conversation(number).is_some();
        assert!(!kept(1) && kept(2) && kept(3) && kept(4));
        replies.keep(5, text(8 * MESSAGE_BYTES));
        assert!(!kept(2) && !kept(3) && kept(4) && kept(5));
        replies.keep(6, text(10 * MESSAGE_BYTES));
        assert!(kept(4) && kept(5) && !kept(6), "what can never fit pushes nothing out");
        let state = replies.lock();
        assert_eq!(state.bytes, state.entries.values().map(|(_, bytes)| bytes).sum::<usize>());
    }
}
