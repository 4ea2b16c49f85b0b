//! The protocol's side of one run: listing its tools and executing its calls.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use planproof_trace::faults::{SeenFault, SentAs};
use planproof_trace::{Arguments, CallId, EventKind, ToolCall, ToolResult};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{RunTools, listed};
use crate::toolbox::run_is_over;

/// One run, shared by all requests to its URL.
pub(super) struct OpenRun {
    tools: RunTools,
    /// The tools in the protocol's form, in the toolbox's order.
    listed: Vec<Tool>,
    /// Whether that form lacks digits of their schemas.
    loses_digits: bool,
    calls: Mutex<u32>,
    /// When the latest call began.
    latest: Mutex<Instant>,
    /// Locked during a whole call if the tools are strictly sequential.
    turn: tokio::sync::Mutex<()>,
    /// The tools that were said to be gone by an error of the protocol.
    gone: Mutex<HashSet<String>>,
    pub(super) limit_reached: CancellationToken,
}

/// What the response to a request has beside its answer, or instead of it. Each request over HTTP comes with one.
#[derive(Clone, Default)]
pub(super) struct Delivery(Arc<Marks>);

#[derive(Default)]
struct Marks {
    is_silent: AtomicBool,
    lists_other_tools: AtomicBool,
}

impl Delivery {
    /// The response ends without an answer.
    pub(super) fn is_silent(&self) -> bool {
        self.0.is_silent.load(Ordering::Relaxed)
    }

    /// The call has changed the list of tools, and the client can be notified.
    pub(super) fn lists_other_tools(&self) -> bool {
        self.0.lists_other_tools.load(Ordering::Relaxed)
    }
}

/// The part of a response over HTTP that the handler decides on.
fn delivery(context: &RequestContext<RoleServer>) -> Option<&Delivery> {
    context.extensions.get::<axum::http::request::Parts>()?.extensions.get::<Delivery>()
}

/// Whether the client speaks the protocol without sessions, in which it subscribes to notifications.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

impl OpenRun {
    pub(super) fn new(tools: RunTools) -> Self {
        let listed = tools.toolbox.tools().iter().map(protocol_tool).collect();
        let loses_digits = listed::loses_digits(tools.toolbox.tools());
        Self {
            tools,
            listed,
            loses_digits,
            calls: Mutex::new(0),
            latest: Mutex::new(Instant::now()),
            turn: tokio::sync::Mutex::default(),
            gone: Mutex::default(),
            limit_reached: CancellationToken::new(),
        }
    }

    /// A message to the client as it is to be sent: lists of tools have their schemas as they were written.
    pub(super) fn written(&self, message: Vec<u8>) -> Vec<u8> {
        if !self.loses_digits {
            return message;
        }
        let toolbox = &self.tools.toolbox;
        // A tool can have been made since the list was written.
        listed::with_written_schemas(&message, toolbox.tools())
            .or_else(|| {
                listed::with_written_schemas(&message, &[&**toolbox.tools(), &toolbox.made()].concat())
            })
            .unwrap_or(message)
    }

    /// Whether [`written`](Self::written) can change a message.
    pub(super) fn changes_messages(&self) -> bool {
        self.loses_digits
    }

    async fn execute(&self, name: String, arguments: Arguments) -> ToolResult {
        // If we serve the model, the order in which it wrote its calls
        // counts, not the order in which the agent sends them.
        let written = self.tools.written.as_ref().and_then(|written| written.claim(&name, &arguments));
        if let Some(written) = &written {
            written.wait_for_earlier().await;
        }
        let _turn = match self.tools.toolbox.is_strictly_sequential() {
            true => Some(self.turn.lock().await),
            false => None,
        };
        let begun = {
            // Numbering and recording are one step, so that the ids ascend in the order of the trace.
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            let id = match &written {
                Some(written) => written.id().clone(),
                None => CallId::new(format!("m{}", u64::from(*calls) + 1)),
            };
            let call = ToolCall { id, name, arguments };
            if *calls >= self.tools.calls_max {
                self.limit_reached.cancel();
                Err(over_the_limit(&call, self.tools.calls_max))
            } else if self.tools.recorder.record(EventKind::Call(call.clone())) {
                *calls += 1;
                *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                Ok(call)
            } else {
                Err(run_is_over(&call))
            }
        };
        match begun {
            Ok(call) => {
                let result = self.tools.toolbox.execute(&call).await;
                // Only here does the trace have to show whether calls overlap: the order of written calls is known, and
                // sequential ones never overlap.
                if written.is_none() && !self.tools.toolbox.is_strictly_sequential() {
                    self.hold().await;
                }
                self.tools.recorder.record(EventKind::Result(result.clone()));
                result
            }
            Err(refusal) => refusal,
        }
    }

    /// Returns when no call has arrived during the delay of answers.
    async fn hold(&self) {
        if self.tools.hold.is_zero() {
            return;
        }
        loop {
            let latest = *self.latest.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(left) = self.tools.hold.checked_sub(latest.elapsed()).filter(|left| !left.is_zero())
            else {
                return;
            };
            // A call that arrives meanwhile prolongs the wait, which the next round finds out.
            tokio::time::sleep(left).await;
        }
    }
}

