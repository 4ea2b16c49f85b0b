//! What tools make of servers that are slow, broken, or answer nonsense.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::RgbImage;
use planproof_media::{Endpoint, Endpoints, KeyPlace, Patience, Service};
use planproof_suite::Toolbox;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket};

use crate::support::{RED, Run, encoded};

const KEY: &str = "sk-very-secret";

/// How a server behaves.
#[derive(Clone)]
enum Behaviour {
    /// Never answers.
    Silent,
    /// Closes the connection.
    Closing,
    /// Answers with this head and body, whatever the length that the head says.
    Says(String, Vec<u8>),
    /// Says the first so often, then the second.
    Recovers(usize, String, Vec<u8>),
    /// Goes on answering without an end.
    Endless,
}

/// A server that behaves so, and how often it was asked.
async fn server(behaviour: Behaviour) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (behaviour, counted) = (behaviour.clone(), Arc::clone(&counted));
            tokio::spawn(async move {
                if read_request(&mut stream).await.is_none() {
                    return;
                }
                let count = counted.fetch_add(1, Ordering::SeqCst);
                let says = |head: &str, body: &[u8]| {
                    let length = body.len();
                    let mut answer =
                        format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
                            .into_bytes();
                    answer.extend_from_slice(body);
                    answer
                };
                let answer = match behaviour {
                    Behaviour::Silent => std::future::pending().await,
                    Behaviour::Closing => return,
                    Behaviour::Says(head, body) => says(&head, &body),
                    Behaviour::Recovers(times, head, _) if count < times => says(&head, b""),
                    Behaviour::Recovers(_, _, body) => says("200 OK", &body),
                    Behaviour::Endless => {
                        let head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[";
                        let mut sent = stream.write_all(head).await;
                        while sent.is_ok() {
                            sent = stream.write_all(&[b' '; 1 << 16]).await;
                        }
                        return;
                    }
                };
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (url, asked)
}

/// Reads a request to its end.
async fn read_request(stream: &mut tokio::net::TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length =
            head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.trim().parse().ok());
        if bytes.len() >= end + 4 + length.unwrap_or(0_usize) {
            return Some(());
        }
    }
}

fn endpoints(url: &str) -> Endpoints {
    let mut endpoints = Service::ALL.into_iter().fold(Endpoints::none(), |endpoints, service| {
        let key = (service != Service::Wikipedia).then(|| SecretString::from(KEY));
        let key_place =
            if service == Service::Movies { KeyPlace::Query("apikey".to_owned()) } else { KeyPlace::Bearer };
        endpoints.with(service, Endpoint { key, key_place, ..Endpoint::new(url).with_model("m") })
    });
    endpoints.patience = Patience {
        // Longer than a busy machine needs: only a server that says nothing comes to this.
        attempt: Duration::from_secs(30),
        attempts_max: 3,
        first_wait: Duration::from_millis(5),
        wait_max: Duration::from_millis(20),
    };
    endpoints
}

fn run(name: &str, url: &str) -> Run {
    run_with(name, endpoints(url))
}

fn run_with(name: &str, endpoints: Endpoints) -> Run {
    let run = Run::with(name, endpoints);
    run.put("a.png", &encoded(&RgbImage::from_pixel(8, 8, RED), "a.png"));
    run.put("a.wav", b"RIFF");
    run
}

/// A call of one tool of each service, and the answers of its server that look well and mean nothing.
fn calls() -> Vec<(&'static str, Value, Vec<Value>)> {
    let picture = BASE64_STANDARD.encode(encoded(&RgbImage::new(3, 3), "a.png"));
    let object = |label: &str, bbox: Value, mask: Value| json!({ "objects": [{ "label": label, "bbox": bbox, "mask": mask }] });
    let box_of = json!([0, 0, 5, 5]);
    vec![
        (
            "text generation",
            json!({ "text": "x" }),
            vec![json!({ "choices": [] }), json!({ "choices": [{ "message": { "content": null } }] })],
        ),
        (
            "image captioning",
            json!({ "image": "a.png" }),
            vec![json!({ "choices": [{ "message": { "content": 7 } }] })],
        ),
        (
            "image generation",
            json!({ "text": "x" }),
            vec![
                json!({ "data": [] }),
                json!({ "data": [{ "url": "http://127.0.0.1/a.png" }] }),
                json!({ "data": [{ "b64_json": "?" }] }),
                json!({ "data": [{ "b64_json": "AAAA" }] }),
            ],
        ),
        ("image editing", json!({ "image": "a.png", "prompt": "x" }), vec![json!({ "data": [{}] })]),
        (
            "object detection",
            json!({ "image": "a.png" }),
            vec![
                json!({ "objects": [{ "label": "x" }] }),
                object(" ", box_of.clone(), Value::Null),
                object(&"x".repeat(201), box_of.clone(), Value::Null),
                object("x", json!([0, 0, 5]), Value::Null),
                object("x", json!([5, 0, 5, 5]), Value::Null),
                object("x", json!([0, 9, 5, 5]), Value::Null),
                json!({ "objects": vec![json!({ "label": "x", "bbox": box_of }); 201] }),
            ],
        ),
        (
            "image segmentation",
            json!({ "image": "a.png" }),
            vec![
                object("x", box_of.clone(), json!("?")),
                object("x", box_of.clone(), json!("AAAA")),
                // A mask of another size.
                object("x", box_of.clone(), json!(picture)),
            ],
        ),
        ("automatic speech recognition", json!({ "audio": "a.wav" }), vec![json!({ "text": 7 })]),
        ("get date fact", json!({ "date": "6/21" }), vec![json!({ "txt": "x" }), json!({ "text": null })]),
        ("get math fact", json!({ "number": 7 }), vec![json!("x")]),
        (
            "love calculator",
            json!({ "first_name": "a", "second_name": "b" }),
            vec![json!({ "percentage": "all", "result": "x" }), json!({ "percentage": 101, "result": "x" })],
        ),
        (
            "get location",
            json!({ "city": "x" }),
            vec![json!([{ "lat": "1" }]), json!([{ "lat": "1", "lon": "east" }]), json!({ "error": "x" })],
        ),
        ("search movie", json!({ "movie_title": "x", "movie_year": "" }), vec![json!({ "Year": "1" })]),
        (
            "get weather",
            json!({ "lon": "1", "lat": "1" }),
            vec![json!({ "data": {} }), json!({ "data": [1] })],
        ),
        (
            "wikipedia simple search",
            json!({ "text": "x" }),
            vec![json!([]), json!({ "error": { "code": "x" } })],
        ),
    ]
}

