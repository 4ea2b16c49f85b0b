//! Error objects of the providers: their messages, and the matching HTTP status.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::ModelError;
use crate::http::Endpoint;

/// An error object. Gateways also put it into answers of status 200 and into streams that have begun.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Fault {
    /// The common shape.
    Object {
        /// For people.
        message: Option<String>,
        /// For programs: a word or a number.
        code: Option<Value>,
        /// The kind of error, a word.
        #[serde(rename = "type")]
        kind: Option<String>,
    },
    /// Only the message.
    Text(String),
    /// Something else.
    Other(IgnoredAny),
}

impl Fault {
    /// The error that such an object stands for, if it came without a status of its own: that of its numeric code or
    /// of its words, else 500.
    pub(crate) fn into_model_error(self, endpoint: &Endpoint) -> ModelError {
        let (message, status) = match self {
            Self::Object { message, code, kind } => {
                let number = code.as_ref().and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
                let words = [code.as_ref().and_then(Value::as_str), kind.as_deref()];
                let status = number
                    .filter(|status| (400..600).contains(status))
                    .or_else(|| words.into_iter().flatten().find_map(status_of));
                (message, status)
            }
            Self::Text(text) => (Some(text), None),
            Self::Other(_) => (None, None),
        };
        ModelError::Status {
            url: endpoint.url().to_owned(),
            // Without a known code it counts as an error of the server, which is transient.
            status: status.unwrap_or(500),
            message: endpoint.line(message.as_deref().unwrap_or("an error without a message")),
            retry_after: None,
        }
    }
}

/// The HTTP status of an error's code or kind, according to the documentation of OpenAI and Anthropic.
fn status_of(word: &str) -> Option<u16> {
    Some(match word {
        "invalid_request_error" | "invalid_prompt" | "previous_response_not_found" => 400,
        "bio_policy" | "misalignment_policy_violation" | "data_residency_mismatch" => 400,
        "authentication_error" | "invalid_api_key" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        "api_error" | "server_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// The message in an error reply, in the shape of OpenAI or Anthropic or in one that other servers use.
pub(crate) fn message(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct ErrorReply {
        error: Option<Fault>,
        message: Option<String>,
        detail: Option<String>,
    }
    let reply: ErrorReply = serde_json::from_slice(bytes).ok()?;
    match reply.error {
        Some(Fault::Object { message: Some(text), .. } | Fault::Text(text)) => Some(text),
        _ => reply.message.or(reply.detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::key::Key;
    use crate::http::{Identity, KeyHeader};

    #[test]
    fn messages_are_found_in_every_known_shape() {
        for body in [
            r#"{"error":{"message":"m","type":"t","code":null}}"#,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"r"}"#,
            r#"{"error":"m"}"#,
            r#"{"object":"error","message":"m"}"#,
            r#"{"detail":"m"}"#,
        ] {
            assert_eq!(message(body.as_bytes()).as_deref(), Some("m"), "{body}");
        }
        assert_eq!(message(b"<html>"), None);
        assert_eq!(message(br#"{"detail":[{"msg":"m"}]}"#), None);
    }

    #[test]
    fn an_error_without_a_status_gets_that_of_its_words() {
        let identity = Identity {
            key: Key::default(),
            key_header: KeyHeader::Bearer,
            headers: &[],
            key_variable: "KEY",
            base_url_variable: "BASE_URL",
        };
        let endpoint = Endpoint::new("http://h", "", identity).unwrap();
        for (object, expected, words) in [
            (r#"{"message":"m","code":402}"#, 402, "m"),
            (r#"{"message":"m","code":"429"}"#, 500, "m"),
            (r#"{"message":"m","code":9}"#, 500, "m"),
            (r#"{"message":"m","code":"rate_limit_exceeded","type":"x"}"#, 429, "m"),
            (r#"{"message":"m","code":null,"type":"overloaded_error"}"#, 529, "m"),
            (r#""m""#, 500, "m"),
            ("[7]", 500, "an error without a message"),
            ("{}", 500, "an error without a message"),
        ] {
            let fault: Fault = serde_json::from_str(object).unwrap();
            let ModelError::Status { status, message, .. } = fault.into_model_error(&endpoint) else {
                panic!("{object}")
            };
            assert_eq!((status, message.as_str()), (expected, words), "{object}");
        }
    }
}
