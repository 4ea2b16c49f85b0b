//! `planproof guard --to URL`: between clients and an MCP server over HTTP.
#![cfg(unix)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::crafted::{Crafted, crafted};
use crate::hook_install::User;
use crate::support::{Place, Run, json_lines, send};
use crate::until;

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
    - {id: no-refunds, never: {call: refund}, why: Ask a person.}\n\
    - {id: look-first, requires: {call: pay, done: look}, per: /id}\n";

/// A request as it reached somebody.
#[derive(Debug, Clone)]
struct Heard {
    head: String,
    body: String,
}

impl Heard {
    fn read(stream: &mut impl BufRead) -> Option<Self> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let length = head.to_ascii_lowercase();
        let length =
            length.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).ok()?;
        Some(Self { head, body: String::from_utf8(body).ok()? })
    }
}

/// A server that keeps what reaches it, and answers with these bytes: `CALL` stands for the result of the request.
struct Upstream {
    url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Upstream {
    fn start(answer: &'static str) -> Self {
        Self::serving(move |request, stream| {
            let result = result_of(request);
            let length = result.len().to_string();
            let bytes = answer.replace("CALL", &result).replace("LENGTH", &length);
            stream.write_all(bytes.as_bytes()).is_ok() && answer.contains("LENGTH")
        })
    }

    /// One that writes what it likes. It gives whether it reads on.
    fn serving(answer: impl Fn(&Heard, &mut TcpStream) -> bool + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while let Some(request) = Heard::read(&mut reader) {
                        kept.lock().unwrap().push(request.clone());
                        if !answer(&request, reader.get_mut()) {
                            return;
                        }
                    }
                });
            }
        });
        Self { url, heard }
    }

    /// The messages that reached it.
    fn messages(&self) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter_map(|heard| serde_json::from_str(&heard.body).ok()).collect()
    }
}

/// The result of a call, as a message.
fn result_of(request: &Heard) -> String {
    let id = serde_json::from_str(&request.body).map_or(Value::Null, |it: Value| it["id"].clone());
    let result = json!({"content": [{"type": "text", "text": "{\"ok\":true}"}]});
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

const AS_JSON: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: LENGTH\r\n\r\nCALL";
const AS_EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
                         : hello\n\nevent: message\r\ndata: CALL\r\n\r\n";

/// A guard, ended when it is dropped.
struct Guard {
    child: Child,
    url: String,
}

impl Guard {
    fn start(place: &Place, to: &str, more: &str) -> Self {
        let line = format!("guard --rules rules.yaml --to {to} --listen 127.0.0.1:0 --log log.jsonl {more}");
        let mut command = place.command(&line.split_whitespace().collect::<Vec<_>>());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn at(&self, session: &str) -> String {
        self.url.replace("SESSION", session)
    }

    /// Sends a message with these further lines in its head; the status and the body of the answer.
    fn post(&self, url: &str, head: &str, body: &str) -> (u16, String) {
        let lines = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        request(url, "POST", &format!("{lines}{head}"), body)
    }

    fn call(&self, number: u64, tool: &str) -> Value {
        let (status, body) = self.post(&self.at("one"), "", &call(number, tool));
        assert_eq!(status, 200, "{body}");
        let json = body.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&body);
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {body}"))
    }

    /// Ends it, and gives the exit code and what was written to stderr.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        send(&self.child, signal);
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(url: &str, method: &str, head: &str, body: &str) -> (u16, String) {
    let mut stream = send_request(url, method, head, body.as_bytes());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
    // A body in pieces is not put together: whoever looks for a line in it finds it.
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// Sends a request, whose answer can be read from what this gives.
fn send_request(url: &str, method: &str, head: &str, body: &[u8]) -> TcpStream {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut text =
        format!("{method} /{path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !head.to_ascii_lowercase().contains("host:") {
        let _ = write!(text, "host: {host}\r\n");
    }
    let _ = write!(text, "{head}\r\n");
    stream.write_all(&[text.as_bytes(), body].concat()).unwrap();
    stream
}

fn call(number: u64, tool: &str) -> String {
    json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {"id": 1}}})
        .to_string()
}

fn place() -> Place {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    place
}

