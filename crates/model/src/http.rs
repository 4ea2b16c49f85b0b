//! One HTTP endpoint: its pooled connections, the key that is sent to it, and what can go wrong on the way.
//!
//! Built straight on hyper's pooled client, because thousands of requests are in flight at once and each must stay
//! small: nothing of a request is kept once it has been sent.

mod body;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use secrecy::{ExposeSecret, SecretString};

use crate::ModelError;
pub(crate) use body::{BodyError, ReplyBody};

/// Most bytes of an error reply that are read before its message is looked for.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// Most characters of a server's own words in one of our errors.
const ERROR_CHARACTERS_MAX: usize = 300;

/// Most bytes of a connection's read buffer, hence also of a reply's headers. It begins with 8 KiB and grows only where
/// a reply fills it; it is the greatest part of what a request in flight takes.
const READ_BUFFER_BYTES_MAX: usize = 64 << 10;

/// How long the setting up of a TCP connection may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(30);

/// How long an unused connection is kept; shorter than servers usually do, so that we hang up first.
const IDLE_TIME_MAX: Duration = Duration::from_secs(30);

/// Most unused connections that are kept.
const IDLE_CONNECTIONS_MAX: usize = 8192;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("planproof/", env!("CARGO_PKG_VERSION")));

/// Whether `host`, as it stands in a URL or a `Host` header without its port, can only be this machine.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// What a request asks to get back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// One JSON document.
    Json,
    /// Server-sent events.
    Events,
}

enum Connections {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Encrypted(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

/// A URL that JSON is POSTed to.
pub(crate) struct Endpoint {
    uri: Uri,
    url: String,
    host: HeaderValue,
    key: Option<SecretString>,
    authorization: Option<HeaderValue>,
    connections: Connections,
}

impl Endpoint {
    /// The endpoint at `base_url` + `path`. Certificates are loaded only for `https`.
    ///
    /// # Errors
    /// [`ModelError::Configuration`] for a URL that is not plain `http(s)://host[:port][/path]`, for a key that no
    /// header can carry, and where `https` finds no root certificates.
    pub(crate) fn new(base_url: &str, path: &str, key: Option<SecretString>) -> Result<Self, ModelError> {
        let url = format!("{}{path}", base_url.trim_end_matches('/'));
        let refuse = |what: &str| ModelError::Configuration { what: what.to_owned() };
        // The URL is not repeated in these messages: what is wrong with it may be a password in it.
        let uri: Uri = url.parse().map_err(|error| ModelError::Configuration {
            what: format!("the base URL cannot be read: {error}"),
        })?;
        let Some(authority) = uri.authority() else {
            return Err(refuse("the base URL needs a scheme and a host, as in http://127.0.0.1:8000/v1"));
        };
        if authority.as_str().contains('@') {
            return Err(refuse("the base URL must not hold a user name or a password: give a key instead"));
        }
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
        let authorization = match &key {
            None => None,
            Some(key) => {
                let mut value =
                    HeaderValue::from_str(&format!("Bearer {}", key.expose_secret())).map_err(|_| {
                        refuse("the API key has characters that no header can carry: a line break?")
                    })?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self { uri, url, host, key, authorization, connections })
    }

    /// The full URL, for messages.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The host, without the port.
    pub(crate) fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    /// Sends one request and waits for the head of a successful answer. No retry, no time limit.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`] without an answer, [`ModelError::Status`] for an answer that is not 2xx,
    /// [`ModelError::Malformed`] for a stream of another type than the wanted one.
    pub(crate) async fn post(
        &self,
        body: Vec<u8>,
        wanted: Wanted,
    ) -> Result<Response<ReplyBody>, ModelError> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, AGENT);
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let accepted = match wanted {
            Wanted::Json => "application/json",
            Wanted::Events => "text/event-stream",
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        let response = match &self.connections {
            Connections::Plain(client) => client.request(request),
            Connections::Encrypted(client) => client.request(request),
        }
        .await
        .map_err(|error| self.unreachable(&innermost(&error)))?;
        let (head, body) = response.into_parts();
        let body = ReplyBody::new(body);
        if !head.status.is_success() {
            let retry_after = retry_after(&head.headers);
            let message = self.error_message(body).await;
            return Err(ModelError::Status {
                url: self.url.clone(),
                status: head.status.as_u16(),
                message,
                retry_after,
            });
        }
        if wanted == Wanted::Events {
            let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
            if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
                return Err(self
                    .malformed(&format!("asked for a stream (text/event-stream), got content type {kind}")));
            }
        }
        Ok(Response::from_parts(head, body))
    }

    /// Reads a whole reply.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`] if the connection breaks, [`ModelError::Malformed`] above [`body::REPLY_BYTES_MAX`].
    pub(crate) async fn read(&self, mut body: ReplyBody) -> Result<Bytes, ModelError> {
        let mut whole = Bytes::new();
        let mut pieces = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| self.broken(&error))?.into_data() else { continue };
            // Most replies are one piece, which is then not copied.
            if whole.is_empty() && pieces.is_empty() {
                whole = data;
            } else {
                pieces.extend_from_slice(&std::mem::take(&mut whole));
                pieces.extend_from_slice(&data);
            }
        }
        // The connection goes back to the pool a moment after its last byte. Whoever asked is likely to ask again at
        // once, and would open another connection if it were not there yet.
        tokio::task::yield_now().await;
        Ok(if pieces.is_empty() { whole } else { pieces.freeze() })
    }

    /// The error for a reply that broke off or is too large.
    pub(crate) fn broken(&self, error: &BodyError) -> ModelError {
        match error {
            BodyError::Cut(cause) => self.unreachable(&format!(
                "the connection broke in the middle of the reply: {}",
                innermost(cause)
            )),
            BodyError::TooLarge => self.malformed(&error.to_string()),
        }
    }

    /// The error for a reply that never came, or not to its end.
    pub(crate) fn unreachable(&self, reason: &str) -> ModelError {
        ModelError::Unreachable { url: self.url.clone(), reason: self.line(reason) }
    }

    /// The error for a reply that is not of this protocol.
    pub(crate) fn malformed(&self, what: &str) -> ModelError {
        ModelError::Malformed { url: self.url.clone(), what: self.line(what) }
    }

    /// A server's words as one short line without the key.
    pub(crate) fn line(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) if !key.expose_secret().is_empty() => text.replace(key.expose_secret(), "[key]"),
            _ => text.to_owned(),
        };
        let mut line = String::new();
        for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty())
        {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if let Some((end, _)) = line.char_indices().nth(ERROR_CHARACTERS_MAX) {
            line.truncate(end);
            line.push('…');
        }
        line
    }

    /// The message in an error reply: what stands in OpenAI's error shape, else the text itself.
    async fn error_message(&self, mut body: ReplyBody) -> String {
        let mut bytes = Vec::new();
        // A reply that breaks off is still worth showing as far as it came.
        while let Some(Ok(frame)) = body.frame().await {
            if let Ok(data) = frame.into_data() {
                bytes.extend_from_slice(&data);
            }
            if bytes.len() >= ERROR_BYTES_MAX {
                break;
            }
        }
        let message = crate::openai::error_message(&bytes)
            .unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned());
        let line = self.line(&message);
        if line.is_empty() { "no message".to_owned() } else { line }
    }
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
    connector.enforce_http(plain_only);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT_TIME_MAX));
    connector
}

