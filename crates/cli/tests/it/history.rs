//! One history for all guards of a session: hooks, a process each, and the proxy before a server.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Place, Run};

/// Calls of `refund` that the rules allow.
const TIMES: usize = 3;

const RULES: &str = "schema: planproof/rules/v1\nrules:\n- {id: few, at-most: {call: refund, times: 3}}\n\
                     - {id: look-first, requires: {call: pay, done: look}}\n";

/// A server that answers every request that begins with a number as its id.
const SERVER: &str =
    r#"sed -u -n 's/^{.*"id":\([0-9][0-9]*\),.*/{"jsonrpc":"2.0","id":\1,"result":{"content":[]}}/p'"#;

fn words(mode: &'static str) -> [&'static str; 7] {
    ["hook", "claude-code", "--rules", "rules.yaml", mode, "--history", ".planproof/guard.db"]
}

fn event(name: &str, tool: &str, id: &str) -> String {
    json!({"session_id": "s", "hook_event_name": name, "tool_name": tool, "tool_input": {}, "tool_use_id": id,
        "tool_response": "ok"})
    .to_string()
}

fn hook(place: &Place, payload: &str) -> Run {
    Run::of(place.command(&words("--enforce")), payload).code(0)
}

fn start_hook(place: &Place, payload: &str) -> Child {
    let mut command = place.command(&words("--enforce"));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // One that is killed may not read it.
    let _ = child.stdin.take().unwrap().write_all(payload.as_bytes());
    child
}

/// The lines of the only session.
fn lines(place: &Place) -> Vec<Value> {
    let connection = Connection::open(place.path(".planproof/guard.db")).unwrap();
    let mut statement = connection.prepare("SELECT text FROM line ORDER BY session, number").unwrap();
    let lines = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

fn count(lines: &[Value], action: &str) -> usize {
    lines.iter().filter(|line| line["action"] == action).count()
}

#[test]
fn twenty_processes_decide_as_one() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let running: Vec<Child> = (0..20)
        .map(|number| start_hook(&place, &event("PreToolUse", "refund", &number.to_string())))
        .collect();
    let outputs: Vec<String> = running
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap()
        })
        .collect();
    assert_eq!(outputs.iter().filter(|said| said.is_empty()).count(), TIMES, "{outputs:?}");
    assert!(
        outputs.iter().filter(|said| !said.is_empty()).all(|said| said.contains("rule few")),
        "{outputs:?}"
    );
    let lines = lines(&place);
    assert_eq!((count(&lines, "passed"), count(&lines, "blocked")), (TIMES, 20 - TIMES));
    // It is a log like any other.
    let replayed = place.run("guard replay .planproof/guard.db --rules rules.yaml").code(0);
    assert!(replayed.out.contains("20 calls in 1 session"), "{}", replayed.out);
    place.run("check --rules rules.yaml .planproof/guard.db").code(0);
}

#[test]
fn a_kill_at_any_moment_neither_grants_a_call_nor_loses_one() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let mut approved = 0;
    for number in 0..40_u64 {
        let mut child = start_hook(&place, &event("PreToolUse", "refund", &number.to_string()));
        // Spread over what a hook takes, without a source of randomness.
        thread::sleep(Duration::from_micros(number * 7919 % 40_000));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        approved += usize::from(output.status.success() && output.stdout.is_empty());
    }
    hook(&place, &event("PreToolUse", "other", "last"));
    let passed =
        lines(&place).iter().filter(|it| it["action"] == "passed" && it["call"]["tool"] == "refund").count();
    // A process that was killed before it answered may have had its call approved: the agent did not make it.
    assert!(approved <= passed && passed <= TIMES, "{approved} {passed}");
    let left = (0..TIMES).filter(|number| {
        hook(&place, &event("PreToolUse", "refund", &format!("after-{number}"))).out.is_empty()
    });
    assert_eq!(left.count(), TIMES - passed);
}

/// A guard before a server, in the same session.
struct Proxy {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    id: u64,
}

impl Proxy {
    fn start(place: &Place) -> Self {
        let words = [
            "guard",
            "--rules",
            "rules.yaml",
            "--enforce",
            "--history",
            ".planproof/guard.db",
            "--session-name",
            "s",
            "--",
            "sh",
            "-c",
            SERVER,
        ];
        let mut command = place.command(&words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from, id: 0 }
    }

    /// Whether the server answers the call.
    fn call(&mut self, tool: &str) -> bool {
        self.id += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.id, "method": "tools/call",
            "params": {"name": tool, "arguments": {}}});
        writeln!(self.to, "{call}").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.id, "{answer}");
        answer["result"]["isError"] != true
    }

    fn end(mut self) {
        drop(self.to);
        self.child.wait().unwrap();
    }
}

