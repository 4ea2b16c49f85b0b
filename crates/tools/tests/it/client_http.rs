//! Tool servers at a URL: ours, and stand-ins for the many ways of others.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use planproof_tools::mcp::{AccessToken, McpServer};
use planproof_tools::{ClientLimits, HttpServer, MESSAGE_BYTES_MAX, McpTools, ServerError, Toolbox};
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::{recorded, recorder, run_tools};

/// Limits that no test waits long for; those on time are only reached where a server never answers.
fn limits() -> ClientLimits {
    ClientLimits {
        start: Duration::from_secs(30),
        call: Duration::from_secs(30),
        tools: 100,
        result_bytes: 1000,
    }
}

async fn connect(url: &str) -> Result<McpTools, ServerError> {
    McpTools::connect(HttpServer::new(url, None).unwrap(), limits()).await
}

fn tool_call(name: &str) -> ToolCall {
    ToolCall { id: CallId::new("c1"), name: name.to_owned(), arguments: Arguments::none() }
}

#[track_caller]
fn error_text(result: ToolResult) -> String {
    assert!(result.is_error, "{result:?}");
    result.text
}

#[tokio::test]
async fn our_own_server_is_understood() {
    let recorder = recorder();
    let server = McpServer::bind(0).await.unwrap();
    let run = server.open(run_tools(&recorder, 9), AccessToken::from_random([7; 10])).unwrap();
    let tools = connect(run.url()).await.unwrap();
    assert_eq!(tools.protocol_version(), "2026-07-28");
    assert_eq!(tools.tools()[1].name, "mail");
    assert_eq!(tools.tools()[1].input_schema["required"], json!(["to"]));
    let results = tokio::join!(async { tools.execute(&tool_call("wash")).await }, async {
        tools.execute(&tool_call("mail")).await
    },);
    assert_eq!(results.0, ToolResult::ok(CallId::new("c1"), "The car is clean."));
    assert!(error_text(results.1).contains("\"to\" is a required property"));
    assert_eq!(recorded(&recorder).len(), 4);

    // Once its URL is gone, so are its tools.
    drop(run);
    let text = error_text(tools.execute(&tool_call("wash")).await);
    assert!(text.starts_with("the call failed at the tool server: it answered 404 Not Found"), "{text}");
    drop(server);
    tools.close().await;
}

/// A request, as the server sees it.
struct Seen {
    head: String,
    body: Value,
}

impl Seen {
    fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

type Answer = dyn Fn(&Seen) -> String + Send + Sync;

/// A server that answers what a test tells it to, and keeps what it was asked.
struct StandIn {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl StandIn {
    fn start(answer: impl Fn(&Seen) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer): (_, Arc<Answer>) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || converse(connection, &kept, &*answer));
            }
        });
        Self { url, seen }
    }

    /// The methods of the requests so far; for those without a body the HTTP method.
    fn methods(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .map(|seen| match seen.method() {
                "" => seen.head.split(' ').next().unwrap().to_uppercase(),
                method => method.to_owned(),
            })
            .collect()
    }
}

fn converse(mut connection: TcpStream, kept: &Mutex<Vec<Seen>>, answer: &Answer) {
    while let Some(seen) = read_request(&mut connection) {
        let text = answer(&seen);
        kept.lock().unwrap().push(seen);
        let is_last = text.is_empty() || text.contains("\r\nconnection: close\r\n");
        if connection.write_all(text.as_bytes()).is_err() || is_last {
            return;
        }
    }
}

fn read_request(connection: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                let body = serde_json::from_str(body).unwrap_or(Value::Null);
                return Some(Seen { head, body });
            }
        }
        match connection.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

fn json_answer(seen: &Seen, result: &Value) -> String {
    let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result});
    http("200 OK", "content-type: application/json\r\n", &body.to_string())
}

/// Events without a length, so that their end is the end of the connection.
fn events(text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{text}")
}

fn tools_of_it() -> Value {
    json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]})
}

/// A server of the older protocol, with a session and with its answers as events, whose calls are answered so.
fn older(call: impl Fn(&Seen) -> String + Send + Sync + 'static) -> StandIn {
    StandIn::start(move |seen| {
        let event = |result: Value| {
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result});
            events(&format!("id: 0\ndata:\n\nevent: message\ndata: {body}\n\n"))
        };
        match seen.method() {
            // As Python's server says it, with an id that is nobody's.
            "server/discover" => http(
                "400 Bad Request",
                "content-type: application/json\r\n",
                r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}"#,
            ),
            "initialize" => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "s", "version": "1"}});
                event(result).replacen("\r\n", "\r\nmcp-session-id: s-1\r\n", 1)
            }
            "notifications/initialized" | "notifications/cancelled" => http("202 Accepted", "", ""),
            "tools/list" => event(tools_of_it()),
            "tools/call" => call(seen),
            _ => http("200 OK", "", ""),
        }
    })
}

