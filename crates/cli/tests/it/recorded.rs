//! `planproof check --rules` over the records of others: each form of one session, and what is wrong with files.

use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
    - {id: look-first, requires: {call: refund, done: shop/look, result: {/paid: true}}, per: /id}\n\
    - {id: no-rm, never: {call: Bash, where: {/command: {matches: 'rm .*'}}}}\n\
    - {id: tell, followed-by: {done: refund, call: mail}}\n";

/// Holds a file against the rules, and gives what each session violates.
fn violated(place: &Place, file: &str, code: i32) -> Vec<(String, Vec<String>)> {
    let lines = json_lines(&place.run(&format!("check --rules rules.yaml --json {file}")).code(code).out);
    let of = |line: &Value| {
        let rules = line["rules"].as_array().unwrap().iter().filter(|rule| rule["held"] == false);
        let rules = rules.map(|rule| format!("{}@{}", rule["id"].as_str().unwrap(), rule["call"]));
        (line["session"].as_str().unwrap().to_owned(), rules.collect())
    };
    lines.iter().map(of).collect()
}

fn with(lines: &[Value]) -> (Place, String) {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    place.write("log.jsonl", &text);
    (place, text)
}

#[test]
fn the_log_of_claude_code() {
    let line = |kind: &str, content: Value, more: Value| {
        let mut line = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "s1",
            "version": "2.1.300", "type": kind, "message": {"role": kind, "content": content},
            "uuid": "u", "timestamp": "2026-11-20T10:00:00.000Z",
        });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let asks = |id: &str, name: &str, input: Value, more: Value| {
        line("assistant", json!([{"type": "tool_use", "id": id, "name": name, "input": input}]), more)
    };
    let gets = |id: &str, text: &str, is_error: bool, more: Value| {
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
        line("user", json!([result]), more)
    };
    let none = json!({});
    let aside = json!({"isSidechain": true, "agentId": "a1"});
    let looked = asks("1", "mcp__shop__look", json!({"id": 7}), none.clone());
    let lines = [
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s1", "timestamp": "..."}),
        json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
        line("user", json!("Refund order 7."), none.clone()),
        looked.clone(),
        gets("1", "{\"paid\": true}", false, none.clone()),
        asks("2", "refund", json!({"id": 7}), none.clone()),
        // A sub-agent belongs to the session.
        asks("3", "Bash", json!({"command": "rm -r ."}), aside.clone()),
        gets("3", "no", true, aside),
        gets("2", "done", false, none.clone()),
        // As after the session was resumed.
        looked,
        gets("1", "{\"paid\": true}", false, none.clone()),
        asks("9", "look", json!({}), json!({"sessionId": "s2"})),
        asks("4", "mail", json!({}), none),
    ];
    let (place, text) = with(&lines);
    let found = violated(&place, "log.jsonl", 1);
    assert_eq!(
        found,
        [
            ("log.jsonl session s1".to_owned(), vec!["no-rm@3".to_owned()]),
            ("log.jsonl session s2".to_owned(), vec![])
        ]
    );
    // Cut off, and damaged: what is left counts.
    place.write(
        "cut.jsonl",
        &format!("{}\n{}\n{}", &text[..text.len() / 2], "broken", &lines[12].to_string()[..40]),
    );
    let run = place.run("check --rules rules.yaml cut.jsonl").code(1);
    assert!(run.err.contains("left out"), "{run:?}");
    assert!(run.out.contains("no-rm") || run.out.contains("tell"), "{run:?}");
}

