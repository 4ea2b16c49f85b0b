//! Requests to one server: its key, retries, size limits, and whose fault a failure is.

use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use planproof_tools::connections::{Connections, innermost};
use planproof_trace::{Secrets, json};
use secrecy::ExposeSecret;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::failure::{Blame, ToolFailure, quoted};
use crate::settings::{Endpoint, KeyPlace, Patience, Service, SettingError};

/// Most bytes of an answer with a picture in it.
pub const PICTURE_ANSWER_BYTES_MAX: usize = 64 << 20;
/// Most bytes of any other answer.
pub const TEXT_ANSWER_BYTES_MAX: usize = 1 << 20;
/// Most bytes that are read of a refusal.
const REFUSAL_BYTES_MAX: usize = 16 << 10;

/// Phrases of chat-model servers, in lower case, for a text that is longer than the model's context. They have no
/// separate status for it.
const TOO_LONG: [&str; 6] = [
    "context length",
    "context_length",
    "context size",
    "context_size",
    "context window",
    "prompt is too long",
];

/// Servers of public data want to know the client, and where to find out more.
const AGENT: HeaderValue = HeaderValue::from_static(concat!(
    "planproof/",
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("CARGO_PKG_REPOSITORY"),
    ")"
));

/// A server of one service.
#[derive(Clone)]
pub(crate) struct Client(Arc<Server>);

struct Server {
    service: Service,
    base: String,
    /// With the key, if it belongs there.
    headers: HeaderMap,
    /// The key as a parameter, if it belongs there.
    key_parameter: Option<(String, String)>,
    secrets: Secrets,
    connections: Connections,
    patience: Patience,
}

/// A request, which is repeated unchanged if that may help.
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// The path after the base URL, with its `/`.
    pub(crate) path: String,
    pub(crate) parameters: Vec<(&'static str, String)>,
    /// The body and its type.
    pub(crate) body: Option<(String, Bytes)>,
    pub(crate) answer_bytes_max: usize,
}

