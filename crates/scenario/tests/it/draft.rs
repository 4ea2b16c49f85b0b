//! First files: what is written can be read, a session's own calls satisfy what is proposed, and nothing is expected
//! unasked.

use std::sync::Arc;

use planproof_scenario::{GoodSession, Scenarios, draft_of_sessions, draft_of_tools, listed_tools};
use planproof_spec::rules::{Phase, RecordedEvent};
use planproof_suite::{Case, CaseSelection, Data, Suite as _};
use serde_json::{Value, json};

use crate::{judged, load};

/// A session of these calls, each with its result (`ok`) or its error.
fn session(query: &str, calls: &[(&str, Value, Result<Value, &str>)]) -> GoodSession {
    let mut happened = Vec::new();
    for (tool, arguments, outcome) in calls {
        let event = |phase, outcome| RecordedEvent {
            phase,
            server: None,
            tool: (*tool).to_owned(),
            arguments: Arc::new(arguments.clone()),
            outcome,
        };
        happened.push(event(Phase::Call, None));
        happened.push(match outcome {
            Ok(result) => event(Phase::Done, Some(result.clone())),
            Err(error) => event(Phase::Failed, Some(Value::from(*error))),
        });
    }
    GoodSession { name: "log.jsonl:1".to_owned(), query: Some(query.to_owned()), tools: Vec::new(), happened }
}

fn refund() -> GoodSession {
    session(
        "Bob (bob@shop.example) wants his money back for order 17.",
        &[
            (
                "search_customer",
                json!({"email": "bob@shop.example"}),
                Ok(json!({"found": [{"customer_id": "c-81"}]})),
            ),
            ("get_order", json!({"order_id": 71}), Err("no such order")),
            (
                "get_order",
                json!({"order_id": 17}),
                Ok(json!({"refundable": true, "note": "a: b # c\n\u{7f}"})),
            ),
            ("refund", json!({"order_id": 17, "amount": 12.5}), Ok(json!("ok"))),
            (
                "send_email",
                json!({"customer_id": "c-81", "text": "It is on its way to you, Bob."}),
                Ok(json!("")),
            ),
        ],
    )
}

#[test]
fn a_case_is_made_of_a_session() {
    insta::assert_snapshot!(draft_of_sessions(&[refund()], false).expect("a draft"));
    // Nothing is expected unasked, and the reader says what to do about it.
    let text = draft_of_sessions(&[refund()], false).expect("a draft");
    let error = load(&text).expect_err("nothing is expected");
    assert!(error.contains("take proposals out of the comments"), "{error}");
    // The comments are those that the accepted file has as expectations.
    let accepted = draft_of_sessions(&[refund()], true).expect("a draft");
    let uncommented: String = text
        .lines()
        .filter(|line| !line.contains("# What the session did"))
        .map(|line| format!("{}\n", line.replacen("      # - ", "      - ", 1)))
        .collect();
    assert_eq!(uncommented, accepted);
}

