//! A streamed reply: from server-sent events to deltas, and replies whose framing is not the one that was asked for.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::stream;
use http_body_util::BodyExt;
use planproof_trace::json::{mended, unmarked};
use planproof_trace::{CallId, FinishReason, Usage};
use serde::de::IgnoredAny;

use super::ending::{Ending, Said, finish};
use super::events::{Event, EventReader, Framing, events_in};
use super::fault::reported_error;
use super::key::{Clean, CleanedPieces};
use super::silence::Silence;
use super::thoughts::Thoughts;
use crate::chat::{state_of, text_and_calls};
use crate::http::{Endpoint, ReplyBody};
use crate::{BoxStream, ChatDelta, ChatReply, CompletionReply, ModelError, ReplyId, TurnState, run_time};

/// A reply that can be told whole and in pieces.
pub(crate) trait Answer: Clean + Sized + Send {
    /// The reply that these deltas, of which the last one is an end, add up to.
    fn of_deltas(deltas: &[ChatDelta], end: (FinishReason, Usage, Option<ReplyId>)) -> Self;

    /// The reply in pieces.
    fn into_deltas(self) -> VecDeque<ChatDelta>;
}

impl Answer for ChatReply {
    fn of_deltas(deltas: &[ChatDelta], (finish, usage, id): (FinishReason, Usage, Option<ReplyId>)) -> Self {
        let (text, calls) = text_and_calls(deltas);
        Self { text, calls, finish, usage, id, state: state_of(deltas) }
    }

    fn into_deltas(self) -> VecDeque<ChatDelta> {
        self.into_deltas().collect()
    }
}

impl Answer for CompletionReply {
    fn of_deltas(deltas: &[ChatDelta], (finish, usage, _): (FinishReason, Usage, Option<ReplyId>)) -> Self {
        let (text, _) = text_and_calls(deltas);
        Self { text, finish, usage, prompt_tokens: Vec::new() }
    }

    fn into_deltas(self) -> VecDeque<ChatDelta> {
        let Self { text, finish, usage, prompt_tokens: _ } = self;
        ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() }
            .into_deltas()
            .collect()
    }
}

/// Reads one protocol's events.
pub(crate) trait Decoder: Send {
    /// Takes one event: its name, if it has one, and its data. [`Deltas::end`] ends the reading.
    ///
    /// # Errors
    /// An event that does not follow the protocol, or an error that the server reports.
    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError>;

    /// The connection was closed properly. Ends the reply if it is complete without a last event.
    ///
    /// # Errors
    /// Those of [`Deltas::end`].
    fn close(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError>;
}

/// The deltas of a reply on their way to the reader, without the key.
pub(crate) struct Deltas<'a> {
    pub(crate) endpoint: &'a Endpoint,
    ready: VecDeque<ChatDelta>,
    thoughts: Thoughts<'a>,
    text: CleanedPieces,
    arguments: Vec<CleanedPieces>,
    said: Said,
    /// What the server wants back with the turn.
    pub(crate) state: TurnState,
    ended: bool,
}

impl<'a> Deltas<'a> {
    /// Of a reply from `endpoint`. The text of one that `may_think` is kept as long as it may turn out to be a thought.
    fn new(endpoint: &'a Endpoint, may_think: bool) -> Self {
        Self {
            endpoint,
            ready: VecDeque::new(),
            thoughts: Thoughts::new(endpoint.thinking(), may_think),
            text: CleanedPieces::default(),
            arguments: Vec::new(),
            said: Said::Nothing,
            state: TurnState::default(),
            ended: false,
        }
    }

    /// More words.
    pub(crate) fn text(&mut self, piece: String) {
        self.said = self.said.and(&piece);
        let piece = self.thoughts.push(piece);
        self.words(piece);
    }