impl Ask {
    /// A question without a body.
    pub(crate) fn get(path: impl Into<String>, parameters: Vec<(&'static str, String)>) -> Self {
        let (path, answer_bytes_max) = (path.into(), TEXT_ANSWER_BYTES_MAX);
        Self { method: Method::GET, path, parameters, body: None, answer_bytes_max }
    }

    /// A question with a body.
    pub(crate) fn post(path: &str, content_type: &str, body: Vec<u8>, answer_bytes_max: usize) -> Self {
        let body = Some((content_type.to_owned(), Bytes::from(body)));
        Self { method: Method::POST, path: path.to_owned(), parameters: Vec::new(), body, answer_bytes_max }
    }

    /// A question in JSON.
    pub(crate) fn json(path: &str, body: &serde_json::Value, answer_bytes_max: usize) -> Self {
        Self::post(path, "application/json", body.to_string().into_bytes(), answer_bytes_max)
    }
}

/// A server's refusal of a request.
struct Refusal {
    /// Its words, to follow the status.
    why: String,
    /// Only the call can be at fault: a chat model got more text than it reads, or a translator was asked for an
    /// unknown language, of which there is no list here.
    is_of_the_call: bool,
}

/// How one attempt failed.
enum Miss {
    /// The next attempt may succeed; how long the server asks to wait.
    Passing {
        what: String,
        wait: Option<Duration>,
    },
    Lasting(ToolFailure),
}

impl Client {
    /// A server. Nothing is asked yet.
    pub(crate) fn new(
        service: Service,
        endpoint: &Endpoint,
        patience: Patience,
    ) -> Result<Self, SettingError> {
        // The URL is not repeated in these messages, because the fault may be a password in it.
        let url = |reason: String| SettingError::Url { service, reason };
        // The paths of requests begin with a slash.
        let base = endpoint.url.trim_end_matches('/').to_owned();
        let uri: Uri = base.parse().map_err(|error| url(format!("{error}")))?;
        let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
            return Err(url("it names no host".to_owned()));
        };
        if authority.as_str().contains('@') {
            let name = format!("media.{service}.key-env");
            return Err(url(format!("it holds a user name or a password; a key belongs into `{name}`")));
        }
        if uri.query().is_some() || base.contains('#') {
            return Err(url("it goes on after the path".to_owned()));
        }
        if patience.attempts_max == 0 {
            return Err(SettingError::NoAttempts);
        }
        let connections = Connections::new(&uri).map_err(|error| url(error.to_string()))?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, AGENT);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut key_parameter = None;
        if let Some(key) = endpoint.key.as_ref().map(ExposeSecret::expose_secret) {
            match &endpoint.key_place {
                KeyPlace::Bearer => {
                    headers.insert(AUTHORIZATION, key_header(service, &format!("Bearer {key}"))?);
                }
                KeyPlace::Header(name) => {
                    let found = || SettingError::KeyPlace { service, found: quoted(name) };
                    headers
                        .insert(name.parse::<HeaderName>().map_err(|_| found())?, key_header(service, key)?);
                }
                KeyPlace::Query(name) => key_parameter = Some((name.clone(), key.to_owned())),
            }
        }
        // A server may repeat the key in an error, and its errors are quoted.
        let secrets = Secrets::new(endpoint.key.iter().map(|key| key.expose_secret().to_owned()));
        let server = Server { service, base, headers, key_parameter, secrets, connections, patience };
        Ok(Self(Arc::new(server)))
    }

    /// The answer, read as JSON.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, ToolFailure> {
        let bytes = self.send(ask).await?;
        json::read(&bytes).map_err(|error| {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(REFUSAL_BYTES_MAX)]).into_owned();
            let shown = |text: &str| quoted(&self.0.secrets.redact(text));
            // A text in the wrong place is repeated in the error, and may be as long as the whole answer.
            self.nonsense(&format!("{}; it begins with {}", shown(&error.to_string()), shown(&start)))
        })
    }

    /// The failure of a server whose answer does not follow the documentation.
    pub(crate) fn nonsense(&self, why: &str) -> ToolFailure {
        ToolFailure::world(format!("{} gave an answer that is not understood: {why}", self.0))
    }

    /// The failure of a request for something that does not exist according to the answer.
    pub(crate) fn refused(&self, why: &str) -> ToolFailure {
        ToolFailure::call(format!("{} refused the request: {}", self.0, quoted(&self.0.secrets.redact(why))))
    }

    async fn send(&self, ask: &Ask) -> Result<Bytes, ToolFailure> {
        let uri = self.0.uri(ask)?;
        let Patience { attempts_max, first_wait, wait_max, .. } = self.0.patience;
        let waits = ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(first_wait.min(wait_max))
            .with_max_delay(wait_max)
            // The first attempt is not a repetition, and `new` has refused 0 attempts.
            .with_max_times(attempts_max as usize - 1);
        let sent = (|| self.0.attempt(&uri, ask))
            .retry(waits)
            .sleep(tokio::time::sleep)
            .when(|miss| matches!(miss, Miss::Passing { .. }))
            .adjust(|miss, wait| match miss {
                // `wait` is `None` after the last attempt, even if the server asks for a wait.
                Miss::Passing { wait: Some(asked), .. } => wait.map(|_| (*asked).min(wait_max)),
                _ => wait,
            })
            .await;
        sent.map_err(|miss| match miss {
            Miss::Lasting(failure) => failure,
            Miss::Passing { what, .. } => {
                ToolFailure::world(format!("{} {what}, {attempts_max} times over", self.0))
            }
        })
    }
}

impl Server {
    fn uri(&self, ask: &Ask) -> Result<Uri, ToolFailure> {
        let mut url = format!("{}{}", self.base, ask.path);
        let own = ask.parameters.iter().map(|(name, value)| (*name, value.as_str()));
        let key = self.key_parameter.iter().map(|(name, key)| (name.as_str(), key.as_str()));
        for (number, (name, value)) in own.chain(key).enumerate() {
            url.push(if number == 0 { '?' } else { '&' });
            let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
            url.push_str(&format!("{}={}", encoded(name), encoded(value)));
        }
        // The rest of the URL was checked or is ours, so only the length of a text can be wrong.
        url.parse().map_err(|_| {
            ToolFailure::call("the text is too long for the URL of a request: give a shorter one")
        })
    }

    async fn attempt(&self, uri: &Uri, ask: &Ask) -> Result<Bytes, Miss> {
        match timeout(self.patience.attempt, self.exchange(uri, ask)).await {
            Ok(result) => result,
            // A request that was begun may have cost something, so it is not repeated.
            Err(_) => {
                let limit = self.patience.attempt;
                Err(Miss::Lasting(ToolFailure::world(format!("{self} did not answer within {limit:?}"))))
            }
        }
    }

