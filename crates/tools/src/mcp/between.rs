//! A place between clients and one MCP server over streamable HTTP, in both eras of the protocol.
//!
//! Bytes are passed on as they came, or not at all; who stands here ([`Between`]) decides which, and hears every answer
//! before the client does. Nothing that a server says makes a client go elsewhere: redirections are not passed on.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, ALLOW, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_TYPE, EXPECT, HOST, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, serve};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::{Bytes, BytesMut};
use futures::stream;
use http_body_util::{BodyExt as _, Full, LengthLimitError};
use hyper::body::Incoming;
use planproof_loopback::{from_this_machine, same};
use tokio::net::TcpListener;

use super::events::{EventMessages, Found};
use super::streams::{KnownStreams, Origin, StreamMarks, place_of_events, resumed_event};
use crate::connections::{Connections, ConnectionsError, innermost};

/// Longest message of either side that is read, in bytes. A longer one of a client is refused; a longer one of the
/// server is passed on unread.
pub const HTTP_MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest name of a session, in bytes.
pub const SESSION_BYTES_MAX: usize = 256;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The first version of the newer era.
const NEWER: &str = "2026-07-28";

/// Headers about one connection, which end here. So do those that say how a body was packed.
const OF_CONNECTION: [HeaderName; 12] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    EXPECT,
    HOST,
    CONTENT_LENGTH,
];

/// What names the session of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionName {
    /// All requests are one session.
    One,
    /// The last segment of the path.
    Path,
    Header(String),
    /// The `Authorization` header. Only what is made of it is kept.
    Authorization,
}

/// A request with its answer, or a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The name of the session, as the request has it.
    pub session: String,
    /// Where ids of messages are unique: the server's session, or else this exchange or that whose stream it resumes.
    pub scope: String,
    /// The number of the exchange that began the stream of this one; `None` if it resumes one that is not known.
    pub stream: Option<u64>,
    /// Whether it resumes the stream of the answer to a request, or one that is not known. A client takes whichever
    /// answer comes in it for that to its request.
    pub is_resumed: bool,
    /// Whether the scope ends with the exchange.
    pub ends_scope: bool,
    /// Whether it is of the newer era of the protocol.
    pub is_newer: bool,
    /// The method that the headers name, and what it is about, if they do.
    pub said: [Option<String>; 2],
}

/// What becomes of a client's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// It is passed on as it came.
    Pass,
    /// The client gets this message instead of the server's answer; whether it is the result of a request.
    Answer(String, bool),
    /// It is not passed on, and nothing can be answered.
    Drop,
}

/// Who stands between. Called from several threads at once; no call may wait for long.
pub trait Between: Send + Sync + 'static {
    /// Takes a client's message, before it is passed on.
    fn client_said(&self, exchange: &Exchange, message: &[u8]) -> Passage;

    /// A client's message is longer than [`HTTP_MESSAGE_BYTES_MAX`]; it is not passed on.
    fn too_long(&self, exchange: &Exchange);

    /// Takes a message of the server, before it is passed on.
    fn server_said(&self, exchange: &Exchange, message: &[u8]);

    /// A message of the client's, which was to be passed on, has not reached the server, for this reason.
    fn unsent(&self, exchange: &Exchange, message: &[u8], why: &str);

    /// The server has sent something that cannot be read, but that the client may understand.
    fn unread(&self, exchange: &Exchange);

    /// The exchange is over: answers that have not come will not come in it.
    fn over(&self, exchange: &Exchange);
}

/// What is served.
pub struct BetweenConfig {
    /// The server's URL.
    pub to: Uri,
    /// The port on 127.0.0.1; 0 for any free one.
    pub port: u16,
    /// What names sessions.
    pub session: SessionName,
    /// The first segment of the path of every request, if there is one.
    pub token: Option<String>,
}

/// A place between clients and a server, before it serves.
pub struct BetweenServer {
    listener: TcpListener,
    relay: Arc<Relay>,
}

struct Relay {
    config: BetweenConfig,
    connections: Connections,
    between: Arc<dyn Between>,
    exchanges: AtomicU64,
    streams: Arc<Mutex<KnownStreams>>,
}

