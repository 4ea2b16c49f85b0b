//! A client as small as can be, so that the tests see the bytes a foreign client would.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("{} {}", self.status, self.body))
    }

    /// The messages of a stream, or the only one of another answer.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let read = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|_| panic!("{} {}", self.status, self.body))
        };
        match self.head.contains("content-type: text/event-stream") {
            true => self.body.lines().filter_map(|line| line.strip_prefix("data: ")).map(read).collect(),
            false => vec![read(&self.body)],
        }
    }
}

/// A request in full; `Host` is the URL's unless `headers` has another.
pub(crate) async fn request(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    send(&format!("/{path}"), method, host, headers, body).await
}

/// The same to `host`, with a target as given.
pub(crate) async fn send(
    target: &str,
    method: &str,
    host: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let mut text = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text.push_str(&format!("Host: {host}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    // A server that refuses early closes the connection while a large body is still being sent.
    let _ = stream.write_all(body.as_bytes()).await;
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    let reply = String::from_utf8(reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head: head.to_lowercase(), body: body.to_owned() }
}

pub(crate) const ACCEPTS: [(&str, &str); 2] =
    [("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")];

/// The two protocol eras.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    /// `initialize`, 2025-11-25.
    Handshake,
    /// `server/discover`, 2026-07-28.
    PerRequest,
}

/// Sends one JSON-RPC request the way a client of the era does.
pub(crate) async fn rpc(era: Era, url: &str, id: u64, method: &str, mut params: Value) -> Reply {
    let mut headers = ACCEPTS.to_vec();
    let name = params["name"].as_str().map(str::to_owned);
    match era {
        Era::Handshake if method == "initialize" => {}
        Era::Handshake => headers.push(("MCP-Protocol-Version", "2025-11-25")),
        Era::PerRequest => {
            headers.push(("MCP-Protocol-Version", "2026-07-28"));
            headers.push(("Mcp-Method", method));
            if let Some(name) = &name {
                headers.push(("Mcp-Name", name));
            }
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
    }
    let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    request("POST", url, &headers, &body.to_string()).await
}

/// Calls a tool and gives the text of its result and whether it is an error.
pub(crate) async fn call(era: Era, url: &str, id: u64, name: &str, arguments: Value) -> (String, bool) {
    let reply = rpc(era, url, id, "tools/call", json!({"name": name, "arguments": arguments})).await;
    let json = reply.json();
    assert_eq!((reply.status, &json["id"]), (200, &json!(id)), "{}", reply.body);
    assert_eq!(json["result"]["resultType"] == "complete", era == Era::PerRequest, "{}", reply.body);
    let text = json["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    (text, json["result"]["isError"].as_bool().unwrap())
}
