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
mod shared;
mod sse;
mod target;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::response::Response;
use axum::serve::ListenerExt;
use planproof_isolation::gate::Guest;
use tokio::net::{TcpListener, TcpStream};

use crate::Model;
use crate::kept::KeptReplies;
use error::ApiError;
use request::SeenTools;
use shared::Shared;
use target::{Endpoint, Protocol, endpoint};

pub use runs::{ModelServer, ReplyWatch, ServedRun};
pub use shared::ServerConfig;

/// How long answers in progress may continue after the shutdown signal: one signal ends any command within a second.
pub const SHUTDOWN_TIME_MAX: Duration = Duration::from_millis(700);

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
