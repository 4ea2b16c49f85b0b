//! The tools of one run over stdin and stdout, for a client that starts its servers itself.

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Sink, sink};
use tokio::sync::Mutex;

use super::handler::{OpenRun, RunHandler};
use super::{McpError, REQUEST_BYTES_MAX, RunTools};

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
    let lines = AsyncRwTransport::new_server(read, sink()).with_max_line_length(REQUEST_BYTES_MAX);
    let transport = Lines { read: lines, write: Arc::new(Mutex::new(Some(write))), run };
    let broken = |reason: String| McpError::Stream { reason };
    match handler.serve(transport).await {
        Ok(serving) => serving.waiting().await.map(drop).map_err(|error| broken(error.to_string())),
        // A client that leaves without a message simply had nothing to do.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// The protocol over a pair of streams. It reads as the protocol's own transport does, and writes each message as the
/// run wants it.
struct Lines<R: AsyncRead, W> {
    read: AsyncRwTransport<RoleServer, R, Sink>,
    write: Arc<Mutex<Option<W>>>,
    run: Arc<OpenRun>,
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        // The future must not borrow the transport, which receives while it is sending.
        let (write, run) = (Arc::clone(&self.write), Arc::clone(&self.run));
        async move {
            let mut line = run.written(serde_json::to_vec(&message)?);
            line.push(b'\n');
            let mut write = write.lock().await;
            let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.read.receive().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.write.lock().await.take();
        Ok(())
    }
}