#[test]
fn the_log_of_codex() {
    let line = |kind: &str, payload: Value| json!({"timestamp": "2026-11-20T10:00:00Z", "ordinal": 1, "type": kind, "payload": payload});
    let item = |payload: Value| line("response_item", payload);
    let call = |id: &str, name: &str, arguments: Value| {
        item(
            json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id}),
        )
    };
    let output = |id: &str, output: Value| {
        item(json!({"type": "function_call_output", "call_id": id, "output": output}))
    };
    let lines = [
        line("session_meta", json!({"id": "s1", "cwd": "/w", "cli_version": "0.169.0"})),
        // Of the session that this one continues.
        line("session_meta", json!({"id": "s0"})),
        line("event_msg", json!({"type": "user_message", "message": "Refund order 7."})),
        call("1", "mcp__shop__look", json!({"id": 7})),
        output("1", json!("{\"paid\": false}")),
        call("2", "refund", json!({"id": 7})),
        output("2", json!({"content": "no", "success": false})),
        call("3", "exec_command", json!({"cmd": "ls"})),
        call("4", "shell", json!({"command": ["bash", "-lc", "rm -r ."]})),
        item(
            json!({"type": "custom_tool_call", "call_id": "5", "name": "apply_patch", "input": "*** Begin Patch"}),
        ),
        line("turn_context", json!({"model": "gpt-5"})),
    ];
    let (place, _) = with(&lines);
    let expected = vec!["look-first@2".to_owned(), "no-rm@4".to_owned()];
    assert_eq!(violated(&place, "log.jsonl", 1), [("log.jsonl session s1".to_owned(), expected.clone())]);
    // Older ones have the items themselves.
    let older: Vec<String> = lines
        .iter()
        .filter(|line| line["type"] == "response_item")
        .map(|line| line["payload"].to_string())
        .collect();
    let head = json!({"id": "s1", "timestamp": "2025-08-01T10:00:00Z", "instructions": null});
    place.write("older.jsonl", &format!("{head}\n{}\n", older.join("\n")));
    assert_eq!(violated(&place, "older.jsonl", 1), [("older.jsonl session s1".to_owned(), expected)]);
}

/// A span as OTLP has it.
fn span(id: u64, name: &str, (start, end): (u64, u64), attributes: &Value) -> Value {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| json!({"key": key, "value": union(value)}))
        .collect();
    json!({
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{id:016x}"), "name": name, "kind": 1,
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string(), "attributes": attributes,
        "status": {},
    })
}

fn union(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(value) => json!({ "boolValue": value }),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Array(items) => json!({"arrayValue": {"values": items.iter().map(union).collect::<Vec<_>>()}}),
        Value::Object(entries) => {
            let values: Vec<Value> =
                entries.iter().map(|(key, value)| json!({"key": key, "value": union(value)})).collect();
            json!({"kvlistValue": {"values": values}})
        }
        Value::Null => json!({}),
    }
}

fn request(spans: &[Value]) -> Value {
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": spans}]}]})
}

