//! A reply that is still being written: server-sent events to deltas.

use std::collections::VecDeque;

use futures::{StreamExt, stream};
use planproof_trace::{CallId, Usage};
use serde::Deserialize;
use sse_stream::SseStream;
use tokio::time::{Instant, timeout_at};

use super::OpenAiModel;
use super::wire::reply::{ReplyFunction, WireError, WireFinish, WireUsage, missing_id};
use crate::content::{Content, arguments_text};
use crate::http::{BodyError, Endpoint, ReplyBody};
use crate::{BoxStream, ChatDelta, ChatRequest, ModelError};

/// Most tool calls of one reply.
const CALLS_MAX: usize = 1000;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<ChunkChoice<'a>>>,
    usage: Option<WireUsage>,
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct ChunkChoice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    finish_reason: Option<WireFinish>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    content: Option<Content>,
    refusal: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    index: Option<u64>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<ReplyFunction<'a>>,
}

/// A call that has begun. It is announced once its name is known; arguments that come earlier wait.
struct OpenCall {
    /// The place the server gave it; ours is its place in the list.
    place: u64,
    id: CallId,
    name: String,
    waiting: String,
    announced: bool,
}

/// Turns the events' data into deltas.
struct Decoder<'a> {
    endpoint: &'a Endpoint,
    request: &'a ChatRequest,
    calls: Vec<OpenCall>,
    finish: Option<WireFinish>,
    usage: Usage,
    ready: VecDeque<ChatDelta>,
}

impl Decoder<'_> {
    /// Takes one event's data. Returns whether it was the last.
    fn take(&mut self, data: &str) -> Result<bool, ModelError> {
        if data.trim() == "[DONE]" {
            self.end();
            return Ok(true);
        }
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| {
            self.endpoint.malformed(&format!("no part of a chat completion: {error}: {data}"))
        })?;
        if let Some(error) = chunk.error {
            return Err(error.into_model_error(self.endpoint));
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
        }
        for choice in chunk.choices.into_iter().flatten() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.delta {
                let texts = [delta.content.map(|content| content.into_text("")), delta.refusal];
                let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
                self.ready.extend(texts.map(ChatDelta::Text));
                for call in delta.tool_calls.into_iter().flatten() {
                    self.take_call(call)?;
                }
            }
            let reason = choice.finish_reason.filter(|reason| *reason != WireFinish::Unfinished);
            self.finish = reason.or(self.finish);
        }
        Ok(false)
    }

    fn take_call(&mut self, delta: CallDelta<'_>) -> Result<(), ModelError> {
        let given_id = delta.id.filter(|id| !id.is_empty());
        // A server that gives no places sends each call's id once, at its beginning.
        let place = delta.index.unwrap_or_else(|| {
            let is_new = given_id.is_some() || self.calls.is_empty();
            self.calls.last().map_or(0, |last| last.place.saturating_add(u64::from(is_new)))
        });
        let index = match self.calls.iter().position(|call| call.place == place) {
            Some(index) => index,
            None if self.calls.len() >= CALLS_MAX => {
                return Err(self
                    .endpoint
                    .malformed(&format!("more than {CALLS_MAX} tool calls in one reply")));
            }
            None => {
                let index = self.calls.len();
                let id = given_id.map_or_else(|| missing_id(self.request, index), CallId::new);
                let (name, waiting) = (String::new(), String::new());
                self.calls.push(OpenCall { place, id, name, waiting, announced: false });
                index
            }
        };
        let call = &mut self.calls[index];
        let Some(function) = delta.function else { return Ok(()) };
        let fragment = match function.arguments {
            None => String::new(),
            Some(raw) => arguments_text(raw)
                .map_err(|error| self.endpoint.malformed(&format!("a call's arguments: {error}")))?
                .into_owned(),
        };
        if call.announced {
            if !fragment.is_empty() {
                self.ready.push_back(ChatDelta::CallArguments { index, fragment });
            }
            return Ok(());
        }
        call.waiting.push_str(&fragment);
        if let Some(name) = function.name.filter(|name| !name.is_empty()) {
            call.name = name;
            announce(index, call, &mut self.ready);
        }
        Ok(())
    }

    fn end(&mut self) {
        for (index, call) in self.calls.iter_mut().enumerate() {
            if !call.announced {
                announce(index, call, &mut self.ready);
            }
        }
        let finish = WireFinish::reason(self.finish, !self.calls.is_empty());
        self.ready.push_back(ChatDelta::End { finish, usage: self.usage, id: None });
    }
}

fn announce(index: usize, call: &mut OpenCall, ready: &mut VecDeque<ChatDelta>) {
    call.announced = true;
    let name = std::mem::take(&mut call.name);
    ready.push_back(ChatDelta::CallStart { index, id: call.id.clone(), name });
    let fragment = std::mem::take(&mut call.waiting);
    if !fragment.is_empty() {
        ready.push_back(ChatDelta::CallArguments { index, fragment });
    }
}

/// Everything a stream owns between two deltas.
struct Reading<'a> {
    model: &'a OpenAiModel,
    events: SseStream<ReplyBody>,
    decoder: Decoder<'a>,
    deadline: Instant,
    ended: bool,
}

impl Reading<'_> {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        loop {
            if let Some(delta) = self.decoder.ready.pop_front() {
                return Some(Ok(delta));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.read_event().await {
                self.ended = true;
                self.decoder.ready.clear();
                return Some(Err(error));
            }
        }
    }

    async fn read_event(&mut self) -> Result<(), ModelError> {
        let endpoint = &self.model.endpoint;
        let Ok(event) = timeout_at(self.deadline, self.events.next()).await else {
            return Err(self.model.timed_out());
        };
        match event {
            Some(Ok(event)) => {
                if let Some(data) = event.data {
                    self.ended = self.decoder.take(&data)?;
                }
            }
            // Several servers leave out `[DONE]`; the reason to finish says as surely that the reply is whole.
            None if self.decoder.finish.is_some() => {
                self.decoder.end();
                self.ended = true;
            }
            None => return Err(endpoint.unreachable("the connection closed in the middle of the reply")),
            Some(Err(sse_stream::Error::Body(error))) => {
                return Err(match error.downcast_ref::<BodyError>() {
                    Some(error) => endpoint.broken(error),
                    None => endpoint.unreachable(&error.to_string()),
                });
            }
            Some(Err(error)) => return Err(endpoint.malformed(&format!("no server-sent events: {error}"))),
        }
        Ok(())
    }
}

/// The deltas of a streamed reply.
pub(super) fn deltas<'a>(
    model: &'a OpenAiModel,
    request: &'a ChatRequest,
    body: ReplyBody,
    deadline: Instant,
) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
    let decoder = Decoder {
        endpoint: &model.endpoint,
        request,
        calls: Vec::new(),
        finish: None,
        usage: Usage::default(),
        ready: VecDeque::new(),
    };
    let reading = Reading { model, events: SseStream::new(body), decoder, deadline, ended: false };
    Box::pin(stream::unfold(reading, |mut reading| async move {
        let item = reading.next().await?;
        Some((item, reading))
    }))
}
