//! A SIMULATION of every server of the tools, on a port of this machine.
//!
//! Nothing in it is a model, and it knows no facts: each answer is computed from the request alone, so that the same
//! plan always gives the same result. "Detection" finds areas of strong colours, "generation" draws shapes determined
//! by a hash of the text, "captioning" names size and main colours, facts and forecasts are made up. It proves that
//! requests are sent and answers understood, and says nothing about the quality of any model or tool.

mod data;
mod drawing;
mod form;
mod models;
mod query;
mod regions;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use planproof_loopback::from_this_machine;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::settings::{Endpoint, Endpoints, Service};

/// Most bytes of a request.
pub const REQUEST_BYTES_MAX: usize = 64 << 20;

/// The name of the "model" behind all endpoints.
pub const MODEL: &str = "stand-in";

/// The running simulation. Dropping it stops the simulation.
pub struct StandIn {
    address: SocketAddr,
    _accepting: AbortOnDropHandle<()>,
}

/// An answer of the simulation, or why a request is refused.
type Answer = Result<Value, Refusal>;

/// Why a request is refused.
struct Refusal {
    status: StatusCode,
    why: String,
}

impl Refusal {
    fn bad(why: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, why: why.into() }
    }

    fn missing() -> Self {
        Self { status: StatusCode::NOT_FOUND, why: "the stand-in has nothing at this path".to_owned() }
    }
}

impl StandIn {
    /// Listens on 127.0.0.1 at `port`, or at a free port for 0. Needs a Tokio runtime, which serves the requests.
    ///
    /// # Errors
    /// The port is taken or forbidden.
    pub async fn bind(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let address = listener.local_addr()?;
        let router = Router::new().fallback(answer);
        let accepting = tokio::spawn(async move {
            // Accepting never ends by itself: errors of single connections are handled inside.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The settings that direct every tool to it.
    pub fn endpoints(&self) -> Endpoints {
        Service::ALL.into_iter().fold(Endpoints::none(), |endpoints, service| {
            let path = match service {
                Service::Chat | Service::Images | Service::Audio => "v1",
                other => other.as_str(),
            };
            let endpoint = Endpoint::new(format!("http://{}/{path}", self.address)).with_model(MODEL);
            endpoints.with(service, endpoint)
        })
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandIn").field("address", &self.address).finish_non_exhaustive()
    }
}

async fn answer(request: Request) -> Response {
    let (head, body) = request.into_parts();
    if from_this_machine(&head, &[]).is_err() {
        let why = "only programs on this machine are served (Host, Origin)";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let Ok(body) = to_bytes(body, REQUEST_BYTES_MAX).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "the request is too long").into_response();
    };
    let content_type =
        head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let request = ServiceRequest {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        content_type: content_type.to_owned(),
        body: body.to_vec(),
    };
    // Pictures take their time.
    let answered = tokio::task::spawn_blocking(move || request.answer()).await;
    match answered {
        Ok(Ok(value)) => {
            let head = [(CONTENT_TYPE, "application/json")];
            (head, Body::from(value.to_string())).into_response()
        }
        Ok(Err(Refusal { status, why })) => (status, why).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// A complete request.
struct ServiceRequest {
    method: Method,
    path: String,
    query: String,
    content_type: String,
    body: Vec<u8>,
}

impl ServiceRequest {
    fn answer(&self) -> Answer {
        let parts: Vec<&str> = self.path.split('/').filter(|part| !part.is_empty()).collect();
        if self.method == Method::GET {
            let query = query::parameters(&self.query);
            return match parts.as_slice() {
                ["numbers", rest @ ..] => data::fact(rest),
                ["love", "getPercentage"] => data::love(&query),
                ["geocoding", "search"] => data::place(&query),
                ["weather", "forecast", "daily"] => data::weather(&query),
                ["movies"] => data::movie(&query),
                ["wikipedia"] => data::wiki(&query),
                ["search", "search"] => data::search(&query),
                _ => Err(Refusal::missing()),
            };
        }
        match parts.as_slice() {
            ["v1", "chat", "completions"] => models::chat(&self.json()?),
            ["v1", "images", "generations"] => models::generate(&self.json()?),
            ["v1", "images", "edits"] => models::edit(&self.form()?),
            ["v1", "audio", "transcriptions"] => models::transcribe(&self.form()?),
            ["translation", "translate"] => {
                data::translate(&query::parameters(&String::from_utf8_lossy(&self.body)))
            }
            ["vision", "detect"] => models::detect(&self.json()?, false),
            ["vision", "segment"] => models::detect(&self.json()?, true),
            _ => Err(Refusal::missing()),
        }
    }

    fn json(&self) -> Answer {
        serde_json::from_slice(&self.body).map_err(|error| Refusal::bad(error.to_string()))
    }

    fn form(&self) -> Result<form::Fields, Refusal> {
        form::fields(&self.content_type, &self.body).ok_or_else(|| Refusal::bad("the form cannot be read"))
    }
}

/// FNV-1a: a hash of a text that is the same everywhere.
fn number_of(text: &[u8]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    text.iter().fold(START, |number, byte| (number ^ u64::from(*byte)).wrapping_mul(PRIME))
}
