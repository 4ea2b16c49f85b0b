//! What the result of a call is, in whatever form it comes.

use std::sync::Arc;

use planproof_guard::{GuardMode, HookDialect, HookEvent, HookPayload, LineGuard};
use planproof_spec::rules::{mcp_result, result_of};
use planproof_trace::Secrets;
use serde_json::{Value, json};

use crate::support::{call, guard, is_passed, rules};

/// Results as servers send them, and what they are to rules. The first ones are what the SDK for Python makes of
/// `list[dict]`, `str`, `int`, `dict`, a model, `Model | None`, `None` and `list[str]`, in its versions 1.30 and 2.3.
fn results() -> Vec<(Value, Value)> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let paid = json!({"status": "paid"});
    let (a, b) = (json!({"email": "a@x.org"}), json!({"email": "b@x.org"}));
    let (a_text, b_text) = (text("{\n  \"email\": \"a@x.org\"\n}"), text("{\n  \"email\": \"b@x.org\"\n}"));
    let paid_text = text("{\n  \"status\": \"paid\"\n}");
    let both = json!({"result": [a, b]});
    let of = |content: Value, structured: &Value| json!({"content": content, "isError": false, "structuredContent": structured});
    let plain = |content: Value| json!({ "content": content });
    vec![
        (of(json!([a_text, b_text]), &both), both.clone()),
        (of(json!([a_text]), &json!({"result": [a]})), json!({"result": [a]})),
        (of(json!([]), &json!({"result": []})), json!({"result": []})),
        (of(json!([text("refunded")]), &json!({"result": "refunded"})), json!({"result": "refunded"})),
        (of(json!([text("3")]), &json!({"result": 3})), json!({"result": 3})),
        (plain(json!([paid_text])), paid.clone()),
        (of(json!([paid_text]), &paid), paid.clone()),
        (of(json!([paid_text]), &json!({"result": paid})), json!({"result": paid})),
        (of(json!([]), &json!({"result": null})), json!({"result": null})),
        (of(json!([text("a"), text("b")]), &json!({"result": ["a", "b"]})), json!({"result": ["a", "b"]})),
        // Without structured content, texts that are JSON are a list, and words beside one are no part of it.
        (plain(json!([a_text, b_text])), json!([a, b])),
        (plain(json!([text("1"), text("2")])), json!([1, 2])),
        (plain(json!([text("{\"status\":\"paid\"}"), text("(cached)")])), paid.clone()),
        (plain(json!([text("Found 2:"), a_text, b_text])), json!([a, b])),
        (plain(json!([text("1"), text("of many")])), json!("1\nof many")),
        (plain(json!([text("{\"n\":1}\n{\"n\":2}\n")])), json!([{"n": 1}, {"n": 2}])),
        (plain(json!([text("{\"n\":1} and more")])), json!("{\"n\":1} and more")),
        (plain(json!([text(""), {"type": "image", "data": "", "mimeType": "image/png"}])), json!("")),
        (
            plain(json!([{"type": "resource", "resource": {"uri": "file:///a", "text": "{\"n\":1}"}}])),
            json!({"n": 1}),
        ),
        // The structured content counts, whatever the text says.
        (of(json!([text("Order 2 is paid.")]), &paid), paid.clone()),
        (of(json!([text("{\"status\":\"paid\"}")]), &json!({"status": "open"})), json!({"status": "open"})),
        (json!({"content": [paid_text], "structuredContent": null}), paid.clone()),
        // Without any block, and without content.
        (plain(json!([])), json!([])),
        (json!({"content": [], "isError": false}), json!([])),
        (json!({"structuredContent": paid}), paid.clone()),
        (json!({"structuredContent": [1], "isError": false}), json!([1])),
        (json!({"structured_content": paid}), paid),
        (json!([]), json!([])),
        (json!({}), json!({})),
        (plain(json!("a text")), plain(json!("a text"))),
        (json!({"content": "a text", "isError": false}), json!("a text")),
        // Half a character within a text that is JSON.
        (plain(json!([text("{\"ok\":true,\"name\":\"\\ud83d\"}")])), json!({"ok": true, "name": "\u{fffd}"})),
        (plain(json!([text("{\"n\":\"\\ud83d\"} {\"n\":2}")])), json!([{"n": "\u{fffd}"}, {"n": 2}])),
    ]
}

