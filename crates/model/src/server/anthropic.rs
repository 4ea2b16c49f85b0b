//! `POST …/messages` and `POST …/messages/count_tokens`: Anthropic's protocol.

mod events;
mod reply;
mod request;

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::error::ApiError;
use super::request::estimated_tokens;
use super::shared::{Shared, json};
use super::sse;
use events::BlockNarrator;
use reply::Envelope;

pub(super) use request::read_tools;

/// Answers one request.
pub(super) async fn answer(shared: &Arc<Shared>, body: &[u8]) -> Result<Response, ApiError> {
    let parsed = request::read(shared, body)?;
    let envelope = Envelope { id: format!("msg_{}", shared.next_completion()), model: parsed.model };
    if parsed.is_streamed {
        return sse::answer(shared, parsed.request, BlockNarrator::new(envelope)).await;
    }
    shared.think().await;
    let reply = shared.model.chat(&parsed.request).await?;
    json(StatusCode::OK, &envelope.message(&reply))
}

/// Estimates the number of tokens of a request. The model is not asked, so this is not a turn of a run.
pub(super) fn count_tokens(shared: &Shared, body: &[u8]) -> Result<Response, ApiError> {
    let parsed = request::read(shared, body)?;
    json(StatusCode::OK, &json!({"input_tokens": estimated_tokens(&parsed.request)}))
}