fn tls() -> Result<HttpsConnector<HttpConnector>, ModelError> {
    // The provider is named, because rustls panics when it has to choose between two.
    let builder = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| ModelError::Configuration {
            what: format!(
                "no root certificates for https: {error}; install the system's CA certificates or set SSL_CERT_FILE"
            ),
        })?;
    Ok(builder.https_only().enable_http1().wrap_connector(tcp(false)))
}

/// `retry-after-ms` or `retry-after` in seconds. The date form of `retry-after` counts as absent.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |value: &HeaderValue| value.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = match headers.get("retry-after-ms").and_then(number) {
        Some(milliseconds) => milliseconds / 1000.0,
        None => headers.get(RETRY_AFTER).and_then(number)?,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// The deepest cause of an error, where the operating system speaks.
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
    fn loopback_names_are_known() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in
            ["", "localhost.evil.com", "127.0.0.1.evil.com", "10.0.0.1", "[::2]", "::1", "0.0.0.0", "0x7f.1"]
        {
            assert!(!is_loopback_host(host), "{host}");
        }
    }

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
        for senseless in ["-1", "NaN", "inf", "1e40", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            assert_eq!(read("retry-after", senseless), None, "{senseless}");
        }
    }

    #[test]
    fn lines_are_short_and_without_the_key() {
        let endpoint = Endpoint::new("http://h/v1/", "/x", Some("sk-secret".into())).unwrap();
        assert_eq!(endpoint.url(), "http://h/v1/x");
        assert_eq!(endpoint.line(" bad\n\tkey sk-secret\u{7}! "), "bad key [key] !");
        assert_eq!(endpoint.line(&"é".repeat(1000)).chars().count(), ERROR_CHARACTERS_MAX + 1);
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
        ] {
            let error = Endpoint::new(url, "/x", None).err().expect(url).to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let error = Endpoint::new("http://h", "/x", Some("hunter2\n".into())).err().unwrap().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