#[test]
fn a_session_passes_the_case_that_is_made_of_it() {
    let twice = session(
        "Cancel orders 31 and 32.",
        &[
            ("cancel", json!({"order": 31, "deep": {"a/b": [1, true, null]}}), Ok(json!({"ok": true}))),
            ("cancel", json!({"order": 32, "deep": {"a/b": []}}), Ok(json!([1.5, -0.25, 1e30]))),
            ("cancel", json!({"order": 31, "deep": {"a/b": [1, true, null]}}), Ok(json!({"ok": false}))),
        ],
    );
    let odd = session(
        "yes \"quoted\" \u{2028}\u{e0041} ##[x] # no: comment",
        &[
            (
                "true",
                json!({"null": "no", "key with blanks": "- x", "?": "*a", "e": "", "n?": 1}),
                Ok(json!("&x")),
            ),
            ("a-b", json!({}), Ok(json!({"yes": [["[", "]"], {"{": "}"}]}))),
            ("a-b", json!("no object"), Err("")),
        ],
    );
    for session in [refund(), twice, odd] {
        let text = draft_of_sessions(std::slice::from_ref(&session), true).expect("a draft");
        let cases = load(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let calls: Vec<(&str, Value)> = session
            .happened
            .iter()
            .filter(|event| event.phase == Phase::Call && event.arguments.is_object())
            .map(|event| (event.tool.as_str(), (*event.arguments).clone()))
            .collect();
        let verdict = judged_all(&*cases[0], &calls);
        assert!(verdict.0, "{}: {text}", verdict.1);
        assert_eq!(Some(cases[0].prompt()), session.query.as_deref());
        // A canary: without its last call the session fails.
        let fewer = judged_all(&*cases[0], &calls[..1]);
        assert!(!fewer.0 || calls.len() == 1, "{text}");
    }
}

/// Whether a run with these calls passes, and its verdict.
fn judged_all(case: &dyn Case, calls: &[(&str, Value)]) -> (bool, String) {
    let verdict = judged(case, calls);
    (verdict.passed(), verdict.detail)
}

#[test]
fn recorded_tools_stay_as_they_are() {
    let tools = json!({"tools": [
        {"type": "function", "function": {"name": "a", "description": "Does a: # b.", "parameters":
            {"type": "object", "properties": {"k": {"type": "integer", "minimum": 3}}, "required": ["k"]}}},
        {"name": "b", "input_schema": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "null"}},
            "required": ["x"], "additionalProperties": false}},
        {"name": "c", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}, "n": {"type": "number"}},
            "required": ["n"], "additionalProperties": false}},
    ]});
    let tools = listed_tools(&tools).expect("tools");
    let text = draft_of_tools(&tools).expect("a draft");
    insta::assert_snapshot!(text);
    let cases = load(&text).expect("a draft that can be run");
    let read = cases[0].toolbox().expect("tools").tools().to_vec();
    for (tool, read) in tools.iter().zip(&read) {
        assert_eq!((&tool.name, &tool.description), (&read.name, &read.description));
        for key in ["properties", "required", "additionalProperties"] {
            assert_eq!(tool.input_schema.get(key), read.input_schema.get(key), "{}", tool.name);
        }
    }
    // The tools of a session win over what its calls look like.
    let mut recorded =
        session("Do a.", &[("a", json!({"k": 5}), Ok(json!("done"))), ("new", json!({}), Ok(json!(1)))]);
    recorded.tools = tools;
    let text = draft_of_sessions(&[recorded], true).expect("a draft");
    assert!(text.contains("minimum: 3") && text.contains("- name: new\n    arguments: {}"), "{text}");
}

#[test]
fn what_cannot_be_drafted_is_refused() {
    assert!(draft_of_tools(&[]).is_err_and(|error| error.what.contains("there is no tool")));
    let silent = GoodSession { name: "x".to_owned(), query: None, tools: Vec::new(), happened: Vec::new() };
    assert!(draft_of_sessions(std::slice::from_ref(&silent), true).is_err());
    // Tools for whose arguments nothing can be made up.
    let tool = json!([{"name": "a", "input_schema": {"type": "object", "properties": {"k": {"type": "string", "pattern": "^(?=x)x+$"}},
        "required": ["k"]}}]);
    let text = draft_of_tools(&listed_tools(&tool).expect("tools")).expect("a draft");
    assert!(text.contains("- {do: [a]}"), "{text}");
    assert!(load(&text).is_ok_and(|cases| cases[0].gold().is_none()));
    let reviews = Scenarios::default().review(Data { text: &text, file: "cases.yaml" }).expect("a file");
    let shown = reviews[0].in_words(&reviews[0].oddities[0], |demand| demand.id.clone());
    assert!(shown.contains("no arguments are known that a takes"), "{shown}");
    // A line of the world that names some is enough.
    let text = text.replace("    expect:", "    world: {a: [{where: {/k: xxx}, returns: 1}]}\n    expect:");
    assert!(load(&text).is_ok_and(|cases| cases[0].gold().is_some()), "{text}");
}

