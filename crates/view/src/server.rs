//! The server: which requests are answered, and how.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{Method, Response, StatusCode};
use bytes::Bytes;
use futures::stream;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use planproof_loopback::{NotFromHere, from_this_machine};
use planproof_report::html::fragments::report_policy;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::address::{self, ListQuery, Lost, Wanted};
use crate::library::Library;
use crate::limits::{
    ADDRESS_BYTES_MAX, ALIVE_EVERY, CONNECTIONS_MAX, HEAD_BYTES_MAX, HEAD_TIME_MAX, HEADERS_MAX,
    LAST_STATE_TIME_MAX, LIVE_PAGES_MAX, MADE_AT_ONCE_MAX, STORES_MAX,
};
use crate::live::{Live, State, Told};
use crate::pages::frame::PAGE;
use crate::pages::message;
use crate::site::{Fault, Site};
use crate::waiting::{Place, Waiting};

/// What is shown, and to whom.
pub struct ViewConfig {
    /// The run stores, at most [`STORES_MAX`].
    pub stores: Vec<PathBuf>,
    /// Finds the suites of their campaigns.
    pub library: Arc<dyn Library>,
    /// What nobody can guess, of letters and digits: the first part of every address.
    pub token: String,
    /// The port on 127.0.0.1; 0 chooses a free one.
    pub port: u16,
}

/// A server of pages on its own threads, until it is ended or dropped.
pub struct ViewServer {
    address: SocketAddr,
    token: String,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    site: Arc<Site>,
    live: Live,
    live_pages: Arc<Semaphore>,
    made_at_once: Arc<Semaphore>,
    /// Closed by the end of the server.
    stopped: watch::Receiver<bool>,
}

impl ViewServer {
    /// Listens on 127.0.0.1. Stores that cannot be read are reported on the pages, because they may come later.
    ///
    /// # Errors
    /// The port is taken, too many stores are named, or the system has no more threads.
    pub fn start(config: ViewConfig) -> io::Result<Self> {
        let ViewConfig { stores, library, token, port } = config;
        if stores.len() > STORES_MAX {
            let what = format!(
                "{} run stores are too many: at most {STORES_MAX} can be shown at once",
                stores.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (figures, rates, rows) = Default::default();
        let site = Arc::new(Site { stores, library, token: token.clone(), figures, rates, rows });
        let (stop, stopped) = watch::channel(false);
        let shared = Arc::new(Shared {
            live: Live::start(Arc::clone(&site))?,
            site,
            live_pages: Arc::new(Semaphore::new(LIVE_PAGES_MAX)),
            made_at_once: Arc::new(Semaphore::new(MADE_AT_ONCE_MAX)),
            stopped,
        });
        // Threads of its own: a campaign that is watched must not wait for a page.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(MADE_AT_ONCE_MAX)
            .build()?;
        let serving = Arc::clone(&shared);
        let thread = thread::Builder::new().name("view-server".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, serving));
            // A page that is being made belongs to nobody any more.
            runtime.shutdown_background();
        })?;
        Ok(Self { address, token, shared, stop, thread: Some(thread) })
    }

    /// The address of the list of campaigns, with the token.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, Wanted::List(ListQuery::default()).address(&self.token))
    }

    /// The address of a campaign of the first store.
    pub fn url_of(&self, campaign: &str) -> String {
        let wanted = Wanted::Campaign(0, campaign.to_owned(), Default::default());
        format!("http://{}{}", self.address, wanted.address(&self.token))
    }

    /// Shows every page that is watched its last state, and ends: at most [`LAST_STATE_TIME_MAX`] later.
    pub fn end(mut self) {
        self.shared.live.end();
        let began = std::time::Instant::now();
        while self.shared.live_pages.available_permits() < LIVE_PAGES_MAX
            && began.elapsed() < LAST_STATE_TIME_MAX
        {
            thread::sleep(Duration::from_millis(10));
        }
        self.stop_and_join();
    }

    fn stop_and_join(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for ViewServer {
    fn drop(&mut self) {
        self.stop_and_join();
    }
}

async fn serve(listener: StdListener, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let waiting = Waiting::default();
    let mut stopped = shared.stopped.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        let Ok((stream, _)) = accepted else {
            // No more open files, for example: the next moment may be better.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let permit = match Arc::clone(&connections).try_acquire_owned() {
            // One that is closed gives its place up at once.
            Err(_) if waiting.close_oldest() => Arc::clone(&connections).acquire_owned().await.ok(),
            permit => permit.ok(),
        };
        match permit {
            Some(permit) => {
                drop(tokio::spawn(connection(stream, Arc::clone(&shared), waiting.join(), permit)));
            }
            None => drop(tokio::spawn(turn_away(stream))),
        }
    }
}

