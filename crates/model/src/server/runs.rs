//! A model served to any number of concurrent runs, each at a URL of its own, so that the run of each request is
//! known.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use futures::StreamExt;
use planproof_isolation::gate::{Gate, Guest};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::error::ApiError;
use super::route;
use super::shared::{ServerConfig, Shared};
use super::target::Protocol;
use crate::chat::{state_of, text_and_calls};
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Model, ModelError, ServerFacts,
};

/// The message about a run that used a key other than its own.
const WRONG_KEY: &str = "the agent asked the model that is served to it with a key that is not OPENAI_API_KEY's, ANTHROPIC_API_KEY's or \
     GEMINI_API_KEY's, which are set to its own (401)";

/// Serves a model on one loopback port until it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    model: Arc<dyn Model>,
    config: ServerConfig,
    runs: Arc<OpenRuns>,
    _accepting: AbortOnDropHandle<()>,
}

/// The open runs by their names.
#[derive(Default)]
struct OpenRuns(Mutex<HashMap<String, OpenRun>>);

#[derive(Clone)]
struct OpenRun {
    shared: Arc<Shared>,
    ledger: Arc<Ledger>,
}

impl OpenRuns {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, OpenRun>> {
        // A panic while the lock is held leaves complete entries only.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelServer {
    /// Listens on a free port of 127.0.0.1. Needs a Tokio runtime, which serves the requests.
    ///
    /// # Errors
    /// No port is free.
    pub async fn bind(model: Arc<dyn Model>, config: ServerConfig) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let runs = Arc::new(OpenRuns::default());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&runs));
        let accepting = tokio::spawn(async move {
            // The server does not stop by itself: it handles errors of single connections.
            let service = router.into_make_service_with_connect_info::<Guest>();
            let _ = axum::serve(Gate::new(listener), service).await;
        });
        Ok(Self { address, model, config, runs, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Serves the model to one run, until the returned value is dropped. `name` is a part of the run's URL: letters
    /// and digits that no other open run has. One request beyond `requests_max` cancels `limit_reached`, and that
    /// request and all later ones are refused. `watch` is shown each reply. `hosts` are names by which the agent
    /// reaches this machine, for example from within a container: they are admitted like those of [`ServerConfig`],
    /// and the first of them is used in the URL.
    pub fn open(
        &self,
        name: String,
        hosts: &[String],
        requests_max: u32,
        limit_reached: CancellationToken,
        watch: Arc<dyn ReplyWatch>,
    ) -> ServedRun {
        let ledger = Arc::new(Ledger { requests_max, limit_reached, state: Mutex::default() });
        let model = RunModel { inner: Arc::clone(&self.model), ledger: Arc::clone(&ledger), watch };
        let mut config = self.config.clone();
        config.hosts.extend_from_slice(hosts);
        let shared = Arc::new(Shared::new(Arc::new(model), config));
        self.runs.lock().insert(name.clone(), OpenRun { shared, ledger: Arc::clone(&ledger) });
        let base_url = match hosts.first() {
            None => format!("http://{}/{name}/v1", self.address),
            Some(host) => format!("http://{host}:{}/{name}/v1", self.address.port()),
        };
        ServedRun { base_url, name, runs: Arc::clone(&self.runs), ledger }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // Open connections outlive the listener; without runs they find nothing.
        self.runs.lock().clear();
    }
}

/// Observes the replies to one run's requests in a conversation, each before the agent sees its end.
pub trait ReplyWatch: Send + Sync {
    /// Takes a reply, with the request that it answers.
    fn replied(&self, request: &ChatRequest, reply: &ChatReply);
}

/// The model as served to one run. Dropping it closes the URL.
pub struct ServedRun {
    base_url: String,
    name: String,
    runs: Arc<OpenRuns>,
    ledger: Arc<Ledger>,
}

impl ServedRun {
    /// Where the run finds the model.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// How many of the run's requests were answered.
    pub fn answered(&self) -> u32 {
        self.ledger.lock().answered
    }

    /// Whether a budget refused one of the run's requests.
    pub fn was_refused(&self) -> bool {
        self.ledger.lock().was_refused
    }

    /// Why its last request was not answered, if the cause is outside of the agent: the model was unavailable, or the
    /// request is missing from the recording that answers. In the latter case the run says nothing from there on,
    /// even if later requests were answered.
    pub fn failure(&self) -> Option<String> {
        let state = self.ledger.lock();
        state.not_recorded.clone().or_else(|| state.failure.clone())
    }

    /// Whether one of its requests was missing from the recording that answers.
    pub fn missed_recording(&self) -> bool {
        self.ledger.lock().not_recorded.is_some()
    }

    /// Whether a request was given up unanswered, and none was answered since.
    pub fn is_waiting(&self) -> bool {
        let state = self.ledger.lock();
        state.going_on > 0 || state.was_given_up
    }
}

impl Drop for ServedRun {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.name);
    }
}

async fn answer(State(runs): State<Arc<OpenRuns>>, request: Request) -> Response {
    let name = request.uri().path().split('/').nth(1).unwrap_or_default();
    let open = runs.lock().get(name).cloned();
    let (head, body) = request.into_parts();
    let protocol = Protocol::of(&head);
    let Some(OpenRun { shared, ledger }) = open else { return ApiError::closed().into_response(protocol) };
    route(&shared, &head, body).await.unwrap_or_else(|error| {
        // A wrong key is a fault of the set-up and not of the agent, so it is reported with the run.
        if error.is_wrong_key() {
            ledger.lock().failure = Some(WRONG_KEY.to_owned());
        }
        // Clients and their protocols are newer than this server, and what it does not know is no fault of the agent.
        // Like other failures, it counts unless a later request is answered.
        if error.is_foreign_form() {
            let path = head.uri.path().split_once('/').map_or("", |(_, path)| path);
            let path = path.split_once('/').map_or(path, |(_, path)| path);
            ledger.lock().failure = Some(format!(
                "the server that planproof serves the model with did not understand a request to /{path}: {error}"
            ));
        }
        error.into_response(protocol)
    })
}

