//! What came of a call and cannot be read or kept is not forgotten: every further call of its session is denied.

#[cfg(unix)]
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Run};

/// What `close` does forbids `pay`, and nothing forbids `look`.
const RULES: &str = "schema: planproof/rules/v1\nrules:\n- {id: closed, never-after: {call: pay, done: close}, why: It is closed.}\n";

/// What every denial says after a result that is not known.
const UNREAD: &str = "could not be read or kept";

/// Stands in a payload for what a fault puts there.
const HERE: &str = "\"HERE\"";

/// An agent: its name, and what it calls an event before and after a call.
const AGENTS: [(&str, &str, &str); 3] = [
    ("claude-code", "PreToolUse", "PostToolUse"),
    ("codex", "PreToolUse", "PostToolUseFailure"),
    ("gemini-cli", "BeforeTool", "AfterTool"),
];

fn words<'w>(agent: &'w str, memory: &'w str, mode: &'w str) -> [&'w str; 7] {
    ["hook", agent, "--rules", "rules.yaml", mode, memory, "memory"]
}

fn hook(place: &Place, agent: &str, memory: &str, payload: &str) -> Run {
    Run::of(place.command(&words(agent, memory, "--enforce")), payload).code(0)
}

fn event(name: &str, session: &str, tool: &str, id: &str) -> String {
    json!({"session_id": session, "hook_event_name": name, "tool_name": tool, "tool_input": {}, "tool_use_id": id,
        "tool_response": {"llmContent": "HERE", "error": false}, "error": "HERE"})
    .to_string()
}

fn is_denied(run: &Run) -> bool {
    run.out.contains("\"deny\"")
}

/// The texts that a payload with the result of a call can have instead of one that can be read, and whether they still
/// say of which session they are.
fn faults(sound: &str) -> Vec<(&'static str, String, bool)> {
    let with = |text: &str| sound.replace(HERE, text);
    let deep = |depth: usize| with(&format!("{}1{}", "[".repeat(depth), "]".repeat(depth)));
    vec![
        ("nests too deeply", deep(130), true),
        ("nests far too deeply", deep(200_000), true),
        ("a number beyond floats", with("1e999"), true),
        ("a number of many digits", with(&"9".repeat(5000)), true),
        ("no number", with("NaN"), true),
        ("a control character", with("\"\u{1}\""), true),
        ("a carriage return", with("\r1"), true),
        ("a key twice", with("{\"a\":1,\"a\":2}"), true),
        ("a comma too many", with("[1,]"), true),
        ("cut off behind the session", sound.split_once("\"tool_name\"").unwrap().0.to_owned(), true),
        ("no tool", sound.replace("\"tool_name\"", "\"tool\""), true),
        ("no session", sound.replace("\"session_id\"", "\"session\""), false),
        ("a session that is not a text", sound.replace("\"s\"", "7"), false),
        ("no event", sound.replace("\"hook_event_name\"", "\"event\""), true),
        ("cut off at once", "{\"".to_owned(), false),
        ("nothing", String::new(), false),
    ]
}

#[test]
#[ignore = "slow"]
fn a_result_that_cannot_be_read_ends_all_approval() {
    for (number, (agent, before, after)) in AGENTS.into_iter().enumerate() {
        for memory in ["--state", "--history"] {
            // Each agent and each memory with some of the faults.
            let part = number * 2 + usize::from(memory == "--state");
            // Keys in the order in which agents write them.
            let sound = event(after, "s", "close", "1");
            let sound = sound.replace("\"hook_event_name\"", "\"session_id\":\"s\",\"hook_event_name\"");
            let sound = sound.replacen(",\"session_id\":\"s\",\"tool_input\"", ",\"tool_input\"", 1);
            let faults = faults(&sound);
            for (fault, payload, tells_session) in faults.iter().skip(part % 3).step_by(3) {
                let place = Place::new();
                place.write("rules.yaml", RULES);
                let ask = |session: &str, tool: &str| {
                    hook(&place, agent, memory, &event(before, session, tool, "2"))
                };
                let about = format!("{agent} {memory}: {fault}");
                for session in ["s", "other"] {
                    assert!(!is_denied(&ask(session, "close")), "{about}");
                }
                let heard = hook(&place, agent, memory, payload);
                assert!(heard.err.contains("error: "), "{about}: {heard:?}");
                // It is not an answer to a call, unless it may have been one.
                let names_event = payload.contains(after) && !fault.contains("event");
                assert_eq!(heard.out.is_empty(), names_event, "{about}: {heard:?}");
                for tool in ["pay", "look"] {
                    let denied = ask("s", tool);
                    assert!(is_denied(&denied) && denied.out.contains(UNREAD), "{about}: {denied:?}");
                }
                assert_eq!(is_denied(&ask("other", "look")), !tells_session, "{about}");
                assert!(!is_denied(&ask("new", "pay")), "{about}");
            }
        }
    }
}

