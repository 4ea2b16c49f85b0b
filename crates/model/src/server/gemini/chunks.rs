//! Generated content as the events of a stream. The protocol sends calls whole; so text is passed on as it comes, and
//! calls at the end.

use planproof_trace::{FinishReason, Usage};

use super::reply::{Envelope, Part};
use crate::chat::text_and_calls;
use crate::server::error::ApiError;
use crate::server::shared::Shared;
use crate::server::sse::{Events, Narrator};
use crate::server::target::Protocol;
use crate::{ChatDelta, ChatRequest};

/// Sends one reply.
pub(super) struct ChunkNarrator {
    envelope: Envelope,
    /// The pieces of calls so far.
    calls: Vec<ChatDelta>,
}

impl ChunkNarrator {
    pub(super) fn new(envelope: Envelope) -> Self {
        Self { envelope, calls: Vec::new() }
    }
}

impl Narrator for ChunkNarrator {
    type Request = ChatRequest;

    fn begin(&mut self, _: &mut Events) {}

    fn tell(&mut self, delta: ChatDelta, out: &mut Events) {
        match delta {
            ChatDelta::Text(text) if text.is_empty() => {}
            ChatDelta::Text(text) => out.data(&self.envelope.piece(vec![Part::Text(&text)], None)),
            call => self.calls.push(call),
        }
    }

    fn end(self, finish: FinishReason, usage: Usage, _: ChatRequest, _: &Shared, out: &mut Events) {
        let (_, calls) = text_and_calls(&self.calls);
        let mut parts: Vec<Part<'_>> = calls.iter().map(Part::call).collect();
        if parts.is_empty() {
            parts.push(Part::Text(""));
        }
        out.data(&self.envelope.piece(parts, Some((finish, usage))));
    }

    /// The clients expect an error beside the events, not in one.
    fn fail(self, error: &ApiError, out: &mut Events) {
        out.bare(&error.body(Protocol::Gemini));
    }
}
