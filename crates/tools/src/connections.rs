//! Connections to one HTTP server, pooled: shared by the clients of tool servers, of wikis and of other crates.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use planproof_loopback::{PortError, check_port};
use thiserror::Error;

/// How long the setting up of a TCP connection may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// How long an unused connection is kept. Shorter than servers do (5 seconds are common), because a call over a
/// connection that is just being closed fails, and it is unknown whether it may be repeated.
const IDLE_TIME_MAX: Duration = Duration::from_secs(2);

/// Why no connections can be made.
#[derive(Debug, Error)]
pub enum ConnectionsError {
    /// The URL is not one of HTTP.
    #[error("it begins with neither http:// nor https://")]
    Scheme,
    #[error(transparent)]
    Port(#[from] PortError),
    /// The system's root certificates cannot be read.
    #[error("https cannot be used: {0}; install the system's CA certificates or set SSL_CERT_FILE")]
    Certificates(String),
}

/// Connections over TCP, or over TLS with the system's root certificates. No proxy is used and no redirection followed.
pub struct Connections(Transport);

enum Transport {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Encrypted(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Connections {
    /// Connections for the scheme of `uri`. None is opened yet.
    ///
    /// # Errors
    /// It is not an HTTP URL, its port is not one, or there are no root certificates for `https`.
    pub fn new(uri: &Uri) -> Result<Self, ConnectionsError> {
        check_port(uri)?;
        let mut pool = Client::builder(TokioExecutor::new());
        pool.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIME_MAX);
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIME_MAX));
        match uri.scheme_str() {
            Some("http") => Ok(Self(Transport::Plain(pool.build(tcp)))),
            Some("https") => {
                // The TCP connector would otherwise refuse the URL for its scheme, before TLS is involved.
                tcp.enforce_http(false);
                // The provider is named, because rustls panics if it has to choose between two.
                let builder = HttpsConnectorBuilder::new()
                    .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
                    .map_err(|error| ConnectionsError::Certificates(error.to_string()))?;
                let tls = builder.https_only().enable_http1().wrap_connector(tcp);
                Ok(Self(Transport::Encrypted(pool.build(tls))))
            }
            _ => Err(ConnectionsError::Scheme),
        }
    }

    /// Sends a request and waits for the head of its answer, without a time limit.
    ///
    /// # Errors
    /// The server cannot be reached, or the connection breaks.
    pub async fn request(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        match &self.0 {
            Transport::Plain(client) => client.request(request).await,
            Transport::Encrypted(client) => client.request(request).await,
        }
    }
}

/// The innermost cause of an error, which is the operating system's message.
pub fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
