//! Spans of one call, which count once and say together what is known of it.

use serde_json::{Map, Value, json};

use crate::support::{Taken, read};

/// A span with these attributes.
fn span(id: &str, parent: &str, (start, end): (u64, u64), attributes: &Value) -> Value {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
        .collect();
    let mut span = json!({"traceId": "t", "spanId": id, "name": "x", "startTimeUnixNano": start.to_string(),
        "endTimeUnixNano": end.to_string(), "attributes": attributes});
    if !parent.is_empty() {
        span["parentSpanId"] = json!(parent);
    }
    span
}

fn tool(more: &Value) -> Value {
    let mut attributes = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"});
    attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    attributes
}

fn over_mcp(more: &Value) -> Value {
    let mut attributes = json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "refund"});
    attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    attributes
}

fn request(spans: &[Value]) -> Value {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}

/// With the keys in the other spelling that JSON of protocol buffers has.
fn snake(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(snake).collect(),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let words = key.chars().flat_map(|c| {
                    let is_upper = c.is_ascii_uppercase();
                    is_upper.then_some('_').into_iter().chain([c.to_ascii_lowercase()])
                });
                (words.collect::<String>(), snake(value))
            });
            Value::Object(entries.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn short(taken: &Taken) -> String {
    assert_eq!((taken.error.as_ref(), taken.sessions.len()), (None, 1), "{taken:?}");
    taken.in_short().remove(0)
}

#[test]
fn spans_of_one_call_are_one_in_any_order() {
    let (none, id) = (json!({}), json!({"gen_ai.tool.call.id": "c"}));
    let amount = |amount: u64, id: &str| {
        tool(
            &json!({"gen_ai.tool.call.arguments": json!({"amount": amount}).to_string(), "gen_ai.tool.call.id": id}),
        )
    };
    let one = "call refund {}, done refund null";
    let once = "call refund {\"amount\":1}, done refund null";
    let twice = "call refund {\"amount\":1}, done refund null, call refund {\"amount\":2}, done refund null";
    let chat = json!({"gen_ai.operation.name": "chat"});
    let other = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "agent"});
    let named = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "mcp__shop__refund"});
    for (name, spans, expected) in [
        ("within", vec![span("p", "", (1, 4), &tool(&none)), span("q", "p", (2, 3), &over_mcp(&none))], one),
        (
            "with others between",
            vec![
                span("p", "", (1, 9), &tool(&none)),
                span("m", "p", (2, 8), &none),
                span("n", "m", (3, 7), &none),
                span("q", "n", (4, 6), &tool(&none)),
            ],
            one,
        ),
        // Both used to be left out where the inner one came first.
        (
            "within and with one id",
            vec![span("p", "", (1, 4), &tool(&id)), span("q", "p", (2, 3), &tool(&id))],
            one,
        ),
        ("sent twice", vec![span("p", "", (1, 4), &tool(&none)), span("p", "", (1, 4), &tool(&none))], one),
        (
            "within each other",
            vec![span("p", "q", (1, 4), &tool(&none)), span("q", "p", (2, 3), &tool(&none))],
            one,
        ),
        ("within itself", vec![span("p", "p", (1, 4), &tool(&none))], one),
        (
            "the name of an agent",
            vec![span("p", "", (1, 4), &named), span("q", "p", (2, 3), &over_mcp(&none))],
            "call mcp__shop__refund {}, done mcp__shop__refund null",
        ),
        (
            "a model decides between",
            vec![
                span("p", "", (1, 9), &tool(&none)),
                span("m", "p", (2, 8), &chat),
                span("q", "m", (3, 4), &tool(&none)),
            ],
            "call refund {}, call refund {}, done refund null, done refund null",
        ),
        (
            "another tool between",
            vec![
                span("p", "", (1, 9), &tool(&none)),
                span("m", "p", (2, 8), &other),
                span("q", "m", (3, 4), &tool(&none)),
            ],
            "call refund {}, call agent {}, call refund {}, done refund null, done agent null, done refund null",
        ),
        (
            "an id again",
            vec![span("p", "", (1, 2), &amount(1, "c")), span("q", "", (3, 4), &amount(2, "c"))],
            twice,
        ),
        ("one id", vec![span("p", "", (1, 4), &amount(1, "c")), span("q", "", (2, 3), &tool(&id))], once),
        ("no id", vec![span("p", "", (1, 2), &amount(1, "")), span("q", "", (3, 4), &amount(2, ""))], twice),
    ] {
        let reversed: Vec<Value> = spans.iter().rev().cloned().collect();
        for spans in [spans, reversed] {
            let request = request(&spans);
            for request in [&request, &snake(&request)] {
                let taken = read(&request.to_string());
                assert_eq!(short(&taken), expected, "{name}: {request}");
            }
        }
    }
}

#[test]
fn what_one_span_does_not_say_another_does() {
    let none = json!({});
    let said = json!({"gen_ai.tool.call.arguments": "{\"amount\":40}", "gen_ai.tool.call.result": "\"ok\""});
    let server = json!({"mcp.server.name": "shop", "gen_ai.tool.call.arguments": "{\"amount\":40}"});
    let failed = json!({"error.type": "tool_error"});
    let empty = json!({"gen_ai.tool.call.arguments": "{}"});
    let id = json!({"gen_ai.tool.call.id": "c"});
    let mut id_said = id.clone();
    id_said.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
    let whole = "call refund {\"amount\":40}, done refund \"ok\"";
    for (name, outer, inner, expected) in [
        ("inner", tool(&none), over_mcp(&said), whole),
        ("outer", tool(&said), over_mcp(&none), whole),
        ("empty", tool(&empty), over_mcp(&said), whole),
        ("by id", tool(&id), tool(&id_said), whole),
        ("server", tool(&none), over_mcp(&server), "call shop/refund {\"amount\":40}, done shop/refund null"),
        ("inner error", tool(&said), over_mcp(&failed), "call refund {\"amount\":40}, failed refund \"ok\""),
        ("error alone", tool(&none), over_mcp(&failed), "call refund {}, failed refund \"tool_error\""),
        (
            "outer error",
            tool(&failed),
            over_mcp(&said),
            "call refund {\"amount\":40}, failed refund \"tool_error\"",
        ),
    ] {
        let parent = if name == "by id" { "" } else { "p" };
        let spans = [span("p", "", (1, 4), &outer), span("q", parent, (2, 3), &inner)];
        for spans in [spans.to_vec(), spans.iter().rev().cloned().collect()] {
            let taken = read(&request(&spans).to_string());
            assert_eq!(short(&taken), expected, "{name}");
            let is_without = expected.contains("refund {}");
            assert_eq!(taken.sessions[0].doubts.without_arguments, usize::from(is_without), "{name}");
            assert_eq!(taken.sessions[0].doubts.overlapping, 0, "{name}");
        }
    }
    // An attempt that failed before another one is not the end.
    let spans = [
        span("p", "", (1, 9), &tool(&none)),
        span("q", "p", (2, 3), &over_mcp(&failed)),
        span("r", "p", (4, 5), &over_mcp(&said)),
    ];
    assert_eq!(short(&read(&request(&spans).to_string())), whole);
}
