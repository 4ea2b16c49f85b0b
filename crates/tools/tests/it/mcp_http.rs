//! The tool server as clients of both protocol eras see it.

use std::sync::Arc;
use std::time::Duration;

use planproof_tools::FaultyTools;
use planproof_tools::mcp::{
    AccessToken, EARLIER_CALLS_WAIT_MAX, McpError, McpServer, REQUEST_BYTES_MAX, RunTools, TOKEN_BYTES,
    WrittenCalls,
};
use planproof_trace::faults::{FaultShares, SeenFault, SentAs, ToolFaults};
use planproof_trace::{Arguments, CallId, EndReason, EventKind, Recorder};
use serde_json::{Value, json};

use crate::http::{ACCEPTS, Era, call, request, rpc, send};
use crate::{recorded, recorder, run_tools};

const ERAS: [Era; 2] = [Era::Handshake, Era::PerRequest];

fn token(number: u8) -> AccessToken {
    AccessToken::from_random([number; TOKEN_BYTES])
}

#[tokio::test]
async fn both_eras_learn_the_same_of_the_server() {
    let server = McpServer::bind(0).await.unwrap();
    let run = server.open(run_tools(&recorder(), 9), token(1)).unwrap();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let reply = rpc(Era::Handshake, run.url(), 0, "initialize", hello).await;
    let old = reply.json()["result"].clone();
    assert_eq!(old["protocolVersion"], "2025-11-25");
    assert_eq!(old["serverInfo"]["name"], "planproof");
    assert_eq!(old["capabilities"], json!({"tools": {"listChanged": true}}));
    assert!(reply.head.contains("content-type: application/json"), "{}", reply.head);
    assert!(!reply.head.contains("mcp-session-id"), "{}", reply.head);

    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(request("POST", run.url(), &ACCEPTS, &initialized).await.status, 202);

    let reply = rpc(Era::PerRequest, run.url(), 1, "server/discover", json!({})).await;
    let new = reply.json()["result"].clone();
    assert_eq!(new["capabilities"], json!({"tools": {}}), "{}", reply.body);
    assert!(new["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{}", reply.body);
    assert!(reply.body.contains(r#""name":"planproof""#), "{}", reply.body);
    for (method, status) in [("GET", 405), ("DELETE", 405)] {
        assert_eq!(request(method, run.url(), &ACCEPTS, "").await.status, status);
    }
}

#[tokio::test]
async fn whoever_takes_json_gets_json() {
    let server = McpServer::bind(0).await.unwrap();
    let run = server.open(run_tools(&recorder(), 99), token(1)).unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
    for (accept, status) in [
        (&["application/json, text/event-stream"][..], 200),
        (&["application/json"], 200),
        (&["Application/JSON;q=0.9,text/html"], 200),
        (&["text/event-stream", "application/json; charset=utf-8"], 200),
        (&["text/html, */*;q=0.1"], 200),
        (&["*/*"], 200),
        (&["*"], 200),
        (&["application/*"], 200),
        (&[""], 200),
        (&[], 200),
        (&["text/event-stream"], 406),
        (&["text/html"], 406),
        (&["application/jsonp"], 406),
    ] {
        let accept = accept.iter().map(|it| ("Accept", *it));
        let headers: Vec<_> = accept.chain([("Content-Type", "application/json")]).collect();
        let reply = request("POST", run.url(), &headers, &list).await;
        assert_eq!(reply.status, status, "{headers:?}: {}", reply.body);
        if status == 200 {
            assert!(reply.head.contains("content-type: application/json"), "{}", reply.head);
            assert_eq!(reply.json()["result"]["tools"][0]["name"], "wash");
        }
    }
}

#[tokio::test]
async fn tools_are_listed_in_order_and_called() {
    let server = McpServer::bind(0).await.unwrap();
    for era in ERAS {
        let recorder = recorder();
        let run = server.open(run_tools(&recorder, 9), token(1)).unwrap();
        let listed = rpc(era, run.url(), 0, "tools/list", json!({})).await.json();
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["wash", "mail", "bake"]);
        assert_eq!(tools[0]["description"], "Washes the car.");
        assert_eq!(tools[1]["inputSchema"]["required"], json!(["to"]));

        assert_eq!(call(era, run.url(), 0, "wash", json!({})).await, ("The car is clean.".into(), false));
        assert_eq!(call(era, run.url(), 0, "mail", json!({"to": "Ann"})).await, ("Sent.".into(), false));
        // Without `arguments` at all, as some clients call a tool that takes none.
        let bare = rpc(era, run.url(), 1, "tools/call", json!({"name": "bake"})).await.json();
        assert_eq!(bare["result"]["content"][0]["text"], "It smells good.");
        assert_eq!(
            recorded(&recorder),
            [
                "m1 wash{}",
                "m1: The car is clean.",
                "m2 mail{\"to\":\"Ann\"}",
                "m2: Sent.",
                "m3 bake{}",
                "m3: It smells good.",
            ]
        );
    }
}

#[tokio::test]
async fn half_an_emoji_in_a_call_is_no_reason_to_lose_it() {
    let server = McpServer::bind(0).await.unwrap();
    let recorder = recorder();
    let run = server.open(run_tools(&recorder, 9), token(1)).unwrap();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mail","arguments":{"to":"Ann \ud83d"}}}"#;
    let reply = request("POST", run.url(), &ACCEPTS, call).await;
    assert_eq!(reply.json()["result"]["content"][0]["text"], "Sent.", "{}", reply.body);
    assert_eq!(recorded(&recorder)[0], "m1 mail{\"to\":\"Ann \u{fffd}\"}");
}

#[tokio::test]
async fn mistakes_of_the_agent_are_results_and_recorded() {
    let server = McpServer::bind(0).await.unwrap();
    for era in ERAS {
        let recorder = recorder();
        let run = server.open(run_tools(&recorder, 9), token(1)).unwrap();
        let (text, is_error) = call(era, run.url(), 1, "fly", json!({})).await;
        assert!(is_error && text.contains("wash, mail, bake"), "{text}");
        let (text, is_error) = call(era, run.url(), 2, "mail", json!({"to": 7})).await;
        assert!(is_error && text.contains("at /to: 7 is not of type"), "{text}");
        for malformed in [json!(["Ann"]), json!("Ann")] {
            let (text, is_error) = call(era, run.url(), 3, "mail", malformed).await;
            assert!(is_error && text.contains("not a JSON object"), "{text}");
        }
        let lines = recorded(&recorder);
        assert_eq!(lines.len(), 8);
        assert_eq!(lines[4], "m3 mail[\"Ann\"]");
    }
}

#[tokio::test]
async fn other_requests_are_protocol_errors() {
    let server = McpServer::bind(0).await.unwrap();
    let recorder = recorder();
    let run = server.open(run_tools(&recorder, 9), token(1)).unwrap();
    for (method, params, code) in [
        ("tools/call", json!({"arguments": {}}), -32602),
        ("tools/sell", json!({}), -32601),
        ("logging/setLevel", json!({"level": "debug"}), -32601),
    ] {
        let reply = rpc(Era::Handshake, run.url(), 1, method, params).await;
        assert_eq!(reply.json()["error"]["code"], code, "{}", reply.body);
    }
    let pong = rpc(Era::Handshake, run.url(), 1, "ping", json!({})).await;
    assert_eq!(pong.json()["result"], json!({}));
    assert_eq!(request("POST", run.url(), &ACCEPTS, "{").await.status, 415);
    assert!(recorded(&recorder).is_empty());
}

#[tokio::test]
async fn calls_over_the_limit_are_refused_and_reported() {
    let server = McpServer::bind(0).await.unwrap();
    let recorder = recorder();
    let run = server.open(run_tools(&recorder, 2), token(1)).unwrap();
    for _ in 0..2 {
        assert!(!call(Era::PerRequest, run.url(), 1, "wash", json!({})).await.1);
    }
    assert!(!run.limit_reached().is_cancelled());
    let (text, is_error) = call(Era::PerRequest, run.url(), 1, "wash", json!({})).await;
    assert!(is_error && text.contains("2 tool calls"), "{text}");
    assert!(run.limit_reached().is_cancelled());
    assert_eq!(recorded(&recorder).len(), 4);
}

#[tokio::test]
async fn only_a_program_that_knows_the_url_gets_in() {
    let server = McpServer::bind(0).await.unwrap();
    let recorder = recorder();
    let run = server.open(run_tools(&recorder, 9), token(1)).unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let port = server.address().port();
    let with = |extra: &'static [(&'static str, &'static str)]| [&ACCEPTS[..], extra].concat();
    let post = |url: String, headers: Vec<(&'static str, &'static str)>| {
        let list = list.clone();
        async move { request("POST", &url, &headers, &list).await.status }
    };
    assert_eq!(post(run.url().to_owned(), with(&[])).await, 200);
    assert_eq!(post(format!("{}/", run.url()), with(&[])).await, 200);
    assert_eq!(
        post(format!("http://localhost:{port}{}", &run.url()[run.url().len() - 17..]), with(&[])).await,
        200
    );

    let elsewhere = format!("http://127.0.0.1:{port}/{}", "a".repeat(16));
    assert_eq!(post(elsewhere, with(&[])).await, 404);
    assert_eq!(post(format!("http://127.0.0.1:{port}/"), with(&[])).await, 404);
    assert_eq!(post(format!("{}/mcp", run.url()), with(&[])).await, 404);
    assert_eq!(post(run.url().to_owned(), with(&[("Host", "evil.example")])).await, 403);
    let address = format!("127.0.0.1:{port}");
    let path = run.url().rsplit_once('/').unwrap().1;
    let targets = [
        (format!("http://{address}/{path}"), vec![("Host", &*address)], 200),
        (format!("http://evil.example/{path}"), vec![("Host", &*address)], 403),
        (format!("http://evil.example/{path}"), vec![("Host", "evil.example")], 403),
        (format!("http://{address}/{path}"), vec![("Host", "localhost")], 403),
        (format!("/{path}"), vec![("Host", &*address), ("Host", "evil.example")], 403),
        (format!("/{path}"), vec![("Host", "evil.example"), ("Host", &*address)], 403),
        (format!("/{path}"), vec![("Host", &*address), ("Host", &*address)], 403),
    ];
    for (target, hosts, expected) in targets {
        let headers = [&ACCEPTS[..], &hosts].concat();
        let reply = send(&target, "POST", &address, &headers, &list).await;
        assert_eq!(reply.status, expected, "{target} {hosts:?}");
    }
    for origin in ["https://evil.example", "http://127.0.0.1", "null"] {
        let headers = [&ACCEPTS[..], &[("Origin", origin)]].concat();
        assert_eq!(request("POST", run.url(), &headers, &list).await.status, 403, "{origin}");
    }
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(REQUEST_BYTES_MAX));
    assert_eq!(request("POST", run.url(), &ACCEPTS, &large).await.status, 413);
    assert!(recorded(&recorder).is_empty());
}

#[tokio::test]
async fn a_name_of_this_machine_is_admitted_for_the_run_that_has_it() {
    let server = McpServer::bind(0).await.unwrap();
    let port = server.address().port();
    let names = ["host.docker.internal".to_owned(), "gateway".to_owned()];
    let named = server.open_to(run_tools(&recorder(), 100), token(1), &names).unwrap();
    let plain = server.open(run_tools(&recorder(), 100), token(2)).unwrap();
    let prefix = format!("http://host.docker.internal:{port}/");
    let path = named.url().strip_prefix(&prefix).expect("the first name");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
    let status = async |url: &str, host: &str| {
        let headers = [&ACCEPTS[..], &[("Host", host)]].concat();
        request("POST", url, &headers, &list).await.status
    };
    let named = format!("http://127.0.0.1:{port}/{path}");
    for host in ["host.docker.internal", "HOST.docker.internal:80", "gateway", "127.0.0.1", "localhost:1"] {
        assert_eq!(status(&named, host).await, 200, "{host}");
    }
    assert_eq!(status(&named, "evil.example").await, 403);
    assert_eq!(status(plain.url(), "host.docker.internal").await, 403, "another run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_calls_on_two_runs_stay_apart() {
    let server = McpServer::bind(0).await.unwrap();
    let (first, second) = (recorder(), recorder());
    let first_run = server.open(run_tools(&first, 100), token(1)).unwrap();
    let second_run = server.open(run_tools(&second, 100), token(2)).unwrap();
    let calls = (0..50_u64).map(|number| {
        let (url, name) =
            if number % 2 == 0 { (first_run.url(), "wash") } else { (second_run.url(), "bake") };
        let url = url.to_owned();
        // All share one JSON-RPC id, as the first calls of separate sessions do.
        tokio::spawn(async move { call(ERAS[number as usize / 2 % 2], &url, 0, name, json!({})).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert!(!call.await.unwrap().1);
    }
    for (recorder, name) in [(first, "wash"), (second, "bake")] {
        let lines = recorded(&recorder);
        let calls = lines.iter().filter(|line| line.ends_with("{}"));
        let expected: Vec<String> = (1..=25).map(|number| format!("m{number} {name}{{}}")).collect();
        assert_eq!(calls.cloned().collect::<Vec<_>>(), expected, "ids rise in the order of the trace");
        assert_eq!(lines.len(), 50);
        for number in 1..=25 {
            let results = lines.iter().filter(|line| line.starts_with(&format!("m{number}: ")));
            assert_eq!(results.count(), 1);
        }
    }
}

#[tokio::test]
async fn a_run_that_is_over_takes_no_calls() {
    let server = McpServer::bind(0).await.unwrap();
    let recorder = recorder();
    let run = server.open(run_tools(&recorder, 9), token(1)).unwrap();
    recorder.end(EndReason::AgentFailed { reason: "killed".into() });
    let (text, is_error) = call(Era::Handshake, run.url(), 1, "wash", json!({})).await;
    assert!(is_error && text.contains("the run is over"), "{text}");
    assert!(!run.limit_reached().is_cancelled());
    assert_eq!(recorder.take_events().len(), 1);

    let url = run.url().to_owned();
    assert!(matches!(server.open(run_tools(&recorder, 9), token(1)), Err(McpError::TokenInUse)));
    drop(run);
    assert_eq!(rpc(Era::Handshake, &url, 1, "tools/list", json!({})).await.status, 404);
    let again = server.open(run_tools(&recorder, 9), token(1)).unwrap();
    assert_eq!(again.url(), url);
    assert_eq!(rpc(Era::Handshake, &url, 1, "tools/list", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_taken_port_is_an_error_that_names_it() {
    let server = McpServer::bind(0).await.unwrap();
    let refused = McpServer::bind(server.address().port()).await.unwrap_err();
    assert!(refused.to_string().contains(&server.address().to_string()), "{refused}");
    let address = server.address();
    drop(server);
    for _ in 0..100 {
        if McpServer::bind(address.port()).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the port of a dropped server stays taken");
}

#[tokio::test]
async fn the_url_leaves_room_for_a_tool_name() {
    let server = McpServer::bind(0).await.unwrap();
    let run = server.open(run_tools(&recorder(), 9), token(200)).unwrap();
    // Host, port and path become a prefix of the tool's name in one framework, which cuts names at 64 characters.
    assert!(run.url().len() <= "http://127.0.0.1:65535/".len() + 16, "{}", run.url());
    assert!(!format!("{run:?}{server:?}").contains(&run.url()[run.url().len() - 16..]));
}

/// The calls as `wash mail`, in the order of their beginnings, each of which may overlap others.
fn order(recorder: &planproof_trace::Recorder) -> (Vec<String>, bool) {
    let (mut begun, mut open, mut overlap) = (Vec::new(), 0, false);
    for event in recorder.take_events() {
        match event.kind {
            planproof_trace::EventKind::Call(call) => {
                overlap |= open > 0;
                open += 1;
                begun.push(format!("{} {}", call.id, call.name));
            }
            planproof_trace::EventKind::Result(_) => open -= 1,
            _ => {}
        }
    }
    (begun, overlap)
}

#[tokio::test]
async fn calls_made_at_once_overlap_and_calls_made_in_turn_do_not() {
    let server = McpServer::bind(0).await.unwrap();
    let recorder = recorder();
    let hold = Duration::from_millis(20);
    let tools = RunTools { hold, ..run_tools(&recorder, 99) };
    let run = server.open(tools, token(1)).unwrap();
    for _ in 0..10 {
        let wash = |id| call(Era::PerRequest, run.url(), id, "wash", json!({}));
        tokio::join!(wash(1), wash(2), wash(3));
        assert!(order(&recorder).1);
        wash(1).await;
        wash(2).await;
        assert!(!order(&recorder).1);
    }
}

#[tokio::test]
async fn written_calls_are_made_in_the_order_in_which_they_were_written() {
    let server = McpServer::bind(0).await.unwrap();
    let recorder = recorder();
    let written = Arc::new(WrittenCalls::default());
    let tools = RunTools { written: Some(Arc::clone(&written)), ..run_tools(&recorder, 99) };
    let run = server.open(tools, token(1)).unwrap();
    let to = |name: &str| json!({ "to": name });
    let arguments = |value: Value| Arguments::from_text(&value.to_string());
    let reply = |calls: [(&str, Value); 3]| {
        written.note(calls.map(|(tool, value)| (tool.to_owned(), arguments(value))).into())
    };
    let calls = || [("mail", to("Ann")), ("wash", json!({})), ("mail", to("Bob"))];
    let call = |tool, value| call(Era::PerRequest, run.url(), 1, tool, value);
    assert_eq!(reply(calls()).iter().map(CallId::as_str).collect::<Vec<_>>(), ["r1.1", "r1.2", "r1.3"]);
    // The wrong way round, and with an argument that a framework added.
    let (later, last, first) = tokio::join!(
        call("wash", json!({})),
        call("mail", to("Bob")),
        call("mail", json!({"to": "Ann", "subject": null})),
    );
    assert!(!later.1 && !last.1 && first.1, "{first:?}");
    let in_order = |number: u32| {
        ["mail", "wash", "mail"]
            .map(ToOwned::to_owned)
            .into_iter()
            .zip(1..)
            .map(move |(tool, place)| format!("r{number}.{place} {tool}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(order(&recorder), (in_order(1), false));
    // Whoever never makes the first waits for it once; calls of other replies, and such as were never
    // written, do not wait.
    reply(calls());
    let begun = std::time::Instant::now();
    call("mail", to("Bob")).await;
    assert!(begun.elapsed() >= EARLIER_CALLS_WAIT_MAX);
    reply(calls());
    tokio::join!(call("wash", json!({})), call("mail", to("Ann")), call("mail", to("Bob")));
    call("bake", json!({})).await;
    let mut expected = vec!["r2.3 mail".to_owned()];
    expected.extend(in_order(3));
    expected.push("m8 bake".to_owned());
    assert_eq!(order(&recorder).0, expected);
}

/// The tools of a run whose calls all fail in a form.
fn failing(shares: &str, recorder: &Recorder) -> RunTools {
    let shares = FaultShares::parse(shares).expect("shares");
    let run = run_tools(recorder, 99);
    RunTools { toolbox: Arc::new(FaultyTools::new(run.toolbox, ToolFaults::new(3, shares))), ..run }
}

#[tokio::test]
async fn failures_are_sent_as_real_servers_send_them() {
    let server = McpServer::bind(0).await.unwrap();
    for era in ERAS {
        let recorder = recorder();
        let open = |shares: &str| server.open(failing(shares, &recorder), token(1)).unwrap();
        let wash = |id| json!({"name": "wash", "arguments": {}, "id": id});
        // An error of the protocol, until the call gets through.
        let run = open("transient=1,as=rpc");
        for id in 0..2 {
            let reply = rpc(era, run.url(), id, "tools/call", wash(id)).await.json();
            assert_eq!(reply["error"]["code"], -32603, "{reply}");
            assert_eq!(reply["error"]["message"], SeenFault::Transient.text("wash"));
            assert_eq!(reply.get("result"), None);
        }
        assert_eq!(call(era, run.url(), 2, "wash", json!({})).await, ("The car is clean.".into(), false));
        drop(run);
        // A response that ends without an answer, at once or after a while.
        for form in ["closed", "timeout:20ms"] {
            let run = open(&format!("transient=1,as={form}"));
            let before = std::time::Instant::now();
            let reply = rpc(era, run.url(), 0, "tools/call", wash(0)).await;
            assert_eq!((reply.status, reply.body.as_str()), (200, ""), "{form}");
            assert!(reply.head.contains("content-type: text/event-stream"), "{}", reply.head);
            assert!(form == "closed" || before.elapsed() >= Duration::from_millis(20));
            // The other requests of the client are answered as ever.
            let listed = rpc(era, run.url(), 1, "tools/list", json!({})).await.json();
            assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 3);
        }
        // A tool that is gone is no longer listed, and one that will not work again is.
        for (shares, code, left) in [("vanish=1,as=closed", -32602, 2), ("permanent=1,as=timeout", -32603, 3)]
        {
            let run = open(shares);
            let messages = rpc(era, run.url(), 0, "tools/call", wash(0)).await.messages();
            let reply = messages.last().unwrap();
            assert_eq!(reply["error"]["code"], code, "{reply}");
            // Where nobody has to subscribe, the client is notified once, before the answer.
            let notified = era == Era::Handshake && left == 2;
            assert_eq!(messages.len(), 1 + usize::from(notified), "{messages:?}");
            if notified {
                assert_eq!(messages[0]["method"], "notifications/tools/list_changed");
            }
            let listed = rpc(era, run.url(), 1, "tools/list", json!({})).await.json();
            assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), left, "{shares}");
            let again = rpc(era, run.url(), 2, "tools/call", wash(2)).await.messages();
            assert_eq!((again.len(), &again[0]["error"]["code"]), (1, &json!(code)), "{again:?}");
        }
        let recorded = recorded(&recorder);
        let of = |text: &str| recorded.iter().filter(|line| line.ends_with(text)).count();
        assert_eq!(of("MCP error -32000: Connection closed"), 1, "{recorded:?}");
        assert_eq!(of("MCP error -32001: Request timed out"), 1);
        assert_eq!(of(&format!("MCP error -32603: {}", SeenFault::Transient.text("wash"))), 2);
        assert_eq!(of(&format!("MCP error -32602: {}", SeenFault::Vanished.text("wash"))), 2);
    }
}

/// Mixed forms are those that the seed has, the same for everybody.
#[tokio::test]
async fn mixed_forms_are_the_same_in_every_run() {
    let server = McpServer::bind(0).await.unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let recorder = recorder();
        let run = server.open(failing("transient=0.9,as=mixed:1ms", &recorder), token(1)).unwrap();
        for id in 0..40 {
            rpc(Era::Handshake, run.url(), id, "tools/call", json!({"name": "wash", "arguments": {}})).await;
        }
        let sent: Vec<SentAs> = recorder
            .take_events()
            .into_iter()
            .filter_map(|event| match event.kind {
                EventKind::Result(result) if result.is_error => Some(result.sent),
                _ => None,
            })
            .collect();
        for form in [SentAs::Result, SentAs::Rpc, SentAs::Closed, SentAs::Timeout(1)] {
            assert!(sent.contains(&form), "{form:?}: {sent:?}");
        }
        seen.push(sent);
    }
    assert_eq!(seen[0], seen[1]);
}