#[test]
fn spans_by_each_convention() {
    let genai = |tool: &str, arguments: Value, result: Value| {
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "mcp.server.name": "shop",
               "gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result})
    };
    // Children come before their parents, and the later call first.
    let refund =
        span(2, "execute_tool refund", (300, 400), &genai("refund", json!({"id": 7}), json!("done")));
    let look =
        span(1, "execute_tool look", (100, 200), &genai("look", json!("{\"id\": 7}"), json!({"paid": true})));
    let mail = span(3, "execute_tool mail", (500, 600), &genai("mail", json!({}), json!("sent")));
    let root = span(9, "invoke_agent", (50, 700), &json!({"gen_ai.conversation.id": "c1"}));
    let metrics = json!({"resourceMetrics": []});
    let (place, text) =
        with(&[metrics, request(std::slice::from_ref(&refund)), request(&[mail, look]), request(&[root])]);
    assert_eq!(violated(&place, "log.jsonl", 0), [("log.jsonl session c1".to_owned(), vec![])]);
    let run = place.run("check --rules rules.yaml log.jsonl").code(0);
    assert!(!run.out.contains("cannot be ordered") && !run.out.contains("same time"), "{run:?}");
    // A document over several lines, and a list of requests.
    let requests = json_lines(&text);
    place.write("list.json", &serde_json::to_string_pretty(&requests).unwrap());
    assert_eq!(violated(&place, "list.json", 0).len(), 1);
    place.write("pretty.json", &requests.iter().map(|it| format!("{it:#}\n")).collect::<String>());
    assert_eq!(violated(&place, "pretty.json", 0).len(), 1);

    // Other conventions, each with the same three calls in one trace.
    let openinference = |tool: &str, arguments: Value, result: Value| {
        json!({"openinference.span.kind": "TOOL", "tool.name": tool, "session.id": "s", "mcp.server.name": "shop",
               "input.value": arguments.to_string(), "output.value": result.to_string()})
    };
    let traceloop = |tool: &str, arguments: Value, result: Value| {
        let input = json!({"input_str": "x", "inputs": arguments}).to_string();
        json!({"traceloop.span.kind": "tool", "traceloop.entity.name": tool, "mcp.server.name": "shop",
               "traceloop.entity.input": input, "traceloop.entity.output": result.to_string()})
    };
    // As callbacks of LangChain report a message of a tool, in both forms.
    let message = |data: Value| json!({"content": data.to_string(), "type": "tool", "status": "success"});
    let callbacks = |tool: &str, arguments: Value, result: Value| {
        let input = json!({"input_str": "x", "inputs": arguments, "kwargs": {}}).to_string();
        let id = ["langchain", "schema", "messages", "ToolMessage"];
        let output = json!({"lc": 1, "type": "constructor", "id": id, "kwargs": message(result)});
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "mcp.server.name": "shop",
               "gen_ai.tool.call.arguments": input,
               "gen_ai.tool.call.result": json!({"output": output, "kwargs": {"color": "green"}}).to_string()})
    };
    let of_data = |tool: &str, arguments: Value, result: Value| {
        json!({"openinference.span.kind": "TOOL", "tool.name": tool, "mcp.server.name": "shop",
               "input.value": arguments.to_string(),
               "output.value": json!({"type": "tool", "data": message(result)}).to_string()})
    };
    let vercel = |tool: &str, arguments: Value, result: Value| {
        json!({"operation.name": "ai.toolCall", "ai.toolCall.name": tool, "mcp.server.name": "shop",
               "ai.toolCall.args": arguments.to_string(), "ai.toolCall.result": result.to_string()})
    };
    type Convention = dyn Fn(&str, Value, Value) -> Value;
    for (name, attributes) in [
        ("openinference", &openinference as &Convention),
        ("traceloop", &traceloop),
        ("callbacks", &callbacks),
        ("data", &of_data),
        ("vercel", &vercel),
    ] {
        for paid in [true, false] {
            let spans = [
                span(1, "x", (100, 200), &attributes("look", json!({"id": 7}), json!({"paid": paid}))),
                span(2, "x", (300, 400), &attributes("refund", json!({"id": 7}), json!("done"))),
                span(3, "x", (500, 600), &attributes("mail", json!({}), json!("sent"))),
            ];
            place.write("other.jsonl", &format!("{}\n", request(&spans)));
            let found = violated(&place, "other.jsonl", i32::from(!paid));
            let expected = if paid { vec![] } else { vec!["look-first@2".to_owned()] };
            assert_eq!(found[0].1, expected, "{name}");
        }
    }
    // The texts of a call in events, as an older convention has them, and a status that says it failed.
    let mut look = span(
        1,
        "x",
        (100, 200),
        &json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}),
    );
    look["events"] = json!([
        {"name": "gen_ai.tool.message", "attributes": [{"key": "content", "value": {"stringValue": "{\"id\": 7}"}}]},
        {"name": "gen_ai.choice", "attributes": [{"key": "message", "value": {"stringValue": "{\"paid\": true}"}}]},
    ]);
    look["status"] = json!({"code": "STATUS_CODE_ERROR"});
    place.write("events.jsonl", &format!("{}\n", request(&[look, refund])));
    assert_eq!(violated(&place, "events.jsonl", 1)[0].1, ["look-first@2", "tell@null"]);
}

