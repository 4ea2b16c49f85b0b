//! HTTP endpoints of one server: its pooled connections, the key that is sent to it, and failures on the way.
//!
//! Built directly on hyper's pooled client, because thousands of requests are in flight at once and each must stay
//! small: no part of a request is kept once it has been sent.

mod body;

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderName, HeaderValue,
    LOCATION, RETRY_AFTER, USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use planproof_loopback::check_port;
use planproof_trace::json::{self, unmarked};
use planproof_trace::{FinishReason, Usage, plain_message};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ModelError;
use crate::connection::ending::{self, Ending, Said};
use crate::connection::events::{Framing, events_in, is_done};
use crate::connection::fault;
use crate::connection::key::Key;
use crate::connection::parameters::Failed;
use crate::connection::silence::Silence;
use crate::connection::thoughts::{Thinking, Thoughts};
use crate::content::arguments_text;
use crate::page::{PAGE_CHARACTERS_MAX, page_text};
pub(crate) use body::{BodyError, ReplyBody};

/// Most bytes of an error reply that are read before its message is looked for.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// Most characters of a server's message in one of our errors.
const ERROR_CHARACTERS_MAX: usize = 300;

/// Most bytes of a connection's read buffer, and so of a reply's headers. The buffer begins with 8 KiB and grows only
/// if a reply fills it; it takes most of the memory of a request in flight.
const READ_BUFFER_BYTES_MAX: usize = 64 << 10;

/// How long the setting up of a TCP connection may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(30);

/// How long an unused connection is kept; shorter than servers usually do, so that we close it first.
const IDLE_TIME_MAX: Duration = Duration::from_secs(30);

/// Most unused connections that are kept.
const IDLE_CONNECTIONS_MAX: usize = 8192;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("planproof/", env!("CARGO_PKG_VERSION")));

/// The format of a reply that is asked for. Servers also send the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyForm {
    /// One JSON document.
    Json,
    Events,
}