#[tokio::test]
async fn an_older_server_with_sessions_and_events_is_understood() {
    let server = older(|seen| {
        let progress =
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
        let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"content": [{"type": "text", "text": "hello"}]}});
        events(&format!(": ping\n\ndata: {progress}\n\ndata: {body}\n\n"))
    });
    let tools = connect(&server.url).await.unwrap();
    assert_eq!(tools.protocol_version(), "2025-11-25");
    assert_eq!(tools.execute(&tool_call("hello")).await, ToolResult::ok(CallId::new("c1"), "hello"));
    tools.close().await;
    let methods =
        ["server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"];
    assert_eq!(server.methods(), methods);
    for seen in &server.seen.lock().unwrap()[2..] {
        assert!(seen.head.contains("mcp-session-id: s-1"), "{}", seen.head);
        assert!(seen.head.contains("mcp-protocol-version: 2025-11-25"), "{}", seen.head);
    }
}

#[tokio::test]
async fn a_tool_that_is_not_understood_is_left_out_of_either_form_of_answer() {
    let list = json!({"tools": [{"name": "hello", "inputSchema": {}}, {"name": "bare"}, 7]});
    for is_event in [false, true] {
        let list = list.clone();
        let server = StandIn::start(move |seen| match seen.method() {
            "server/discover" => json_answer(
                seen,
                &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}),
            ),
            "tools/list" if is_event => {
                let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": list});
                events(&format!("data: {body}\n\n"))
            }
            "tools/list" => json_answer(seen, &list),
            _ => json_answer(seen, &json!({"content": [], "structuredContent": 1})),
        });
        let tools = connect(&server.url).await.unwrap();
        assert_eq!(
            tools.left_out(),
            ["`bare`: it has no input schema", "tool 3 of its list: it is a number, not an object"]
        );
        assert_eq!(tools.execute(&tool_call("hello")).await.text, "1");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_message_is_reported_as_that() {
    for body in ["[]", "<html>", "{\"ok\": true}", ""] {
        let answer = http("200 OK", "content-type: application/json\r\n", body);
        let server = StandIn::start(move |_| answer.clone());
        let error = connect(&server.url).await.unwrap_err().to_string();
        assert_eq!(
            error,
            "the tool server does not list its tools: its answer is no message of the protocol"
        );
    }
    let batch =
        http("200 OK", "content-type: application/json\r\n", r#"[{"jsonrpc":"2.0","id":0,"result":{}}]"#);
    let server = StandIn::start(move |_| batch.clone());
    let error = connect(&server.url).await.unwrap_err().to_string();
    assert!(error.contains("a list of messages, a batch"), "{error}");
}

#[tokio::test]
async fn refusals_of_the_newer_question_only_mean_an_older_server() {
    for refusal in [
        http("404 Not Found", "", "no such page"),
        http("405 Method Not Allowed", "content-type: text/html\r\n", "<html>"),
        http("400 Bad Request", "content-type: application/json\r\n", r#"{"error": "bad"}"#),
    ] {
        let server = StandIn::start(move |seen| match seen.method() {
            "server/discover" => refusal.clone(),
            "initialize" => json_answer(
                seen,
                &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}),
            ),
            "tools/list" => json_answer(seen, &tools_of_it()),
            _ => http("200 OK", "", ""),
        });
        let tools = connect(&server.url).await.unwrap();
        assert_eq!((tools.protocol_version(), tools.tools().len()), ("2025-06-18", 1));
    }
}