#[test]
fn spans_as_consoles_and_files_of_sdks_have_them() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let of_python = |id: &str, tool: &str, start: &str, end: &str, result: &str| {
        json!({
            "name": format!("execute_tool {tool}"), "context": {"trace_id": "0x1", "span_id": id, "trace_state": "[]"},
            "kind": "SpanKind.INTERNAL", "parent_id": null, "start_time": start, "end_time": end,
            "status": {"status_code": "UNSET"}, "events": [], "links": [], "resource": {"attributes": {}},
            "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "mcp.server.name": "shop",
                           "gen_ai.tool.call.arguments": "{\"id\": 7}", "gen_ai.tool.call.result": result},
        })
    };
    let spans = [
        of_python("0xb", "refund", "2026-11-20T10:00:01.5Z", "2026-11-20T10:00:02.000001Z", "done"),
        of_python("0xa", "look", "2026-11-20T10:00:00.1Z", "2026-11-20T10:00:00.2Z", "{\"paid\": true}"),
    ];
    place.write("console.txt", &spans.iter().map(|span| format!("{span:#}\n")).collect::<String>());
    assert_eq!(violated(&place, "console.txt", 1)[0].1, ["tell@null"]);
    let of_node = |id: &str, tool: &str, start: u64, end: u64| {
        json!({"type": "span", "traceId": "1", "spanId": id, "name": format!("execute_tool {tool}"), "startTime": [start, 5],
               "endTime": [end, 5], "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}})
    };
    let spans = [of_node("b", "refund", 12, 13), of_node("a", "look", 10, 11)];
    place.write("node.jsonl", &spans.iter().map(|span| format!("{span}\n")).collect::<String>());
    let run = place.run("check --rules rules.yaml node.jsonl").code(1);
    assert!(run.out.contains("2 calls recorded without arguments"), "{run:?}");
}

/// Written by `ci/guarded/traced_*.py`: real agents of LangGraph and Pydantic AI, by OpenTelemetry's console exporter.
#[test]
fn spans_of_real_agents() {
    let place = Place::new();
    place.write(
        "rules.yaml",
        "schema: planproof/rules/v1\nrules:\n\
         - {id: look-first, requires: {call: refund, done: get_order, result: {/status: paid}}, per: /order_id}\n\
         - {id: not-open, requires: {call: refund, done: get_order, result: {/status: open}}, per: /order_id}\n\
         - {id: once, at-most: {done: refund, times: 1}, per: /order_id}\n\
         - {id: other, never: {call: get_order, where: {/order_id: {is-not: 17}}}}\n",
    );
    for (name, text) in [
        ("langgraph-openinference", include_str!("../data/traces/langgraph-openinference.json")),
        ("langgraph-openllmetry", include_str!("../data/traces/langgraph-openllmetry.json")),
        ("pydantic-ai", include_str!("../data/traces/pydantic-ai.json")),
    ] {
        place.write("spans.txt", text);
        let found = violated(&place, "spans.txt", 1);
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].1, ["not-open@2", "once@3"], "{name}");
    }
}

