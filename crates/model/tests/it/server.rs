//! The server by raw HTTP: who may ask, what is understood, what is refused.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use planproof_model::server::{ServerConfig, serve};
use planproof_model::{Message, Model, ModelError, Settings};
use planproof_trace::{Arguments, FinishReason};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::scripted::{Scripted, says, scripted};

/// A server that dates everything 1000 seconds after 1970.
pub(crate) async fn start(model: Arc<dyn Model>, change: impl FnOnce(&mut ServerConfig)) -> SocketAddr {
    let mut config = ServerConfig { clock: || 1000, ..ServerConfig::default() };
    change(&mut config);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve(listener, model, config, std::future::pending()));
    address
}

/// What came back: status, head in lower case, and the body out of its chunks.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// Sends these bytes and reads until the server hangs up.
pub(crate) async fn send(address: SocketAddr, request: &str) -> Answer {
    let mut connection = TcpStream::connect(address).await.expect("a listening server");
    // A server that refuses early may hang up before it has read everything.
    let _ = connection.write_all(request.as_bytes()).await;
    let mut bytes = Vec::new();
    let _ = connection.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).expect("UTF-8");
    let (head, mut rest) = text.split_once("\r\n\r\n").expect("a head");
    let head = head.to_lowercase();
    let mut body = String::new();
    if head.contains("transfer-encoding: chunked") {
        while let Some((size, after)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).expect("a chunk size");
            body.push_str(&after[..size]);
            rest = after[size..].trim_start_matches("\r\n");
        }
    } else {
        body.push_str(rest);
    }
    Answer { status: head[9..12].parse().expect("a status"), head, body }
}

pub(crate) async fn post_text(address: SocketAddr, path: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}");
    send(address, &format!("{head}content-length: {length}\r\n\r\n{body}")).await
}

pub(crate) async fn post(address: SocketAddr, path: &str, body: &Value) -> Answer {
    post_text(address, path, "", &body.to_string()).await
}

fn hello() -> Value {
    json!({"model": "x", "messages": [{"role": "user", "content": "hi"}]})
}

#[tokio::test]
async fn paths_keys_and_origins_are_checked() {
    let address = start(scripted(vec![says("hi", &[])]), |config| {
        config.key = Some("k".into());
        config.request_bytes_max = 1000;
    })
    .await;
    let hello = hello().to_string();
    let key = "authorization: Bearer k\r\n";
    for path in ["/v1/chat/completions", "/chat/completions", "/run/7/v1/chat/completions/"] {
        assert_eq!(post_text(address, path, key, &hello).await.status, 200, "{path}");
    }
    let large = format!("{hello}{}", " ".repeat(1000));
    for (path, headers, body, status, code) in [
        ("/v1/chat/completions", "", &hello, 401, "invalid_api_key"),
        ("/v1/chat/completions", "authorization: Bearer no\r\n", &hello, 401, "invalid_api_key"),
        ("/v1/embeddings", key, &hello, 404, "unknown_url"),
        ("/v1/models", key, &hello, 405, "method_not_allowed"),
        ("/v1/chat/completions", &format!("{key}origin: http://evil.com\r\n"), &hello, 403, "forbidden"),
        ("/v1/chat/completions", key, &large, 413, "request_too_large"),
    ] {
        let answer = post_text(address, path, headers, body).await;
        assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (status, Some(code)), "{path}");
        assert!(answer.json()["error"]["message"].is_string() && answer.head.contains("application/json"));
    }
    let get =
        |host: &str| format!("GET /v1/models HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{key}\r\n");
    assert_eq!(send(address, &get("evil.com")).await.status, 403);
    let models = send(address, &get("localhost:1")).await;
    assert_eq!(
        models.json(),
        json!({"object": "list", "data":
            [{"id": "sim/scripted", "object": "model", "created": 1000, "owned_by": "planproof"}]})
    );
}

#[tokio::test]
async fn bodies_that_make_no_sense_are_refused_with_the_place() {
    let address = start(scripted(vec![says("hi", &[])]), |_| {}).await;
    for (path, body, words) in [
        ("/v1/chat/completions", "{oops", "line 1 column 2"),
        ("/v1/chat/completions", "", "EOF"),
        ("/v1/chat/completions", "{}", "missing field `messages`"),
        ("/v1/chat/completions", r#"{"messages":[{"role":"tool"}]}"#, "messages[0]: a tool message needs"),
        (
            "/v1/chat/completions",
            r#"{"messages":[],"tools":[{"type":"function"}]}"#,
            "tools[0]: a function needs a name",
        ),
        ("/v1/chat/completions", r#"{"messages":[],"seed":1.5}"#, "seed must be a whole number"),
        ("/v1/responses", "{}", "missing field `input`"),
        ("/v1/responses", r#"{"input":[{"type":"function_call"}]}"#, "input[0] needs `call_id`"),
    ] {
        let answer = post_text(address, path, "", body).await;
        assert_eq!(answer.status, 400, "{body}");
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "invalid_request_error");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(words)), "{error}");
    }
}