    async fn exchange(&self, uri: &Uri, ask: &Ask) -> Result<Bytes, Miss> {
        // The clone shares the bytes, so a repetition copies no picture.
        let (content_type, body) = ask.body.clone().unwrap_or_default();
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = self.headers.clone();
        if !content_type.is_empty() {
            let value = HeaderValue::from_str(&content_type);
            let value = value.map_err(|error| Miss::Lasting(ToolFailure::world(error.to_string())))?;
            request.headers_mut().insert(CONTENT_TYPE, value);
        }
        let response = self.connections.request(request).await.map_err(|error| {
            let what = if error.is_connect() { "cannot be reached" } else { "broke the connection" };
            Miss::Passing { what: format!("{what} ({})", innermost(&error)), wait: None }
        })?;
        let status = response.status();
        if status.is_success() {
            return self.body(response, ask.answer_bytes_max).await;
        }
        let wait = retry_after(response.headers());
        let Refusal { why, is_of_the_call } = self.refusal(response).await;
        let what = format!("answered {status}{why}");
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Err(Miss::Passing { what, wait }),
            status if status.is_server_error() => Err(Miss::Passing { what, wait }),
            // The amount of data depends on the call alone.
            StatusCode::PAYLOAD_TOO_LARGE => Err(Miss::Lasting(ToolFailure::call(format!("{self} {what}")))),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if is_of_the_call => {
                Err(Miss::Lasting(ToolFailure::call(format!("{self} {what}"))))
            }
            // The arguments were checked before anything was sent, and the form of the request is ours: whether the
            // server dislikes that form or its contents is unknown, and the agent gets the benefit of the doubt.
            StatusCode::BAD_REQUEST
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY => Err(Miss::Lasting(ToolFailure::world(format!(
                "{self} does not take the form of our request: it {what}"
            )))),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let service = self.service;
                Err(Miss::Lasting(ToolFailure::world(format!(
                    "{self} {what}: see `media.{service}.key-env`"
                ))))
            }
            _ => {
                let service = self.service;
                Err(Miss::Lasting(ToolFailure::world(format!("{self} {what}: see `media.{service}.url`"))))
            }
        }
    }

    async fn body(&self, response: Response<Incoming>, bytes_max: usize) -> Result<Bytes, Miss> {
        match Limited::new(response.into_body(), bytes_max).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => {
                let what = format!("{self} gave an answer that is longer than {bytes_max} bytes");
                Err(Miss::Lasting(ToolFailure::world(what)))
            }
            Err(error) => {
                let what = format!("broke the connection ({})", innermost(&*error));
                Err(Miss::Passing { what, wait: None })
            }
        }
    }

    /// What a refusal says.
    async fn refusal(&self, response: Response<Incoming>) -> Refusal {
        let read = Limited::new(response.into_body(), REFUSAL_BYTES_MAX).collect().await;
        let bytes = read.map(Collected::to_bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let text = self.secrets.redact(&text);
        let lower = text.to_lowercase();
        // Searched in all that was read, of which a message quotes only the beginning.
        let is_of_the_call = match self.service {
            Service::Chat => TOO_LONG.iter().any(|words| lower.contains(words)),
            service => service == Service::Translation,
        };
        let why = if text.trim().is_empty() { String::new() } else { format!(" ({})", quoted(&text)) };
        Refusal { why, is_of_the_call }
    }
}

/// The server by its setting. Its URL is not shown: it is the user's affair, not the agent's.
impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the server of `media.{}.url`", self.service)
    }
}

fn key_header(service: Service, text: &str) -> Result<HeaderValue, SettingError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| SettingError::Key { service })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Seconds only: dates, which the header may contain as well, are ignored.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The failure of a tool whose server is not configured.
pub(crate) fn not_configured(service: Service) -> ToolFailure {
    ToolFailure {
        fault: Blame::World,
        message: format!(
            "nothing answers for this tool: set `media.{service}.url`{}; docs/media.md says what it has to answer",
            match service {
                Service::Chat | Service::Images | Service::Audio => format!(" and `media.{service}.model`"),
                _ => String::new(),
            }
        ),
    }
}
