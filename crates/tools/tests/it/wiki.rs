//! `search` and `lookup` over a stand-in for a wiki's API, well-behaved and otherwise.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use planproof_tools::pages::{ANSWER_BYTES_MAX, Dialect, SearchTools, Style, Wiki};
use planproof_tools::{ClientLimits, ToolSource, Toolbox};
use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

/// A request: its parameters, and its head in small letters.
#[derive(Debug, Clone)]
struct Seen {
    parameters: Vec<(String, String)>,
    head: String,
}

impl Seen {
    fn get(&self, key: &str) -> &str {
        let found = self.parameters.iter().find(|(other, _)| other == key);
        found.map_or("", |(_, value)| value)
    }

    /// What is asked for, as in `page Orra` or `search orra`.
    fn summary(&self) -> String {
        let title = self.get("titles").trim_start_matches('\u{1f}');
        match (self.get("prop"), self.get("list"), self.get("meta")) {
            ("extracts|pageprops", ..) => format!("page {title}"),
            ("links", ..) => format!("links {title}"),
            (_, "search", _) => format!("search {}", self.get("srsearch")),
            (.., "siteinfo") => "siteinfo".to_owned(),
            _ => format!("{self:?}"),
        }
    }
}

type Answer = dyn Fn(&Seen) -> String + Send + Sync;

