//! Files of which a line was cut off, wherever it stands: what is whole counts, and what is left out is said.

use serde_json::{Value, json};

use crate::support::{lines, read};

/// Records of each form whose lines have a call each, by the numbers of the calls.
fn records() -> Vec<(&'static str, Vec<Value>)> {
    let decision = |number: u64| {
        json!({"kind": "decision", "schema": "planproof/decision/v1", "session": "s", "seam": "mcp",
            "call": {"number": number, "tool": format!("t{number}"), "arguments": {"a": {"b": [{"c": 1}]}}}, "rules": [],
            "action": "passed", "mode": "enforce", "digest": "sha256:0", "microseconds": 9})
    };
    let claude = |number: u64| {
        json!({"sessionId": "s", "type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("c{number}"), "name": format!("t{number}"), "input": {"a": {"b": 1}}}]}})
    };
    let codex = |number: u64| {
        json!({"type": "response_item", "payload": {"type": "function_call", "call_id": format!("c{number}"),
            "name": format!("t{number}"), "arguments": "{}"}})
    };
    let spans = |number: u64| {
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": format!("{number}"), "name": "x",
            "startTimeUnixNano": number, "endTimeUnixNano": number, "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": format!("t{number}")}}]}]}]}]})
    };
    [
        ("decisions", &decision as &dyn Fn(u64) -> Value),
        ("claude", &claude),
        ("codex", &codex),
        ("spans", &spans),
    ]
    .map(|(name, make)| (name, (1..=4).map(make).collect()))
    .to_vec()
}

/// Files that were joined: of each pair of forms, every call is read, or a warning has the line of one that is not, or
/// the file is refused.
#[test]
fn nothing_of_another_form_is_lost_in_silence() {
    let asks = json!({"role": "assistant", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "t1", "arguments": "{}"}}]});
    let more = [
        ("chat", vec![json!({"messages": [{"role": "user", "content": "hi"}, asks]})]),
        ("list", vec![json!([{"role": "user", "content": "hi"}, asks])]),
        ("message", vec![asks.clone()]),
        (
            "responses",
            vec![
                json!({"output": [{"type": "function_call", "call_id": "1", "name": "t1", "arguments": "{}"}]}),
            ],
        ),
        ("reply", vec![json!({"choices": [{"message": asks}]})]),
        (
            "span",
            vec![json!({"name": "execute_tool t1", "context": {"trace_id": "1", "span_id": "2"},
            "attributes": {"gen_ai.operation.name": "execute_tool"}})],
        ),
        ("trace", vec![json!({"schema": "planproof/trace/v1"})]),
    ];
    let records: Vec<(&str, Vec<Value>)> = records().into_iter().chain(more).collect();
    for (one, first) in records.iter().filter(|(name, _)| !["message", "trace"].contains(name)) {
        for (other, second) in records.iter().filter(|(name, _)| name != one) {
            let name = format!("{one}, {other}");
            let (called, said) = tools(&lines(&[first.clone(), second.clone()].concat()));
            let is_whole = called.len() == first.len() + second.len();
            let place = format!("x.jsonl:{}", first.len() + 1);
            assert!(is_whole || said.contains(&place), "{name}: {called:?} {said}");
            // What one form writes in two ways is read.
            let is_alike = [one, other].iter().all(|it| it.starts_with("span"));
            assert!(!is_alike || is_whole && said.is_empty(), "{name}: {called:?} {said}");
        }
    }
    // Lines that only look odd are nothing to speak of.
    let (claude, codex) = (&records[1].1, &records[2].1);
    let odd = [
        json!({"type": "summary", "summary": "x", "leafUuid": "u"}),
        json!({"type": "queue-operation", "content": "x"}),
    ];
    assert_eq!(tools(&lines(&[claude.as_slice(), &odd].concat())).1, "");
    let odd = [json!({"type": "message", "role": "user", "content": []}), json!({"record_type": "state"})];
    assert_eq!(tools(&lines(&[codex.as_slice(), &odd].concat())).1, "");
    let other = [json!({"contents": [{"parts": [{"functionCall": {"name": "t1"}}]}]})];
    for record in [claude, codex] {
        let (_, said) = tools(&lines(&[record.as_slice(), &other].concat()));
        assert!(said.contains("`functionCall`: what looks like calls"), "{said}");
    }
}

