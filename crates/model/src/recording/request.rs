//! A request without secrets, and its key.

use std::borrow::Cow;

use planproof_trace::Secrets;

use super::key::{self, Key, KnownTools, ToolLists};
use super::redact;
use crate::{ChatRequest, CompletionRequest, Message, ReplyId, Settings};

/// A request with its keys.
pub(super) struct KeyedRequest<'a> {
    /// The same for equal requests, wherever they are made.
    pub(super) key: Key,
    /// The same for requests of one model with the same settings and tools.
    pub(super) setup: Key,
    pub(super) settings: Cow<'a, Settings>,
    pub(super) body: RequestBody<'a>,
}

/// What is asked.
pub(super) enum RequestBody<'a> {
    /// To go on with a conversation.
    Chat {
        messages: Cow<'a, [Message]>,
        tools: KnownTools,
        /// The reply that the server continues from.
        previous: Option<&'a ReplyId>,
        /// The keys of the conversation's beginnings, from none of its messages to all.
        keys: Vec<Key>,
    },
    /// To continue a plain text.
    Completion { prompt: Cow<'a, str>, score_prompt: bool },
}

impl<'a> KeyedRequest<'a> {
    /// A request whose conversation continues from `start`.
    pub(super) fn chat(
        model: &str,
        request: &'a ChatRequest,
        start: Key,
        lists: &ToolLists,
        secrets: &Secrets,
    ) -> Self {
        let messages = redact::messages(&request.messages, secrets);
        let mut keys = Vec::with_capacity(messages.len() + 1);
        let mut last = start;
        keys.push(last);
        for message in &*messages {
            last = key::longer(last, message);
            keys.push(last);
        }
        let tools = lists.get(&request.tools, secrets);
        let settings = redact::settings(&request.settings, secrets);
        let setup = key::setup(model, tools.key, &settings);
        let previous = request.previous.as_ref();
        let body = RequestBody::Chat { messages, tools, previous, keys };
        Self { key: key::chat(setup, last), setup, settings, body }
    }

    pub(super) fn completion(model: &str, request: &'a CompletionRequest, secrets: &Secrets) -> Self {
        let prompt = secrets.redact(&request.prompt);
        let settings = redact::settings(&request.settings, secrets);
        let setup = key::setup(model, key::tools(&[]), &settings);
        let key = key::completion(setup, &prompt, request.score_prompt);
        let body = RequestBody::Completion { prompt, score_prompt: request.score_prompt };
        Self { key, setup, settings, body }
    }
}