enum Connections {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Encrypted(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

/// As whom a server is asked.
pub(crate) struct Identity {
    /// The key, if there is one.
    pub(crate) key: Key,
    /// The header that carries the key.
    pub(crate) key_header: KeyHeader,
    /// Headers that every request carries.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// The environment variable that holds the key, for messages.
    pub(crate) key_variable: &'static str,
    /// The environment variable that may hold the server's base URL, for messages.
    pub(crate) base_url_variable: &'static str,
}

/// Where a server looks for the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    Bearer,
    ApiKey,
}

/// The data that all endpoints of one server share.
struct Server {
    key: Key,
    /// The headers that are the same for every request.
    headers: HeaderMap,
    key_variable: &'static str,
    base_url_variable: &'static str,
    connections: Connections,
}

/// A URL that JSON is POSTed to.
pub(crate) struct Endpoint {
    uri: Uri,
    url: String,
    /// What comes after the base URL.
    path: &'static str,
    server: Arc<Server>,
    thinking: Thinking,
}

impl Endpoint {
    /// The endpoint at `base_url` + `path`. Certificates are loaded only for `https`.
    ///
    /// [`ModelError::Configuration`] for a URL that is not plain `http(s)://host[:port][/path]`, for a key that no
    /// header can carry, and if there are no root certificates for `https`.
    pub(crate) fn new(base_url: &str, path: &'static str, identity: Identity) -> Result<Self, ModelError> {
        let (url, uri) = parse_url(base_url, path, identity.base_url_variable)?;
        let Some(authority) = uri.authority() else {
            return Err(refuse("the base URL needs a scheme and a host, as in http://127.0.0.1:8000/v1"));
        };
        // The URL is in error messages, where a password would be visible.
        if authority.as_str().contains('@') {
            return Err(refuse("the base URL must not hold a user name or a password: give a key instead"));
        }
        // The parser drops a fragment, so the text is searched for one.
        if uri.query().is_some() || base_url.contains('#') {
            return Err(refuse("the base URL must not hold a query or a fragment"));
        }
        let host = HeaderValue::from_str(authority.as_str())
            .map_err(|_| refuse("the base URL's host has characters that no header can carry"))?;
        let connections = match uri.scheme_str() {
            Some("http") => Connections::Plain(pool().build(tcp(true))),
            Some("https") => Connections::Encrypted(pool().build(tls()?)),
            _ => return Err(refuse("the base URL must begin with http:// or https://")),
        };
        let Identity { key, key_header, headers: fixed, key_variable, base_url_variable } = identity;
        // Made once; every request gets a copy.
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(HOST, host);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, AGENT);
        for (name, value) in fixed {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(text) = key.expose() {
            let (name, value) = match key_header {
                KeyHeader::Bearer => (AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {text}"))),
                KeyHeader::ApiKey => (HeaderName::from_static("x-api-key"), HeaderValue::from_str(text)),
            };
            let mut value = value
                .map_err(|_| refuse("the API key has characters that no header can carry: a line break?"))?;
            // Keeps the key out of debug output.
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let server = Server { key, headers, key_variable, base_url_variable, connections };
        Ok(Self { uri, url, path, server: Arc::new(server), thinking: Thinking::default() })
    }

    /// Another endpoint of the same server, at `base_url` + `path`, with the same connections and key.
    ///
    /// # Errors
    /// Those of [`Endpoint::new`].
    pub(crate) fn sibling(&self, base_url: &str, path: &'static str) -> Result<Self, ModelError> {
        let (url, uri) = parse_url(base_url, path, self.server.base_url_variable)?;
        Ok(Self { uri, url, path, server: Arc::clone(&self.server), thinking: Thinking::default() })
    }

    /// The same endpoint, of whose models it is known that their thoughts come with an opening mark, or apart.
    pub(crate) fn with_plain_thinking(self) -> Self {
        Self { thinking: Thinking::plain(), ..self }
    }

    /// What is known of the thoughts in its replies.
    pub(crate) fn thinking(&self) -> &Thinking {
        &self.thinking
    }

    /// The full URL, for messages.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The host, without the port.
    pub(crate) fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    /// The key that is sent, and that must never leave through a reply.
    pub(crate) fn key(&self) -> &Key {
        &self.server.key
    }

    /// Sends one request and waits for the head of a successful answer. No retry, no time limit.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`] without a connection, [`ModelError::Broken`] without an answer,
    /// [`ModelError::Status`] for an answer that is not 2xx, [`ModelError::Malformed`] for one that is packed.
    pub(crate) async fn post(&self, body: Vec<u8>, form: ReplyForm) -> Result<Response<ReplyBody>, Failed> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        request.headers_mut().clone_from(&self.server.headers);
        let accepted = match form {
            ReplyForm::Json => "application/json",
            ReplyForm::Events => "text/event-stream",
        };
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accepted));
        let response = match &self.server.connections {
            Connections::Plain(client) => client.request(request),
            Connections::Encrypted(client) => client.request(request),
        }
        .await
        .map_err(|error| {
            let variable = self.server.base_url_variable;
            let cause = innermost(&error);
            let reason = if cause.contains(NO_TLS) {
                format!("the server does not speak TLS: write http:// instead of https:// ({variable})")
            } else {
                let hint = format!("is the server running, and is its URL right ({variable})?");
                format!("{cause}; {hint}{}", self.version_hint())
            };
            // Without a connection the server has done no work, so such a request is never charged.
            if error.is_connect() { self.unreachable(&reason) } else { self.broken_off(&reason) }
        })?;
        let (head, body) = response.into_parts();
        let body = ReplyBody::new(body);
        if !head.status.is_success() {
            let retry_after = retry_after(&head.headers);
            // Redirects are not followed, so the message names their target.
            let (message, text) = match header(&head.headers, LOCATION).filter(|_| redirects(head.status)) {
                Some(place) => {
                    (self.line(&format!("it redirects to {place}, which is not followed")), String::new())
                }
                None => self.error_message(body).await,
            };
            let (url, status) = (self.url.clone(), head.status.as_u16());
            let message = match status {
                _ if is_missing(status, &message) => self.missing(&message),
                401 => message + &self.key_hint(),
                _ => message,
            };
            let error = ModelError::Status { url, status, message, retry_after };
            return Err(Failed { error, text: Some(text) });
        }
        let plain = ["", "identity", "none"];
        let is_packed = |name: &&str| !plain.iter().any(|plain| name.trim().eq_ignore_ascii_case(plain));
        if let Some(encoding) = header(&head.headers, CONTENT_ENCODING).filter(is_packed) {
            return Err(self
                .malformed(&format!("its encoding is {encoding}, which was not asked for"))
                .into());
        }
        Ok(Response::from_parts(head, body))
    }

