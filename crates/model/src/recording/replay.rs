//! A recording that replaces a model.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planproof_trace::Secrets;

use super::content::{Question, RecordedModel, Recording};
use super::key::{self, Key, ToolLists};
use super::outcome::Outcome;
use super::request::KeyedRequest;
use super::{RecordingError, difference};
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Model, ModelError, ReplyId,
};

/// Most differences that are computed and kept; if one request differs, many do.
pub const MISSES_KEPT_MAX: usize = 100;

/// Answers from a recording alone, under the name of the model that was recorded.
///
/// Repetitions of a request get their replies in the order in which they were recorded; more repetitions than that,
/// or any other request, are [`ModelError::NotRecorded`]. Errors are repeated as they were, unless the recording was
/// continued later and holds the same request once more. A request that was given up is never answered.
pub struct ReplayModel {
    recording: Arc<Recording>,
    model: usize,
    secrets: Secrets,
    tool_lists: ToolLists,
    /// The same without secrets.
    redacted_lists: ToolLists,
    /// Indices of the exchanges by request.
    answers: HashMap<Key, Vec<usize>>,
    /// The beginnings of conversations that continue from a stored reply, by its id.
    kept: HashMap<ReplyId, Key>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    asked: HashMap<Key, usize>,
    misses: Vec<String>,
}

impl ReplayModel {
    /// The model that was recorded. If the recording does not hold a request as it is, the request is looked up
    /// without `secrets`, which are left out of recordings.
    ///
    /// # Errors
    /// [`RecordingError::NoModel`] unless the recording is of one model.
    pub fn new(recording: Arc<Recording>, secrets: Secrets) -> Result<Self, RecordingError> {
        let names: Vec<&str> = recording.models.iter().map(|model| model.name.as_str()).collect();
        let what = match names[..] {
            [_] => return Ok(Self::of_place(recording, 0, secrets)),
            [] => "holds no request at all".to_owned(),
            _ => format!("is of {} models ({}), not of one", names.len(), names.join(", ")),
        };
        Err(RecordingError::NoModel { path: recording.path().to_owned(), what })
    }

    /// The recorded model with that name.
    ///
    /// # Errors
    /// [`RecordingError::NoModel`] if it was not recorded.
    pub fn of_model(recording: Arc<Recording>, name: &str, secrets: Secrets) -> Result<Self, RecordingError> {
        match recording.models.iter().position(|model| model.name == name) {
            Some(place) => Ok(Self::of_place(recording, place, secrets)),
            None => {
                let what = format!("holds no request to {name}");
                Err(RecordingError::NoModel { path: recording.path().to_owned(), what })
            }
        }
    }

    fn of_place(recording: Arc<Recording>, model: usize, secrets: Secrets) -> Self {
        let (answers, kept) = (answers(&recording), kept(&recording));
        let (tool_lists, redacted_lists, state) = Default::default();
        Self { recording, model, secrets, tool_lists, redacted_lists, answers, kept, state }
    }

    /// How the requests differed that were not found: the first [`MISSES_KEPT_MAX`] of them.
    pub fn misses(&self) -> Vec<String> {
        self.lock().misses.clone()
    }

    fn recorded(&self) -> &RecordedModel {
        &self.recording.models[self.model]
    }

    fn chat_outcome(&self, request: &ChatRequest) -> Result<Outcome, ModelError> {
        let request = &*self.recording.may_differ.chat(request);
        let start = match &request.previous {
            None => key::beginning(),
            Some(id) => self.kept.get(id).copied().unwrap_or_else(|| key::after_unknown(id)),
        };
        let none = Secrets::default();
        let keyed = KeyedRequest::chat(self.name(), request, start, &self.tool_lists, &none);
        if self.secrets.is_empty() || self.answers.contains_key(&keyed.key) {
            return self.outcome(&keyed);
        }
        self.outcome(&KeyedRequest::chat(self.name(), request, start, &self.redacted_lists, &self.secrets))
    }