#[test]
fn calls_are_held_to_rules_and_results_are_learnt_in_either_form() {
    for answer in [AS_JSON, AS_EVENTS] {
        let (place, server) = (place(), Upstream::start(answer));
        let guard = Guard::start(&place, &server.url, "--enforce --session url");
        let denied = guard.call(1, "refund");
        assert_eq!(denied["result"]["isError"], true, "{denied}");
        assert_eq!(denied["result"]["structuredContent"]["rules"][0]["id"], "no-refunds");
        assert_eq!(guard.call(2, "pay")["result"]["isError"], true);
        let looked = guard.call(3, "look");
        assert_eq!(looked["result"]["content"][0]["text"], "{\"ok\":true}", "{looked}");
        assert_eq!(guard.call(4, "pay")["result"]["isError"], Value::Null);
        // Another session has seen nothing yet.
        let (_, other) = guard.post(&guard.at("two"), "", &call(5, "pay"));
        assert!(other.contains("denied by rule look-first"), "{other}");
        let ids: Vec<Value> = server.messages().iter().map(|message| message["id"].clone()).collect();
        assert_eq!(ids, [3, 4]);
        let (code, said) = guard.end("TERM");
        assert_eq!(code, Some(0), "{said}");
        let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
        let of = |kind: &str| log.iter().filter(|line| line["kind"] == kind).count();
        assert_eq!((of("decision"), of("result"), of("end")), (5, 2, 2), "{log:?}");
        place.run("check --rules rules.yaml log.jsonl").code(0);
    }
}

#[test]
fn nothing_gets_past() {
    let (place, server) = (place(), Upstream::start(AS_JSON));
    let guard = Guard::start(&place, &server.url, "--enforce -q");
    let refund = call(7, "refund");
    let json = "content-type: application/json\r\n";
    // What is crafted is rejected as over stdio, whether it can be answered there or not.
    let crafted = crafted();
    for Crafted { what, bytes, .. } in &crafted {
        let mut answer = String::new();
        let more = "accept: application/json\r\n";
        let mut stream = send_request(&guard.url, "POST", &format!("{json}{more}"), bytes);
        stream.read_to_string(&mut answer).unwrap();
        let is_result = answer.starts_with("HTTP/1.1 200") && answer.contains("\"isError\":true");
        assert!(is_result || answer.starts_with("HTTP/1.1 400"), "{what}: {answer}");
    }
    assert!(crafted.len() > 150 && server.messages().is_empty(), "{:?}", server.messages());
    let spoilt = [
        ("mcp-method: tools/list\r\n", call(8, "look"), 400),
        ("mcp-method: tools/call\r\nmcp-name: refund\r\n", call(9, "look"), 400),
        ("mcp-name: =?base64?cmVmdW5k?=\r\n", call(9, "look"), 400),
        ("mcp-name: look\r\nmcp-name: refund\r\n", call(9, "look"), 400),
        ("mcp-name: look\r\nmcp-name: look\r\n", call(9, "look"), 400),
        ("mcp-method: tools/call\r\nmcp-method: tools/list\r\n", call(9, "look"), 400),
        ("mcp-method: Tools/Call\r\n", call(9, "look"), 400),
        ("mcp-name: Look\r\n", call(9, "look"), 400),
        ("mcp-name: \r\n", call(9, "look"), 400),
        ("mcp-name: =?base64?!?=\r\n", call(9, "look"), 400),
        ("mcp-session-id: a\r\nmcp-session-id: b\r\n", call(9, "look"), 400),
        ("mcp-method: tools/call\r\nmcp-name: look\r\n", refund.clone(), 400),
        ("host: evil.example\r\n", call(10, "look"), 403),
        ("host: localhost\r\nhost: evil.example\r\n", call(10, "look"), 403),
        ("origin: http://evil.example\r\n", call(10, "look"), 403),
        ("origin: null\r\n", call(10, "look"), 403),
        ("content-encoding: identity, gzip\r\n", call(10, "look"), 415),
        ("content-encoding: gzip\r\n", call(10, "look"), 415),
    ];
    for (head, body, expected) in &spoilt {
        let (status, answer) = request(&guard.url, "POST", &format!("{json}{head}"), body);
        assert_eq!(status, *expected, "{head}{body}: {answer}");
    }
    let text = request(&guard.url, "POST", "content-type: text/plain\r\n", &refund);
    assert_eq!(text.0, 415, "{text:?}");
    // In other character sets the same bytes are another message.
    for (set, expected) in
        [("utf-8", 200), ("\"UTF8\"", 200), ("utf-7", 415), ("\"UTF-16LE\"", 415), ("latin1", 415)]
    {
        let kind = format!("content-type: application/json; charset={set}\r\n");
        assert_eq!(request(&guard.url, "POST", &kind, &refund).0, expected, "{set}");
    }
    assert_eq!(request(&guard.url, "PUT", json, &refund).0, 405);
    assert_eq!(request(&format!("{}/more", guard.url), "POST", json, &call(1, "look")).0, 404);
    assert_eq!(server.messages(), [] as [Value; 0]);
    // What agrees passes, with the client's own headers, and without those of its connection.
    let agreed = "mcp-method: tools/call\r\nmcp-name: =?base64?bG9vaw==?=\r\nauthorization: Bearer k\r\nx-own: 1\r\n\
                  te: trailers\r\naccept-encoding: gzip\r\n";
    let body = call(11, "look").replace("\"jsonrpc\"", " \"jsonrpc\"");
    assert_eq!(guard.post(&guard.url, agreed, &body).0, 200);
    let heard = server.heard.lock().unwrap()[0].clone();
    assert_eq!(heard.body, body, "to the byte");
    let head = heard.head.to_ascii_lowercase();
    for (line, is_there) in [
        ("authorization: bearer k", true),
        ("x-own: 1", true),
        ("accept-encoding: identity", true),
        ("te:", false),
    ] {
        assert_eq!(head.contains(line), is_there, "{line}: {head}");
    }
}

