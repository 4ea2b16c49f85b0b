//! Tool servers made with the official Python SDK, of both protocol eras and over both transports.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use planproof_tools::{ClientLimits, CommandServer, HttpServer, McpTools, Toolbox};
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};
use serde_json::Value;

use crate::{python, root};

/// How a server is talked to.
#[derive(Clone, Copy)]
pub(crate) enum Transport {
    /// Over stdin and stdout.
    Stdio,
    /// Over HTTP, with these options of the server's program.
    Http(&'static [&'static str]),
}

impl Transport {
    pub(crate) const ALL: [Self; 3] = [Self::Stdio, Self::Http(&[]), Self::Http(&["--json", "--stateless"])];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "over_stdio",
            Self::Http([]) => "over_http",
            Self::Http(_) => "over_http_in_json_without_sessions",
        }
    }
}

/// A server over HTTP, ended with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program() -> String {
    root().join("ci/mcp_server.py").to_str().unwrap().to_owned()
}

fn serve(venv: &str, options: &[&str]) -> (Served, String) {
    let mut command = Command::new(python(venv));
    command.arg(program()).arg("--http").args(options).stdin(Stdio::null()).stdout(Stdio::piped());
    command.env("PYTHONPYCACHEPREFIX", concat!(env!("CARGO_TARGET_TMPDIR"), "/pycache"));
    let mut child = command.spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (Served(child), url.trim().to_owned())
}

async fn start(venv: &str, limits: ClientLimits) -> McpTools {
    let server = CommandServer::new(python(venv).to_str().unwrap(), vec![program()]);
    McpTools::start(server, limits, None).await.unwrap()
}

async fn call(tools: &McpTools, name: &str, arguments: &str) -> ToolResult {
    let arguments = Arguments::from_text(arguments);
    tools.execute(&ToolCall { id: CallId::new("c"), name: name.to_owned(), arguments }).await
}

fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().unwrap().block_on(test);
}

pub(crate) fn tools_of_a_server(venv: &'static str, transport: Transport) {
    block_on(async {
        let limits = ClientLimits::default();
        let (tools, _served) = match transport {
            Transport::Stdio => (start(venv, limits).await, None),
            Transport::Http(options) => {
                let (served, url) = serve(venv, options);
                let server = HttpServer::new(&url, None).unwrap();
                (McpTools::connect(server, limits).await.unwrap(), Some(served))
            }
        };
        assert_eq!(tools.protocol_version(), if venv == "ci" { "2025-11-25" } else { "2026-07-28" });
        let names: Vec<&str> = tools.tools().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["add", "mirror", "picture", "refuse", "wait", "variable", "ask", "leave"]);
        assert!(tools.left_out().is_empty(), "{:?}", tools.left_out());
        assert_eq!(tools.tools()[0].description, "Adds two whole numbers.");
        assert_eq!(tools.tools()[0].input_schema["properties"]["b"]["type"], "integer");

        assert_eq!(call(&tools, "add", r#"{"a": 40, "b": 2}"#).await, ToolResult::ok(CallId::new("c"), "42"));
        let mirrored = call(&tools, "mirror", r#"{"point": {"x": 3, "y": -4}}"#).await;
        let mirrored: Value = serde_json::from_str(&mirrored.text).unwrap();
        assert_eq!(mirrored, serde_json::json!({"x": -3, "y": 4}));
        let picture = call(&tools, "picture", "{}").await;
        assert_eq!((picture.text.as_str(), picture.is_error), ("A picture:\n[image/png, 5 bytes]", false));

        for (name, arguments, part) in [
            ("refuse", r#"{"reason": "out of paper"}"#, "out of paper"),
            ("add", r#"{"a": "many", "b": 2}"#, "a"),
            ("add", r#"{"a": 1}"#, "b"),
        ] {
            let result = call(&tools, name, arguments).await;
            assert!(result.is_error && result.text.contains(part), "{name}: {result:?}");
        }
        // Nobody is there who could be asked, whichever way the server finds that out. The older one that answers in
        // JSON has no way to ask, and waits for the answer all the same.
        if venv != "ci" || !matches!(transport, Transport::Http([_, ..])) {
            let asked = call(&tools, "ask", "{}").await;
            assert!(asked.is_error || ["decline", "cancel"].contains(&asked.text.as_str()), "{asked:?}");
        }
        assert_eq!(call(&tools, "add", r#"{"a": 1, "b": 1}"#).await.text, "2");
        tools.close().await;
    });
}

pub(crate) fn a_server_may_die() {
    block_on(async {
        let tools = start("mcp2", ClientLimits::default()).await;
        let waiting = call(&tools, "wait", r#"{"seconds": 600}"#);
        let leaving = async {
            // The first call should be under way.
            tokio::time::sleep(Duration::from_millis(100)).await;
            call(&tools, "leave", "{}").await
        };
        let (waited, left) = tokio::join!(waiting, leaving);
        for result in [waited, left, call(&tools, "add", r#"{"a": 1, "b": 1}"#).await] {
            let wanted = "the call failed at the tool server: its connection ended before it answered";
            assert_eq!((result.text.as_str(), result.is_error), (wanted, true));
        }
    });
}