/// What became of a run's requests.
struct Ledger {
    requests_max: u32,
    limit_reached: CancellationToken,
    state: Mutex<LedgerState>,
}

#[derive(Default)]
struct LedgerState {
    answered: u32,
    going_on: u32,
    was_given_up: bool,
    was_refused: bool,
    failure: Option<String>,
    not_recorded: Option<String>,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, LedgerState> {
        // A panic while the lock is held leaves counts that are right except for the request that panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request, unless the run has used up its requests. Failures outside of the agent do not count.
    fn begin(self: &Arc<Self>) -> Result<GoingOn, ModelError> {
        let mut state = self.lock();
        // Requests in progress count as well; otherwise several at once could exceed the limit.
        if state.answered + state.going_on >= self.requests_max {
            self.limit_reached.cancel();
            let budget = format!("{} model turns of this run", self.requests_max);
            return Err(ModelError::BudgetUsedUp { budget });
        }
        state.going_on += 1;
        drop(state);
        Ok(GoingOn { ledger: Arc::clone(self), is_settled: false })
    }
}

/// A request that is not answered yet.
struct GoingOn {
    ledger: Arc<Ledger>,
    is_settled: bool,
}

impl GoingOn {
    fn answered(&mut self) {
        self.settle(|state| {
            state.answered += 1;
            // An answer shows that an earlier failure was temporary.
            (state.failure, state.was_given_up) = (None, false);
        });
    }

    fn failed(&mut self, error: &ModelError) {
        self.settle(|state| match error {
            ModelError::BudgetUsedUp { .. } => state.was_refused = true,
            ModelError::NotRecorded { .. } => state.not_recorded = Some(error.to_string()),
            // An invalid request is the agent's own mistake, so it counts as answered.
            _ if error.is_invalid_request() => state.answered += 1,
            _ => state.failure = Some(error.to_string()),
        });
    }

    /// Notes what became of it, unless that was noted already.
    fn settle(&mut self, note: impl FnOnce(&mut LedgerState)) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        // One lock for both: in between it would count neither as going on nor as answered, and another request could
        // exceed the limit.
        let mut state = self.ledger.lock();
        state.going_on -= 1;
        note(&mut state);
    }
}

impl Drop for GoingOn {
    fn drop(&mut self) {
        self.settle(|state| state.was_given_up = true);
    }
}

/// A model that records one run's requests in a ledger.
struct RunModel {
    inner: Arc<dyn Model>,
    ledger: Arc<Ledger>,
    watch: Arc<dyn ReplyWatch>,
}

impl Model for RunModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        self.inner.settle()
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        self.inner.server_facts()
    }

    fn is_simulated(&self) -> bool {
        self.inner.is_simulated()
    }

    fn takes_temperature(&self) -> bool {
        self.inner.takes_temperature()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.inner.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let going_on = self.ledger.begin()?;
            let reply = noted(self.inner.chat(request).await, going_on)?;
            self.watch.replied(request, &reply);
            Ok(reply)
        })
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let going_on = self.ledger.begin()?;
            let stream = noted_stream(self.inner.chat_stream(request).await, going_on)?;
            // The whole reply is known only at its end, so its parts are collected as they pass.
            let (watch, mut deltas) = (&self.watch, Vec::new());
            let stream: BoxStream<'a, _> = Box::pin(stream.inspect(move |delta| match delta {
                Ok(ChatDelta::End { finish, usage, id }) => {
                    let ((text, calls), state) = (text_and_calls(&deltas), state_of(&deltas));
                    let (finish, usage, id) = (*finish, *usage, id.clone());
                    watch.replied(request, &ChatReply { text, calls, finish, usage, id, state });
                }
                Ok(delta) => deltas.push(delta.clone()),
                Err(_) => {}
            }));
            Ok(stream)
        })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(async move {
            let going_on = self.ledger.begin()?;
            noted(self.inner.complete(request).await, going_on)
        })
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let going_on = self.ledger.begin()?;
            noted_stream(self.inner.complete_stream(request).await, going_on)
        })
    }
}

fn noted<T>(reply: Result<T, ModelError>, mut going_on: GoingOn) -> Result<T, ModelError> {
    match &reply {
        Ok(_) => going_on.answered(),
        Err(error) => going_on.failed(error),
    }
    reply
}

type Deltas<'a> = BoxStream<'a, Result<ChatDelta, ModelError>>;

/// The stream, whose end is the end of the request.
fn noted_stream<'a>(
    stream: Result<Deltas<'a>, ModelError>,
    mut going_on: GoingOn,
) -> Result<Deltas<'a>, ModelError> {
    match stream {
        Err(error) => {
            going_on.failed(&error);
            Err(error)
        }
        // If the stream is dropped before its end, so is `going_on`, and the request counts as given up.
        Ok(stream) => Ok(Box::pin(stream.inspect(move |delta| match delta {
            Ok(ChatDelta::End { .. }) => going_on.answered(),
            Ok(_) => {}
            Err(error) => going_on.failed(error),
        }))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_at_the_same_time_stay_within_the_limit() {
        for _ in 0..500 {
            let limit_reached = CancellationToken::new();
            let ledger = Arc::new(Ledger { requests_max: 8, limit_reached, state: Mutex::default() });
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..8 {
                            if let Ok(mut going_on) = ledger.begin() {
                                going_on.answered();
                            }
                        }
                    });
                }
            });
            assert_eq!(ledger.lock().answered, 8);
        }
    }
}