struct StandIn {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl StandIn {
    fn start(answer: impl Fn(&Seen) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/w/api.php", listener.local_addr().unwrap());
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

    fn tools(&self, dialect: Dialect) -> SearchTools {
        self.tools_within(dialect, Duration::from_secs(60))
    }

    fn tools_within(&self, dialect: Dialect, time_max: Duration) -> SearchTools {
        SearchTools::new(Arc::new(Wiki::new(&self.url).unwrap()), Style::new(dialect), time_max)
    }

    /// What was asked for since the last time.
    fn asked(&self) -> Vec<String> {
        self.seen.lock().unwrap().drain(..).map(|seen| seen.summary()).collect()
    }
}

fn converse(mut connection: TcpStream, kept: &Mutex<Vec<Seen>>, answer: &Answer) {
    while let Some(seen) = read_request(&mut connection) {
        kept.lock().unwrap().push(seen.clone());
        let text = answer(&seen);
        if text.is_empty() || connection.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read_request(connection: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while !bytes.ends_with(b"\r\n\r\n") {
        match connection.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
    let text = String::from_utf8(bytes).unwrap();
    let path = text.strip_prefix("GET /w/api.php?").unwrap().split(' ').next().unwrap();
    let parameters = path.split('&').map(|pair| {
        let (key, value) = pair.split_once('=').unwrap();
        (key.to_owned(), decoded(value))
    });
    Some(Seen { parameters: parameters.collect(), head: text.to_lowercase() })
}

/// Undoes the percent-encoding, by hand.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

fn json_answer(body: &Value) -> String {
    http("200 OK", "content-type: application/json; charset=utf-8\r\n", &body.to_string())
}

fn page(title: &str, text: &str) -> Value {
    json!({"batchcomplete": true, "query": {"pages": [{"pageid": 7, "ns": 0, "title": title, "extract": text}]}})
}

/// Answers of the shape that MediaWiki's have (`formatversion=2`).
fn wiki(seen: &Seen) -> String {
    assert_eq!((seen.get("action"), seen.get("format"), seen.get("formatversion")), ("query", "json", "2"));
    let summary = seen.summary();
    json_answer(&match summary.as_str() {
        "siteinfo" => json!({"batchcomplete": true, "query": {"extensions": [
            {"type": "other", "name": "PageImages"}, {"type": "api", "name": "TextExtracts", "version": "1"}]}}),
        "page Orra" => {
            page("Orra", "The Orra is a river. It is 112 km long.\n\n\n== Course ==\nIt rises in Vell.")
        }
        // The wiki itself follows its redirects.
        "page River Orra" => {
            let mut answer = page("Orra", "The Orra is a river.");
            answer["query"]["redirects"] = json!([{"from": "River Orra", "to": "Orra"}]);
            answer
        }
        "page Lind" => {
            json!({"batchcomplete": true, "query": {"pages": [{"pageid": 8, "ns": 0, "title": "Lind",
            "extract": "Lind may refer to:\nLind, a town\nJo Lind, a singer", "pageprops": {"disambiguation": ""}}]}})
        }
        "links Lind" => json!({"continue": {"plcontinue": "x"}, "query": {"pages": [{"pageid": 8, "ns": 0,
            "title": "Lind", "links": [{"ns": 0, "title": "Jo Lind"}, {"ns": 0, "title": "Lind (town)"}]}]}}),
        "page [Lind]" | "page a|b" => json!({"batchcomplete": true, "query": {"pages": [
            {"title": "x", "invalidreason": "it has the character |", "invalid": true}]}}),
        "search [Lind]" => {
            json!({"batchcomplete": true, "query": {"searchinfo": {"totalhits": 1}, "search": [
            {"ns": 0, "title": "Lind's law", "pageid": 9}]}})
        }
        "search ORRA" => json!({"batchcomplete": true, "query": {"search": [
            {"ns": 0, "title": "Orra (film)", "pageid": 3}, {"ns": 0, "title": "Orra", "pageid": 7}]}}),
        "search many" => {
            let hits: Vec<Value> = (1..9).map(|n| json!({"ns": 0, "title": format!("Hit {n}")})).collect();
            json!({"query": {"search": hits}})
        }
        summary if summary.starts_with("search ") => json!({"batchcomplete": true, "query": {"search": []}}),
        _ => json!({"batchcomplete": true, "query": {"pages": [{"ns": 0, "title": "x", "missing": true}]}}),
    })
}

async fn ask(tools: &dyn Toolbox, line: &str) -> String {
    let (name, text) = line.split_once(' ').unwrap();
    let key = if name == "search" { "title" } else { "text" };
    let arguments = Arguments::from_text(&json!({key: text}).to_string());
    let result = tools.execute(&ToolCall { id: CallId::new("c1"), name: name.to_owned(), arguments }).await;
    if result.is_error { format!("! {}", result.text) } else { result.text }
}

#[tokio::test]
async fn a_session_with_a_wiki() {
    let server = StandIn::start(wiki);
    let tools = server.tools(Dialect::Own);
    let session: [(&str, &str, &[&str]); 10] = [
        ("search Orra", "The Orra is a river. It is 112 km long. It rises in Vell.", &["page Orra"]),
        ("lookup vell", "(Result 1 / 1) It rises in Vell.", &[]),
        ("search River Orra", "The Orra is a river.", &["page River Orra"]),
        (
            "search ORRA",
            "The Orra is a river. It is 112 km long. It rises in Vell.",
            &["page ORRA", "search ORRA", "page Orra"],
        ),
        (
            "search Lind",
            "Lind may refer to several pages. Search for one of them: Jo Lind; Lind (town).",
            &["page Lind", "links Lind"],
        ),
        ("lookup km", "(Result 1 / 1) It is 112 km long.", &[]),
        (
            "search many",
            "Could not find many. Similar: Hit 1; Hit 2; Hit 3; Hit 4; Hit 5.",
            &["page many", "search many"],
        ),
        ("search a|b", "Could not find a|b. There are no similar titles.", &["page a|b", "search a|b"]),
        (
            "search é&format=xml#%00 + \u{1f600}",
            "Could not find é&format=xml#%00 + \u{1f600}. There are no similar titles.",
            &["page é&format=xml#%00 + \u{1f600}", "search é&format=xml#%00 + \u{1f600}"],
        ),
        ("search \0", "Could not find \0. There are no similar titles.", &[]),
    ];
    for (line, answer, asked) in session {
        assert_eq!(ask(&tools, line).await, answer, "{line}");
        assert_eq!(server.asked(), asked, "{line}");
    }
    ask(&tools, "search Orra").await;
    let seen = server.seen.lock().unwrap().pop().unwrap();
    assert!(seen.head.contains("\r\nuser-agent: planproof/"), "{}", seen.head);
}

#[tokio::test]
async fn the_published_dialects_read_a_wiki_too() {
    let server = StandIn::start(wiki);
    let tools = server.tools(Dialect::React);
    assert_eq!(
        ask(&tools, "search Lind").await,
        "Could not find [Lind]. Similar: [\"Lind's law\"].".replace("[Lind]", "Lind")
    );
    assert_eq!(server.asked(), ["page Lind", "links Lind", "page [Lind]", "search [Lind]"]);
    let tools = server.tools(Dialect::Ibm);
    assert_eq!(
        ask(&tools, "search Lind").await,
        "Could not find 'Lind'. Similar: ['Jo Lind', 'Lind (town)']"
    );
    assert_eq!(ask(&tools, "search Orra").await, "The Orra is a river. It is 112 km long..");
    assert_eq!(ask(&tools, "lookup Vell").await, "No more results.");
}

#[tokio::test]
async fn faults_of_a_server_are_results() {
    let failed = |reason: &str| format!("! the wiki could not be searched: {reason}");
    let large = format!("{{\"x\": \"{}\"}}", "x".repeat(ANSWER_BYTES_MAX));
    for (answer, text) in [
        (String::new(), failed("the connection broke: connection closed before message completed")),
        (
            http("200 OK", "", "<html>\n not\tfound"),
            failed(
                "its answer is not that of a wiki (expected value at line 1 column 1); it begins with: <html> not found",
            ),
        ),
        (
            json_answer(&json!({"error": {"code": "maxlag", "info": "Waiting for a server", "docref": "x"}})),
            failed("it answered with the error maxlag: Waiting for a server"),
        ),
        (json_answer(&json!({})), "Could not find Orra. There are no similar titles.".to_owned()),
        (http("200 OK", "", &large), failed(&format!("its answer is longer than {ANSWER_BYTES_MAX} bytes"))),
        (
            http("301 Moved Permanently", "location: https://h/w/api.php\r\n", ""),
            failed("it answered 301 Moved Permanently and sends us to https://h/w/api.php; give that URL"),
        ),
        (http("404 Not Found", "", "no"), failed("it answered 404 Not Found")),
        (
            http("429 Too Many Requests", "retry-after: 120\r\n", ""),
            failed("it answered 429 Too Many Requests, and asks us to wait for 120s"),
        ),
        (
            http("429 Too Many Requests", "retry-after: 0\r\n", ""),
            failed("it answered 429 Too Many Requests, and asks us to wait for 0ns"),
        ),
    ] {
        let server = StandIn::start(move |_| answer.clone());
        let tools = server.tools(Dialect::Own);
        assert_eq!(ask(&tools, "search Orra").await, text);
        // One failure is not the end.
        assert_eq!(ask(&tools, "search Orra").await, text);
    }
    // A text in the wrong place is not repeated as a whole.
    let misplaced = json_answer(&json!({"query": "x".repeat(1 << 20)}));
    let server = StandIn::start(move |_| misplaced.clone());
    let tools = server.tools(Dialect::Own);
    let answer = ask(&tools, "search Orra").await;
    let outage = tools.outage().unwrap();
    assert!(answer.contains("invalid type: string") && outage.len() < 1000, "{} bytes", outage.len());
    // Taken, and nobody listens: a port that is only free may become another test's.
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = taken.local_addr().unwrap().port();
    let wiki = Wiki::new(&format!("http://127.0.0.1:{port}/api.php")).unwrap();
    let tools = SearchTools::new(Arc::new(wiki), Style::default(), Duration::from_secs(60));
    let answer = ask(&tools, "search Orra").await;
    assert!(answer.starts_with(&failed("it cannot be reached: Connection refused")), "{answer}");
}

#[tokio::test]
async fn a_server_that_asks_to_wait_is_asked_again() {
    let count = Mutex::new(0);
    let server = StandIn::start(move |seen| {
        let mut count = count.lock().unwrap();
        *count += 1;
        match *count {
            1 => http("429 Too Many Requests", "retry-after: 0\r\n", ""),
            2 => http("503 Service Unavailable", "retry-after: 0\r\n", ""),
            _ => wiki(seen),
        }
    });
    assert!(ask(&server.tools(Dialect::Own), "search Orra").await.starts_with("The Orra"));
    assert_eq!(server.asked(), ["page Orra"; 3]);
}

#[tokio::test]
async fn a_slow_server_is_not_waited_for() {
    let server = StandIn::start(|_| {
        thread::sleep(Duration::from_secs(60));
        String::new()
    });
    let tools = server.tools_within(Dialect::Own, Duration::from_millis(200));
    assert_eq!(ask(&tools, "search Orra").await, "! the search did not end within 200ms");
}

#[tokio::test]
async fn a_wiki_is_a_source_of_tools() {
    let open = async |server: &StandIn| {
        let source = ToolSource::parse(&format!("wiki+1:{}", server.url), |_| None).unwrap();
        source.open(ClientLimits::default(), None).await
    };
    let server = StandIn::start(wiki);
    let source = open(&server).await.unwrap();
    assert_eq!(server.asked(), ["siteinfo"]);
    assert_eq!(ask(&**source.toolbox(), "search Orra").await, "The Orra is a river.");
    assert!(
        source.toolbox().tools()[0].description.starts_with("Searches the wiki at 127.0.0.1 for the page")
    );

    for (answer, text) in [
        (http("404 Not Found", "", ""), "the wiki cannot be asked: it answered 404 Not Found"),
        (
            json_answer(&json!({"query": {"extensions": [{"name": "Cite"}]}})),
            "the wiki cannot be asked: it lacks the extension TextExtracts, which makes plain text of pages",
        ),
    ] {
        let server = StandIn::start(move |_| answer.clone());
        let error = open(&server).await.unwrap_err();
        assert!(!error.is_usage());
        assert_eq!(error.to_string(), format!("wiki+1:{}: {text}", server.url));
    }
}
