//! Long numbers in the schemas of tools: a client of ours reads them and our servers list them as they were written.

use std::sync::Arc;
use std::time::Duration;

use planproof_suite::BoxFuture;
use planproof_tools::mcp::{AccessToken, McpServer, RunTools, serve_stream};
use planproof_tools::{ClientLimits, HttpServer, McpTools, MockTool, MockTools, SchemaCache, Toolbox};
use planproof_trace::{Tool, ToolCall, ToolResult, WrittenObject};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::http::{Era, call, rpc};
use crate::recorder;

/// With numbers of more digits than 64 bits hold, in each place that a schema has for numbers.
const SCHEMA: &str = concat!(
    r#"{"properties":{"n":{"default":0.12345678901234567890123,"enum":[25227143063332189585438,-25227143063332189585438],"#,
    r#""maximum":25227143063332189585438,"minimum":-25227143063332189585438,"type":"integer"},"#,
    r#""of":{"items":{"const":18446744073709551616},"type":"array"}},"type":"object"}"#,
);

fn run_tools() -> RunTools {
    let long = Tool {
        name: "long".into(),
        description: "Has a \"schema\".".into(),
        input_schema: WrittenObject::read(SCHEMA).unwrap(),
    };
    let tools = [Tool::without_arguments("wash", "Washes."), long]
        .map(|tool| MockTool { tool, answer: "Done.".into() });
    let toolbox = Arc::new(MockTools::new(tools.into(), &SchemaCache::default()).unwrap());
    RunTools { toolbox, recorder: recorder(), calls_max: 9, written: None, hold: Duration::ZERO }
}

#[tokio::test]
async fn over_http_they_are_listed_and_read() {
    let server = McpServer::bind(0).await.unwrap();
    let run = server.open(run_tools(), AccessToken::from_random([7; 10])).unwrap();
    for era in [Era::Handshake, Era::PerRequest] {
        let listed = rpc(era, run.url(), 1, "tools/list", json!({})).await;
        assert!(listed.body.contains(&format!(r#""inputSchema":{SCHEMA}"#)), "{}", listed.body);
        let tools = &listed.json()["result"]["tools"];
        assert_eq!(tools[0]["inputSchema"]["additionalProperties"], false);
        assert_eq!(tools[1]["description"], "Has a \"schema\".");
        assert_eq!(call(era, run.url(), 2, "long", json!({"of": []})).await, ("Done.".into(), false));
    }
    let limits = ClientLimits {
        start: Duration::from_secs(30),
        call: Duration::from_secs(30),
        tools: 100,
        result_bytes: 1000,
    };
    let client = McpTools::connect(HttpServer::new(run.url(), None).unwrap(), limits).await.unwrap();
    assert_eq!(client.tools()[1].input_schema.to_string(), SCHEMA);
}

/// Tools, and one more that a call has made since the run began.
struct Growing(MockTools);

impl Toolbox for Growing {
    fn tools(&self) -> &Arc<[Tool]> {
        self.0.tools()
    }

    fn made(&self) -> Vec<Tool> {
        vec![Tool::without_arguments("made", "Was made.")]
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        match call.name == "made" {
            true => Box::pin(std::future::ready(ToolResult::ok(call.id.clone(), "Made."))),
            false => self.0.execute(call),
        }
    }
}

#[tokio::test]
async fn a_tool_that_was_made_is_listed_and_called() {
    let server = McpServer::bind(0).await.unwrap();
    let tool = Tool {
        name: "long".into(),
        description: "Is long.".into(),
        input_schema: WrittenObject::read(SCHEMA).unwrap(),
    };
    let mocks = vec![MockTool { tool, answer: "Done.".into() }];
    let toolbox = Arc::new(Growing(MockTools::new(mocks, &SchemaCache::default()).unwrap()));
    let run = server.open(RunTools { toolbox, ..run_tools() }, AccessToken::from_random([8; 10])).unwrap();
    for era in [Era::Handshake, Era::PerRequest] {
        let listed = rpc(era, run.url(), 1, "tools/list", json!({})).await;
        assert_eq!(listed.json()["result"]["tools"][1]["name"], "made");
        assert!(listed.body.contains(&format!(r#""inputSchema":{SCHEMA}"#)), "{}", listed.body);
        assert_eq!(call(era, run.url(), 2, "made", json!({})).await, ("Made.".into(), false));
    }
}

#[tokio::test]
async fn over_streams_they_are_listed() {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(theirs);
    let serving = tokio::spawn(serve_stream(run_tools(), read, write));
    let (mut read, mut write) = tokio::io::split(ours);
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    for (id, method) in [(1, "server/discover"), (2, "tools/list")] {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": meta});
        write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let mut text = String::new();
    while !text.contains("inputSchema") || !text.ends_with('\n') {
        let mut bytes = [0; 4096];
        let count = read.read(&mut bytes).await.unwrap();
        assert!(count > 0, "it ended: {text}");
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    assert!(text.contains(&format!(r#""inputSchema":{SCHEMA}"#)), "{text}");
    drop((read, write));
    serving.await.unwrap().unwrap();
}
