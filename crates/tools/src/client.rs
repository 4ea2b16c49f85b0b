//! The other side of the Model Context Protocol: the tools that a server offers, as a toolbox.
//!
//! A server is a program that we start and talk to over its stdin and stdout, or a URL (streamable HTTP). Both
//! protocol eras are supported: the server first gets a request of 2026-07-28, and the handshake of 2025-11-25 if it
//! does not understand that. A program that exits at the newer request is started once more and only gets the
//! handshake.
//!
//! The list of tools is read once, at the start, tool by tool (`message.rs`, `list.rs`): one that cannot be offered is
//! left out with the reason, and costs no other. We offer the server nothing: no sampling, no files, and no user to
//! answer its questions.
//!
//! Any problem with a call (the tool fails, the server answers with an error, does not answer, or is gone) is a
//! result with `is_error` for the agent. Only a server that is unavailable at the start is an error of ours.

mod connection;
mod http;
mod lines;
mod list;
mod message;
mod result;
mod server;
mod stderr;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{Peer, RoleClient, ServiceError};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::refusal::{no_such_tool, not_an_object};
use crate::{BoxFuture, Toolbox};

use connection::{Connection, Era, Reason};
use lines::StdoutFaults;
pub use lines::{Line, LineReader};
pub use message::MESSAGE_BYTES_MAX;
pub use server::{CommandServer, HttpServer, ServerError};
use stderr::Held;
pub use stderr::ServerLog;

/// Most pages of a list of tools.
pub const PAGES_MAX: usize = 100;

/// How long a server may take to shut down: to close its session, or to exit after its stdin has ended.
const LEAVING_MAX: Duration = Duration::from_secs(1);

/// The limits on a tool server. Reaching one is an error that names it: at the server's start, or as the result of a
/// call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// Longest time until the tools are listed. Starting may include a download (`npx`, `uvx`).
    pub start: Duration,
    /// Longest time of one call.
    pub call: Duration,
    /// Most tools of one server.
    pub tools: usize,
    /// Most bytes of the text of one result.
    pub result_bytes: usize,
}

impl Default for ClientLimits {
    /// 60 seconds for the start, 60 for a call, 512 tools, 1 MiB.
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            call: Duration::from_secs(60),
            tools: 512,
            result_bytes: 1 << 20,
        }
    }
}

/// Where a tool server is.
#[derive(Debug, Clone)]
pub(crate) enum Server {
    Command(CommandServer),
    Http(HttpServer),
}

/// The tools of one server, which runs until this is closed or dropped.
pub struct McpTools {
    tools: Arc<[Tool]>,
    left_out: Vec<String>,
    outputs: HashMap<String, Vec<String>>,
    limits: ClientLimits,
    protocol_version: String,
    peer: Peer<RoleClient>,
    connection: Mutex<Option<Connection>>,
    faults: StdoutFaults,
}

impl McpTools {
    /// Starts a program and lists its tools. `log` gets the program's stderr, line by line; without it the end of
    /// stderr is in the error. Needs a Tokio runtime with its IO and time drivers.
    ///
    /// # Errors
    /// The program cannot be started, does not speak the protocol, or reaches a limit.
    pub async fn start(
        server: CommandServer,
        limits: ClientLimits,
        log: Option<ServerLog>,
    ) -> Result<Self, ServerError> {
        Self::open(&Server::Command(server), limits, log.as_ref()).await
    }

    /// Connects to a server and lists its tools. Needs a Tokio runtime with its IO and time drivers.
    ///
    /// # Errors
    /// The server cannot be reached, does not speak the protocol, or reaches a limit.
    pub async fn connect(server: HttpServer, limits: ClientLimits) -> Result<Self, ServerError> {
        Self::open(&Server::Http(server), limits, None).await
    }

