//! Requests to the API of a wiki.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT};
use hyper::{Request, Response, StatusCode, Uri};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::time::sleep;

use super::WikiError;
use crate::connections::{Connections, ConnectionsError, innermost};
use crate::refusal::shortened;

/// Most bytes of an answer.
pub const ANSWER_BYTES_MAX: usize = 8 << 20;
/// Most attempts of a request that the server asks to repeat later.
pub const ATTEMPTS_MAX: u32 = 3;
/// Longest wait that a server can ask for; if it asks for more, the request has failed.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(10);

/// The default wait if the server names none.
const PAUSE: Duration = Duration::from_secs(1);

/// Wikis want to know the client, and where to find out more.
const AGENT: HeaderValue = HeaderValue::from_static(concat!(
    "planproof/",
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("CARGO_PKG_REPOSITORY"),
    ")"
));

#[derive(Clone)]
pub(super) struct ApiClient(Arc<Endpoint>);

struct Endpoint {
    url: String,
    host: String,
    connections: Connections,
}

impl ApiClient {
    pub(super) fn new(url: &str) -> Result<Self, WikiError> {
        // The URL is not repeated in these messages, because the fault may be a password in it.
        let invalid = |reason: String| WikiError::InvalidUrl { reason };
        let uri: Uri = url.parse().map_err(|error| invalid(format!("{error}")))?;
        let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
            return Err(invalid("it names no host".to_owned()));
        };
        if authority.as_str().contains('@') {
            return Err(invalid("it holds a user name or a password".to_owned()));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(invalid("it goes on after the path".to_owned()));
        }
        let connections = Connections::new(&uri).map_err(|error| match error {
            ConnectionsError::Scheme | ConnectionsError::Port(_) => invalid(error.to_string()),
            ConnectionsError::Certificates(_) => WikiError::Certificates { reason: error.to_string() },
        })?;
        let host = authority.host().to_owned();
        Ok(Self(Arc::new(Endpoint { url: url.to_owned(), host, connections })))
    }

    pub(super) fn host(&self) -> &str {
        &self.0.host
    }

    /// The body of the answer to a query with these parameters. An error is for the agent.
    pub(super) async fn get(&self, parameters: &[(&str, &str)]) -> Result<Bytes, String> {
        let mut url = format!("{}?action=query&format=json&formatversion=2", self.0.url);
        for (key, value) in parameters {
            url.push_str(&format!("&{key}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
        }
        let uri: Uri = url.parse().map_err(|_| "the title is too long for a URL".to_owned())?;
        let mut attempt = 1;
        loop {
            let response = self.send(uri.clone()).await?;
            let status = response.status();
            if status.is_success() {
                return body(response).await;
            }
            // With these, a server asks for another attempt later. Any other refusal would only be repeated.
            let is_passing =
                matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
            let wait = retry_after(response.headers()).unwrap_or(PAUSE);
            if !is_passing || attempt == ATTEMPTS_MAX || wait > RETRY_AFTER_MAX {
                return Err(refusal(status, response.headers(), is_passing.then_some(wait)));
            }
            attempt += 1;
            sleep(wait).await;
        }
    }

    async fn send(&self, uri: Uri) -> Result<Response<Incoming>, String> {
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.uri_mut() = uri;
        request.headers_mut().insert(USER_AGENT, AGENT);
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        self.0.connections.request(request).await.map_err(|error| {
            let reason = innermost(&error);
            if error.is_connect() {
                format!("it cannot be reached: {reason}")
            } else {
                format!("the connection broke: {reason}")
            }
        })
    }
}

async fn body(response: Response<Incoming>) -> Result<Bytes, String> {
    match Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(format!("its answer is longer than {ANSWER_BYTES_MAX} bytes"))
        }
        Err(error) => Err(format!("the connection broke: {}", innermost(&*error))),
    }
}

/// Only seconds: wikis do not send the dates that the header may also contain.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn refusal(status: StatusCode, headers: &HeaderMap, wait: Option<Duration>) -> String {
    let location = headers.get(LOCATION).map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
    match (location, wait) {
        (Some(location), _) => {
            format!("it answered {status} and sends us to {}; give that URL", shortened(&location))
        }
        (None, Some(wait)) => format!("it answered {status}, and asks us to wait for {wait:?}"),
        (None, None) => format!("it answered {status}"),
    }
}