#[test]
fn what_the_server_does_wrong_is_said() {
    let place = place();
    let redirects =
        Upstream::start("HTTP/1.1 307 See\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n");
    let guard = Guard::start(&place, &redirects.url, "--enforce");
    let (status, said) = guard.post(&guard.url, "authorization: Bearer k\r\n", &call(1, "look"));
    assert!(status == 502 && said.contains("redirections are not followed"), "{status} {said}");
    let guard = Guard::start(&place, "http://127.0.0.1:9/mcp", "--enforce");
    let (status, said) = guard.post(&guard.url, "", &call(1, "look"));
    assert!(status == 502 && said.contains("cannot be reached"), "{status} {said}");
    // What cannot be read may mean something to the client: nothing is approved from then on.
    let packed = Upstream::start(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n\r\nxx",
    );
    let guard = Guard::start(&place, &packed.url, "--enforce");
    assert_eq!(guard.post(&guard.url, "", &call(1, "look")), (200, "2\r\nxx\r\n0\r\n\r\n".to_owned()));
    let (_, said) = guard.post(&guard.url, "", &call(2, "look"));
    assert!(said.contains("could not be read"), "{said}");
    // The end of the server's session is passed on, and a call without a result stays pending.
    let gone = Upstream::start("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    let guard = Guard::start(&place, &gone.url, "--enforce");
    assert_eq!(guard.post(&guard.url, "mcp-session-id: s\r\n", &call(1, "look")).0, 404);
    assert_eq!(request(&guard.url, "DELETE", "mcp-session-id: s\r\n", "").0, 404);
    assert!(guard.call(2, "pay")["result"]["isError"] == true);
}

/// Whether a call was carried out is not known where no answer came, so it may still succeed.
#[test]
fn a_call_without_an_answer_stays_pending() {
    let (place, broken) = (place(), Upstream::start(""));
    place.write(
        "rules.yaml",
        "schema: planproof/rules/v1\nrules: [{id: one, at-most: {done: pay, times: 1}}]\n",
    );
    let guard = Guard::start(&place, &broken.url, "--enforce");
    let (status, said) = guard.post(&guard.url, "", &call(1, "pay"));
    assert!(status == 502, "{status} {said}");
    // Its id is free again, because no answer can come any more.
    let (status, said) = guard.post(&guard.url, "", &call(1, "pay"));
    assert!(status == 200 && said.contains("denied by rule one"), "{status} {said}");
    assert_eq!(broken.messages().len(), 1);
}

/// A stream that the client opens: events come at once and as they are, and a result among them counts.
#[test]
fn results_that_come_over_a_stream_of_the_client_are_learnt() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let begun = Arc::new(Mutex::new(None));
    let asked = Arc::clone(&begun);
    let server = Upstream::serving(move |request, stream| {
        let write = |stream: &mut TcpStream, text: &str| stream.write_all(text.as_bytes()).unwrap();
        if request.head.starts_with("POST") {
            // The answer breaks off: the client has to fetch the rest.
            *asked.lock().unwrap() = Some(result_of(request));
            write(stream, &format!("{HEAD}id: 7\ndata: \n\n"));
            return false;
        }
        let resumes = request.head.to_ascii_lowercase().contains("last-event-id: 7");
        write(stream, &format!("{HEAD}: hello\n\n"));
        thread::sleep(Duration::from_millis(200));
        write(
            stream,
            "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n",
        );
        if let Some(result) = asked.lock().unwrap().take().filter(|_| resumes) {
            // A message over several lines of data.
            let (begin, end) = result.split_at(result.find(',').unwrap() + 1);
            write(stream, &format!("id: 8\r\ndata: {begin}\r\ndata: {end}\r\n\r\n"));
        }
        false
    });
    let place = place();
    let guard = Guard::start(&place, &server.url, "--enforce");
    let session = "mcp-session-id: s\r\n";
    let accept = format!("{session}accept: text/event-stream\r\n");
    assert_eq!(guard.post(&guard.url, session, &call(1, "look")).0, 200);
    assert!(guard.post(&guard.url, session, &call(2, "pay")).1.contains("denied"), "nothing is known yet");
    // The first bytes are there before the server writes the rest.
    let started = std::time::Instant::now();
    let mut stream = send_request(&guard.url, "GET", &format!("{accept}last-event-id: 7\r\n"), b"");
    let mut said = String::new();
    let mut reader = BufReader::new(&mut stream);
    while !said.contains(": hello") {
        assert_ne!(reader.read_line(&mut said).unwrap(), 0, "{said}");
    }
    assert!(started.elapsed() < Duration::from_millis(180), "{:?}", started.elapsed());
    reader.read_to_string(&mut said).unwrap();
    assert!(said.contains("notifications/progress") && said.contains("id: 8\r\ndata: {"), "{said}");
    until("the result counts", || {
        (!guard.post(&guard.url, session, &call(3, "pay")).1.contains("denied")).then_some(())
    });
    let heard = server.heard.lock().unwrap();
    let get = heard.iter().find(|heard| heard.head.starts_with("GET")).unwrap();
    assert!(get.head.to_ascii_lowercase().contains("last-event-id: 7"), "{}", get.head);
}

