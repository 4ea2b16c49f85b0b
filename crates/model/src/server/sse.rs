//! Answers as server-sent events.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use futures::{StreamExt, stream};
use planproof_trace::{FinishReason, Usage};
use serde::Serialize;
use tokio::sync::mpsc;

use super::error::ApiError;
use super::shared::Shared;
use crate::{BoxFuture, BoxStream, ChatDelta, ChatRequest, CompletionRequest, Model, ModelError};

/// Pieces of an answer that are buffered for a slow reader before the model has to wait.
const PIECES_WAITING_MAX: usize = 16;

/// The parts of a reply, or why there is none.
type Deltas<'a> = Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>;

/// A request that a model can answer as a stream.
pub(super) trait StreamedRequest: Send + Sync + 'static {
    /// Asks the model for a stream.
    fn stream<'a>(&'a self, model: &'a dyn Model) -> BoxFuture<'a, Deltas<'a>>;
}

impl StreamedRequest for ChatRequest {
    fn stream<'a>(&'a self, model: &'a dyn Model) -> BoxFuture<'a, Deltas<'a>> {
        model.chat_stream(self)
    }
}

impl StreamedRequest for CompletionRequest {
    fn stream<'a>(&'a self, model: &'a dyn Model) -> BoxFuture<'a, Deltas<'a>> {
        model.complete_stream(self)
    }
}

/// Turns a reply's deltas into the events of one protocol.
pub(super) trait Narrator: Send + 'static {
    /// What is replied to.
    type Request: StreamedRequest;

    /// The events before the model's first word.
    fn begin(&mut self, out: &mut Events);

    /// The events for more of the reply. Never sees [`ChatDelta::End`].
    fn tell(&mut self, delta: ChatDelta, out: &mut Events);

    /// The events that end the reply to `request`.
    fn end(
        self,
        finish: FinishReason,
        usage: Usage,
        request: Self::Request,
        shared: &Shared,
        out: &mut Events,
    );

    /// The events that report that the model failed.
    fn fail(self, error: &ApiError, out: &mut Events);
}

/// Events as bytes.
#[derive(Default)]
pub(super) struct Events(Vec<u8>);

impl Events {
    /// An event that has data only.
    pub(super) fn data(&mut self, data: &impl Serialize) {
        self.0.extend_from_slice(b"data: ");
        // The bodies are structures of strings and numbers, which always serialise; JSON has no raw line breaks.
        let rendered = serde_json::to_writer(&mut self.0, data);
        debug_assert!(rendered.is_ok());
        self.0.extend_from_slice(b"\n\n");
    }

    /// An event with a name.
    pub(super) fn named(&mut self, name: &str, data: &impl Serialize) {
        self.0.extend_from_slice(b"event: ");
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(b'\n');
        self.data(data);
    }

    /// A line that is not an event.
    pub(super) fn bare(&mut self, data: &impl Serialize) {
        let rendered = serde_json::to_writer(&mut self.0, data);
        debug_assert!(rendered.is_ok());
        self.0.extend_from_slice(b"\n\n");
    }

    /// The mark that ends a stream of completions of either kind.
    pub(super) fn done(&mut self) {
        self.0.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn take(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.0))
    }
}

/// Asks the model and sends the reply as it is written. An error before the model's first word is an error reply.
pub(super) async fn answer<N: Narrator>(
    shared: &Arc<Shared>,
    request: N::Request,
    narrator: N,
) -> Result<Response, ApiError> {
    let (sender, mut receiver) = mpsc::channel(PIECES_WAITING_MAX);
    // A separate task, because the deltas borrow the request and the model, and a body must not borrow anything.
    tokio::spawn(narrate(Arc::clone(shared), request, narrator, sender));
    let first = receiver.recv().await.ok_or_else(ApiError::broken_off)??;
    let rest = stream::unfold(receiver, |mut receiver| async move {
        let piece = receiver.recv().await?;
        Some((piece, receiver))
    });
    let pieces = stream::once(std::future::ready(Ok(first))).chain(rest);
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

async fn narrate<N: Narrator>(
    shared: Arc<Shared>,
    request: N::Request,
    narrator: N,
    sender: mpsc::Sender<Result<Bytes, ApiError>>,
) {
    tokio::select! {
        () = tell_all(&shared, request, narrator, &sender) => {}
        // The reader has gone: the model need not continue.
        () = sender.closed() => {}
    }
}

/// Sends the reply in pieces. An error is an error reply only if it comes before the first piece: afterwards it is
/// sent within the stream. A failed send means that the reader has gone, and nobody is left to be informed.
async fn tell_all<N: Narrator>(
    shared: &Shared,
    request: N::Request,
    mut narrator: N,
    sender: &mpsc::Sender<Result<Bytes, ApiError>>,
) {
    shared.think().await;
    let mut events = Events::default();
    // A block of its own, so that the borrow of `request` ends before `end` takes the request.
    let last = {
        let mut deltas = match request.stream(shared.model.as_ref()).await {
            Ok(deltas) => deltas,
            Err(error) => {
                let _ = sender.send(Err(error.into())).await;
                return;
            }
        };
        narrator.begin(&mut events);
        loop {
            // Sent even if it is empty: by the first piece, `answer` knows that there will be a reply.
            if sender.send(Ok(events.take())).await.is_err() {
                return;
            }
            match deltas.next().await {
                Some(Ok(ChatDelta::End { finish, usage, .. })) => break Ok((finish, usage)),
                Some(Ok(delta)) => narrator.tell(delta, &mut events),
                Some(Err(error)) => break Err(ApiError::from(error)),
                None => break Err(ApiError::broken_off()),
            }
        }
    };
    match last {
        Ok((finish, usage)) => narrator.end(finish, usage, request, shared, &mut events),
        Err(error) => narrator.fail(&error, &mut events),
    }
    let _ = sender.send(Ok(events.take())).await;
}
