//! `planproof guard`: the process between a client and a server.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::crafted::{Crafted, crafted};
use crate::support::{Place, json_lines, send};

/// A server that keeps what reaches it in a file, and answers every request that begins with a number as its id.
const SERVER: &str = r#"tee -a reached.jsonl | sed -u -n 's/^{ *"id":\([0-9][0-9]*\),.*/{"jsonrpc":"2.0","id":\1,"result":{"content":[{"type":"text","text":"{\\"ok\\":true}"}]}}/p'"#;

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
    - {id: no-refunds, never: {call: refund}, why: Ask a person.}\n\
    - {id: look-first, requires: {call: pay, done: look}, per: /id}\n\
    - {id: tell, followed-by: {done: pay, call: mail}}\n";

/// A client's end of a guarded session, or of a bare server.
struct Talk {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Talk {
    fn start(place: &Place, words: &[&str]) -> Self {
        let mut command = place.command(words);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from }
    }

    fn say(&mut self, line: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line).unwrap();
        to.write_all(b"\n").unwrap();
        to.flush().unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    /// The answer to a message.
    fn ask(&mut self, message: &Value) -> Value {
        self.say(message.to_string().as_bytes());
        serde_json::from_str(&self.hear()).unwrap()
    }

    /// Ends the session, and gives the exit code and what was written to stderr.
    fn end(mut self) -> (i32, String) {
        drop(self.to.take());
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), said)
    }
}

/// A guarded session with the server that keeps what reaches it.
fn guarded(place: &Place, options: &[&str]) -> Talk {
    let server = ["--", "sh", "-c", SERVER];
    Talk::start(
        place,
        &[&["guard", "--rules", "rules.yaml", "--log", "log.jsonl"], options, &server].concat(),
    )
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap_or_default()
}

fn is_rejected(answer: &Value) -> bool {
    answer["result"]["isError"] == true
}

#[test]
fn from_nothing_to_enforcement() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    // Shadow mode lets everything pass, and says what it would not have.
    let mut talk = guarded(&place, &["--shadow"]);
    let asked = [
        call(1, "refund", &json!({"id": 1})),
        call(2, "pay", &json!({"id": 1})),
        call(3, "look", &json!({"id": 1})),
    ];
    for message in &asked {
        assert!(!is_rejected(&talk.ask(message)));
    }
    let (code, said) = talk.end();
    assert_eq!(code, 0, "{said}");
    let begun = "guard: 3 rules of rules.yaml, all of them in shadow mode (--shadow)";
    assert!(said.contains(begun), "{said}");
    for noted in ["refund {\"id\":1} in session ", "pay {\"id\":1} in session "] {
        assert!(said.contains(&format!("guard: would be rejected: {noted}")), "{said}");
    }
    assert_eq!(said.matches(": The call would be denied by rule ").count(), 2, "{said}");
    assert_eq!(read(&place, "reached.jsonl").lines().count(), 3);
    let actions: Vec<Value> = json_lines(&read(&place, "log.jsonl"))
        .iter()
        .filter(|line| line["kind"] == "decision")
        .map(|line| line["action"].clone())
        .collect();
    assert_eq!(actions, ["noted", "noted", "passed"]);
    // What happened is held against the rules like any session, and other rules are tried on it.
    let run = place.run("check --rules rules.yaml log.jsonl").code(1);
    assert!(run.out.contains("no-refunds") && run.out.contains("look-first"), "{run:?}");
    place.write(
        "lax.yaml",
        "schema: planproof/rules/v1\nrules:\n- {id: few, at-most: {call: refund, times: 3}}\n",
    );
    let run = place.run("guard replay log.jsonl --rules lax.yaml").code(1);
    assert!(run.out.contains("call 1: refund {\"id\":1}\n  was only noted, would be approved\n"), "{run:?}");
    assert!(run.out.ends_with("3 calls in 1 session, 2 would be decided differently\n"), "{run:?}");
    let by_rule = "in the log, look-first: 1 noted, 0 rejected, in 1 session\n\
                   in the log, no-refunds: 1 noted, 0 rejected, in 1 session\n";
    assert!(run.out.contains(by_rule), "{}", run.out);
    let changed = json_lines(&place.run("guard replay log.jsonl --rules lax.yaml --json").code(1).out);
    assert_eq!(&changed[1]["is_rejected"], &json!(false));
    assert_eq!(
        changed[2..],
        ["look-first", "no-refunds"].map(|id| json!({"rule": id, "noted": 1, "rejected": 0, "sessions": 1}))
    );
    place.run("guard replay log.jsonl --rules rules.yaml").code(0);

    // The same, enforced.
    std::fs::remove_file(place.path("reached.jsonl")).unwrap();
    std::fs::remove_file(place.path("log.jsonl")).unwrap();
    let mut talk = guarded(&place, &["--enforce"]);
    let answers: Vec<Value> = asked.iter().map(|message| talk.ask(message)).collect();
    assert_eq!(answers.iter().map(is_rejected).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(answers[0]["result"]["structuredContent"]["rules"][0]["why"], "Ask a person.");
    assert!(!is_rejected(&talk.ask(&call(4, "pay", &json!({"id": 1})))));
    let (code, said) = talk.end();
    assert_eq!(code, 0);
    assert!(said.contains("guard: not satisfied when the session ended: tell: After"), "{said}");
    assert_eq!(
        json_lines(&read(&place, "reached.jsonl")),
        [asked[2].clone(), call(4, "pay", &json!({"id": 1}))]
    );
    let run = place.run("check --rules rules.yaml log.jsonl").code(1);
    assert!(run.out.contains("not fulfilled when the session ended"), "{run:?}");
    let end = json_lines(&read(&place, "log.jsonl")).pop().unwrap();
    assert_eq!(end["unsatisfied"], json!(["tell"]));
}