/// Forms of an event with the result of a call, and whether all clients find it.
#[test]
fn an_event_that_only_some_clients_find_ends_all_approval() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    for (event, is_found) in [
        ("data: CALL\n\n", true),
        ("data: CALL\r\n\r\n", true),
        ("data: SPLIT\n\n", true),
        ("event: message\nid: 1\ndata:CALL\n\n", true),
        ("data: CALL\n", false),
        ("data: CALL", false),
        ("data: SPLIT\r\n", false),
        ("data: CALL\r\r", false),
        ("data: CALL\r\n\ndata: 1\r\r", true),
        ("\u{feff}data: CALL\n\n", false),
        ("\u{feff}: hello\n\ndata: CALL\n\n", true),
    ] {
        let server = Upstream::serving(move |request, stream| {
            let result = result_of(request);
            let split = result.replacen(',', ",\ndata: ", 1);
            let event = event.replace("CALL", &result).replace("SPLIT", &split);
            let _ = stream.write_all(format!("{HEAD}{event}").as_bytes());
            false
        });
        let place = place();
        let guard = Guard::start(&place, &server.url, "--enforce");
        assert_eq!(guard.post(&guard.url, "", &call(1, "look")).0, 200);
        let (_, paid) = guard.post(&guard.url, "", &call(2, "pay"));
        assert_eq!(!paid.contains("denied"), is_found, "{event:?} {paid}");
        assert_eq!(paid.contains("could not be read"), !is_found, "{event:?} {paid}");
    }
}