#[tokio::test]
async fn a_chat_request_reaches_the_model_whole() {
    let model = scripted(vec![says("", &[("c9", "pay", "{\"x\":1}"), ("c10", "pay", "{oops")])]);
    let address = start(model.clone(), |_| {}).await;
    let answer = post(
        address,
        "/v1/chat/completions",
        &json!({
            "model": "gpt-x", "temperature": 0.5, "max_tokens": 10, "max_completion_tokens": 20, "seed": 3,
            "stop": ["Observation:", "Calling tools:"], "parallel_tool_calls": true, "user": "u", "stream": false,
            "tools": [{"type": "function", "function": {"name": "pay", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "developer", "content": [{"type": "text", "text": "be good"}]},
                {"role": "user", "name": "user", "content": "go"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": "{\"a\":null}"}}]},
                {"role": "tool", "tool_call_id": "c1", "name": "pay",
                 "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            ],
        }),
    )
    .await;
    assert_eq!(
        answer.json(),
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1000, "model": "gpt-x",
            "choices": [{"index": 0, "logprobs": null, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null, "refusal": null, "tool_calls": [
                    {"id": "c9", "type": "function", "function": {"name": "pay", "arguments": "{\"x\":1}"}},
                    {"id": "c10", "type": "function", "function": {"name": "pay", "arguments": "{oops"}},
            ]}}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
        })
    );
    let asked = model.asked().remove(0);
    assert_eq!(
        asked.settings,
        Settings {
            temperature: Some(0.5),
            output_tokens_max: Some(20),
            seed: Some(3),
            stop: vec!["Observation:".into(), "Calling tools:".into()],
            grammar: None,
        }
    );
    assert_eq!(asked.tools[0].name, "pay");
    assert_eq!(asked.messages[0], Message::System { text: "be good".into() });
    assert!(matches!(&asked.messages[2], Message::Assistant { text, calls, .. }
        if text.is_empty() && calls[0].arguments == Arguments::from_text("{\"a\":null}")));
    assert!(matches!(&asked.messages[3], Message::Tool { text, .. } if text == "a\nb"));
}

#[tokio::test]
async fn a_failing_model_is_a_bad_gateway_or_a_rate_limit() {
    let status = |status, retry_after| ModelError::Status {
        url: "u".into(),
        status,
        message: "m".into(),
        retry_after,
    };
    let script = vec![
        Err(status(429, Some(Duration::from_millis(1500)))),
        Err(status(500, None)),
        Err(ModelError::TimedOut { url: "u".into(), limit: Duration::from_secs(1) }),
    ];
    for stream in [false, true] {
        let address = start(Arc::new(Scripted::new(script.clone())), |_| {}).await;
        for (path, status) in [("/v1/chat/completions", 429), ("/v1/responses", 502), ("/v1/responses", 502)]
        {
            let body =
                json!({"stream": stream, "input": "hi", "messages": [{"role": "user", "content": "hi"}]});
            let answer = post(address, path, &body).await;
            assert_eq!(answer.status, status);
            assert!(answer.json()["error"]["message"].is_string());
            assert_eq!(answer.head.contains("retry-after: 2"), status == 429, "{}", answer.head);
        }
    }
}

#[tokio::test]
async fn a_request_that_the_model_finds_invalid_is_not_to_be_sent_again() {
    let status =
        |status| ModelError::Status { url: "u".into(), status, message: "m".into(), retry_after: None };
    let recorded = ModelError::Recorded { message: "u answered 400: m".to_owned(), status: Some(400) };
    let script = vec![Err(status(400)), Err(status(413)), Err(status(422)), Err(recorded)];
    for stream in [false, true] {
        let address = start(Arc::new(Scripted::new(script.clone())), |_| {}).await;
        for status in [400, 413, 422, 400] {
            let body = json!({"stream": stream, "messages": [{"role": "user", "content": "hi"}]});
            let answer = post(address, "/v1/chat/completions", &body).await;
            assert_eq!(answer.status, status, "{}", answer.body);
            assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
        }
    }
}