#[test]
fn a_session_without_a_success_has_proposals_too() {
    let failed =
        session("Look.", &[("look", json!({}), Err("not now")), ("look", json!({"k": 1}), Err("no"))]);
    let mut silent = session("Do nothing.", &[]);
    silent.tools = listed_tools(&json!([{"name": "a", "input_schema": {"type": "object"}}])).expect("tools");
    let text = draft_of_sessions(&[failed, silent], true).expect("a draft");
    assert!(text.contains("- {with: {call: look}}") && text.contains("- {never: {call: \"*\"}}"), "{text}");
    let cases = load(&text).expect("cases");
    assert!(!judged(&*cases[0], &[]).passed() && judged(&*cases[1], &[]).passed());
    assert!(judged(&*cases[0], &[("look", json!({}))]).passed());
}

#[test]
fn each_session_is_a_case() {
    let text = draft_of_sessions(&[refund(), refund()], true).expect("a draft");
    let data = Some(Data { text: &text, file: "cases.yaml" });
    let cases = Scenarios::default().load(data, &CaseSelection::First, None).expect("cases");
    let ids: Vec<&str> = cases.iter().map(|case| case.card().id.as_str()).collect();
    assert_eq!(ids, ["session-1", "session-2"]);
}

#[test]
fn texts_that_an_agent_words_itself_are_asked_for_only_where_they_matter() {
    let found = |status: &str| Ok(json!({"status": status}));
    let free = session(
        "Refund order 17 for Bob.",
        &[
            ("find", json!({"name": "bob"}), Ok(json!({"id": "Elm Street"}))),
            ("refund", json!({"order": 17, "reason": "asked for", "to": "Elm Street"}), found("ok")),
            ("refund", json!("{\"order\": 17"), Err("not JSON")),
        ],
    );
    let text = draft_of_sessions(&[free], true).expect("a draft");
    assert!(text.contains("- {where: {/name: bob}, returns: {id: \"Elm Street\"}}"), "{text}");
    assert!(text.contains("- {where: {/order: 17, /to: \"Elm Street\"}, returns: {status: ok}}"), "{text}");
    assert!(text.contains("# 1 call is left out, because the arguments were not a JSON object."), "{text}");
    assert!(!text.contains("not JSON"), "{text}");
    // Where nothing else tells two results apart, the words do.
    let apart = session(
        "Look them up.",
        &[("find", json!({"name": "one"}), found("a")), ("find", json!({"name": "two"}), found("b"))],
    );
    let text = draft_of_sessions(&[apart], true).expect("a draft");
    assert!(text.contains("- {where: {/name: one}, returns: {status: a}}"), "{text}");
    assert!(text.contains("- {where: {/name: two}, returns: {status: b}}"), "{text}");
}

#[test]
fn a_call_that_got_through_when_it_was_tried_again_is_drafted_with_its_result() {
    let pay = |outcome| ("pay", json!({"order_id": 17}), outcome);
    let (ok, later) = (Ok(json!({"paid": true})), Ok(json!({"paid": "already"})));
    for (calls, kept) in [
        (vec![pay(Err("busy")), pay(ok.clone())], "returns: {paid: true}"),
        (
            vec![pay(Err("busy")), pay(Err("still busy")), pay(ok.clone()), pay(later.clone())],
            "returns: {paid: true}",
        ),
        (vec![pay(ok.clone()), pay(later)], "returns: {paid: true}"),
        (vec![pay(ok), pay(Err("busy"))], "returns: {paid: true}"),
    ] {
        let text = draft_of_sessions(&[session("Pay order 17.", &calls)], true).expect("a draft");
        assert!(text.contains(kept) && !text.contains("fails: "), "{text}");
        load(&text).expect("it can be satisfied");
    }
    let failed = [pay(Err("busy")), ("log", json!({}), Ok(json!("ok")))];
    let text = draft_of_sessions(&[session("Pay order 17.", &failed)], true).expect("a draft");
    assert!(text.contains("fails: "), "{text}");
}