fn over_the_limit(call: &ToolCall, limit: u32) -> ToolResult {
    let text = format!("the run has made all of its {limit} tool calls: no more are executed");
    ToolResult::error(call.id.clone(), text)
}

impl OpenRun {
    /// Takes a tool out of the list; whether it was there.
    fn is_newly_gone(&self, tool: &str) -> bool {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned())
    }

    /// The answer to a call in the form in which it is sent.
    async fn sent(
        &self,
        tool: &str,
        result: ToolResult,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let fault = SeenFault::of(tool, &result.text);
        let code = fault.map_or(ErrorCode::INTERNAL_ERROR, |fault| ErrorCode(fault.code()));
        // A connection that cannot end by itself, because others use it, says what would be made of its end.
        let said = |code| {
            let message = result.text.strip_prefix(&format!("MCP error {}: ", code_of(code)));
            Err(ErrorData::new(code, message.unwrap_or(&result.text).to_owned(), None))
        };
        let silence = |code| {
            if let Some(delivery) = delivery(context) {
                delivery.0.is_silent.store(true, Ordering::Relaxed);
            }
            said(code)
        };
        match result.sent {
            SentAs::Result => Ok(protocol_result(result)),
            SentAs::Rpc => {
                if fault == Some(SeenFault::Vanished) && self.is_newly_gone(tool) {
                    notify_of_other_tools(context).await;
                }
                said(code)
            }
            SentAs::Closed => silence(CONNECTION_CLOSED),
            SentAs::Timeout(milliseconds) => {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                silence(REQUEST_TIMEOUT)
            }
        }
    }
}

/// Notifies the client that the list of tools has changed, where that is possible: over its own connection, or in the
/// stream that answers its call.
async fn notify_of_other_tools(context: &RequestContext<RoleServer>) {
    if is_modern(context) {
        return;
    }
    match delivery(context) {
        Some(delivery) => delivery.0.lists_other_tools.store(true, Ordering::Relaxed),
        // A client that has gone away does not list tools any more.
        None => drop(context.peer.notify_tool_list_changed().await),
    }
}

/// What clients call the end of a connection, and an answer that does not come.
const CONNECTION_CLOSED: ErrorCode = ErrorCode(-32000);
const REQUEST_TIMEOUT: ErrorCode = ErrorCode(-32001);

fn code_of(ErrorCode(code): ErrorCode) -> i32 {
    code
}

/// Answers the requests of one run, over either transport and in either protocol era.
#[derive(Clone)]
pub(super) struct RunHandler(pub(super) Arc<OpenRun>);

impl ServerHandler for RunHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
            .with_server_info(Implementation::new("planproof", env!("CARGO_PKG_VERSION")))
    }

    /// Clients of the newer era would have to subscribe to a changed list, which nobody can here: it is not offered.
    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut config = self.get_info();
        if let Some(tools) = &mut config.capabilities.tools {
            tools.list_changed = None;
        }
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), config))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.listed.clone();
        let gone = self.0.gone.lock().unwrap_or_else(PoisonError::into_inner);
        listed.retain(|tool| !gone.contains(&*tool.name));
        drop(gone);
        listed.extend(self.0.tools.toolbox.made().iter().map(protocol_tool));
        Ok(ListToolsResult::with_all_items(listed))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Some clients leave out the arguments of a tool that takes none.
        let arguments = request.arguments.map_or_else(Arguments::none, Arguments::Object);
        let result = self.0.execute(request.name.to_string(), arguments).await;
        self.0.sent(&request.name, result, &context).await.map(Into::into)
    }

    /// A `tools/call` whose arguments are not a JSON object does not parse as one and arrives here. It is an agent's
    /// mistake like any other, so it gets a result that says so: a protocol error ends some frameworks.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let params = request.params.as_ref();
        let Some(name) = params.and_then(|params| params.get("name")).and_then(Value::as_str) else {
            return Err(ErrorData::invalid_params("tools/call needs the name of a tool", None));
        };
        let arguments = params.and_then(|params| params.get("arguments")).unwrap_or(&Value::Null);
        let arguments = Arguments::Malformed(arguments.to_string());
        let result = self.0.execute(name.to_owned(), arguments).await;
        let mut result = self.0.sent(name, result, &context).await?;
        // Clients of earlier versions do not know this field of a result.
        if !is_modern(&context) {
            result.result_type = None;
        }
        let result = serde_json::to_value(result);
        result.map(CustomResult::new).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

fn protocol_tool(tool: &planproof_trace::Tool) -> Tool {
    Tool::new(tool.name.clone(), tool.description.clone(), Map::clone(&tool.input_schema))
}

fn protocol_result(result: ToolResult) -> CallToolResult {
    let content = vec![ContentBlock::text(result.text)];
    let mut sent =
        if result.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    sent.structured_content = result.structured;
    sent
}
