//! The tools of one run over stdin and stdout, for a client that starts its servers itself.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};

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
    let handler = RunHandler(Arc::new(OpenRun::new(tools)));
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(REQUEST_BYTES_MAX);
    let broken = |reason: String| McpError::Stream { reason };
    match handler.serve(transport).await {
        Ok(serving) => serving.waiting().await.map(drop).map_err(|error| broken(error.to_string())),
        // A client that leaves without a message simply had nothing to do.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(broken(error.to_string())),
    }
}
