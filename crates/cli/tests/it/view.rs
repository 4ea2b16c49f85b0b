//! `planproof view` and `--view`: a campaign is watched while another process runs it, which is killed and resumed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::stand_in::{StandIn, call, say, tools};
use crate::support::{Place, send};
use crate::until;

/// A server that another process started.
struct Viewed {
    child: Child,
    url: String,
}

impl Viewed {
    fn start(place: &Place, words: &[&str]) -> Self {
        let mut command = place.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: line.trim().to_owned() }
    }
}

impl Drop for Viewed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(url: &str) -> (TcpStream, String) {
    let rest = url.strip_prefix("http://").expect("is an address");
    let (host, path) = rest.split_at(rest.find('/').expect("has a path"));
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    (stream, host.to_owned())
}

fn page(url: &str) -> String {
    let mut text = Vec::new();
    connect(url).0.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// The states of a page until one is as wanted; the last one. An idle stream has comments, so the time is limited.
fn state_of(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    what: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Value {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        let line = lines.next().expect("the stream continues").unwrap();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        if is_wanted(data) {
            return serde_json::from_str(data).unwrap();
        }
    }
    panic!("no state with {what} came");
}

/// A model that calls the tools in their order, and takes its time for it until it has to hurry.
fn slow_model() -> (StandIn, Arc<AtomicBool>) {
    let hurries = Arc::new(AtomicBool::new(false));
    let in_a_hurry = Arc::clone(&hurries);
    let model = StandIn::start(move |number, request| {
        if !in_a_hurry.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(30));
        }
        let done = request["messages"]
            .as_array()
            .map_or(0, |messages| messages.iter().filter(|message| message["role"] == "tool").count());
        match tools(request).get(done) {
            Some(tool) => call(number, tool, "{}"),
            None => say("done"),
        }
    });
    (model, hurries)
}

#[test]
#[ignore = "slow"]
fn a_campaign_is_watched_while_it_runs_is_killed_and_resumes() {
    let place = Place::new();
    let (model, hurries) = slow_model();
    let words = ["test", "tools@openai/m", "--cases", "400", "--concurrency", "1", "--no-check", "-q"];
    let mut campaign = model.command(&place, &words);
    let mut campaign = campaign.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let store = place.path(".planproof/runs.db");
    until("the store is there", || store.exists().then_some(()));
    let id = until("the campaign is there", || {
        let run = place.run("runs list --json");
        let row: Value = serde_json::from_str(run.out.lines().next()?).ok()?;
        Some(row["run"].as_str()?.to_owned())
    });
    let viewed = Viewed::start(&place, &["view", "-q"]);
    let campaign_url = format!("{}0/{id}/", viewed.url);
    assert!(page(&viewed.url).contains("class=\"standing running\""));

    let (stream, _) = connect(&format!("{campaign_url}?live"));
    let mut lines = BufReader::new(stream).lines();
    let has_passed = |data: &str| {
        let passed = data.split("data-passed=\\\"").nth(1);
        passed.is_some_and(|passed| passed.starts_with(|it: char| ('1'..='9').contains(&it)))
    };
    let state = state_of(&mut lines, "a passed run", has_passed).to_string()
        + &state_of(&mut lines, "runs", |data| data.contains("data-unit")).to_string();
    assert!(state.contains("running"), "{state}");

    // A killed process leaves its lock behind, and still does not count as running.
    campaign.kill().unwrap();
    campaign.wait().unwrap();
    let state = state_of(&mut lines, "`stopped`", |data| data.contains("stopped"));
    assert!(state["parts"]["figures"]["html"].to_string().contains("value\\\">stopped<"), "{state}");
    drop(viewed);
    // With its end, or because the connection was reset.
    while lines.next().is_some_and(|line| line.is_ok()) {}

    // The address of a server that has ended is of no use for the next one.
    let again = Viewed::start(&place, &["view", "-q"]);
    assert_ne!(again.url.split('/').nth(3), campaign_url.split('/').nth(3));
    hurries.store(true, Ordering::Relaxed);
    let mut resumed = model.command(&place, &["test", "--resume", "last", "-q", "--json", "--no-check"]);
    let report: Value = serde_json::from_slice(&resumed.output().unwrap().stdout).unwrap();
    let shown = page(&format!("{}0/{id}/", again.url));
    for (name, value) in [("passed", &report["passed"]), ("low", &report["low"]), ("high", &report["high"])] {
        assert!(shown.contains(&format!("data-{name}=\"{value}\"")), "{name} {value}: {shown}");
    }
    assert!(page(&format!("{}0/{id}/0/0", again.url)).contains("data-state="));
    assert!(page(&format!("{}0/{id}/report", again.url)).contains("Key figures"));
    let mut ended = again;
    send(&ended.child, "INT");
    assert_eq!(ended.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_campaign_shows_itself_until_it_ends() {
    let place = Place::new();
    let (model, _) = slow_model();
    let words =
        ["test", "tools@openai/m", "--cases", "3", "--concurrency", "1", "--no-check", "-q", "--view"];
    let mut command = model.command(&place, &words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("view ").expect("is the address").to_owned();
    let (stream, _) = connect(&format!("{url}?live"));
    let lines: Vec<String> = BufReader::new(stream).lines().map_while(Result::ok).collect();
    let states: Vec<&String> = lines.iter().filter(|line| line.starts_with("data: {\"name\"")).collect();
    assert!(states.len() > 1, "{lines:?}");
    let last = states.iter().rev().find(|state| state.contains("figures")).expect("has figures");
    assert!(last.contains("of 3 scored runs"), "{last}");
    let kinds: Vec<&String> = lines.iter().filter(|line| line.starts_with("event: ")).collect();
    assert_eq!(kinds.last().map(|kind| kind.as_str()), Some("event: ended"), "{kinds:?}");
    child.wait().unwrap();
}

#[test]
fn what_cannot_be_shown_is_said_before_anything_is_served() {
    let place = Place::new();
    place.write("text", "no database");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    place.run("test tools@sim/perfect --cases 1 -q").code(0);
    for (line, code, error) in [
        ("view --store missing.db".to_owned(), 2, "error: there is no run store missing.db"),
        ("view --store text".to_owned(), 2, "error: text is not a planproof run store"),
        ("view --store .".to_owned(), 2, "error: --store . is a folder"),
        (format!("view --port {port}"), 3, "error: cannot listen on 127.0.0.1:"),
        (format!("view{}", " --store a.db".repeat(65)), 2, "error: --store is given 65 times"),
    ] {
        let run = place.run(&line).code(code);
        assert!(run.err.starts_with(error) && run.err.lines().count() == 1, "{run:?}");
    }
}
