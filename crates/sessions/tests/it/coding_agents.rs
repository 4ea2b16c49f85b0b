//! Logs of Claude Code and Codex.

use serde_json::{Value, json};

use crate::support::{lines, read, read_files};

/// A line of Claude Code, at that second.
fn line(kind: &str, second: u64, content: &Value, more: &Value) -> Value {
    let mut line = json!({
        "parentUuid": null, "isSidechain": false, "sessionId": "s1", "type": kind, "uuid": "u",
        "timestamp": format!("2026-11-20T10:00:{second:02}.000Z"), "message": {"role": kind, "content": content},
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

fn asks(second: u64, id: &str, tool: &str, input: &Value, more: &Value) -> Value {
    line("assistant", second, &json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]), more)
}

fn gets(second: u64, id: &str, text: &str, more: &Value) -> Value {
    line("user", second, &json!([{"type": "tool_result", "tool_use_id": id, "content": text}]), more)
}

fn of_reply(mut line: Value, id: &str) -> Value {
    line["message"]["id"] = json!(id);
    line
}

/// Parallel calls of one reply stand in several lines; a further reply may use their ids again.
#[test]
fn a_result_belongs_to_the_last_reply_that_it_can_answer() {
    let none = json!({});
    let asks = |reply: &str, amount: u64| {
        of_reply(asks(1, "call_0", "look", &json!({ "amount": amount }), &none), reply)
    };
    let ok = gets(2, "call_0", "ok", &none);
    for (name, log, expected) in [
        ("two replies", vec![asks("m1", 17), asks("m2", 18), ok.clone()], vec![18]),
        ("one reply", vec![asks("m1", 17), asks("m1", 18), ok.clone()], vec![17]),
        ("one reply, whole", vec![asks("m1", 17), asks("m1", 18), ok.clone(), ok.clone()], vec![17, 18]),
        ("nameless replies", vec![asks("", 17), asks("", 18), ok.clone()], vec![18]),
    ] {
        let taken = read(&lines(&log));
        let results = taken.sessions[0].happened.iter().filter(|event| event.outcome.is_some());
        let amounts: Vec<u64> = results.filter_map(|event| event.arguments["amount"].as_u64()).collect();
        assert_eq!(amounts, expected, "{name}");
    }
}

#[test]
fn only_the_same_call_is_a_repetition() {
    let none = json!({});
    let one = asks(1, "call_0", "refund", &json!({"amount": 1}), &none);
    let ok = gets(2, "call_0", "ok", &none);
    let other = asks(3, "call_0", "refund", &json!({"amount": 40}), &none);
    let look = asks(3, "call_0", "look", &json!({"amount": 1}), &none);
    let once = "call refund {\"amount\":1}, done refund \"ok\"";
    for (name, log, expected) in [
        ("repeated", vec![one.clone(), ok.clone(), one.clone(), ok.clone()], once.to_owned()),
        (
            "other arguments",
            vec![one.clone(), ok.clone(), other.clone(), ok.clone()],
            format!("{once}, call refund {{\"amount\":40}}, done refund \"ok\""),
        ),
        (
            "another tool",
            vec![one.clone(), ok.clone(), look, ok.clone()],
            format!("{once}, call look {{\"amount\":1}}, done look \"ok\""),
        ),
        (
            "another reply",
            vec![of_reply(one.clone(), "m1"), ok.clone(), of_reply(one.clone(), "m2"), ok.clone()],
            format!("{once}, {once}"),
        ),
        (
            "the same reply",
            vec![of_reply(one.clone(), "m1"), ok.clone(), of_reply(one.clone(), "m1"), ok.clone()],
            once.to_owned(),
        ),
        (
            "before its result",
            vec![one.clone(), one.clone(), other, ok.clone(), ok],
            "call refund {\"amount\":1}, call refund {\"amount\":40}, done refund \"ok\", done refund \"ok\""
                .to_owned(),
        ),
    ] {
        let taken = read(&lines(&log));
        assert_eq!(taken.in_short(), [expected], "{name}");
        assert_eq!(taken.said, [""; 0], "{name}");
    }
    // The same of Codex.
    let call = |amount: u64| {
        json!({"type": "response_item", "payload": {"type": "function_call", "call_id": "call_0", "name": "refund",
               "arguments": json!({"amount": amount}).to_string()}})
    };
    let output = json!({"type": "response_item", "payload":
        {"type": "function_call_output", "call_id": "call_0", "output": "ok"}});
    let log = [
        json!({"type": "session_meta", "payload": {"id": "s"}}),
        call(1),
        output.clone(),
        call(1),
        output.clone(),
        call(40),
        output,
    ];
    let expected = format!("{once}, call refund {{\"amount\":40}}, done refund \"ok\"");
    assert_eq!(read(&lines(&log)).in_short(), [expected]);
}

/// Logs of Codex, as their lines: `s1` is the first line of that session, and `pay` a call of it.
#[test]
fn joined_logs_of_codex_are_sessions_of_their_own() {
    for (log, expected) in [
        ("s1 a", vec!["s1: a"]),
        ("s1 a s2 b", vec!["s1: a", "s2: b"]),
        ("s1 a s2 b s1 c", vec!["s1: a c", "s2: b"]),
        // A session that continues others has their lines.
        ("s2 s1 a b", vec!["s2: a b"]),
        ("s3 s2 s1 a b", vec!["s3: a b"]),
        ("s2<s1 a s1 b", vec!["s2: a b"]),
        ("s1 a s1 b", vec!["s1: a b"]),
        ("s1 a s3 s2 b s4 c", vec!["s1: a", "s3: b", "s4: c"]),
        ("a b", vec![": a b"]),
    ] {
        let values: Vec<Value> = log
            .split(' ')
            .map(|word| match word.split_once('<').unwrap_or((word, "")) {
                (id, of) if id.starts_with('s') => {
                    json!({"type": "session_meta", "payload": {"id": id, "forked_from_id": of}})
                }
                (tool, _) => json!({"type": "response_item", "payload": {"type": "function_call",
                    "call_id": tool, "name": tool, "arguments": "{}"}}),
            })
            .collect();
        let taken = read(&lines(&values));
        let sessions = taken.sessions.iter().map(|session| {
            let tools: Vec<&str> = session.happened.iter().map(|event| event.tool.as_str()).collect();
            let name = session.name.strip_prefix("x.jsonl").unwrap_or_default();
            format!("{}: {}", name.strip_prefix(" session ").unwrap_or(name), tools.join(" "))
        });
        assert_eq!(sessions.collect::<Vec<_>>(), expected, "{log}");
    }
}

/// Where a log of Claude Code has calls beside the messages of the session.
#[test]
fn calls_of_other_lines_are_read_or_said() {
    let call = json!({"type": "tool_use", "id": "t9", "name": "pay", "input": {"x": 1}});
    let reply = json!({"id": "m2", "role": "assistant", "content": [call]});
    let with = |kind: &str, key: &str, value: &Value| json!({"sessionId": "s1", "type": kind, "uuid": "u", "timestamp": "2026-11-20T10:00:03.000Z", key: value});
    let of_agent = json!({"type": "agent_progress", "message": {"type": "assistant", "message": reply}});
    for (name, other, is_read) in [
        ("a sub-agent's", with("progress", "data", &of_agent), true),
        ("an attachment", with("attachment", "attachment", &json!({"message": {"content": [call]}})), false),
        ("another type", with("system", "message", &reply), false),
        ("one block", with("assistant", "message", &json!({"role": "assistant", "content": call})), false),
        ("of another form", with("assistant", "message", &json!({"tool_calls": [{"id": "c"}]})), false),
    ] {
        let none = json!({});
        let log = [
            line("user", 1, &json!("go"), &none),
            asks(2, "t1", "Task", &none, &none),
            other,
            gets(4, "t1", "done", &none),
        ];
        let taken = read(&lines(&log));
        let is_paid = taken.in_short()[0].contains("call Task {}, call pay {\"x\":1}, done Task \"done\"");
        assert_eq!((is_paid, taken.said.len()), (is_read, usize::from(!is_read)), "{name}: {taken:?}");
        assert!(taken.said.iter().all(|said| said.contains("what looks like calls")), "{name}: {taken:?}");
    }
}

#[test]
fn sub_agents_in_files_of_their_own_belong_to_the_session() {
    let (none, aside) = (json!({}), json!({"isSidechain": true, "agentId": "a1"}));
    let arguments = json!({"id": 1});
    let of_main = [
        line("user", 0, &json!("Refund it."), &none),
        asks(1, "t1", "look", &arguments, &none),
        gets(2, "t1", "paid", &none),
        asks(3, "t2", "Task", &json!({}), &none),
        gets(8, "t2", "done", &none),
        asks(9, "t3", "mail", &arguments, &none),
    ];
    let of_agent = [
        line("user", 4, &json!("Do it."), &aside),
        // An id that the session has as well.
        asks(5, "t1", "refund", &arguments, &aside),
        gets(6, "t1", "ok", &aside),
    ];
    let in_order = "call look {\"id\":1}, done look \"paid\", call Task {}, call refund {\"id\":1}, \
                    done refund \"ok\", done Task \"done\", call mail {\"id\":1}";
    let (main, agent) = (lines(&of_main), lines(&of_agent));
    let taken = read_files(&[("S1.jsonl", &main), ("S1/subagents/agent-a1.jsonl", &agent)]);
    assert_eq!(taken.in_short(), [in_order]);
    assert_eq!((taken.said.len(), taken.error), (0, None));
    let session = &taken.sessions[0];
    assert_eq!((session.name.as_str(), session.doubts.unordered), ("S1.jsonl session s1", 0));
    assert_eq!(session.query.as_deref(), Some("Refund it."));
    let places: Vec<(&str, u64)> =
        session.call_files.iter().map(|file| &**file).zip(session.call_lines.iter().copied()).collect();
    let (first, second) = ("S1.jsonl", "S1/subagents/agent-a1.jsonl");
    assert_eq!(places, [(first, 2), (first, 4), (second, 2), (first, 6)]);

    // The other way round, as where only the sub-agent's file was named first.
    assert_eq!(read_files(&[(second, &agent), (first, &main)]).in_short(), [in_order]);

    // What times leave open is said.
    let same = [asks(3, "a1", "refund", &arguments, &aside)];
    let taken = read_files(&[(first, &main), (second, &lines(&same))]);
    assert_eq!(taken.sessions[0].doubts.unordered, 2);
    let mut untimed = of_agent.clone();
    untimed.iter_mut().for_each(|line| drop(line.as_object_mut().unwrap().remove("timestamp")));
    let taken = read_files(&[(first, &main), (second, &lines(&untimed))]);
    assert_eq!(taken.sessions[0].doubts.unordered, 1);
    assert!(
        taken.in_short()[0].ends_with("call mail {\"id\":1}, call refund {\"id\":1}, done refund \"ok\"")
    );
    // The order of one file is kept, whatever its clock does.
    let back = [asks(7, "a1", "one", &none, &aside), asks(2, "a2", "two", &none, &aside)];
    let taken = read_files(&[(first, &main), (second, &lines(&back))]);
    assert!(taken.in_short()[0].contains("call one {}, call two {}, done Task"), "{:?}", taken.in_short());

    // What a sub-agent takes over from the session is the same call, if the reply says so.
    let taken_over = of_reply(asks(1, "t1", "look", &arguments, &none), "m1");
    let forked = lines(&[of_reply(asks(1, "t1", "look", &arguments, &aside), "m1"), of_agent[1].clone()]);
    let taken = read_files(&[(first, &lines(&[taken_over])), (second, &forked)]);
    assert_eq!(taken.in_short(), ["call look {\"id\":1}, call refund {\"id\":1}"]);

    // Without the session's own file, rules see only a part of it.
    let taken = read(&agent);
    assert!(taken.said[0].contains("only sub-agents of the session are recorded here"), "{:?}", taken.said);
    // Other records are not put together.
    let chat = json!({"messages": [{"role": "user", "content": "x"}]}).to_string();
    assert_eq!(read_files(&[("a.jsonl", &chat), ("b.jsonl", &chat)]).sessions.len(), 2);
    let taken = read_files(&[(first, &main), (second, &chat), ("c.jsonl", &agent)]);
    assert_eq!(taken.in_short(), [in_order]);
    assert!(taken.error.unwrap().contains("agent-a1.jsonl: not the log of a sub-agent"));
}

#[test]
fn the_names_of_agents_stay_as_they_are() {
    let none = json!({});
    let taken = read(&lines(&[asks(1, "t1", "mcp__my__shop__refund", &none, &none)]));
    assert_eq!(taken.in_short(), ["call mcp__my__shop__refund {}"]);
}