/// Makes one call, which has to fail through no fault of its own, and gives what it answered.
async fn outage(name: &str, url: &str, tool: &str, arguments: &Value) -> String {
    outage_of(&run(&format!("{name}-{}", tool.replace(' ', "_")), url), tool, arguments).await
}

async fn outage_of(run: &Run, tool: &str, arguments: &Value) -> String {
    let result = run.call(tool, arguments.clone()).await;
    assert!(result.is_error, "{tool}: {}", result.text);
    let outage =
        run.tools.outage().unwrap_or_else(|| panic!("{tool}: held against the agent: {}", result.text));
    assert_eq!(outage, format!("the tool `{tool}` could not do its work: {}", result.text));
    assert!(!outage.contains(KEY), "{outage}");
    // The next run begins anew.
    assert_eq!(run.tools.for_run().expect("another run").outage(), None);
    result.text
}

#[tokio::test]
#[ignore = "slow"]
async fn nonsense_is_the_servers_fault() {
    for (tool, arguments, answers) in calls() {
        for answer in answers {
            let (url, asked) =
                server(Behaviour::Says("200 OK".into(), answer.to_string().into_bytes())).await;
            outage("nonsense", &url, tool, &arguments).await;
            assert_eq!(asked.load(Ordering::SeqCst), 1, "{tool}: it would answer the same again");
        }
        for body in [&b"<html>It works!</html>"[..], b"", b"\xff\xfe", b"[[[[[[[["] {
            let (url, _) = server(Behaviour::Says("200 OK".into(), body.to_vec())).await;
            outage("garbage", &url, tool, &arguments).await;
        }
    }
}

