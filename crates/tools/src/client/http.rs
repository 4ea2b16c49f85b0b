//! Streamable HTTP on hyper, for the protocol's official client.
//!
//! That client includes reqwest, which would be a second HTTP stack in the program and 12 more packages.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http_body_util::{BodyExt, Collected, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Error as ClientError;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use thiserror::Error;

use super::ServerError;
use super::message::{self, MESSAGE_BYTES_MAX};
use crate::connections::{Connections, ConnectionsError, innermost};
use crate::refusal::shortened;

/// Most bytes read of an error reply.
const ERROR_BYTES_MAX: usize = 64 << 10;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("planproof/", env!("CARGO_PKG_VERSION")));

type Headers = HashMap<HeaderName, HeaderValue>;
type Failure = StreamableHttpError<HttpError>;

/// Why a request came to nothing.
#[derive(Debug, Error)]
pub(super) enum HttpError {
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("its answer is longer than {MESSAGE_BYTES_MAX} bytes")]
    TooLong,
    #[error("its answer is no message of the protocol")]
    NotUnderstood,
    #[error("{}", message::BATCH)]
    Batch,
    #[error("it answered {status}{details}")]
    Status { status: StatusCode, details: String },
    #[error("the request cannot be made: {0}")]
    Request(String),
}

/// One server, with the connections to it and the token for it.
#[derive(Clone)]
pub(super) struct HttpClient(Arc<Endpoint>);

struct Endpoint {
    uri: Uri,
    authorization: Option<HeaderValue>,
    connections: Connections,
}

impl HttpClient {
    pub(super) fn new(uri: Uri, authorization: Option<HeaderValue>) -> Result<Self, ServerError> {
        let connections = Connections::new(&uri).map_err(|error| match error {
            ConnectionsError::Scheme | ConnectionsError::Port(_) => {
                ServerError::InvalidUrl { reason: error.to_string() }
            }
            ConnectionsError::Certificates(reason) => ServerError::Certificates { reason },
        })?;
        let authorization = authorization.map(|mut value| {
            // So that no debug output shows it.
            value.set_sensitive(true);
            value
        });
        Ok(Self(Arc::new(Endpoint { uri, authorization, connections })))
    }

    /// The host, for messages.
    pub(super) fn host(&self) -> &str {
        self.0.uri.host().unwrap_or_default()
    }

    /// The URL in the format of the protocol's client.
    pub(super) fn url(&self) -> String {
        self.0.uri.to_string()
    }

    async fn send(
        &self,
        method: Method,
        body: Bytes,
        session: Option<Arc<str>>,
        headers: Headers,
    ) -> Result<Response<Incoming>, HttpError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.0.uri.clone();
        request.headers_mut().extend(headers.into_iter().map(|(name, value)| (Some(name), value)));
        let own = request.headers_mut();
        // Inserted last, so that these replace what the protocol's client has set.
        own.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        own.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        own.insert(USER_AGENT, AGENT);
        if let Some(authorization) = &self.0.authorization {
            own.insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(session) = session {
            own.insert(SESSION, header(&session)?);
        }
        let sent = self.0.connections.request(request).await;
        sent.map_err(|error| HttpError::from_client(&error))
    }
}

fn header(text: &str) -> Result<HeaderValue, HttpError> {
    HeaderValue::from_str(text).map_err(|error| HttpError::Request(error.to_string()))
}

impl HttpError {
    fn from_client(error: &ClientError) -> Self {
        let text = innermost(error);
        if error.is_connect() { Self::Unreachable(text) } else { Self::Broken(text) }
    }