/// What is known to be about something else loses nothing.
#[test]
fn a_call_that_cannot_be_read_is_only_denied() {
    for memory in ["--state", "--history"] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        let deep = format!("{}1{}", "[".repeat(130), "]".repeat(130));
        for name in ["PreToolUse", "SessionStart", "SessionEnd", "Stop"] {
            let payload = event(name, "s", "pay", "1").replace(HERE, &deep);
            let run = hook(&place, "claude-code", memory, &payload);
            assert_eq!(is_denied(&run), name == "PreToolUse", "{name}: {run:?}");
            assert!(!is_denied(&hook(
                &place,
                "claude-code",
                memory,
                &event("PreToolUse", "s", "look", name)
            )));
        }
        // The log has the call that was not read.
        let log = match memory {
            "--state" => std::fs::read_dir(place.path("memory")).unwrap().next().unwrap().unwrap().path(),
            _ => place.path("memory"),
        };
        let log = log.display().to_string();
        place.run_words(&["check", "--rules", "rules.yaml", &log]).code(0);
        place.run_words(&["guard", "replay", &log, "--rules", "rules.yaml"]).code(0);
    }
}

#[test]
fn shadow_mode_keeps_what_it_saw_and_says_what_it_would_deny() {
    for memory in ["--state", "--history"] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        let watch =
            |payload: &str| Run::of(place.command(&words("codex", memory, "--shadow")), payload).code(0);
        assert!(watch(&event("PreToolUse", "s", "close", "1")).err.is_empty());
        let noted = watch(&event("PostToolUse", "s", "close", "1").replace(HERE, "1e999"));
        assert!(noted.out.is_empty() && noted.err.contains("would be denied"), "{noted:?}");
        let noted = watch(&event("PreToolUse", "s", "look", "2"));
        assert!(noted.out.is_empty() && noted.err.contains(UNREAD), "{noted:?}");
        assert!(is_denied(&hook(&place, "codex", memory, &event("PreToolUse", "s", "look", "3"))));
    }
}

/// Results count while the rules cannot be read, as while somebody edits them, and are learnt from afterwards.
#[test]
fn a_result_counts_while_the_rules_cannot_be_read() {
    for memory in ["--state", "--history"] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        assert!(!is_denied(&hook(&place, "codex", memory, &event("PreToolUse", "s", "close", "1"))));
        place.write("rules.yaml", "schema: planproof/rules/v1\nrules: [{id: x, nev");
        let heard = hook(&place, "codex", memory, &event("PostToolUse", "s", "close", "1"));
        assert!(heard.out.is_empty() && heard.err.contains("not valid"), "{heard:?}");
        place.write("rules.yaml", RULES);
        assert!(!is_denied(&hook(&place, "codex", memory, &event("PreToolUse", "s", "look", "2"))));
        let denied = hook(&place, "codex", memory, &event("PreToolUse", "s", "pay", "3"));
        assert!(denied.out.contains("It is closed."), "{denied:?}");
    }
}