#[tokio::test]
async fn responses_go_on_from_an_earlier_one() {
    let model = scripted(vec![
        says("On it.", &[("c1", "pay", "{\"a\":1}"), ("c2", "pay", "{}")]),
        says("Done.", &[]),
    ]);
    let address = start(model.clone(), |config| config.responses_max = 2).await;
    let first = post(
        address,
        "/p/v1/responses",
        &json!({"model": "gpt-x", "instructions": "be good", "input": "go", "include": [], "max_output_tokens": 9,
            "tools": [{"type": "function", "name": "pay", "parameters": {"type": "object"}, "strict": false}]}),
    )
    .await
    .json();
    assert_eq!(
        (&first["id"], &first["object"], &first["status"]),
        (&json!("resp_1"), &json!("response"), &json!("completed"))
    );
    assert_eq!(
        (&first["created_at"], &first["model"], &first["error"]),
        (&json!(1000), &json!("gpt-x"), &json!(null))
    );
    let part = json!({"type": "output_text", "text": "On it.", "annotations": [], "logprobs": []});
    assert_eq!(
        first["output"],
        json!([
            {"id": "msg_1_0", "type": "message", "status": "completed", "role": "assistant", "content": [part]},
            {"id": "fc_1_0", "type": "function_call", "status": "completed", "call_id": "c1", "name": "pay",
             "arguments": "{\"a\":1}"},
            {"id": "fc_1_1", "type": "function_call", "status": "completed", "call_id": "c2", "name": "pay",
             "arguments": "{}"},
        ])
    );
    assert_eq!(first["usage"]["total_tokens"], 7);
    let outputs = json!([
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "one"}]},
        {"type": "function_call_output", "call_id": "c2", "output": "two"},
    ]);
    let second = post(
        address,
        "/v1/responses",
        &json!({"model": "gpt-x", "previous_response_id": "resp_1", "input": outputs}),
    )
    .await
    .json();
    assert_eq!((&second["id"], &second["previous_response_id"]), (&json!("resp_2"), &json!("resp_1")));
    let asked = model.asked().remove(1);
    assert!(
        matches!(&asked.messages[..], [
            Message::User { text },
            Message::Assistant { calls, .. },
            Message::Tool { text: one, .. },
            Message::Tool { text: two, .. },
        ] if text == "go" && calls.len() == 2 && one == "one" && two == "two"),
        "instructions do not carry over: {:?}",
        asked.messages
    );
    // A third one pushes the first out; one that is not to be stored never was.
    let third = post(address, "/v1/responses", &json!({"input": "go", "store": true})).await;
    assert_eq!(third.status, 200);
    let fourth = post(address, "/v1/responses", &json!({"input": "go", "store": false})).await;
    assert_eq!(fourth.json()["id"], "resp_4");
    for id in ["resp_1", "resp_4", "resp_99", "nonsense"] {
        let answer = post(address, "/v1/responses", &json!({"input": "x", "previous_response_id": id})).await;
        assert_eq!(answer.status, 400);
        assert_eq!(
            answer.json()["error"],
            json!({"message": format!("Previous response with id '{id}' not found."),
                "type": "invalid_request_error", "param": "previous_response_id", "code": "previous_response_not_found"})
        );
    }
    // The scripted model refuses a call without an answer, so the conversation really is the earlier one.
    let orphan =
        post(address, "/v1/responses", &json!({"input": "x", "previous_response_id": "resp_3"})).await;
    assert_eq!(orphan.status, 424, "{}", orphan.body);
}

#[tokio::test]
async fn an_incomplete_response_says_why() {
    let mut reply = says("half", &[]);
    reply.finish = FinishReason::Length;
    let address = start(scripted(vec![reply]), |_| {}).await;
    let answer = post(address, "/v1/responses", &json!({"input": "go"})).await.json();
    assert_eq!(answer["status"], "incomplete");
    assert_eq!(answer["incomplete_details"], json!({"reason": "max_output_tokens"}));
}

#[tokio::test]
async fn the_model_thinks_for_the_configured_time() {
    let address =
        start(scripted(vec![says("hi", &[])]), |config| config.think_time = Duration::from_millis(80)).await;
    for stream in [false, true] {
        let mut body = hello();
        body["stream"] = stream.into();
        let begun = Instant::now();
        assert_eq!(post(address, "/v1/chat/completions", &body).await.status, 200);
        assert!(begun.elapsed() >= Duration::from_millis(80));
    }
}

#[tokio::test]
async fn an_open_listener_is_refused_and_a_signal_ends_the_server() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let model = scripted(vec![says("hi", &[])]);
    // With the signal given, a server that does start at least ends.
    let refused = serve(listener, model.clone(), ServerConfig::default(), std::future::ready(())).await;
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let shutdown = async move {
        let _ = stopped.await;
    };
    let server = tokio::spawn(serve(listener, model, ServerConfig::default(), shutdown));
    assert_eq!(post(address, "/v1/chat/completions", &hello()).await.status, 200);
    let idle = TcpStream::connect(address).await.unwrap();
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(4), server).await.unwrap().unwrap().unwrap();
    drop(idle);
}