/// The tools that are called.
fn tools(text: &str) -> (Vec<String>, String) {
    let taken = read(text);
    let calls = taken.sessions.iter().flat_map(|session| &session.happened);
    let calls = calls.filter(|event| event.outcome.is_none()).map(|event| event.tool.clone()).collect();
    (calls, taken.said.join("; ") + &taken.error.unwrap_or_default())
}

#[test]
fn a_line_that_is_cut_off_is_left_out_wherever_it_stands() {
    for (name, values) in records() {
        let whole: Vec<String> = values.iter().map(Value::to_string).collect();
        for at in 0..whole.len() {
            let length = whole[at].len();
            // Not within characters, and at many places: strings, names, numbers, between values.
            for cut in (1..length).filter(|cut| cut % 7 == 1 || length - cut < 9) {
                let text: String = whole
                    .iter()
                    .enumerate()
                    .map(|(place, line)| format!("{}\n", if place == at { &line[..cut] } else { line }))
                    .collect();
                let (called, said) = tools(&text);
                let expected: Vec<String> =
                    (1..=4).filter(|it| *it != at + 1).map(|it| format!("t{it}")).collect();
                // Of a cut request, whole spans within it may be left.
                let is_left = called.len() == 4 && name == "spans";
                assert!(called == expected || is_left, "{name}, {at} cut at {cut}: {called:?} {said}");
                assert!(said.contains(&format!("x.jsonl:{}: ", at + 1)), "{name}, {at} cut at {cut}: {said}");
            }
        }
    }
}

/// A line as its writer has it: what a guard logs begins with its kind.
fn as_written(value: &Value) -> String {
    let mut rest = value.clone();
    match rest.as_object_mut().and_then(|entries| entries.remove("kind")) {
        Some(kind) if value.get("schema").is_some() => {
            format!("{{\"kind\":{kind},{}", &rest.to_string()[1..])
        }
        _ => value.to_string(),
    }
}

#[test]
fn a_line_that_is_glued_to_one_that_is_cut_off_counts() {
    for (name, values) in records() {
        let whole: Vec<String> = values.iter().map(as_written).collect();
        for at in 0..3 {
            let length = whole[at].len();
            // Where a value is due, what is glued there is one.
            let is_due = |cut: usize| whole[at][..cut].ends_with(':');
            for cut in (1..length).filter(|cut| !is_due(*cut) && (cut % 7 == 1 || length - cut < 9)) {
                let text: String = whole
                    .iter()
                    .enumerate()
                    .map(
                        |(place, line)| {
                            if place == at { line[..cut].to_owned() } else { format!("{line}\n") }
                        },
                    )
                    .collect();
                let (called, said) = tools(&text);
                let expected: Vec<String> =
                    (1..=4).filter(|it| *it != at + 1).map(|it| format!("t{it}")).collect();
                assert_eq!(called, expected, "{name}, {at} cut at {cut}: {said}");
                assert!(said.contains(&format!("x.jsonl:{}: ", at + 1)), "{name}, {at} cut at {cut}: {said}");
            }
        }
    }
}

#[test]
fn a_document_over_several_lines_is_not_taken_for_lines() {
    let (_, values) = records().remove(3);
    for text in [
        format!("{:#}", values[0]),
        values.iter().map(|value| format!("{value:#}\n")).collect(),
        format!("[\n{}\n]\n", values[0]),
        format!("[\n{}\n]\n", values.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n")),
        format!("{{\"resourceSpans\":\n{}\n}}", values[0]["resourceSpans"]),
        format!("\n\n{:#}\n", values[0]),
    ] {
        let (called, said) = tools(&text);
        assert!(called.first().is_some_and(|tool| tool == "t1"), "{text}");
        assert_eq!(said, "", "{text}");
    }
    // Nothing is made of what is not a record.
    for text in ["a\nb\n{\"x\":1}\n", "{\n\"resourceSpans\": [1,", "{\"a\n", "\u{1}\n{}\n", "a"] {
        let taken = read(text);
        assert!(taken.sessions.is_empty() && taken.error.is_some(), "{text}: {taken:?}");
    }
    let chat = json!({"messages": [{"role": "user", "content": "x"}]});
    let text = lines(&[chat.clone(), chat.clone()]);
    assert!(read(&text[20..]).error.unwrap().contains("x.jsonl:1: no session"));
}
