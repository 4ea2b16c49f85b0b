//! Messages between a client and a server: what passes, what does not, and what is answered.

use planproof_guard::{GuardMode, LINE_BYTES_MAX, LoggedLine, McpGuard, OUTSTANDING_MAX, Then};
use serde_json::{Value, json};

use crate::support::{answer, call, guard, is_passed, log, result, rules};

const NEVER: &str = "- {id: no-refunds, never: {call: refund}, why: Ask a person.}\n\
                     - {id: small, never: {call: pay, where: {/amount: {above: 100}}}}\n";

/// What crafty clients send to have `refund` called, or `pay` with more than 100, and the key of the answer: `result`
/// for a call, `error` for what is not one, nothing where nothing can be answered.
fn crafted() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let text =
        |what: &'static str, line: &str, answered: &'static str| (what, line.as_bytes().to_vec(), answered);
    let refund = r#"{"name":"refund","arguments":{}}"#;
    let of = |head: &str| format!("{head},\"params\":{refund}}}");
    let plain = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call""#;
    let pay =
        |arguments: &str| format!("{plain},\"params\":{{\"name\":\"pay\",\"arguments\":{arguments}}}}}");
    vec![
        text("a plain call", &of(plain), "result"),
        text("an escaped slash", &of(r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call""#), "result"),
        text("escaped letters", &of(r#"{"jsonrpc":"2.0","id":1,"method":"\u0074ools/c\u0061ll""#), "result"),
        text("an escaped key", &of(r#"{"jsonrpc":"2.0","id":1,"m\u0065thod":"tools/call""#), "result"),
        text("an escaped name", &of(plain).replace("\"refund\"", "\"r\\u0065fund\""), "result"),
        text("blanks everywhere", &format!("  {} ", of(plain).replace(':', " : ")), "result"),
        text("a batch", &format!("[{}]", of(plain)), "error"),
        text("a batch in a batch", &format!("[[{}]]", of(plain)), "error"),
        text("a method that stands twice", &of(r#"{"id":1,"method":"ping","method":"tools/call""#), "error"),
        text("the same, the other way", &of(r#"{"id":1,"method":"tools/call","method":"ping""#), "error"),
        text("the same, escaped", &of(r#"{"id":1,"method":"ping","m\u0065thod":"tools/call""#), "error"),
        text(
            "a name that stands twice",
            &of(plain).replace(refund, r#"{"name":"x","name":"refund"}"#),
            "error",
        ),
        text(
            "parameters that stand twice",
            &format!("{plain},\"params\":{{}},\"params\":{refund}}}"),
            "error",
        ),
        text("an argument that stands twice", &pay(r#"{"amount":1,"amount":500}"#), "error"),
        text("a method in capitals", &of(r#"{"id":1,"method":"Tools/Call""#), "error"),
        text("a key in capitals", &of(r#"{"id":1,"Method":"tools/call""#), "error"),
        text("a long s", &format!("{plain},\"param\u{17f}\":{refund}}}"), "error"),
        text("a second method in capitals", &of(r#"{"id":1,"method":"ping","METHOD":"tools/call""#), "error"),
        text("a name in capitals", &of(plain).replace("\"refund\"", "\"Refund\""), "result"),
        text("a name in wide letters", &of(plain).replace("\"refund\"", "\"\u{ff52}efund\""), "result"),
        text("a name with a blank", &of(plain).replace("\"refund\"", "\"refund \""), "result"),
        text("a name that ends early", &of(plain).replace("\"refund\"", "\"refund\\u0000\""), "result"),
        text("a key of the name in capitals", &of(plain).replace("\"name\"", "\"Name\""), "result"),
        text("a method that ends early", &of(r#"{"id":1,"method":"tools/call\u0000""#), "error"),
        text("a method with a blank", &of(r#"{"id":1,"method":"tools/call ""#), "error"),
        text("a look-alike method", &of("{\"id\":1,\"method\":\"t\u{43e}ols/call\""), "error"),
        text("no name", &of(plain).replace("\"name\":\"refund\",", ""), "result"),
        text("a name that is a number", &of(plain).replace("\"refund\"", "7"), "result"),
        text("a name that is a list", &of(plain).replace("\"refund\"", "[\"refund\"]"), "result"),
        text("parameters in a list", &of(plain).replace(refund, &format!("[{refund}]")), "result"),
        text("no parameters", &format!("{plain}}}"), "result"),
        text("arguments in a text", &pay(r#""{\"amount\":500}""#), "result"),
        text("arguments in a list", &pay(r#"[{"amount":500}]"#), "result"),
        text("an argument in capitals", &pay(r#"{"Amount":500}"#), "result"),
        text("an argument in wide letters", &pay("{\"\u{ff41}mount\":500}"), "result"),
        text("an argument with a blank", &pay("{\"amount \":500}"), "result"),
        text("an argument with a letter that nobody sees", &pay("{\"am\u{ad}ount\":500}"), "result"),
        text("a name with one", &of(plain).replace("\"refund\"", "\"refund\u{fe0f}\""), "result"),
        text("a number without end", &pay(&format!("{{\"amount\":{}}}", "9".repeat(400))), "error"),
        text("a large integer", &pay(r#"{"amount":9007199254740993}"#), "result"),
        text("a very large integer", &pay(r#"{"amount":99999999999999999999999}"#), "result"),
        text("more than allowed", &pay(r#"{"amount":1e3}"#), "result"),
        text("a notification", &of(r#"{"jsonrpc":"2.0","method":"tools/call""#), ""),
        text("an id that is null", &of(r#"{"id":null,"method":"tools/call""#), "error"),
        text("an id that is an object", &of(r#"{"id":{"a":1},"method":"tools/call""#), "error"),
        text("an id with a fraction", &of(r#"{"id":1.5,"method":"tools/call""#), "error"),
        text("a large id", &of(r#"{"id":9007199254740993,"method":"tools/call""#), "error"),
        text("a method that is null", &of(r#"{"id":1,"method":null"#), "error"),
        text("a method in a list", &of(r#"{"id":1,"method":["tools/call"]"#), "error"),
        text("an answer that is a call", &format!("{plain},\"result\":{{}},\"params\":{refund}}}"), "result"),
        text(
            "a call in other parameters, behind what some take for the end of a line",
            &format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\r{}\r}}", of(plain)),
            "error",
        ),
        text("two messages in a line", &format!("{{\"id\":2,\"method\":\"ping\"}} {}", of(plain)), "error"),
        text("half a message", &of(plain)[..of(plain).len() - 1], "error"),
        text("a comment", &format!("/* */{}", of(plain)), "error"),
        text("a comma too many", &format!("{plain},\"params\":{refund},}}"), "error"),
        text("a byte order mark", &format!("\u{feff}{}", of(plain)), "error"),
        text(
            "deep nesting",
            &format!("{plain},\"params\":{}{}}}", "[".repeat(300), "]".repeat(300)),
            "error",
        ),
        text("half an emoji", &of(plain).replace("{}", "{\"x\":\"\\ud83d\"}"), "error"),
        ("bytes that are no text", [of(plain).as_bytes(), b"\xff"].concat(), "error"),
        ("overlong bytes", of(plain).into_bytes().into_iter().chain([0xc1, 0xaf]).collect(), "error"),
        ("UTF-16", of(plain).encode_utf16().flat_map(u16::to_le_bytes).collect(), "error"),
    ]
}

/// Whether some server would call `refund`, or `pay` too much, on getting these bytes: one that splits lines at
/// carriage returns, disregards the case of keys and names, takes the first or the last of two values, mends broken
/// characters, answers batches, ends texts at a zero, and needs no id.
fn reaches(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).replace('\0', "");
    let pieces = text.split(['\n', '\r']);
    pieces.chain([text.as_str()]).any(|piece| {
        let first = serde_json::from_str::<Value>(piece.trim_start_matches('\u{feff}').trim());
        first.is_ok_and(|message| is_forbidden(&message))
    })
}

fn is_forbidden(message: &Value) -> bool {
    if let Value::Array(messages) = message {
        return messages.iter().any(is_forbidden);
    }
    let find = |value: &Value, wanted: &str| -> Value {
        let entries = value.as_object().into_iter().flatten();
        let found = entries.filter(|(key, _)| key.to_uppercase() == wanted.to_uppercase());
        found.map(|(_, value)| value.clone()).next_back().unwrap_or_default()
    };
    let lower = |value: &Value| value.as_str().unwrap_or_default().trim().to_lowercase();
    let params = find(message, "params");
    let name = lower(&find(&params, "name"));
    let amount = find(&find(&params, "arguments"), "amount").as_f64().unwrap_or_default();
    lower(&find(message, "method")) == "tools/call" && (name == "refund" || (name == "pay" && amount > 100.0))
}

#[test]
fn nothing_gets_past() {
    let rules = rules(NEVER);
    let crafted = crafted();
    assert!(crafted.len() > 50);
    assert!(reaches(&crafted[0].1), "the lenient server understands a plain call");
    let mut seen_by_lenient = 0;
    for (what, line, answered) in &crafted {
        seen_by_lenient += usize::from(reaches(line));
        let mut guard = guard(&rules, GuardMode::Enforce);
        let heard = guard.from_client(line);
        match &heard.then {
            Then::Pass => panic!("{what} passed"),
            Then::Drop => assert_eq!(*answered, "", "{what}"),
            Then::Answer(answer) => {
                let answer: Value = serde_json::from_str(answer).unwrap();
                assert!(answer.get(answered).is_some(), "{what}: {answer}");
                assert_eq!(answer.get("result").is_some(), answer["result"]["isError"] == true, "{what}");
            }
        }
        // Everything that is refused has its line in the log, with the reason.
        let logged: Value = serde_json::from_str(&guard.decision_line(&heard, 1).unwrap()).unwrap();
        assert_eq!(logged["action"], "blocked", "{what}");
        assert!(logged["reason"].as_str().is_some_and(|reason| reason.len() > 15), "{what}: {logged}");
        // In shadow mode the same is noted, and passes.
        let mut shadow = super::support::guard(&rules, GuardMode::Shadow);
        let noted = shadow.from_client(line);
        let would =
            heard.reason.map(|reason| reason.replacen("The call is denied", "The call would be denied", 1));
        assert!(is_passed(&noted) && noted.reason == would, "{what}: {noted:?}");
    }
    // The cases are worth something: a careless server would have executed many of them.
    assert!(seen_by_lenient > 20, "{seen_by_lenient}");
}

#[test]
fn messages_pass_as_they_are() {
    let rules = rules(NEVER);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","x":[1.50,{"a":null}]}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{"_meta":{"p/v":"2026-07-28"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":90071992547409931}}"#,
        r#"{"jsonrpc":"2.0","id":90071,"result":{"role":"assistant","content":{"type":"image","data":"AAAA"}}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"vendor.x-y/$do","params":{"name":"refund"},"more":1e5}"#,
        r#"  {"method" : "tools/call", "id":4,"params":{"name":"look", "arguments":{"refund":"Amounts"},"_meta":{"progressToken":1}}}  "#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"look"}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"pay","arguments":{"amount":100.0}}}"#,
        "",
        "   ",
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\r",
    ] {
        let mut guard = guard(&rules, GuardMode::Enforce);
        assert!(is_passed(&guard.from_client(line.as_bytes())), "{line}");
    }
}

#[test]
fn a_rejection_is_a_result_with_its_reason() {
    let rules = rules(NEVER);
    for is_older in [true, false] {
        let mut guard = guard(&rules, GuardMode::Enforce);
        if is_older {
            guard.from_client(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
        }
        let answer = answer(&guard.from_client(call(7, "refund", &json!({})).as_bytes()));
        let reason = "The call is denied by rule no-refunds: A call of refund never comes. Ask a person.";
        let mut expected = json!({"jsonrpc": "2.0", "id": 7, "result": {
            "content": [{"type": "text", "text": reason}], "isError": true,
            "structuredContent": {"rejected": true, "tool": "refund", "reason": reason, "rules": [
                {"id": "no-refunds", "rule": "A call of refund never comes", "why": "Ask a person."}]},
        }});
        if !is_older {
            expected["result"]["resultType"] = json!("complete");
        }
        assert_eq!(answer, expected);
    }
}

#[test]
fn a_tool_with_a_form_of_its_results_gets_the_reason_as_text_only() {
    // Clients hold structured content against the form, also where it is an error.
    let rules = rules(NEVER);
    let mut guard = guard(&rules, GuardMode::Enforce);
    guard.from_client(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let tools = json!([{"name": "refund", "outputSchema": {"type": "object"}}, {"name": "pay", "outputSchema": null}]);
    guard.from_server(json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).to_string().as_bytes());
    let refused = answer(&guard.from_client(call(2, "refund", &json!({})).as_bytes()));
    assert!(refused["result"].get("structuredContent").is_none());
    let refused = answer(&guard.from_client(call(3, "pay", &json!({"amount": 101})).as_bytes()));
    assert_eq!(refused["result"]["structuredContent"]["rules"][0]["id"], "small");
}

#[test]
fn unreadable_rules_reject_every_call_and_nothing_else() {
    let new = |mode| McpGuard::new(Err("the rules cannot be read".to_owned()), log(mode));
    let mut closed = new(GuardMode::Enforce);
    assert!(is_passed(&closed.from_client(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)));
    let heard = closed.from_client(call(2, "look", &json!({})).as_bytes());
    assert_eq!(
        answer(&heard)["result"]["content"][0]["text"],
        "The call is denied: the rules cannot be read."
    );
    assert!(closed.decision_line(&heard, 0).unwrap().contains("\"number\":1"));
    let heard = new(GuardMode::Shadow).from_client(call(2, "look", &json!({})).as_bytes());
    assert!(is_passed(&heard) && heard.reason.is_some());
}

#[test]
fn a_call_that_cannot_be_logged_is_not_made() {
    let once = rules("- {id: once, at-most: {done: pay, times: 1}}\n");
    let mut guard = guard(&once, GuardMode::Enforce);
    let heard = guard.from_client(call(1, "pay", &json!({})).as_bytes());
    assert!(is_passed(&heard));
    let heard = guard.unlogged(heard, "the log cannot be written");
    assert_eq!(
        answer(&heard)["result"]["content"][0]["text"],
        "The call is denied: the log cannot be written."
    );
    // Its result will not come, and its id is free.
    let heard = guard.from_client(call(1, "pay", &json!({})).as_bytes());
    assert!(is_passed(&heard));
    let mut shadow = super::support::guard(&once, GuardMode::Shadow);
    let heard = shadow.from_client(call(1, "pay", &json!({})).as_bytes());
    assert!(is_passed(&shadow.unlogged(heard, "the log cannot be written")));
}

#[test]
fn a_call_that_cannot_be_logged_never_happened() {
    let rules = rules(
        "- {id: needs-a, requires: [{call: b}, {call: a}]}\n- {id: once, at-most: {call: a, times: 1}}\n",
    );
    let mut guard = guard(&rules, GuardMode::Enforce);
    let mut ask = |tool: &str, is_logged: bool| {
        let heard = guard.from_client(call(1, tool, &json!({})).as_bytes());
        let heard = if is_logged { heard } else { guard.unlogged(heard, "the disk is full") };
        let line = LoggedLine::read(&guard.decision_line(&heard, 0).unwrap()).unwrap();
        assert_eq!(line.is_made_call(), is_passed(&heard), "{tool}");
        is_passed(&heard)
    };
    assert!(!ask("a", false));
    assert!(!ask("b", true));
    assert!(ask("a", true));
}

/// A call that the server asked for more about is still the same call when its continuation could not be logged, and
/// so is one that another guard of the session has approved.
#[test]
fn a_continuation_that_cannot_be_logged_can_be_repeated() {
    let once = rules("- {id: once, at-most: {call: pay, times: 1}}\n");
    let mut guard = guard(&once, GuardMode::Enforce);
    assert!(is_passed(&guard.from_client(call(1, "pay", &json!({})).as_bytes())));
    guard.from_server(
        br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}"#,
    );
    let again = br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{},"requestState":"s"}}"#;
    let heard = guard.from_client(again);
    assert!(is_passed(&heard));
    assert!(!is_passed(&guard.unlogged(heard, "the disk is full")));
    assert!(is_passed(&guard.from_client(again)));

    let mut hook = super::support::guard(&once, GuardMode::Enforce);
    let heard = hook.from_client(call(1, "pay", &json!({})).as_bytes());
    let line = hook.decision_line(&heard, 0).unwrap().replace("\"mcp\"", "\"hook\"");
    let mut guard = super::support::guard(&once, GuardMode::Enforce);
    guard.catch_up(&[LoggedLine::read(&line).unwrap()]);
    let heard = guard.from_client(call(1, "pay", &json!({})).as_bytes());
    assert!(is_passed(&heard));
    assert!(!is_passed(&guard.unlogged(heard, "the disk is full")));
    assert!(is_passed(&guard.from_client(call(1, "pay", &json!({})).as_bytes())));
    assert!(!is_passed(&guard.from_client(call(2, "pay", &json!({})).as_bytes())));
}

#[test]
fn results_are_learned_by_their_ids() {
    let look_first = rules("- {id: look-first, requires: {call: refund, done: look}}\n");
    let refund =
        |guard: &mut McpGuard| is_passed(&guard.from_client(call(99, "refund", &json!({})).as_bytes()));
    let asked = || {
        let mut guard = guard(&look_first, GuardMode::Enforce);
        assert!(is_passed(&guard.from_client(call(1, "look", &json!({})).as_bytes())));
        guard
    };
    for (line, is_done) in [
        (result(1, false, "ok"), true),
        (result(1, true, "no"), false),
        (result(2, false, "ok"), false),
        (r#"{"jsonrpc":"2.0","id":"1","result":{"content":[]}}"#.to_owned(), true),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#.to_owned(), false),
        (format!("[{}]", result(1, false, "ok")), true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#.to_owned(), false),
        ("Listening ...".to_owned(), false),
    ] {
        let mut guard = asked();
        let logged = guard.from_server(line.as_bytes()).len();
        assert_eq!(refund(&mut guard), is_done, "{line}");
        assert_eq!(
            logged == 1,
            is_done || line.contains("\"isError\":true") || line.contains("error"),
            "{line}"
        );
    }
    // Another request with the id of the call would bring a result that is not of the call.
    let mut guard = asked();
    for line in
        [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#]
    {
        assert_eq!(answer(&guard.from_client(line.as_bytes()))["error"]["code"], -32600);
    }
    assert_eq!(answer(&guard.from_client(call(1, "look", &json!({})).as_bytes()))["id"], Value::Null);
}

#[test]
fn a_call_that_the_server_asks_more_about_counts_once() {
    let once = rules("- {id: once, at-most: {call: pay, times: 1}}\n");
    let again = |id: u64, state: &str, amount: u64| {
        let params = json!({"name": "pay", "arguments": {"amount": amount}, "requestState": state,
            "inputResponses": {"sure": {"action": "accept"}}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let mut guard = guard(&once, GuardMode::Enforce);
    let passes = |guard: &mut McpGuard, line: &str| is_passed(&guard.from_client(line.as_bytes()));
    assert!(passes(&mut guard, &call(1, "pay", &json!({"amount": 5}))));
    let more = json!({"resultType": "input_required", "requestState": "s", "inputRequests": {}});
    assert!(
        guard
            .from_server(json!({"jsonrpc": "2.0", "id": 1, "result": more}).to_string().as_bytes())
            .is_empty()
    );
    assert!(!passes(&mut guard, &again(2, "other", 5)), "another state");
    assert!(!passes(&mut guard, &again(3, "s", 50)), "other arguments");
    let heard = guard.from_client(again(4, "s", 5).as_bytes());
    assert!(is_passed(&heard));
    assert!(guard.decision_line(&heard, 0).unwrap().contains("\"continued\""));
    assert!(!passes(&mut guard, &again(5, "s", 5)), "a second time");
    assert_eq!(guard.pending(), 1);
    assert_eq!(guard.from_server(result(4, false, "paid").as_bytes()).len(), 1);
    assert_eq!(guard.pending(), 0);
}

#[test]
fn a_task_is_pending_until_its_result_comes() {
    let look_first = rules("- {id: look-first, requires: {call: refund, done: look}}\n");
    let older =
        (json!({"task": {"taskId": "t", "status": "working"}}), "tasks/result", json!({"content": []}));
    let newer = (
        json!({"resultType": "task", "taskId": "t", "status": "working"}),
        "tasks/get",
        json!({"taskId": "t", "status": "completed", "result": {"content": []}}),
    );
    for (begun, method, ended) in [older, newer] {
        let mut guard = guard(&look_first, GuardMode::Enforce);
        let answered =
            |id: u64, result: &Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        guard.from_client(call(1, "look", &json!({})).as_bytes());
        assert!(guard.from_server(answered(1, &begun).as_bytes()).is_empty());
        assert_eq!(guard.pending(), 1);
        let ask = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": {"taskId": "t"}}).to_string();
        assert!(is_passed(&guard.from_client(ask.as_bytes())));
        assert!(!is_passed(&guard.from_client(call(3, "refund", &json!({})).as_bytes())));
        assert_eq!(guard.from_server(answered(2, &ended).as_bytes()).len(), 1, "{method}");
        assert!(is_passed(&guard.from_client(call(4, "refund", &json!({})).as_bytes())));
    }
}

#[test]
fn requests_without_answers_are_limited() {
    let rules = rules(NEVER);
    let mut guard = guard(&rules, GuardMode::Enforce);
    let ping = |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
    for id in 0..OUTSTANDING_MAX {
        assert!(is_passed(&guard.from_client(ping(id).as_bytes())));
    }
    assert!(!is_passed(&guard.from_client(ping(OUTSTANDING_MAX).as_bytes())));
    guard.from_server(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}");
    assert!(is_passed(&guard.from_client(ping(OUTSTANDING_MAX).as_bytes())));
    let refused = answer(&guard.too_long());
    assert!(refused["error"]["message"].as_str().unwrap().contains(&LINE_BYTES_MAX.to_string()));
}

/// What a client understands and the guard does not has happened all the same, so nothing is approved afterwards.
#[test]
fn an_answer_that_cannot_be_read_ends_all_approval() {
    let rules = rules("- {id: closed, never-after: {call: reply, done: close}}\n");
    let deep = format!("{}{}", "[".repeat(150), "]".repeat(150));
    let closed = |answer: &str| {
        let mut guard = guard(&rules, GuardMode::Enforce);
        assert!(is_passed(&guard.from_client(call(1, "close", &json!({})).as_bytes())));
        let logged = guard.from_server(answer.as_bytes()).len();
        let next = guard.from_client(call(2, "reply", &json!({})).as_bytes());
        let reason = next.reason.clone().unwrap_or_default();
        (logged, is_passed(&next), reason.contains("could not be read"))
    };
    for answer in [
        r#"{"id":1,"result":{"content":[],"share":NaN}}"#.to_owned(),
        r#"{"id":1,"result":{"content":[]},"result":{"isError":true,"content":[]}}"#.to_owned(),
        r#"{"id":1,"result":{"isError":false,"isError":true,"content":[]}}"#.to_owned(),
        r#"{"id":1,"result":{"content":[],"share":1e999}}"#.to_owned(),
        format!(r#"{{"id":1,"result":{{"content":[],"more":{deep}}}}}"#),
        r#"  {"id":1,"result":"#.to_owned(),
        r#"{"id":1,"error":{"code":1,"message":"no"},"result":{"content":[]}}"#.to_owned(),
        r#"{"id":1}"#.to_owned(),
    ] {
        assert_eq!(closed(&answer), (1, false, true), "{answer}");
    }
    // An error that is not one, beside a result, is the result; an error alone is an error; output is nothing.
    for error in ["null", "0"] {
        let answer = format!(r#"{{"id":1,"error":{error},"result":{{"content":[]}}}}"#);
        assert_eq!(closed(&answer), (1, false, false), "{answer}");
    }
    assert_eq!(closed(r#"{"id":1,"error":{"code":1,"message":"no"}}"#), (1, true, false));
    // The ticket is not closed yet.
    assert_eq!(closed("INFO closing 1 ticket"), (0, true, false));
    // The same for a line that is too long to be read; without a pending call, nobody waits for an answer.
    let mut guard = guard(&rules, GuardMode::Enforce);
    assert_eq!(guard.unread(), None);
    assert!(is_passed(&guard.from_client(call(1, "look", &json!({})).as_bytes())));
    assert!(guard.unread().is_some());
    assert!(!is_passed(&guard.from_client(call(2, "look", &json!({})).as_bytes())));
}

#[test]
fn the_canary_is_never_passed_on() {
    for mode in [GuardMode::Enforce, GuardMode::Shadow] {
        for params in [
            "{\"name\":\"planproof_canary\",\"arguments\":{}}",
            "{\"name\":\"planproof_canary\",\"arguments\":7}",
        ] {
            let mut guard = guard(&rules(NEVER), mode);
            let line =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}");
            let heard = guard.from_client(line.as_bytes());
            let Then::Answer(answer) = &heard.then else { panic!("{heard:?}") };
            assert_eq!(planproof_guard::mode_of_canary(answer), Some(mode), "{answer}");
            assert!(guard.decision_line(&heard, 1).is_some_and(|line| line.contains("\"blocked\"")));
        }
    }
}
