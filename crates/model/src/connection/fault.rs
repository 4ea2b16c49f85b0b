//! Error objects of the providers: their messages, and the matching HTTP status.

use planproof_trace::json;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::ModelError;
use crate::http::Endpoint;

/// An error object. Gateways also put it into answers of status 200, into their choices, and into streams that have
/// begun.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Fault {
    /// The common shape.
    Object {
        message: Option<String>,
        /// For programs: a word or a number.
        #[serde(alias = "status_code")]
        code: Option<Value>,
        /// The kind of error, a word.
        #[serde(rename = "type")]
        kind: Option<Value>,
        /// A word or a number.
        status: Option<Value>,
        /// What a gateway knows of the provider behind it.
        metadata: Option<Value>,
    },
    Text(String),
    Other(IgnoredAny),
}

impl Fault {
    /// An error object that has these fields only.
    pub(crate) fn new(message: Option<String>, code: Option<Value>) -> Self {
        Self::Object { message, code, kind: None, status: None, metadata: None }
    }

    /// The field `error` of a reply. What says nothing is not an error: some servers send it with every reply.
    pub(crate) fn of_field<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Self>, D::Error> {
        let value = Value::deserialize(deserializer)?;
        // Every value is a `Fault`.
        Ok(if says_nothing(&value) { None } else { serde_json::from_value(value).ok() })
    }

    /// The error that such an object stands for, if it came without a status of its own: that of its numeric code or
    /// of its words, else 500.
    pub(crate) fn into_model_error(self, endpoint: &Endpoint) -> ModelError {
        let (message, status) = self.into_message_and_status();
        ModelError::Status {
            url: endpoint.url().to_owned(),
            // Without a known code it counts as an error of the server, which is transient.
            status: status.unwrap_or(500),
            message: endpoint.line(&message),
            retry_after: None,
        }
    }

    /// The error if the object came in a reply that had begun. The server had taken the request by then, so it is never
    /// the request that is invalid.
    pub(crate) fn within_reply(self, endpoint: &Endpoint) -> ModelError {
        let (message, status) = self.into_message_and_status();
        match status {
            Some(status @ (400 | 413 | 422)) => endpoint.failed(&format!("{message} (code {status})")),
            _ => Self::new(Some(message), status.map(Value::from)).into_model_error(endpoint),
        }
    }

    fn into_message_and_status(self) -> (String, Option<u16>) {
        let (message, status) = match self {
            Self::Object { message, code, kind, status, metadata } => {
                let places = [code.as_ref(), status.as_ref(), kind.as_ref()];
                let known =
                    places.into_iter().flatten().find_map(number_of).or_else(|| {
                        places.into_iter().flatten().filter_map(Value::as_str).find_map(status_of)
                    });
                // Gateways have a message of their own, and the provider's words beside it.
                let raw = metadata.as_ref().and_then(|metadata| metadata.get("raw")).and_then(Value::as_str);
                let message = match (message, raw.filter(|raw| !raw.is_empty())) {
                    (Some(message), Some(raw)) => Some(format!("{message}: {raw}")),
                    (message, raw) => message.or_else(|| raw.map(str::to_owned)),
                };
                (message, known)
            }
            Self::Text(text) => (Some(text), None),
            Self::Other(_) => (None, None),
        };
        (message.unwrap_or_else(|| "an error without a message".to_owned()), status)
    }
}

/// An HTTP status, written as a number or as a text.
fn number_of(value: &Value) -> Option<u16> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().and_then(|number| u16::try_from(number).ok()),
    };
    number.filter(|status| (400..600).contains(status))
}