/// A hook whose files may not grow beyond so many blocks of 512 bytes, as on a full disk.
#[cfg(unix)]
fn hook_with_room(place: &Place, memory: &str, blocks: u64, payload: &str) -> Run {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let inner = place.command(&words("codex", memory, "--enforce"));
    let mut command = place.command_of(Path::new("sh"), &["-c", &script, "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    Run::of(command, payload).code(0)
}

#[cfg(unix)]
#[test]
fn a_result_for_which_there_is_no_room_ends_all_approval() {
    use std::os::unix::fs::PermissionsExt as _;

    let large = format!("\"{}\"", "x".repeat(100_000));
    let payload = event("PostToolUse", "s", "close", "1").replace(HERE, &large);
    for (memory, blocks, takes_mark) in [
        ("--state", 8, true),
        ("--state", 1, true),
        ("--state", 1, false),
        ("--history", 80, true),
        ("--history", 1, true),
    ] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        let ask = |session: &str, tool: &str| {
            let id = if tool == "close" { "1" } else { "2" };
            hook(&place, "codex", memory, &event("PreToolUse", session, tool, id))
        };
        let about = format!("{memory} {blocks} {takes_mark}");
        assert!(!is_denied(&ask("s", "close")), "{about}");
        let logs = || {
            let files = std::fs::read_dir(place.path("memory")).unwrap();
            files
                .map(|it| it.unwrap().path())
                .find(|it| it.extension().is_some_and(|it| it == "jsonl"))
                .unwrap()
        };
        let mark = match memory {
            "--state" => logs().with_extension("jsonl-unread"),
            _ => place.path("memory-unread"),
        };
        if !takes_mark {
            // No file can be made, as where there are no more inodes.
            std::fs::create_dir(&mark).unwrap();
        }
        let heard = hook_with_room(&place, memory, blocks, &payload);
        assert!(heard.out.is_empty() && heard.err.contains("error: "), "{about}: {heard:?}");
        // Whatever the room is from then on.
        let denied = hook_with_room(&place, memory, blocks, &event("PreToolUse", "s", "look", "3"));
        assert!(is_denied(&denied), "{about}: {denied:?}");
        if !takes_mark {
            std::fs::remove_dir(&mark).unwrap();
            assert!(logs().metadata().unwrap().permissions().mode() & 0o222 == 0, "{about}");
        }
        let was_marked = mark.exists();
        assert_eq!(was_marked, takes_mark && blocks == 1, "{about}");
        if was_marked {
            // The canary of this test: it is the mark that denies.
            let kept = std::fs::read(&mark).unwrap();
            std::fs::remove_file(&mark).unwrap();
            let look = event("PreToolUse", "s", "look", "canary");
            assert!(!is_denied(&hook(&place, "codex", memory, &look)), "{about}");
            std::fs::write(&mark, kept).unwrap();
        }
        for tool in ["pay", "look"] {
            let denied = ask("s", tool);
            assert!(is_denied(&denied), "{about}: {denied:?}");
            assert!(denied.out.contains(UNREAD) || denied.out.contains("read-only"), "{about}: {denied:?}");
        }
        assert!(!mark.exists(), "{about}");
        assert!(!is_denied(&ask("new", "pay")), "{about}");
    }
}

/// The end of a log after a kill: half a decision is nothing, and half a result is one that nobody knows.
#[test]
fn a_result_that_was_cut_off_ends_all_approval() {
    for (rest, is_unread) in [
        ("{\"kind\":\"decision\",\"schema\"", false),
        ("{\"kind\":\"d", false),
        (
            "{\"kind\":\"result\",\"schema\":\"planproof/decision/v1\",\"session\":\"s\",\"number\":1,\"is_er",
            true,
        ),
        ("{\"kind\":\"res", true),
        ("{\"ki", true),
    ] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        let ask =
            |tool: &str, id: &str| hook(&place, "codex", "--state", &event("PreToolUse", "s", tool, id));
        assert!(!is_denied(&ask("close", "1")));
        let log = std::fs::read_dir(place.path("memory")).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(&log).unwrap();
        std::fs::write(&log, format!("{text}{rest}")).unwrap();
        for id in ["2", "3"] {
            let run = ask("pay", id);
            assert_eq!(is_denied(&run) && run.out.contains(UNREAD), is_unread, "{rest}: {run:?}");
        }
    }
}

/// A program that asks about its own calls: what it says of a result, and cannot be read, counts likewise.
#[test]
fn a_program_that_is_decided_for_is_held_to_what_cannot_be_read() {
    let deep = format!("{}1{}", "[".repeat(130), "]".repeat(130));
    for (line, is_unread) in [
        (format!("{{\"do\":\"after\",\"number\":1,\"result\":{deep}}}"), true),
        ("{\"do\":\"after\",\"number\":1,\"result\":1e999}".to_owned(), true),
        ("{\"do\":\"after\",\"number\":1,\"number\":1,\"result\":1}".to_owned(), true),
        ("{\"do\":\"after\",\"number\":1,\"result\":1,\"error\":1}".to_owned(), true),
        ("{\"do\":\"after\",\"result\":1}".to_owned(), true),
        ("{\"do\":\"aft".to_owned(), true),
        (format!("{{\"do\":\"before\",\"tool\":\"look\",\"arguments\":{{\"a\":{deep}}}}}"), false),
        (format!("{{\"do\":\"after\",\"session\":\"x\",\"number\":1,\"result\":{deep}}}"), false),
    ] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        let before = |tool: &str| json!({"do": "before", "tool": tool}).to_string();
        let words = ["guard", "decide", "--rules", "rules.yaml", "--enforce", "--log", "log.jsonl"];
        let asked = format!("{}\n{line}\n{}\n", before("close"), before("look"));
        let run = Run::of(place.command(&words), &asked).code(0);
        let last: Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
        assert_eq!(last["verdict"] == "reject", is_unread, "{line}: {run:?}");
        assert_eq!(
            last["reason"].as_str().is_some_and(|why| why.contains(UNREAD)),
            is_unread,
            "{line}: {run:?}"
        );
        let log = std::fs::read_to_string(place.path("log.jsonl")).unwrap();
        // Without its number, the call could not be reported once more.
        let is_for_good = is_unread && !line.contains("number");
        assert_eq!(log.contains("\"unread\":true"), is_for_good, "{log}");
        // What is said in another way counts.
        let again = "{\"do\":\"after\",\"number\":1,\"result\":\"text\"}";
        let asked = format!("{}\n{line}\n{again}\n{}\n{}\n", before("close"), before("look"), before("pay"));
        let run = Run::of(place.command(&words), &asked).code(0);
        let verdicts: Vec<bool> =
            run.out.lines().rev().take(2).map(|it| it.contains("\"approve\"")).collect();
        assert_eq!(verdicts, [false, !is_for_good], "{line}: {run:?}");
    }
}