/// Sessions of the protocol are optional: what a stream was for is found again by its events.
#[test]
fn a_stream_is_resumed_without_a_session_of_the_server() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    // The events from which the stream is resumed, one after the other; which id the answer has; and whether the result
    // is learnt, or nothing is approved any more.
    for (events, id, is_learnt, is_blocked) in [
        (vec!["e1"], 1, true, false),
        (vec!["e1", "e1+"], 1, true, false),
        (vec!["e1"], 7, false, true),
        (vec!["unknown"], 1, false, true),
        (vec!["e0"], 7, false, false),
    ] {
        let last: &'static str = events[events.len() - 1];
        let server = Upstream::serving(move |request, stream| {
            let write = |stream: &mut TcpStream, text: &str| stream.write_all(text.as_bytes()).is_ok();
            if request.head.starts_with("POST") {
                let number = serde_json::from_str::<Value>(&request.body).unwrap()["id"].to_string();
                match number.as_str() {
                    "1" => write(stream, &format!("{HEAD}id: e1\nretry: 5\ndata:\n\n")),
                    _ => write(stream, &format!("{HEAD}id: e0\ndata: {}\n\n", result_of(request))),
                };
                return false;
            }
            if request.head.to_ascii_lowercase().contains(&format!("last-event-id: {last}\r")) {
                let asked = Heard { head: String::new(), body: json!({ "id": id }).to_string() };
                write(stream, &format!("{HEAD}id: e9\ndata: {}\n\n", result_of(&asked)));
            } else {
                write(stream, &format!("{HEAD}id: {last}\ndata:\n\n"));
            }
            false
        });
        let place = place();
        let guard = Guard::start(&place, &server.url, "--enforce");
        assert_eq!(guard.post(&guard.url, "", &call(7, "other")).0, 200);
        assert_eq!(guard.post(&guard.url, "", &call(1, "look")).0, 200);
        assert!(guard.post(&guard.url, "", &call(2, "pay")).1.contains("denied by rule look-first"));
        for event in events {
            let head = format!("accept: text/event-stream\r\nlast-event-id: {event}\r\n");
            assert_eq!(request(&guard.url, "GET", &head, "").0, 200);
        }
        let (_, paid) = guard.post(&guard.url, "", &call(3, "pay"));
        assert_eq!(!paid.contains("denied"), is_learnt, "{id} {paid}");
        let (_, other) = guard.post(&guard.url, "", &call(4, "other"));
        assert_eq!(other.contains("could not be read"), is_blocked, "{id} {other}");
    }
}

/// What comes for a call of an earlier guard is not known to be for it, and may be.
#[test]
fn a_stream_that_is_resumed_after_a_new_start_ends_all_approval() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let server = Upstream::serving(|request, stream| {
        let asked = Heard { head: String::new(), body: json!({"id": 1}).to_string() };
        let events = match request.head.starts_with("POST") {
            true => "id: e1\ndata:\n\n".to_owned(),
            false => format!("id: e2\ndata: {}\n\n", result_of(&asked)),
        };
        let _ = stream.write_all(format!("{HEAD}{events}").as_bytes());
        false
    });
    let place = place();
    for (call_before, is_denied) in [(true, true), (false, false)] {
        let history = format!("--enforce --history {call_before}.db --session-name s");
        if call_before {
            let guard = Guard::start(&place, &server.url, &history);
            assert_eq!(guard.post(&guard.url, "", &call(1, "look")).0, 200);
            guard.end("KILL");
        }
        let guard = Guard::start(&place, &server.url, &history);
        let head = "accept: text/event-stream\r\nlast-event-id: e1\r\n";
        assert!(request(&guard.url, "GET", head, "").1.contains("\"ok\\\":true"));
        let (_, other) = guard.post(&guard.url, "", &call(2, "other"));
        assert_eq!(other.contains("could not be read"), is_denied, "{other}");
    }
}

/// What the server does with the call of a client that has gone is not known, so the call stays pending.
#[test]
fn a_call_whose_client_goes_away_stays_pending() {
    let place = place();
    place.write(
        "rules.yaml",
        "schema: planproof/rules/v1\nrules: [{id: one, at-most: {done: pay, times: 1}}]\n",
    );
    for session in ["", "mcp-session-id: s\r\n"] {
        let server = Upstream::serving(|request, stream| {
            thread::sleep(Duration::from_millis(300));
            let result = result_of(request);
            let head = format!("content-type: application/json\r\ncontent-length: {}", result.len());
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{result}").as_bytes()).is_ok()
        });
        let guard = Guard::start(&place, &server.url, "--enforce --session url");
        let head = format!("content-type: application/json\r\n{session}");
        let gone = send_request(&guard.at("a"), "POST", &head, call(1, "pay").as_bytes());
        until("the call has reached the server", || (server.messages().len() == 1).then_some(()));
        drop(gone);
        // Another client of the session is notified, before and after the server has answered nobody.
        for (number, wait) in [(2, 0), (3, 500)] {
            thread::sleep(Duration::from_millis(wait));
            let (_, said) = guard.post(&guard.at("a"), session, &call(number, "pay"));
            assert!(said.contains("denied by rule one"), "{session}{said}");
        }
        // Another session is not concerned.
        assert!(guard.post(&guard.at("b"), session, &call(4, "pay")).1.contains("ok"));
        assert_eq!(server.messages().len(), 2);
        let (code, said) = guard.end("TERM");
        assert_eq!(code, Some(0), "{said}");
        let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
        let end = log.iter().rfind(|line| line["session"].as_str().unwrap().ends_with("/a")).unwrap();
        assert_eq!((&end["kind"], &end["pending"]), (&json!("end"), &json!([1])), "{end}");
    }
}