    /// Thoughts that come apart from the words.
    pub(crate) fn thought(&mut self) {
        self.said = self.said.and_thought();
        self.thoughts.are_apart();
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
    pub(super) fn call(&mut self, index: usize, mut id: CallId, mut name: String) {
        // The words come before the calls.
        let words = self.thoughts.release();
        self.words(words);
        self.endpoint.key().clean_id(&mut id);
        self.endpoint.key().clean(&mut name);
        self.ready.push_back(ChatDelta::CallStart { index, id, name });
    }

    pub(super) fn arguments(&mut self, index: usize, piece: String) {
        // The number of calls is limited, so a server cannot make this long.
        if self.arguments.len() <= index {
            self.arguments.resize_with(index + 1, CleanedPieces::default);
        }
        let fragment = self.arguments[index].push(self.endpoint.key(), piece);
        if !fragment.is_empty() {
            self.ready.push_back(ChatDelta::CallArguments { index, fragment });
        }
    }

    /// The error for a stream that is closed without having said why the reply ended, although it holds an event which
    /// is not of the protocol, or a part of a call: it was cut on its way, however properly it was closed.
    pub(crate) fn unfinished(&self, foreign: Option<&str>) -> ModelError {
        let foreign = foreign.map(|data| format!("; it holds {data}")).unwrap_or_default();
        self.endpoint.broken_off(&format!(
            "the stream was ended in the middle of the reply, without a reason to finish{foreign}"
        ))
    }

    /// The reply is complete, and ended for this reason; `has_calls` if there are any.
    ///
    /// # Errors
    /// [`ModelError::Failed`] for a reason that is a failure of the provider, and for a reply of nothing at all.
    pub(crate) fn end(
        &mut self,
        ending: Option<Ending>,
        has_calls: bool,
        usage: Usage,
        id: Option<ReplyId>,
    ) -> Result<(), ModelError> {
        let finish =
            finish(ending, has_calls, self.said, usage).map_err(|what| self.endpoint.failed(&what))?;
        self.end_with(finish, usage, id);
        Ok(())
    }

    /// The reply is complete, and its reason is one of ours.
    pub(crate) fn end_with(&mut self, finish: FinishReason, usage: Usage, id: Option<ReplyId>) {
        // The end of the text may still be waiting, because a mark or the key could have begun there.
        let rest = self.thoughts.finish(finish == FinishReason::Length);
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
        let mut state = std::mem::take(&mut self.state).with_thoughts(&self.thoughts.take_removed());
        if !state.is_empty() {
            self.endpoint.key().clean_state(&mut state);
            self.ready.push_back(ChatDelta::State(state));
        }
        let id = id.map(|ReplyId(mut id)| {
            self.endpoint.key().clean(&mut id);
            ReplyId(id)
        });
        self.ready.push_back(ChatDelta::End { finish, usage, id });
        self.ended = true;
    }
}

/// Reads the whole of a reply, in whichever framing it came: `read` reads a document, a decoder reads events.
///
/// # Errors
/// Those of both; [`ModelError::Failed`] for an empty body.
pub(crate) fn understood<T: Answer, D: Decoder>(
    endpoint: &Endpoint,
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<T, ModelError>,
    decoder: impl Fn() -> D,
) -> Result<T, ModelError> {
    let bytes = unmarked(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(endpoint.failed("an empty body"));
    }
    match Framing::of(bytes) {
        Some(Framing::Events) => return of_events(endpoint, &events_in(bytes), decoder),
        Some(Framing::Document) => {}
        // It ends within the name of a field.
        None => return Err(endpoint.broken_off(CLOSED)),
    }
    let result = read(bytes).or_else(|error| match (&error, mended(bytes)) {
        (ModelError::Malformed { .. }, Some(mended)) => read(&mended),
        _ => Err(error),
    });
    match result {
        // A document on each line is a stream without a frame.
        Err(ModelError::Malformed { .. }) if has_documents(bytes) => {
            of_events(endpoint, &events_in(bytes), decoder)
        }
        Err(error @ ModelError::Malformed { .. }) => {
            Err(reported_error(bytes).map_or(error, |fault| fault.into_model_error(endpoint)))
        }
        result => result,
    }
}

/// Whether there is more than one document, each on a line of its own.
fn has_documents(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let mut first = lines
        .take(2)
        .map(|line| line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok());
    first.next() == Some(true) && first.next() == Some(true)
}

/// The reply that is told by these events.
fn of_events<T: Answer, D: Decoder>(
    endpoint: &Endpoint,
    events: &[Event],
    decoder: impl Fn() -> D,
) -> Result<T, ModelError> {
    let mut decoder = decoder();
    // Nothing is passed on before the end, so nothing need be kept from being passed on too early.
    let mut deltas = Deltas::new(endpoint, true);
    for event in events {
        take(&mut decoder, event, &mut deltas)?;
        if deltas.ended {
            break;
        }
    }
    if !deltas.ended {
        decoder.close(&mut deltas)?;
    }
    let mut ready = Vec::from(deltas.ready);
    match ready.pop() {
        Some(ChatDelta::End { finish, usage, id }) => Ok(T::of_deltas(&ready, (finish, usage, id))),
        _ => Err(endpoint.broken_off(CLOSED)),
    }
}

/// Hands an event on. One that is not of the protocol may tell an error instead.
fn take<D: Decoder>(decoder: &mut D, event: &Event, deltas: &mut Deltas<'_>) -> Result<(), ModelError> {
    if event.is_empty() {
        return Ok(());
    }
    decoder.take(event.name.as_deref(), &event.data, deltas).map_err(|error| match &error {
        ModelError::Malformed { .. } => {
            reported_error(event.data.as_bytes()).map_or(error, |fault| fault.within_reply(deltas.endpoint))
        }
        _ => error,
    })
}

/// Why a stream without an end is none.
const CLOSED: &str = "the connection closed in the middle of the reply";

/// Everything that a stream owns between two deltas.
pub(crate) struct Reading<'a, D> {
    body: ReplyBody,
    events: EventReader,
    decoder: D,
    deltas: Deltas<'a>,
    silence: Silence,
    broken: bool,
}