#[test]
fn nothing_gets_past() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let good = |id: usize| -> Vec<u8> {
        let text = format!(
            r#"{{ "id":{id}, "method":"tools\/call","params":{{"name":"look","arguments":{{"k":1.50}}}} }}"#
        );
        text.into_bytes()
    };
    let mut talk = guarded(&place, &["--enforce", "--quiet"]);
    let (crafted, mut expected) = (crafted(), Vec::new());
    for (number, Crafted { what, bytes, is_answered }) in crafted.iter().enumerate() {
        talk.say(bytes);
        // One that is not answered shows that by the answer to the next call.
        if *is_answered {
            let answer: Value = serde_json::from_str(&talk.hear()).unwrap();
            assert!(is_rejected(&answer) || answer.get("error").is_some(), "{what}: {answer}");
        }
        let passes = good(number + 2);
        talk.say(&passes);
        let answer: Value = serde_json::from_str(&talk.hear()).unwrap();
        assert_eq!(answer["id"], number + 2, "after {what}: {answer}");
        expected.extend([passes, b"\n".to_vec()].concat());
    }
    let (code, said) = talk.end();
    assert_eq!((code, said.as_str()), (0, ""));
    // To the byte.
    assert_eq!(std::fs::read(place.path("reached.jsonl")).unwrap(), expected);
    let blocked = read(&place, "log.jsonl").matches("\"action\":\"blocked\"").count();
    assert!(blocked == crafted.len() && blocked > 150, "{blocked}");
}

#[test]
fn what_reached_the_server_is_in_the_log_even_if_the_guard_is_killed() {
    let (mut reached_in_all, rounds) = (0, count("PLANPROOF_GUARD_KILLS", 12));
    for round in 0..rounds {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        let mut talk = guarded(&place, &["--enforce", "--quiet"]);
        let mut to = talk.to.take().unwrap();
        let writer = std::thread::spawn(move || {
            // Until the guard is gone.
            for id in 1..100_000 {
                let tool = if id % 3 == 0 { "refund" } else { "look" };
                if writeln!(to, "{}", call(id, tool, &json!({"id": id}))).is_err() {
                    return;
                }
            }
        });
        let mut from = talk.from;
        let reader = std::thread::spawn(move || {
            // The first answer shows that the session has begun.
            let mut line = String::new();
            let _ = from.read_line(&mut line);
            from
        });
        let from = reader.join().unwrap();
        // Up to 35 ms, in no order.
        std::thread::sleep(Duration::from_micros(round * 6_173 % 35_000));
        talk.child.kill().unwrap();
        talk.child.wait().unwrap();
        drop(from);
        writer.join().unwrap();
        // The server ends with the guard.
        std::thread::sleep(Duration::from_millis(50));
        let log = read(&place, "log.jsonl");
        let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let passed: Vec<Value> = json_lines(whole)
            .into_iter()
            .filter(|line| line["action"] == "passed")
            .map(|line| line["call"]["arguments"]["id"].clone())
            .collect();
        let reached = read(&place, "reached.jsonl");
        // The last line may have reached the server in part, which is not a call.
        let reached = reached.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let reached: Vec<Value> =
            json_lines(reached).iter().map(|message| message["params"]["arguments"]["id"].clone()).collect();
        assert!(passed.len() >= reached.len(), "round {round}");
        assert_eq!(passed[..reached.len()], reached[..], "round {round}");
        assert!(reached.iter().all(|id| id.as_u64().unwrap() % 3 != 0), "round {round}");
        reached_in_all += reached.len();
        // The state after the kill is that of a replay: the log leads to each of its decisions.
        place.run("guard replay log.jsonl --rules rules.yaml").code(0);
    }
    assert!(reached_in_all > 20, "{reached_in_all}");
}