    /// Reads another page of the same server, with the same key: by GET, or by POST with a body. No retry, no time
    /// limit.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`], [`ModelError::Broken`], [`ModelError::Malformed`] for a page that is too large or a
    /// URL that is none, and [`ModelError::Status`] for an answer that is not 2xx.
    pub(crate) async fn look_up(&self, url: &str, body: Option<Vec<u8>>) -> Result<Bytes, ModelError> {
        let uri: Uri = url.parse().map_err(|_| self.malformed("a page of it has no URL"))?;
        let mut request = Request::new(Full::new(Bytes::new()));
        if let Some(body) = body {
            *request.method_mut() = Method::POST;
            *request.body_mut() = Full::new(Bytes::from(body));
        }
        *request.uri_mut() = uri;
        request.headers_mut().clone_from(&self.server.headers);
        let response = match &self.server.connections {
            Connections::Plain(client) => client.request(request),
            Connections::Encrypted(client) => client.request(request),
        };
        let response = response.await.map_err(|error| {
            let cause = innermost(&error);
            let variable = self.server.base_url_variable;
            let reason = format!("{cause}; is the server running, and is its URL right ({variable})?");
            if error.is_connect() { self.unreachable(&reason) } else { self.broken_off(&reason) }
        })?;
        let (head, body) = response.into_parts();
        let body = ReplyBody::new(body);
        if !head.status.is_success() {
            let (url, status) = (url.to_owned(), head.status.as_u16());
            let (mut message, _) = self.error_message(body).await;
            if status == 401 {
                message += &self.key_hint();
            }
            return Err(ModelError::Status { url, status, message, retry_after: None });
        }
        self.read(body, None).await
    }

    /// Reads a whole reply, with this limit on the silence between its pieces, if there is one.
    ///
    /// # Errors
    /// [`ModelError::Broken`] if the connection breaks, [`ModelError::Malformed`] above [`body::REPLY_BYTES_MAX`],
    /// [`ModelError::TimedOut`] after a silence.
    pub(crate) async fn read(
        &self,
        mut body: ReplyBody,
        mut silence: Option<Silence>,
    ) -> Result<Bytes, ModelError> {
        let mut whole = Bytes::new();
        let mut pieces = BytesMut::new();
        loop {
            let frame = match &silence {
                Some(silence) => silence.until(self, body.frame()).await?,
                None => body.frame().await,
            };
            let Some(frame) = frame else { break };
            let Ok(data) = frame.map_err(|error| self.broken(&error))?.into_data() else { continue };
            if let Some(silence) = &mut silence {
                silence.renew_for(&data);
            }
            // Most replies come in one piece, which is then not copied.
            if whole.is_empty() && pieces.is_empty() {
                whole = data;
            } else {
                pieces.extend_from_slice(&std::mem::take(&mut whole));
                pieces.extend_from_slice(&data);
            }
        }
        // The connection returns to the pool a moment after its last byte. The caller is likely to send another
        // request at once, and would open another connection if this one were not there yet.
        tokio::task::yield_now().await;
        Ok(if pieces.is_empty() { whole } else { pieces.freeze() })
    }

    /// The error for a reply that broke off or is too large.
    pub(crate) fn broken(&self, error: &BodyError) -> ModelError {
        match error {
            BodyError::Cut(cause) => self.broken_off(&format!(
                "the connection broke in the middle of the reply: {}",
                innermost(cause)
            )),
            BodyError::TooLarge => self.malformed(&error.to_string()),
        }
    }

    /// The message of a server without such an endpoint, and what to do about it.
    fn missing(&self, message: &str) -> String {
        let Self { path, .. } = self;
        let variable = self.server.base_url_variable;
        let otherwise = match *path {
            "/completions" => ", or have the model asked in conversations (the continuation `chat`)",
            "/responses" => ", or take the agent `tools`, which sends the whole conversation",
            _ => "",
        };
        // Most servers have their endpoints below /v1, which users tend to forget.
        let version = if self.uri.path().contains(VERSION) { "" } else { ", which mostly ends in /v1" };
        format!(
            "{message}; there is no endpoint {path}: set {variable} to the URL up to and without {path}{version}{otherwise}"
        )
    }

    /// What may be wrong with a base URL without a path, as the end of a message.
    fn version_hint(&self) -> String {
        match self.url.strip_suffix(self.path) {
            Some(base) if self.uri.path() == self.path && !self.path.contains(VERSION) => {
                format!(" Most servers want {VERSION}, as in {base}{VERSION}")
            }
            _ => String::new(),
        }
    }

