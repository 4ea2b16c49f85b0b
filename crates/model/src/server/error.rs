//! Errors, each in the format that the clients of its protocol read.

use std::error::Error as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use planproof_trace::plain_message;
use serde::Serialize;
use thiserror::Error;

use super::target::Protocol;
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
    /// The request is well-formed, but not of a form that this server knows.
    is_foreign_form: bool,
}

/// The wire format of the error, in a reply or in a stream.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ErrorBody<'a> {
    OpenAi { error: OpenAiError<'a> },
    Anthropic { r#type: &'static str, error: AnthropicError<'a>, request_id: Option<()> },
    Gemini { error: GeminiError<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct OpenAiError<'a> {
    message: &'a str,
    r#type: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct AnthropicError<'a> {
    r#type: &'static str,
    message: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct GeminiError<'a> {
    code: u16,
    message: &'a str,
    status: &'static str,
}

/// Anthropic's name for an error of this status.
fn anthropic_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        424 | 500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// Google's name for an error of this status.
fn gemini_status(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "UNAUTHENTICATED",
        402 | 422 | 424 => "FAILED_PRECONDITION",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        405 => "UNIMPLEMENTED",
        429 => "RESOURCE_EXHAUSTED",
        502 | 503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

impl ApiError {
    fn new(status: StatusCode, message: impl Into<String>, code: Option<&'static str>) -> Self {
        let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
        Self {
            status,
            message: message.into(),
            kind,
            param: None,
            code,
            retry_after: None,
            is_foreign_form: false,
        }
    }

    /// An invalid request. `param` names the field.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        let param = Some(param.into());
        // Many of them come from a parser.
        let message = plain_message(&message.into());
        Self { param, is_foreign_form: true, ..Self::new(StatusCode::BAD_REQUEST, message, None) }
    }

    /// A body that is not JSON, or has the wrong shape.
    pub(super) fn not_understood(error: &serde_json::Error) -> Self {
        let message = format!("the request body is not understood: {}", plain_message(&error.to_string()));
        // Whoever sends no JSON at all speaks no version of any protocol.
        let is_foreign_form = error.is_data();
        Self { is_foreign_form, ..Self::new(StatusCode::BAD_REQUEST, message, None) }
    }

    /// An unknown `previous_response_id`.
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

    /// Whether the request may be right by a protocol, or a version of one, that this server does not know.
    pub(super) fn is_foreign_form(&self) -> bool {
        self.is_foreign_form
    }

    /// A URL of no open run.
    pub(super) fn closed() -> Self {
        let message = "no run is open at this URL: each run has a base URL of its own, which ends with it";
        Self::new(StatusCode::NOT_FOUND, message, Some("run_is_over"))
    }

    pub(super) fn wrong_key() -> Self {
        let message = "the key must be that of this server, in Authorization as `Bearer` KEY, in x-api-key or in x-goog-api-key";
        Self::new(StatusCode::UNAUTHORIZED, message, Some("invalid_api_key"))
    }

    pub(super) fn unknown_path(method: &Method, path: &str) -> Self {
        let message = format!(
            "nothing at {method} {path}: there are POST …/chat/completions, …/completions, …/responses, …/messages, \
             …/messages/count_tokens, …/models/NAME:generateContent, :streamGenerateContent and :countTokens, and GET \
             …/models"
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

    /// The error in the words of a protocol.
    pub(super) fn body(&self, protocol: Protocol) -> ErrorBody<'_> {
        let Self { status, message, kind, param, code, retry_after: _, is_foreign_form: _ } = self;
        match protocol {
            Protocol::OpenAi => {
                let (param, code) = (param.as_deref(), *code);
                ErrorBody::OpenAi { error: OpenAiError { message, r#type: kind, param, code } }
            }
            Protocol::Anthropic => {
                let error = AnthropicError { r#type: anthropic_type(*status), message };
                ErrorBody::Anthropic { r#type: "error", error, request_id: None }
            }
            Protocol::Gemini => {
                let (code, status) = (status.as_u16(), gemini_status(*status));
                ErrorBody::Gemini { error: GeminiError { code, message, status } }
            }
        }
    }

    pub(super) fn into_response(self, protocol: Protocol) -> Response {
        // An object of strings always serialises.
        let bytes = serde_json::to_vec(&self.body(protocol)).unwrap_or_default();
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = self.retry_after {
            // Rounded up: the header has whole seconds, and a premature retry would be refused again.
            let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<ModelError> for ApiError {
    /// The model's refusal because of its rate limit is passed on as such, and so is that of an invalid request, which
    /// clients would otherwise send again. What a retry cannot mend (a used-up budget, a request that is not recorded,
    /// a refused key, an unknown model, a reply that is not understood) gets a status that clients do not retry;
    /// everything else is a bad gateway.
    fn from(error: ModelError) -> Self {
        if let Some(status) = error.status().filter(|_| error.is_invalid_request()) {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
            return Self::new(status, error.to_string(), Some("refused_by_model"));
        }
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
            // Not the model's own status: 401 and 404 would be about this server and its key.
            error if !error.is_transient() => {
                Self::new(StatusCode::FAILED_DEPENDENCY, error.to_string(), Some("model_error"))
            }
            _ => Self::new(StatusCode::BAD_GATEWAY, error.to_string(), Some("model_error")),
        }
    }
}