#[test]
fn a_call_that_a_hook_and_a_proxy_see_counts_once() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let mut proxy = Proxy::start(&place);
    let before = |tool: &str, id: &str| hook(&place, &event("PreToolUse", tool, id)).out.is_empty();
    for number in 0..TIMES {
        let id = number.to_string();
        assert!(before("mcp__shop__refund", &id), "{number}");
        // The hook of a second configuration.
        assert!(before("mcp__shop__refund", &id), "{number}");
        assert!(proxy.call("refund"), "{number}");
        // The result, which the proxy has seen already.
        hook(&place, &event("PostToolUse", "mcp__shop__refund", &id));
    }
    // The canary: counted by each, it would have been too many long ago.
    assert!(!before("mcp__shop__refund", "4") && !proxy.call("refund"));
    let all = lines(&place);
    assert_eq!((count(&all, "passed"), count(&all, "continued")), (TIMES, TIMES), "{all:?}");
    assert_eq!(all.iter().filter(|line| line["kind"] == "result").count(), TIMES);
    // What one has learned, the other knows.
    assert!(!before("pay", "5"));
    assert!(proxy.call("look") && before("pay", "6"));
    assert!(proxy.call("pay"), "approved by the hook");
    // A call that comes by the proxy alone is one, and so is a second like it.
    assert!(proxy.call("pay"));
    let passed =
        lines(&place).iter().filter(|it| it["action"] == "passed" && it["call"]["tool"] == "pay").count();
    assert_eq!(passed, 2);
    proxy.end();
    place.run("guard replay .planproof/guard.db --rules rules.yaml").code(0);
}

#[test]
#[ignore = "slow"]
fn a_history_that_cannot_be_used_denies_or_only_warns() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let payload = event("PreToolUse", "look", "1");
    let denied = |fault: &str| {
        let run = hook(&place, &payload);
        assert!(run.out.contains("\"deny\"") && run.out.contains(fault), "{run:?}");
        let shadow = Run::of(place.command(&words("--shadow")), &payload).code(0);
        assert!(shadow.out.is_empty() && shadow.err.contains(fault), "{shadow:?}");
    };
    assert!(hook(&place, &payload).out.is_empty());
    let file = place.path(".planproof/guard.db");
    let lock = Connection::open(&file).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    denied("was locked by another program");
    lock.execute_batch("ROLLBACK").unwrap();
    lock.execute_batch("UPDATE line SET text = '{}'").unwrap();
    denied("line 1 of the session in the history");
    lock.execute_batch("DELETE FROM line; CREATE TABLE more (x)").unwrap();
    denied("its tables are not those of a history");
    drop(lock);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(place.path(&format!(".planproof/guard.db{suffix}")));
    }
    place.write(".planproof/guard.db", &"not a database".repeat(400));
    denied("is not a history of guards");
    // So are sessions that would be one because nobody named them.
    for name in ["", "${AGENT_SESSION}"] {
        let words = [&words("--enforce")[..], &["--session-name", name]].concat();
        assert!(
            Run::of(place.command(&words), &payload)
                .code(0)
                .out
                .contains("command line of the hook is wrong")
        );
    }
    // Both kinds of memory, or none, are a mistake.
    let words = [&words("--enforce")[..], &["--state", "guard"]].concat();
    assert!(
        Run::of(place.command(&words), &payload).code(0).out.contains("command line of the hook is wrong")
    );
}

/// The history of a session has no limit, and a decision does not read all of it again.
#[test]
#[ignore = "slow"]
fn a_long_session_is_decided_on_by_its_state() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    for number in 0..3 {
        hook(&place, &event("PreToolUse", "refund", &number.to_string()));
    }
    let before = lines(&place);
    let connection = Connection::open(place.path(".planproof/guard.db")).unwrap();
    for number in 4..700 {
        let mut line = before[2].clone();
        line["call"]["number"] = json!(number);
        line["call"]["id"] = json!(format!("x{number}"));
        line["call"]["tool"] = json!("look");
        connection
            .execute(
                "INSERT INTO line (session, number, text) VALUES (1, ?1, ?2)",
                (number, line.to_string()),
            )
            .unwrap();
        let result = json!({"kind": "result", "schema": line["schema"], "session": "s", "number": number,
            "is_error": false, "outcome": null});
        connection
            .execute(
                "INSERT INTO line (session, number, text) VALUES (1, ?1, ?2)",
                (number + 1000, result.to_string()),
            )
            .unwrap();
    }
    assert!(!hook(&place, &event("PreToolUse", "refund", "a")).out.is_empty());
    assert!(hook(&place, &event("PreToolUse", "pay", "b")).out.is_empty(), "a look was done");
    // The canary: the lines before the snapshot are not read again, or this one would be an error.
    let snapshots: i64 = connection.query_row("SELECT count(*) FROM snapshot", [], |row| row.get(0)).unwrap();
    assert_eq!(snapshots, 1);
    connection.execute("UPDATE line SET text = '{}' WHERE number < 1000", []).unwrap();
    assert!(!hook(&place, &event("PreToolUse", "refund", "c")).out.is_empty());
    assert!(hook(&place, &event("PreToolUse", "pay", "d")).out.is_empty());
    // With other rules the state is of no use, and all that has happened counts again.
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- {id: none, never: {call: refund}}\n");
    assert!(
        hook(&place, &event("PreToolUse", "pay", "e")).out.contains("line 1 of the session in the history")
    );
}
