//! Values that the judge, the world and the check of a file have to see alike: whole numbers that no decimal holds, and
//! texts that are JSON.

use planproof_scenario::{CaseBlameReason, Scenarios};
use planproof_spec::JsonNumber;
use planproof_spec::rules::search::Found;
use planproof_suite::Data;
use serde_json::{Value, json};

use crate::{judged, load};

/// A file with one case: its world, and what is expected.
fn file(world: &str, expect: &str) -> String {
    format!(
        "schema: planproof/scenario/v1
tools:
  - {{name: find, arguments: {{q?: string}}}}
  - {{name: use, arguments: {{id: integer}}}}
  - {{name: ban, input_schema: {{type: object, properties: {{id: {{}}}}}}}}
  - {{name: log}}
cases:
  - id: x
    query: Do it.
    world: {world}
    expect:
{expect}"
    )
}

/// Whether these calls pass.
fn passes(text: &str, calls: &[(&str, Value)]) -> bool {
    judged(&*load(text).expect("the case is good").remove(0), calls).passed()
}

#[test]
fn numbers_that_no_decimal_holds_are_told_apart_everywhere() {
    let ids = [
        (json!(175_928_847_299_117_063_u64), json!(175_928_847_299_117_064_u64)),
        (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
        (json!(u64::MAX), json!(u64::MAX - 1)),
        (json!(i64::MIN), json!(i64::MIN + 1)),
        (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992.0)),
    ];
    for (id, other) in ids {
        let ban = |id: &Value| [("ban", json!({"id": id}))];
        let (smaller, larger) =
            if JsonNumber::of(&id) > JsonNumber::of(&other) { (&other, &id) } else { (&id, &other) };
        for (demand, right, wrong) in [
            (format!("      - {{with: {{done: ban, where: {{/id: {id}}}}}}}"), &id, &other),
            (format!("      - {{with: {{done: ban, where: {{/id: {{one-of: [{id}, -1]}}}}}}}}"), &id, &other),
            (format!("      - {{with: {{done: ban, where: {{/id: {{is-not: {id}}}}}}}}}"), &other, &id),
            (format!("      - {{with: {{done: ban, where: {{/id: {{not: {{is: {id}}}}}}}}}}}"), &other, &id),
            (
                format!("      - {{do: [ban]}}\n      - {{never: {{call: ban, where: {{/id: {id}}}}}}}"),
                &other,
                &id,
            ),
            (format!("      - {{formula: \"(eventually (call:ban (= id {id})))\"}}"), &id, &other),
        ] {
            let text = file("{}", &demand);
            assert!(passes(&text, &ban(right)), "{demand} {right}");
            assert!(!passes(&text, &ban(wrong)), "{demand} {wrong}");
        }
        // Of two neighbours, one is above the other.
        if !other.is_f64() {
            let above = format!("      - {{with: {{done: ban, where: {{/id: {{above: {smaller}}}}}}}}}");
            assert!(
                passes(&file("{}", &above), &ban(larger)) && !passes(&file("{}", &above), &ban(smaller)),
                "{above}"
            );
            let below = format!("      - {{with: {{done: ban, where: {{/id: {{below: {larger}}}}}}}}}");
            assert!(
                passes(&file("{}", &below), &ban(smaller)) && !passes(&file("{}", &below), &ban(larger)),
                "{below}"
            );
        }
        // So do worlds.
        let world = format!("{{ban: [{{where: {{/id: {id}}}, returns: {{ok: true}}}}, {{fails: other}}]}}");
        let text = file(&world, "      - {do: [ban]}");
        assert!(passes(&text, &ban(&id)) && !passes(&text, &ban(&other)), "{world}");
        // And the check of a file, which names the number as it was written.
        let demand = format!(
            "      - {{with: {{call: ban, where: {{/id: {id}}}}}}}\n      - {{never: {{call: ban, where: {{/id: {other}}}}}}}"
        );
        assert_eq!(reviewed(&file("{}", &demand)), "satisfied", "{demand}");
    }
    assert!(passes(
        &file("{}", "      - {with: {done: use, where: {/id: 17.0}}}"),
        &[("use", json!({"id": 17}))]
    ));
}