#[test]
fn every_seam_reads_a_result_alike() {
    let rules = rules("- {id: any, at-most: {call: t, times: 9}}\n");
    for (result, wanted) in results() {
        assert_eq!(result_of(&result).value, wanted, "{result}");
        assert_eq!(result_of(&Value::from(result.to_string())).value, wanted, "as a text: {result}");

        let mut server = guard(&rules, GuardMode::Enforce);
        assert!(is_passed(&server.from_client(call(1, "t", &json!({})).as_bytes())));
        let line = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        let logged: Value = serde_json::from_str(&server.from_server(line.as_bytes())[0]).unwrap();
        assert_eq!(logged["outcome"], wanted, "from a server: {result}");

        let payload = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "mcp__a__t",
            "tool_input": {}, "tool_use_id": "c", "tool_response": result});
        let dialect = HookDialect::named("claude-code").unwrap();
        let read = HookPayload::read(payload.to_string().as_bytes(), &dialect).unwrap();
        let HookEvent::After { outcome, is_error: false, .. } = read.event else { panic!("{result}") };
        assert_eq!(outcome, wanted, "at a hook: {result}");

        let held = Ok(Arc::clone(&rules));
        let mut program = LineGuard::new(held, GuardMode::Enforce, "sha256:00", "own", Secrets::none());
        program.take(br#"{"do":"before","tool":"t"}"#, &|| 0);
        let after = json!({"do": "after", "number": 1, "result": result}).to_string();
        let logged: Value = serde_json::from_str(&program.take(after.as_bytes(), &|| 0).log[0]).unwrap();
        assert_eq!(logged["outcome"], wanted, "from a program: {result}");
    }
}

#[test]
fn what_a_tool_returns_is_not_taken_for_a_form() {
    for value in [
        json!({"content": "a text"}),
        json!({"content": [{"type": "text", "text": "x"}], "duration": 3}),
        json!({"content": [1, 2]}),
        json!({"content": {"a": 1}}),
        json!({"content": null}),
        json!({"structuredContent": {"a": 1}, "more": 1}),
        json!({"isError": "yes"}),
        json!({}),
        json!([{"type": "refund", "id": 1}]),
        json!([{"type": "text", "text": "x"}, 1]),
        json!([]),
        json!(null),
    ] {
        assert_eq!(result_of(&value).value, value);
    }
    for (error, value) in [
        (json!({"content": [{"type": "text", "text": "closed"}], "isError": true}), json!("closed")),
        (json!({"content": [], "isError": true}), json!([])),
        (json!({"content": "closed", "isError": true}), json!("closed")),
        (json!({"isError": true}), json!({"isError": true})),
        (json!({"structuredContent": {"a": 1}, "isError": true}), json!({"a": 1})),
    ] {
        for read in [result_of(&error), mcp_result(&error)] {
            assert_eq!((read.value, read.says_error), (value.clone(), true), "{error}");
        }
    }
}

/// The protocol has `true` and `false` there. The SDK for Python reads more.
#[test]
fn an_error_may_be_said_in_other_words() {
    for (said, is_error) in [
        (json!(true), true),
        (json!(1), true),
        (json!(1.0), true),
        (json!("true"), true),
        (json!("True"), true),
        (json!("yes"), true),
        (json!("1"), true),
        (json!(false), false),
        (json!(0), false),
        (json!(2), false),
        (json!("false"), false),
        (json!("no"), false),
        (json!(""), false),
        (json!(null), false),
        (json!([true]), false),
    ] {
        let result = json!({"content": [{"type": "text", "text": "x"}], "isError": said});
        for read in [result_of(&result), mcp_result(&result), result_of(&Value::from(result.to_string()))] {
            assert_eq!((read.says_error, read.value), (is_error, json!("x")), "{said}");
        }
    }
}

/// What people write about the results of servers that are made with the SDK for Python.
#[test]
fn rules_need_not_know_how_a_server_wraps_its_results() {
    let ways = [
        ("{\"\": refunded}", json!({"result": "refunded"}), true),
        ("{/result: refunded}", json!({"result": "refunded"}), true),
        ("{/status: paid}", json!({"result": {"status": "paid"}}), true),
        ("{/result/status: paid}", json!({"result": {"status": "paid"}}), true),
        ("{/status: paid}", json!({"result": {"status": "open"}}), false),
        ("{/status: paid}", json!({"result": {"status": "paid"}, "more": 1}), false),
        ("{/0/id: 1}", json!({"result": [{"id": 1}]}), true),
        ("{/status: {present: false}}", json!({"result": {"status": "paid"}}), false),
    ];
    for (tests, structured, passes) in ways {
        let rules =
            rules(&format!("- {{id: first, requires: {{call: pay, done: look, result: {tests}}}}}\n"));
        let mut guard = guard(&rules, GuardMode::Enforce);
        guard.from_client(call(1, "look", &json!({})).as_bytes());
        let result =
            json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": structured}});
        guard.from_server(result.to_string().as_bytes());
        let paid = guard.from_client(call(2, "pay", &json!({})).as_bytes());
        assert_eq!(is_passed(&paid), passes, "{tests} of {structured}");
    }
    let takes = "- {id: own, takes: {call: mail, argument: /to, from: find, value: /*/email}}\n";
    let rules = rules(takes);
    let one = json!({"type": "text", "text": "{\"email\":\"a@x.org\"}"});
    let two = json!({"type": "text", "text": "{\"email\":\"b@x.org\"}"});
    for result in [
        json!({"content": [one], "structuredContent": {"result": [{"email": "a@x.org"}]}}),
        json!({"content": [one, two]}),
        // A list of one, as it is sent without structured content.
        json!({"content": [one]}),
    ] {
        let mut guard = guard(&rules, GuardMode::Enforce);
        guard.from_client(call(1, "find", &json!({})).as_bytes());
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        guard.from_server(answer.as_bytes());
        for (id, to, passes) in [(2, "a@x.org", true), (3, "c@x.org", false)] {
            let mail = guard.from_client(call(id, "mail", &json!({"to": to})).as_bytes());
            assert_eq!(is_passed(&mail), passes, "{to} after {result}");
        }
    }
}