#[test]
fn what_times_leave_open_is_said() {
    let call = |id: u64, tool: &str, times: (u64, u64)| {
        span(
            id,
            tool,
            times,
            &json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
                                      "gen_ai.tool.call.arguments": "{}"}),
        )
    };
    let told = |spans: &[Value]| {
        let (place, _) = with(&[request(spans)]);
        let run = place.run("check --rules rules.yaml --json log.jsonl");
        assert!(run.code < 2, "{run:?}");
        let line = json_lines(&run.out).remove(0);
        (line["calls"].clone(), line["overlapping"].clone(), line["unordered"].clone())
    };
    let none = Value::Null;
    assert_eq!(
        told(&[call(1, "a", (10, 20)), call(2, "b", (30, 40))]),
        (json!(2), none.clone(), none.clone())
    );
    assert_eq!(told(&[call(1, "a", (10, 30)), call(2, "b", (20, 40))]), (json!(2), json!(2), none.clone()));
    assert_eq!(told(&[call(1, "a", (10, 20)), call(2, "b", (20, 40))]), (json!(2), none.clone(), json!(2)));
    assert_eq!(told(&[call(1, "a", (0, 0)), call(2, "b", (20, 40))]).2, json!(1));
    // A clock that jumps back: the end is not before the start.
    assert_eq!(
        told(&[call(1, "a", (10, 5)), call(2, "b", (20, 40))]),
        (json!(2), none.clone(), none.clone())
    );
    // The same span twice, and one that another span of the same call is around.
    let mut inner = call(3, "a", (12, 18));
    inner["parentSpanId"] = json!(format!("{:016x}", 1));
    assert_eq!(
        told(&[call(1, "a", (10, 20)), inner, call(1, "a", (10, 20))]),
        (json!(1), none.clone(), none)
    );
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let one = json!({"messages": [{"role": "user", "content": "x"}]}).to_string();
    let long = json!({"messages": [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "refund", "arguments": "{\"id\": 1}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "x".repeat(5 << 20)},
    ]})
    .to_string();
    for (name, text, code, words) in [
        ("empty.jsonl", String::new(), 2, "no session is found in empty.jsonl"),
        (
            "version.jsonl",
            "{\"schema\":\"planproof/trace/v9\",\"case\":\"a\"}\n".to_owned(),
            2,
            "planproof/trace/v9",
        ),
        ("other.jsonl", "{\"schema\":\"planproof/case/v1\"}\n".to_owned(), 2, "has no sessions"),
        ("decision.jsonl", "{\"schema\":\"planproof/decision/v7\"}\n".to_owned(), 2, "planproof/decision/v7"),
        ("number.json", r#"{"resourceSpans": 5}"#.to_owned(), 2, "`resourceSpans` is not a list"),
        (
            "scopes.json",
            r#"{"resourceSpans": [{"scopeSpans": {}}]}"#.to_owned(),
            2,
            "`scopeSpans` is not a list",
        ),
        ("cut.json", format!("{{\n \"resourceSpans\": [{}", "1,".repeat(9)), 2, "cut off"),
        ("cut.jsonl", format!("{one}\n{}", &one[..20]), 0, "cut.jsonl:2: left out: the line is cut off"),
        ("middle.jsonl", format!("{one}\n{}\n{one}\n", &one[..20]), 2, "middle.jsonl:2: no session"),
        ("nothing.jsonl", "{\"resourceSpans\":[]}\n".to_owned(), 2, "no session is found in nothing.jsonl"),
        ("list.json", "[]".to_owned(), 2, "nothing was held against the rules"),
        (
            "numbers.jsonl",
            format!(
                "{}\n",
                json!({"resourceSpans": [{"scopeSpans": [{"spans": [
                    {"traceId": 7, "spanId": "a"}, {"traceId": "a", "spanId": "b", "startTimeUnixNano": "-1", "endTimeUnixNano": 1e300,
                     "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}, {"value": 3}, 7]}, 3
                ]}]}]})
            ),
            0,
            "left out: ",
        ),
        ("long.jsonl", format!("{one}\n{long}\n"), 1, ""),
        ("deep.jsonl", format!("{one}\n{}\n", "[".repeat(100_000)), 2, "deep.jsonl:2"),
    ] {
        place.write(name, &text);
        let run = place.run(&format!("check --rules rules.yaml {name}")).code(code);
        assert!(run.err.contains(words), "{name}: {run:?}");
        assert!(run.err.lines().count() <= 2, "{name}: {run:?}");
    }
}

/// Other signals and foreign lines in a file of many lines: only what a session needs is kept.
#[test]
fn stdin_is_read_as_a_file_is() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let line = json!({"messages": [{"role": "assistant", "content": [
        {"type": "tool_use", "id": "1", "name": "mail", "input": {}}]}]});
    let text = format!("\u{feff}{line}\n\n{line}\n");
    let run = Run::of(place.command(&["check", "--rules", "rules.yaml", "-"]), &text).code(0);
    assert!(run.out.contains("-:1: 1 call, all rules held\n-:3: 1 call"), "{run:?}");
}

