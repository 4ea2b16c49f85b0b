//! A streamed reply: from server-sent events to deltas.

use std::collections::VecDeque;
use std::time::Duration;

use futures::{StreamExt, stream};
use planproof_trace::{CallId, FinishReason, Usage};
use sse_stream::SseStream;
use tokio::time::{Instant, timeout_at};

use super::key::CleanedPieces;
use super::thoughts::Thoughts;
use crate::http::{BodyError, Endpoint, ReplyBody};
use crate::{BoxStream, ChatDelta, ChatRequest, Message, ModelError, ReplyId, run_time};

/// Most tool calls of one reply.
const CALLS_MAX: usize = 1000;

/// Reads one protocol's events.
pub(crate) trait Decoder: Send {
    /// Takes one event: its name, if it has one, and its data. [`Deltas::end`] ends the reading.
    ///
    /// # Errors
    /// An event that does not follow the protocol, or an error that the server reports.
    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError>;

    /// The connection was closed properly. Ends the reply if it is complete without a last event.
    fn close(&mut self, out: &mut Deltas<'_>);
}

/// The deltas of a reply on their way to the reader, without the key.
pub(crate) struct Deltas<'a> {
    pub(crate) endpoint: &'a Endpoint,
    ready: VecDeque<ChatDelta>,
    thoughts: Thoughts,
    text: CleanedPieces,
    arguments: Vec<CleanedPieces>,
    ended: bool,
}

impl Deltas<'_> {
    /// More words.
    pub(crate) fn text(&mut self, piece: String) {
        let piece = self.thoughts.push(piece);
        self.words(piece);
    }

    fn words(&mut self, piece: String) {
        if piece.is_empty() {
            return;
        }
        let piece = self.text.push(self.endpoint.key(), piece);
        if !piece.is_empty() {
            self.ready.push_back(ChatDelta::Text(piece));
        }
    }

    /// The call at that index begins; indices count from 0.
    fn call(&mut self, index: usize, mut id: CallId, mut name: String) {
        self.endpoint.key().clean_id(&mut id);
        self.endpoint.key().clean(&mut name);
        self.ready.push_back(ChatDelta::CallStart { index, id, name });
    }

    fn arguments(&mut self, index: usize, piece: String) {
        // `index` is below `CALLS_MAX`, so a server cannot make this long.
        if self.arguments.len() <= index {
            self.arguments.resize_with(index + 1, CleanedPieces::default);
        }
        let fragment = self.arguments[index].push(self.endpoint.key(), piece);
        if !fragment.is_empty() {
            self.ready.push_back(ChatDelta::CallArguments { index, fragment });
        }
    }

    /// The reply is complete.
    pub(crate) fn end(&mut self, finish: FinishReason, usage: Usage, id: Option<ReplyId>) {
        // The end of the text may still be waiting, because a mark or the key could have begun there.
        let rest = self.thoughts.finish();
        self.words(rest);
        let rest = self.text.finish();
        if !rest.is_empty() {
            self.ready.push_back(ChatDelta::Text(rest));
        }
        for (index, arguments) in self.arguments.iter_mut().enumerate() {
            let fragment = arguments.finish();
            if !fragment.is_empty() {
                self.ready.push_back(ChatDelta::CallArguments { index, fragment });
            }
        }
        let id = id.map(|ReplyId(mut id)| {
            self.endpoint.key().clean(&mut id);
            ReplyId(id)
        });
        self.ready.push_back(ChatDelta::End { finish, usage, id });
        self.ended = true;
    }
}

/// The calls of a reply that have begun, in order. A call is passed on once its name is known; arguments that come
/// earlier are kept until then.
#[derive(Default)]
pub(crate) struct BegunCalls {
    calls: Vec<BegunCall>,
    announced: usize,
}

struct BegunCall {
    /// The place that the server gives it.
    place: u64,
    id: CallId,
    /// The index that readers know it by, once they know it: the order in which the names came.
    announced: Option<usize>,
    waiting: String,
    has_arguments: bool,
}

impl BegunCalls {
    /// How many have begun.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The newest call at that index of the server's.
    pub(crate) fn at(&self, place: u64) -> Option<usize> {
        self.calls.iter().rposition(|call| call.place == place)
    }

    /// The newest call of that id.
    pub(crate) fn with_id(&self, id: &str) -> Option<usize> {
        self.calls.iter().rposition(|call| call.id.as_str() == id)
    }

    /// The newest call's index at the server and its id.
    pub(crate) fn last(&self) -> Option<(u64, &CallId)> {
        self.calls.last().map(|call| (call.place, &call.id))
    }

    /// The id of call `index`.
    pub(crate) fn id(&self, index: usize) -> &CallId {
        &self.calls[index].id
    }

    /// A call begins at that index of the server's. One without an id gets an id that no other call of `request` has.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] above [`CALLS_MAX`].
    pub(crate) fn begin(
        &mut self,
        place: u64,
        id: Option<String>,
        request: &ChatRequest,
        out: &Deltas<'_>,
    ) -> Result<usize, ModelError> {
        let index = self.calls.len();
        if index >= CALLS_MAX {
            return Err(out.endpoint.malformed(&format!("more than {CALLS_MAX} tool calls in one reply")));
        }
        let id = match id.filter(|id| !id.is_empty()) {
            Some(id) => CallId::new(id),
            None => missing_id(request, index),
        };
        let waiting = String::new();
        self.calls.push(BegunCall { place, id, announced: None, waiting, has_arguments: false });
        Ok(index)
    }

