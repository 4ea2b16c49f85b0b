//! Any [`Model`], served to external agents in the protocols of OpenAI, Anthropic and Gemini.
//!
//! These requests are answered, behind any path prefix, so that a caller can put the name of a run into the base URL:
//! - OpenAI's: `POST …/chat/completions`, `POST …/responses`, and for a model that continues plain text `POST
//!   …/completions`;
//! - Anthropic's: `POST …/messages` and `POST …/messages/count_tokens`;
//! - Gemini's: `POST …/models/NAME:generateContent`, `:streamGenerateContent` and `:countTokens`;
//! - `GET …/models`, in the format of the client's protocol.
//!
//! Each protocol is translated from and to the request and reply of this crate. The requested model name is ignored:
//! the served model answers. The server listens on this machine only and refuses requests that name another host or
//! come from a foreign web page.

mod access;
mod anthropic;
mod chat_completions;
mod completions;
mod error;
mod gemini;
mod models;
mod request;
mod responses;
mod runs;
mod sse;
mod target;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::handler::Handler;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::request::Parts;
use axum::response::Response;
use axum::serve::ListenerExt;
use planproof_isolation::gate::Guest;
use secrecy::SecretString;
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};

use crate::Model;
use crate::kept::{KEPT_BYTES_MAX, KEPT_REPLIES_MAX, KeptReplies};
use error::ApiError;
use request::SeenTools;
use target::{Endpoint, Protocol, endpoint};

pub use runs::{ModelServer, ReplyWatch, ServedRun};

/// How long answers in progress may continue after the shutdown signal: one signal ends any command within a second.
pub const SHUTDOWN_TIME_MAX: Duration = Duration::from_millis(700);

/// How the endpoint behaves.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The key that every request must carry; `None` accepts any key or none.
    pub key: Option<SecretString>,
    /// Names that requests may have in `Host` besides those of loopback: an agent in a container uses another name
    /// for this machine. The server still listens on loopback only.
    pub hosts: Vec<String>,
    /// The artificial delay before each answer.
    pub think_time: Duration,
    /// Most bytes of a request's body.
    pub request_bytes_max: usize,
    /// Most answers of the responses API that `previous_response_id` can name; the oldest go first.
    pub responses_max: usize,
    /// Most bytes of conversation that these answers hold together.
    pub responses_bytes_max: usize,
    /// Seconds since 1970 that answers are dated with. Configurable so that a run can produce the same bytes each
    /// time.
    pub clock: fn() -> u64,
}

impl Default for ServerConfig {
    /// No key, no delay, 16 MiB per request, 20,000 answers or 128 MiB stored, the system's clock.
    fn default() -> Self {
        Self {
            key: None,
            hosts: Vec::new(),
            think_time: Duration::ZERO,
            request_bytes_max: 16 << 20,
            responses_max: KEPT_REPLIES_MAX,
            responses_bytes_max: KEPT_BYTES_MAX,
            clock: system_seconds,
        }
    }
}

fn system_seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// What all requests share.
struct Shared {
    model: Arc<dyn Model>,
    config: ServerConfig,
    completions: AtomicU64,
    responses: KeptReplies,
    openai_tools: SeenTools,
    anthropic_tools: SeenTools,
    gemini_tools: SeenTools,
}

impl Shared {
    fn new(model: Arc<dyn Model>, config: ServerConfig) -> Self {
        Self {
            responses: KeptReplies::new(config.responses_max, config.responses_bytes_max),
            model,
            config,
            completions: AtomicU64::new(0),
            openai_tools: SeenTools::read_by(request::read_tools),
            anthropic_tools: SeenTools::read_by(anthropic::read_tools),
            gemini_tools: SeenTools::read_by(gemini::read_tools),
        }
    }

    fn next_completion(&self) -> u64 {
        self.completions.fetch_add(1, Ordering::Relaxed) + 1
    }

    async fn think(&self) {
        if !self.config.think_time.is_zero() {
            tokio::time::sleep(self.config.think_time).await;
        }
    }
}

/// Serves `model` until `shutdown` is done, and then for at most [`SHUTDOWN_TIME_MAX`] until the answers in progress
/// are sent. Ids count from 1 for each call of this function.
///
/// # Errors
/// A listener that other machines can reach is refused.
pub async fn serve(
    listener: TcpListener,
    model: Arc<dyn Model>,
    config: ServerConfig,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{address} can be reached by other machines: listen on 127.0.0.1 or [::1]"),
        ));
    }
    let shared = Arc::new(Shared::new(model, config));
    let listener = listener.tap_io(without_delay);
    let (stop, mut stopped) = tokio::sync::watch::channel(());
    let signal = async move {
        shutdown.await;
        drop(stop);
    };
    let serving = axum::serve(listener, handle.with_state(shared).into_make_service())
        .with_graceful_shutdown(signal)
        .into_future();
    let late = async move {
        // The channel carries no value: closing it is the signal.
        let _ = stopped.changed().await;
        tokio::time::sleep(SHUTDOWN_TIME_MAX).await;
    };
    tokio::select! {
        result = serving => result,
        () = late => Ok(()),
    }
}

/// Without it small pieces of a streamed answer wait for each other. An answer works either way.
fn without_delay(stream: &mut TcpStream) {
    let _ = stream.set_nodelay(true);
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let refused = |error: ApiError| error.into_response(Protocol::of(&head));
    route(&shared, &head, body).await.unwrap_or_else(refused)
}

async fn route(shared: &Arc<Shared>, head: &Parts, body: Body) -> Result<Response, ApiError> {
    access::check_origin(head, &shared.config.hosts)?;
    let path = head.uri.path();
    let Some(endpoint) = endpoint(head) else {
        return Err(ApiError::unknown_path(&head.method, path));
    };
    if head.method != endpoint.method() {
        return Err(ApiError::wrong_method(&head.method, &endpoint.method(), path));
    }
    // Checked before the body is read, so that without the key nobody can send us large bodies.
    access::check_key(head, shared.config.key.as_ref())?;
    let body = read(shared, body).await?;
    // Only the servers of campaigns know which run a request belongs to.
    let serving = head.extensions.get().map(|ConnectInfo(guest): &ConnectInfo<Guest>| guest.serve());
    let answer = match endpoint {
        Endpoint::Models => models::answer(shared, Protocol::of(head)),
        Endpoint::ChatCompletions => chat_completions::answer(shared, &body).await,
        Endpoint::Completions => completions::answer(shared, &body).await,
        Endpoint::Responses => responses::answer(shared, &body).await,
        Endpoint::Messages => anthropic::answer(shared, &body).await,
        Endpoint::MessageTokens => anthropic::count_tokens(shared, &body),
        Endpoint::Generate { model, stream } => gemini::answer(shared, &body, &model, stream).await,
        Endpoint::ContentTokens => gemini::count_tokens(shared, &body),
    }?;
    Ok(match serving {
        Some(serving) => serving.until_end_of(answer),
        None => answer,
    })
}

async fn read(shared: &Shared, body: Body) -> Result<Bytes, ApiError> {
    let limit = shared.config.request_bytes_max;
    axum::body::to_bytes(body, limit).await.map_err(|error| ApiError::unreadable_body(&error, limit))
}

/// A reply with a JSON body.
fn json(status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
    let bytes = serde_json::to_vec(body).map_err(|error| ApiError::internal(&error))?;
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
