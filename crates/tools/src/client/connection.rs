//! A connection to one server: its beginning, its end, and its failures.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ClientServiceExt;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, ServiceError};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::http::{HttpClient, HttpError};
use super::lines::{LineTransport, StdoutFaults};
use super::stderr::{Held, StderrTail, follow};
use super::{
    CommandServer, LEAVING_MAX, MESSAGE_BYTES_MAX, PAGES_MAX, Server, ServerError, ServerLog, message,
};
use crate::process::ProcessGroup;
use crate::refusal::shortened;

/// How long we wait for a program that has closed its stdout to exit, in order to report its exit status.
const EXIT_MAX: Duration = Duration::from_millis(300);

/// How often a broken answer is resumed, after one second, two seconds, and so on, before its call has failed.
const RESUMPTIONS_MAX: usize = 4;

/// How a server is addressed at first.
#[derive(Debug, Clone, Copy)]
pub(super) enum Era {
    /// In the protocol of 2026-07-28, with the earlier one as a fallback.
    Any,
    /// With the handshake of the protocols up to 2025-11-25.
    WithHandshake,
}

/// Why a server has no tools for us.
#[derive(Debug)]
pub(super) enum Reason {
    Closed,
    NotInTime {
        limit: Duration,
    },
    TooManyTools {
        limit: usize,
    },
    TooManyPages,
    Unreachable(String),
    /// The first answer is none of the protocol's.
    OddGreeting(String),
    Other(String),
}

/// A connection that has not begun.
pub(super) enum Wire {
    Lines(LineTransport),
    Http(Box<StreamableHttpClientTransport<HttpClient>>),
}

/// A program that was started for us.
pub(super) struct Program {
    group: ProcessGroup,
    stderr: Option<AbortOnDropHandle<()>>,
    tail: StderrTail,
    pub(super) faults: StdoutFaults,
    /// Decides about the stderr lines that were withheld so far.
    held: Option<oneshot::Sender<Held>>,
    /// The user sees its stderr.
    is_logged: bool,
}

/// A connection that has begun.
pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, ClientConfig>,
    pub(super) program: Option<Program>,
}

/// Starts the program, or prepares the requests.
pub(super) fn begin(
    server: &Server,
    log: Option<&ServerLog>,
) -> Result<(Wire, Option<Program>), ServerError> {
    match server {
        Server::Command(command) => {
            let (wire, program) = start(command, log)?;
            Ok((Wire::Lines(wire), Some(program)))
        }
        Server::Http(server) => {
            let mut config = StreamableHttpClientTransportConfig::with_uri(server.client.url())
                .max_sse_event_size(MESSAGE_BYTES_MAX);
            let mut again = ExponentialBackoff::default();
            again.max_times = Some(RESUMPTIONS_MAX);
            config.retry_config = Arc::new(again);
            let transport = StreamableHttpClientTransport::with_client(server.client.clone(), config);
            Ok((Wire::Http(Box::new(transport)), None))
        }
    }
}

fn start(server: &CommandServer, log: Option<&ServerLog>) -> Result<(LineTransport, Program), ServerError> {
    let mut command = Command::new(&server.program);
    command.args(&server.arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(prefix) = server.hidden_variables {
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let failed = |source| ServerError::CannotStart { program: server.program.clone(), source };
    let mut group = ProcessGroup::start(&mut command).map_err(failed)?;
    let (Some(stdin), Some(stdout), Some(stderr)) = group.take_streams() else {
        unreachable!("all three streams were asked for as pipes");
    };
    let (tail, faults) = (StderrTail::default(), StdoutFaults::default());
    let sink = log.cloned().unwrap_or_else(|| Arc::new(|_: &str| {}));
    let (held, verdict) = oneshot::channel();
    let program = Program {
        group,
        stderr: Some(follow(stderr, tail.clone(), sink, verdict)),
        tail,
        faults: faults.clone(),
        held: Some(held),
        is_logged: log.is_some(),
    };
    Ok((LineTransport::new(stdout, stdin, faults), program))
}

/// Agrees with the server on a protocol.
pub(super) async fn greet(wire: Wire, era: Era) -> Result<RunningService<RoleClient, ClientConfig>, Reason> {
    let us = ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("planproof", env!("CARGO_PKG_VERSION")),
    );
    let us = us.with_protocol_version(ProtocolVersion::V_2025_11_25);
    let lifecycle = match era {
        Era::Any => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
        Era::WithHandshake => ClientLifecycleMode::Initialize,
    };
    let greeted = match wire {
        Wire::Lines(transport) => us.serve_with_lifecycle(transport, lifecycle).await,
        Wire::Http(transport) => us.serve_with_lifecycle(*transport, lifecycle).await,
    };
    greeted.map_err(Reason::from)
}

impl From<ClientInitializeError> for Reason {
    fn from(error: ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::ConnectionClosed(_) => Self::Closed,
            ClientInitializeError::TransportError { error, .. } => transport_failure(&error),
            ClientInitializeError::JsonRpcError(error) => Self::Other(format!(
                "it answered with the error {}: {}",
                error.code.0,
                shortened(&error.message)
            )),
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => Self::from(*fallback),
            ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
                let versions: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
                Self::Other(format!(
                    "it speaks no version of the protocol that we do, only {}",
                    versions.join(", ")
                ))
            }
            ClientInitializeError::ExpectedInitResult(result) => {
                let result = serde_json::to_value(result).unwrap_or_default();
                Self::OddGreeting(message::fault_of_greeting(&result))
            }
            ClientInitializeError::ConflictInitResponseId(ours, theirs)
            | ClientInitializeError::UncorrelatedErrorResponse { expected: ours, received: theirs } => {
                let theirs = shortened(&theirs.to_string());
                Self::OddGreeting(format!("it answered the request {theirs}, and was asked {ours}"))
            }
            other => Self::Other(shortened(&other.to_string())),
        }
    }
}

