//! Services that behave, and services that do not.

use std::time::{Duration, Instant};

use planproof_agents::{ExternalRun, RunLimits, ServiceForm, UrlAgent, UrlError};
use planproof_trace::{EndReason, EventKind, LimitKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::{MCP_URL, QUERY, Setting};

/// A service that accepts one request, sends `reply` verbatim, and returns the request. It keeps the connection
/// open for a while, so that the reply itself ends the exchange.
async fn service(reply: String) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
        }
        let _ = stream.write_all(reply.as_bytes()).await;
        if reply.is_empty() {
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
        String::from_utf8(request).unwrap()
    });
    (url, serving)
}

fn reply(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

async fn end_of(reply: String, limits: RunLimits) -> EndReason {
    let (url, _serving) = service(reply).await;
    let setting = Setting::with(limits);
    let end = UrlAgent::new(&url).unwrap().run_with(&setting.run()).await;
    setting.check_recorded(&end);
    end
}

fn limits() -> RunLimits {
    RunLimits { wall: Duration::from_secs(10), output_bytes: 1000, ..RunLimits::default() }
}

#[tokio::test]
async fn a_service_is_asked_and_answers() {
    let (url, serving) = service(reply("200 OK", r#"{"answer": " Done.\n", "cost": 3}"#)).await;
    let setting = Setting::new();
    let end = UrlAgent::new(&url).unwrap().run_with(&setting.run()).await;
    assert_eq!(end, EndReason::Answered { text: "Done.".into() });
    let request = serving.await.unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /run HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body, serde_json::json!({"query": QUERY, "mcp_url": MCP_URL}));
}

#[tokio::test]
async fn half_an_emoji_in_an_answer_costs_nothing() {
    let end = end_of(reply("200 OK", r#"{"answer": "Done \ud83d", "more": "\udc00"}"#), limits()).await;
    assert_eq!(end, EndReason::Answered { text: "Done \u{fffd}".into() });
}

#[tokio::test]
async fn a_reply_that_makes_no_sense_is_the_agents_failure() {
    for (reply, words) in [
        (reply("500 Internal Server Error", "Traceback"), "answered 500 Internal Server Error: Traceback"),
        (reply("302 Found", ""), "answered 302 Found"),
        (reply("404 Not Found", "<html>\n<h1>No page</h1>\n</html>"), "answered 404 Not Found: No page"),
        (reply("200 OK", "Done."), "is not {\"answer\": text}"),
        (reply("200 OK", r#"{"answer": 7}"#), "is not {\"answer\": text}"),
        (reply("200 OK", r#"{"text": "Done."}"#), "missing field `answer`"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".into(), "broke off"),
        ("hello\r\n\r\n".into(), "broke off"),
    ] {
        let end = end_of(reply.clone(), limits()).await;
        assert!(
            matches!(&end, EndReason::AgentFailed { reason } if reason.contains(words)),
            "{reply:?} gave {end:?}"
        );
    }
}

#[tokio::test]
async fn limits_end_the_run() {
    let long = format!("{{\"answer\":\"{}\"}}", "x".repeat(1000));
    let end = end_of(reply("200 OK", &long), limits()).await;
    assert_eq!(end, EndReason::LimitReached { limit: LimitKind::OutputBytes, value: 1000 });

    let begin = Instant::now();
    let end = end_of(String::new(), RunLimits { wall: Duration::from_millis(100), ..limits() }).await;
    assert_eq!(end, EndReason::LimitReached { limit: LimitKind::WallMilliseconds, value: 100 });
    assert!(begin.elapsed() < Duration::from_secs(5));

    let (url, _serving) = service(String::new()).await;
    let setting = Setting::new();
    setting.limit_reached.cancel();
    let end = UrlAgent::new(&url).unwrap().run_with(&setting.run()).await;
    assert_eq!(end, EndReason::LimitReached { limit: LimitKind::Iterations, value: 50 });
}

#[tokio::test]
async fn a_service_that_is_not_there_leaves_the_run_unscored() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    drop(listener);
    let setting = Setting::new();
    let end = UrlAgent::new(&format!("http://{authority}/run")).unwrap().run_with(&setting.run()).await;
    let EndReason::Unscored { reason } = &end else { panic!("{end:?}") };
    let why = format!("nothing listens at http://{authority}/run (connection refused)");
    assert!(reason.starts_with(&why), "{reason}");
    setting.check_recorded(&end);
}

#[tokio::test]
async fn a_service_without_tls_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // Something of the greeting has come before it is answered.
        assert_ne!(stream.read_buf(&mut Vec::new()).await.unwrap(), 0);
        let _ = stream.write_all(reply("400 Bad Request", "").as_bytes()).await;
        tokio::time::sleep(Duration::from_secs(20)).await;
    });
    // Without root certificates there is no https to be misunderstood.
    let Ok(agent) = UrlAgent::new(&format!("https://{authority}/run")) else { return };
    let setting = Setting::new();
    let EndReason::Unscored { reason } = agent.run_with(&setting.run()).await else { panic!("no outage") };
    assert!(reason.ends_with("it does not speak TLS: write http:// instead of https://"), "{reason}");
}

#[test]
fn urls_that_cannot_be_asked_are_the_users_errors() {
    let unusable = [
        "",
        "localhost",
        "/run",
        "ftp://127.0.0.1/run",
        "http://",
        "http://a b/",
        "http://127.0.0.1:70000/x",
    ];
    for url in unusable {
        assert!(matches!(UrlAgent::new(url), Err(UrlError::Invalid { .. })), "{url:?}");
    }
    let secret =
        UrlAgent::new("http://me:secret@127.0.0.1/run").expect_err("it holds a password").to_string();
    assert!(secret.contains("password") && !secret.contains("secret"), "{secret}");
    // If the machine has no root certificates, the error says so.
    match UrlAgent::new("https://agent.example/run") {
        Ok(_) | Err(UrlError::Certificates { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// A service that sends these replies, one for each request, and returns the bodies of the requests.
async fn talking(replies: Vec<String>) -> (String, tokio::task::JoinHandle<Vec<serde_json::Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let mut bodies = Vec::new();
        for reply in replies {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            let body = loop {
                assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
                let text = String::from_utf8_lossy(&request);
                let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
                if let Some(body) = body {
                    break body;
                }
            };
            bodies.push(body);
            stream.write_all(reply.as_bytes()).await.unwrap();
        }
        bodies
    });
    (url, serving)
}

fn two_later() -> [String; 2] {
    ["No, the other.".to_owned(), "Thanks.".to_owned()]
}

#[tokio::test]
async fn what_the_user_says_later_is_another_request_with_what_was_said_before() {
    let says = |text: &str| reply("200 OK", &format!(r#"{{"answer": "{text}", "conversations": true}}"#));
    // The last reply need not say it, because nothing comes after it.
    let (url, serving) =
        talking(vec![says("one"), says("two"), reply("200 OK", r#"{"answer": "three"}"#)]).await;
    let (later, setting) = (two_later(), Setting::with(limits()));
    let end = UrlAgent::new(&url).unwrap().run_with(&ExternalRun { later: &later, ..setting.run() }).await;
    assert_eq!(end, EndReason::Answered { text: "three".into() });
    let bodies = serving.await.unwrap();
    assert_eq!(bodies[0], serde_json::json!({"query": QUERY, "mcp_url": MCP_URL}));
    let said = |role: &str, text: &str| serde_json::json!({"role": role, "content": text});
    let before = [said("user", QUERY), said("assistant", "one")];
    let second = serde_json::json!({"query": "No, the other.", "messages": before, "mcp_url": MCP_URL});
    assert_eq!(bodies[1], second);
    assert_eq!(bodies[2]["query"], "Thanks.");
    assert_eq!(bodies[2]["messages"].as_array().unwrap().len(), 4);
    let queries: Vec<EventKind> =
        setting.recorder.take_events().into_iter().map(|event| event.kind).collect();
    let is_query = |event: &&EventKind| matches!(event, EventKind::Query { .. });
    assert_eq!(queries.iter().filter(is_query).count(), 3, "{queries:?}");
}

#[tokio::test]
async fn each_form_has_its_place_for_a_conversation() {
    let chat =
        |text: &str| reply("200 OK", &format!(r#"{{"choices": [{{"message": {{"content": "{text}"}}}}]}}"#));
    let message = |text: &str| {
        let content = serde_json::json!([{"type": "output_text", "text": text}]);
        reply("200 OK", &serde_json::json!({"output": [{"type": "message", "content": content}]}).to_string())
    };
    let own = |text: &str| reply("200 OK", &format!(r#"{{"said": "{text}"}}"#));
    let template = r#"{"input": {"messages": "{messages}"}, "last": "{query}", "tools": "{mcp_url}"}"#;
    let own_form = ServiceForm::default().template(template).unwrap().answer_at("/said").unwrap();
    let later = ["No, the other.".to_owned()];
    let said = |role: &str, text: &str| serde_json::json!({"role": role, "content": text});
    let all = serde_json::json!([said("user", QUERY), said("assistant", "one"), said("user", &later[0])]);
    for (form, replies, place) in [
        (ServiceForm::default().chat(None), [chat("one"), chat("two")], "/messages"),
        (ServiceForm::default().responses(None), [message("one"), message("two")], "/input"),
        (own_form, [own("one"), own("two")], "/input/messages"),
    ] {
        let (url, serving) = talking(replies.to_vec()).await;
        let mut agent = UrlAgent::new(&url).unwrap();
        agent.set_up(form);
        let setting = Setting::with(limits());
        let end = agent.run_with(&ExternalRun { later: &later, ..setting.run() }).await;
        assert_eq!(end, EndReason::Answered { text: "two".into() }, "{place}");
        let bodies = serving.await.unwrap();
        assert_eq!(bodies[1].pointer(place), Some(&all), "{place}");
        if place == "/input" {
            assert_eq!(bodies[0]["input"], QUERY);
        } else {
            assert_eq!(
                bodies[0].pointer(place).and_then(|it| it.as_array()).map(Vec::len),
                Some(1),
                "{place}"
            );
        }
    }
}

#[tokio::test]
async fn a_service_that_carries_no_conversations_is_not_blamed() {
    let (url, serving) = talking(vec![reply("200 OK", r#"{"answer": "one"}"#)]).await;
    let (later, setting) = (two_later(), Setting::with(limits()));
    let end = UrlAgent::new(&url).unwrap().run_with(&ExternalRun { later: &later, ..setting.run() }).await;
    let EndReason::Unscored { reason } = &end else { panic!("{end:?}") };
    assert!(reason.contains("\"conversations\": true"), "{reason}");
    assert_eq!(serving.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_service_that_fails_a_later_message_has_failed() {
    let first = reply("200 OK", r#"{"answer": "one", "conversations": true}"#);
    let (url, _serving) = talking(vec![first, reply("500 Internal Server Error", "lost my memory")]).await;
    let (later, setting) = (two_later(), Setting::with(limits()));
    let end = UrlAgent::new(&url).unwrap().run_with(&ExternalRun { later: &later, ..setting.run() }).await;
    assert!(
        matches!(&end, EndReason::AgentFailed { reason } if reason.contains("lost my memory")),
        "{end:?}"
    );
}