    pub(crate) async fn open(
        server: &Server,
        limits: ClientLimits,
        log: Option<&ServerLog>,
    ) -> Result<Self, ServerError> {
        match Self::open_in(Era::Any, server, limits, log).await {
            // An older program may exit at the first request of the newer protocol. It is started again for the
            // handshake alone.
            Err(ServerError::Ended { .. }) if matches!(server, Server::Command(_)) => {
                Self::open_in(Era::WithHandshake, server, limits, log).await
            }
            // An older server may have an answer for any request, even one that it does not know.
            Err(ServerError::OddGreeting { .. }) => {
                Self::open_in(Era::WithHandshake, server, limits, log).await
            }
            result => result,
        }
    }

    async fn open_in(
        era: Era,
        server: &Server,
        limits: ClientLimits,
        log: Option<&ServerLog>,
    ) -> Result<Self, ServerError> {
        let (wire, mut program) = connection::begin(server, log)?;
        let opening = async {
            let service = connection::greet(wire, era).await?;
            let list = list::read(service.peer(), limits.tools).await?;
            Ok((service, list))
        };
        let opened = timeout(limits.start, opening).await;
        match opened.unwrap_or(Err(Reason::NotInTime { limit: limits.start })) {
            Ok((service, list)) => {
                let peer = service.peer().clone();
                let version = peer.peer_info().map(|info| info.protocol_version.clone()).unwrap_or_default();
                // Only now is it known whether the lines on stderr may be complaints about the newer request.
                let is_older = matches!(era, Era::Any) && version < ProtocolVersion::V_2026_07_28;
                let faults = program.as_ref().map(|program| program.faults.clone()).unwrap_or_default();
                if let Some(program) = &mut program {
                    program.release(if is_older { Held::Sum } else { Held::Show });
                }
                Ok(Self {
                    tools: list.tools,
                    left_out: list.left_out,
                    outputs: list.outputs,
                    limits,
                    protocol_version: version.to_string(),
                    peer,
                    connection: Mutex::new(Some(Connection { service, program })),
                    faults,
                })
            }
            Err(reason) => Err(connection::failed(program, reason, era).await),
        }
    }

    /// The tools of the server that are not offered, each with the reason.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// What the output of a tool has as members by its output schema; nothing if the server gives none.
    pub fn output_members(&self, tool: &str) -> &[String] {
        self.outputs.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The version of the protocol that was agreed on, as in `2026-07-28`.
    pub fn protocol_version(&self) -> &str {
        &self.protocol_version
    }

    /// Says goodbye to the server and ends its program with everything that it has started. Later calls are answered
    /// by an error result. Takes at most about two seconds.
    pub async fn close(&self) {
        if let Some(connection) = self.connection.lock().await.take() {
            connection.end().await;
        }
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == call.name) else {
            return no_such_tool(call, &self.tools);
        };
        let arguments = match &call.arguments {
            Arguments::Object(arguments) => arguments.clone(),
            Arguments::Malformed(text) => return not_an_object(call, text),
        };
        let params = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
        // Dropping the request informs the server that nobody waits for it any more.
        let answered = timeout(self.limits.call, self.peer.call_tool_once(params)).await;
        let (text, is_error) = match answered {
            Ok(Ok(response)) => result::to_text(response),
            Ok(Err(ServiceError::McpError(error))) => {
                let code = error.code.0;
                (format!("the tool server answered with the error {code}: {}", error.message), true)
            }
            Ok(Err(error)) => (connection::call_failure(error, &self.faults), true),
            Err(_) => (format!("`{}` did not answer within {:?}", call.name, self.limits.call), true),
        };
        let bytes_max = self.limits.result_bytes;
        if text.len() > bytes_max {
            let length = text.len();
            let text = format!(
                "the result has {length} bytes, and at most {bytes_max} are passed on: ask the tool for less"
            );
            return ToolResult::error(call.id.clone(), text);
        }
        ToolResult { is_error, ..ToolResult::ok(call.id.clone(), text) }
    }
}

impl Toolbox for McpTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }
}

impl fmt::Debug for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpTools").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}