impl<'a, D: Decoder + 'a> Reading<'a, D> {
    /// Reads `body`, each of whose events ends a silence. `read` reads a reply that is one document. The text of a
    /// reply that `may_think` is kept as long as it may turn out to be a thought.
    ///
    /// # Errors
    /// Those of reading, until something can be passed on.
    pub(crate) async fn begin<T: Answer>(
        endpoint: &'a Endpoint,
        body: ReplyBody,
        read: impl Fn(&[u8]) -> Result<T, ModelError>,
        decoder: impl Fn() -> D,
        may_think: bool,
        silence: Silence,
    ) -> Result<Self, ModelError> {
        let mut reading = Self {
            body,
            events: EventReader::default(),
            decoder: decoder(),
            deltas: Deltas::new(endpoint, may_think),
            silence,
            broken: false,
        };
        // The framing shows in the first bytes.
        let mut beginning = Vec::new();
        let framing = loop {
            if let Some(framing) = Framing::of(&beginning) {
                break framing;
            }
            match reading.data().await? {
                Some(data) => beginning.extend_from_slice(&data),
                None => break Framing::Document,
            }
        };
        if framing == Framing::Document {
            reading.silence.renew_for(&beginning);
            while let Some(data) = reading.data().await? {
                reading.silence.renew_for(&data);
                beginning.extend_from_slice(&data);
            }
            let mut reply = understood(endpoint, &beginning, read, decoder)?;
            reply.clean(endpoint.key());
            reading.deltas.ready = reply.into_deltas();
            reading.deltas.ended = true;
            return Ok(reading);
        }
        reading.events.push(&beginning);
        reading.fill().await?;
        Ok(reading)
    }

    /// The next bytes of the body; `None` at its end.
    async fn data(&mut self) -> Result<Option<Bytes>, ModelError> {
        let endpoint = self.deltas.endpoint;
        loop {
            let frame = self.silence.until(endpoint, self.body.frame()).await?;
            // A reply above the size limit arrives here as well, and is not the same as a lost connection: repeating
            // it is useless.
            let Some(frame) = frame.transpose().map_err(|error| endpoint.broken(&error))? else {
                return Ok(None);
            };
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }

    /// Reads until something can be passed on.
    async fn fill(&mut self) -> Result<(), ModelError> {
        // An event need not yield a delta: a ping, a thought, a piece that may be the beginning of the key.
        while self.deltas.ready.is_empty() && !self.deltas.ended {
            if let Some(event) = self.events.next() {
                // Marks that only keep the connection open say nothing of the model.
                if !is_ping(event.name.as_deref(), &event.data) {
                    self.silence.renew();
                }
                take(&mut self.decoder, &event, &mut self.deltas)?;
                continue;
            }
            match self.data().await? {
                Some(data) => self.events.push(&data),
                None => self.close()?,
            }
        }
        Ok(())
    }

    /// The body has ended.
    fn close(&mut self) -> Result<(), ModelError> {
        self.events.finish();
        while let Some(event) = self.events.next() {
            take(&mut self.decoder, &event, &mut self.deltas)?;
            if self.deltas.ended {
                return Ok(());
            }
        }
        self.decoder.close(&mut self.deltas)?;
        match self.deltas.ended {
            true => Ok(()),
            false => Err(self.deltas.endpoint.broken_off(CLOSED)),
        }
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
        if let Err(error) = self.fill().await {
            self.broken = true;
            return Some(Err(error));
        }
        // Nothing is ready only if the reply has ended, and this ends the stream.
        self.deltas.ready.pop_front().map(Ok)
    }
}

/// Whether an event is only sent to keep the connection open.
fn is_ping(name: Option<&str>, data: &str) -> bool {
    let is_named = |name: &str| ["ping", "keepalive", "keep-alive", "heartbeat"].contains(&name);
    name.is_some_and(is_named)
        || matches!(data.trim(), "" | "{}" | "null")
        // Servers leave out the event's name, and the type says the same.
        || (data.len() < 64 && data.contains("\"ping\""))
}
