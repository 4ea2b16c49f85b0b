//! `GET …/models`: the served model, in the format of the client's protocol.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::error::ApiError;
use super::shared::{Shared, json};
use super::target::Protocol;

/// Lists the served model.
pub(super) fn answer(shared: &Shared, protocol: Protocol) -> Result<Response, ApiError> {
    let name = shared.model.name();
    let body = match protocol {
        Protocol::OpenAi => {
            let created = (shared.config.clock)();
            let entry = json!({"id": name, "object": "model", "created": created, "owned_by": "planproof"});
            json!({"object": "list", "data": [entry]})
        }
        // According to the documentation, this date means that the real one is unknown.
        Protocol::Anthropic => json!({
            "data": [{"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}],
            "first_id": name, "last_id": name, "has_more": false,
        }),
        Protocol::Gemini => {
            let methods = ["generateContent", "countTokens"];
            let entry = json!({"name": format!("models/{name}"), "displayName": name, "version": "1",
                "supportedGenerationMethods": methods});
            json!({"models": [entry]})
        }
    };
    json(StatusCode::OK, &body)
}
