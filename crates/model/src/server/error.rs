//! Errors in the shape that OpenAI's clients read.

use std::error::Error as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde::Serialize;
use thiserror::Error;

use crate::ModelError;

/// Why a request gets no answer.
#[derive(Debug, Error)]
#[error("{message}")]
pub(super) struct ApiError {
    status: StatusCode,
    message: String,
    kind: &'static str,
    param: Option<String>,
    code: Option<&'static str>,
    retry_after: Option<Duration>,
}

/// The error object as it stands on the wire, in a reply or in a stream.
#[derive(Debug, Serialize)]
pub(super) struct ErrorBody<'a> {
    pub(super) error: ErrorObject<'a>,
}

/// What is in it.
#[derive(Debug, Serialize)]
pub(super) struct ErrorObject<'a> {
    message: &'a str,
    r#type: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

impl ApiError {
    fn new(status: StatusCode, message: impl Into<String>, code: Option<&'static str>) -> Self {
        let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
        Self { status, message: message.into(), kind, param: None, code, retry_after: None }
    }

    /// A request that makes no sense. `param` names the field.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        let param = Some(param.into());
        Self { param, ..Self::new(StatusCode::BAD_REQUEST, message, None) }
    }

    /// A body that is no JSON, or not of the right shape.
    pub(super) fn not_understood(error: &serde_json::Error) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("the request body is not understood: {error}"), None)
    }

    /// A `previous_response_id` that nothing is known of.
    pub(super) fn unknown_response(id: &str) -> Self {
        let message = format!("Previous response with id '{id}' not found.");
        Self {
            param: Some("previous_response_id".to_owned()),
            ..Self::new(StatusCode::BAD_REQUEST, message, Some("previous_response_not_found"))
        }
    }

    pub(super) fn foreign(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message, Some("forbidden"))
    }

    /// Whether the key was missing or wrong.
    pub(super) fn is_wrong_key(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    /// A URL of no open run.
    pub(super) fn closed() -> Self {
        let message = "no run is open at this URL: each run has a base URL of its own, which ends with it";
        Self::new(StatusCode::NOT_FOUND, message, Some("run_is_over"))
    }

    pub(super) fn wrong_key() -> Self {
        let message = "the Authorization header must be `Bearer` and the key this server was started with";
        Self::new(StatusCode::UNAUTHORIZED, message, Some("invalid_api_key"))
    }

    pub(super) fn unknown_path(method: &Method, path: &str) -> Self {
        let message = format!(
            "nothing at {method} {path}: there are POST …/chat/completions, POST …/completions, POST …/responses and \
             GET …/models"
        );
        Self::new(StatusCode::NOT_FOUND, message, Some("unknown_url"))
    }

    pub(super) fn wrong_method(given: &Method, right: &Method, path: &str) -> Self {
        let message = format!("{path} is asked by {right}, not by {given}");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, message, Some("method_not_allowed"))
    }

    /// A body that could not be read: too large, or broken off.
    pub(super) fn unreadable_body(error: &axum::Error, limit: usize) -> Self {
        let too_large =
            error.source().is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>);
        if too_large {
            let message = format!("the request body is larger than {limit} bytes");
            return Self::new(StatusCode::PAYLOAD_TOO_LARGE, message, Some("request_too_large"));
        }
        Self::new(StatusCode::BAD_REQUEST, format!("the request body broke off: {error}"), None)
    }

    pub(super) fn internal(error: &serde_json::Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), None)
    }

    /// A model that ended its stream before its reply was complete.
    pub(super) fn broken_off() -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "the model's reply broke off", Some("model_error"))
    }

    /// The error object.
    pub(super) fn body(&self) -> ErrorBody<'_> {
        ErrorBody {
            error: ErrorObject {
                message: &self.message,
                r#type: self.kind,
                param: self.param.as_deref(),
                code: self.code,
            },
        }
    }

    pub(super) fn into_response(self) -> Response {
        // An object of strings always renders.
        let bytes = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = self.retry_after {
            // Rounded up: the header has whole seconds, and too early would be refused again.
            let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<ModelError> for ApiError {
    /// The model's refusal because of its rate limit is passed on as such. What asking again cannot change is
    /// said with a status that clients do not try again at; everything else is a bad gateway.
    fn from(error: ModelError) -> Self {
        match &error {
            ModelError::Status { status: 429, retry_after, .. } => Self {
                kind: "rate_limit_error",
                retry_after: *retry_after,
                ..Self::new(StatusCode::TOO_MANY_REQUESTS, error.to_string(), Some("rate_limit_exceeded"))
            },
            ModelError::BudgetUsedUp { .. } => {
                Self::new(StatusCode::PAYMENT_REQUIRED, error.to_string(), Some("budget_used_up"))
            }
            ModelError::NotRecorded { .. } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string(), Some("not_recorded"))
            }
            _ => Self::new(StatusCode::BAD_GATEWAY, error.to_string(), Some("model_error")),
        }
    }
}