/// Parts of the codes and kinds of errors, with the HTTP status that they stand for; the first part that occurs counts.
/// Case and the marks between words do not matter.
const STATUSES: [(&str, u16); 24] = [
    ("ratelimit", 429),
    ("quota", 429),
    ("exhausted", 429),
    ("toomanyrequests", 429),
    ("throttl", 429),
    ("overloaded", 529),
    ("timeout", 504),
    ("deadline", 504),
    ("unavailable", 503),
    ("authentication", 401),
    ("apikey", 401),
    ("unauthorized", 401),
    ("billing", 402),
    ("permission", 403),
    ("toolarge", 413),
    ("previousresponsenotfound", 400),
    ("notfound", 404),
    ("conflict", 409),
    ("invalidrequest", 400),
    ("invalidprompt", 400),
    ("invalidargument", 400),
    ("badrequest", 400),
    ("policy", 400),
    ("residency", 400),
];

/// The HTTP status of an error's code or kind, by its parts.
fn status_of(word: &str) -> Option<u16> {
    let letters: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    STATUSES.into_iter().find(|(part, _)| letters.contains(part)).map(|(_, status)| status)
}

/// The message in an error reply, in the shape of OpenAI or Anthropic or in one that other servers use.
pub(crate) fn message(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Reply {
        /// Google's servers put the reply into a list.
        List([ErrorReply; 1]),
        One(ErrorReply),
    }
    #[derive(Deserialize)]
    struct ErrorReply {
        error: Option<Fault>,
        message: Option<String>,
        detail: Option<String>,
    }
    let (Reply::List([reply]) | Reply::One(reply)) = json::read(bytes).ok()?;
    match reply.error {
        Some(Fault::Object { message: Some(text), .. } | Fault::Text(text)) => Some(text),
        _ => reply.message.or(reply.detail),
    }
}

/// The error that a document or an event tells which should have been a reply or a part of one, in whichever shape: no
/// protocol has one for it, and every provider has its own. `None` for what does not speak of an error at all.
pub(crate) fn reported_error(bytes: &[u8]) -> Option<Fault> {
    let value: Value = json::read(bytes).ok()?;
    // Google's servers put the object into a list.
    let value = match value {
        Value::Array(mut values) if !values.is_empty() => values.swap_remove(0),
        value => value,
    };
    let fields = value.as_object()?;
    let has_reply =
        fields.iter().any(|(name, value)| REPLIES.contains(&name.as_str()) && !says_nothing(value));
    if has_reply || !fields.iter().any(|(name, value)| speaks_of_error(name, value)) {
        return None;
    }
    if let Some(error) = fields.get("error").filter(|error| error.is_object()) {
        return serde_json::from_value(error.clone()).ok();
    }
    let message = message_in(&value).unwrap_or_else(|| value.to_string());
    Some(Fault::new(Some(message), status_in(&value).map(Value::from)))
}

/// The fields that replies and their parts are in.
const REPLIES: [&str; 5] = ["choices", "content", "output", "delta", "candidates"];

/// Fields whose text is what an error says, without case and the marks between words. The first one counts.
const MESSAGES: [&str; 10] = [
    "message",
    "errormessage",
    "errormsg",
    "msg",
    "statusmsg",
    "detail",
    "error",
    "exception",
    "reason",
    "description",
];

/// Fields that tell which error it is.
const CODES: [&str; 8] =
    ["code", "statuscode", "errorcode", "errcode", "httpcode", "status", "type", "errortype"];

/// How deep in a document its message is looked for.
const ERROR_DEPTH_MAX: usize = 5;

fn letters_of(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Whether a value says nothing, as that of `error` in each reply of some servers: `null`, `""`, `{}`, `false`, `[]`,
/// `0`.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(object) => object.values().all(Value::is_null),
    }
}

/// Whether a field at the top of a document is one that only documents of errors have.
fn speaks_of_error(name: &str, value: &Value) -> bool {
    let letters = letters_of(name);
    match letters.as_str() {
        "message" | "msg" => value.as_str().is_some_and(|text| !text.is_empty()),
        "success" | "ok" => *value == Value::Bool(false),
        "baseresp" => value.get("status_code").is_some_and(|code| !says_nothing(code)),
        "type" | "object" | "status" if name != "__type" => value.as_str() == Some(ERROR),
        "detail" | "errors" | "errormsg" | "errormessage" | "errorcode" | "errcode" | "errmsg" => {
            !says_nothing(value)
        }
        _ => {
            let is_named = letters.ends_with("error") || letters.ends_with("exception") || name == "__type";
            // Amazon's gateways put the error below the name of what should have been there.
            (is_named && !says_nothing(value)) || value.get("__type").is_some()
        }
    }
}

