//! The tools of one run over stdin and stdout, for a client that starts its servers itself.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};

use super::handler::{OpenRun, RunHandler};
use super::{McpError, REQUEST_BYTES_MAX, RunTools};

/// The stdin and stdout of this process. Where both are pipes, and the system allows it, nothing is handed to another
/// thread. Needs a Tokio runtime, and nothing else in the process may use them.
pub fn standard_streams()
-> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    stdio_pipes()
}

/// Serves one run over this process's stdin and stdout, until stdin ends. Nothing else in the process may write to
/// stdout during that time. Needs a Tokio runtime.
///
/// # Errors
/// The client broke the protocol at its start.
pub async fn serve_stdio(tools: RunTools) -> Result<(), McpError> {
    let (read, write) = stdio_pipes();
    serve_stream(tools, read, write).await
}

/// Serves one run over any pair of streams, one JSON-RPC message per line, until `read` ends. Lines longer than
/// [`REQUEST_BYTES_MAX`] are dropped.
///
/// # Errors
/// The client broke the protocol at its start.
pub async fn serve_stream<R, W>(tools: RunTools, read: R, write: W) -> Result<(), McpError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let run = Arc::new(OpenRun::new(tools));
    let handler = RunHandler(Arc::clone(&run));
    let write = Messages::new(write, run);
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(REQUEST_BYTES_MAX);
    let broken = |reason: String| McpError::Stream { reason };
    match handler.serve(transport).await {
        Ok(serving) => serving.waiting().await.map(drop).map_err(|error| broken(error.to_string())),
        // A client that leaves without a message simply had nothing to do.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Passes on the messages of a run, one on each line, as they are to be sent.
struct Messages<W> {
    stream: W,
    run: Arc<OpenRun>,
    /// The beginning of a line.
    begun: Vec<u8>,
    /// Whole lines that the stream has not taken yet.
    ready: BytesMut,
}

impl<W> Messages<W> {
    fn new(stream: W, run: Arc<OpenRun>) -> Self {
        Self { stream, run, begun: Vec::new(), ready: BytesMut::new() }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Messages<W> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(part);
            if self.begun.pop_if(|byte| *byte == b'\n').is_some() {
                let line = std::mem::take(&mut self.begun);
                let line = self.run.written(line);
                self.ready.extend_from_slice(&line);
                self.ready.extend_from_slice(b"\n");
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, ready, .. } = &mut *self;
        while !ready.is_empty() {
            let count = ready!(Pin::new(&mut *stream).poll_write(context, ready))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            ready.advance(count);
        }
        Pin::new(stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