#[tokio::test]
async fn a_text_in_the_wrong_place_is_not_repeated_as_a_whole() {
    let text = format!("{KEY} {}", "x".repeat(1 << 20));
    for (tool, arguments, answer) in [
        ("image generation", json!({ "text": "x" }), json!({ "data": text })),
        ("object detection", json!({ "image": "a.png" }), json!({ "objects": text })),
    ] {
        let (url, _) = server(Behaviour::Says("200 OK".into(), answer.to_string().into_bytes())).await;
        let reported = outage("misplaced", &url, tool, &arguments).await;
        assert!(reported.contains("invalid type: string") && reported.len() < 1000, "{reported:.1000}");
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn servers_that_are_away_slow_or_broken_are_outages() {
    // A port that is taken, and at which nobody listens: one that is only free may become another test's.
    let taken = TcpSocket::new_v4().expect("a socket");
    taken.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let taken_at = taken.local_addr().expect("an address");
    for (tool, arguments, _) in calls() {
        let is_wiki = tool == "wikipedia simple search";
        let text = outage("away", &format!("http://{taken_at}"), tool, &arguments).await;
        assert!(text.contains("cannot be reached"), "{tool}: {text}");
        let (url, asked) = server(Behaviour::Says("500 Internal Server Error".into(), KEY.into())).await;
        let text = outage("500", &url, tool, &arguments).await;
        assert!(text.contains("answered 500 Internal Server Error"), "{tool}: {text}");
        assert_eq!(asked.load(Ordering::SeqCst), if is_wiki { 1 } else { 3 }, "{tool}");
        let (url, _) = server(Behaviour::Closing).await;
        let text = outage("closing", &url, tool, &arguments).await;
        assert!(
            text.contains(if is_wiki { "the connection broke" } else { "broke the connection" }),
            "{tool}: {text}"
        );
        for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found", "302 Found"] {
            let (url, asked) = server(Behaviour::Says(status.into(), b"no".to_vec())).await;
            outage("status", &url, tool, &arguments).await;
            assert_eq!(asked.load(Ordering::SeqCst), 1, "{tool} {status}");
        }
    }
}

#[tokio::test]
async fn nobody_is_waited_for_for_ever() {
    let waits = calls().into_iter().map(|(tool, arguments, _)| async move {
        let (url, asked) = server(Behaviour::Silent).await;
        let mut impatient = endpoints(&url);
        impatient.patience.attempt = Duration::from_secs(3);
        let run = run_with(&format!("silent-{}", tool.replace(' ', "_")), impatient);
        let text = outage_of(&run, tool, &arguments).await;
        assert!(text.ends_with("did not answer within 3s"), "{tool}: {text}");
        assert_eq!(asked.load(Ordering::SeqCst), 1, "{tool}: what was begun is not begun again");
    });
    for wait in waits.map(tokio::spawn).collect::<Vec<_>>() {
        wait.await.expect("the test of one tool");
    }
}

#[tokio::test]
async fn no_answer_is_read_without_end() {
    for (tool, arguments) in
        [("get math fact", json!({ "number": 7 })), ("object detection", json!({ "image": "a.png" }))]
    {
        let (url, asked) = server(Behaviour::Endless).await;
        let mut endpoints = endpoints(&url);
        endpoints.patience.attempt = Duration::from_secs(60);
        let run = Run::with(&format!("endless-{}", tool.replace(' ', "_")), endpoints);
        run.put("a.png", &encoded(&RgbImage::from_pixel(8, 8, RED), "a.png"));
        let result = run.call(tool, arguments).await;
        assert!(result.text.contains("gave an answer that is longer than"), "{}", result.text);
        assert!(run.tools.outage().is_some());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let fact = json!({ "text": "7 is a number" }).to_string().into_bytes();
    for head in
        ["503 Service Unavailable", "429 Too Many Requests\r\nRetry-After: 3600", "500 Internal Server Error"]
    {
        let (url, asked) = server(Behaviour::Recovers(2, head.to_owned(), fact.clone())).await;
        let run = run("again", &url);
        let done = run.done("get math fact", json!({ "number": 7 })).await;
        assert_eq!(done["text"], "7 is a number", "{head}");
        assert_eq!((asked.load(Ordering::SeqCst), run.tools.outage()), (3, None), "{head}");
    }
    let (url, _) = server(Behaviour::Says("429 Too Many Requests".into(), Vec::new())).await;
    let text = outage("too_many", &url, "get math fact", &json!({ "number": 7 })).await;
    assert_eq!(text, "the server of `media.numbers.url` answered 429 Too Many Requests, 3 times over");
}

#[tokio::test]
async fn what_a_server_refuses_is_the_calls_fault_where_it_can_only_be_that() {
    let body = format!("{{\"error\": \"not with {KEY}\"}}");
    let says = |status: &str| server(Behaviour::Says(status.into(), body.clone().into_bytes()));
    let (url, asked) = says("413 Payload Too Large").await;
    let text = run("refused", &url).refused("text generation", json!({ "text": "x" })).await;
    assert!(text.contains("not with [key]") && !text.contains(KEY), "{text}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // So does what a chat model says of a text that is longer than it reads, but no other server's word about contexts.
    for (status, said) in [
        ("400 Bad Request", "This model's maximum Context Length is 4097 tokens"),
        ("400 Bad Request", "exceed_context_size_error"),
        ("422 Unprocessable Content", "the prompt is too long"),
    ] {
        // What is repeated of an answer is cut; what is looked for is not.
        let body = json!({ "error": format!("{} {said}", "x".repeat(1000)) }).to_string().into_bytes();
        let (url, _) = server(Behaviour::Says(status.into(), body.clone())).await;
        run("too_long", &url).refused("text generation", json!({ "text": "x" })).await;
        outage("too_long_fact", &url, "get math fact", &json!({ "number": 7 })).await;
    }
    // The arguments are good, so that it may be our request that is not.
    for status in ["400 Bad Request", "415 Unsupported Media Type", "422 Unprocessable Content"] {
        let (url, asked) = says(status).await;
        let text = outage("disliked", &url, "text generation", &json!({ "text": "x" })).await;
        assert!(
            text.contains("`media.chat.url` does not take the form of our request: it answered"),
            "{text}"
        );
        assert!(text.contains("not with [key]") && !text.contains(KEY), "{text}");
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
    let refusal = json!({ "choices": [{ "message": { "content": null, "refusal": "I will not." } }] });
    let (url, _) = server(Behaviour::Says("200 OK".into(), refusal.to_string().into_bytes())).await;
    let text = run("refusal", &url).refused("text generation", json!({ "text": "x" })).await;
    assert_eq!(text, "the server of `media.chat.url` refused the request: `I will not.`");
}