/// The objects and texts in a document, outer ones first, each with the name of its field.
fn by_depth(value: &Value) -> Vec<(&str, &Value)> {
    let (mut all, mut level) = (Vec::new(), vec![("", value)]);
    for _ in 0..ERROR_DEPTH_MAX {
        let mut deeper = Vec::new();
        for (name, value) in &level {
            match value {
                Value::Object(fields) => {
                    deeper.extend(fields.iter().map(|(name, value)| (name.as_str(), value)));
                }
                Value::Array(values) => deeper.extend(values.iter().map(|value| (*name, value))),
                _ => {}
            }
        }
        all.append(&mut level);
        level = deeper;
    }
    all.extend(level);
    all
}

/// What the error in a document says.
fn message_in(value: &Value) -> Option<String> {
    let all = by_depth(value);
    let texts = || all.iter().filter_map(|(name, value)| Some((letters_of(name), value.as_str()?)));
    let of = |wanted: &str| {
        texts()
            .find(|(name, text)| name.trim_end_matches('s') == wanted && !text.is_empty())
            .map(|(_, text)| text)
    };
    MESSAGES.into_iter().find_map(of).map(str::to_owned)
}

/// The HTTP status of the error in a document, by its numbers, else by its words and the names of its fields.
fn status_in(value: &Value) -> Option<u16> {
    let all = by_depth(value);
    let codes = || all.iter().filter(|(name, _)| CODES.contains(&letters_of(name).as_str()));
    codes()
        .find_map(|(_, value)| number_of(value))
        .or_else(|| codes().filter_map(|(_, value)| value.as_str()).find_map(status_of))
        .or_else(|| {
            all.iter().filter(|(_, value)| !says_nothing(value)).find_map(|(name, _)| status_of(name))
        })
}

/// The error that an event tells: one that is called so, whatever its data, or whose data call themselves so.
pub(crate) fn fault_event(name: Option<&str>, data: &str) -> Option<Fault> {
    #[derive(Deserialize)]
    struct Frame {
        #[serde(default, deserialize_with = "Fault::of_field")]
        error: Option<Fault>,
        object: Option<String>,
    }
    let is_called_so = name == Some(ERROR);
    // Most parts of a reply do not even have the word in them.
    if !is_called_so && !data.contains(OBJECT_ERROR) {
        return None;
    }
    let frame: Option<Frame> = json::read(data.as_bytes()).ok();
    let is_called_so = is_called_so || frame.as_ref().is_some_and(|it| it.object.as_deref() == Some(ERROR));
    let reported = frame.and_then(|frame| frame.error).or_else(|| reported_error(data.as_bytes()));
    is_called_so.then(|| reported.unwrap_or_else(|| Fault::Text(data.to_owned())))
}

