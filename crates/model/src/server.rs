//! Any [`Model`] as an OpenAI-compatible endpoint for agents that are written elsewhere.
//!
//! Answered are `POST …/chat/completions`, `POST …/responses`, `GET …/models`, and for a model that goes on
//! from plain text `POST …/completions`, behind any path prefix, so that a caller can put the name of a run
//! into the base URL. The server listens on this machine only and refuses requests that name another host or
//! come from a foreign web page.

mod access;
mod chat_completions;
mod completions;
mod error;
mod request;
mod responses;
mod runs;
mod sse;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::serve::ListenerExt;
use secrecy::SecretString;
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};

use crate::Model;
use crate::kept::{KEPT_BYTES_MAX, KEPT_REPLIES_MAX, KeptReplies};
use error::ApiError;
use request::SeenTools;

pub use runs::{ModelServer, ReplyWatch, ServedRun};

/// How long answers in progress may go on after the shutdown signal.
pub const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(5);

/// How the endpoint behaves.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The bearer token that every request must carry; without one, any token or none will do.
    pub key: Option<SecretString>,
    /// How long the model is made to think before each answer.
    pub think_time: Duration,
    /// Most bytes of a request's body.
    pub request_bytes_max: usize,
    /// Most answers of the responses API that `previous_response_id` can name; the oldest go first.
    pub responses_max: usize,
    /// Most bytes of conversation that these answers hold together.
    pub responses_bytes_max: usize,
    /// Seconds since 1970 that answers are dated with. A parameter so that a run can be the same bytes each time.
    pub clock: fn() -> u64,
}

impl Default for ServerConfig {
    /// No key, no thinking, 16 MiB a request, 20,000 answers or 128 MiB kept, the system's clock.
    fn default() -> Self {
        Self {
            key: None,
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
    tools: SeenTools,
}

impl Shared {
    fn new(model: Arc<dyn Model>, config: ServerConfig) -> Self {
        Self {
            responses: KeptReplies::new(config.responses_max, config.responses_bytes_max),
            model,
            config,
            completions: AtomicU64::new(0),
            tools: SeenTools::default(),
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
        // The channel carries no value: its end is the signal.
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
    route(&shared, request).await.unwrap_or_else(ApiError::into_response)
}

async fn route(shared: &Arc<Shared>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    access::check_origin(&head)?;
    let path = head.uri.path().trim_end_matches('/');
    let (method, endpoint) = if path.ends_with("/chat/completions") {
        (Method::POST, Endpoint::ChatCompletions)
    } else if path.ends_with("/completions") {
        (Method::POST, Endpoint::Completions)
    } else if path.ends_with("/responses") {
        (Method::POST, Endpoint::Responses)
    } else if path.ends_with("/models") {
        (Method::GET, Endpoint::Models)
    } else {
        return Err(ApiError::unknown_path(&head.method, path));
    };
    if head.method != method {
        return Err(ApiError::wrong_method(&head.method, &method, path));
    }
    access::check_key(&head.headers, shared.config.key.as_ref())?;
    match endpoint {
        Endpoint::Models => models(shared),
        Endpoint::ChatCompletions => chat_completions::answer(shared, &read(shared, body).await?).await,
        Endpoint::Completions => completions::answer(shared, &read(shared, body).await?).await,
        Endpoint::Responses => responses::answer(shared, &read(shared, body).await?).await,
    }
}

enum Endpoint {
    ChatCompletions,
    Completions,
    Responses,
    Models,
}

async fn read(shared: &Shared, body: Body) -> Result<Bytes, ApiError> {
    let limit = shared.config.request_bytes_max;
    axum::body::to_bytes(body, limit).await.map_err(|error| ApiError::unreadable_body(&error, limit))
}

fn models(shared: &Shared) -> Result<Response, ApiError> {
    #[derive(Serialize)]
    struct List<'a> {
        object: &'static str,
        data: [Entry<'a>; 1],
    }
    #[derive(Serialize)]
    struct Entry<'a> {
        id: &'a str,
        object: &'static str,
        created: u64,
        owned_by: &'static str,
    }
    let created = (shared.config.clock)();
    let entry = Entry { id: shared.model.name(), object: "model", created, owned_by: "planproof" };
    json(StatusCode::OK, &List { object: "list", data: [entry] })
}

/// A reply with a JSON body.
fn json(status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
    let bytes = serde_json::to_vec(body).map_err(|error| ApiError::internal(&error))?;
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