impl BetweenServer {
    /// Listens on 127.0.0.1. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// The port is taken, or the URL cannot be used.
    pub async fn bind(config: BetweenConfig, between: Arc<dyn Between>) -> Result<Self, BindError> {
        let connections = Connections::new(&config.to).map_err(BindError::Url)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, config.port));
        let listener = TcpListener::bind(address).await.map_err(BindError::Port)?;
        let relay =
            Relay { config, connections, between, exchanges: AtomicU64::new(0), streams: Arc::default() };
        Ok(Self { listener, relay: Arc::new(relay) })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped.
    ///
    /// # Errors
    /// The listener fails for good.
    pub async fn run(self) -> std::io::Result<()> {
        serve(self.listener, Router::new().fallback(answer).with_state(self.relay)).await
    }
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The URL of the server cannot be used.
    #[error(transparent)]
    Url(ConnectionsError),
    /// The port cannot be listened at.
    #[error(transparent)]
    Port(std::io::Error),
}

/// Ends an exchange when its answer is whole, or the client has gone.
struct Ending {
    between: Arc<dyn Between>,
    exchange: Exchange,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.between.over(&self.exchange);
    }
}

/// A refusal before a message was read.
type Refused = Box<Response>;

fn refused(status: StatusCode, why: &str) -> Refused {
    Box::new((status, format!("planproof guard: {why}\n")).into_response())
}

async fn answer(State(relay): State<Arc<Relay>>, request: Request) -> Response {
    relay.answer(request).await.unwrap_or_else(|refused| *refused)
}

impl Relay {
    async fn answer(&self, request: Request) -> Result<Response, Refused> {
        let (head, body) = request.into_parts();
        from_this_machine(&head, &[]).map_err(|_| {
            refused(StatusCode::FORBIDDEN, "only programs on this machine are served (Host, Origin)")
        })?;
        let exchange = self.exchange(&head)?;
        let ending = Ending { between: Arc::clone(&self.between), exchange };
        let message = match head.method {
            Method::POST => {
                must_be_json(&head.headers)?;
                let body = match to_bytes(body, HTTP_MESSAGE_BYTES_MAX).await {
                    Ok(body) => body,
                    Err(error) if error.source().is_some_and(<dyn Error>::is::<LengthLimitError>) => {
                        self.between.too_long(&ending.exchange);
                        let why = format!("the message has more than {HTTP_MESSAGE_BYTES_MAX} bytes");
                        return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, &why));
                    }
                    Err(_) => {
                        let why = "the message did not come whole, or is sent in a form other than chunks";
                        return Err(refused(StatusCode::BAD_REQUEST, why));
                    }
                };
                match self.between.client_said(&ending.exchange, &body) {
                    Passage::Pass => {}
                    Passage::Answer(answer, is_result) => {
                        return Ok(instead(&head.headers, answer, is_result));
                    }
                    Passage::Drop => return Err(refused(StatusCode::BAD_REQUEST, "the message has no id")),
                }
                body
            }
            Method::GET | Method::DELETE => Bytes::new(),
            _ => {
                let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "use POST, GET or DELETE");
                answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
                return Err(answer);
            }
        };
        let answered =
            self.connections.request(self.request(&head, message.clone())).await.map_err(|error| {
                let why = format!("the server cannot be reached: {}", innermost(&error));
                if error.is_connect() {
                    self.between.unsent(&ending.exchange, &message, &why);
                }
                refused(StatusCode::BAD_GATEWAY, &why)
            })?;
        // The answer to the first request names the session.
        let of = if head.headers.contains_key(SESSION) { &head.headers } else { answered.headers() };
        let marks = StreamMarks {
            streams: Arc::clone(&self.streams),
            place: place_of_events(&ending.exchange.session, of),
            origin: ending.exchange.stream.map(|number| Origin {
                number,
                scope: ending.exchange.scope.clone(),
                is_of_request: head.method == Method::POST || ending.exchange.is_resumed,
            }),
        };
        passed_on(ending, answered, marks).await
    }

    /// What the request is about, by its path and headers.
    fn exchange(&self, head: &Parts) -> Result<Exchange, Refused> {
        let mut path: Vec<&str> =
            head.uri.path().split('/').skip(1).filter(|part| !part.is_empty()).collect();
        let unknown = || refused(StatusCode::NOT_FOUND, "there is nothing at this address");
        if let Some(token) = &self.config.token {
            let given = if path.is_empty() { "" } else { path.remove(0) };
            if !same(given.as_bytes(), token.as_bytes()) {
                return Err(unknown());
            }
        }
        if path.first() == Some(&"mcp") {
            path.remove(0);
        }
        let session = match (&self.config.session, path.as_slice()) {
            (SessionName::Path, [session]) => (*session).to_owned(),
            (SessionName::Path, []) => {
                let why = "the address names no session: write it as the last part of the path";
                return Err(refused(StatusCode::BAD_REQUEST, why));
            }
            (SessionName::One, []) => String::new(),
            (SessionName::Header(name), []) => named(&head.headers, name)?.ok_or_else(|| {
                refused(
                    StatusCode::BAD_REQUEST,
                    &format!("the header {name}, which names the session, is missing"),
                )
            })?,
            (SessionName::Authorization, []) => {
                named(&head.headers, AUTHORIZATION.as_str())?.as_deref().map(login).ok_or_else(|| {
                    let why = "the header Authorization, which names the session, is missing";
                    refused(StatusCode::UNAUTHORIZED, why)
                })?
            }
            _ => return Err(unknown()),
        };
        if session.len() > SESSION_BYTES_MAX && self.config.session != SessionName::Authorization {
            let why = format!("the name of the session has more than {SESSION_BYTES_MAX} bytes");
            return Err(refused(StatusCode::BAD_REQUEST, &why));
        }
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let of_server = one(&head.headers, SESSION.as_str())?;
        let resumed = resumed_event(head).map(|event| {
            let key = place_of_events(&session, &head.headers) + &event;
            self.streams.lock().unwrap_or_else(PoisonError::into_inner).origin(&key)
        });
        // What resumes a stream without a request is like a new one.
        let is_resumed = resumed.as_ref().is_some_and(|it| it.as_ref().is_none_or(|it| it.is_of_request));
        let stream = match &resumed {
            Some(origin) => origin.as_ref().map(|origin| origin.number),
            None => Some(number),
        };
        let origin = resumed.flatten();
        let ends_scope = of_server.is_none() && origin.is_none();
        let scope = match (of_server, origin) {
            (Some(session), _) => format!("session {session}"),
            (None, Some(origin)) => origin.scope,
            (None, None) => format!("exchange {number}"),
        };
        let said = [one(&head.headers, METHOD.as_str())?, one(&head.headers, NAME.as_str())?.map(decoded)];
        let version = one(&head.headers, VERSION.as_str())?;
        let is_newer = said[0].is_some() || version.is_some_and(|version| *version >= *NEWER);
        Ok(Exchange { session, scope, stream, is_resumed, ends_scope, is_newer, said })
    }

    /// The request to the server.
    fn request(&self, head: &Parts, body: Bytes) -> hyper::Request<Full<Bytes>> {
        let mut request = hyper::Request::new(Full::new(body));
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = self.config.to.clone();
        let headers = request.headers_mut();
        copy(&head.headers, headers);
        // What is packed cannot be read.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        request
    }
}