    /// What may be wrong with the key that a server refused, as the end of a message.
    fn key_hint(&self) -> String {
        let variable = self.server.key_variable;
        match self.key().expose() {
            None => format!("; {variable} is not set, and the server wants a key"),
            Some(key) if key.starts_with(['"', '\'']) => {
                format!("; {variable} begins with a quotation mark: is that a part of the key?")
            }
            Some(_) => String::new(),
        }
    }

    /// The error for a request that was sent, whose reply never arrived, or was incomplete.
    pub(crate) fn broken_off(&self, reason: &str) -> ModelError {
        ModelError::Broken { url: self.url.clone(), reason: self.line(reason) }
    }

    /// The error for a request that could not be sent.
    fn unreachable(&self, reason: &str) -> ModelError {
        ModelError::Unreachable { url: self.url.clone(), reason: self.line(reason) }
    }

    /// The error for a document that is not a reply, with its beginning.
    pub(crate) fn no_reply(&self, bytes: &[u8], what: &str) -> ModelError {
        self.malformed(&format!("{what} It begins with: {}", beginning(bytes)))
    }

    /// The error for a document that ends before it is whole.
    fn cut_off(&self, bytes: &[u8]) -> ModelError {
        self.broken_off(&format!(
            "the server stopped in the middle of the reply, which begins with: {}",
            beginning(bytes)
        ))
    }

    /// The text of a whole reply without thoughts, the thoughts that were in it, and why it ended.
    ///
    /// # Errors
    /// [`ModelError::Failed`] for a reason that is a failure of the provider, and for a reply of nothing at all.
    pub(crate) fn ended(
        &self,
        text: String,
        ending: Option<Ending>,
        has_calls: bool,
        has_thoughts: bool,
        usage: Usage,
    ) -> Result<(String, String, FinishReason), ModelError> {
        let said = Said::Nothing.and(&text);
        let said = if has_thoughts { said.and_thought() } else { said };
        let finish = ending::finish(ending, has_calls, said, usage).map_err(|what| self.failed(&what))?;
        let is_cut_short = finish == FinishReason::Length;
        let (text, thoughts) = Thoughts::removed_from(&self.thinking, text, is_cut_short);
        Ok((text, thoughts, finish))
    }

    /// The error for an answer that is not a reply.
    pub(crate) fn failed(&self, what: &str) -> ModelError {
        ModelError::Failed { url: self.url.clone(), what: self.line(what) }
    }

    /// The error for a reply that is not of this protocol.
    pub(crate) fn malformed(&self, what: &str) -> ModelError {
        ModelError::Malformed { url: self.url.clone(), what: self.line(what) }
    }

    /// Reads a whole reply as JSON, which the mark that ends streams may follow. `what` names it, as in "chat
    /// completion".
    ///
    /// # Errors
    /// [`ModelError::Malformed`] with the beginning of what was received; [`ModelError::Broken`] if it is no more than
    /// the beginning of a document.
    pub(crate) fn parse<'a, T: Deserialize<'a>>(&self, bytes: &'a [u8], what: &str) -> Result<T, ModelError> {
        // JSON has no byte order mark, but some servers write one.
        let bytes = unmarked(bytes);
        if let Err(error) = json::weigh(bytes) {
            return Err(self.malformed(&format!("no {what} that can be read: {error}")));
        }
        let mut documents = serde_json::Deserializer::from_slice(bytes).into_iter::<T>();
        let error = match documents.next() {
            Some(Ok(document)) if ends_stream(&bytes[documents.byte_offset()..]) => return Ok(document),
            Some(Ok(_)) => "more follows the document".to_owned(),
            Some(Err(error)) if error.is_eof() => return Err(self.cut_off(bytes)),
            Some(Err(error)) => plain_message(&error.to_string()),
            None => return Err(self.cut_off(bytes)),
        };
        Err(self.malformed(&format!("no {what}: {error}; it begins with: {}", beginning(bytes))))
    }

    /// Reads the data of a streamed event as JSON. `what` names what it is a part of.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] with what was received; [`ModelError::Broken`] if it is no more than the beginning of
    /// an event.
    pub(crate) fn parse_part<'a, T: Deserialize<'a>>(
        &self,
        data: &'a str,
        what: &str,
    ) -> Result<T, ModelError> {
        serde_json::from_str(data).map_err(|error| {
            if error.is_eof() {
                return self.cut_off(data.as_bytes());
            }
            let error = plain_message(&error.to_string());
            self.malformed(&format!("no part of a {what}: {error}: {data}"))
        })
    }

