//! The loopback server: one port, one URL per open run.

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use planproof_isolation::gate::{Gate, Guest};
use planproof_trace::json;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

use super::handler::{Delivery, OpenRun, RunHandler};
use super::{AccessToken, McpError, REQUEST_BYTES_MAX, RUNS_MAX, RunTools};

type RunService = StreamableHttpService<RunHandler, NeverSessionManager>;

/// The open runs by their tokens.
#[derive(Default)]
struct OpenRuns(Mutex<HashMap<AccessToken, Arc<Served>>>);

/// The tools of one run as they are served.
struct Served {
    service: RunService,
    run: Arc<OpenRun>,
    was_asked: AtomicBool,
}

impl OpenRuns {
    fn lock(&self) -> MutexGuard<'_, HashMap<AccessToken, Arc<Served>>> {
        // A panic while the lock is held leaves complete entries only, so the map stays usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves the tools of any number of runs on one loopback port, until it is dropped.
pub struct McpServer {
    address: SocketAddr,
    runs: Arc<OpenRuns>,
    _accepting: AbortOnDropHandle<()>,
}

impl McpServer {
    /// Listens on 127.0.0.1 at `port`, or at a free port for 0. Needs a Tokio runtime, which serves the requests.
    ///
    /// # Errors
    /// The port is taken or forbidden.
    pub async fn bind(port: u16) -> Result<Self, McpError> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |source| McpError::Bind { address: wanted, source };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let runs = Arc::new(OpenRuns::default());
        let router = Router::new().fallback(answer).with_state(runs.clone());
        let accepting = tokio::spawn(async move {
            // The server does not stop by itself: it handles errors of single connections.
            let service = router.into_make_service_with_connect_info::<Guest>();
            let _ = axum::serve(Gate::new(listener), service).await;
        });
        Ok(Self { address, runs, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Opens the tools of a run at a URL of their own, until the returned value is dropped.
    ///
    /// # Errors
    /// [`RUNS_MAX`] runs are open, or the token belongs to one of them.
    pub fn open(&self, tools: RunTools, token: AccessToken) -> Result<McpRun, McpError> {
        self.open_to(tools, token, &[])
    }

    /// The same for an agent that reaches this machine by one of these names, for example from within a container.
    /// They are admitted in `Host`, besides the names of loopback, and the first of them is used in the URL. The
    /// server still listens on loopback alone: the network has to forward requests for such a name.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_to(&self, tools: RunTools, token: AccessToken, hosts: &[String]) -> Result<McpRun, McpError> {
        let run = Arc::new(OpenRun::new(tools));
        let limit_reached = run.limit_reached.clone();
        let closed = CancellationToken::new();
        let config = StreamableHttpServerConfig::default();
        let admitted: Vec<String> = config.allowed_hosts.iter().chain(hosts).cloned().collect();
        let config = config
            .with_allowed_hosts(admitted)
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_keep_alive(None)
            .with_max_request_body_bytes(REQUEST_BYTES_MAX)
            .with_cancellation_token(closed.clone())
            .enforce_origin_validation();
        let handler = RunHandler(Arc::clone(&run));
        let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);

        // Everything else was prepared before, so the requests of other runs wait for the insertion alone.
        let mut runs = self.runs.lock();
        if runs.len() >= RUNS_MAX {
            return Err(McpError::TooManyRuns { limit: RUNS_MAX });
        }
        if runs.contains_key(&token) {
            return Err(McpError::TokenInUse);
        }
        let served = Arc::new(Served { service, run, was_asked: AtomicBool::new(false) });
        runs.insert(token.clone(), Arc::clone(&served));
        drop(runs);
        let url = match hosts.first() {
            None => format!("http://{}/{}", self.address, token.as_str()),
            Some(host) => format!("http://{host}:{}/{}", self.address.port(), token.as_str()),
        };
        let runs = Arc::clone(&self.runs);
        Ok(McpRun { url, token, runs, served, limit_reached, _closed: closed.drop_guard() })
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        // Open connections outlive the listener; without runs they find nothing.
        self.runs.lock().clear();
    }
}

/// The open tools of one run. Dropping it closes the URL: later requests are answered with 404.
pub struct McpRun {
    url: String,
    token: AccessToken,
    runs: Arc<OpenRuns>,
    served: Arc<Served>,
    limit_reached: CancellationToken,
    _closed: DropGuard,
}

impl McpRun {
    /// The URL of the tools. Anyone who knows it may call them: give it only to the agent.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether there was any request to the URL.
    pub fn was_asked(&self) -> bool {
        self.served.was_asked.load(Ordering::Relaxed)
    }