#[tokio::test]
async fn failures_of_a_call_are_results() {
    let failed = |reason: &str| format!("the call failed at the tool server: {reason}");
    type Call = Box<dyn Fn(&Seen) -> String + Send + Sync>;
    let cases: Vec<(Call, String)> = vec![
        (
            Box::new(|_| String::new()),
            failed("the connection broke: connection closed before message completed"),
        ),
        (
            Box::new(|_| http("500 Internal Server Error", "", "out\n of \u{1b} order")),
            failed("it answered 500 Internal Server Error: out of \u{1b} order"),
        ),
        (
            Box::new(|_| http("401 Unauthorized", "", "")),
            failed("it answered 401 Unauthorized, so it wants another token"),
        ),
        (
            Box::new(|_| http("200 OK", "content-type: text/html\r\n", "<html>")),
            failed("it answered with text/html instead of JSON or an event stream; is the path right?"),
        ),
        (
            Box::new(|_| {
                let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such tool"}}"#;
                http("400 Bad Request", "content-type: application/json\r\n", error)
            }),
            "the tool server answered with the error -32602: no such tool".to_owned(),
        ),
        (
            Box::new(|_| {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
                format!("{head}{}", "x".repeat(MESSAGE_BYTES_MAX + 1))
            }),
            failed(&format!("its answer is longer than {MESSAGE_BYTES_MAX} bytes")),
        ),
        // An answer that breaks off before it is there, and cannot be taken up.
        (Box::new(|_| events(": soon\n\n")), failed("its connection ended before it answered")),
        (
            Box::new(|_| {
                thread::sleep(Duration::from_secs(5));
                String::new()
            }),
            "`hello` did not answer within 500ms".to_owned(),
        ),
    ];
    for (call, text) in cases {
        let server = older(call);
        let call = Duration::from_millis(if text.contains("did not answer") { 500 } else { 30_000 });
        let tools = HttpServer::new(&server.url, None).unwrap();
        let tools = McpTools::connect(tools, ClientLimits { call, ..limits() }).await.unwrap();
        assert_eq!(error_text(tools.execute(&tool_call("hello")).await), text);
        // One failure is not the end.
        let after = tools.execute(&tool_call("hello")).await;
        assert_eq!(error_text(after), text);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_taken_up() {
    let server = StandIn::start(|seen| match seen.method() {
        "server/discover" => json_answer(
            seen,
            &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}),
        ),
        "tools/list" => {
            let mut list = tools_of_it();
            list["resultType"] = "complete".into();
            json_answer(seen, &list)
        }
        "tools/call" => events("id: e-7\nretry: 1\ndata:\n\n"),
        _ if seen.head.contains("last-event-id: e-7") => {
            let result = json!({"resultType": "complete", "content": [{"type": "text", "text": "at last"}]});
            events(&format!("id: e-8\ndata: {}\n\n", json!({"jsonrpc": "2.0", "id": 2, "result": result})))
        }
        _ => String::new(),
    });
    let tools = connect(&server.url).await.unwrap();
    assert_eq!(tools.execute(&tool_call("hello")).await.text, "at last");
    assert_eq!(server.methods(), ["server/discover", "tools/list", "tools/call", "GET"]);
}

#[tokio::test]
async fn a_server_that_cannot_be_asked_is_an_error_that_says_why() {
    for (answer, text) in [
        (http("401 Unauthorized", "", ""), "it answered 401 Unauthorized, so it wants another token"),
        (
            http("307 Temporary Redirect", "location: http://127.0.0.1/mcp/\r\n", ""),
            "it answered 307 Temporary Redirect and sends us to http://127.0.0.1/mcp/; give that URL",
        ),
        (http("503 Service Unavailable", "", "later"), "it answered 503 Service Unavailable: later"),
        (http("404 Not Found", "", "nothing here"), "it answered 404 Not Found: nothing here"),
    ] {
        let server = StandIn::start(move |_| answer.clone());
        let error = connect(&server.url).await.unwrap_err();
        assert!(!error.is_usage());
        assert_eq!(error.to_string(), format!("the tool server cannot be asked: {text}"));
    }
    // Taken, and nobody listens: a port that is only free may become another test's.
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = connect(&format!("http://127.0.0.1:{port}/mcp")).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the tool server cannot be asked: it cannot be reached: Connection refused"),
        "{text}"
    );

    let silent = StandIn::start(|_| {
        thread::sleep(Duration::from_secs(5));
        String::new()
    });
    let limits = ClientLimits { start: Duration::from_millis(100), ..limits() };
    let server = HttpServer::new(&silent.url, None).unwrap();
    let error = McpTools::connect(server, limits).await.unwrap_err();
    assert_eq!(error.to_string(), "the tool server did not list its tools within 100ms");
}

#[tokio::test]
async fn the_token_goes_to_the_server_and_nowhere_else() {
    let server = older(|_| http("500 Internal Server Error", "", ""));
    let client = HttpServer::new(&server.url, Some(&"hunter2".into())).unwrap();
    assert!(!format!("{client:?}").contains("hunter2"));
    let tools = McpTools::connect(client, limits()).await.unwrap();
    assert!(!format!("{tools:?}").contains("hunter2"));
    assert!(!error_text(tools.execute(&tool_call("hello")).await).contains("hunter2"));
    tools.close().await;
    let seen = server.seen.lock().unwrap();
    assert!(seen.iter().all(|seen| seen.head.contains("authorization: bearer hunter2")));
    assert_eq!(seen.len(), 6);
}