    fn from_body(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Self {
        if error.is::<LengthLimitError>() { Self::TooLong } else { Self::Broken(innermost(error)) }
    }

    /// The error for an unsuccessful answer, with the part of its body that was read.
    async fn from_response(response: Response<Incoming>) -> (Self, Bytes) {
        let status = response.status();
        let location = response.headers().get(LOCATION);
        let location = location.map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
        let body = Limited::new(response.into_body(), ERROR_BYTES_MAX).collect().await;
        let body = body.map(Collected::to_bytes).unwrap_or_default();
        (Self::status(status, location.as_deref(), &body), body)
    }

    fn status(status: StatusCode, location: Option<&str>, body: &[u8]) -> Self {
        let details = match (status, location) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => ", so it wants another token".to_owned(),
            (_, Some(location)) => format!(" and sends us to {}; give that URL", shortened(location)),
            _ => match String::from_utf8_lossy(body).split_whitespace().collect::<Vec<_>>().join(" ") {
                text if text.is_empty() => String::new(),
                text => format!(": {}", shortened(&text)),
            },
        };
        Self::Status { status, details }
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self::Client(error)
    }
}

fn is_of_type(response: &Response<Incoming>, wanted: &str) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with(wanted))
}

/// The events of a body, [`MESSAGE_BYTES_MAX`] at most, with messages that are understood wherever possible.
fn events(body: Incoming) -> BoxStream<'static, Result<Sse, SseError>> {
    let body = Limited::new(body, MESSAGE_BYTES_MAX).map_err(|error| HttpError::from_body(&*error));
    let understood = |event: Result<Sse, SseError>| {
        event.map(|mut event| {
            let message = event.data.as_ref().and_then(|data| message::read(data.as_bytes()));
            if let Some(text) = message.and_then(|message| serde_json::to_string(&message).ok()) {
                event.data = Some(text);
            }
            event
        })
    };
    SseStream::new(body).map(understood).boxed()
}

/// The result of an unsuccessful answer. Its body may contain the protocol's own error; and servers that do not know
/// the beginning of the newer protocol refuse it in many ways, all of which only mean that they are older.
async fn refused(
    message: &ClientJsonRpcMessage,
    response: Response<Incoming>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let (failure, body) = HttpError::from_response(response).await;
    let JsonRpcMessage::Request(request) = message else { return Err(failure.into()) };
    // A missing or wrong token says nothing about the age of the server.
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(failure.into());
    }
    let error = match message::read(&body) {
        Some(ServerJsonRpcMessage::Error(error)) => error.error,
        _ if status.is_client_error() && matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
            ErrorData::invalid_request(failure.to_string(), None)
        }
        _ => return Err(failure.into()),
    };
    // A refusal from before the request was parsed cannot name it.
    let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
    Ok(StreamableHttpPostResponse::Json(answer, None))
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _authorization: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = serde_json::to_vec(&message)?;
        let has_session = session.is_some();
        let response = self.send(Method::POST, Bytes::from(body), session, headers).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        // In this protocol, 404 within a session means that the server has ended the session.
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refused(&message, response).await;
        }
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if is_of_type(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response.into_body()), session));
        }
        if !matches!(message, JsonRpcMessage::Request(_)) {
            // There was no request, so anything received is not an answer.
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_of_type(&response, JSON) {
            let kind = response.headers().get(CONTENT_TYPE);
            let kind = kind.map(|kind| shortened(&String::from_utf8_lossy(kind.as_bytes())));
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        let body = Limited::new(response.into_body(), MESSAGE_BYTES_MAX).collect().await;
        let body = body.map_err(|error| HttpError::from_body(&*error))?.to_bytes();
        let answer = message::read(&body).ok_or_else(|| match message::is_batch(&body) {
            true => HttpError::Batch,
            false => HttpError::NotUnderstood,
        })?;
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _authorization: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let response = self.send(Method::DELETE, Bytes::new(), Some(session), headers).await?;
        match response.status() {
            // A server may leave the end of sessions to itself.
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            _ => Err(HttpError::from_response(response).await.0.into()),
        }
    }

    /// Resumes a broken answer. Unsolicited messages of a server are ignored, because we would not act on them.
    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _authorization: Option<String>,
        mut headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let Some(last_event) = last_event else { return Err(StreamableHttpError::ServerDoesNotSupportSse) };
        headers.insert(LAST_EVENT, header(&last_event)?);
        let response = self.send(Method::GET, Bytes::new(), session, headers).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if status.is_success() && is_of_type(&response, EVENTS) => {
                Ok(events(response.into_body()))
            }
            _ => Err(HttpError::from_response(response).await.0.into()),
        }
    }
}