#[test]
fn violations_are_reported_to_ci_and_to_code_scanning() {
    let place = Place::new();
    place.write(
        "rules.yaml",
        &RULES.replace("never: {call: Bash", "why: \"Ask <first> & \\\"wait\\\".\", never: {call: Bash"),
    );
    let session = |command: &str| {
        let input = json!({"command": command});
        json!({"messages": [{"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "refund", "input": {"id": 7}},
            {"type": "tool_use", "id": "2", "name": "Bash", "input": input}]}]})
    };
    let text: String = ["ls", "rm a\u{202e}b]]>", "rm x"].map(|it| format!("{}\n", session(it))).concat();
    place.write("a log.jsonl", &text);
    let fine = json!({"messages": [{"role": "user", "content": "x"}]});
    place.write("fine.jsonl", &format!("{fine}\n{fine}\n"));
    let words = [
        "check",
        "--rules",
        "rules.yaml",
        "a log.jsonl",
        "fine.jsonl",
        "--junit",
        "j.xml",
        "--sarif",
        "s.sarif",
    ];
    let run = place.run_words(&words).code(1);
    assert!(run.out.contains("5 sessions, 3 violate rules: look-first 3, no-rm 2"), "{run:?}");
    assert!(run.err.contains("wrote j.xml") && run.err.contains("wrote s.sarif"), "{run:?}");
    let xml = std::fs::read_to_string(place.path("j.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let suites: Vec<_> =
        document.root_element().children().filter(|it| it.has_tag_name("testsuite")).collect();
    let counts = |suite: &roxmltree::Node<'_, '_>| {
        let cases = suite.children().filter(|it| it.has_tag_name("testcase"));
        let failed = cases.clone().filter(|it| it.children().any(|it| it.has_tag_name("failure")));
        let number = |name: &str| suite.attribute(name).unwrap().parse::<usize>().unwrap();
        assert_eq!((number("tests"), number("failures")), (cases.clone().count(), failed.clone().count()));
        (number("tests"), number("failures"))
    };
    assert_eq!(suites.iter().map(counts).collect::<Vec<_>>(), [(3, 3), (2, 0)]);
    assert!(xml.contains("no-rm: A call of Bash") && xml.contains("Ask &lt;first&gt; &amp;"), "{xml}");
    assert!(!xml.contains('\u{202e}'), "{xml}");

    let sarif: Value =
        serde_json::from_str(&std::fs::read_to_string(place.path("s.sarif")).unwrap()).unwrap();
    assert!(jsonschema::is_valid(&sarif_schema(), &sarif), "{sarif:#}");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let found: Vec<(&str, u64)> = results
        .iter()
        .map(|it| {
            let place = &it["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "a%20log.jsonl");
            (it["ruleId"].as_str().unwrap(), place["region"]["startLine"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(found, [("look-first", 1), ("look-first", 2), ("no-rm", 2), ("look-first", 3), ("no-rm", 3)]);
    let prints: std::collections::HashSet<&str> =
        results.iter().map(|it| it["partialFingerprints"]["planproof/v1"].as_str().unwrap()).collect();
    assert_eq!(prints.len(), 5);
    // The canary: a result without its message is caught.
    let mut broken = sarif.clone();
    broken["runs"][0]["results"][0].as_object_mut().unwrap().remove("message");
    assert!(!jsonschema::is_valid(&sarif_schema(), &broken));

    // Without violations, and to stdout, which then has nothing else.
    let run = place.run("check --rules rules.yaml fine.jsonl --sarif -").code(0);
    assert_eq!(run.json()["runs"][0]["results"], json!([]));
    for (options, words) in [
        ("--sarif - --json", "both write to stdout"),
        ("--sarif rules.yaml", "is the file of --rules"),
        ("--junit fine.jsonl", "is the file of TRACE"),
        ("--junit x --sarif x", "is the file of --junit"),
        ("--sarif no/such/folder", "--sarif"),
    ] {
        let run = place.run(&format!("check --rules rules.yaml fine.jsonl {options}")).code(2);
        assert!(run.err.contains(words), "{run:?}");
    }
    place.run("check --case cases.jsonl --calls a --sarif x").code(2);
}

/// What SARIF 2.1.0 demands of the parts that are written.
fn sarif_schema() -> Value {
    serde_json::from_str(include_str!("../data/sarif.schema.json")).unwrap()
}