    /// The text of a call's arguments in a reply.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if its escapes do not decode.
    pub(crate) fn arguments<'a>(&self, raw: &'a RawValue) -> Result<Cow<'a, str>, ModelError> {
        arguments_text(raw).map_err(|error| self.malformed(&format!("a call's arguments: {error}")))
    }

    /// A server's message as one short line without the key.
    pub(crate) fn line(&self, text: &str) -> String {
        self.short_line(text, ERROR_CHARACTERS_MAX)
    }

    fn short_line(&self, text: &str, characters_max: usize) -> String {
        // The key is removed before anything else: both the line breaks and the cut could divide it.
        let text = self.key().removed_from(text);
        let mut line = String::new();
        for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty())
        {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if let Some((end, _)) = line.char_indices().nth(characters_max) {
            line.truncate(end);
            line.push('…');
        }
        line
    }

    /// The message in an error reply (that of a known error shape, else the text itself, of a page what is on it), and
    /// the whole text, in which a refused field may be named elsewhere.
    async fn error_message(&self, mut body: ReplyBody) -> (String, String) {
        let mut bytes = Vec::new();
        // A reply that breaks off is still worth showing as far as it was received.
        while let Some(Ok(frame)) = body.frame().await {
            if let Ok(data) = frame.into_data() {
                bytes.extend_from_slice(&data);
            }
            if bytes.len() >= ERROR_BYTES_MAX {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let line = match fault::message(&bytes) {
            Some(message) => self.line(&message),
            None => match page_text(&text) {
                Some(shown) => self.short_line(&shown, PAGE_CHARACTERS_MAX),
                None => self.line(&text),
            },
        };
        (if line.is_empty() { "no message".to_owned() } else { line }, text.into_owned())
    }
}

/// The beginning of what was received, of a page what is on it.
fn beginning(bytes: &[u8]) -> String {
    // Far more than is shown, so that the key is not cut in two before it is removed.
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    page_text(&start).unwrap_or_else(|| start.into_owned())
}

/// Whether what follows a document says nothing but that there is no more.
fn ends_stream(rest: &[u8]) -> bool {
    let is_end = || events_in(rest).iter().all(|event| is_done(&event.data));
    rest.trim_ascii().is_empty() || (Framing::of(rest) == Some(Framing::Events) && is_end())
}

/// Whether a status sends whoever asks to another place.
fn redirects(status: StatusCode) -> bool {
    matches!(status.as_u16(), 300..=303 | 307 | 308)
}

/// Whether an answer says that there is no such endpoint. For a missing model the status is 404 as well, but the
/// message names the model. Plain servers of files answer 501 to every POST.
fn is_missing(status: u16, message: &str) -> bool {
    matches!(status, 404 | 405 | 501) && !message.to_ascii_lowercase().contains("model")
}

/// A part of the TLS library's message about a server that answers without TLS.
const NO_TLS: &str = "InvalidContentType";

/// What the paths of OpenAI's protocols begin with.
const VERSION: &str = "/v1";

fn refuse(what: &str) -> ModelError {
    ModelError::Configuration { what: what.to_owned() }
}

/// `base_url` + `path`, as text and parsed. `variable` may hold the base URL.
fn parse_url(base_url: &str, path: &str, variable: &str) -> Result<(String, Uri), ModelError> {
    let url = format!("{}{path}", base_url.trim_end_matches('/'));
    // The URL is not repeated in this message and those that follow: the fault may be a password in it.
    let unread = |error: &dyn Display| {
        refuse(&format!(
            "the base URL cannot be read: {error}; write {variable} as in http://127.0.0.1:8000/v1"
        ))
    };
    let uri: Uri = url.parse::<Uri>().map_err(|error| unread(&error))?;
    check_port(&uri).map_err(|error| unread(&error))?;
    Ok((url, uri))
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn pool() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIME_MAX)
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .http1_max_buf_size(READ_BUFFER_BYTES_MAX);
    builder
}

fn tcp(plain_only: bool) -> HttpConnector {
    let mut connector = HttpConnector::new();
    // Below TLS the connector gets `https` URLs, which it would otherwise refuse.
    connector.enforce_http(plain_only);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT_TIME_MAX));
    connector
}

fn tls() -> Result<HttpsConnector<HttpConnector>, ModelError> {
    // The provider is named, because rustls panics if it has to choose between two.
    let builder = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| ModelError::Configuration {
            what: format!(
                "no root certificates for https: {error}; install the system's CA certificates or set SSL_CERT_FILE"
            ),
        })?;
    Ok(builder.https_only().enable_http1().wrap_connector(tcp(false)))
}