/// What `scenario check` says of the only case.
fn reviewed(text: &str) -> &'static str {
    let reviews = Scenarios::default().review(Data { text, file: "cases.yaml" }).expect("a file");
    match (&reviews[0].right, reviews[0].blame.as_ref().map(|blame| blame.reason)) {
        (Found::Session(_), None) => "satisfied",
        (Found::None, Some(CaseBlameReason::World)) => "the world",
        (Found::None, Some(CaseBlameReason::Contradiction)) => "a contradiction",
        (Found::None, Some(CaseBlameReason::Unknown)) => "unknown",
        _ => "not decided",
    }
}

#[test]
fn the_check_reads_the_world_as_the_judge_does() {
    let failed = "      - {requires: {call: log, failed: find, error: {/code: 404}}}\n      - {do: [log]}";
    let done = "      - {requires: {call: log, done: find, result: {/code: 404}}}\n      - {do: [log]}";
    let takes = "      - {takes: {call: use, argument: /id, from: find, value: /ids/*}}\n      - {do: [use]}";
    let whole = "      - {requires: {call: log, done: find, result: {\"\": yes}}}\n      - {do: [log]}";
    let calls = [("find", json!({})), ("log", json!({})), ("use", json!({"id": 5}))];
    for (world, expect, said) in [
        ("{find: [{fails: '{\"code\": 404}'}]}", failed, "satisfied"),
        ("{find: [{fails: '{\"code\": 500}'}]}", failed, "the world"),
        ("{find: [{fails: 'code 404'}]}", failed, "the world"),
        ("{find: [{returns: '{\"code\": 404}'}]}", done, "satisfied"),
        ("{find: [{returns: '{\"code\": 404}{\"code\": 405}'}]}", done, "the world"),
        ("{find: [{returns: '{\"ids\": [4, 5]}'}]}", takes, "satisfied"),
        ("{find: [{returns: '[1]'}]}", takes, "the world"),
        ("{find: [{returns: '\"yes\"'}]}", whole, "satisfied"),
        ("{find: [{returns: yes}]}", whole, "satisfied"),
    ] {
        let text = file(world, expect);
        assert_eq!(reviewed(&text), said, "{world} {expect}");
        if said == "satisfied" {
            assert!(passes(&text, &calls), "{world} {expect}");
        }
    }
}

#[test]
fn a_world_that_lacks_a_value_is_named_and_not_a_contradiction() {
    let takes = |id: u32| {
        format!(
            "      - {{with: {{done: use, where: {{/id: {id}}}}}}}\n      \
             - {{takes: {{call: use, argument: /id, from: find, value: /id}}}}"
        )
    };
    for (world, expect, said) in [
        ("{find: [{returns: {id: 5}}]}", takes(6), "the world"),
        ("{find: [{returns: {id: 5}}]}", takes(5), "satisfied"),
        ("{find: [{returns: {id: 5.0}}]}", takes(5), "satisfied"),
        ("{find: [{returns: {id: \"é\"}}]}", takes(5), "the world"),
        ("{find: [{fails: gone}]}", takes(5), "the world"),
        ("{find: [{returns: {id: 5}}]}", takes(5) + "\n      - {never: {call: find}}", "a contradiction"),
    ] {
        assert_eq!(reviewed(&file(world, &expect)), said, "{world} {expect}");
    }
}

#[test]
fn one_of_no_values_is_refused_wherever_it_stands() {
    for line in ["{where: {/id: {one-of: []}}, returns: 1}", "{needs: {left: {one-of: []}}, returns: 1}"] {
        let text = file(&format!("{{use: [{line}]}}"), "      - {do: [use]}")
            .replace("    world:", "    state: {left: 1}\n    world:");
        let error = load(&text).expect_err("it can never hold");
        assert!(error.contains("one-of") && error.contains("write `one-of: [a, b]`"), "{error}");
    }
}
