//! A model that says what it is told to and refuses conversations that make no sense.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use futures::stream;
use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, Message, Model, ModelError,
    TurnState,
};
use planproof_trace::{Arguments, CallId, FinishReason, ToolCall, Usage};

/// Answers in order and keeps what it was asked.
pub(crate) struct Scripted {
    script: Vec<Result<ChatReply, ModelError>>,
    asked: Mutex<Vec<ChatRequest>>,
    /// Ends streams with an error in the place of their last delta.
    pub(crate) breaks_off: bool,
}

impl Scripted {
    pub(crate) fn new(script: Vec<Result<ChatReply, ModelError>>) -> Self {
        Self { script, asked: Mutex::default(), breaks_off: false }
    }

    pub(crate) fn asked(&self) -> Vec<ChatRequest> {
        self.asked.lock().expect("not poisoned").clone()
    }

    fn next(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        if let Some(what) = fault(&request.messages) {
            return Err(ModelError::Configuration { what });
        }
        let mut asked = self.asked.lock().expect("not poisoned");
        asked.push(request.clone());
        self.script[(asked.len() - 1) % self.script.len()].clone()
    }
}

/// What is wrong with a conversation: each call must be answered exactly once before anybody else speaks.
fn fault(messages: &[Message]) -> Option<String> {
    let mut open = BTreeSet::new();
    for (place, message) in messages.iter().enumerate() {
        if let Message::Tool { id, .. } = message {
            if !open.remove(id) {
                return Some(format!("message {place} answers {id}, which is no open call"));
            }
            continue;
        }
        if let Some(id) = open.first() {
            return Some(format!("message {place} comes before the answer to {id}"));
        }
        if let Message::Assistant { calls, .. } = message {
            open.extend(calls.iter().map(|call| call.id.clone()));
        }
    }
    open.first().map(|id| format!("{id} was never answered"))
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "sim/scripted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, streaming: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move { self.next(request) })
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let mut deltas = in_pieces(self.next(request)?);
            if self.breaks_off {
                let last = deltas.len() - 1;
                deltas[last] =
                    Err(ModelError::TimedOut { url: "u".into(), limit: std::time::Duration::ZERO });
            }
            Ok(Box::pin(stream::iter(deltas)) as BoxStream<'a, _>)
        })
    }
}

/// A reply in pieces of at most four characters, the arguments of its calls by turns.
fn in_pieces(reply: ChatReply) -> Vec<Result<ChatDelta, ModelError>> {
    let pieces = |text: &str| -> Vec<String> {
        text.chars().collect::<Vec<_>>().chunks(4).map(|piece| piece.iter().collect()).collect()
    };
    let mut deltas: Vec<_> = pieces(&reply.text).into_iter().map(ChatDelta::Text).collect();
    let mut arguments = Vec::new();
    for (index, call) in reply.calls.into_iter().enumerate() {
        arguments.push(pieces(&call.arguments.to_text()).into_iter());
        deltas.push(ChatDelta::CallStart { index, id: call.id, name: call.name });
    }
    loop {
        let before = deltas.len();
        for (index, rest) in arguments.iter_mut().enumerate() {
            deltas.extend(rest.next().map(|fragment| ChatDelta::CallArguments { index, fragment }));
        }
        if deltas.len() == before {
            break;
        }
    }
    deltas.extend((!reply.state.is_empty()).then_some(ChatDelta::State(reply.state)));
    deltas.push(ChatDelta::End { finish: reply.finish, usage: reply.usage, id: reply.id });
    deltas.into_iter().map(Ok).collect()
}

/// A reply of words and calls (id, name, arguments).
pub(crate) fn says(text: &str, calls: &[(&str, &str, &str)]) -> ChatReply {
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, name, arguments)| ToolCall {
            id: CallId::new(*id),
            name: (*name).to_owned(),
            arguments: Arguments::from_text(arguments),
        })
        .collect();
    ChatReply {
        text: text.to_owned(),
        finish: if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls },
        calls,
        usage: Usage::new(5, 2),
        id: None,
        state: TurnState::default(),
    }
}

/// A shared model with this script.
pub(crate) fn scripted(replies: Vec<ChatReply>) -> Arc<Scripted> {
    Arc::new(Scripted::new(replies.into_iter().map(Ok).collect()))
}