/// `retry-after-ms`, or `retry-after` in seconds or as a date. The date is relative to the reply's own `date`, so
/// that clocks need not agree; without that header it counts as absent, as does any invalid value.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let wait = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    // Finer than the standard header, so it takes precedence.
    if let Some(milliseconds) = headers.get("retry-after-ms").and_then(|value| number(value.to_str().ok()?)) {
        return wait(milliseconds / 1000.0);
    }
    let text = header(headers, RETRY_AFTER)?;
    if let Some(seconds) = number(text) {
        return wait(seconds);
    }
    let date = |text: &str| httpdate::parse_http_date(text.trim()).ok();
    let (until, now) = (date(text)?, date(header(headers, DATE)?)?);
    // A moment in the past means at once.
    Some(until.duration_since(now).unwrap_or(Duration::ZERO))
}

/// The innermost cause of an error, which is the operating system's message.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_both_units() {
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("retry-after", " 2 "), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "20"), Some(Duration::from_millis(20)));
        for senseless in ["-1", "NaN", "inf", "1e40", "soon", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            assert_eq!(read("retry-after", senseless), None, "{senseless}");
        }
    }

    #[test]
    fn a_date_of_retry_after_counts_from_the_replys_own_date() {
        let read = |until: &str, now: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_str(until).unwrap());
            headers.insert(DATE, HeaderValue::from_str(now).unwrap());
            retry_after(&headers)
        };
        let now = "Fri, 31 Dec 1999 23:59:30 GMT";
        assert_eq!(read("Fri, 31 Dec 1999 23:59:59 GMT", now), Some(Duration::from_secs(29)));
        assert_eq!(read("Friday, 31-Dec-99 23:59:31 GMT", now), Some(Duration::from_secs(1)));
        assert_eq!(read("Fri, 31 Dec 1999 23:59:29 GMT", now), Some(Duration::ZERO));
        assert_eq!(read("Fri, 31 Dec 1999 23:59:59 GMT", "today"), None);
        assert_eq!(read("Mon, 31 Dec 1999 23:59:59 GMT", now), None, "it was a Friday");
    }

    fn endpoint(base_url: &str, key: Option<&str>) -> Result<Endpoint, ModelError> {
        let identity = Identity {
            key: Key::new(key.map(Into::into)),
            key_header: KeyHeader::Bearer,
            headers: &[],
            key_variable: "KEY",
            base_url_variable: "BASE_URL",
        };
        Endpoint::new(base_url, "/x", identity)
    }

    #[test]
    fn lines_are_short_and_without_the_key() {
        let endpoint = endpoint("http://h/v1/", Some("sk-secret")).unwrap();
        assert_eq!(endpoint.url(), "http://h/v1/x");
        assert_eq!(endpoint.sibling("http://h/v1/", "/y").unwrap().url(), "http://h/v1/y");
        assert_eq!(endpoint.line(" bad\n\tkey sk-secret\u{7}! "), "bad key [key] !");
        assert_eq!(endpoint.line(&"é".repeat(1000)).chars().count(), ERROR_CHARACTERS_MAX + 1);
    }

    #[test]
    fn only_a_url_without_a_path_lacks_a_version() {
        let hint = |base_url: &str| endpoint(base_url, None).unwrap().version_hint();
        assert_eq!(hint("http://h:8000/"), " Most servers want /v1, as in http://h:8000/v1");
        assert_eq!(hint("http://h/v1"), "");
        assert_eq!(hint("http://h/openai"), "");
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said() {
        let hint = |key: Option<&str>| endpoint("http://h/v1", key).unwrap().key_hint();
        assert_eq!(hint(None), "; KEY is not set, and the server wants a key");
        assert_eq!(hint(Some("\"sk\"")), "; KEY begins with a quotation mark: is that a part of the key?");
        assert_eq!(hint(Some("sk-1")), "");
    }

    #[test]
    fn unusable_urls_are_refused_without_being_repeated() {
        for url in [
            "",
            "h",
            "/v1",
            "ftp://h",
            "http://u:hunter2@h",
            "http://h/v1?k=hunter2",
            "http://h/#hunter2",
            "ht tp:",
            "http://h:65536/v1",
            "http://h:8o80/v1",
        ] {
            let error = endpoint(url, None).err().expect(url).to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let error = endpoint("http://h", Some("hunter2\n")).err().unwrap().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