    /// Cancelled when the agent makes one call more than its run allows.
    pub fn limit_reached(&self) -> &CancellationToken {
        &self.limit_reached
    }
}

impl fmt::Debug for McpRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpRun").finish_non_exhaustive()
    }
}

impl Drop for McpRun {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.token);
    }
}

/// Whether a client takes JSON: it says so, or takes anything, or says nothing.
fn accepts_json(headers: &HeaderMap) -> bool {
    let mut accepted =
        headers.get_all(ACCEPT).iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    let is_json = |range: &[u8]| {
        let kind = range.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        ["application/json", "application/*", "*/*", "*", ""]
            .iter()
            .any(|it| kind.eq_ignore_ascii_case(it.as_bytes()))
    };
    !headers.contains_key(ACCEPT) || accepted.any(is_json)
}

/// Whether a client says that it takes streams of events.
fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted =
        headers.get_all(ACCEPT).iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    accepted.any(|range| {
        let kind = range.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        kind.eq_ignore_ascii_case(b"text/event-stream")
    })
}

/// Whether it is clear for which host a request is: one `Host`, and no other in the target. The service checks what
/// that host is.
fn names_one_host(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next();
    let in_target = uri.authority().map(|authority| authority.as_str().as_bytes());
    hosts.next().is_none()
        && in_target.is_none_or(|target| host.is_some_and(|host| host.as_bytes() == target))
}

/// An answer as it is to be sent. Answers are complete JSON, so waiting for the end of one costs nothing.
async fn written(answer: Response, run: &OpenRun) -> Response {
    if !run.changes_messages() {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    // It comes from this process, whose lists of tools have limits of their own.
    match to_bytes(body, usize::MAX).await {
        Ok(body) => {
            head.headers.remove(CONTENT_LENGTH);
            Response::from_parts(head, Body::from(run.written(body.into())))
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// A stream that ends before the answer came.
fn without_answer() -> Response {
    stream_of(Body::empty())
}

/// A stream of two messages: that the list of tools has changed, and the answer. Other answers than to a call, which
/// has one message, are passed on.
async fn with_notification(answer: Response) -> Response {
    if answer.status() != StatusCode::OK {
        return answer;
    }
    match to_bytes(answer.into_body(), usize::MAX).await {
        Ok(body) => {
            let mut events = format!("data: {LIST_CHANGED}\n\ndata: ").into_bytes();
            events.extend_from_slice(&body);
            events.extend_from_slice(b"\n\n");
            stream_of(Body::from(events))
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// The message that tells a client to list the tools again.
const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

fn stream_of(events: Body) -> Response {
    let head = [(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))];
    (head, events).into_response()
}

async fn answer(
    State(runs): State<Arc<OpenRuns>>,
    ConnectInfo(guest): ConnectInfo<Guest>,
    request: Request,
) -> Response {
    if !names_one_host(request.uri(), request.headers()) {
        return (StatusCode::FORBIDDEN, "the request must name one host").into_response();
    }
    let token = AccessToken::from_path(request.uri().path());
    let service = token.and_then(|token| runs.lock().get(&token).cloned());
    match service {
        Some(served) => {
            served.was_asked.store(true, Ordering::Relaxed);
            let (mut head, body) = request.into_parts();
            let takes_events = accepts_events(&head.headers);
            if accepts_json(&head.headers) {
                // The service wants to see both media types, though it answers in JSON only.
                let both = HeaderValue::from_static("application/json, text/event-stream");
                head.headers.insert(ACCEPT, both);
            }
            let Ok(body) = to_bytes(body, REQUEST_BYTES_MAX).await else {
                return (StatusCode::PAYLOAD_TOO_LARGE, "the request is too large, or broken")
                    .into_response();
            };
            // An agent passes on what others wrote, and half a character of it is no reason to lose the call.
            let body = json::mended(&body).map_or(body, Into::into);
            // Only a complete request counts as served. Until then, the connection may have to give way to others.
            let serving = guest.serve();
            let delivery = Delivery::default();
            head.extensions.insert(delivery.clone());
            let request = Request::from_parts(head, Body::from(body));
            let answer = served.service.handle(request).await.map(Body::new);
            let answer = match delivery.is_silent() {
                true => without_answer(),
                false if delivery.lists_other_tools() && takes_events => with_notification(answer).await,
                false => written(answer, &served.run).await,
            };
            serving.until_end_of(answer)
        }
        None => (StatusCode::NOT_FOUND, "no run is open at this URL").into_response(),
    }
}