/// How often something is tried: as the variable says, or by default so often as a gate has time for.
pub(crate) fn count(variable: &str, by_default: u64) -> u64 {
    std::env::var(variable).map_or(by_default, |text| text.parse().unwrap())
}

#[test]
fn a_server_behind_rules_that_allow_everything_is_as_without() {
    let place = Place::new();
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- {id: any, never: {call: nothing}}\n");
    place.write("case.jsonl", &place.run("synth --count 1 --actions 3").code(0).out);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let older = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "vendor/unknown", "params": {"a": [1, {"b": null}]}}),
        call(3, "no such tool", &json!({"a": 1})),
    ];
    let newer = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": meta}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "no such tool", "arguments": {}, "_meta": meta}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "resources/list", "params": {"_meta": meta}}),
    ];
    let program = env!("CARGO_BIN_EXE_planproof");
    for messages in [&older[..], &newer] {
        let server = ["serve-tools", "--case", "case.jsonl", "--stdio"];
        let talk = |words: &[&str]| -> Vec<String> {
            let mut talk = Talk::start(&place, words);
            let mut heard = Vec::new();
            for message in messages {
                talk.say(message.to_string().as_bytes());
                if message.get("id").is_some() {
                    heard.push(talk.hear());
                }
            }
            // Each tool that was listed is called, too.
            let list = heard.iter().find_map(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                line["result"]["tools"].as_array().cloned()
            });
            for (number, tool) in list.unwrap().iter().enumerate() {
                let mut message = call(100 + number as u64, tool["name"].as_str().unwrap(), &json!({}));
                if messages.len() == newer.len() {
                    message["params"]["_meta"] = meta.clone();
                }
                talk.say(message.to_string().as_bytes());
                heard.push(talk.hear());
            }
            talk.end();
            heard
        };
        let bare = talk(&server);
        let guard = ["guard", "--rules", "rules.yaml", "--enforce", "--log", "log.jsonl", "--", program];
        assert_eq!(talk(&[&guard[..], &server].concat()), bare);
        assert!(bare.len() > 6 && bare.iter().all(|line| line.ends_with("}\n")), "{bare:?}");
    }
    // The call of each session that the server refused failed, and the others are done.
    let failed = read(&place, "log.jsonl").matches("\"is_error\":true").count();
    assert!(failed >= 1, "{failed}");
    assert!(read(&place, "log.jsonl").matches("\"is_error\":false").count() >= 6);
}