#[test]
fn a_result_that_contradicts_itself_is_noticed_once() {
    let rules = rules("- {id: any, at-most: {call: t, times: 9}}\n");
    for (text, structured, contradicts) in [
        ("{\"status\":\"paid\"}", json!({"status": "open"}), true),
        ("{\"status\":\"paid\"}", json!({"status": "paid", "more": 1}), false),
        ("{\"status\":\"paid\",\"note\":null}", json!({"status": "paid"}), false),
        ("{\"n\":1.0}", json!({"n": 1}), false),
        ("[1,2]", json!({"result": [1, 2]}), false),
        ("[1,2]", json!({"result": [1]}), true),
        ("{\"email\":\"a\"}", json!({"result": [{"email": "a"}]}), false),
        ("paid", json!({"status": "open"}), false),
        ("17", json!({"id": 18}), false),
    ] {
        let mut guard = guard(&rules, GuardMode::Shadow);
        for id in [1, 2] {
            guard.from_client(call(id, "t", &json!({})).as_bytes());
            let result =
                json!({"content": [{"type": "text", "text": text}], "structuredContent": structured});
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
            let lines = guard.from_server(answer.as_bytes());
            let is_noticed = contradicts && id == 1;
            assert_eq!(lines.len(), 1 + usize::from(is_noticed), "{text} beside {structured}: {lines:?}");
            assert_eq!(guard.notices().len(), usize::from(is_noticed), "{text} beside {structured}");
        }
    }
}

#[test]
fn what_the_server_lacks_is_noticed_once() {
    let rules = rules(
        "- {id: look, requires: {call: refnd, done: get_order}, per: /order_id}\n\
         - {id: small, never: {call: refund, where: {/amont: {above: 100}}}}\n\
         - {id: right, at-most: {call: refund, times: 1}, per: /order_id}\n",
    );
    let tool = |name: &str| {
        let properties = json!({"order_id": {"type": "integer"}, "amount": {"type": "number"}});
        json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
    };
    let mut guard = guard(&rules, GuardMode::Enforce);
    for round in 0..2 {
        let mut said = Vec::new();
        for (id, cursor, tools, next) in
            [(1, None, vec![tool("get_order")], Some("more")), (2, Some("more"), vec![tool("refund")], None)]
        {
            let mut params = json!({});
            if let Some(cursor) = cursor {
                params["cursor"] = json!(cursor);
            }
            let id = round * 10 + id;
            let asked =
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params}).to_string();
            assert!(is_passed(&guard.from_client(asked.as_bytes())));
            let mut result = json!({ "tools": tools });
            if let Some(next) = next {
                result["nextCursor"] = json!(next);
            }
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
            let lines = guard.from_server(answer.as_bytes());
            let notices = guard.notices();
            assert_eq!(lines.len(), notices.len(), "{lines:?}");
            said.extend(notices);
        }
        let wanted: &[&str] = match round {
            0 => &[
                "the server's list of tools: no tool is called `refnd`, so rule `look` can never match; did you mean \
                 `refund`?",
                "the server's list of tools: `where` of rule `small` has /amont, and refund has no such argument; did \
                 you mean `/amount`?",
            ],
            _ => &[],
        };
        assert_eq!(said, wanted);
    }
}

#[test]
fn a_value_of_another_type_is_named() {
    let rules = rules(
        "- {id: first, requires: {call: refund, done: look}, per: /id, why: Look first.}\n\
         - {id: own, takes: {call: mail, argument: /to, from: look, value: /account}}\n",
    );
    let mut guard = guard(&rules, GuardMode::Enforce);
    guard.from_client(call(1, "look", &json!({"id": 17})).as_bytes());
    guard.from_server(crate::support::result(1, false, r#"{"account": "7"}"#).as_bytes());
    let reason = |guard: &mut planproof_guard::McpGuard, id, tool, arguments: Value| {
        guard.from_client(call(id, tool, &arguments).as_bytes()).reason.unwrap_or_default()
    };
    let first = "The call is denied by rule first: A call of refund needs a result of look before it, separately for \
                 each /id. Look first.";
    assert_eq!(
        reason(&mut guard, 2, "refund", json!({"id": "17"})),
        format!("{first} Here /id is the text \"17\", and before it was the number 17: the types differ.")
    );
    assert_eq!(reason(&mut guard, 3, "refund", json!({"id": "18"})), first);
    assert_eq!(reason(&mut guard, 4, "refund", json!({"id": 17})), "");
    let own = reason(&mut guard, 5, "mail", json!({"to": 7}));
    assert!(
        own.ends_with("Here /to is the number 7, and before it was the text \"7\": the types differ."),
        "{own}"
    );
    let own = reason(&mut guard, 6, "mail", json!({"to": 8}));
    assert!(!own.contains("the types differ"), "{own}");
}