/// Answers a connection beyond the limit without reading a request.
async fn turn_away(stream: TcpStream) {
    const ANSWER: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 52\r\n\
                            connection: close\r\n\r\ntoo many pages are open at once: close some of them\n";
    let written = async {
        let mut answer = ANSWER;
        while !answer.is_empty() {
            stream.writable().await?;
            match stream.try_write(answer) {
                Ok(bytes) => answer = &answer[bytes..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok::<(), io::Error>(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), written).await;
}

async fn connection(
    stream: TcpStream,
    shared: Arc<Shared>,
    (place, closed): (Place, impl Future<Output = ()>),
    _permit: OwnedSemaphorePermit,
) {
    let _ = stream.set_nodelay(true);
    let mut stopped = shared.stopped.clone();
    let service = service_fn(|request: axum::http::Request<hyper::body::Incoming>| {
        let shared = Arc::clone(&shared);
        // What a request carries beyond its head is of no interest.
        let (head, _) = request.into_parts();
        let checked = checked(&shared, &head);
        if checked.is_ok() {
            place.leave();
        }
        async move { Ok::<_, Infallible>(answer(&shared, &head, checked).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // A client that goes away, or writes no HTTP, is its own affair.
        _ = serving => {}
        () = closed => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
}

async fn answer(
    shared: &Arc<Shared>,
    head: &Parts,
    checked: Result<address::Request, Fault>,
) -> Response<Body> {
    let is_head = head.method == Method::HEAD;
    let answer = match checked {
        Ok(request) => match request.live {
            Some(last) => live(shared, request.wanted, last_event(head).or(last), is_head),
            None => page(shared, request.wanted).await,
        },
        Err(fault) => Err(fault),
    };
    let has_token = !matches!(&answer, Err(fault) if fault.status == StatusCode::FORBIDDEN);
    let mut answer = answer.unwrap_or_else(|fault| {
        let home = has_token.then(|| Wanted::List(ListQuery::default()).address(&shared.site.token));
        let home = home.filter(|_| head.method == Method::GET || is_head);
        let mut answer = html_answer(message::page(&fault, home.as_deref()).into_string(), &PAGE.policy());
        *answer.status_mut() = fault.status;
        if fault.status == StatusCode::METHOD_NOT_ALLOWED {
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        answer
    });
    if is_head {
        *answer.body_mut() = Body::empty();
    }
    answer
}

/// What the request asks for, if it may.
fn checked(shared: &Shared, head: &Parts) -> Result<address::Request, Fault> {
    let forbidden = |what: &str| Fault::new(StatusCode::FORBIDDEN, what);
    from_this_machine(head, &[]).map_err(|foreign| {
        forbidden(match foreign {
            NotFromHere::Host => {
                "the Host header must name this machine: open the address that planproof printed"
            }
            NotFromHere::Origin => "requests from pages of other machines are refused",
        })
    })?;
    // Another server on this machine has pages, too; ours send no Origin, or their own.
    let host = head.headers.get(HOST).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_own = |origin: &HeaderValue| origin.as_bytes().strip_prefix(b"http://") == Some(host);
    if !head.headers.get_all(ORIGIN).iter().all(is_own) {
        return Err(forbidden("requests from other pages are refused"));
    }
    if head.method != Method::GET && head.method != Method::HEAD {
        let what = "this server changes nothing, and answers only GET and HEAD";
        return Err(Fault::new(StatusCode::METHOD_NOT_ALLOWED, what));
    }
    let query = head.uri.query();
    if head.uri.path().len() + query.map_or(0, str::len) > ADDRESS_BYTES_MAX {
        let what = format!("the address is longer than {ADDRESS_BYTES_MAX} bytes");
        return Err(Fault::new(StatusCode::URI_TOO_LONG, what));
    }
    address::read(head.uri.path(), query, &shared.site.token).map_err(|lost| match lost {
        Lost::Token => forbidden("the address lacks the secret part: open the one that planproof printed"),
        Lost::Page => Fault::new(StatusCode::NOT_FOUND, "there is no such page"),
    })
}

/// The name of the last state that a browser got before its connection broke.
fn last_event(head: &Parts) -> Option<String> {
    head.headers.get("last-event-id")?.to_str().ok().map(str::to_owned)
}

async fn page(shared: &Arc<Shared>, wanted: Wanted) -> Result<Response<Body>, Fault> {
    // It is never closed.
    let permit = Arc::clone(&shared.made_at_once).acquire_owned().await.ok();
    let site = Arc::clone(&shared.site);
    let is_report = matches!(wanted, Wanted::Report(..));
    let made = tokio::task::spawn_blocking(move || {
        let page = site.page(&wanted);
        drop(permit);
        page
    });
    let broken = |_| {
        Fault::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the page could not be made, which is a fault of planproof",
        )
    };
    let page = made.await.map_err(broken)??;
    // A report has its own policy, which may not be loosened.
    Ok(html_answer(page, &if is_report { report_policy() } else { PAGE.policy() }))
}

fn html_answer(page: String, policy: &str) -> Response<Body> {
    let mut answer = Response::new(Body::from(page));
    protect(&mut answer, "text/html; charset=utf-8", policy);
    answer
}

/// Sets the headers of every answer.
fn protect(answer: &mut Response<Body>, content: &'static str, policy: &str) {
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content));
    // A page in a frame of another page could be clicked on unseen; a policy in the page itself cannot say so.
    let policy = format!("{policy}; frame-ancestors 'none'");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The states of a page as server-sent events. `last` is the name of the state that the browser has.
fn live(
    shared: &Arc<Shared>,
    wanted: Wanted,
    last: Option<String>,
    is_head: bool,
) -> Result<Response<Body>, Fault> {
    if matches!(wanted, Wanted::Report(..) | Wanted::Run(_, _, _, Some(_))) {
        return Err(Fault::new(StatusCode::NOT_FOUND, "this page does not change"));
    }
    shared.site.path(match &wanted {
        Wanted::List(_) => 0,
        Wanted::Campaign(store, ..) | Wanted::Run(store, ..) | Wanted::Report(store, _) => *store,
    })?;
    let Ok(permit) = Arc::clone(&shared.live_pages).try_acquire_owned() else {
        let what = format!("{LIVE_PAGES_MAX} pages are being watched already: close some of them");
        return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, what));
    };
    let receiver = (!is_head).then(|| shared.live.watch(wanted));
    let feed = Feed { receiver, last, state: None, _permit: permit };
    let events = stream::unfold(Some(feed), |feed| async {
        let mut feed = feed?;
        let (text, is_over) = feed.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), (!is_over).then_some(feed)))
    });
    let mut answer = Response::new(Body::from_stream(events));
    protect(&mut answer, "text/event-stream", "default-src 'none'");
    Ok(answer)
}

/// What one browser gets of a page.
struct Feed {
    receiver: Option<watch::Receiver<Option<Told>>>,
    /// The name of the state that the browser has.
    last: Option<String>,
    /// The state that it has, if we sent it.
    state: Option<State>,
    _permit: OwnedSemaphorePermit,
}

impl Feed {
    /// The next events, and whether they are the last ones.
    async fn next(&mut self) -> Option<(String, bool)> {
        let receiver = self.receiver.as_mut()?;
        let told = loop {
            match tokio::time::timeout(ALIVE_EVERY, receiver.changed()).await {
                Err(_) => return Some((": alive\n\n".to_owned(), false)),
                // The thread that watches is gone.
                Ok(Err(_)) => return None,
                Ok(Ok(())) => {}
            }
            if let Some(told) = receiver.borrow_and_update().clone() {
                break told;
            }
        };
        let mut text = String::new();
        let mut is_over = told.is_last;
        match &*told.state {
            Ok(state) => {
                let name = state.name();
                if self.last.as_deref() != Some(name.as_str()) {
                    let before = self.state.as_ref().and_then(|it| it.as_ref().as_ref().ok());
                    text += &event(&name, "state", &state.since(before));
                } else if self.state.is_none() {
                    // The browser has this state already, from the page or from an earlier connection.
                    text += ": unchanged\n\n";
                }
                self.last = Some(name);
                self.state = Some(Arc::clone(&told.state));
                is_over |= state.is_over;
                if state.is_over {
                    text += &event("", "done", "{}");
                }
            }
            Err(fault) => {
                let what = serde_json::json!({ "what": fault.what }).to_string();
                text += &event("", "fault", &what);
            }
        }
        if told.is_last {
            text += &event("", "ended", "{}");
        }
        Some((text, is_over))
    }
}

/// An event of the stream. JSON has no line breaks, so one line holds it.
fn event(id: &str, kind: &str, data: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!("id: {id}\n") };
    format!("{id}event: {kind}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;

    #[test]
    fn an_event_is_a_block_of_lines() {
        assert_eq!(event("7", "state", "{}"), "id: 7\nevent: state\ndata: {}\n\n");
        assert_eq!(event("", "ended", "{}"), "event: ended\ndata: {}\n\n");
        assert!(!Snapshot::default().since(None).contains('\n'));
    }
}