#[test]
fn a_guard_that_cannot_do_its_work_does_what_its_mode_says() {
    let place = Place::new();
    place.write("bad.yaml", "schema: planproof/rules/v1\nrules:\n- {id: x, nevr: {call: a}}\n");
    place.write("rules.yaml", RULES);
    let look = call(1, "look", &json!({"id": 1}));
    for rules in ["bad.yaml", "missing.yaml"] {
        for (mode, expected) in [("--enforce", true), ("--shadow", false)] {
            let mut talk = Talk::start(&place, &["guard", "--rules", rules, mode, "--", "sh", "-c", SERVER]);
            assert_eq!(is_rejected(&talk.ask(&look)), expected, "{rules} {mode}");
            // Only calls depend on rules.
            assert!(!is_rejected(&talk.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))));
            let (code, said) = talk.end();
            let then = if expected { "every call is rejected" } else { "no call is looked at" };
            assert!(code == 0 && said.contains(then), "{said}");
        }
    }
    // A log that is full.
    if std::path::Path::new("/dev/full").exists() {
        for (mode, expected) in [("--enforce", true), ("--shadow", false)] {
            let words =
                ["guard", "--rules", "rules.yaml", mode, "--log", "/dev/full", "--", "sh", "-c", SERVER];
            let mut talk = Talk::start(&place, &words);
            let answer = talk.ask(&look);
            assert_eq!(is_rejected(&answer), expected, "{answer}");
            if expected {
                let text = answer["result"]["content"][0]["text"].as_str().unwrap();
                assert!(text.contains("the log /dev/full of the guard cannot be written"), "{text}");
            }
            assert_eq!(talk.end().0, 0);
        }
    }
    place.run("guard --rules rules.yaml --enforce --log no/such/log.jsonl -- true").code(2);
    place.run("guard --rules rules.yaml --enforce --log rules.yaml -- true").code(2);
    let run = place.run("guard --rules rules.yaml --enforce -- no-such-program").code(2);
    assert!(run.err.contains("the server `no-such-program` cannot be started"), "{run:?}");
    for wrong in [
        "guard --rules rules.yaml --history h.db -- true",
        "guard --rules rules.yaml --enforce --to http://h/ --listen 127.0.0.1:0 --history h.db",
        "guard --rules rules.yaml --shadow --enforce -- true",
        "guard --enforce -- true",
        "guard --rules rules.yaml --enforce",
        "guard --rules - --enforce -- true",
        "guard --rules rules.yaml --enforce --set guard.shadow=true -- true",
    ] {
        assert_eq!(place.run(wrong).code(2).out, "", "{wrong}");
    }
    // A file that lies in the folder changes nothing.
    place.write("planproof.toml", "quiet = [broken");
    assert_eq!(place.run("guard --rules rules.yaml --enforce -- true").out, "");
}

/// Without a mode on the command line, each rule is in its own.
/// What neither a log nor a history could take is not in the other either, and rules have not seen it.
#[test]
fn a_call_that_cannot_be_kept_never_happened() {
    let place = Place::new();
    place.write(
        "two.yaml",
        "schema: planproof/rules/v1\nrules:\n- {id: needs-a, requires: [{call: b}, {call: a}]}\n\
         - {id: once, at-most: {call: a, times: 1}}\n",
    );
    let started = |log: &str| {
        let words =
            ["guard", "--rules", "two.yaml", "--enforce", "--history", "guard.db", "--session-name", "s"];
        Talk::start(&place, &[&words[..], &["--log", log, "--", "sh", "-c", SERVER]].concat())
    };
    let ask = |talk: &mut Talk, tool: &str| !is_rejected(&talk.ask(&call(1, tool, &json!({}))));
    if std::path::Path::new("/dev/full").exists() {
        let mut full = started("/dev/full");
        assert!(!ask(&mut full, "a"));
        assert_eq!(full.end().0, 0);
    }
    let mut talk = started("log.jsonl");
    assert!(ask(&mut talk, "x"));
    // SQLite would go on writing to the file that has lost its name.
    std::fs::rename(place.path("guard.db"), place.path("away.db")).unwrap();
    if cfg!(unix) {
        assert!(!ask(&mut talk, "a"));
    }
    std::fs::rename(place.path("away.db"), place.path("guard.db")).unwrap();
    assert!(!ask(&mut talk, "b"));
    assert!(ask(&mut talk, "a"));
    assert!(ask(&mut talk, "b"));
    assert!(!ask(&mut talk, "a"));
    let (code, said) = talk.end();
    assert!(code == 0 && (cfg!(not(unix)) || said.contains("it was deleted or replaced")), "{said}");
    for kept in ["log.jsonl", "guard.db"] {
        place.run(&format!("guard replay {kept} --rules two.yaml")).code(0);
        place.run(&format!("check --rules two.yaml {kept}")).code(0);
    }
}

