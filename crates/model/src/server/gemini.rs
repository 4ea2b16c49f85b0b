//! `POST …/models/NAME:generateContent`, `:streamGenerateContent` and `:countTokens`: Gemini's protocol.

mod chunks;
mod reply;
mod request;
mod schema;

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::error::ApiError;
use super::request::estimated_tokens;
use super::shared::{Shared, json};
use super::sse;
use super::target::StreamForm;
use chunks::ChunkNarrator;
use reply::Envelope;

pub(super) use request::read_tools;

/// Answers one request to the model of that name.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    body: &[u8],
    model: &str,
    stream: Option<StreamForm>,
) -> Result<Response, ApiError> {
    let request = request::read(shared, body)?;
    let envelope = Envelope { id: format!("resp_{}", shared.next_completion()), model: model.to_owned() };
    if stream == Some(StreamForm::Events) {
        return sse::answer(shared, request, ChunkNarrator::new(envelope)).await;
    }
    shared.think().await;
    let reply = shared.model.chat(&request).await?;
    match stream {
        // An array of all pieces; one piece is enough.
        Some(_) => json(StatusCode::OK, &[envelope.whole(&reply)]),
        None => json(StatusCode::OK, &envelope.whole(&reply)),
    }
}

/// Estimates the number of tokens of a request. The model is not asked, so this is not a turn of a run.
pub(super) fn count_tokens(shared: &Shared, body: &[u8]) -> Result<Response, ApiError> {
    let request = request::read_counted(shared, body)?;
    json(StatusCode::OK, &json!({"totalTokens": estimated_tokens(&request)}))
}