/// The name of an event that tells an error, and the kind of such an object.
const ERROR: &str = "error";
const OBJECT_ERROR: &str = "\"error\"";

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
            r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#,
        ] {
            assert_eq!(message(body.as_bytes()).as_deref(), Some("m"), "{body}");
        }
        assert_eq!(message(b"<html>"), None);
        assert_eq!(message(br#"{"detail":[{"msg":"m"}]}"#), None);
    }

    #[test]
    fn errors_instead_of_replies_are_read_in_shapes_of_many_providers() {
        for (document, status, words) in [
            (r#"{"code":"Throttling","message":"slow down"}"#, 429, "slow down"),
            (r#"{"detail":"no capacity"}"#, 500, "no capacity"),
            (r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, 500, "field required"),
            (r#"{"message":"m"}"#, 500, "m"),
            (r#"{"error_code":336100,"error_msg":"try again"}"#, 500, "try again"),
            (
                r#"{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#,
                500,
                "rate limit",
            ),
            (
                r#"{"errors":[{"code":"token_quota_reached","message":"quota"}],"status_code":403}"#,
                403,
                "quota",
            ),
            (
                r#"{"success":false,"errors":[{"code":7009,"message":"Upstream"}],"result":{}}"#,
                500,
                "Upstream",
            ),
            (r#"{"errors":["down"]}"#, 500, "down"),
            (r#"{"throttlingException":{"message":"Too many"}}"#, 429, "Too many"),
            (r#"{"internalServerException":{"message":"oops"}}"#, 500, "oops"),
            (
                r#"{"Output":{"__type":"com.amazon#ThrottlingException"},"Version":"1.0"}"#,
                429,
                "{\"Output\":",
            ),
            (
                r#"[{"error":{"code":503,"message":"The model is overloaded","status":"UNAVAILABLE"}}]"#,
                503,
                "The model",
            ),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#, 529, "m"),
            (r#"{"statusCode":429,"error":"Too Many Requests","message":"later"}"#, 429, "later"),
            (r#"{"error":"model not loaded"}"#, 500, "model not loaded"),
        ] {
            let fault = reported_error(document.as_bytes()).expect(document);
            let (message, found) = fault.into_message_and_status();
            assert_eq!(found.unwrap_or(500), status, "{document}");
            assert!(message.starts_with(words), "{message}");
        }
        for other in [
            "null",
            "{}",
            "7",
            r#"{"jsonrpc":"2.0","method":"x"}"#,
            r#"{"beam":1}"#,
            r#"{"type":"ping"}"#,
            r#"{"choices":[],"usage":{"total_tokens":7}}"#,
            r#"{"choices":[{"delta":{}}],"message":"m"}"#,
            r#"{"base_resp":{"status_code":0,"status_msg":""}}"#,
            r#"{"error":null,"errors":[],"detail":"","success":true}"#,
            r#"{"message":{"role":"assistant"},"done":false}"#,
            r#"{"type":"hologram","object":"chat.completion.chunk","status":"queued"}"#,
        ] {
            assert!(reported_error(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn what_says_nothing_is_no_error() {
        #[derive(Deserialize)]
        struct Reply {
            #[serde(default, deserialize_with = "Fault::of_field")]
            error: Option<Fault>,
        }
        let has_error = |json: &str| serde_json::from_str::<Reply>(json).unwrap().error.is_some();
        for nothing in ["null", "\"\"", "{}", "false", "[]", "0", r#"{"message":null,"code":null}"#] {
            assert!(!has_error(&format!("{{\"error\":{nothing}}}")), "{nothing}");
        }
        assert!(!has_error("{}"));
        for something in ["true", "\"m\"", r#"{"code":1}"#, "[1]", "1", r#"{"message":""}"#] {
            assert!(has_error(&format!("{{\"error\":{something}}}")), "{something}");
        }
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
            (r#"{"message":"m","code":"429"}"#, 429, "m"),
            (r#"{"message":"m","code":" 503 "}"#, 503, "m"),
            (r#"{"message":"m","code":"1302","type":"rate_limit"}"#, 429, "m"),
            (r#"{"message":"m","status":"RESOURCE_EXHAUSTED"}"#, 429, "m"),
            (r#"{"message":"m","status":503,"code":null,"type":7}"#, 503, "m"),
            (r#"{"message":"m","status_code":404}"#, 404, "m"),
            (r#"{"message":"m","type":"BadRequestError"}"#, 400, "m"),
            (r#"{"message":"m","code":502,"metadata":{"raw":"r"}}"#, 502, "m: r"),
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
            // Within a reply, the request was not the mistake.
            let fault: Fault = serde_json::from_str(object).unwrap();
            let error = fault.within_reply(&endpoint);
            assert_eq!(error.status(), (expected != 400).then_some(expected), "{object}");
            assert!(expected != 400 || error.is_transient());
        }
    }
}