/// Over HTTP, too, all guards of a session have one history.
#[test]
fn a_history_is_shared_with_hooks_and_outlives_the_guard() {
    let (place, server) = (place(), Upstream::start(AS_JSON));
    let hook = |session: &str, tool: &str| -> bool {
        let words = [
            "hook",
            "claude-code",
            "--rules",
            "rules.yaml",
            "--enforce",
            "--history",
            "h.db",
            "--session-name",
            session,
        ];
        let payload = json!({"session_id": "x", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": {"id": 1}, "tool_use_id": tool});
        Run::of(place.command(&words), &payload.to_string()).code(0).out.is_empty()
    };
    let guard = Guard::start(&place, &server.url, "--enforce --session url --history h.db");
    assert!(!hook("one", "pay"), "nobody has looked");
    guard.call(1, "look");
    // What the guard has learnt, the hook knows, in the same session alone.
    assert!(hook("one", "pay") && !hook("two", "pay"));
    guard.end("KILL");
    // And the next guard knows it.
    let guard = Guard::start(&place, &server.url, "--enforce --session url --history h.db");
    assert_eq!(guard.call(2, "pay")["result"]["isError"], Value::Null);
    let (_, other) = guard.post(&guard.at("two"), "", &call(3, "pay"));
    assert!(other.contains("denied by rule look-first"), "{other}");
    guard.end("TERM");
    // With one session for all requests, its name is that of the command line.
    let guard = Guard::start(&place, &server.url, "--enforce --history h.db --session-name one");
    assert_eq!(guard.post(&guard.url, "", &call(4, "pay")).1.matches("isError").count(), 0);
    guard.end("TERM");
    place.run("guard replay h.db --rules rules.yaml").code(0);
    // What is no history is refused before anything listens.
    let line = format!("guard --rules rules.yaml --to {} --listen 127.0.0.1:0 --session url", server.url);
    place.run(&format!("{line} --history rules.yaml")).code(2);
}

#[test]
fn sessions_are_named_as_asked_for() {
    let (place, server) = (place(), Upstream::start(AS_JSON));
    let looked_and_paid = |guard: &Guard, [looks, pays]: [&str; 2]| {
        guard.post(&guard.url, looks, &call(1, "look"));
        guard.post(&guard.url, pays, &call(2, "pay")).1.contains("denied")
    };
    // The address as it is printed names no session: all who paste it would share one.
    let guard = Guard::start(&place, &server.url, "--enforce --session url");
    assert!(guard.url.ends_with("/mcp/SESSION"), "{}", guard.url);
    let (_, body) = guard.post(&guard.url, "", &call(1, "look"));
    assert!(body.contains("a name of your own for the conversation instead of SESSION"), "{body}");
    assert!(guard.post(&guard.at("SESSION-1"), "", &call(1, "look")).1.contains("\"result\""));
    let guard = Guard::start(&place, &server.url, "--enforce --session header:X-Ticket");
    assert!(!looked_and_paid(&guard, ["x-ticket: 1\r\n"; 2]));
    assert!(looked_and_paid(&guard, ["x-ticket: 2\r\n", "x-ticket: 3\r\n"]));
    assert_eq!(guard.post(&guard.url, "", &call(3, "look")).0, 400);
    let guard = Guard::start(&place, &server.url, "--enforce --session auth");
    assert!(!looked_and_paid(&guard, ["authorization: Bearer secret-1\r\n"; 2]));
    assert!(looked_and_paid(
        &guard,
        ["authorization: Bearer secret-2\r\n", "authorization: Bearer secret-3\r\n"]
    ));
    // One login, however it is written.
    let written =
        ["Bearer", "bearer ", "BEARER\t"].map(|scheme| format!("authorization: {scheme} secret-4 \r\n"));
    assert!(!looked_and_paid(&guard, [&written[0], &written[1]]));
    assert!(!looked_and_paid(&guard, [&written[2], &written[0]]));
    assert!(looked_and_paid(
        &guard,
        ["authorization: bearer secret-5\r\n", "authorization: bearer SECRET-5\r\n"]
    ));
    assert_eq!(guard.post(&guard.url, "", &call(3, "look")).0, 401);
    drop(guard.end("TERM"));
    assert!(!std::fs::read_to_string(place.path("log.jsonl")).unwrap().contains("secret"));
    // A session of the protocol that a client makes up is none to the rules.
    let guard = Guard::start(&place, &server.url, "--enforce");
    assert!(!looked_and_paid(&guard, ["mcp-session-id: a\r\n", "mcp-session-id: b\r\n"]));
}

#[test]
fn rules_are_in_modes_of_their_own() {
    let (place, server) = (place(), Upstream::start(AS_JSON));
    place.write(
        "rules.yaml",
        &RULES.replace("never: {call: refund},", "never: {call: refund}, mode: shadow,"),
    );
    let guard = Guard::start(&place, &server.url, "");
    assert_eq!(guard.post(&guard.url, "", &call(1, "refund")).1.matches("isError").count(), 0);
    assert!(guard.post(&guard.url, "", &call(2, "pay")).1.contains("denied by rule look-first"));
    let (_, said) = guard.end("TERM");
    assert!(
        said.contains("\nguard: would be rejected: refund ")
            && said.contains(": The call would be denied by rule no-refunds"),
        "{said}"
    );
    let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
    let decisions = log.iter().filter(|line| line["kind"] == "decision");
    let modes: Vec<_> = decisions.map(|line| (&line["action"], &line["mode"])).collect();
    assert_eq!(modes, [(&json!("noted"), &json!("shadow")), (&json!("blocked"), &json!("enforce"))]);
    place.run("guard replay log.jsonl --rules rules.yaml").code(0);
}

#[test]
fn shadow_mode_only_notes_and_a_killed_guard_has_logged_what_it_passed_on() {
    let (place, server) = (place(), Upstream::start(AS_JSON));
    let guard = Guard::start(&place, &server.url, "--shadow");
    for number in 1..20 {
        guard.post(&guard.url, "", &call(number, "refund"));
    }
    guard.end("KILL");
    let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
    let noted = log.iter().filter(|line| line["action"] == "noted").count();
    assert_eq!((noted, server.messages().len()), (19, 19));
}

#[test]
fn a_wrong_command_line_is_refused() {
    let place = place();
    for (more, said) in [
        ("--to http://127.0.0.1:9/ --listen 0.0.0.0:80", "this machine alone"),
        ("--to ftp://h/ --listen 127.0.0.1:0", "write http://HOST/PATH"),
        ("--to http://u:p@h/ --listen 127.0.0.1:0", "leave the user out"),
        ("--to http://h/ --listen 127.0.0.1:0 --session cookie", "write url, header:NAME or auth"),
        ("--to http://h/", "--listen"),
        ("--to http://h/ --listen 127.0.0.1:0 -- server", "--to"),
        ("--to http://h/ --listen 127.0.0.1:0 --history h.db", "--history needs the name of the session"),
        ("--to http://h/ --listen 127.0.0.1:0 --history h.db --session url --session-name x", "--session"),
    ] {
        let run = place.run(&format!("guard --rules rules.yaml --enforce {more}")).code(2);
        assert!(run.err.contains(said), "{more}: {run:?}");
    }
}

/// No file says that a guard listens at an address, so `doctor --try` asks there.
#[test]
fn doctor_finds_a_guard_that_listens_at_a_servers_address() {
    let (user, server) = (User::new(), Upstream::start(AS_JSON));
    let name = "project/.vscode/mcp.json";
    std::fs::create_dir_all(user.path("project/.vscode")).unwrap();
    let configure = |url: &str| {
        let server = json!({"type": "http", "url": url, "headers": {"X-Key": "a-secret-of-mine"}});
        user.place.write(name, &json!({"servers": {"shop": server}}).to_string());
    };
    let doctor = |line: &str, code: i32| {
        let run = user.run(line).code(code);
        assert!(!format!("{run:?}").contains("a-secret"), "{run:?}");
        let document: Value = serde_json::from_str(&run.out).unwrap();
        let way = document["ways"].as_array().unwrap().iter().find(|way| way["server"] == "shop").unwrap();
        (way["state"].as_str().unwrap().to_owned(), way["reason"].as_str().unwrap().to_owned())
    };
    let tried = "doctor --json --try --yes --project";
    for (mode, state) in [("--enforce", "enforced"), ("--shadow", "advisory")] {
        let guard = Guard::start(&user.place, &server.url, &format!("{mode} --session header:X-Key"));
        configure(&guard.url);
        assert_eq!(doctor("doctor --json", 1).0, "unguarded");
        let (_, untried) = doctor("doctor --json --try --yes", 1);
        assert!(untried.contains("name --project"), "{untried}");
        // VS Code's own tools have no hook, so not all ways are enforced.
        let (found, reason) = doctor(tried, 1);
        assert!(found == state && reason.contains("a guard listens"), "{found}: {reason}");
    }
    assert!(server.messages().is_empty(), "{:?}", server.messages());
    // What listens there may be the server itself, nothing at all, or on another machine.
    configure(&server.url);
    assert_eq!(
        doctor(tried, 1),
        ("unguarded".to_owned(), "what listens at the server's address is not a guard".to_owned())
    );
    configure("http://127.0.0.1:1/mcp");
    let (state, reason) = doctor(tried, 1);
    assert!(state == "unguarded" && reason.contains("nothing answers"), "{reason}");
    for (url, expected) in [
        ("https://shop.example/mcp", "another machine"),
        ("https://127.0.0.1/mcp", "https on this machine"),
        ("HTTP://LOCALHOST:1/mcp", "nothing answers"),
        ("http://localhost.:1/mcp", "nothing answers"),
        ("http://[::ffff:127.0.0.1]:1/mcp", "nothing answers"),
        ("file:///etc/passwd", "not one of http or https"),
        ("", "not one of http or https"),
    ] {
        configure(url);
        let (state, reason) = doctor(tried, 1);
        assert!(state == "unguarded" && reason.contains(expected), "{url}: {reason}");
    }
    // Where a guard listens, and serves another address.
    let guard = Guard::start(&user.place, &server.url, "--enforce --session url");
    configure(&guard.url.replace("/SESSION", ""));
    let (state, reason) = doctor(tried, 1);
    assert!(state == "unguarded" && reason.contains("a guard listens there, and refuses"), "{reason}");
}

/// A call that never left this machine has failed, and is not waited for.
#[test]
fn a_call_that_did_not_reach_the_server_has_failed() {
    let place = place();
    place.write(
        "rules.yaml",
        "schema: planproof/rules/v1\nrules: [{id: once, at-most: {done: pay, times: 1}}]\n",
    );
    let guard = Guard::start(&place, "http://127.0.0.1:1/mcp", "--enforce");
    for number in 1..4 {
        let (status, answer) = guard.post(&guard.url, "", &call(number, "pay"));
        assert!(status == 502 && answer.contains("cannot be reached"), "{status}: {answer}");
    }
    let (_, said) = guard.end("TERM");
    assert!(said.contains("cannot be reached"), "{said}");
    let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
    assert_eq!(log.iter().filter(|line| line["is_error"] == true).count(), 3, "{log:?}");
}

#[test]
fn what_would_not_guard_is_refused_at_the_start() {
    let place = place();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (to, token, expected) in [
        (format!("http://127.0.0.1:{port}/mcp"), None, "is where this guard listens"),
        (format!("http://localhost:{port}"), None, "is where this guard listens"),
        ("http://u:a-secret-of-mine@h/".to_owned(), None, "leave the user out"),
        ("http://127.0.0.1:1/mcp".to_owned(), Some(""), "PLANPROOF_GUARD_TOKEN is set, and is not a token"),
        (
            "http://127.0.0.1:1/mcp".to_owned(),
            Some("a/b c"),
            "PLANPROOF_GUARD_TOKEN is set, and is not a token",
        ),
    ] {
        let line = format!("guard --rules rules.yaml --to {to} --listen 127.0.0.1:{port}");
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        if let Some(token) = token {
            command.env("PLANPROOF_GUARD_TOKEN", token);
        }
        let run = Run::of(command, "").code(2);
        assert!(run.err.contains(expected) && !run.err.contains("a-secret"), "{to}: {}", run.err);
    }
}