    fn completion_outcome(&self, request: &CompletionRequest) -> Result<Outcome, ModelError> {
        let request = &*self.recording.may_differ.completion(request);
        let keyed = KeyedRequest::completion(self.name(), request, &Secrets::default());
        if self.secrets.is_empty() || self.answers.contains_key(&keyed.key) {
            return self.outcome(&keyed);
        }
        self.outcome(&KeyedRequest::completion(self.name(), request, &self.secrets))
    }

    fn outcome(&self, keyed: &KeyedRequest<'_>) -> Result<Outcome, ModelError> {
        let recorded = self.answers.get(&keyed.key).map_or(&[][..], Vec::as_slice);
        // The lock is not held while the difference is described, which can take long.
        {
            let mut state = self.lock();
            let times = state.asked.entry(keyed.key).or_default();
            *times += 1;
            if let Some(place) = recorded.get(*times - 1) {
                let outcome = &self.recording.exchanges[*place].outcome;
                let id = outcome.id().map(|id| self.name_of(id, *place));
                return Ok(outcome.clone().with_id(id));
            }
            if state.misses.len() >= MISSES_KEPT_MAX {
                let difference = format!("it differs, as {MISSES_KEPT_MAX} others did before it");
                return Err(ModelError::NotRecorded { difference });
            }
        }
        let difference = match recorded.len() {
            0 => difference::describe(&self.recording, self.model, keyed),
            1 => "it was asked once, and is now asked once more".to_owned(),
            times => format!("it was asked {times} times, and is now asked once more"),
        };
        self.lock().misses.push(difference.clone());
        Err(ModelError::NotRecorded { difference })
    }

    /// The id of a stored reply: the server's own, unless that was used twice, which happens if a server restarts its
    /// count.
    fn name_of(&self, id: &ReplyId, place: usize) -> ReplyId {
        let own = own_name(place);
        if self.kept.contains_key(&own) { own } else { id.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves complete entries only.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn own_name(place: usize) -> ReplyId {
    ReplyId(format!("recorded-{}", place + 1))
}

/// The exchanges by request, in the order of the file. An exchange without a reply is left out if a later session
/// made the same request again: its run was started again.
fn answers(recording: &Recording) -> HashMap<Key, Vec<usize>> {
    let mut answers: HashMap<Key, Vec<usize>> = HashMap::new();
    for (place, exchange) in recording.exchanges.iter().enumerate() {
        answers.entry(exchange.request).or_default().push(place);
    }
    for places in answers.values_mut() {
        let exchange = |place: usize| &recording.exchanges[place];
        let last = places.last().map_or(0, |place| exchange(*place).session);
        places.retain(|place| exchange(*place).outcome.is_complete() || exchange(*place).session == last);
    }
    answers
}

fn kept(recording: &Recording) -> HashMap<ReplyId, Key> {
    let mut places: HashMap<&ReplyId, Vec<usize>> = HashMap::new();
    for (place, exchange) in recording.exchanges.iter().enumerate() {
        if let (Some(id), Question::Chat { .. }) = (exchange.outcome.id(), &exchange.question) {
            places.entry(id).or_default().push(place);
        }
    }
    let mut kept = HashMap::new();
    for (id, places) in places {
        for place in &places {
            // An id that several replies share identifies none, so each gets one of ours.
            let name = if places.len() == 1 { id.clone() } else { own_name(*place) };
            kept.extend(recording.after_kept(*place).map(|start| (name, start)));
        }
    }
    kept
}

impl Model for ReplayModel {
    fn name(&self) -> &str {
        &self.recorded().name
    }

    fn capabilities(&self) -> Capabilities {
        self.recorded().capabilities
    }

    fn is_simulated(&self) -> bool {
        self.recorded().simulated
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move { self.chat_outcome(request)?.into_chat(self.name()).await })
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move { self.chat_outcome(request)?.into_stream(self.name()).await })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(async move { self.completion_outcome(request)?.into_completion(self.name()).await })
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move { self.completion_outcome(request)?.into_stream(self.name()).await })
    }
}