/// The one value of a header.
fn one(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refused> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match (value.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text.trim().to_owned())),
        _ => {
            let why = format!("the header {name} stands twice, or is no text");
            Err(refused(StatusCode::BAD_REQUEST, &why))
        }
    }
}

/// The one value of a header, if it is not empty.
fn named(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refused> {
    Ok(one(headers, name)?.filter(|value| !value.is_empty()))
}

/// A login, the same however it is written: the case of its scheme, and how many blanks follow that, mean nothing.
fn login(authorization: &str) -> String {
    let (scheme, key) = authorization.split_once([' ', '\t']).unwrap_or((authorization, ""));
    let mut scheme = scheme.to_ascii_lowercase();
    if let Some(first) = scheme.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{scheme} {}", key.trim()).trim_end().to_owned()
}

/// A value as it was before it was packed for a header. What cannot be unpacked stays, and agrees with nothing.
fn decoded(value: String) -> String {
    let packed = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = packed.and_then(|packed| BASE64_STANDARD.decode(packed).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or(value)
}

/// Refuses a message that is not JSON as it stands.
fn must_be_json(headers: &HeaderMap) -> Result<(), Refused> {
    let kind = one(headers, CONTENT_TYPE.as_str())?.unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json"));
    let packed = one(headers, CONTENT_ENCODING.as_str())?.unwrap_or_default();
    if !is_json || !is_utf8(&kind) || !["", "identity"].contains(&&*packed) {
        let why = "send application/json in UTF-8, not packed";
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    Ok(())
}

/// Whether a content type names no other character set. In one, other characters stand in the same bytes.
fn is_utf8(kind: &str) -> bool {
    kind.split(';').skip(1).all(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches('"');
        !name.trim().eq_ignore_ascii_case("charset")
            || value.eq_ignore_ascii_case("utf-8")
            || value.eq_ignore_ascii_case("utf8")
    })
}

/// Copies the headers that are for the other side.
fn copy(from: &HeaderMap, to: &mut HeaderMap) {
    let named = from.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|names| names.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect();
    for (name, value) in from {
        if !OF_CONNECTION.contains(name) && !named.iter().any(|other| other == name.as_str()) {
            to.append(name.clone(), value.clone());
        }
    }
}

/// An answer of the guard's, in a form that the client accepts.
fn instead(headers: &HeaderMap, answer: String, is_result: bool) -> Response {
    let accepted = |kind: &str| {
        let mut ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        ranges.any(|ranges| {
            ranges
                .split(',')
                .any(|range| range.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind))
        })
    };
    let takes_json = ["application/json", "application/*", "*/*"].into_iter().any(accepted);
    // An error of the protocol says so in its status as well.
    let status = if is_result { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    if is_result && !takes_json && accepted("text/event-stream") {
        let kind = HeaderValue::from_static("text/event-stream");
        return (status, [(CONTENT_TYPE, kind)], format!("event: message\ndata: {answer}\n\n"))
            .into_response();
    }
    (status, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], answer).into_response()
}

/// The server's answer, heard and passed on.
async fn passed_on(
    ending: Ending,
    answered: hyper::Response<Incoming>,
    marks: StreamMarks,
) -> Result<Response, Refused> {
    let (head, mut body) = answered.into_parts();
    if head.status.is_redirection() {
        // A client that follows it is guarded no more.
        let why = format!(
            "the server answered {}, and redirections are not followed: name its address with --to",
            head.status
        );
        return Err(refused(StatusCode::BAD_GATEWAY, &why));
    }
    let text =
        |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_packed = !["", "identity"].contains(&text(CONTENT_ENCODING)) || !is_utf8(text(CONTENT_TYPE));
    let kind = text(CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    let is_stream = kind.eq_ignore_ascii_case("text/event-stream");
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = head.status;
    copy(&head.headers, answer.headers_mut());
    let broken = |error: hyper::Error| {
        refused(
            StatusCode::BAD_GATEWAY,
            &format!("the connection to the server broke: {}", innermost(&error)),
        )
    };
    let mut begin = BytesMut::new();
    if is_packed {
        ending.between.unread(&ending.exchange);
    } else if !is_stream {
        // It is heard as a whole before the client gets any of it.
        loop {
            let Some(frame) = body.frame().await else {
                if !begin.trim_ascii().is_empty() {
                    ending.between.server_said(&ending.exchange, &begin);
                }
                *answer.body_mut() = Body::from(begin.freeze());
                return Ok(answer);
            };
            if let Some(data) = frame.map_err(broken)?.data_ref() {
                begin.extend_from_slice(data);
            }
            if begin.len() > HTTP_MESSAGE_BYTES_MAX {
                ending.between.unread(&ending.exchange);
                break;
            }
        }
    }
    let events = (is_stream && !is_packed).then(EventMessages::default);
    let stream = Streamed { body, begin: (!begin.is_empty()).then(|| begin.freeze()), events, marks, ending };
    *answer.body_mut() = Body::from_stream(stream::unfold(stream, Streamed::next));
    Ok(answer)
}

/// An answer that is passed on piece by piece.
struct Streamed {
    body: Incoming,
    /// What has come already.
    begin: Option<Bytes>,
    /// The messages in it, if they are heard.
    events: Option<EventMessages>,
    marks: StreamMarks,
    ending: Ending,
}

impl Streamed {
    async fn next(mut self) -> Option<(Result<Bytes, hyper::Error>, Self)> {
        if let Some(begin) = self.begin.take() {
            return Some((Ok(begin), self));
        }
        loop {
            match self.body.frame().await {
                None => {
                    self.hear_end();
                    return None;
                }
                Some(Err(error)) => {
                    self.hear_end();
                    return Some((Err(error), self));
                }
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    self.hear(&data);
                    return Some((Ok(data), self));
                }
            }
        }
    }

    fn hear(&mut self, data: &[u8]) {
        let Some(events) = &mut self.events else { return };
        for found in events.take(data, HTTP_MESSAGE_BYTES_MAX) {
            self.heard(found);
        }
    }

    fn hear_end(&mut self) {
        if let Some(found) = self.events.as_mut().and_then(|events| events.end(HTTP_MESSAGE_BYTES_MAX)) {
            self.heard(found);
        }
    }

    fn heard(&mut self, found: Found) {
        match found {
            Found::Message(message) => self.ending.between.server_said(&self.ending.exchange, &message),
            Found::Id(event) => self.marks.take(&event),
            Found::Unread => self.ending.between.unread(&self.ending.exchange),
        }
    }
}