    /// The name of call `index` is known. Only the first name counts.
    pub(crate) fn name(&mut self, index: usize, name: String, out: &mut Deltas<'_>) {
        let call = &mut self.calls[index];
        if call.announced.is_some() {
            return;
        }
        let place = self.announced;
        self.announced += 1;
        call.announced = Some(place);
        out.call(place, call.id.clone(), name);
        let waiting = std::mem::take(&mut call.waiting);
        if !waiting.is_empty() {
            out.arguments(place, waiting);
        }
    }

    /// More of the arguments of call `index`.
    pub(crate) fn arguments(&mut self, index: usize, piece: String, out: &mut Deltas<'_>) {
        let call = &mut self.calls[index];
        call.has_arguments |= !piece.is_empty();
        match call.announced {
            Some(place) => out.arguments(place, piece),
            None => call.waiting.push_str(&piece),
        }
    }

    /// The complete arguments of call `index`, sent at its end. They count only if none came in pieces.
    pub(crate) fn whole_arguments(&mut self, index: usize, whole: String, out: &mut Deltas<'_>) {
        if !self.calls[index].has_arguments {
            self.arguments(index, whole, out);
        }
    }

    /// The reply has ended: calls that never got a name are announced without one.
    pub(crate) fn finish(&mut self, out: &mut Deltas<'_>) {
        for index in 0..self.calls.len() {
            self.name(index, String::new(), out);
        }
    }
}

/// An id for a call that came without one: no other call of the conversation has it.
pub(crate) fn missing_id(request: &ChatRequest, index: usize) -> CallId {
    let earlier: usize = request
        .messages
        .iter()
        .map(|message| if let Message::Assistant { calls, .. } = message { calls.len() } else { 0 })
        .sum();
    CallId::new(format!("unnamed_call_{}", earlier + index))
}

/// Everything that a stream owns between two deltas.
pub(crate) struct Reading<'a, D> {
    events: SseStream<ReplyBody>,
    decoder: D,
    deltas: Deltas<'a>,
    deadline: Instant,
    limit: Duration,
    broken: bool,
}

impl<'a, D: Decoder + 'a> Reading<'a, D> {
    /// Reads `body` until `deadline`, which is `limit` after the beginning of the request.
    pub(crate) fn new(
        endpoint: &'a Endpoint,
        body: ReplyBody,
        decoder: D,
        deadline: Instant,
        limit: Duration,
    ) -> Self {
        let deltas = Deltas {
            endpoint,
            ready: VecDeque::new(),
            thoughts: Thoughts::default(),
            text: CleanedPieces::default(),
            arguments: Vec::new(),
            ended: false,
        };
        Self { events: SseStream::new(body), decoder, deltas, deadline, limit, broken: false }
    }

    /// Reads until something can be passed on.
    pub(crate) async fn begin(&mut self) -> Result<(), ModelError> {
        // An event need not yield a delta: a ping, a thought, a piece that may be the beginning of the key.
        while self.deltas.ready.is_empty() && !self.deltas.ended {
            self.read_event().await?;
        }
        Ok(())
    }

    /// The deltas. An error is the last item. They borrow `request`.
    pub(crate) fn into_stream(
        self,
        request: run_time::Request,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        Box::pin(stream::unfold((self, request), |(mut reading, request)| async move {
            let item = reading.next().await?;
            Some((item, (reading, request)))
        }))
    }

    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        if self.broken {
            return None;
        }
        if let Err(error) = self.begin().await {
            self.broken = true;
            return Some(Err(error));
        }
        // Nothing is ready only if the reply has ended, and this ends the stream.
        self.deltas.ready.pop_front().map(Ok)
    }

    async fn read_event(&mut self) -> Result<(), ModelError> {
        let endpoint = self.deltas.endpoint;
        let Ok(event) = timeout_at(self.deadline, self.events.next()).await else {
            return Err(ModelError::TimedOut { url: endpoint.url().to_owned(), limit: self.limit });
        };
        match event {
            Some(Ok(event)) => match event.data {
                Some(data) => self.decoder.take(event.event.as_deref(), &data, &mut self.deltas),
                // Comments and lone names, which servers send to keep the connection open.
                None => Ok(()),
            },
            None => {
                self.decoder.close(&mut self.deltas);
                if self.deltas.ended {
                    return Ok(());
                }
                Err(endpoint.broken_off("the connection closed in the middle of the reply"))
            }
            // A reply above the size limit arrives here as well, and is not the same as a lost connection: repeating it
            // is useless.
            Some(Err(sse_stream::Error::Body(error))) => Err(match error.downcast_ref::<BodyError>() {
                Some(error) => endpoint.broken(error),
                None => endpoint.broken_off(&error.to_string()),
            }),
            Some(Err(error)) => Err(endpoint.malformed(&format!("no server-sent events: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use planproof_trace::{Arguments, ToolCall};

    use super::*;
    use crate::Settings;

    #[test]
    fn ids_that_were_left_out_differ_over_the_whole_conversation() {
        let call = |id| ToolCall { id, name: "n".into(), arguments: Arguments::none() };
        let mut request = ChatRequest {
            messages: vec![],
            tools: Arc::from([]),
            settings: Settings::default(),
            previous: None,
        };
        let mut seen = BTreeSet::new();
        for _ in 0..3 {
            let ids: Vec<_> = (0..2).map(|index| missing_id(&request, index)).collect();
            assert!(ids.iter().all(|id| seen.insert(id.clone())), "{ids:?} again");
            let calls = ids.into_iter().map(call).collect();
            request.messages.push(Message::Assistant { text: String::new(), calls });
        }
    }
}
