//! One run over a pair of streams, as over stdin and stdout.

use planproof_tools::mcp::serve_stream;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::{recorded, recorder, run_tools};

struct Client {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl Client {
    async fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let mut line = String::new();
        self.read.read_line(&mut line).await.unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(reply["id"], id);
        reply["result"].clone()
    }
}

async fn check(greeting: &str, mut meta: Value, hello: Value) {
    let recorder = recorder();
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(theirs);
    let serving = tokio::spawn(serve_stream(run_tools(&recorder, 9), read, write));
    let (read, write) = tokio::io::split(ours);
    let mut client = Client { read: BufReader::new(read), write };

    let answer = client.ask(0, greeting, hello).await;
    assert!(answer.to_string().contains(r#""name":"planproof""#), "{answer}");
    if greeting == "initialize" {
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }
    let listed = client.ask(1, "tools/list", meta.clone()).await;
    assert_eq!(listed["tools"][2]["name"], "bake");
    meta["name"] = "wash".into();
    let result = client.ask(2, "tools/call", meta.clone()).await;
    assert_eq!(result["content"][0]["text"], "The car is clean.");
    meta["arguments"] = json!([]);
    assert_eq!(client.ask(3, "tools/call", meta).await["isError"], true);

    drop(client);
    serving.await.unwrap().unwrap();
    assert_eq!(recorded(&recorder).len(), 4);
}

#[tokio::test]
async fn a_client_with_a_handshake_is_served_until_it_leaves() {
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    check("initialize", json!({}), hello).await;
}

#[tokio::test]
async fn a_client_without_a_handshake_is_served_until_it_leaves() {
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    check("server/discover", meta.clone(), meta).await;
}

#[tokio::test]
async fn a_client_that_says_nothing_is_no_error() {
    let (ours, theirs) = tokio::io::duplex(64);
    let (read, write) = tokio::io::split(theirs);
    drop(ours);
    serve_stream(run_tools(&recorder(), 9), read, write).await.unwrap();
}

#[tokio::test]
async fn a_message_of_no_known_form_is_answered() {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(theirs);
    let serving = tokio::spawn(serve_stream(run_tools(&recorder(), 9), read, write));
    let (read, write) = tokio::io::split(ours);
    let mut client = Client { read: BufReader::new(read), write };
    client.send(&json!([7])).await;
    let mut line = String::new();
    client.read.read_line(&mut line).await.unwrap();
    assert!(line.contains("Invalid request"), "{line}");
    drop(client);
    serving.await.unwrap().unwrap();
}
