//! Requests and replies as a recording holds them: without the keys that we hold. Everything is redacted before it is
//! hashed, compared or written, so the rest of the recording knows nothing about secrets.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_trace::{CallId, Secrets, Tool, ToolCall};

use super::outcome::{Outcome, StreamEnd, StreamedReply};
use crate::chat::state_of;
use crate::{ChatDelta, Message, Settings, TurnState};

/// The messages without any secret.
pub(super) fn messages<'a>(messages: &'a [Message], secrets: &Secrets) -> Cow<'a, [Message]> {
    // Nearly all conversations are free of secrets, and each is checked with every turn, so it is not copied.
    if !messages.iter().any(|message| message_has_secret(message, secrets)) {
        return Cow::Borrowed(messages);
    }
    let mut messages = messages.to_vec();
    for message in &mut messages {
        match message {
            Message::System { text } | Message::User { text } => redact(text, secrets),
            Message::Assistant { text, calls, state } => {
                redact(text, secrets);
                calls.iter_mut().for_each(|call| redact_call(call, secrets));
                redact_state(state, secrets);
            }
            Message::Tool { id, text } => {
                redact_id(id, secrets);
                redact(text, secrets);
            }
        }
    }
    Cow::Owned(messages)
}

/// The tools without any secret.
pub(super) fn tools(tools: &Arc<[Tool]>, secrets: &Secrets) -> Arc<[Tool]> {
    let schema = |tool: &Tool| tool.input_schema.to_string();
    let has_secret = |tool: &Tool| {
        [&tool.name, &tool.description, &schema(tool)].iter().any(|text| is_found(text, secrets))
    };
    if secrets.is_empty() || !tools.iter().any(has_secret) {
        return Arc::clone(tools);
    }
    let redacted = tools.iter().cloned().map(|mut tool| {
        redact(&mut tool.name, secrets);
        redact(&mut tool.description, secrets);
        Tool { input_schema: secrets.redact_object(tool.input_schema), ..tool }
    });
    redacted.collect()
}

/// The settings without any secret.
pub(super) fn settings<'a>(settings: &'a Settings, secrets: &Secrets) -> Cow<'a, Settings> {
    let mut texts = settings.stop.iter().map(String::as_str).chain(settings.grammar.as_deref());
    if !texts.any(|text| is_found(text, secrets)) {
        return Cow::Borrowed(settings);
    }
    let mut settings = settings.clone();
    settings.stop.iter_mut().for_each(|stop| redact(stop, secrets));
    settings.grammar = settings.grammar.map(|grammar| secrets.redact(&grammar).into());
    Cow::Owned(settings)
}

/// The outcome of a request, without secrets.
pub(super) fn outcome<'a>(outcome: &'a Outcome, secrets: &Secrets) -> Cow<'a, Outcome> {
    if secrets.is_empty() {
        return Cow::Borrowed(outcome);
    }
    let mut outcome = outcome.clone();
    match &mut outcome {
        Outcome::Chat(reply) => {
            redact(&mut reply.text, secrets);
            reply.calls.iter_mut().for_each(|call| redact_call(call, secrets));
            redact_state(&mut reply.state, secrets);
        }
        Outcome::Completion(reply) => {
            redact(&mut reply.text, secrets);
            // A secret spans several tokens. If the text of all tokens contains one, no token is recorded.
            let text: String = reply.prompt_tokens.iter().map(|token| token.text.as_str()).collect();
            if is_found(&text, secrets) {
                reply.prompt_tokens.clear();
            }
        }
        Outcome::Stream(reply) => redact_stream(reply, secrets),
        Outcome::Error { message, status: _ } => redact(message, secrets),
        Outcome::GivenUp => {}
    }
    Cow::Owned(outcome)
}

/// A secret may span several pieces; if there is one at all, the pieces are merged.
fn redact_stream(reply: &mut StreamedReply, secrets: &Secrets) {
    let (mut text, mut calls) = reply.text_and_calls();
    if is_found(&text, secrets) || calls.iter().any(|call| call_has_secret(call, secrets)) {
        redact(&mut text, secrets);
        let state = state_of(&reply.deltas);
        let mut deltas = vec![ChatDelta::Text(text)];
        for (index, call) in calls.iter_mut().enumerate() {
            redact_call(call, secrets);
            let fragment = call.arguments.to_text();
            deltas.push(ChatDelta::CallStart { index, id: call.id.clone(), name: call.name.clone() });
            deltas.push(ChatDelta::CallArguments { index, fragment });
        }
        deltas.extend((!state.is_empty()).then_some(ChatDelta::State(state)));
        reply.deltas = deltas;
    }
    for delta in &mut reply.deltas {
        if let ChatDelta::State(state) = delta {
            redact_state(state, secrets);
        }
    }
    if let StreamEnd::Broken { message } = &mut reply.end {
        redact(message, secrets);
    }
}

fn message_has_secret(message: &Message, secrets: &Secrets) -> bool {
    !secrets.is_empty()
        && match message {
            Message::System { text } | Message::User { text } => is_found(text, secrets),
            Message::Assistant { text, calls, state } => {
                is_found(text, secrets)
                    || calls.iter().any(|call| call_has_secret(call, secrets))
                    || state.texts().any(|text| is_found(text, secrets))
            }
            Message::Tool { id, text } => is_found(id.as_str(), secrets) || is_found(text, secrets),
        }
}

fn call_has_secret(call: &ToolCall, secrets: &Secrets) -> bool {
    [call.id.as_str(), &call.name, &call.arguments.to_text()].iter().any(|text| is_found(text, secrets))
}

fn is_found(text: &str, secrets: &Secrets) -> bool {
    matches!(secrets.redact(text), Cow::Owned(_))
}

fn redact(text: &mut String, secrets: &Secrets) {
    if let Cow::Owned(redacted) = secrets.redact(text) {
        *text = redacted;
    }
}

fn redact_state(state: &mut TurnState, secrets: &Secrets) {
    state.map_texts(|text| match secrets.redact(text) {
        Cow::Owned(redacted) => Some(redacted),
        Cow::Borrowed(_) => None,
    });
}

fn redact_call(call: &mut ToolCall, secrets: &Secrets) {
    redact_id(&mut call.id, secrets);
    redact(&mut call.name, secrets);
    secrets.redact_arguments(&mut call.arguments);
}

fn redact_id(id: &mut CallId, secrets: &Secrets) {
    if let Cow::Owned(redacted) = secrets.redact(id.as_str()) {
        *id = CallId::new(redacted);
    }
}