#[test]
fn rules_are_in_modes_of_their_own() {
    let place = Place::new();
    let rules = RULES.replace("never: {call: refund},", "never: {call: refund}, mode: shadow,");
    place.write("rules.yaml", &rules);
    let (refund, pay) = (call(1, "refund", &json!({"id": 1})), call(2, "pay", &json!({"id": 1})));
    let mut talk = guarded(&place, &[]);
    assert!(!is_rejected(&talk.ask(&refund)) && is_rejected(&talk.ask(&pay)));
    let (code, said) = talk.end();
    assert!(code == 0 && said.contains(": The call would be denied by rule no-refunds"), "{said}");
    assert!(
        said.contains("guard: rejected: pay {\"id\":1} in session ")
            && said.contains(": The call is denied by rule look-first"),
        "{said}"
    );
    let log = json_lines(&read(&place, "log.jsonl"));
    assert_eq!(
        (&log[0]["action"], &log[0]["mode"], &log[0]["by_rule"]),
        (&json!("noted"), &json!("shadow"), &json!(true))
    );
    assert_eq!(log[0]["rules"][0]["mode"], "shadow");
    let blocked = log.iter().find(|line| line["action"] == "blocked").unwrap();
    assert_eq!(blocked["mode"], "enforce");
    place.run("guard replay log.jsonl --rules rules.yaml").code(0);
    // The command line wins over both.
    for (mode, expected) in [("--enforce", [true, true]), ("--shadow", [false, false])] {
        let mut talk = guarded(&place, &[mode, "-q"]);
        assert_eq!([&refund, &pay].map(|message| is_rejected(&talk.ask(message))), expected, "{mode}");
        talk.end();
    }
    // A log that is full: closed where a rule enforces, open where all are in shadow mode.
    if std::path::Path::new("/dev/full").exists() {
        place.write("watch.yaml", &RULES.replace("rules:\n", "mode: shadow\nrules:\n"));
        for (rules, expected) in [("rules.yaml", true), ("watch.yaml", false), ("none.yaml", true)] {
            let words = ["guard", "--rules", rules, "--log", "/dev/full", "--", "sh", "-c", SERVER];
            let mut talk = Talk::start(&place, &words);
            assert_eq!(is_rejected(&talk.ask(&call(1, "look", &json!({})))), expected, "{rules}");
            talk.end();
        }
    }
}

#[test]
fn a_server_that_is_gone_ends_the_guard() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let words = ["guard", "--rules", "rules.yaml", "--enforce", "--log", "log.jsonl", "--", "sh", "-c"];
    let mut talk = Talk::start(&place, &[&words[..], &["read line; echo last words; exit 7"]].concat());
    talk.say(call(1, "look", &json!({})).to_string().as_bytes());
    assert_eq!(talk.hear(), "last words\n");
    assert_eq!(talk.hear(), "");
    let status = talk.child.wait().unwrap();
    let mut said = String::new();
    talk.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(3));
    assert!(
        said.contains("the guarded server ended by itself (exit status: 7); 1 call had no result yet"),
        "{said}"
    );
    let end = json_lines(&read(&place, "log.jsonl")).pop().unwrap();
    assert_eq!((&end["kind"], &end["pending"]), (&json!("end"), &json!([1])));
}

#[test]
fn a_signal_ends_guard_and_server() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let server = "echo $$ > pid; exec sleep 600";
    let words = ["guard", "--rules", "rules.yaml", "--enforce", "--", "sh", "-c", server];
    let mut talk = Talk::start(&place, &words);
    crate::until("the server runs", || Some(read(&place, "pid")).filter(|pid| pid.ends_with('\n')));
    send(&talk.child, "TERM");
    assert_eq!(talk.child.wait().unwrap().code(), Some(0));
    let pid = read(&place, "pid");
    assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists());
}

#[test]
fn a_line_without_end_is_refused_and_the_session_continues() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let mut talk = guarded(&place, &["--enforce", "--quiet"]);
    let long = format!("{}\"}}", call(1, "look", &json!({"x": "y".repeat(17 << 20)})));
    talk.say(long.as_bytes());
    let answer: Value = serde_json::from_str(&talk.hear()).unwrap();
    assert!(answer["error"]["message"].as_str().unwrap().contains("more than 16777216 bytes"), "{answer}");
    assert!(!is_rejected(&talk.ask(&call(2, "look", &json!({"id": 1})))));
    assert_eq!(talk.end().0, 0);
    assert_eq!(read(&place, "reached.jsonl").lines().count(), 1);
}