impl From<ServiceError> for Reason {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::TransportClosed => Self::Closed,
            ServiceError::TransportSend(error) => transport_failure(&error),
            ServiceError::McpError(error) => Self::Other(format!(
                "it answered with the error {}: {}",
                error.code.0,
                shortened(&error.message)
            )),
            other => Self::Other(shortened(&other.to_string())),
        }
    }
}

fn transport_failure(error: &DynamicTransportError) -> Reason {
    match error.error.downcast_ref::<StreamableHttpError<HttpError>>() {
        // Not an error of HTTP, so it comes from a program's pipes.
        None => Reason::Closed,
        Some(StreamableHttpError::Client(error @ (HttpError::Unreachable(_) | HttpError::Status { .. }))) => {
            Reason::Unreachable(error.to_string())
        }
        Some(StreamableHttpError::Client(error)) => Reason::Other(error.to_string()),
        Some(StreamableHttpError::TransportChannelClosed) => Reason::Closed,
        Some(StreamableHttpError::UnexpectedContentType(kind)) => {
            let kind = kind.as_deref().unwrap_or("no content type");
            Reason::Other(format!(
                "it answered with {kind} instead of JSON or an event stream; is the path right?"
            ))
        }
        Some(error) => Reason::Other(shortened(&error.to_string())),
    }
}

/// The answer for an agent whose call got no answer.
pub(super) fn call_failure(error: ServiceError, faults: &StdoutFaults) -> String {
    let reason = match error {
        ServiceError::UnexpectedResponse => "its answer is not understood".to_owned(),
        error => match Reason::from(error) {
            Reason::Unreachable(what) | Reason::OddGreeting(what) | Reason::Other(what) => what,
            _ => faults.ended_by().unwrap_or_else(|| "its connection ended before it answered".to_owned()),
        },
    };
    format!("the call failed at the tool server: {reason}")
}

/// The error of a failed start. The remaining processes of the server are ended.
pub(super) async fn failed(program: Option<Program>, reason: Reason, era: Era) -> ServerError {
    let ended_by = program.as_ref().and_then(|program| program.faults.ended_by());
    let reason = match ended_by {
        Some(what) if matches!(reason, Reason::Closed) => Reason::Other(what),
        _ => reason,
    };
    let details = match program {
        Some(mut program) => {
            // A program that exited at the newer request is about to be started again.
            let is_first_of_two =
                matches!((&reason, era), (Reason::Closed | Reason::OddGreeting(_), Era::Any));
            program.release(if is_first_of_two { Held::Drop } else { Held::Show });
            program.describe_and_end(matches!(reason, Reason::Closed)).await
        }
        None => String::new(),
    };
    match reason {
        Reason::Closed => ServerError::Ended { details },
        Reason::NotInTime { limit } => ServerError::NotInTime { limit, details },
        Reason::TooManyTools { limit } => ServerError::TooManyTools { limit },
        Reason::TooManyPages => {
            ServerError::Refused { reason: format!("its list has more than {PAGES_MAX} pages"), details }
        }
        Reason::Unreachable(reason) => ServerError::Unreachable { reason },
        Reason::OddGreeting(reason) => ServerError::OddGreeting { reason, details },
        Reason::Other(reason) => ServerError::Refused { reason, details },
    }
}

impl Program {
    /// Decides about the stderr lines that were withheld so far.
    pub(super) fn release(&mut self, held: Held) {
        if let Some(verdict) = self.held.take() {
            // Nobody waits for the decision if the lines were withheld for too long.
            let _ = verdict.send(held);
        }
    }

    /// The description of a program that misbehaved, as the continuation of a sentence.
    async fn describe_and_end(mut self, has_closed: bool) -> String {
        let mut text = String::new();
        // The exit status comes first: after our signal below it would no longer be the program's own.
        if has_closed && let Ok(Ok(status)) = timeout(EXIT_MAX, self.group.leader_exit()).await {
            text.push_str(&format!(" ({status})"));
        }
        self.group.terminate().await;
        self.group.kill().await;
        if let Some(stderr) = self.stderr.take() {
            // A process that outlives the program may hold its pipe for ever.
            let _ = timeout(EXIT_MAX, stderr).await;
        }
        if let Some(line) = self.faults.stray() {
            let line = shortened(&line);
            text.push_str(&format!(
                "; on its stdout, where only messages of the protocol belong, it wrote `{line}`"
            ));
        }
        let tail = self.tail.text();
        if !self.is_logged && !tail.is_empty() {
            text.push_str(&format!("; its stderr ends with:\n{tail}"));
        }
        text
    }
}

impl Connection {
    /// Says goodbye, gives the program a moment to exit by itself, and ends it with everything that it has started.
    pub(super) async fn end(mut self) {
        // This closes a program's stdin, or deletes a server's session.
        let _ = self.service.close_with_timeout(LEAVING_MAX).await;
        if let Some(mut program) = self.program {
            let _ = timeout(LEAVING_MAX, program.group.leader_exit()).await;
            program.group.terminate().await;
            program.group.kill().await;
        }
    }
}
