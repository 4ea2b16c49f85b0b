//! A model whose exchanges are recorded.

use std::sync::Arc;

use futures::StreamExt;

use super::RecordingError;
use super::file::{RecordingFile, Sent};
use super::outcome::{Outcome, StreamEnd, StreamedReply};
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Model, ModelError, ServerFacts,
};

/// A model whose exchanges are written to a recording. Requests that the recording held when it was opened are
/// answered from it without asking the model: complete replies only, no errors, each once.
///
/// A request that is given up before its reply is written down as well, because a replay must wait there as long as
/// the run did. Our own refusals, as for an exhausted budget, are not.
pub struct RecordingModel {
    inner: Arc<dyn Model>,
    file: RecordingFile,
}

impl RecordingModel {
    /// `inner`, written down in `file`.
    pub fn new(inner: Arc<dyn Model>, file: RecordingFile) -> Self {
        Self { inner, file }
    }

    fn append(&self, sent: &Sent<'_>, outcome: &Outcome) -> Result<(), ModelError> {
        self.file.append_exchange(&*self.inner, sent, outcome).map_err(not_written)
    }
}

// By value, because `map_err` passes it like that.
#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` wants")]
fn not_written(error: RecordingError) -> ModelError {
    ModelError::NotWritten { what: error.to_string() }
}

/// Whether it is our own refusal, which says nothing about the model.
fn is_refusal(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::MissingKey { .. }
            | ModelError::BudgetUsedUp { .. }
            | ModelError::NotRecorded { .. }
            | ModelError::NotWritten { .. }
    )
}

/// A request that waits for its answer. If it is dropped unsettled, it is written down as given up.
struct Pending<'a> {
    model: &'a RecordingModel,
    sent: Option<Sent<'a>>,
    /// The stream so far, once it has begun.
    deltas: Option<Vec<ChatDelta>>,
}

impl<'a> Pending<'a> {
    fn new(model: &'a RecordingModel, sent: Sent<'a>) -> Self {
        Self { model, sent: Some(sent), deltas: None }
    }

    fn settle(&mut self, outcome: &Outcome) -> Result<(), ModelError> {
        match self.sent.take() {
            Some(sent) => self.model.append(&sent, outcome),
            None => Ok(()),
        }
    }

    /// Settles with a reply or an error, and returns it.
    fn settle_with<T: Clone>(
        &mut self,
        result: Result<T, ModelError>,
        outcome: impl FnOnce(T) -> Outcome,
    ) -> Result<T, ModelError> {
        match &result {
            // A reply that cannot be written is not passed on: the run would go beyond what a replay can answer.
            Ok(reply) => self.settle(&outcome(reply.clone()))?,
            // Forgotten, so that the drop does not write it down as given up.
            Err(error) if is_refusal(error) => self.sent = None,
            Err(error) => self.settle(&Outcome::of_error(error))?,
        }
        result
    }

    /// Records a delta on its way to the caller.
    fn pass(&mut self, delta: Result<ChatDelta, ModelError>) -> Result<ChatDelta, ModelError> {
        let end = match &delta {
            Ok(ChatDelta::End { finish, usage, id }) => {
                StreamEnd::Complete { finish: *finish, usage: *usage, id: id.clone() }
            }
            Ok(delta) => {
                self.deltas.get_or_insert_default().push(delta.clone());
                return Ok(delta.clone());
            }
            Err(error) if is_refusal(error) => {
                self.sent = None;
                return delta;
            }
            Err(error) => StreamEnd::Broken { message: error.to_string() },
        };
        let deltas = self.deltas.take().unwrap_or_default();
        // Written before the caller gets the end: if that fails, the reply does not count as complete.
        self.settle(&Outcome::Stream(StreamedReply { deltas, end }))?;
        delta
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let outcome = match self.deltas.take() {
            Some(deltas) => Outcome::Stream(StreamedReply { deltas, end: StreamEnd::LeftOff }),
            None => Outcome::GivenUp,
        };
        // No caller is left to get the error; the next one will.
        let _ = self.settle(&outcome);
    }
}

type Deltas<'a> = BoxStream<'a, Result<ChatDelta, ModelError>>;

/// The stream on its way to the caller.
fn passed_on<'a>(
    stream: Result<Deltas<'a>, ModelError>,
    mut pending: Pending<'a>,
) -> Result<Deltas<'a>, ModelError> {
    match stream {
        Ok(stream) => {
            // From here on a drop means that nobody read on, and not that the request was given up.
            pending.deltas = Some(Vec::new());
            Ok(Box::pin(stream.map(move |delta| pending.pass(delta))))
        }
        Err(error) => {
            if is_refusal(&error) {
                pending.sent = None;
            } else {
                pending.settle(&Outcome::of_error(&error))?;
            }
            Err(error)
        }
    }
}

impl Model for RecordingModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        self.inner.settle()
    }

    fn is_simulated(&self) -> bool {
        self.inner.is_simulated()
    }

    fn takes_temperature(&self) -> bool {
        self.inner.takes_temperature()
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        self.inner.server_facts()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.inner.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let sent = self.file.chat(self.name(), request);
            if let Some(known) = self.file.take_known(&sent).map_err(not_written)? {
                return known.into_chat(self.name()).await;
            }
            let mut pending = Pending::new(self, sent);
            let reply = self.inner.chat(request).await;
            pending.settle_with(reply, Outcome::Chat)
        })
    }

    fn chat_stream<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<Deltas<'a>, ModelError>> {
        Box::pin(async move {
            let sent = self.file.chat(self.name(), request);
            if let Some(known) = self.file.take_known(&sent).map_err(not_written)? {
                return known.into_stream(self.name()).await;
            }
            let pending = Pending::new(self, sent);
            passed_on(self.inner.chat_stream(request).await, pending)
        })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(async move {
            let sent = self.file.completion(self.name(), request);
            if let Some(known) = self.file.take_known(&sent).map_err(not_written)? {
                return known.into_completion(self.name()).await;
            }
            let mut pending = Pending::new(self, sent);
            let reply = self.inner.complete(request).await;
            pending.settle_with(reply, Outcome::Completion)
        })
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<Deltas<'a>, ModelError>> {
        Box::pin(async move {
            let sent = self.file.completion(self.name(), request);
            if let Some(known) = self.file.take_known(&sent).map_err(not_written)? {
                return known.into_stream(self.name()).await;
            }
            let pending = Pending::new(self, sent);
            passed_on(self.inner.complete_stream(request).await, pending)
        })
    }
}
