//! What all requests to a server share: its settings, its model, and how an answer is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use secrecy::SecretString;
use serde::Serialize;

use super::error::ApiError;
use super::request::SeenTools;
use crate::Model;
use crate::kept::{KEPT_BYTES_MAX, KEPT_REPLIES_MAX, KeptReplies};

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
pub(super) struct Shared {
    pub(super) model: Arc<dyn Model>,
    pub(super) config: ServerConfig,
    pub(super) completions: AtomicU64,
    pub(super) responses: KeptReplies,
    pub(super) openai_tools: SeenTools,
    pub(super) anthropic_tools: SeenTools,
    pub(super) gemini_tools: SeenTools,
}

impl Shared {
    pub(super) fn next_completion(&self) -> u64 {
        self.completions.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) async fn think(&self) {
        if !self.config.think_time.is_zero() {
            tokio::time::sleep(self.config.think_time).await;
        }
    }
}

/// A reply with a JSON body.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
    let bytes = serde_json::to_vec(body).map_err(|error| ApiError::internal(&error))?;
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
