//! A listener that cannot be exhausted: the number of connections without a complete request is limited, and the
//! one that has waited longest makes room for a new one once its minimum time has passed.
//!
//! All runs of a campaign share the ports of its servers, and which run a connection belongs to is not known before
//! its request is read. An agent that opens connections and sends nothing, or only part of a request, could
//! therefore use up all open files of planproof, and no other run could connect. With this listener it displaces
//! its own connections, and the only effect on others is that they are accepted a little later.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::connect_info::Connected;
use axum::http::Response;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Maximum number of connections at a server that wait for a request or the rest of one.
pub const WAITING_MAX: usize = 128;

/// The time that each of them has to send its request in any case. If there are too many, new ones are accepted
/// later.
pub const WAITING_TIME_MIN: Duration = Duration::from_millis(100);

/// How long nothing is accepted if the system has no file descriptor left.
const PAUSE: Duration = Duration::from_millis(10);

/// Accepts connections on a socket.
pub struct Gate {
    listener: TcpListener,
    queue: Arc<Queue>,
}

/// Waiting connections, by the time they started to wait.
#[derive(Default)]
struct Queue(Mutex<Places>);

#[derive(Default)]
struct Places {
    next: u64,
    taken: BTreeMap<u64, (Instant, CancellationToken)>,
}

/// An accepted connection.
pub struct Visit {
    stream: TcpStream,
    guest: Guest,
    sent_away: Pin<Box<WaitForCancellationFutureOwned>>,
}

/// The other end of a connection, in the form that a handler receives: as `ConnectInfo<Guest>`.
#[derive(Clone)]
pub struct Guest(Arc<Seat>);

struct Seat {
    queue: Arc<Queue>,
    sent_away: CancellationToken,
    /// Its place in the queue; `None` while it is served.
    place: Mutex<Option<u64>>,
}

/// A complete request. Its connection does not count as waiting until this is dropped.
#[must_use]
pub struct Serving(Arc<Seat>);

/// The body of a response; its connection counts as served until the body ends.
struct Served {
    body: Body,
    _serving: Serving,
}

impl Gate {
    /// Accepts connections on this socket.
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, queue: Arc::default() }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Places> {
        // A panic while the lock is held leaves only complete entries.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a waiting connection.
    fn enter(&self, token: CancellationToken) -> u64 {
        let mut places = self.lock();
        let place = places.next;
        places.next += 1;
        places.taken.insert(place, (Instant::now(), token));
        place
    }

    /// Closes the connections that have waited longest until fewer than `most` wait. Returns how long it takes
    /// until the next one may be closed, if that is in the future.
    fn make_room(&self, most: usize) -> Option<Duration> {
        let mut places = self.lock();
        while places.taken.len() >= most
            && let Some(first) = places.taken.first_entry()
        {
            let left = WAITING_TIME_MIN.saturating_sub(first.get().0.elapsed());
            if !left.is_zero() {
                return Some(left);
            }
            first.remove().1.cancel();
        }
        None
    }
}

impl Listener for Gate {
    type Io = Visit;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visit, SocketAddr) {
        loop {
            if let Some(left) = self.queue.make_room(WAITING_MAX) {
                sleep(left).await;
                continue;
            }
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    // Without this, small responses would wait for each other. If it fails, they still arrive.
                    let _ = stream.set_nodelay(true);
                    return (Visit::new(stream, &self.queue), address);
                }
                // The connection is already closed, or there is no file descriptor left.
                Err(_) => {
                    // Closing one connection frees a file descriptor, in case none was left.
                    let waiting = self.queue.lock().taken.len();
                    self.queue.make_room(waiting);
                    sleep(PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Visit {
    fn new(stream: TcpStream, queue: &Arc<Queue>) -> Self {
        let sent_away = CancellationToken::new();
        let place = Mutex::new(Some(queue.enter(sent_away.clone())));
        let seat = Seat { queue: Arc::clone(queue), sent_away: sent_away.clone(), place };
        Self { stream, guest: Guest(Arc::new(seat)), sent_away: Box::pin(sent_away.cancelled_owned()) }
    }
}

impl Connected<IncomingStream<'_, Gate>> for Guest {
    fn connect_info(stream: IncomingStream<'_, Gate>) -> Self {
        stream.io().guest.clone()
    }
}

impl Seat {
    fn place(&self) -> MutexGuard<'_, Option<u64>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        if let Some(place) = self.place().take() {
            self.queue.lock().taken.remove(&place);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Guest {
    /// Must be called when a complete request has arrived.
    pub fn serve(&self) -> Serving {
        self.0.leave();
        Serving(Arc::clone(&self.0))
    }
}

impl Serving {
    /// Wraps the response so that the request counts as being served until the response ends.
    pub fn until_end_of(self, answer: Response<Body>) -> Response<Body> {
        answer.map(|body| Body::new(Served { body, _serving: self }))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The connection now waits for its next request, behind all others.
        let place = self.0.queue.enter(self.0.sent_away.clone());
        *self.0.place() = Some(place);
    }
}

impl HttpBody for Served {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

impl AsyncRead for Visit {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // To the server this looks as if the client had disconnected.
        if self.sent_away.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Visit {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::extract::ConnectInfo;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    async fn connect(address: SocketAddr) -> TcpStream {
        TcpStream::connect(address).await.unwrap()
    }

    /// The number of bytes received, up to a limit.
    async fn answer(stream: &mut TcpStream) -> usize {
        let mut bytes = [0; 512];
        stream.read(&mut bytes).await.unwrap_or(0)
    }

    #[test]
    fn who_sends_nothing_makes_room() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let serve = |ConnectInfo(guest): ConnectInfo<Guest>| async move {
                let serving = guest.serve();
                sleep(WAITING_TIME_MIN * 4).await;
                serving.until_end_of(Response::new(Body::from("done")))
            };
            let service = Router::new().fallback(serve).into_make_service_with_connect_info::<Guest>();
            let server = tokio::spawn(async move { axum::serve(Gate::new(listener), service).await });
            // This connection is being served and does not count as waiting.
            let mut served = connect(address).await;
            served.write_all(REQUEST).await.unwrap();
            sleep(WAITING_TIME_MIN).await;
            let mut silent = Vec::new();
            for _ in 0..2 * WAITING_MAX {
                let mut stream = connect(address).await;
                stream.write_all(b"GET / HT").await.unwrap();
                silent.push(stream);
            }
            let mut late = connect(address).await;
            late.write_all(REQUEST).await.unwrap();
            assert!(answer(&mut late).await > 0 && answer(&mut served).await > 0);
            // The earliest ones were closed without a response.
            assert_eq!(answer(&mut silent[0]).await, 0);
            server.abort();
        });
    }
}
