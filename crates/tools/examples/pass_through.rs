//! A pass-through of typed messages with the SDK, which decides nothing: the peer of `planproof guard` in
//! `benches/guard.py`. It starts the server that its command line names.

use std::process::Stdio;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer};
use rmcp::transport::stdio_pipes;
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::process::Command;

struct PassThrough(Peer<RoleClient>);

fn failed(error: &impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for PassThrough {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(request).await.map_err(|error| failed(&error))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.call_tool_once(request).await.map_err(|error| failed(&error))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().ok_or("name the server")?;
    let mut command = Command::new(program);
    let mut child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let streams = (child.stdout.take().ok_or("no stdout")?, child.stdin.take().ok_or("no stdin")?);
    let server = ().serve(streams).await?;
    PassThrough(server.peer().clone()).serve(stdio_pipes()).await?.waiting().await?;
    child.kill().await?;
    Ok(())
}
