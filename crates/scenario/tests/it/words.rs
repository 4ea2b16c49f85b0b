//! What findings say of single calls: why they were refused, what they should have had, and what they came before.

use planproof_suite::Case;
use planproof_trace::{EventKind, ToolResult};
use serde_json::{Value, json};

use crate::{judged, load, run};

/// A case of Bob's wallet, with what else is expected.
fn case(more: &str, expect: &str) -> std::sync::Arc<dyn Case> {
    let text = format!(
        "schema: planproof/scenario/v1
tools:
  - {{name: find, arguments: {{email: string}}}}
  - {{name: look, arguments: {{order: integer}}}}
  - {{name: pay, arguments: {{order: integer, amount: number}}}}
  - {{name: mail, arguments: {{text: string}}}}
cases:
  - id: x
    query: Pay for order 17, and tell Bob.
    state: {{wallet: 60, limit: 50, paid: false}}
{more}
    world:
      look: [{{where: {{/order: {{one-of: [17, 18]}}}}, returns: {{amount: 40}}}}, {{fails: no such order}}]
      pay:
        - {{where: {{/amount: {{below: 1}}}}, fails: no such amount}}
        - needs: {{wallet: {{at-least: {{$argument: /amount}}, above: {{$state: limit}}}}}}
          otherwise: not enough
          subtracts: {{wallet: {{$argument: /amount}}}}
          sets: {{paid: true}}
      mail: [{{needs: paid, otherwise: pay first}}]
    expect:
{expect}"
    );
    load(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).remove(0)
}

const TAKES: &str = "      - {takes: {call: pay, argument: /amount, from: look, value: /amount}}\n";
const LAST: &str = "      - {do: [mail]}\n      - {last: {call: mail}}\n";
const FOLLOWED: &str = "      - {followed-by: {done: pay, call: mail}}\n      - {do: [pay]}\n";

/// What a finding says of these calls, but for what it says of all.
fn said(case: &dyn Case, calls: &[(&str, Value)]) -> String {
    let explained = case.explain(&judged(case, calls));
    let facts = explained.facts.iter().filter(|fact| ["violated", "refused", "failed"].contains(&fact.label));
    facts.map(|fact| format!("{}: {}\n", fact.label, fact.content.to_text())).collect()
}

#[test]
fn a_finding_says_why_a_call_came_to_nothing() {
    let look = |order: Value| ("look", json!({"order": order}));
    let pay = |amount: Value| ("pay", json!({"order": 17, "amount": amount}));
    let mail = || ("mail", json!({"text": "It is paid. ".repeat(50)}));
    let mut shown = String::new();
    for (what, more, expect, calls) in [
        ("a text for a number", "", TAKES, vec![look(json!(17)), pay(json!("40")), pay(json!(39))]),
        ("no result to take it from", "", TAKES, vec![look(json!("17")), look(json!(19)), pay(json!(40))]),
        (
            "more than there is",
            "",
            FOLLOWED,
            vec![pay(json!(61)), pay(json!(0)), pay(json!(60)), pay(json!(10))],
        ),
        ("before what it follows", "", FOLLOWED, vec![mail(), pay(json!(10))]),
        ("before the last call", "", LAST, vec![pay(json!(10)), mail(), look(json!(17))]),
        ("a tool that there is not", "", LAST, vec![pay(json!(10)), mail(), ("close", json!({}))]),
        ("never called", "", LAST, vec![look(json!(17)), ("close", json!({}))]),
        (
            "a tool that fails",
            "    faults: {look: transient=1}",
            "      - {do: [look]}\n",
            vec![look(json!(17)), look(json!("17"))],
        ),
        ("many", "", FOLLOWED, vec![pay(json!(0)); 7]),
    ] {
        let case = case(more, expect);
        shown.push_str(&format!("{what}\n{}\n", said(&*case, &calls)));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn another_call_in_the_place_of_the_first_one_came_too_early() {
    let case = case("", "      - {first: {call: find}}\n      - {do: [find]}\n");
    let class = |calls: &[&str]| {
        let arguments = |tool: &str| match tool {
            "find" => json!({"email": "b"}),
            _ => json!({"order": 17}),
        };
        let calls: Vec<(&str, Value)> = calls.iter().map(|tool| (*tool, arguments(tool))).collect();
        let verdict = judged(&*case, &calls);
        verdict.class().map_or("passed", |class| class.as_str()).to_owned()
    };
    assert_eq!(class(&["find", "look"]), "passed");
    assert_eq!(class(&["look", "find"]), "order_error");
    // Whether the first call is made at all makes no difference: the first wrong call is the same.
    assert_eq!(class(&["look"]), "order_error");
    assert_eq!(class(&[]), "missing_call");
}

#[test]
fn a_call_that_a_guard_denied_counts_where_calls_are_numbered() {
    let case = case("", "      - {never: {call: mail}}\n      - {do: [look]}\n");
    let calls = [
        ("pay", json!({"order": 17, "amount": 40})),
        ("look", json!({"order": 17})),
        ("mail", json!({"text": "x"})),
    ];
    let mut events = run(&*case, &calls);
    let EventKind::Result(result) = &mut events[1].kind else { panic!("a result") };
    *result = ToolResult::denied(result.id.clone(), "not allowed");
    let verdict = case.judge(&events).expect("a verdict");
    let explained = case.explain(&verdict);
    let facts: Vec<String> = explained.facts.iter().map(|fact| fact.content.to_text()).collect();
    assert!(facts.iter().any(|fact| fact.ends_with("#3 mail came")), "{facts:?}");
    assert!(facts.contains(&"#3 mail {\"text\":\"x\"}".to_owned()), "{facts:?}");
}