/// Makes a line of a record, with a call of a tool and something in it.
type LineOf = fn(&str, &Value) -> Value;

/// Lines of records that are JSON, and that a careless reader leaves out or changes.
#[test]
#[ignore = "slow"]
fn a_record_is_read_as_it_is_or_refused() {
    let rules = "schema: planproof/rules/v1\nrules:\n- {id: no-refund, never: {call: refund}}\n";
    let claude = |name: &str, input: &Value| {
        json!({"type": "assistant", "sessionId": "s", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": name, "input": input}]}})
    };
    let codex = |name: &str, input: &Value| {
        json!({"type": "response_item", "payload": {"type": "function_call", "name": name, "call_id": "1",
            "arguments": input.to_string()}})
    };
    let codex_item = |name: &str, input: &Value| {
        json!({"type": "response_item", "payload": {"type": "function_call", "name": name, "call_id": "1",
            "arguments": input}})
    };
    let otlp = |name: &str, input: &Value| {
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "note": input,
            "name": "x", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
            {"key": "gen_ai.tool.name", "value": {"stringValue": name}}]}]}]}]})
    };
    let transcript = |name: &str, input: &Value| {
        json!({"messages": [{"role": "assistant", "note": input, "content": [
            {"type": "tool_use", "id": "1", "name": name, "input": {}}]}]})
    };
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let forms: [(&str, LineOf); 5] = [
        ("claude", claude),
        ("codex", codex),
        ("codex-item", codex_item),
        ("otlp", otlp),
        ("transcript", transcript),
    ];
    for (form, line) in forms {
        for (fault, why) in [
            (deep(130), "recursion limit"),
            ("1e999".to_owned(), "number out of range"),
            ("[NaN, -Infinity]".to_owned(), "`NaN`"),
            ("123456789012345678901".to_owned(), "has more digits"),
            ("{\"a\":1,\"a\":2}".to_owned(), "stands twice"),
        ] {
            let place = Place::new();
            place.write("rules.yaml", rules);
            let sound = line("look", &json!({})).to_string();
            let faulty = line("refund", &json!({"x": "HERE"})).to_string();
            let fault = fault.replace('"', if form == "codex" { "\\\"" } else { "\"" });
            let faulty = faulty.replace(if form == "codex" { "\\\"HERE\\\"" } else { HERE }, &fault);
            for (name, text) in [
                ("second.jsonl", format!("{sound}\n{faulty}\n")),
                ("first.jsonl", format!("{faulty}\n{sound}\n")),
                ("only.json", faulty.clone()),
                ("lines.json", faulty.replacen('{', "{\n", 1)),
                // Behind a line that was cut off.
                ("glued.jsonl", format!("{sound}\n{}{faulty}\n", &sound[..20])),
            ] {
                if (form, name) == ("transcript", "glued.jsonl") {
                    continue;
                }
                place.write(name, &text);
                let run = place.run(&format!("check --rules rules.yaml {name}")).code(2);
                assert!(run.err.contains(why), "{form} {name} {why}: {run:?}");
                place.run(&format!("scenario from-trace {name}")).code(2);
            }
            // What is cut off, or no JSON, is left out as before.
            if form == "claude" {
                let cut = &faulty[..faulty.len() - 3];
                place.write("cut.jsonl", &format!("{sound}\n{cut}"));
                let run = place.run("check --rules rules.yaml cut.jsonl").code(0);
                assert!(run.err.contains("left out"), "{run:?}");
            }
        }
    }
}
