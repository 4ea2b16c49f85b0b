//! One decision everywhere: random sessions over random rules through the real proxy, in both eras of the protocol, and
//! through a real process of a hook for each event. The tests of `planproof-guard` compare such decisions with the
//! definitions.
#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use planproof_guard::{AskedCall, GuardedSession};
use planproof_spec::rules::RuleSet;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::guarded::count;
use crate::sessions::{Move, PENDING_MAX, a_move, file};
use crate::support::{Place, Run};

/// Longest wait for a line.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A line, and who got it.
enum Got {
    Client(String),
    Server(String),
    /// The server gets no more.
    Over,
}

/// A guard between a client and a server, both of which are the test.
struct Proxy {
    child: Child,
    client: ChildStdin,
    server: File,
    got: Receiver<Got>,
    is_newer: bool,
}

fn hand_on(from: impl std::io::Read + Send + 'static, to: Sender<Got>, got: fn(String) -> Got) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            let Ok(line) = line else { return };
            if to.send(got(line)).is_err() {
                return;
            }
        }
        let _ = to.send(Got::Over);
    });
}

impl Proxy {
    fn start(place: &Place, name: &str, is_newer: bool) -> Self {
        let fifo = |end: &str| place.path(&format!("{name}.{end}"));
        for end in ["in", "out"] {
            assert!(Command::new("mkfifo").arg(fifo(end)).status().unwrap().success());
        }
        let script = format!("cat {name}.out & exec cat > {name}.in");
        let log = format!("{name}.jsonl");
        let words =
            ["guard", "--rules", "rules.yaml", "--enforce", "-q", "--log", &log, "--", "sh", "-c", &script];
        let mut command = place.command(&words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, got) = channel();
        hand_on(child.stdout.take().unwrap(), to.clone(), Got::Client);
        // Each opening waits for the server's.
        let server = File::options().write(true).open(fifo("out")).unwrap();
        hand_on(File::open(fifo("in")).unwrap(), to, Got::Server);
        let client = child.stdin.take().unwrap();
        let mut proxy = Self { child, client, server, got, is_newer };
        if !is_newer {
            proxy.say(r#"{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{}}"#);
            assert!(matches!(proxy.next(), Got::Server(_)));
            proxy.answer(r#"{"jsonrpc":"2.0","id":"hi","result":{}}"#);
        }
        proxy
    }

    fn next(&self) -> Got {
        self.got.recv_timeout(WAIT_MAX).unwrap()
    }

    fn say(&mut self, line: &str) {
        writeln!(self.client, "{line}").unwrap();
    }

    /// The server's answer, which reaches the client as it is.
    fn answer(&mut self, line: &str) {
        writeln!(self.server, "{line}").unwrap();
        match self.next() {
            Got::Client(got) => assert_eq!(got, line),
            Got::Server(other) => panic!("the server got {other}"),
            Got::Over => panic!("the session is over"),
        }
    }

    /// Whether a call reaches the server, which gets it as it is.
    fn is_approved(&mut self, number: u64, tool: &str, arguments: &Value) -> bool {
        let mut params = json!({"name": tool, "arguments": arguments});
        if self.is_newer {
            params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        }
        let line =
            json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).to_string();
        self.say(&line);
        match self.next() {
            Got::Server(got) => {
                assert_eq!(got, line);
                true
            }
            Got::Client(answer) => {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(number), &json!(true)));
                assert_eq!(answer["result"]["resultType"] == "complete", self.is_newer);
                false
            }
            Got::Over => panic!("the session is over"),
        }
    }

    fn finish(&mut self, number: u64, is_error: bool, text: &str) {
        let result = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
        self.answer(&json!({"jsonrpc": "2.0", "id": number, "result": result}).to_string());
    }

    fn end(self) {
        let Self { mut child, client, server, got, .. } = self;
        drop(client);
        // A server that goes first would be said to have ended by itself.
        assert!(matches!(got.recv_timeout(WAIT_MAX).unwrap(), Got::Over));
        drop(server);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

/// A process of a hook for an event. Gives whether it denies nothing.
fn hook(place: &Place, name: &str, number: u64, tool: &str, arguments: &Value, outcome: &Value) -> bool {
    let words = ["hook", "claude-code", "--rules", "rules.yaml", "--enforce", "--state", "state"];
    let payload = json!({"session_id": "s", "hook_event_name": name, "tool_name": tool, "tool_input": arguments,
        "tool_use_id": number.to_string(), "tool_response": outcome, "error": outcome.to_string()});
    Run::of(place.command(&words), &payload.to_string()).code(0).out.is_empty()
}

/// Has everything decide on a session. Gives how many calls were approved, and how many were not.
fn compare(text: &str, moves: &[Move]) -> (usize, usize) {
    let place = Place::new();
    let text = format!("schema: planproof/rules/v1\nrules:\n{text}");
    place.write("rules.yaml", &text);
    let rules = Arc::new(RuleSet::read(&text).unwrap_or_else(|faults| panic!("{text}: {}", faults[0])));
    let mut session = GuardedSession::new(&rules);
    let mut proxies = [("older", false), ("newer", true)].map(|(name, is)| Proxy::start(&place, name, is));
    let (mut pending, mut approved, mut rejected) = (Vec::new(), 0, 0);
    for step in moves {
        match step {
            Move::Ask(..) if pending.len() >= PENDING_MAX => {}
            Move::Ask(tool, arguments) => {
                let ruling = session.decide(AskedCall { server: None, tool, arguments });
                let (number, expected) = (ruling.number, ruling.refusal.is_none());
                let what = || format!("{tool} {arguments} as call {number} by\n{text}{moves:?}");
                for proxy in &mut proxies {
                    let is_approved = proxy.is_approved(number, tool, arguments);
                    assert_eq!(is_approved, expected, "the proxy, {}: {}", proxy.is_newer, what());
                }
                let is_approved = hook(&place, "PreToolUse", number, tool, arguments, &Value::Null);
                assert_eq!(is_approved, expected, "the hook: {}", what());
                if expected {
                    approved += 1;
                    pending.push((number, *tool, arguments));
                } else {
                    rejected += 1;
                }
            }
            Move::Finish(place_of, is_error, outcome) => {
                if pending.is_empty() {
                    continue;
                }
                let (number, tool, arguments) = pending.remove(place_of % pending.len());
                session.finished(number, *is_error, outcome);
                let text = outcome.as_str().map_or_else(|| outcome.to_string(), str::to_owned);
                for proxy in &mut proxies {
                    proxy.finish(number, *is_error, &text);
                }
                let event = if *is_error { "PostToolUseFailure" } else { "PostToolUse" };
                assert!(hook(&place, event, number, tool, arguments, outcome));
            }
        }
    }
    proxies.into_iter().for_each(Proxy::end);
    // The logs lead to the same decisions once more.
    if approved + rejected > 0 {
        place.run("guard replay older.jsonl --rules rules.yaml").code(0);
    }
    (approved, rejected)
}

/// So many sessions as `PLANPROOF_GUARD_SESSIONS` says.
#[test]
#[ignore = "slow"]
fn one_decision_in_the_proxy_and_at_hooks() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[43; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let session = (file(), prop::collection::vec(a_move(), 0..16));
    let (mut approved, mut rejected) = (0, 0);
    for _ in 0..count("PLANPROOF_GUARD_SESSIONS", 10) {
        let (text, moves) = session.new_tree(&mut runner).unwrap().current();
        let (made, denied) = compare(&text, &moves);
        approved += made;
        rejected += denied;
    }
    assert!(approved > 0 && rejected > 0, "{approved} approved, {rejected} rejected");
}
